"""Faults in windows, gaps, the reach of look-ahead and consumption."""

from faults.fault import Fault

LOWEST = ("test_kernel_windows.py::test_lowest_starts",)

RUNS = ("test_kernel_runs.py::test_hits_and_counts_are_those_of_the_runs",)

AHEAD = ("test_kernel_outlook.py::test_bits_are_those_of_the_definition",)

NEXT = ("test_kernel_outlook.py::test_bits_that_the_next_event_decides_are_those_of_the_definition",)

BY_LANE = ("test_runs_by_lane.py::test_hits_under_a_window_are_those_of_runs_grouped_by_lane",)

FAULTS = (
    Fault(
        "kernels/windows/cpu.py",
        "near[i] = last[lane] - keys[i] <= size",
        "near[i] = last[lane] - keys[i] < size",
        "A chunk in stream order keeps what the window of the last event of each lane admits.",
        ("test_kernel_windows.py::test_events_near_the_last_of_their_lane",),
    ),
    Fault(
        "cer_gpu/engine/run/chunks.py",
        "self.in_order = False\n        self.resume(self._tail)",
        "self.in_order = False\n        self._tail = None",
        "What is kept in stream order is kept by lane once partitions go to disk.",
        ("test_spilled_partitions.py::test_what_was_on_disk_changes_no_answer",),
    ),
    Fault(
        "cer_gpu/engine/machines/chunk.py",
        "if count == 1 or not (keys[1:] >= keys[:-1]).all():",
        "if count == 1:",
        "A chunk in stream order is cut only where what the window measures ascends.",
        BY_LANE,
    ),
    Fault(
        "cer_gpu/engine/machines/closed_sessions.py",
        "if sessions.near and (",
        "if sessions.near and False and (",
        "Sessions of neighbours are closed as they come only where every row is an event of one.",
        ("test_sessions_in_order.py::test_neighbours_are_closed_where_every_row_is_of_a_session",),
    ),
    Fault(
        "kernels/outlook/cpu_single_event.py",
        "np.uint8((seen != 0) & (now - last <= high))",
        "np.uint8((seen != 0) & (now - last < high))",
        "An event as far back as the reach is long precedes another one.",
        ("test_kernel_outlook.py::test_a_single_event_as_far_back_as_the_reach_precedes_another",),
    ),
    Fault(
        "kernels/sorting/order.py",
        "packed.sort()",
        "packed[::-1].sort()",
        "Equal numbers are sorted by their place.",
        ("test_sorting.py",),
    ),
    Fault(
        "kernels/step_pairs/cpu_hits.py",
        "bottom = min(bottom, height - 1)",
        "bottom = max(bottom, height - 1)",
        "Of a stack of old events those are left out that have left the window, and no others.",
        ("test_apart.py::test_hits_of_a_pair_start_at_the_latest_event_that_agrees",),
    ),
    Fault(
        "kernels/step_pairs/cpu_hits.py",
        "same = lies == beyond or (equal and lies == AT)",
        "same = lies == beyond or lies == AT",
        "What is compared by `<` with a value has not that value itself.",
        ("test_apart.py::test_hits_of_a_pair_start_at_the_latest_event_that_agrees",),
    ),
    Fault(
        "cer_gpu/engine/answers/stream_times.py",
        "batch.first <= last for batch in batches[1:]",
        "True for batch in batches[1:]",
        "The times of batches that were read early are there when ends of their chunk are reported.",
        ("test_stream_times.py::test_batches_that_are_read_before_ends_are_looked_up_stay",),
    ),
    Fault(
        "cer_gpu/engine/workers.py",
        "if _own.inside:\n                    coming.join()",
        "if False:\n                    coming.join()",
        "A thread of the pool that needs an item makes it itself where all others wait, too.",
        ("test_workers.py::test_items_are_made_early_in_threads_that_all_wait_for_some",),
    ),
    Fault(
        "cer_gpu/engine/run/bound_query.py",
        "fixed = not (by_lane or length is None or texts)",
        "fixed = not (by_lane or texts)",
        "A source of unknown length is not read further than what is reported needs.",
        ("test_early_reading.py",),
    ),
    Fault(
        "cer_gpu/engine/run/bound_query.py",
        "early = several and query.kept_by_window and (listed or fixed)",
        "early = several and query.window is not None and (listed or fixed)",
        "A chunk is not made before what is found in the one before has said which events are kept.",
        ("test_early_reading.py",),
    ),
    Fault(
        "kernels/windows/cpu.py",
        "while end - keys[low] > size:",
        "while low < event[h] and end - keys[low] >= size:",
        "WITHIN admits a start that lies as far back as the window is long.",
        LOWEST,
    ),
    Fault(
        "kernels/windows/contract.py",
        "fell |= keys[i] < keys[i - 1]",
        "fell |= keys[i] > keys[i - 1]",
        "An attribute that falls is noticed, and one that rises is not.",
        ("test_kernel_falling.py::test_missing_keys_are_filled_in_and_falls_are_found",),
    ),
    Fault(
        "kernels/windows/contract.py",
        "np.iinfo(np.uint64).max if size >= 2**64 else int(size)",
        "int(size) % 2**63",
        "A window may be as long as the whole range of its integers.",
        ("test_kernel_windows.py::test_lowest_starts_over_the_whole_range_of_integers",),
    ),
    Fault(
        "kernels/streams/cpu.py",
        "while events.measured[event] - events.measured[low] > size:",
        "while low != event and events.measured[event] - events.measured[low] >= size:",
        "WITHIN admits the same starts on a stream.",
        ("test_steps_stream.py::test_pushes_give_what_a_run_gives",),
    ),
    Fault(
        "kernels/streams/cpu.py",
        "bounds.all[0] = event + 1",
        "bounds.all[0] = event",
        "CONSUME BY ANY drops the event that was reported too.",
        ("test_engine_random.py::test_they_agree_in_tiny_pieces_too",),
    ),
    Fault(
        "kernels/consume/contract.py",
        "keep[h] = latest_start[h] > floor\n        if keep[h]:\n            floor = position[h]",
        "keep[h] = latest_start[h] >= floor\n        if keep[h]:\n            floor = position[h]",
        "After CONSUME BY ANY an answer starts after the last reported end.",
        ("test_kernel_windows.py",),
    ),
    Fault(
        "kernels/consume/contract.py",
        "floors[lane[h]] = position[h]",
        "floors[:] = position[h]",
        "CONSUME BY PARTITION leaves the ends of other partitions as they are.",
        ("test_kernel_windows.py",),
    ),
    Fault(
        "kernels/attribute_windows/cpu_order.py",
        "not (key - keys[order[low]] <= size):",
        "not (key - keys[order[low]] < size):",
        "A window over an attribute that falls includes its bound.",
        ("test_kernel_falling.py::test_hits_and_counts_are_those_of_the_runs",),
    ),
    Fault(
        "kernels/outlook/cpu.py",
        "            while at >= 0 and now - waiting.times[at] > high:\n",
        "            while at >= 0 and now - waiting.times[at] >= high:\n",
        "The reach of FOLLOWED BY includes its end.",
        AHEAD,
    ),
    Fault(
        "kernels/outlook/cpu.py",
        "now - lanes.latest[lane, 0] <= high else 0",
        "now - lanes.latest[lane, 0] < high else 0",
        "The reach of PRECEDED BY includes its end.",
        AHEAD,
    ),
    Fault(
        "kernels/outlook/cpu_single_event.py",
        "there & (last - time <= high)",
        "there & (last - time < high)",
        "Where the next event decides, the reach includes its end too.",
        NEXT,
    ),
    Fault(
        "kernels/outlook/cpu_single_event.py",
        "passed - time > high",
        "passed - time >= high",
        "A reach is over when no event to come is at its end, either.",
        NEXT,
    ),
    Fault(
        "kernels/outlook/cpu_single_event.py",
        "inside = away >= low",
        "inside = away > low",
        "Where the first event in reach decides, the reach includes its beginning.",
        NEXT,
    ),
    Fault(
        "kernels/outlook/cpu_single_event.py",
        "and seen.time[np.uint64(sooner)] - time >= low:",
        "and seen.time[np.uint64(sooner)] - time > low:",
        "The first event in reach may be at its beginning.",
        NEXT,
    ),
    Fault(
        "kernels/outlook/cpu_single_event.py",
        "            seen.sooner[np.uint64(seen.nearest[lane])] = count\n",
        "            seen.sooner[np.uint64(seen.first[lane])] = count\n",
        "Behind each event that is looked for stands the one before in its lane.",
        NEXT,
    ),
    Fault(
        "kernels/outlook/cpu_single_event.py",
        "n += (bit == UNKNOWN) | (becomes[np.uint64(symbols[i]), np.uint64(bit & 1)] != 0)",
        "n += bit == UNKNOWN",
        "Behind an undecided event those wait as well that are decided.",
        NEXT,
    ),
    Fault(
        "cer_gpu/engine/machines/next_event_outlook.py",
        "        numbers -= stop\n",
        "",
        "Undecided events are numbered from the first event that is held.",
        NEXT,
    ),
    Fault(
        "cer_gpu/engine/machines/next_event_outlook.py",
        "lanes=number[self._undecided.lanes]",
        "lanes=self._undecided.lanes",
        "Undecided events are in the lanes as they are numbered now.",
        NEXT,
    ),
    Fault(
        "kernels/clock/cpu_stream.py",
        "not now - clocked.times[near] <= clocked.constants[c]:",
        "not now - clocked.times[near] < clocked.constants[c]:",
        "A clock that is compared with `<=` may have reached the bound.",
        ("test_clock_structure.py::test_random_automata_list_the_runs_in_order",),
    ),
    Fault(
        "kernels/clock/cpu_stream.py",
        "now - clocked.times[near] >= clocked.constants[c]:",
        "now - clocked.times[near] > clocked.constants[c]:",
        "A clock that is compared with `>=` may have reached the bound.",
        ("test_clock_structure.py::test_random_automata_list_the_runs_in_order",),
    ),
)

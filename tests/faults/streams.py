"""Faults in what runs keep: chunks and their halos, tails, the state of streams, snapshots, files."""

from faults.fault import Fault

STATE = ("test_open_state.py",)

PUSHED = ("test_stream_state.py::test_random_queries_in_random_batches",)

FAULTS = (
    Fault(
        "cer_gpu/engine/machines/chunk.py",
        "report = begin + kept",
        "report = begin",
        "Events that are run again are not reported again.",
        ("test_engine_windows.py::test_partitions_count_their_own_events",),
    ),
    Fault(
        "cer_gpu/engine/machines/chunk.py",
        "if end - keys[middle].item() <= size:",
        "if end - keys[middle].item() < size:",
        "A halo begins with the first event that the window of the first end reaches.",
        ("test_engine_windows.py::test_event_windows",),
    ),
    Fault(
        "cer_gpu/engine/machines/chunk.py",
        "rows.append((low, at, end, lane))",
        "rows.append((at, at, end, lane))",
        "A segment of a lane begins one window before the events that it reports.",
        ("test_engine_windows.py::test_event_windows",),
    ),
    Fault(
        "cer_gpu/engine/machines/chunk.py",
        "np.maximum(lowest, event - (longest - 1), out=lowest)",
        "np.maximum(lowest, event - longest + 2, out=lowest)",
        "A run of at most n events begins at most n - 1 events before its end.",
        (
            "test_engine_windows.py::test_no_window_on_many_chunks",
            "test_kernel_runs.py::test_of_runs_of_few_events_only_the_events_of_hits_become_nodes",
        ),
    ),
    Fault(
        "cer_gpu/engine/run/chunks.py",
        "kept = chunk.events.slice(self._first_kept(chunk))",
        "kept = chunk.events.slice(self._first_kept(chunk) + 4)",
        "A chunk leaves to the next one all events that the window still reaches.",
        ("test_engine_windows.py::test_event_windows",),
    ),
    Fault(
        "cer_gpu/engine/run/chunks.py",
        "keep &= ~_covered(len(events), chunk.lanes.begin, needed)",
        "keep &= ~_covered(len(events), chunk.lanes.begin, needed + 4)",
        "Each lane of a chunk leaves all events that the window still reaches.",
        ("test_engine_windows.py::test_partitions_count_their_own_events",),
    ),
    Fault(
        "cer_gpu/engine/run/halo.py",
        "at = int(np.searchsorted(part.positions, self._halo))",
        "at = int(np.searchsorted(part.positions, self._halo - 1))",
        "The events of a halo report no ends.",
        ("test_spark_worker.py::test_segments_with_the_halo_of_a_window_give_what_the_engine_gives",),
    ),
    Fault(
        "cer_gpu/engine/run/tails.py",
        "_ranges(self._begin[own], self._size[own])",
        "_ranges(self._begin[own], self._size[own] - 1)",
        "All events of a tail are taken out.",
        ("test_engine_windows.py::test_few_of_many_partitions_come_again",),
    ),
    Fault(
        "cer_gpu/engine/machines/open_state.py",
        "values[:, at] = moved(maps[name], values[:, at])",
        "values[:, at] = values[:, at]",
        "What refers to rows refers to their new numbers after a drop.",
        STATE,
    ),
    Fault(
        "cer_gpu/engine/machines/open_state.py",
        "more[: len(rows)] = rows",
        "more[1 : len(rows)] = rows[1:]",
        "Arrays that grow keep all of their rows.",
        STATE,
    ),
    Fault(
        "cer_gpu/engine/machines/open_state.py",
        "self.progress[self._words[axis]] = rows.total",
        "self.progress[self._words[axis]] = rows.total + 1",
        "After a drop as many rows are in use as were kept.",
        STATE,
    ),
    Fault(
        "cer_gpu/engine/machines/open_state.py",
        "place[:-1] + 1",
        "place[:-1]",
        "A bound one past a row stays one past it.",
        STATE,
    ),
    Fault(
        "cer_gpu/engine/machines/open_state.py",
        'self.progress[:] = arrays["progress"]',
        'self.progress[1:] = arrays["progress"][1:]',
        "A state that is restored knows how many rows are in use.",
        STATE,
    ),
    Fault(
        "cer_gpu/engine/machines/stream_loop.py",
        "segment.begin[0] = stop\n            loop[:] = 0",
        "segment.begin[0] = stop",
        "A push begins with its first event.",
        ("test_steps_stream.py::test_pushes_give_what_a_run_gives",),
    ),
    Fault(
        "cer_gpu/engine/machines/stream_loop.py",
        "words[HIT] = words[ROOTS] = 0",
        "words[HIT] = 0",
        "A push begins without the roots of the push before it.",
        ("test_steps_stream.py::test_pushes_give_what_a_run_gives",),
    ),
    Fault(
        "cer_gpu/engine/read/spill_files.py",
        "file.taken[rows[same]] = True",
        "file.taken[rows[same][1:]] = True",
        "A partition that was taken from disk is not there any more.",
        ("test_spilled_partitions.py::test_partitions_are_taken_as_they_were_put",),
    ),
    Fault(
        "cer_gpu/engine/read/spill_files.py",
        "same &= column.to_numpy() == values[which]",
        "same &= column.to_numpy() == column.to_numpy()",
        "A partition on disk is found by its key, not by its hash alone.",
        ("test_spilled_partitions.py::test_partitions_are_taken_as_they_were_put",),
    ),
    Fault(
        "cer_gpu/engine/read/spill_files.py",
        "own, where = own[there], where[there]\n            order = ascending(own)",
        "own, where = own[there], where[there]\n            order = np.arange(len(own))",
        "The index of partitions on disk is in order.",
        ("test_spilled_partitions.py::test_partitions_are_taken_as_they_were_put",),
    ),
    Fault(
        "kernels/lanes/contract.py",
        "if seen[lane] and values[i] < last[lane]:",
        "if seen[lane] and values[i] <= last[lane]:",
        "Events with the same time are in order.",
        ("test_kernel_classify.py::test_the_order_inside_lanes",),
    ),
    Fault(
        "kernels/lanes/contract.py",
        "there[lane] = valid[i] if masked else 1",
        "there[lane] = 1",
        "PREV of an event whose value is missing is missing.",
        ("test_engine_values.py",),
    ),
    Fault(
        "kernels/lanes/contract.py",
        "        place[i] = starts[lanes[i]]\n        starts[lanes[i]] += 1\n",
        "        place[i] = starts[lanes[i]]\n        starts[lanes[i]] += 1\n"
        "    for i in range(1, lanes.shape[0]):\n"
        "        if lanes[i] == lanes[i - 1]:\n"
        "            place[i], place[i - 1] = place[i - 1], place[i]\n",
        "Grouping keeps the order of the events of each lane.",
        ("test_engine_windows.py::test_partitions_count_their_own_events",),
    ),
    Fault(
        "kernels/keys/cpu.py",
        "same &= known[number, part] == words[part, row]",
        "same = known[number, part] == words[part, row]",
        "Two keys are alike only if all of their parts are.",
        ("test_key_numbers.py::test_keys_with_one_fingerprint_are_told_apart",),
    ),
    Fault(
        "kernels/keys/cpu.py",
        "inside &= own < size",
        "inside &= own <= size",
        "Close keys have numbers of their own.",
        ("test_key_numbers.py::test_keys_directly_beside_the_box_of_a_table_are_not_taken_for_keys_in_it",),
    ),
    Fault(
        "spark_plugin/worker.py",
        'int(np.searchsorted(time, segment.begin, side="left"))',
        'int(np.searchsorted(time, segment.begin, side="right"))',
        "A task of Spark reports the ends at the first time of its segment.",
        ("test_spark_worker.py::test_segments_with_the_halo_of_a_window_give_what_the_engine_gives",),
    ),
    Fault(
        "spark_plugin/worker.py",
        "begins = np.flatnonzero(np.diff(lanes, prepend=last))",
        "begins = np.flatnonzero(np.diff(lanes, prepend=-1))",
        "The places of a key's events count from its first event, in whichever batch it comes.",
        ("test_spark_worker.py::test_positions_are_places_in_the_partition",),
    ),
    Fault(
        "spark_plugin/blob_keeper.py",
        "if added is None or added[0] != kept.mark:",
        "if added is None:",
        "A worker process that has missed a snapshot of a live query does not take the rows behind it.",
        ("test_live.py::test_a_process_that_has_missed_a_snapshot_begins_with_it",),
    ),
    Fault(
        "spark_plugin/blob_keeper.py",
        "self._additions.clear()",
        "pass",
        "Rows that a snapshot has taken are not taken again.",
        ("test_live_row_patterns.py::test_micro_batches_that_are_killed_give_what_one_run_gives",),
    ),
    Fault(
        "cer_gpu/engine/read/intake.py",
        "mark = self._mark() if self._ahead is None else self._ahead.mark",
        "mark = self._mark()",
        "Time has passed up to the events that are used, not up to those that are read before their use.",
        ("test_early_reading.py::test_answers_are_the_same_however_early_events_are_read",),
    ),
    Fault(
        "cer_gpu/engine/read/early_reader.py",
        "return self._begun == self._given",
        "return True",
        "Keys are not renumbered while events wait that have been read early.",
        ("test_early_reading.py",),
    ),
)

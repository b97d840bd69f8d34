"""Faults in the structure of complex events and the walks through it: `kernels/forest`,
`kernels/selection`."""

from faults.fault import Fault

LISTED = ("test_enumeration.py::test_bulk_and_ordered_enumeration_list_the_runs_in_order",)

SEQUENCES = ("test_sequences.py::test_all_runs_are_listed_in_order",)

EDGES = ("test_edge_runs.py::test_edge_runs_are_those_of_random_automata",)

DROPPED = ("test_edge_runs.py::test_the_runs_of_an_end_begin_after_the_last_event_that_drops_runs",)

BEST = ("test_kernel_best.py::test_the_best_marks_of_random_automata",)

CHOSEN = ("test_sequences.py::test_they_agree_with_the_reference",)

FAULTS = (
    Fault(
        "kernels/runs/edge_runs.py",
        "stays = begun if move & GOES_ON else -1",
        "stays = begun",
        "An event that lets no run go on ends the open run of its lane.",
        EDGES,
    ),
    Fault(
        "kernels/runs/edge_runs.py",
        "last = at if drops[symbols[at]] else last",
        "last = at + 1 if drops[symbols[at]] else last",
        "A run may begin at the event that ends the earlier ones.",
        DROPPED,
    ),
    Fault(
        "cer_gpu/engine/machines/single_runs.py",
        "return self._follow(chunk)[1]",
        "return self._follow(chunk)[1][1:]",
        "Of each lane the event at which its open run has begun is kept.",
        ("test_edge_runs.py::test_of_earlier_chunks_the_events_of_open_runs_are_kept",),
    ),
    Fault(
        "kernels/runs/sequences.py",
        "_places(other, one, 1, middle, following[low:middle])",
        "_places(other, one, 0, middle, following[low:middle])",
        "The next step of a sequence comes later than the step before it.",
        SEQUENCES,
    ),
    Fault(
        "kernels/runs/sequences.py",
        "_places(entries.event[: first[1]], lowest, 0, 0, low)",
        "_places(entries.event[: first[1]], lowest, 1, 0, low)",
        "The first event that a window admits may begin a match.",
        SEQUENCES,
    ),
    Fault(
        "kernels/runs/sequences.py",
        "rows - n, limit - progress[1]), 0)",
        "rows - n, limit), 0)",
        "Of each end as many matches are listed as the limit says.",
        SEQUENCES,
    ),
    Fault(
        "kernels/runs/sequences.py",
        "                while depth >= 0 and at[depth] + 1 == stop[depth]:",
        "                while depth >= 0 and at[depth] + 2 >= stop[depth]:",
        "Each entry of a step is followed to the end.",
        SEQUENCES,
    ),
    Fault(
        "kernels/forest/cpu_nodes.py",
        "arena[slots[slot, ITEM + length - 1], LATEST] < bound:",
        "arena[slots[slot, ITEM + length - 1], LATEST] <= bound:",
        "A run that starts at the first event of the window stays in its list.",
        LISTED,
    ),
    Fault(
        "kernels/forest/cpu_nodes.py",
        "while k < stop and arena[slots[slot, k], LATEST] > latest:",
        "while k < stop and arena[slots[slot, k], LATEST] < latest:",
        "The nodes of a list are in the order of falling latest starts.",
        LISTED,
    ),
    Fault(
        "kernels/forest/cpu_nodes.py",
        "node, event, arena[node, LATEST])\n                if taken",
        "node, event, event)\n                if taken",
        "A node knows the latest start of the runs below it.",
        LISTED,
    ),
    Fault(
        "kernels/forest/cpu_enumerate.py",
        "if arena[right, LATEST] >= lowest:",
        "if arena[right, LATEST] > lowest:",
        "A walk visits the nodes whose latest run starts at the first event of the window.",
        LISTED,
    ),
    Fault(
        "kernels/forest/cpu_enumerate.py",
        "result = found.length[one] < found.length[other]",
        "result = found.length[one] > found.length[other]",
        "Of two complex events one of which begins with the other, the shorter comes first.",
        LISTED,
    ),
    Fault(
        "kernels/arena/order.py",
        "        shift += bits\n",
        "        shift += 2 * bits\n",
        "Starts are sorted by all of their bits.",
        ("test_enumeration.py::test_starts_are_sorted_by_all_of_their_bits",),
    ),
    Fault(
        "kernels/arena/blocks.py",
        "wanted = min(hits.counts[hit], limit)",
        "wanted = hits.counts[hit]",
        "LIMIT holds for each end.",
        LISTED,
    ),
    Fault(
        "kernels/forest/cpu_stream.py",
        "        lists.pool[to + 2] = slots[slot, MERGED]\n",
        "        lists.pool[to + 2] = slots[slot, ITEM]\n",
        "The lists of a lane come back as they were packed.",
        ("test_stream_state.py::test_random_queries_in_random_batches",),
    ),
    Fault(
        "kernels/selection/cpu.py",
        "            if value > key[x, new]:\n",
        "            if value < key[x, new] or key[x, new] < 0:\n",
        "NEXT and LAST keep the best path to a state.",
        BEST,
    ),
    Fault(
        "cer_gpu/enumeration/sequences.py",
        "self._entry = high - 1 if latest else low",
        "self._entry = high - 1",
        "NEXT takes the first event that the window admits.",
        CHOSEN,
    ),
    Fault(
        "cer_gpu/enumeration/sequences.py",
        "entry = entries.preceding[entry] - 1 if self._latest else entries.following[entry]",
        "entry = entries.preceding[entry] - 2 if self._latest else entries.following[entry]",
        "LAST takes the latest event before the next one.",
        CHOSEN,
    ),
    Fault(
        "kernels/runs/programs.py",
        "steps = own & (~stays | (tables.accepting != 0))",
        "steps = own & ~stays",
        "An event without a mark may end a match.",
        ("test_sequences.py::test_what_is_no_sequence",),
    ),
)

"""Faults in the structure of complex events and the walks through it: `kernels/forest`,
`kernels/selection`."""

from faults.fault import Fault

LISTED = ("test_enumeration.py::test_bulk_and_ordered_enumeration_list_the_runs_in_order",)

BEST = ("test_kernel_best.py::test_the_best_marks_of_random_automata",)

FAULTS = (
    Fault(
        "kernels/forest/cpu_nodes.py",
        "latest_of(arena, slots[slot, ITEM + length - 1]) < bound:",
        "latest_of(arena, slots[slot, ITEM + length - 1]) <= bound:",
        "A run that starts at the first event of the window stays in its list.",
        LISTED,
    ),
    Fault(
        "kernels/forest/cpu_nodes.py",
        "while k < stop and latest_of(arena, slots[slot, k]) > latest:",
        "while k < stop and latest_of(arena, slots[slot, k]) < latest:",
        "The nodes of a list are in the order of falling latest starts.",
        LISTED,
    ),
    Fault(
        "kernels/forest/cpu_nodes.py",
        "node, event, latest_of(arena, node))\n                if taken",
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
        ("test_engine_windows.py::test_limit_for_each_end_and_for_all",),
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
)

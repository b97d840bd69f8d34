"""Faults in the indexes of the loop: orders of values and look-up tables."""

from faults.fault import Fault

ORDERED = ("test_ordered.py::test_kernels_find_the_runs_of_the_definition",)

JOINED = ("test_join_kernels.py::test_hits_counts_and_answers_are_those_of_the_run_trees",)

FAULTS = (
    Fault(
        "kernels/comparisons/index.py",
        "        if c < d:\n",
        "        if c < d and a >= b:\n",
        "A step `!=` reads the lesser values and the greater ones.",
        ORDERED,
    ),
    Fault(
        "kernels/comparisons/tree.py",
        "if node < 0 or low < least:",
        "if node < 0 or low <= least:",
        "The walk through a range includes its least rank.",
        ORDERED,
    ),
    Fault(
        "kernels/joins/index.py",
        "    if room.owner[where] != room.segment[0]:\n",
        "    if room.owner[where] < 0:\n",
        "A segment finds none of the runs that another segment has stored.",
        JOINED,
    ),
    Fault(
        "kernels/joins/index.py",
        "room.place[where] + 1 == events.places[event]",
        "room.place[where] < events.places[event]",
        "A join with the next event finds the event directly before alone.",
        JOINED,
    ),
)

"""The contract of the persistent structure: nodes in an arena, and complex events as they are enumerated.

A **node** stands for a set of open complex events, and is never changed once written:

- a **bottom** for the one that starts at its event,
- an **output** for those of its child, with one more mark (event, label),
- a **union** for those of its left and its right child, which are disjoint.

A node is a row of the **arena**, an int64 array [nodes, 4]; children precede their parents:

========  ==============  ================  =================  ==================
column    bottom          output            union              meaning
========  ==============  ================  =================  ==================
`LABEL`   `BOTTOM`        label, >= 1       `UNION`
`LEFT`    -1              child             left child         a node
`RIGHT`   event           event             right child        a node, or an event
`LATEST`  event or rank   of the child      of the left child  greatest start in the set
========  ==============  ================  =================  ==================

Starts are ordered by time, or by their ranks (`cer_gpu.kernels.attribute_windows`): `LATEST` is the greatest
of either kind, and a bottom's `RIGHT` is where it starts. Unions are **time-ordered** (`LATEST` of left >= of
right) and their **output depth** (the number of left steps to a node that is no union) is at most 3, so that
enumeration meets an output after a bounded number of steps.
"""

from typing import NamedTuple

import numpy as np

LABEL, LEFT, RIGHT, LATEST = range(4)
"""Columns of an arena."""

UNION = -1

BOTTOM = -2


class Roots(NamedTuple):
    """The complex events that end at each hit: those of nodes, with one more mark at the hit's event.

    =======  ================  =================================================
    `first`  int64 [hits + 1]  hit h has the roots first[h] .. first[h + 1] - 1
    `label`  int32 [roots]     label of the mark at the hit; 0: none
    `node`   int64 [roots]     the node whose complex events get the mark
    =======  ================  =================================================
    """

    first: np.ndarray
    label: np.ndarray
    node: np.ndarray


class CountedHits(NamedTuple):
    """The hits of segments, and how many complex events end at each.

    ========  =======================  =============================================================
    `first`   int64 [segments + 1]     `first`, `event` and `lowest` as in `SegmentHits`
    `event`   int64 [hits]
    `lowest`  int64 [hits]
    `counts`  int64 or object [hits]   complex events of each hit; kernels take int64
    ========  =======================  =============================================================
    """

    first: np.ndarray
    event: np.ndarray
    lowest: np.ndarray
    counts: np.ndarray


class UnsortedAnswers(NamedTuple):
    """The complex events of a hit, in the order in which they are found.

    ========  ===============  ==========================================================
    `start`   int32 [events]   their starts, from the hit's lowest one on
    `first`   int32 [events]   where the marks of each begin
    `length`  int32 [events]   number of marks of each
    `event`   int32 [marks]    the events of the marks, from the hit's lowest start on
    `label`   int32 [marks]    their labels
    ========  ===============  ==========================================================
    """

    start: np.ndarray
    first: np.ndarray
    length: np.ndarray
    event: np.ndarray
    label: np.ndarray


class WalkStack(NamedTuple):
    """Scratch of a walk through the nodes of a hit.

    =========  ==================  ==========================================================
    `pending`  int64 [2, stack]    nodes still to visit, and how many marks lead to each
    `path`     int64 [2, stack]    events and labels of the marks from the root to the node
    =========  ==================  ==========================================================
    """

    pending: np.ndarray
    path: np.ndarray


class SortScratch(NamedTuple):
    """The canonical order of complex events, and scratch for finding it.

    =======  ===============  ========================================
    `order`  int32 [events]   the complex events in canonical order
    `spare`  int32 [events]   scratch
    `tally`  int64 [2 ** k]   scratch: k bits of their starts are sorted by at a time
    =======  ===============  ========================================
    """

    order: np.ndarray
    spare: np.ndarray
    tally: np.ndarray


class BulkScratch(NamedTuple):
    """What is found of a hit before it is written into a block.

    =========  ===========  ===============================
    `found`    Unsorted     the complex events of the hit
    `stack`    WalkStack    scratch of the walk
    `sorting`  SortScratch  their order
    =========  ===========  ===============================
    """

    found: UnsortedAnswers
    stack: WalkStack
    sorting: SortScratch


class ForestNodes(NamedTuple):
    """The structure of some hits.

    =======  ========================  =====================================
    `arena`  int64 [nodes, columns]    the nodes
    `roots`  Roots
    =======  ========================  =====================================
    """

    arena: np.ndarray
    roots: Roots


class Block(NamedTuple):
    """Complex events, one after another.

    ============  =============================  ====================================================
    `hit`         int64 [complex events]         the number of the hit at which each ends
    `start`       int64 [complex events]         the event at which it starts
    `first`       int64 [complex events + 1]     where its marks begin
    `event`       int64 [marks]                  the marked events, ascending in each complex event
    `label`       int32 [marks]                  their labels, >= 1
    ============  =============================  ====================================================
    """

    hit: np.ndarray
    start: np.ndarray
    first: np.ndarray
    event: np.ndarray
    label: np.ndarray

    def part(self, low, high):
        """The complex events `low .. high - 1`, which are not copied."""
        first = self.first[low : high + 1]
        marks = slice(first[0], first[-1])
        return Block(
            self.hit[low:high], self.start[low:high], first - first[0], self.event[marks], self.label[marks]
        )

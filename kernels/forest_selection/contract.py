"""The contract of choosing in a persistent structure (`cer_gpu.kernels.forest.contract`).

NEXT, LAST and MAX compare complex events that end at one event by their sets of marked events. Two complex
events in one node get the same later marks, so that one which another is preferred to is so with any of them:
    NEXT   M1 < M2 iff the least event in one of them alone is in M2,
    LAST   M1 < M2 iff the greatest event in one of them alone is in M2,
    MAX    M1 < M2 iff M1 is a proper subset of M2;
none of the three changes when an event after all of M1 and M2 is added to both. So each node keeps only its
greatest ones, made from those of its children. For NEXT and LAST these have all the same marked events, and
differ in labels or in the start.

A **path** is one complex event of a node: its last mark, and the path of the marks before it.
"""

from typing import NamedTuple

import numpy as np

from ..forest.contract import BOTTOM, LABEL, LATEST, LEFT, RIGHT, UNION

NEXT, LAST, MAX = range(3)
"""How complex events are compared."""

MARKS = 3
"""The column of a path that has the number of its marks; the others are those of a node."""

DONE, PATHS_FULL, ITEMS_FULL = range(3)
"""What a kernel returns: with one of the last two it goes on where it stood, once there is more room."""

AT, PATHS, ITEMS, NEEDED, WORDS = range(5)
"""Words of `progress`: the node or the hit to go on with, the paths and the items in use, and how many more
there has to be room for."""

EMPTY = -1
"""A bucket without a node."""


class Lists(NamedTuple):
    """The paths of nodes.

    =======  ====================  ===================================================================
    `path`   int64 [paths, 4]      label, path before, event and number of marks; of a bottom `BOTTOM`,
                                   -1, the start and 0; a path comes after that before it
    `item`   int64 [items]         paths
    `first`  int64 [nodes]         the paths of node n are item[first[n]] .. item[first[n] + size[n] - 1]
    `size`   int64 [nodes]
    =======  ====================  ===================================================================
    """

    path: np.ndarray
    item: np.ndarray
    first: np.ndarray
    size: np.ndarray


class ChoiceResult(NamedTuple):
    """What is left of the complex events of hits.

    =======  ================  ================================================================
    `first`  int64 [hits + 1]  hit h has those with the numbers first[h] .. first[h + 1] - 1
    `label`  int32 [items]     the label of the mark at the hit; 0: none
    `path`   int64 [items]     the path of the marks before
    =======  ================  ================================================================
    """

    first: np.ndarray
    label: np.ndarray
    path: np.ndarray


def preferred(one, other, how):
    """Whether one set of marked events is preferred to another, by definition."""
    alone = one ^ other
    if how == MAX:
        return other < one
    return bool(alone) and (min(alone) if how == NEXT else max(alone)) in one


def complex_events(arena, node):
    """All complex events of a node: tuples of the start and the (event, label) of its marks, ascending."""
    label, left, right = (int(arena[node, column]) for column in (LABEL, LEFT, RIGHT))
    if label == BOTTOM:
        return [(right, ())]
    if label == UNION:
        return complex_events(arena, left) + complex_events(arena, right)
    return [(start, (*marks, (right, label))) for start, marks in complex_events(arena, left)]


def left_reference(arena, roots, event, how):
    """For each hit the set of complex events that are left, as `complex_events` has them."""
    found = []
    for hit in range(len(event)):
        every = []
        for root in range(roots.first[hit], roots.first[hit + 1]):
            label = int(roots.label[root])
            last = ((int(event[hit]), label),) if label else ()
            every += [(start, marks + last) for start, marks in complex_events(arena, roots.node[root])]
        sets = [frozenset(at for at, _ in marks) for _, marks in every]
        kept = [one for one, own in zip(every, sets) if not any(preferred(other, own, how) for other in sets)]
        found.append(set(kept))
    return found


def shown_reference(path, below, shown, made, number):
    """Write the nodes of paths as the SELECT list shows them, each once, and give how many these are.

    Marks are given the labels that are shown of them, and left out where that is 0. Paths that then agree are
    one node.

    ========  ================  ==================================================================
    `path`    int64 [paths, 4]  in: as `Lists` has them
    `below`   uint8 [paths]     in: 1 for those that are wanted, and those before them
    `shown`   int32 [labels]    in
    `made`    int64 [paths, 4]  out: nodes of `cer_gpu.kernels.forest.contract`, without unions
    `number`  int64 [paths]     out: the node of each
    ========  ================  ==================================================================
    """
    known = {}
    for one in np.flatnonzero(below).tolist():
        label, left, right = path[one, :MARKS].tolist()
        if label != BOTTOM:
            label, left = int(shown[label]), int(number[left])
        if not label:
            number[one] = left
            continue
        node = known.setdefault((label, left, right), len(known))
        made[node] = label, left, right, right if label == BOTTOM else made[left, LATEST]
        number[one] = node
    return len(known)

"""The contract of the strategies NEXT and LAST: the answers, as lists of marks in an arena."""

from typing import NamedTuple

import numpy as np

from ..runs.contract import accepting_runs

EVENT, LABEL, NEXT, WIDTH = range(4)
"""Columns of an arena and their number: a mark, and the node of the next or the previous one (-1: none)."""

DONE = 0

ARENA_FULL = 1

NO_ANSWER = 2

SEGMENT, HIT, NODES, USED, WORDS = range(5)
"""Words of `progress`: the segment, the hit and the number of nodes to continue with when the arena was full,
and the number of nodes in use. `WORDS` is the number of words."""


class Paths(NamedTuple):
    """The answers of hits: each has its early marks in one list and its late marks in another.

    ========  =====================  ==================================================================
    `arena`   int64 [nodes, WIDTH]   children precede their parents
    `start`   int64 [hits]           the event at which the answer starts
    `early`   int64 [hits]           list of the marks before the middle, ascending; -1: none
    `late`    int64 [hits]           list of the marks from the middle on, descending; -1: none
    `label`   int32 [hits]           the label at the end; 0 for no mark
    ========  =====================  ==================================================================
    """

    arena: np.ndarray
    start: np.ndarray
    early: np.ndarray
    late: np.ndarray
    label: np.ndarray


class PathMatrices(NamedTuple):
    """The best paths between two states, for (fixed end, open end): scratch; two matrices take turns.

    ==========  =========================  ===========================================================
    `rank`      int32 [2, n_live, n_live]  -1: no path
    `node`      int64 [2, n_live, n_live]  the list of the path's marks
    `start`     int64 [2, n_live, n_live]  where the path leaves state 0, or -1
    `key`       int64 [n_live, n_live]     the number that ranks each path that is being made,
    `taken`     int64 [n_live, n_live]     and its last transition
    `place_of`  int32 [2 * n_live ** 2]    the rank of each key
    ==========  =========================  ===========================================================
    """

    rank: np.ndarray
    node: np.ndarray
    start: np.ndarray
    key: np.ndarray
    taken: np.ndarray
    place_of: np.ndarray


class BackRows(NamedTuple):
    """Scratch: for each hit the row of the back part that it needs, int64 [hits, n_live] all.

    `rank`, `node` and `start` of `PathMatrices`, for each fixed end and the open end 0.
    """

    rank: np.ndarray
    node: np.ndarray
    start: np.ndarray


def best_reference(tables, symbols, begin, stop, event, lowest, latest):
    """The answers of the hits of one segment by definition: a list of (start, ((event, label), ...))."""
    runs = accepting_runs(tables, symbols, begin, stop)

    def key(run):
        marked = [at for at, _ in run[2]]
        return tuple(reversed(marked)) if latest else tuple(-at for at in marked)

    found = [
        max((run for run in runs if run[1] == j and run[0] >= low), key=key) for j, low in zip(event, lowest)
    ]
    return [(start, marked) for start, _, marked in found]

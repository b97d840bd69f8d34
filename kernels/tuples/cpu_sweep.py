"""Rows with one condition: how many candidates extend each, and the latest, in O(log n) steps for a row.

The candidates are put in one after another, in the order of their events. What a row admits by its key and
its condition is a range of ranks (for `!=` two). So a Fenwick tree over the ranks tells how many of the
candidates that are in are in the range, and a tree of maxima which of them came last. Each row is asked
twice: when all events up to the greatest that it admits are in, and when all before the least are in.
"""

from typing import NamedTuple

import numpy as np

from ..comparisons.tree import before_rank, greatest, put, raised
from ..jit import SELDOM, jit
from .contract import UNEQUAL
from .cpu import ranked_range


class SweepOrders(NamedTuple):
    """What a sweep needs beside candidates and rows.

    ===========  =================  ==============================================================
    `taken`      int64 [n]          the candidates in the order of their events
    `place`      int64 [events]     where each stands in `Candidates.ranked`
    `by_low`     int64 [rows]       the rows in the order of `RowBounds.low`
    `by_high`    int64 [rows]       the rows in the order of `RowBounds.high`
    `tree`       int64 [1, n]       scratch
    `most`       int64 [1, 2 n]     scratch
    ===========  =================  ==============================================================
    """

    taken: np.ndarray
    place: np.ndarray
    by_low: np.ndarray
    by_high: np.ndarray
    tree: np.ndarray
    most: np.ndarray


@jit
def _take(sweep, event):
    n, place = sweep.taken.shape[0], sweep.place[event]
    put(sweep.tree, 0, 0, n, place, 1)
    raised(sweep.most, 0, 0, n, place, event)


@jit
def _inside(candidates, rows, sweep, row):
    """How many of the candidates that are in a row admits by its key and its condition."""
    op = candidates.op[0]
    begin, end = rows.begin[row], rows.end[row]
    low, high = ranked_range(candidates, op, begin, end, rows.rank[0, row])
    found = before_rank(sweep.tree, 0, 0, high) - before_rank(sweep.tree, 0, 0, low)
    if op == UNEQUAL:
        found = before_rank(sweep.tree, 0, 0, end) - before_rank(sweep.tree, 0, 0, begin) - found
    return found


@jit
def swept(candidates, rows, sweep, count, latest, halt):
    """`contract.summed_reference` for candidates with one condition.

    ============  =====================  ==============================================================
    `candidates`  Candidates             in
    `rows`        RowBounds              in: each admits an event at least
    `sweep`       SweepOrders            in; its scratch is filled
    `count`       int64 [rows]           out
    `latest`      int64 [rows]           out
    `halt`        uint8 [1]              in: see `jit`
    ============  =====================  ==============================================================
    """
    n, op = sweep.taken.shape[0], candidates.op[0]
    sweep.tree[:] = 0
    sweep.most[:] = -1
    n_in, next_low = 0, 0
    for number in range(rows.begin.shape[0]):
        if number % SELDOM == 0 and halt[0]:
            break
        row = sweep.by_high[number]
        # Rows whose least event comes next are asked before it is in.
        while next_low < rows.begin.shape[0] and rows.low[sweep.by_low[next_low]] <= rows.high[row]:
            asked = sweep.by_low[next_low]
            while n_in < n and sweep.taken[n_in] < rows.low[asked]:
                _take(sweep, sweep.taken[n_in])
                n_in += 1
            latest[asked] = _inside(candidates, rows, sweep, asked)
            next_low += 1
        while n_in < n and sweep.taken[n_in] <= rows.high[row]:
            _take(sweep, sweep.taken[n_in])
            n_in += 1
        # `latest` held how many were in before the least event.
        count[row] = _inside(candidates, rows, sweep, row) - latest[row]
        begin, end = rows.begin[row], rows.end[row]
        low, high = ranked_range(candidates, op, begin, end, rows.rank[0, row])
        if op == UNEQUAL:
            last = max(greatest(sweep.most, 0, 0, n, begin, low), greatest(sweep.most, 0, 0, n, high, end))
        else:
            last = greatest(sweep.most, 0, 0, n, low, high)
        latest[row] = last if count[row] > 0 else -1

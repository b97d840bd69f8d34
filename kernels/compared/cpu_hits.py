"""Hits of compared steps: the ends of complex events, with the latest start that each has.

The latest start of a run that enters a state is the greatest one of the entries that its views show: the
maximum of one or two ranges of ranks, from a tree of maxima over the ranks of each order. Entries that have
left the window stay in the tree: their starts are below the least one that is admitted.
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from ..joins.contract import room_for_ends
from ..steps.contract import scratch
from ..windows.contract import comparable
from .contract import NEIGHBOUR
from .cpu_order import shown, together


@jit
def raised(best, order, base, size, rank, value):
    """Raise the value of a rank to `value`, in the tree of maxima that begins at `base`."""
    at = size + rank
    while at >= 1 and best[order, base + at] < value:
        best[order, base + at] = value
        at >>= 1
    return at


@jit
def greatest(best, order, base, size, low, high):
    """The greatest value of the ranks low .. high - 1, or -1."""
    found = -1
    low += size
    high += size
    while low < high:
        if low & 1:
            found = max(found, best[order, base + low])
            low += 1
        if high & 1:
            high -= 1
            found = max(found, best[order, base + high])
        low >>= 1
        high >>= 1
    return found


@inline
def entry_shown(tables, events, arranged, best, last, base, g, view, i):
    """The greatest entry that a view shows at event `i` of segment `g`, whose rows begin at `base`; or -1."""
    found = -1
    order = tables.view_order[view]
    if tables.view_near[view] == NEIGHBOUR:
        source = tables.order_state[order]
        if last[source, 0] >= 0 and together(tables, events, view, last[source, 0], i):
            found = last[source, 1]
    else:
        size = arranged.size[order, g]
        a, b, c, d = shown(tables, events, arranged, base, size, view, i)
        if a < b:
            found = max(found, greatest(best, order, 2 * base, size, a, b))
        if c < d:
            found = max(found, greatest(best, order, 2 * base, size, c, d))
    return found


@jit
def hits_body(tables, events, window, segments, arranged, early, best, last, entered, out, halt):
    """Write the hits of all segments; gives how many there are.

    ==========  =======================  ===================================================================
    `tables`    ComparedTables           in
    `events`    PairedEvents             in
    `window`    MeasuredWindow           in
    `segments`  ComparedSegments         in
    `arranged`  Arranged                 in
    `early`     bool                     in: whether the earliest start of each end is asked for; no window
    `best`      int64 [orders, 2 rows]   scratch: a tree of maxima for each order
    `last`      int64 [states, 2]        scratch: the last event that has entered, and its value
    `entered`   int64 [groups]           scratch: as many as a symbol has
    `out`       FoundEnds                out
    `halt`      uint8 [1]                in: see `jit`
    ==========  =======================  ===================================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    n = 0
    for g in range(segments.begin.shape[0]):
        base = segments.base[g]
        for order in range(best.shape[0]):
            for row in range(2 * base, 2 * segments.base[g + 1]):
                best[order, row] = -1
        for state in range(last.shape[0]):
            last[state, 0] = -1
        low = segments.begin[g]
        stop = segments.stop[g]
        for i in range(segments.begin[g], stop):
            if i % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
                return n
            if windowed:
                while keys[i] - keys[low] > window.size:
                    low += 1
            symbol = events.symbols[i]
            begin = tables.first[symbol]
            least = 0 if early else low
            top = -1
            for group in range(begin, tables.first[symbol + 1]):
                value = -1
                if tables.group_starts[group]:
                    value = stop - i if early else i
                for read in range(tables.read_first[group], tables.read_first[group + 1]):
                    view = tables.read_view[read]
                    value = max(value, entry_shown(tables, events, arranged, best, last, base, g, view, i))
                if value < least:
                    value = -1
                entered[group - begin] = value
                if tables.accepting[tables.group_state[group]]:
                    top = max(top, value)
            for group in range(begin, tables.first[symbol + 1]):
                state = tables.group_state[group]
                value = entered[group - begin]
                if value >= 0:
                    last[state, 0] = i
                    last[state, 1] = value
                    for order in range(tables.order_first[state], tables.order_first[state + 1]):
                        rank = arranged.rank[order, base + i - segments.begin[g]]
                        if rank >= 0:
                            raised(best, order, 2 * base, arranged.size[order, g], rank, value)
            if i >= segments.report[g] and top >= 0:
                out.event[n] = i
                out.start[n] = stop - top if early else top
                n += 1
    return n


def hits(tables, events, keys, size, segments, arranged, early=False):
    """The hits of many segments, in their order.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
    segments : ComparedSegments
    arranged : Arranged
    early : bool, optional
        Whether the earliest start of each end is asked for; then there is no window.

    Returns
    -------
    event : ndarray, shape (hits,), int64
    start : ndarray, shape (hits,), int64
        The event of the latest start.
    """
    out = room_for_ends(segments)
    best = np.empty((len(tables.order_slot), 2 * int(segments.base[-1])), np.int64)
    last = np.empty((len(tables.accepting), 2), np.int64)
    n = hits_body(
        tables, events, comparable(keys, size), segments, arranged, early, best, last, scratch(tables), out
    )
    return out.event[:n], out.start[:n]

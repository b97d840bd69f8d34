"""All entries of a segment with the latest start of their runs, and which of them came last before an event.

A strategy chooses among the complex events of an end by their positions. For that it asks for the newest
entry of a range of ranks, as the order was before an event. So each event has a version of the tree of each
order, which shares all nodes but the path to the new entry with the next version.
"""

import numpy as np

from ..jit import SELDOM, jit
from ..steps.contract import scratch
from .contract import NEIGHBOUR, NewestTrees, Traced
from .cpu_hits import entry_shown, raised
from .cpu_nodes import inserted, latest_in
from .cpu_order import shown, together

DONE, NODES_FULL = range(2)


@jit
def _trace(tables, events, segments, arranged, kept, best, last, entered, value, trees, progress, halt):
    """Follow the runs of the segments from `progress[0]` on; gives the status.

    ==========  =======================  ===================================================================
    `tables`    ComparedTables           in
    `events`    PairedEvents             in
    `segments`  ComparedSegments         in
    `arranged`  Arranged                 in
    `kept`      uint8 [orders]           in: 1: the order has versions
    `best`      int64 [orders, 2 rows]   scratch: a tree of maxima for each order
    `last`      int64 [states, 2]        scratch: the last event that has entered, and its value
    `entered`   int64 [groups]           scratch: as many as a symbol has
    `value`     int32 [rows, groups]     out: as in `Traced`
    `trees`     NewestTrees              out
    `progress`  int64 [2]                in/out: segments and nodes that are done; zeros at first
    `halt`      uint8 [1]                in: see `jit`
    ==========  =======================  ===================================================================
    """
    while progress[0] < segments.begin.shape[0]:
        g = progress[0]
        count = progress[1]
        base = segments.base[g]
        for order in range(best.shape[0]):
            trees.present[order] = -1
            for row in range(2 * base, 2 * segments.base[g + 1]):
                best[order, row] = -1
        for state in range(last.shape[0]):
            last[state, 0] = -1
        for i in range(segments.begin[g], segments.stop[g]):
            if i % SELDOM == 0 and halt[0]:
                return DONE
            at = base + i - segments.begin[g]
            for order in range(best.shape[0]):
                trees.before[order, at] = trees.present[order]
            symbol = events.symbols[i]
            begin = tables.first[symbol]
            for group in range(begin, tables.first[symbol + 1]):
                found = i if tables.group_starts[group] else -1
                for read in range(tables.read_first[group], tables.read_first[group + 1]):
                    view = tables.read_view[read]
                    found = max(found, entry_shown(tables, events, arranged, best, last, base, g, view, i))
                entered[group - begin] = found
            for group in range(begin, tables.first[symbol + 1]):
                state = tables.group_state[group]
                found = entered[group - begin]
                value[at, group - begin] = found
                if found >= 0:
                    last[state, 0] = i
                    last[state, 1] = found
                    for order in range(tables.order_first[state], tables.order_first[state + 1]):
                        rank = arranged.rank[order, at]
                        if rank >= 0:
                            raised(best, order, 2 * base, arranged.size[order, g], rank, found)
                        if rank >= 0 and kept[order]:
                            if count + 64 > trees.left.shape[0]:
                                return NODES_FULL
                            size = arranged.size[order, g]
                            trees.present[order] = count
                            count = inserted(trees, count, trees.before[order, at], size, rank, i, i)
        progress[0] = g + 1
        progress[1] = count
    return DONE


def trace(tables, events, segments, arranged, order=None):
    """Follow the runs of segments, without a window: `Traced`; `order`: the only one to have versions."""
    orders, rows = len(tables.order_slot), int(segments.base[-1])
    kept = np.ones(orders, np.uint8)
    if order is not None:
        kept[:] = np.arange(orders) == order
    entered = scratch(tables)
    value = np.full((rows, len(entered)), -1, np.int32)
    best = np.empty((orders, 2 * rows), np.int64)
    last = np.empty((len(tables.accepting), 2), np.int64)
    before, present = np.empty((orders, rows), np.int32), np.empty(orders, np.int32)
    nodes = [np.empty(8 * rows + 1024, np.int32) for _ in range(3)]
    progress = np.zeros(2, np.int64)
    while True:
        trees = NewestTrees(*nodes, before, present)
        status = _trace(tables, events, segments, arranged, kept, best, last, entered, value, trees, progress)
        if status == DONE:
            return Traced(value, trees)
        nodes = [np.append(old, np.empty_like(old)) for old in nodes]


@jit
def run_of(tables, events, segments, traced, g, event, state):
    """The latest start of the runs that an event puts into a state, or -1.

    ==========  ================  ==========================
    `tables`    ComparedTables    in
    `events`    PairedEvents      in
    `segments`  ComparedSegments  in
    `traced`    Traced            in
    `g`         int               in: the segment
    `event`     int               in
    `state`     int               in
    ==========  ================  ==========================
    """
    symbol = events.symbols[event]
    begin = tables.first[symbol]
    found = -1
    for group in range(begin, tables.first[symbol + 1]):
        if tables.group_state[group] == state:
            found = traced.value[segments.base[g] + event - segments.begin[g], group - begin]
    return found


@jit
def newest(tables, events, segments, arranged, traced, g, view, event, lowest):
    """The newest event that a view shows at an event and that has a run from `lowest` on; or -1.

    ==========  ================  ===================================
    `tables`    ComparedTables    in
    `events`    PairedEvents      in
    `segments`  ComparedSegments  in
    `arranged`  Arranged          in
    `traced`    Traced            in
    `g`         int               in: the segment
    `view`      int               in
    `event`     int               in
    `lowest`    int               in: the least admissible start
    ==========  ================  ===================================
    """
    base = segments.base[g]
    begin = segments.begin[g]
    order = tables.view_order[view]
    state = tables.order_state[order]
    if tables.view_near[view] == NEIGHBOUR:
        if event == begin or not together(tables, events, view, event - 1, event):
            return -1
        before = run_of(tables, events, segments, traced, g, event - 1, state)
        return event - 1 if before >= lowest else -1
    size = arranged.size[order, g]
    a, b, c, d = shown(tables, events, arranged, base, size, view, event)
    at = event
    # From the newest on, entries without a run in the window are passed over.
    while True:
        root = traced.trees.before[order, base + at - begin]
        found = -1
        if a < b and root >= 0:
            found = latest_in(traced.trees, root, size, a, b)
        if c < d and root >= 0:
            found = max(found, latest_in(traced.trees, root, size, c, d))
        if found < lowest:
            return -1
        if run_of(tables, events, segments, traced, g, found, state) >= lowest:
            return found
        at = found

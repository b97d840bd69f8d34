"""All entries of a segment with the latest start of their runs, and which of them came last before an event.

A strategy chooses among the complex events of an end by their positions. For that it asks for the newest
entry of a range of ranks, as the order was before an event. So each event has a version of the tree of each
order, which shares all nodes but the path to the new entry with the next version.
"""

import numpy as np

from ..jit import composed, jit
from ..loop.contract import FoundEnds
from ..loop.follow import FULL, WORDS, follow
from ..loop.products import LATEST
from ..loop.run import scratch
from ..windows.contract import NO_WINDOW
from .contract import NEIGHBOUR, NewestTrees, RunTrace, whole
from .cpu_order import shown, together
from .index import HERE, TRACE_IN_ORDERS, StartRoom, TraceRoom
from .tree import latest_in

trace_runs = composed(follow, "trace_runs", **LATEST | TRACE_IN_ORDERS)


def trace(tables, events, segments, arranged, order=None):
    """Follow the runs of segments, without a window: `RunTrace`; `order`: the only one to have versions."""
    orders, rows = len(tables.order_slot), int(segments.base[-1])
    kept = np.ones(orders, np.uint8)
    if order is not None:
        kept[:] = np.arange(orders) == order
    entered = scratch(tables)
    value = np.full((rows, len(entered)), -1, np.int32)
    best = np.empty((orders, 2 * rows), np.int64)
    last = np.empty((len(tables.accepting), 2), np.int64)
    starts = StartRoom(arranged, segments, np.empty(HERE, np.int64), best, last)
    before, present = np.empty((orders, rows), np.int32), np.empty(orders, np.int32)
    nodes = [np.empty(8 * rows + 1024, np.int32) for _ in range(3)]
    used, progress = np.zeros(1, np.int64), np.zeros(WORDS, np.int64)
    none = FoundEnds(*np.empty((2, 0), np.int64))
    while True:
        trees = NewestTrees(*nodes, before, present)
        room = TraceRoom(starts, kept, value, trees, used)
        trace_runs(tables, events, NO_WINDOW, whole(segments), room, entered, none, progress)
        if not progress[FULL]:
            return RunTrace(value, trees)
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

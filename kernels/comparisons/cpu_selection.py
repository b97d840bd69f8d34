"""NEXT and LAST of compared steps: the positions of the one complex event that either leaves at a hit.

Of two sets of positions LAST takes the one that has the greatest position in which they differ. So it is
found from its end: before each event comes the newest event from which a run leads there. NEXT takes the set
that has the least such position. It is found from its start: going backwards, each event from which the end
can be reached stamps the ranges of ranks that its views show; then the first start among the stamped events
is taken, and after each event the first one that may follow it.

One event may have entered several states: all are followed. At the end those are dropped that lead to no end
through the chosen events. This is for automata whose runs the positions tell apart, so one state is left for
each event.
"""

import numpy as np

from ..jit import OFTEN, jit
from .contract import NEIGHBOUR, ChosenEvents
from .cpu_order import shown, together
from .cpu_trace import newest, run_of

DONE, MARKS_FULL = range(2)

EVENT, GROUPS = range(2)
"""Columns of a path: an event, and a bit for each group of its symbol that it may have entered."""


@jit
def goes_on(tables, events, mask, before, group, event):
    """Whether an event may enter a group from one of the groups `mask` of the event `before`."""
    begin = tables.first[events.symbols[before]]
    stop = tables.first[events.symbols[before] + 1]
    for read in range(tables.read_first[group], tables.read_first[group + 1]):
        view = tables.read_view[read]
        source = tables.order_state[tables.view_order[view]]
        for other in range(begin, stop):
            is_there = mask >> (other - begin) & 1 and tables.group_state[other] == source
            if is_there and together(tables, events, view, before, event):
                return True
    return False


@jit
def last_of(tables, events, segments, arranged, traced, g, end, lowest, path):
    """Write the events that LAST leaves at a hit, from the last to the first; gives how many.

    ==========  ================  ========================================
    `tables`    ComparedTables    in
    `events`    PairedEvents      in
    `segments`  ComparedSegments  in
    `arranged`  Arranged          in
    `traced`    Traced            in
    `g`         int               in: the segment
    `end`       int               in
    `lowest`    int               in: the least admissible start
    `path`      int64 [depth, 2]  out; room for all events of the window
    ==========  ================  ========================================
    """
    begin = segments.begin[g]
    mask = 0
    first = tables.first[events.symbols[end]]
    for group in range(first, tables.first[events.symbols[end] + 1]):
        value = traced.value[segments.base[g] + end - begin, group - first]
        if value >= lowest and tables.accepting[tables.group_state[group]]:
            mask |= 1 << (group - first)
    event = end
    path[0, EVENT] = end
    path[0, GROUPS] = mask
    length = 1
    while True:
        first = tables.first[events.symbols[event]]
        stop = tables.first[events.symbols[event] + 1]
        found = -1
        for group in range(first, stop):
            if mask >> (group - first) & 1:
                for read in range(tables.read_first[group], tables.read_first[group + 1]):
                    view = tables.read_view[read]
                    one = newest(tables, events, segments, arranged, traced, g, view, event, lowest)
                    found = max(found, one)
        if found < 0:
            return length
        onward = 0
        low = tables.first[events.symbols[found]]
        for group in range(first, stop):
            if mask >> (group - first) & 1:
                for read in range(tables.read_first[group], tables.read_first[group + 1]):
                    view = tables.read_view[read]
                    source = tables.order_state[tables.view_order[view]]
                    if run_of(tables, events, segments, traced, g, found, source) >= lowest and together(
                        tables, events, view, found, event
                    ):
                        for other in range(low, tables.first[events.symbols[found] + 1]):
                            if tables.group_state[other] == source:
                                onward |= 1 << (other - low)
        mask = onward
        event = found
        path[length, EVENT] = event
        path[length, GROUPS] = mask
        length += 1


@jit
def next_of(tables, events, segments, arranged, traced, g, end, lowest, stamp, covered, reached, path):
    """Write the events that NEXT leaves at a hit, from the first to the last; gives how many.

    ==========  =======================  ========================================
    `tables`    ComparedTables           in
    `events`    PairedEvents             in
    `segments`  ComparedSegments         in
    `arranged`  Arranged                 in
    `traced`    Traced                   in
    `g`         int                      in: the segment
    `end`       int                      in
    `lowest`    int                      in: the least admissible start
    `stamp`     int                      in: a number that is not in `covered` yet
    `covered`   int64 [orders, 2 rows]   scratch: `stamp` at ranges of ranks
    `reached`   int64 [rows]             scratch: the groups of each event that lead to the end
    `path`      int64 [depth, 2]         out; room for all events of the window
    ==========  =======================  ========================================
    """
    base = segments.base[g]
    begin = segments.begin[g]
    near = 0  # the groups of the event before that a view of neighbours shows
    for i in range(end, lowest - 1, -1):
        symbol = events.symbols[i]
        first = tables.first[symbol]
        at = base + i - begin
        mask = 0
        beside = near
        near = 0
        for group in range(first, tables.first[symbol + 1]):
            state = tables.group_state[group]
            if traced.value[at, group - first] < lowest:
                continue
            leads = tables.accepting[state] == 1 if i == end else (beside >> (group - first) & 1) == 1
            if i < end and not leads:
                for order in range(tables.order_first[state], tables.order_first[state + 1]):
                    rank = arranged.rank[order, at]
                    if rank >= 0 and not leads:
                        leads = is_covered(covered, order, 2 * base, arranged.size[order, g], rank, stamp)
            if not leads:
                continue
            mask |= 1 << (group - first)
            if i == lowest:
                continue
            for read in range(tables.read_first[group], tables.read_first[group + 1]):
                view = tables.read_view[read]
                order = tables.view_order[view]
                if tables.view_near[view] == NEIGHBOUR:
                    if together(tables, events, view, i - 1, i):
                        low = tables.first[events.symbols[i - 1]]
                        for other in range(low, tables.first[events.symbols[i - 1] + 1]):
                            if tables.group_state[other] == tables.order_state[order]:
                                near |= 1 << (other - low)
                else:
                    size = arranged.size[order, g]
                    a, b, c, d = shown(tables, events, arranged, base, size, view, i)
                    cover(covered, order, 2 * base, size, a, b, stamp)
                    cover(covered, order, 2 * base, size, c, d, stamp)
        reached[at] = mask
    length = 0
    mask = 0
    for i in range(lowest, end + 1):
        here = reached[base + i - begin]
        if here == 0:
            continue
        first = tables.first[events.symbols[i]]
        onward = 0
        for group in range(first, tables.first[events.symbols[i] + 1]):
            if here >> (group - first) & 1:
                if length == 0:
                    goes = tables.group_starts[group] == 1
                else:
                    goes = goes_on(tables, events, mask, path[length - 1, EVENT], group, i)
                if goes:
                    onward |= 1 << (group - first)
        if onward != 0:
            mask = onward
            path[length, EVENT] = i
            path[length, GROUPS] = mask
            length += 1
    return length


@jit
def narrowed(tables, events, path, length):
    """Keep for each event of a path, ascending, only the groups through which the path leads to an end."""
    for k in range(length):
        event = path[k, EVENT]
        first = tables.first[events.symbols[event]]
        mask = 0
        for group in range(first, tables.first[events.symbols[event] + 1]):
            if path[k, GROUPS] >> (group - first) & 1:
                if k == 0:
                    goes = tables.group_starts[group] == 1
                else:
                    goes = goes_on(tables, events, path[k - 1, GROUPS], path[k - 1, EVENT], group, event)
                if goes:
                    mask |= 1 << (group - first)
        path[k, GROUPS] = mask
    for k in range(length - 1, -1, -1):
        event = path[k, EVENT]
        first = tables.first[events.symbols[event]]
        mask = 0
        for group in range(first, tables.first[events.symbols[event] + 1]):
            if path[k, GROUPS] >> (group - first) & 1:
                if k == length - 1:
                    goes = tables.accepting[tables.group_state[group]] == 1
                else:
                    goes = False
                    after = path[k + 1, EVENT]
                    low = tables.first[events.symbols[after]]
                    for other in range(low, tables.first[events.symbols[after] + 1]):
                        if path[k + 1, GROUPS] >> (other - low) & 1 and not goes:
                            goes = goes_on(tables, events, 1 << (group - first), event, other, after)
                if goes:
                    mask |= 1 << (group - first)
        path[k, GROUPS] = mask
    return length


@jit
def cover(covered, order, base, size, low, high, stamp):
    """Stamp the ranks low .. high - 1, in the tree that begins at `base`."""
    low += size
    high += size
    while low < high:
        if low & 1:
            covered[order, base + low] = stamp
            low += 1
        if high & 1:
            high -= 1
            covered[order, base + high] = stamp
        low >>= 1
        high >>= 1
    return low


@jit
def is_covered(covered, order, base, size, rank, stamp):
    """Whether a rank is stamped."""
    at = size + rank
    while at >= 1:
        if covered[order, base + at] == stamp:
            return True
        at >>= 1
    return False


@jit
def _chosen(tables, events, segments, arranged, traced, hits, earliest, covered, reached, path, out, halt):
    """Write the events of the complex event of each hit from `out.progress[0]` on; gives the status.

    ==========  =======================  ===========================================================
    `tables`    ComparedTables           in
    `events`    PairedEvents             in
    `segments`  ComparedSegments         in
    `arranged`  Arranged                 in
    `traced`    Traced                   in
    `hits`      SegmentHits              in: of each segment, ascending
    `earliest`  bool                     in: NEXT; else LAST
    `covered`   int64 [orders, 2 rows]   scratch: zeros; as for `next_of`
    `reached`   int64 [rows]             scratch
    `path`      int64 [depth, 2]         scratch
    `out`       ChosenEvents             out
    `halt`      uint8 [1]                in: see `jit`
    ==========  =======================  ===========================================================
    """
    out.first[0] = 0
    g = 0
    m = out.progress[1]
    for h in range(out.progress[0], hits.event.shape[0]):
        if h % OFTEN == 0 and halt[0]:
            return DONE
        while hits.first[g + 1] <= h:
            g += 1
        end = hits.event[h]
        lowest = max(hits.lowest[h], segments.begin[g])
        if earliest:
            length = next_of(
                tables, events, segments, arranged, traced, g, end, lowest, h + 1, covered, reached, path
            )
        else:
            length = last_of(tables, events, segments, arranged, traced, g, end, lowest, path)
        if m + length > out.event.shape[0]:
            return MARKS_FULL
        if not earliest:
            for k in range(length // 2):
                for column in range(2):
                    other = path[length - 1 - k, column]
                    path[length - 1 - k, column] = path[k, column]
                    path[k, column] = other
        narrowed(tables, events, path, length)
        for k in range(length):
            event = path[k, EVENT]
            out.event[m + k] = event
            first = tables.first[events.symbols[event]]
            for group in range(first, tables.first[events.symbols[event] + 1]):
                if path[k, GROUPS] >> (group - first) & 1:
                    out.label[m + k] = tables.state_label[tables.group_state[group]]
        m += length
        out.first[h + 1] = m
        out.progress[0] = h + 1
        out.progress[1] = m
    return DONE


def chosen(tables, events, segments, arranged, traced, hits, earliest):
    """The events of the complex event that NEXT, or LAST, leaves at each hit.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    segments : ComparedSegments
    arranged : Arranged
    traced : Traced
    hits : SegmentHits
    earliest : bool
        NEXT; else LAST.

    Returns
    -------
    first : ndarray, shape (hits + 1,), int64
    event, label : ndarray, shape (marks,), int32
        Hit h has the events first[h] .. first[h + 1] - 1, ascending, and what each is marked with.
    """
    rows = int(segments.base[-1])
    longest = int((segments.stop - segments.begin).max(initial=0))
    covered = np.zeros((len(tables.order_slot), 2 * rows) if earliest else (1, 1), np.int64)
    reached = np.empty(rows if earliest else 0, np.int64)
    path, progress = np.empty((longest, 2), np.int64), np.zeros(2, np.int64)
    event, label = (np.empty(4 * len(hits.event) + 64, np.int32) for _ in range(2))
    first = np.zeros(len(hits.event) + 1, np.int64)
    while True:
        out = ChosenEvents(first, event, label, progress)
        status = _chosen(
            tables, events, segments, arranged, traced, hits, earliest, covered, reached, path, out
        )
        if status == DONE:
            return first, event[: int(progress[1])], label[: int(progress[1])]
        more = np.empty(max(len(event), longest), np.int32)
        event, label = np.append(event, more), np.append(label, more)

"""Counts and hits of chains of which the last step is compared, while few old events are in the window.

Each new event is compared with every old event of its window: their values lie one after another in arrays
that stay in the cache, and no order has to be made of them. A segment in which more old events than
`StepPairTables.few` are in a window is left out; the kernels with trees run it.

1.8 to 4.5 times as fast as the trees: hits and counts of `A ; B ; C` with `a.price < c.price` in windows of
20 to 1,000 events, with and without keys (CPU time of the whole query, a million events of ten types).
"""

from typing import NamedTuple

import numpy as np

from ..comparisons.contract import NO_VALUE, ComparedSegments
from ..comparisons.cpu_value_ranges import asked
from ..jit import inline, jit
from ..loop.contract import room_for_ends
from ..sorting.order import ascending
from .path_matrices import forward, inverse, reset

NEAR = 16
"""So many of the last old events are looked at one by one, before all others are compared at once."""

SINGLY = 12
"""Up to so many old events are compared one by one where matches are counted: a call costs as much."""

NO_END = -1
"""Instead of a number of ends: the segment has too many old events in a window."""


class NestedLoopRoom(NamedTuple):
    """Scratch: the old events of a window, those that have come last behind.

    ============  ===================  =====================================================================
    `entered`     int64 [room]         each old event
    `word`        int64 [room]         its value
    `slot`        int64 [room]         its slot plus one; 0 where slots are not compared
    `start`       int64 [room]         the latest start of a way to it
    `own`         int64 [b m, room]    the ways to it times those from it (`StepPairRoom`)
    `agree`       int64 [room]         -1: the new event agrees with it; else 0
    `weight`      int64 [b m]          the matches for each of its ways, where they are counted one by one
    `before`      int64 [b, b]         as in `StepPairRoom`
    `between`     int64 [m, m]
    `since`       int64 [b, b]
    `between_in`  int64 [m, m]
    `reached`     int64 [steps]        as for the hits of any chain (`cpu_hits`)
    ============  ===================  =====================================================================
    """

    entered: np.ndarray
    word: np.ndarray
    slot: np.ndarray
    start: np.ndarray
    own: np.ndarray
    agree: np.ndarray
    weight: np.ndarray
    before: np.ndarray
    between: np.ndarray
    since: np.ndarray
    between_in: np.ndarray
    reached: np.ndarray


def _room(apart):
    """Room for twice as many old events as may be in a window, so that they seldom have to be moved."""
    b, m, rows = apart.old + 1, apart.new - apart.old, 2 * apart.few + 64
    return NestedLoopRoom(
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty((b * m, rows), np.int64),
        np.empty(rows, np.int64),
        np.empty(b * m, np.int64),
        *(np.empty((size, size), np.int64) for size in (b, m, b, m)),
        np.empty(apart.last + 1, np.int64),
    )


@inline
def _moved(room, left, put, ways):
    """Move the old events of the window to the front."""
    for k in range(left, put):
        room.entered[k - left] = room.entered[k]
        room.word[k - left] = room.word[k]
        room.slot[k - left] = room.slot[k]
        room.start[k - left] = room.start[k]
        for way in range(ways):
            room.own[way, k - left] = room.own[way, k]


@inline
def _put(tables, events, room, event, put):
    """Put in an old event; gives whether it has what is compared."""
    order = tables.view_order[0]
    row = tables.order_slot[order]
    value = tables.order_value[order]
    slot = 0
    word = 0
    there = True
    if row >= 0:
        slot = events.slots[row, event] + 1
        there = slot > 0
    if value >= 0:
        word = events.words[value, event]
        there = there and events.sides[value, event] != NO_VALUE
    room.entered[put] = event
    room.word[put] = word
    room.slot[put] = slot
    return there


@jit
def _ways(own, agree):
    """The sum of one kind of ways over the old events that agree.

    =========  ===========  =====================
    `own`      int64 [n]    in: as in `NestedLoopRoom`
    `agree`    int64 [n]    in
    =========  ===========  =====================
    """
    total = 0
    for k in range(own.shape[0]):
        total += own[k] & agree[k]
    return total


@jit
def _compared(words, slots, agree, low, high, pierced, hole, slot):
    """Write which old events agree.

    =========  ===========  ========================================
    `words`    int64 [n]    in: as in `NestedLoopRoom`
    `slots`    int64 [n]    in
    `agree`    int64 [n]    out
    `low`      int64        in: what `asked` gave, and so the rest
    `high`     int64
    `pierced`  bool
    `hole`     int64
    `slot`     int64
    =========  ===========  ========================================
    """
    # Slices that begin at 0 and no branch: the loops become vector instructions.
    for k in range(words.shape[0]):
        agree[k] = -np.int64((words[k] >= low) & (words[k] <= high))
    if slot != 0:
        for k in range(words.shape[0]):
            agree[k] &= -np.int64(slots[k] == slot)
    if pierced:
        for k in range(words.shape[0]):
            agree[k] &= -np.int64(words[k] != hole)


@inline
def _counted(tables, apart, events, window, segments, g, room, out, h, doubtful):
    """Write the ends of a segment from place h on, and their numbers; gives the place behind, or `NO_END`."""
    keys = window.keys
    windowed = keys.shape[0] > 0
    old = apart.old
    last = apart.last
    b = old + 1
    m = apart.new - old
    reset(room.before)
    reset(room.between)
    reset(room.since)
    reset(room.between_in)
    least = segments.begin[g]
    left = 0
    put = 0
    for i in range(segments.begin[g], segments.stop[g]):
        mask = apart.steps[events.symbols[i]]
        if mask >> last & 1 and i >= segments.report[g]:
            if windowed:
                while keys[i] - keys[least] > window.size:
                    if old > 0:
                        inverse(room.since, apart.steps[events.symbols[least]], 0)
                    least += 1
                while left < put and room.entered[left] < least:
                    left += 1
            bound = float(put - left)
            for _ in range(last - 1):
                bound *= i - least
            if bound >= doubtful:
                return NO_END
            number = 0
            if left < put:
                low, high, pierced, hole, slot = asked(tables, events, 0, i)
                if low <= high and put - left <= SINGLY:
                    for x in range(b):
                        for y in range(m):
                            room.weight[x * m + y] = room.since[0, x] * room.between[y, m - 1]
                    for k in range(left, put):
                        word = room.word[k]
                        agrees = (word >= low) & (word <= high) & (not pierced or word != hole)
                        agree = -np.int64(agrees & (slot == 0 or room.slot[k] == slot))
                        for way in range(b * m):
                            number += (room.own[way, k] * room.weight[way]) & agree
                elif low <= high:
                    words, slots, agree = room.word[left:put], room.slot[left:put], room.agree[left:put]
                    _compared(words, slots, agree, low, high, pierced, hole, slot)
                    for x in range(b):
                        part = 0
                        for y in range(m):
                            ways = room.between[y, m - 1]
                            if ways != 0:
                                own = room.own[x * m + y, left:put]
                                part += _ways(own, agree) * ways
                        number += room.since[0, x] * part
            if number != 0:
                out.event[h] = i
                out.start[h] = number
                h += 1
        forward(room.between, mask, old + 1)
        inverse(room.between_in, mask, old + 1)
        if mask >> old & 1 and _put(tables, events, room, i, put):
            for x in range(b):
                for y in range(m):
                    room.own[x * m + y, put] = room.before[x, old] * room.between_in[0, y]
            put += 1
            if put == room.entered.shape[0] or put - left > apart.few:
                # Those that have left the window go first: an event that is no end does not look.
                if windowed:
                    while keys[i] - keys[least] > window.size:
                        if old > 0:
                            inverse(room.since, apart.steps[events.symbols[least]], 0)
                        least += 1
                    while left < put and room.entered[left] < least:
                        left += 1
                if put - left > apart.few:
                    return NO_END
                _moved(room, left, put, b * m)
                put -= left
                left = 0
        forward(room.before, mask, 0)
    return h


@jit
def _counts(tables, apart, events, window, segments, room, out, passed, doubtful, halt):
    """Write the number of matches at each end of the segments that are not left out; gives how many ends.

    ==========  =====================  ==================================================================
    `tables`    ComparedTables         in: view 0 shows the old events that a new one agrees with
    `apart`     StepPairTables            in: the new step is the last
    `events`    PairedEvents           in
    `window`    MeasuredWindow         in
    `segments`  ComparedSegments       in
    `room`      NestedLoopRoom                scratch
    `out`       FoundEnds              out: where matches end, and the numbers
    `passed`    uint8 [segments]       out: 1: the segment is left out
    `doubtful`  float64                in: a number that may be this large may not fit
    `halt`      uint8 [1]              in: see `jit`
    ==========  =====================  ==================================================================
    """
    h = 0
    for g in range(segments.begin.shape[0]):
        if halt[0]:
            break
        n = _counted(tables, apart, events, window, segments, g, room, out, h, doubtful)
        passed[g] = n == NO_END
        h = h if n == NO_END else n
    return h


@inline
def _latest(room, left, put, ready, least, wanted):
    """The latest start, from `least` on, of the old events up to `ready` that agree; -1: none."""
    low, high, pierced, hole, slot = wanted
    near = max(left, put - NEAR)
    for k in range(put - 1, near - 1, -1):
        if room.start[k] < least:
            return -1
        word = room.word[k]
        there = room.entered[k] <= ready and room.slot[k] == slot
        if there and low <= word <= high and not (pierced and word == hole):
            return room.start[k]
    words, slots, agree = room.word[left:near], room.slot[left:near], room.agree[left:near]
    _compared(words, slots, agree, low, high, pierced, hole, slot)
    for k in range(near - 1, left - 1, -1):
        if room.start[k] < least:
            return -1
        if room.agree[k] != 0 and room.entered[k] <= ready:
            return room.start[k]
    return -1


@inline
def _found(tables, apart, events, window, segments, g, room, out, n):
    """Write the hits of a segment from place n on; gives the place behind, or `NO_END`."""
    keys = window.keys
    windowed = keys.shape[0] > 0
    old = apart.old
    last = apart.last
    for step in range(last + 1):
        room.reached[step] = -1
    low = segments.begin[g]
    left = 0
    put = 0
    for i in range(segments.begin[g], segments.stop[g]):
        mask = apart.steps[events.symbols[i]]
        top = -1
        if mask >> last & 1 and left < put and i >= segments.report[g]:
            if windowed:
                while keys[i] - keys[low] > window.size:
                    low += 1
            if room.reached[last - 1] >= low:
                wanted = asked(tables, events, 0, i)
                top = _latest(room, left, put, room.reached[last - 1], low, wanted)
        # From the last step to the first, so that each sees what earlier events have done.
        for step in range(last - 1, -1, -1):
            if mask >> step & 1:
                if step == old:
                    start = i if step == 0 else room.reached[step - 1]
                    if start >= 0 and _put(tables, events, room, i, put):
                        room.start[put] = start
                        put += 1
                    room.reached[step] = i
                elif step == 0:
                    room.reached[step] = i
                else:
                    room.reached[step] = max(room.reached[step], room.reached[step - 1])
        if put == room.entered.shape[0] or put - left > apart.few:
            if windowed:
                while keys[i] - keys[low] > window.size:
                    low += 1
            while left < put and room.start[left] < low:
                left += 1
            if put - left > apart.few:
                return NO_END
            _moved(room, left, put, 0)
            put -= left
            left = 0
        if top >= low:
            out.event[n] = i
            out.start[n] = top
            n += 1
    return n


@jit
def _hits(tables, apart, events, window, segments, room, out, passed, halt):
    """Write the hits of the segments that are not left out; gives how many there are.

    The parameters are those of `_counts`; `out` gets the latest starts in the place of numbers.
    """
    n = 0
    for g in range(segments.begin.shape[0]):
        if halt[0]:
            break
        found = _found(tables, apart, events, window, segments, g, room, out, n)
        passed[g] = found == NO_END
        n = n if found == NO_END else found
    return n


def counted(tables, apart, events, window, segments, doubtful):
    """The ends and their numbers in the segments that are not left out, and those that are left out.

    Returns
    -------
    event, number : ndarray, shape (ends,), int64
    left : ComparedSegments
    """
    return _asked_of(_counts, tables, apart, events, window, segments, doubtful)


def found(tables, apart, events, window, segments):
    """The ends and their latest starts in the segments that are not left out, and those that are left out."""
    return _asked_of(_hits, tables, apart, events, window, segments)


def _asked_of(kernel, tables, apart, events, window, segments, *more):
    if apart.new != apart.last:
        return np.empty(0, np.int64), np.empty(0, np.int64), segments
    out, passed = room_for_ends(segments), np.zeros(len(segments.begin), np.uint8)
    n = kernel(tables, apart, events, window, segments, _room(apart), out, passed, *more)
    there = np.flatnonzero(passed)
    begin, report, stop = (part[there] for part in segments[:3])
    left = ComparedSegments(begin, report, stop, np.append(0, np.cumsum(stop - begin)))
    return out.event[:n], out.start[:n], left


def merged(some, others):
    """Ends of different segments in their order, with what is known of each."""
    if not len(others[0]):
        return some
    event, value = (np.concatenate(parts) for parts in zip(some, others, strict=True))
    order = ascending(event)
    return event[order], value[order]

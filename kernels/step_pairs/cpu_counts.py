"""Counts of chains of which two steps are compared: O(log n) for an event, whatever the number of matches.

A Fenwick tree over the ranks of the old events holds a small matrix for each: the ways to it times the
inverse of the ways up to it (`StepPairRoom`). A new event adds up the ranges of ranks that it matches, and
one multiplication makes the sum the number of ways through all steps between. An old event that leaves the
window is taken out, with what it has given to later steps. Sums wrap modulo 2^64; a number that fits is
exact, and a bound in float64 tells which may not fit. Those are counted again with Python's integers.

Where the new step is the last, and as long as few old events are in the window, new events are compared with
all of them (`cpu_nested_loop`): that is cheaper than the tree.
"""

import numpy as np

from ..comparisons.contract import LARGEST
from ..comparisons.cpu_order import arrange, shown
from ..jit import SELDOM, inline, jit
from ..loop.contract import FoundEnds, room_for_ends
from ..windows.contract import NO_WINDOW, comparable
from . import cpu_nested_loop
from .contract import StepPairRoom
from .path_matrices import forward, inverse, reset

DOUBTFUL = float(LARGEST // 2)
"""A number that may be this large or larger is counted with Python's integers."""


@inline
def _given(sums, base, size, rank, own, sign):
    """Add an old event's matrix, or take it away."""
    at = rank + 1
    while at <= size:
        for x in range(own.shape[1]):
            for y in range(own.shape[2]):
                sums[base + at - 1, x, y] += sign * own[base + rank, x, y]
        at += at & -at


@inline
def _agreeing(room, base, low, high):
    """Add to `part` the ways of the old events of some ranks to a new one."""
    m = room.between.shape[0] - 1
    for sign in (1, -1):
        at = high if sign == 1 else low
        while at > 0:
            for x in range(room.sums.shape[1]):
                for y in range(room.sums.shape[2]):
                    room.part[x] += sign * room.sums[base + at - 1, x, y] * room.between[y, m]
            at &= at - 1


@inline
def _shifted(room, base, size, rank, sign):
    """Let the old events from a rank on get what a new event gives them, or take it away again."""
    m = room.between.shape[0] - 1
    at = rank + 1
    while at <= size:
        for x in range(room.shifts.shape[1]):
            for y in range(room.shifts.shape[2]):
                room.shifts[base + at - 1, x, y] += sign * room.between[x, m] * room.behind_in[0, y]
        at += at & -at


@inline
def _left(room, base, size, rank):
    """Take out an old event that has left the window, with what it has given to later steps."""
    _given(room.sums, base, size, rank, room.own, -1)
    at = rank + 1
    while at > 0:
        for y in range(room.shifts.shape[1]):
            for z in range(room.shifts.shape[2]):
                for x in range(room.own.shape[1]):
                    room.total[x, z] -= room.own[base + rank, x, y] * room.shifts[base + at - 1, y, z]
        at &= at - 1
    for y in range(room.shifts.shape[1]):
        for z in range(room.shifts.shape[2]):
            for x in range(room.own.shape[1]):
                room.total[x, z] += room.own[base + rank, x, y] * room.seen[base + rank, y, z]


@inline
def _entered(room, base, size, rank):
    """Put in an old event."""
    b = room.before.shape[0] - 1
    for x in range(room.own.shape[1]):
        for y in range(room.own.shape[2]):
            room.own[base + rank, x, y] = room.before[x, b] * room.between_in[0, y]
    for y in range(room.shifts.shape[1]):
        for z in range(room.shifts.shape[2]):
            room.seen[base + rank, y, z] = 0
    at = rank + 1
    while at > 0:
        for y in range(room.shifts.shape[1]):
            for z in range(room.shifts.shape[2]):
                room.seen[base + rank, y, z] += room.shifts[base + at - 1, y, z]
        at &= at - 1


@inline
def _begun(room, base, size):
    """Make room for the next segment."""
    reset(room.before)
    reset(room.between)
    reset(room.behind)
    reset(room.since)
    reset(room.between_in)
    reset(room.behind_in)
    for row in range(base, base + size):
        for x in range(room.sums.shape[1]):
            for y in range(room.sums.shape[2]):
                room.sums[row, x, y] = 0
        for y in range(room.shifts.shape[1]):
            for z in range(room.shifts.shape[2]):
                room.shifts[row, y, z] = 0
    for x in range(room.total.shape[0]):
        for z in range(room.total.shape[1]):
            room.total[x, z] = 0
    for k in range(room.many.shape[0]):
        room.many[k] = 0


@jit
def _counts(tables, apart, events, window, segments, arranged, first, lowest, room, out, doubtful, halt):
    """Write the number of matches at each end, -1 where it may not fit: how many ends there are.

    ==========  ============================  ===============================================================
    `tables`    ComparedTables                in: view 0 shows the old events that a new one agrees with
    `apart`     StepPairTables                   in
    `events`    PairedEvents                  in
    `window`    MeasuredWindow                in
    `segments`  ComparedSegments              in
    `arranged`  Arranged                      in
    `first`     int64 [segments + 1] or [0]   in: the ends of segment g are first[g] .. first[g + 1] - 1;
                                              empty: the kernel finds the ends
    `lowest`    int64 [ends] or [0]           in: the least admissible start, which does not fall in a
                                              segment; empty: as the window says
    `room`      StepPairRoom                     scratch
    `out`       FoundEnds                     out: where matches end (in, with `first`), and the numbers
    `doubtful`  float64                       in: a number that may be this large may not fit
    `halt`      uint8 [1]                     in: see `jit`
    ==========  ============================  ===============================================================
    """
    given = first.shape[0] > 0
    keys = window.keys
    windowed = keys.shape[0] > 0
    old = apart.old
    new = apart.new
    last = apart.last
    e = room.behind.shape[0]
    h = 0
    for g in range(segments.begin.shape[0]):
        base = segments.base[g]
        begin = segments.begin[g]
        size = arranged.size[0, g]
        _begun(room, base, size)
        gone = begin
        least = begin
        if given:
            h = first[g]
        for i in range(begin, segments.stop[g]):
            if (given and h == first[g + 1]) or (i % SELDOM == 0 and halt[0]):
                break
            mask = apart.steps[events.symbols[i]]
            if mask >> last & 1 and (out.event[h] == i if given else i >= segments.report[g]):
                if lowest.shape[0] > 0:
                    least = lowest[h]
                elif windowed:
                    while keys[i] - keys[least] > window.size:
                        least += 1
                while gone < least:
                    was = apart.steps[events.symbols[gone]]
                    rank = arranged.rank[0, base + gone - begin]
                    if was >> old & 1 and rank >= 0:
                        _left(room, base, size, rank)
                    inverse(room.since, was, 0)
                    for k in range(last + 1):
                        room.many[k] -= was >> k & 1
                    gone += 1
                bound = 1.0
                for k in range(last):
                    bound *= room.many[k]
                number = 0
                if bound > 0:
                    if new == last:
                        for x in range(old + 1):
                            room.part[x] = 0
                        low, hole, after, high = shown(tables, events, arranged, base, size, 0, i)
                        _agreeing(room, base, low, hole)
                        if after < high:
                            _agreeing(room, base, after, high)
                        for x in range(old + 1):
                            number += room.since[0, x] * room.part[x]
                    else:
                        for x in range(old + 1):
                            for z in range(e):
                                number += room.since[0, x] * room.total[x, z] * room.behind[z, e - 1]
                if given or number != 0 or bound >= doubtful:
                    out.event[h] = i
                    out.start[h] = number if bound < doubtful else -1
                    h += 1
            forward(room.behind, mask, new + 1)
            inverse(room.behind_in, mask, new + 1)
            if new < last and mask >> new & 1:
                for x in range(old + 1):
                    room.part[x] = 0
                low, hole, after, high = shown(tables, events, arranged, base, size, 0, i)
                if low < hole:
                    _agreeing(room, base, low, hole)
                    _shifted(room, base, size, low, 1)
                    _shifted(room, base, size, hole, -1)
                if after < high:
                    _agreeing(room, base, after, high)
                    _shifted(room, base, size, after, 1)
                    _shifted(room, base, size, high, -1)
                for x in range(old + 1):
                    for z in range(e):
                        room.total[x, z] += room.part[x] * room.behind_in[0, z]
            forward(room.between, mask, old + 1)
            inverse(room.between_in, mask, old + 1)
            rank = arranged.rank[0, base + i - begin]
            if mask >> old & 1 and rank >= 0:
                _entered(room, base, size, rank)
                _given(room.sums, base, size, rank, room.own, 1)
            forward(room.before, mask, 0)
            for k in range(last + 1):
                room.many[k] += mask >> k & 1
    return h


def counted_ends(tables, apart, events, keys, size, segments):
    """Where matches end, and how many end there, of the events that the segments report.

    Parameters
    ----------
    tables : ComparedTables
    apart : StepPairTables
    events : PairedEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
    segments : ComparedSegments

    Returns
    -------
    event : ndarray, shape (ends,), int64
    number : ndarray, shape (ends,), int64, or object past 2^61
    """
    window = comparable(keys, size)
    event, number, left = cpu_nested_loop.counted(tables, apart, events, window, segments, DOUBTFUL)
    if not len(left.begin):
        return event, number
    return cpu_nested_loop.merged((event, number), _by_order(tables, apart, events, window, left))


def _by_order(tables, apart, events, window, segments):
    """The ends of segments whose old events are put into an order."""
    arranged = arrange(tables, events, segments)
    out = room_for_ends(segments)
    none = np.empty(0, np.int64)
    room = _room(apart, int(segments.base[-1]), np.int64)
    n = _counts(tables, apart, events, window, segments, arranged, none, none, room, out, DOUBTFUL)
    event, number = out.event[:n], out.start[:n]
    first = np.append(np.searchsorted(event, segments.report), n)
    number = _exact(tables, apart, events, window, segments, arranged, first, none, event, number)
    there = number != 0
    return event[there], number[there]


def counts(tables, apart, events, segments, first, event, lowest):
    """How many matches end at each of some ends.

    Parameters
    ----------
    tables, apart, events, segments
        As in `counted_ends`.
    first : ndarray, shape (segments + 1,), int64
    event, lowest : ndarray, shape (ends,), int64
        Where each ends, among the events that its segment reports, and the least event at which it may start.

    Returns
    -------
    ndarray, shape (ends,), int64, or object past 2^61
    """
    arranged = arrange(tables, events, segments)
    out = FoundEnds(event, np.empty(len(event), np.int64))
    window = NO_WINDOW
    room = _room(apart, int(segments.base[-1]), np.int64)
    _counts(tables, apart, events, window, segments, arranged, first, lowest, room, out, DOUBTFUL)
    return _exact(tables, apart, events, window, segments, arranged, first, lowest, event, out.start)


def _room(apart, rows, dtype):
    b, m, e = apart.old + 1, apart.new - apart.old, apart.last - apart.new
    shapes = [(b, b), (m, m), (e, e)] * 2 + [(rows, b, m)] * 2 + [(rows if e else 0, m, e)] * 2
    shapes += [(b, e), (b,)]
    made = (np.empty(shape, dtype) for shape in shapes)
    return StepPairRoom(*made, np.empty(apart.last + 1, np.int64))


def _exact(tables, apart, events, window, segments, arranged, first, lowest, event, number):
    """The numbers, with Python's integers in the place of those that may not fit."""
    doubtful = np.flatnonzero(number < 0)
    if not len(doubtful):
        return number
    exact = number.astype(object)
    room = _room(apart, int(segments.base[-1]), object)
    owner = np.searchsorted(first, doubtful, side="right") - 1
    for g in np.unique(owner).tolist():
        own = doubtful[owner == g]
        alone = segments._replace(
            begin=segments.begin[g : g + 1],
            report=segments.report[g : g + 1],
            stop=segments.stop[g : g + 1],
            base=segments.base[g : g + 2],
        )
        placed = arranged._replace(size=arranged.size[:, g : g + 1])
        out = FoundEnds(event[own], np.empty(len(own), object))
        low = lowest[own] if len(lowest) else lowest
        some = np.array([0, len(own)])
        _counts.plainly(
            tables, apart, events, window, alone, placed, some, low, room, out, np.inf, helpers=True
        )
        exact[own] = out.start
    return exact

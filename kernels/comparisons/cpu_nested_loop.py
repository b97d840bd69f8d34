"""Counts of compared steps in a window that holds few events of a segment: each is compared with all others.

An entry keeps how many of its runs begin at each event of the window, so that those that have left need not
be taken out: what an end counts are the runs that begin in its window. Nothing is sorted, and all that is
kept lies in a cache. Where a window holds more than `FEW` entries, or a number may not fit, the segments are
given up; the structure of all runs counts them.

4 to 38 times as fast as the structure: counts of `A ; B ; C` with rising prices and of five or more rising
A's, in windows of 20 and 100 events, with and without keys (CPU time of the whole query, a million events
of ten types).
"""

from typing import NamedTuple

import numpy as np

from ..jit import inline, jit
from ..loop.contract import room_for_ends
from ..windows.contract import comparable
from .contract import FEW, NO_VALUE
from .cpu_value_ranges import asked

ROOM = 2 * FEW + 32
"""Entries that there is room for, so that they seldom have to be moved."""

MOST = 1 << 52
"""An entry has at most as many runs: `ROOM` times as many still fit, and so do all that end at an event."""

NO_END = -1
"""Instead of a number of ends: the segment is given up."""


class NestedLoopEntries(NamedTuple):
    """Scratch: the entries of a window, those that have come last behind.

    =========  ==================  ====================================================================
    `entered`  int64 [ROOM]        the event of each entry
    `state`    int64 [ROOM]        its state
    `column`   int64 [ROOM]        its event's place in `event`
    `event`    int64 [ROOM]        the events of entries: runs may begin there
    `runs`     int64 [ROOM, ROOM]  how many runs of each entry begin at each event, up to its own
    =========  ==================  ====================================================================
    """

    entered: np.ndarray
    state: np.ndarray
    column: np.ndarray
    event: np.ndarray
    runs: np.ndarray


@inline
def _moved(room, left, put, low, high):
    """Move the entries left .. put - 1, and the events low .. high - 1, to the front."""
    for k in range(left, put):
        room.entered[k - left] = room.entered[k]
        room.state[k - left] = room.state[k]
        room.column[k - left] = room.column[k] - low
        for c in range(low, room.column[k] + 1):
            room.runs[k - left, c - low] = room.runs[k, c]
    for c in range(low, high):
        room.event[c - low] = room.event[c]


@inline
def _joined(tables, events, view, i, room, left, put, low, row):
    """Add the runs of the entries that a view shows at event i to those of an entry."""
    least, most, pierced, hole, slot = asked(tables, events, view, i)
    if least > most:
        return
    order = tables.view_order[view]
    source, value, own = tables.order_state[order], tables.order_value[order], tables.order_slot[order]
    for k in range(left, put):
        if room.state[k] != source:
            continue
        before = room.entered[k]
        if value >= 0:
            word = events.words[value, before]
            there = (word >= least) & (word <= most) & (events.sides[value, before] != NO_VALUE)
            if not there or (pierced and word == hole):
                continue
        if slot != 0 and events.slots[own, before] + 1 != slot:
            continue
        for c in range(low, room.column[k] + 1):
            room.runs[row, c] += room.runs[k, c]


@inline
def _counted(tables, events, window, segments, g, room, out, h):
    """Write the ends of a segment from place h on, and their numbers; gives the place behind, or `NO_END`."""
    keys = window.keys
    windowed = keys.shape[0] > 0
    least = segments.begin[g]
    left, put, low, high = 0, 0, 0, 0
    for i in range(segments.begin[g], segments.stop[g]):
        symbol = events.symbols[i]
        begin, stop = tables.first[symbol], tables.first[symbol + 1]
        if begin == stop:
            continue
        if windowed:
            while keys[i] - keys[least] > window.size:
                least += 1
        while left < put and room.entered[left] < least:
            left += 1
        while low < high and room.event[low] < least:
            low += 1
        more = stop - begin
        if put + more > ROOM or high == ROOM:
            if put - left + more > FEW or high - low + 1 > FEW:
                return NO_END
            _moved(room, left, put, low, high)
            put, high = put - left, high - low
            left, low = 0, 0
        room.event[high] = i
        known, number = put, 0
        for group in range(begin, stop):
            for c in range(low, high):
                room.runs[put, c] = 0
            room.runs[put, high] = tables.group_starts[group]
            for read in range(tables.read_first[group], tables.read_first[group + 1]):
                _joined(tables, events, tables.read_view[read], i, room, left, known, low, put)
            runs = 0
            for c in range(low, high + 1):
                runs += room.runs[put, c]
            if runs > MOST:
                return NO_END
            state = tables.group_state[group]
            if tables.accepting[state]:
                number += runs
            if runs > 0 and tables.order_first[state] < tables.order_first[state + 1]:
                room.entered[put] = i
                room.state[put] = state
                room.column[put] = high
                put += 1
        if put > known:
            high += 1
        if number > 0 and i >= segments.report[g]:
            out.event[h] = i
            out.start[h] = number
            h += 1
    return h


@jit
def _counts(tables, events, window, segments, room, out, halt):
    """Write the number of complex events at each end; gives how many ends, or `NO_END`.

    ==========  ================  ============================================
    `tables`    ComparedTables    in
    `events`    PairedEvents      in
    `window`    MeasuredWindow    in
    `segments`  ComparedSegments  in
    `room`      NestedLoopEntries        scratch
    `out`       FoundEnds         out: where they end, and the numbers
    `halt`      uint8 [1]         in: see `jit`
    ==========  ================  ============================================
    """
    h = 0
    for g in range(segments.begin.shape[0]):
        if halt[0]:
            break
        h = _counted(tables, events, window, segments, g, room, out, h)
        if h == NO_END:
            break
    return h


def counted_by_few(tables, events, measured, size, segments):
    """The ends of segments and their numbers; None where a window holds too many events, or too many matches.

    Parameters
    ----------
    tables : ComparedTables
        Without views of neighbours.
    events : PairedEvents
    measured : ndarray, shape (events,) or (0,)
        What the window measures; empty without a window.
    size : int or float
    segments : ComparedSegments

    Returns
    -------
    event, number : ndarray, shape (ends,), int64
    """
    out = room_for_ends(segments)
    room = NestedLoopEntries(*(np.empty(ROOM, np.int64) for _ in range(4)), np.empty((ROOM, ROOM), np.int64))
    h = _counts(tables, events, comparable(measured, size), segments, room, out)
    return None if h == NO_END else (out.event[:h], out.start[:h])

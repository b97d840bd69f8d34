"""Hits of steps: the ends of complex events, with the latest start that each has.

The latest start of a run that enters a state is the greatest one of the entries that its views show. Both
ends of a view only move forward; a queue of the entries that no later greater value hides gives the greatest
in constant time for each entry and read.
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from ..joins.contract import room_for_ends
from ..windows.contract import comparable
from .contract import NEIGHBOUR, room_for, scratch
from .cpu_views import begin_segment, latest_shown, neighbour


@inline
def enter(tables, events, room, event, start, least, entered):
    """Find the states that an event enters, and store its entries: the greatest value that accepts, or -1.

    =========  =================  ======================================================================
    `tables`   StepTables         in
    `events`   StepEvents         in
    `room`     EntryRoom          in/out
    `event`    int                in
    `start`    int                in: the value of a run that starts here
    `least`    int                in: runs of a smaller value are over
    `entered`  int64 [groups]     scratch: as many as a symbol has
    =========  =================  ======================================================================
    """
    symbol = events.symbols[event]
    begin = tables.first[symbol]
    stop = tables.first[symbol + 1]
    best = -1
    for group in range(begin, stop):
        value = start if tables.group_starts[group] else -1
        for read in range(tables.read_first[group], tables.read_first[group + 1]):
            view = tables.read_view[read]
            if tables.view_near[view] == NEIGHBOUR:
                entry = neighbour(tables, events, room, view, room.gone[view], event)
            else:
                entry = latest_shown(tables, events, room, view, event)
            if entry >= 0 and room.value[entry] > value:
                value = room.value[entry]
        if value < least:
            value = -1
        entered[group - begin] = value
        if tables.accepting[tables.group_state[group]] and value > best:
            best = value
    for group in range(begin, stop):
        state = tables.group_state[group]
        value = entered[group - begin]
        if value >= 0 and room.kept[state]:
            at = room.used[state]
            room.event[at] = event
            room.value[at] = value
            room.used[state] = at + 1
    return best


@jit
def hits_body(tables, events, window, segments, early, room, entered, out, halt):
    """Write the hits of all segments; gives how many there are.

    ==========  =================  =====================================================================
    `tables`    StepTables         in
    `events`    StepEvents         in
    `window`    MeasuredWindow     in
    `segments`  StepSegments       in
    `early`     bool               in: whether the earliest start of each end is asked for; no window
    `room`      EntryRoom          scratch
    `entered`   int64 [groups]     scratch
    `out`       FoundEnds          out
    `halt`      uint8 [1] or [0]   in: see `jit`
    ==========  =================  =====================================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    n = 0
    for g in range(segments.begin.shape[0]):
        begin_segment(tables, room, True)
        low = segments.begin[g]
        stop = segments.stop[g]
        for i in range(segments.begin[g], stop):
            if i % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
                return n
            if windowed:
                while keys[i] - keys[low] > window.size:
                    low += 1
            best = enter(tables, events, room, i, stop - i if early else i, 0 if early else low, entered)
            if i >= segments.report[g] and best >= 0:
                out.event[n] = i
                out.start[n] = stop - best if early else best
                n += 1
    return n


def hits(tables, events, keys, size, segments):
    """The hits of many segments, in their order.

    Parameters
    ----------
    tables : StepTables
    events : StepEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
    segments : StepSegments

    Returns
    -------
    event : ndarray, shape (hits,), int64
    start : ndarray, shape (hits,), int64
        The event of the latest start.
    """
    return _found(tables, events, comparable(keys, size), segments, False)


def early_hits(tables, events, segments):
    """As `hits` without a window, with the earliest start of each hit in place of the latest."""
    falling = tables._replace(view_rises=np.zeros_like(tables.view_rises))
    return _found(falling, events, comparable(np.empty(0, np.int64), 0), segments, True)


def _found(tables, events, window, segments, early):
    out = room_for_ends(segments)
    room = room_for(tables, events.symbols, False)
    n = hits_body(tables, events, window, segments, early, room, scratch(tables), out)
    return out.event[:n], out.start[:n]

"""Hits of thresholds: a window that slides, and holds as few events as meet them."""

import numpy as np

from ..jit import SELDOM, inline, jit
from ..loop.contract import room_for_ends
from ..windows.contract import comparable
from .contract import DISTINCT, EVENTS


@inline
def _changed(thresholds, slots, tally, many, event, by):
    """Put an event into the window, or take it out: `by` is 1 or -1."""
    for test in range(many.shape[0]):
        counts = thresholds.counts[test]
        if counts == EVENTS:
            many[test] += by
            continue
        slot = slots[thresholds.row[test], event]
        if slot < 0:
            continue
        if counts == DISTINCT:
            before = tally[test, slot]
            tally[test, slot] = before + by
            many[test] += by if before + min(by, 0) == 0 else 0
        else:
            many[test] += by


@inline
def _spared(thresholds, slots, tally, many, event):
    """Whether the thresholds are met without an event that is in the window."""
    for test in range(many.shape[0]):
        counts = thresholds.counts[test]
        lost = 1
        if counts != EVENTS:
            slot = slots[thresholds.row[test], event]
            if slot < 0 or (counts == DISTINCT and tally[test, slot] > 1):
                lost = 0
        if many[test] - lost < thresholds.least[test]:
            return False
    return True


@jit
def _hits(thresholds, events, window, segments, tally, many, taken, out, halt):
    """Write the hits of all segments; gives how many there are.

    ============  =====================  ================================================================
    `thresholds`  Thresholds             in
    `events`      CountedEvents          in
    `window`      MeasuredWindow         in
    `segments`    LoopSegments           in
    `tally`       int64 [tests, slots]   scratch, all 0: how many events of the window have each slot
    `many`        int64 [tests]          scratch: what is counted in the window
    `taken`       int64 [events]         scratch: the events that were taken, in order
    `out`         FoundEnds              out: the latest starts
    `halt`        uint8 [1]              in: see `jit`
    ============  =====================  ================================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    slots = events.slots
    n = 0
    for g in range(segments.begin.shape[0]):
        left = 0
        right = 0
        many[:] = 0
        for i in range(segments.begin[g], segments.stop[g]):
            if i % SELDOM == 0 and halt[0]:
                return n
            taking = thresholds.takes[events.symbols[i]] != 0
            if thresholds.contiguous and right > left:
                last = taken[right - 1]
                if not taking or events.places[i] != events.places[last] + 1:
                    for k in range(left, right):
                        _changed(thresholds, slots, tally, many, taken[k], -1)
                    left = right
            if not taking:
                continue
            _changed(thresholds, slots, tally, many, i, 1)
            taken[right] = i
            right += 1
            while left < right - 1 and _spared(thresholds, slots, tally, many, taken[left]):
                _changed(thresholds, slots, tally, many, taken[left], -1)
                left += 1
            start = taken[left]
            if i < segments.report[g] or (windowed and keys[i] - keys[start] > window.size):
                continue
            met = True
            for test in range(many.shape[0]):
                met = met and many[test] >= thresholds.least[test]
            if met:
                out.event[n] = i
                out.start[n] = start
                n += 1
        for k in range(left, right):
            _changed(thresholds, slots, tally, many, taken[k], -1)
    return n


def hits(thresholds, events, keys, size, segments):
    """The hits of many segments, in their order.

    Parameters
    ----------
    thresholds : Thresholds
    events : CountedEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
        The size of the window.
    segments : LoopSegments

    Returns
    -------
    event : ndarray, shape (hits,), int64
    start : ndarray, shape (hits,), int64
        The event of the latest start.
    """
    tests = len(thresholds.counts)
    rows = thresholds.row[thresholds.row >= 0]
    most = int(events.slots[rows].max(initial=-1)) + 1 if len(rows) else 0
    out = room_for_ends(segments)
    n = _hits(
        thresholds, events, comparable(keys, size), segments, np.zeros((tests, most), np.int64),
        np.zeros(tests, np.int64), np.empty(len(events.symbols), np.int64), out,
    )  # fmt: skip
    return out.event[:n], out.start[:n]

"""Sessions: where the events begin that follow one another without a longer gap, and where they end."""

import numpy as np

from ..jit import inline, jit


@inline
def goes_on(sessions, times, places, before, event):
    """Whether an event is in the session of the event of its lane before it; as `session_begins`."""
    inside = True
    if sessions.timed:
        gap = times[event] - times[before]
        inside = gap <= sessions.high or (gap != gap and sessions.loose)
    if inside and sessions.near:
        inside = places[event] == places[before] + 1
    return inside


@jit
def session_begins(sessions, times, places, begin, stop, out):
    """For each event of some lanes the first event of its session.

    ==========  =============================  ================================================
    `sessions`  Sessions                       in
    `times`     uint64 or float64 [events]     in: do not decrease in a lane; empty if not timed
    `places`    int64 [events]                 in: empty if not near
    `begin`     int64 [lanes]                  in
    `stop`      int64 [lanes]                  in
    `out`       int64 [events]                 out: of the events of these lanes
    ==========  =============================  ================================================
    """
    for g in range(begin.shape[0]):
        first = begin[g]
        for i in range(begin[g], stop[g]):
            if i > first and not goes_on(sessions, times, places, i - 1, i):
                first = i
            out[i] = first


@jit
def _lone(alone, symbols, segments, out, halt):
    """The events of segments that are complex events by themselves: how many there are.

    ==========  ==============================  =======================================
    `alone`     uint8 [symbols]                 in: `contract.lone_ends`
    `symbols`   uint8 or uint16 [events]        in
    `segments`  StepSegments                    in
    `out`       int64 [reported events + 1]     out: the events, segment by segment
    `halt`      uint8 [1] or [0]                in: see `jit`
    ==========  ==============================  =======================================
    """
    n = 0
    for g in range(segments.begin.shape[0]):
        if halt.shape[0] > 0 and halt[0]:
            break
        for i in range(segments.report[g], segments.stop[g]):
            out[n] = i
            n += alone[symbols[i]] != 0
    return n


def lone(alone, symbols, segments):
    """The events that segments report and that are complex events by themselves, shape (ends,), int64."""
    out = np.empty(int((segments.stop - segments.report).sum()) + 1, np.int64)
    return out[: _lone(alone, symbols, segments, out)]

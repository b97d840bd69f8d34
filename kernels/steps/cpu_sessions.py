"""Sessions: events that follow one another without a longer gap; where they begin and where they end.

Events are grouped by lane; or they are in the order of the stream, and then the last event of each lane is
kept, and each event knows the one before it in its session, so that a session is read from its end to its
beginning.
"""

from typing import NamedTuple

import numpy as np

from ..jit import SELDOM, inline, jit


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
    """Find, for each event of some lanes, the first event of its session.

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
    """Write the events of segments that are complex events by themselves; gives how many there are.

    ==========  ==============================  =======================================
    `alone`     uint8 [symbols]                 in: `contract.lone_ends`
    `symbols`   uint8 or uint16 [events]        in
    `segments`  LoopSegments                    in
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


class OrderedSessions(NamedTuple):
    """The sessions of events of several lanes in the order of the stream.

    ==========  ================  ====================================================================
    `event`     int64 [ends]      the events that are reported and that are complex events by themselves
    `first`     int64 [events]    the first event of the session of each event
    `number`    int64 [events]    how many events its session has up to it
    `before`    int64 [events]    the event before it in its session; itself if it is the first
    `last`      int64 [lanes, 3]  the last event of each lane, -1 if none, with its `first` and `number`
    ==========  ================  ====================================================================
    """

    event: np.ndarray
    first: np.ndarray
    number: np.ndarray
    before: np.ndarray
    last: np.ndarray


@jit
def _ordered(sessions, alone, symbols, lanes, times, places, report, out, halt):
    """Follow the sessions of events in the order of the stream: how many ends there are.

    ==========  =============================  ==========================================================
    `sessions`  Sessions                       in
    `alone`     uint8 [symbols]                in: `contract.lone_ends`
    `symbols`   uint8 or uint16 [events]       in
    `lanes`     int32 [events]                 in
    `times`     uint64 or float64 [events]     in: do not decrease in a lane; empty if not timed
    `places`    int64 [events]                 in: empty if not near
    `report`    int64                          in: the first event that is reported
    `out`       OrderedSessions                out: `event` has room for one more than is reported; `last`
                                               is -1 at first
    `halt`      uint8 [1] or [0]               in: see `jit`
    ==========  =============================  ==========================================================
    """
    n = 0
    for i in range(symbols.shape[0]):
        if i % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
            return n
        last = out.last[np.uint64(lanes[i])]
        before = last[0]
        first = np.int64(i)
        number = np.int64(1)
        if before >= 0 and goes_on(sessions, times, places, before, i):
            first = last[1]
            number = last[2] + 1
        else:
            before = np.int64(i)
        last[0] = i
        last[1] = first
        last[2] = number
        out.first[i] = first
        out.number[i] = number
        out.before[i] = before
        if i >= report:
            out.event[n] = i
            n += alone[symbols[i]] != 0
    return n


def ordered_sessions(sessions, alone, symbols, lanes, times, places, report):
    """The sessions of events in the order of the stream, and where they end; parameters as of `_ordered`.

    Returns
    -------
    OrderedSessions
    """
    count = len(symbols)
    last = np.full((int(lanes.max(initial=-1)) + 1, 3), -1, np.int64)
    out = OrderedSessions(np.empty(count - report + 1, np.int64), *np.empty((3, count), np.int64), last)
    n = _ordered(sessions, alone, symbols, lanes, times, places, report, out)
    return out._replace(event=out.event[:n])


@jit
def marked_back(event, before, first, out):
    """Write the events of some sessions, up to given events; each session is found from there back.

    ==========  ==================  ==================================================
    `event`     int64 [ends]        in
    `before`    int64 [events]      in: as in `OrderedSessions`
    `first`     int64 [ends + 1]    in: the events of end k are first[k] .. first[k + 1] - 1 of `out`
    `out`       int64 [marks]       out: ascending for each end
    ==========  ==================  ==================================================
    """
    for k in range(event.shape[0]):
        own = event[k]
        for m in range(first[k + 1] - 1, first[k] - 1, -1):
            out[m] = own
            own = before[own]


def last_sessions(found):
    """The events of the last session of each lane, ascending: shape (n,), int64.

    Parameters
    ----------
    found : OrderedSessions
    """
    last = found.last[found.last[:, 0] >= 0]
    first = np.append(0, np.cumsum(last[:, 2]))
    events = np.empty(int(first[-1]), np.int64)
    marked_back(np.ascontiguousarray(last[:, 0]), found.before, first, events)
    events.sort()
    return events

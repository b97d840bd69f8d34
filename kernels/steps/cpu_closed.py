"""Sessions of several lanes in the order of the stream, each reported once no further event can continue it.

Of each lane only the open session is kept: its first event, its number of events, and its last event. Events
that may still be continued wait in a log; the sessions are reported from there, in the order of the stream.
"""

from typing import NamedTuple

import numpy as np

from ..jit import SELDOM, jit

UNDECIDED, ENDS, GOES_ON = 0, 1, 2
"""What is known of an event: nothing yet; a session ends there and is reported; another event follows it."""

LAST, TIME, START, START_TIME, NUMBER = range(5)
"""Columns of an open session."""


class SessionLog(NamedTuple):
    """The events that wait, and those of open sessions if events are listed; with room for more.

    ============  ==================  ====================================================================
    `lane`        int32 [room]
    `time`        int64 [room]
    `position`    int64 [room]
    `known`       uint8 [room]        `UNDECIDED`, `ENDS` or `GOES_ON`
    `start`       int64 [room]        the position of the first event of its session
    `start_time`  int64 [room]        the time of that event
    `number`      int64 [room]        how many events the session has up to it
    `before`      int64 [room] or     the event of the lane before it, -1 if that is not in the log; empty:
                  [0]                 the events of sessions are not listed
    ============  ==================  ====================================================================
    """

    lane: np.ndarray
    time: np.ndarray
    position: np.ndarray
    known: np.ndarray
    start: np.ndarray
    start_time: np.ndarray
    number: np.ndarray
    before: np.ndarray


class ClosedRows(NamedTuple):
    """Sessions in the order of the events where they end: int64 arrays, `lane` int32, one element for each.

    `start` and `end` are positions, `event` is the place of the end in the log, if events are listed.
    """

    start: np.ndarray
    end: np.ndarray
    lane: np.ndarray
    start_time: np.ndarray
    end_time: np.ndarray
    number: np.ndarray
    event: np.ndarray


@jit
def follow(gap, reach, lanes, times, positions, at, open_sessions, log, halt):
    """Add events to the open sessions of their lanes, and decide the event before each of them.

    ===============  ==================  ==========================================================
    `gap`            uint64              in: the longest time between two events of a session
    `reach`          uint64              in: the next event of a lane continues a session within this time
    `lanes`          int32 [n]           in
    `times`          int64 [n]           in: do not decrease in a lane
    `positions`      int64 [n]           in
    `at`             int                 in: where the first goes in the log
    `open_sessions`  int64 [lanes, 5]    in/out: `LAST` is -1 where it is no longer in the log; `NUMBER` is 0
                                         where no session is open
    `log`            SessionLog          in/out
    `halt`           uint8 [1]           in: see `jit`
    ===============  ==================  ==========================================================
    """
    listed = log.before.shape[0] > 0
    for strip in range(0, lanes.shape[0], SELDOM):
        if halt[0]:
            return
        for i in range(strip, min(strip + SELDOM, lanes.shape[0])):
            own, lane = np.uint64(at + i), np.uint64(lanes[i])
            last, number = open_sessions[lane, LAST], open_sessions[lane, NUMBER]
            time, start, start_time = times[i], positions[i], times[i]
            passed = np.uint64(time) - np.uint64(open_sessions[lane, TIME])
            # One event in a few begins a session, at random: a branch would be guessed wrong as often.
            going = (number > 0) & (passed <= gap)
            start = open_sessions[lane, START] if going else start
            start_time = open_sessions[lane, START_TIME] if going else start_time
            number = number + 1 if going else 1
            before = np.uint64(last) if last >= 0 else own
            log.known[before] = ENDS if passed > reach else GOES_ON
            log.known[own] = UNDECIDED
            log.start[own] = start
            log.start_time[own] = start_time
            log.number[own] = number
            if listed:
                log.before[own] = last
            open_sessions[lane, LAST] = own
            open_sessions[lane, TIME] = time
            open_sessions[lane, START] = start
            open_sessions[lane, START_TIME] = start_time
            open_sessions[lane, NUMBER] = number


@jit
def settle(reach, now, over, log, begin, stop, halt):
    """Decide events of the log whose time has passed; gives the first undecided one, and the ends before it.

    ===============  ==================  ==========================================================
    `reach`          uint64              in: as for `follow`
    `now`            int64 [1] or [0]    in: no event to come is before this time; empty: that is not known
    `over`           bool                in: whether no event is to come
    `log`            SessionLog          in/out
    `begin`, `stop`  int                 in: the events that wait
    `halt`           uint8 [1]           in: see `jit`
    ===============  ==================  ==========================================================
    """
    timed = now.shape[0] > 0
    ends = 0
    for i in range(begin, stop):
        if i % SELDOM == 0 and halt[0]:
            return i, ends
        if log.known[i] == UNDECIDED:
            time = log.time[i]
            passed = timed and now[0] >= time and np.uint64(now[0]) - np.uint64(time) > reach
            if not (over or passed):
                return i, ends
            log.known[i] = ENDS
        ends += log.known[i] == ENDS
    return stop, ends


@jit
def write_closed(log, begin, stop, out, halt):
    """Write the sessions that end at decided events of the log.

    ===============  ============  =================================
    `log`            SessionLog    in
    `begin`, `stop`  int           in: the events, all decided
    `out`            ClosedRows    out: as many as `settle` has given; there is room for one more
    `halt`           uint8 [1]     in: see `jit`
    ===============  ============  =================================
    """
    k = np.uint64(0)
    listed = log.before.shape[0] > 0
    for i in range(begin, stop):
        if i % SELDOM == 0 and halt[0]:
            return
        # Written for each event, and kept where a session ends: see `follow`.
        out.start[k] = log.start[i]
        out.end[k] = log.position[i]
        out.lane[k] = log.lane[i]
        out.start_time[k] = log.start_time[i]
        out.end_time[k] = log.time[i]
        out.number[k] = log.number[i]
        if listed:
            out.event[k] = i
        k += np.uint64(log.known[i] == ENDS)


@jit
def write_positions(log, event, first, out, halt):
    """Write the positions of the events of some sessions, each found from its end.

    =======  ==================  ==================================================
    `log`    SessionLog          in
    `event`  int64 [ends]        in: as in `ClosedRows`
    `first`  int64 [ends + 1]    in: those of end k are first[k] .. first[k + 1] - 1 of `out`
    `out`    int64 [marks]       out: ascending for each end
    `halt`   uint8 [1]           in: see `jit`
    =======  ==================  ==================================================
    """
    for k in range(event.shape[0]):
        if k % SELDOM == 0 and halt[0]:
            return
        own = event[k]
        for m in range(first[k + 1] - 1, first[k] - 1, -1):
            out[m] = log.position[own]
            own = log.before[own]


@jit
def compact(gap, now, open_sessions, log, begin, stop, number, halt):
    """Move what is still needed to the front of the log; gives how many, and where those that wait begin.

    Events that wait are needed; if events are listed, also those of sessions that a later event may continue.

    ===============  ==================  ==========================================================
    `gap`            uint64              in: as for `follow`
    `now`            int64 [1] or [0]    in: as for `settle`
    `open_sessions`  int64 [lanes, 5]    in/out: as for `follow`
    `log`            SessionLog          in/out
    `begin`, `stop`  int                 in: the events that wait
    `number`         int64 [stop] or     out: the new place of each event, -1 of one that is dropped; empty:
                     [0]                 events are not listed
    `halt`           uint8 [1]           in: see `jit`
    ===============  ==================  ==========================================================
    """
    listed, timed = log.before.shape[0] > 0, now.shape[0] > 0
    if listed:
        number[:] = -1
    for lane in range(open_sessions.shape[0]):
        if lane % SELDOM == 0 and halt[0]:
            break
        session = open_sessions[lane]
        last = session[LAST]
        if session[NUMBER] > 0 and last < begin:
            time = session[TIME]
            if timed and now[0] >= time and np.uint64(now[0]) - np.uint64(time) > gap:
                session[NUMBER] = 0
            elif listed:
                number[last] = 0
    if listed:
        for back in range(stop):
            if back % SELDOM == 0 and halt[0]:
                break
            i = stop - 1 - back
            if i >= begin:
                number[i] = 0
            if number[i] == 0 and log.number[i] > 1:
                number[log.before[i]] = 0
    count = first = 0
    for i in range(0 if listed else begin, stop):
        if i % SELDOM == 0 and halt[0]:
            break
        if i == begin:
            first = count
        if not listed or number[i] == 0:
            log.lane[count] = log.lane[i]
            log.time[count] = log.time[i]
            log.position[count] = log.position[i]
            log.known[count] = log.known[i]
            log.start[count] = log.start[i]
            log.start_time[count] = log.start_time[i]
            log.number[count] = log.number[i]
            if listed:
                number[i] = count
                log.before[count] = number[log.before[i]] if log.number[count] > 1 else -1
            count += 1
    if begin == stop:
        first = count
    for lane in range(open_sessions.shape[0]):
        if lane % SELDOM == 0 and halt[0]:
            break
        session = open_sessions[lane]
        last = session[LAST] if session[NUMBER] > 0 else -1
        if listed:
            session[LAST] = number[last] if last >= 0 else -1
        else:
            session[LAST] = last - begin if last >= begin else -1
    return count, first

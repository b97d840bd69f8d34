"""Sessions that are reported once nothing can follow them, found lane by lane in one pass over the stream."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cer_gpu.engine.read.lanes import HeldLanes, grown, moved
from cer_gpu.kernels.steps import cpu_closed_sessions as kernels
from cer_gpu.kernels.steps.contract import lone_ends
from cer_gpu.kernels.steps.cpu_closed_sessions import (
    BEGIN,
    CLOSED,
    NOTHING,
    SESSIONS,
    STOP,
    STRIP,
    WORDS,
    ClosedRows,
    SessionLanes,
    SessionLog,
)
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.step_machine import StepMachine

LEAST = 1 << 10
"""The least number of events that there is room for."""

NOT_KNOWN = np.empty(0, np.int64)
"""An empty `now`: it is not known before which time no event can come."""


class ClosedReach(NamedTuple):
    """The longest gap in a session, and how long nothing may follow its last event; both uint64."""

    gap: np.uint64
    reach: np.uint64


def closed_reach(query: CompiledQuery) -> ClosedReach | None:
    """The reach of a query that `ClosedSessions` answers; None for other queries.

    Such a query asks for sessions with a longest gap, under the one condition that nothing follows the end
    within some time. Each event that it reads belongs to a session, may follow one, and ends one if nothing
    follows.
    """
    machine = query.machine
    if not isinstance(machine, StepMachine) or machine.sessions is None or not query.in_order:
        return None
    sessions, alone = machine.sessions, lone_ends(machine.tables)
    if alone is None or not sessions.timed or sessions.high.dtype != np.uint64:
        return None
    # Where every row is an event of a session, the next event of a lane is its next row.
    if sessions.near and (query.reading.only_symbol is None or query.reading.streams):
        return None
    if (
        query.limit == 0
        or query.suppress is not None
        or len(query.outlooks) != 1
        or not query.outlooks[0].by_next
        or query.outlooks[0].reach.low != 0
    ):
        return None
    outlook = query.outlooks[0]
    followed = outlook.becomes.astype(np.int64)
    read = (followed != 0).any(axis=1) | (outlook.heard != 0)
    fits = (followed != 0).all(axis=1) & (outlook.heard != 0)
    fits &= (alone[followed[:, 0]] != 0) & (alone[followed[:, 1]] == 0)
    if not fits[read].all() or outlook.reach.high is None:
        return None
    return ClosedReach(sessions.high, np.uint64(min(int(outlook.reach.high), 2**64 - 1)))


class ClosedEnds(NamedTuple):
    """Sessions that have ended, in the order of their ends.

    Attributes
    ----------
    log : SessionLog
    event : ndarray, shape (n,), int64
        Where in the log each has ended.
    """

    log: SessionLog
    event: np.ndarray

    def rows(self, low: int, high: int) -> ClosedRows:
        """Some of the sessions: those with the numbers low .. high - 1."""
        event = self.event[low:high]
        start, end, start_time, end_time, number = np.empty((5, len(event)), np.int64)
        found = ClosedRows(start, end, np.empty(len(event), np.int32), start_time, end_time, number)
        kernels.write_rows(self.log, event, found)
        return found

    @property
    def number(self) -> np.ndarray:
        """How many events each session has, int32."""
        found: np.ndarray = self.log.number[self.event]
        return found

    def positions(self, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
        """The events of some of the sessions.

        Returns
        -------
        first : ndarray, shape (n + 1,), int64
            Session k has the positions first[k] .. first[k + 1] - 1.
        position : ndarray, int64
        """
        event = self.event[low:high]
        first = np.zeros(len(event) + 1, np.int64)
        np.cumsum(self.log.number[event], out=first[1:])
        position = np.empty(int(first[-1]), np.int64)
        kernels.write_positions(self.log, event, first, position)
        return first, position


class ClosedSessions(HeldLanes):
    """The sessions of a stream; a `LaneState`.

    Parameters
    ----------
    reach : ClosedReach
    listed : bool
        Whether the events of sessions are shown.
    """

    def __init__(self, reach: ClosedReach, listed: bool) -> None:
        self._gap, self._reach = reach
        self._listed = listed
        self._log = self._room(1)
        self._progress = np.zeros(WORDS, np.int64)
        self._progress[BEGIN] = self._progress[STOP] = 1
        self._lanes = SessionLanes(np.zeros(0, np.int64), np.zeros(0, np.int32))
        self._now = NOT_KNOWN
        self._scratch = np.empty(0, np.uint8), np.empty(0, np.int32)
        self._spare = self._log if listed else self._room(1)
        """Where events that are still needed go when the log is full: what was given last stays there."""
        # Where in the log what was given last has ended: it is read while further events are.
        self._out, self._given = NOT_KNOWN, NOT_KNOWN

    @staticmethod
    def passed(times: np.ndarray, now: int | None, ascending: bool) -> np.ndarray:
        """Before which times no event can come after each `STRIP` of events, int64; for `add`.

        Parameters
        ----------
        times : ndarray, shape (n,), int64
        now : int or None
            No event that comes after these is before this time; None: that is not known, and nothing is.
        ascending : bool
            Whether the times are known to be in order, so that the first of a strip is its least.
        """
        if now is None:
            return NOT_KNOWN
        known = np.array([now], np.int64)
        if len(times) <= STRIP:
            return known
        # What comes after a strip is not before the rest of the events, either.
        if ascending:
            return np.append(np.minimum(times[STRIP::STRIP], known), known)
        later = np.minimum.reduceat(times, np.arange(STRIP, len(times), STRIP))
        return np.minimum.accumulate(np.append(later, known)[::-1])[::-1]

    def add(
        self,
        lanes: np.ndarray,
        times: np.ndarray,
        positions: np.ndarray,
        lane_count: int,
        passed: np.ndarray,
    ) -> ClosedEnds:
        """Read further events; gives the sessions known to have ended since, in the order of their ends.

        What is given lasts until the next call but one, so that it can be read during the next one; where
        events are listed, only until the next call.

        Parameters
        ----------
        lanes : ndarray, shape (n,), int32
        times, positions : ndarray, shape (n,), int64
        lane_count : int
        passed : ndarray, int64
            As `passed` gives it for these events.
        """
        self._lanes = SessionLanes(*(grown(values, lane_count) for values in self._lanes))
        if self._progress[STOP] + len(lanes) > len(self._log.lane):
            self._make_room(len(lanes))
        self._now = passed[-1:]
        return self._closed(lanes, times, positions, passed, False)

    def rest(self) -> ClosedEnds:
        """The sessions that have not been given yet, at the end of the stream."""
        none = np.empty(0, np.int32)
        return self._closed(none, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, True)

    def _closed(
        self, lanes: np.ndarray, times: np.ndarray, positions: np.ndarray, now: np.ndarray, over: bool
    ) -> ClosedEnds:
        # Of a column as it is read, or gathered: one kernel serves both.
        times = times.view()
        times.flags.writeable = False
        progress = self._progress
        waiting = int(progress[STOP] - progress[BEGIN]) + len(lanes)
        self._out, self._given = self._given, self._out
        if len(self._out) < waiting:
            self._out = np.empty(waiting, np.int64)
        kernels.advance(
            self._gap, self._reach, lanes, times, positions, now, over, self._lanes, self._log, self._out,
            progress,
        )  # fmt: skip
        return ClosedEnds(self._log, self._out[: int(progress[CLOSED])])

    def _room(self, count: int) -> SessionLog:
        lane, session, number = (np.empty(count, np.int32) for _ in range(3))
        time, position = (np.empty(count, np.int64) for _ in range(2))
        before = np.zeros(count if self._listed else 0, np.int32)
        known, begun = np.empty(count, np.uint8), np.empty((count, 2), np.int64)
        session[0] = number[0] = 0
        return SessionLog(lane, time, position, known, session, number, before, begun)

    def _make_room(self, more: int) -> None:
        """Drop what is no longer needed, and make room for `more` events."""
        progress = self._progress
        needed, place = self._scratch
        if len(needed) < progress[BEGIN]:
            room = len(self._log.lane)
            needed, place = self._scratch = np.empty(room, np.uint8), np.empty(room, np.int32)
        number = np.zeros(progress[SESSIONS], np.int32)
        stop, begin, sessions = kernels.compact(
            self._gap, self._now, self._lanes, self._log, self._spare, progress[BEGIN], progress[STOP],
            needed, place, number,
        )  # fmt: skip
        self._log, self._spare = self._spare, self._log
        progress[BEGIN], progress[STOP], progress[SESSIONS] = begin, stop, sessions
        # To look at all lanes, and to move what stays, is to cost little for each event that comes meanwhile.
        room = stop + more + max(stop, len(self._lanes.last), LEAST)
        if room > len(self._log.lane):
            larger = self._room(room)
            for old, new in zip(self._log, larger):
                kept = min(stop, len(old))
                new[:kept] = old[:kept]
            self._log = larger
            self._spare = larger if self._listed else self._room(room)

    # ------------------------------------------------------------------------------------------ lanes

    def held(self) -> np.ndarray:
        """The lanes with an open session, or with events that wait, shape (k,), int64."""
        time, last = self._lanes
        there = last != NOTHING
        if len(self._now):
            passed = self._now.view(np.uint64) - time.view(np.uint64)
            there &= (time > self._now[0]) | (passed <= self._gap) | (last >= self._progress[BEGIN])
        return np.flatnonzero(there)

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        number = np.full(len(self._lanes.last), -1, np.int32)
        known = used < len(self._lanes.last)
        number[used[known]] = numbers[known]
        waiting = self._log.lane[self._progress[BEGIN] : self._progress[STOP]]
        waiting[:] = number[waiting]
        self._lanes = SessionLanes(*(moved(values, used, numbers, count) for values in self._lanes))


def label_of_sessions(query: CompiledQuery) -> int:
    """The label of the events of a query's sessions; for a query that `closed_reach` takes."""
    machine = query.machine
    assert isinstance(machine, StepMachine)
    assert machine.sessions is not None
    return machine.sessions.label

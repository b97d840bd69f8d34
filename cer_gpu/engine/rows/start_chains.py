"""Rows at which matches may start, and where a search that enters some of them leaves them: `StartChains`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cer_gpu.kernels.row_patterns import contract as k


class StartRange(NamedTuple):
    """Rows in which matches may start, among those of one partition.

    Attributes
    ----------
    first, stop : int
        The first place at which a match may start, and the one behind the last.
    before : int
        How many matches the partition has before them.
    """

    first: int
    stop: int
    before: int = 0

    def rows(self, count: int) -> StartRows:
        """The same of all rows, of which there are `count`."""
        starts = np.zeros(count, np.uint8)
        starts[self.first : self.stop] = 1
        return StartRows(starts, np.array([self.before], np.int64))


class StartRows(NamedTuple):
    """Rows of several partitions at which matches may start.

    Attributes
    ----------
    starts : ndarray, shape (rows,), uint8
        1 where a match may start; without rows it may start anywhere.
    before : ndarray, shape (partitions,), int64
        How many matches each partition has before them; without partitions none.
    """

    starts: np.ndarray
    before: np.ndarray


EVERYWHERE = StartRows(np.zeros(0, np.uint8), np.zeros(0, np.int64))


FEW = 16
"""Matches that are found at a time at first."""

UNKNOWN = np.int64(-1)


class Exits(NamedTuple):
    """What becomes of a search that enters a stretch of rows.

    Attributes
    ----------
    rows : ndarray, shape (entries,), int64
        For each row at which it may enter, the first row behind the stretch at which a match may start.
    matches : ndarray, shape (entries,), int64
        How many matches start in the stretch then.
    """

    rows: np.ndarray
    matches: np.ndarray


class StartChains:
    """Follows matches from one to the next, from several rows; what has been followed is not followed again.

    Parameters
    ----------
    call : callable
        A kernel that writes matches into a room, from the row where it is told to begin.
    skip : SkipRule
    variable_of : ndarray of int32
        The variable of each slot.
    rows : StartRange
    """

    def __init__(
        self,
        call: Callable[[k.MatchRoom, np.ndarray], int],
        skip: k.SkipRule,
        variable_of: np.ndarray,
        rows: StartRange,
    ) -> None:
        self._call = call
        self._takes = skip.takes[variable_of].astype(bool)
        self._mode = skip.mode
        self._rows = rows
        size = max(rows.stop - rows.first, 0)
        self._next = np.full(size, UNKNOWN)
        """For each row at which a match starts, where the next one may start."""
        self._start = np.full(size, UNKNOWN)
        """For each row that was entered, the first one from it on at which a match starts."""

    def exits(self, entries: int) -> Exits:
        """The exits of a search that enters the rows at the first, the second, ... of some rows."""
        first, stop = self._rows.first, self._rows.stop
        found = np.empty((2, entries), np.int64)
        left = np.full((2, len(self._start)), UNKNOWN)
        for entry in range(entries):
            at, path, size = first + entry, [], FEW
            while at < stop and left[0, at - first] < 0:
                path.append(at - first)
                if self._start[at - first] < 0:
                    self._follow(at, size)
                    size *= 2
                start = int(self._start[at - first])
                at = stop if start >= stop else int(self._next[start - first])
            told = (at, 0) if at >= stop else tuple(left[:, at - first].tolist())
            along = np.array(path, np.int64)
            started = self._start[along] < stop
            left[0, along] = told[0]
            left[1, along] = told[1] + np.cumsum(started[::-1])[::-1]
            found[:, entry] = left[:, path[0]] if path else told
        return Exits(*found)

    def _follow(self, row: int, size: int) -> None:
        """Find the next matches from a row on."""
        starts, lengths = np.empty(size, np.int64), np.empty(size, np.int64)
        room = k.MatchRoom(starts, lengths, np.empty(size * FEW, np.int32))
        at = np.array([0, row, 0, 0, 0], np.int64)
        while True:
            status = self._call(room, at)
            matches = int(at[k.MATCHES])
            if matches or status == k.DONE:
                break
            room = room._replace(slots=np.empty(2 * len(room.slots), np.int32))
        first, stop, begin, entered = self._rows.first, self._rows.stop, 0, row
        for number in range(matches):
            start, length = int(starts[number]), int(lengths[number])
            self._start[entered - first] = start
            if start >= stop:
                return
            self._start[start - first] = start
            if self._next[start - first] >= 0:
                return
            entered = start + step_of(self._mode, self._takes, room.slots[begin : begin + length])
            self._next[start - first] = entered
            begin += length
            if entered >= stop:
                return
        if status == k.DONE:
            self._start[entered - first] = stop


def step_of(mode: int, takes: np.ndarray, slots: np.ndarray) -> int:
    """How many rows behind the start of a match the next one may start.

    Parameters
    ----------
    mode : int
        As in `SkipRule`.
    takes : ndarray of bool
        Which slots are of the variables that AFTER MATCH SKIP names.
    slots : ndarray of int32
        Of the rows of the match.
    """
    if not len(slots) or mode == k.TO_NEXT_ROW:
        return 1
    if mode == k.PAST_LAST_ROW:
        return len(slots)
    taken = np.flatnonzero(takes[slots])
    step = 0 if not len(taken) else int(taken[0 if mode == k.TO_FIRST else -1])
    return max(step, 1)  # what cannot be followed is an error where the matches are found

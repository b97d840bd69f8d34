"""Ordered enumeration of the complex events of one end of an automaton with one clock, one by one.

For ends with too many complex events to sort. The method needs no structure: a pass backwards over the events
finds for each state the least stamp with which a run there is still accepted at the end. A run is followed
forwards only if its stamp is at least that, so every run that is followed leads to a complex event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.enumeration.blocks import in_blocks
from cer_gpu.kernels.clock.contract import NO_CHECK, ClockTables
from cer_gpu.kernels.forest.contract import Block

NEVER = 2**62
"""The least stamp of a state where no run is accepted."""

Labels = tuple[int, ...]

Found = dict[tuple[int, int], list[Labels]]
"""For each state and stamp, the labels of the runs that have the same marked events."""


class ClockedSpan(NamedTuple):
    """The events that a complex event may have that ends at the last of them.

    Attributes
    ----------
    event : ndarray, shape (rows,), int64
        The numbers of the events.
    symbols : ndarray, shape (rows,)
    stamps : ndarray, shape (rows,), int64
        The stamp that a reset at each event gives.
    least : ndarray, shape (rows, constants), int64
        The least stamp that passes each check at each event.
    """

    event: np.ndarray
    symbols: np.ndarray
    stamps: np.ndarray
    least: np.ndarray


class SpanEvents(NamedTuple):
    """The events of a stream or of a chunk, as clocks read them.

    Attributes
    ----------
    symbols : ndarray, shape (events,)
    lanes : ndarray, shape (events,) or (0,), int32
    times : ndarray, shape (events,), uint64 or float64
    constants : ndarray, shape (constants,), dtype of times
    """

    symbols: np.ndarray
    lanes: np.ndarray
    times: np.ndarray
    constants: np.ndarray

    def span(self, lowest: int, end: int, sense: int) -> ClockedSpan:
        """The events of the lane of `end` from `lowest` on."""
        event = np.arange(lowest, end + 1)
        if len(self.lanes):
            event = event[self.lanes[lowest : end + 1] == self.lanes[end]]
        times, rows = self.times[event], np.arange(len(event))
        least = np.empty((len(event), len(self.constants)), np.int64)
        for c, constant in enumerate(self.constants):
            # One subtraction for each pair that is compared, as everywhere: floats do not add up.
            near = 0
            for row in rows.tolist():
                while near < row and _too_old(times[row] - times[near], constant, sense):
                    near += 1
                least[row, c] = near if sense > 0 else 1 - near
        return ClockedSpan(event, self.symbols[event], sense * rows, least)


def _too_old(gap: Any, constant: Any, sense: int) -> bool:
    return not gap <= constant if sense > 0 else bool(gap >= constant)


def timed_ordered_blocks(
    tables: ClockTables, span: ClockedSpan, hit: int, limit: int | None, size: int
) -> Iterator[Block]:
    """The complex events that end at the last event of a span, in canonical order.

    Each takes at most as many steps as the span has events, times the transitions of one.

    Parameters
    ----------
    tables : ClockTables
    span : ClockedSpan
    hit : int
        The number of the hit, which the blocks contain.
    limit : int, optional
        The most complex events.
    size : int
        The most complex events of a block.

    Returns
    -------
    iterator of Block
        No block is empty.
    """
    event = span.event.tolist()
    found = (
        (event[start], [event[row] for row in rows], labels)
        for start, rows, labels in _SpanWalk(tables, span).all()
    )
    return in_blocks(found, hit, limit, size)


class _SpanWalk:
    """The complex events of a span, in order."""

    def __init__(self, tables: ClockTables, span: ClockedSpan) -> None:
        self._span = span
        self._last = len(span.event) - 1
        columns = (tables.source, tables.label, tables.target, tables.accepting, tables.check, tables.resets)
        steps = list(zip(*(column.tolist() for column in columns), strict=True))
        self._moves: list[dict[int, list[tuple[int, ...]]]] = []
        for low, high in zip(tables.first[:-1].tolist(), tables.first[1:].tolist(), strict=True):
            own: dict[int, list[tuple[int, ...]]] = {}
            for source, *step in steps[low:high]:
                own.setdefault(source, []).append(tuple(step))
            self._moves.append(own)
        self._states = tables.n_live
        self._needed = self._backwards()
        self._next = self._changes()

    def _least(self, row: int, check: int) -> int:
        return NO_CHECK if check < 0 else int(self._span.least[row, check])

    def _backwards(self) -> list[list[int]]:
        """For each row and state the least stamp with which a run there, before the row, is accepted."""
        after = [NEVER] * self._states
        found = []
        for row in range(self._last, -1, -1):
            stamp, here = int(self._span.stamps[row]), [NEVER] * self._states
            for state, steps in self._moves[self._span.symbols[row]].items():
                for _, target, accepting, check, resets in steps:
                    least = self._least(row, check)
                    if row == self._last:
                        asked = least if accepting else NEVER
                    elif target < 0 or after[target] == NEVER:
                        asked = NEVER
                    elif resets:
                        asked = least if stamp >= after[target] else NEVER
                    else:
                        asked = max(least, after[target])
                    here[state] = min(here[state], asked)
            found.append(here)
            after = here
        return found[::-1]

    def _changes(self) -> np.ndarray:
        """For each row and state the next row, or this one, at which a run there does not merely wait."""
        waits = np.zeros((len(self._moves), self._states), bool)
        for symbol, own in enumerate(self._moves):
            for state, steps in own.items():
                waits[symbol, state] = steps == [(0, state, 0, -1, 0)]
        changes = ~waits[self._span.symbols]
        changes[self._last] = True
        rows = np.where(changes, np.arange(len(changes))[:, None], self._last)
        return np.minimum.accumulate(rows[::-1], axis=0)[::-1]

    def all(self) -> Iterator[tuple[int, tuple[int, ...], Labels]]:
        """Every complex event: the row of its start, the rows of its marks, and their labels."""
        for start in range(self._last + 1):
            if self._needed[start][0] < NEVER:
                runs: Found = {(0, int(self._span.stamps[start])): [()]}
                for rows, labels in self._from(runs, start, ()):
                    yield start, rows, labels

    def _from(self, runs: Found, row: int, rows: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Labels]]:
        """The complex events of runs that are about to read a row, with the marks `rows` so far."""
        pending: list[tuple[Found, int, tuple[int, ...]]] = [(runs, row, rows)]
        while pending:
            runs, row, rows = pending.pop()
            if row > self._last:
                for labels in sorted(one for found in runs.values() for one in found):
                    yield rows, labels
                continue
            marked: list[tuple[Found, int, tuple[int, ...]]] = []
            while runs and row <= self._last:
                row = int(min(self._next[row, state] for state, _ in runs))
                onward, runs = self._step(runs, row, True), self._step(runs, row, False)
                if onward:
                    marked.append((onward, row + 1, (*rows, row)))
                row += 1
            # What has no further mark comes first, then what is marked next, the earliest first.
            pending += reversed(marked)
            if runs:
                pending.append((runs, row, rows))

    def _step(self, runs: Found, row: int, marks: bool) -> Found:
        """The runs after a row, those that mark it or those that do not; at the last row those that end."""
        found: Found = {}
        for (state, stamp), labels in runs.items():
            for label, target, accepting, check, resets in self._moves[self._span.symbols[row]].get(
                state, ()
            ):
                if (label > 0) != marks or stamp < self._least(row, check):
                    continue
                now = int(self._span.stamps[row]) if resets else stamp
                if row == self._last:
                    if not accepting:
                        continue
                elif target < 0 or now < self._needed[row + 1][target]:
                    continue
                longer = [(*one, label) for one in labels] if marks else labels
                found.setdefault((target, now), []).extend(longer)
        return found

"""The complex events of sessions: one for each end, with every event from its start to the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from cer_gpu.enumeration.blocks import ranges
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.steps.cpu_sessions import OrderedSessions, marked_back

MARKS = 1 << 20
"""About the most marks of a block."""

SHORT = 8
"""About how many marks take as long as the other columns of a complex event."""


class GreatestSets:
    """One complex event for each end, with all events of its lane from a start to the end; `Answers`.

    Parameters
    ----------
    event, start : ndarray, shape (ends,), int64
        The last and the first event of each complex event.
    label : int
        The mark of every event; 0: no event is marked.
    """

    sharing: Literal["ends"] = "ends"

    def __init__(self, event: np.ndarray, start: np.ndarray, label: int) -> None:
        self._event, self._start, self._label = event, start, label

    @property
    def count(self) -> np.ndarray:
        """How many each end has, shape (ends,), int64."""
        return np.ones(len(self._event), np.int64)

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing them takes, shape (ends,): few for each mark."""
        return 1 + (self._event - self._start) // SHORT

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some ends, in the given order; as `Answers.blocks`."""
        if limit == 0:
            return
        length = self._event - self._start + 1 if self._label else np.zeros(len(self._event), np.int64)
        for some in marks_at_once(order, length, size):
            marks = ranges(self._start[some], length[some])
            yield Block(
                some,
                self._start[some],
                np.append(0, np.cumsum(length[some])),
                marks,
                np.broadcast_to(np.int32(self._label), len(marks)),
            )


class OrderedSets:
    """As `GreatestSets`, for events of several lanes in the order of the stream; `Answers`.

    Parameters
    ----------
    event : ndarray, shape (ends,), int64
    sessions : OrderedSessions
        The sessions of the events.
    label : int
        As for `GreatestSets`.
    """

    sharing: Literal["ends"] = "ends"

    def __init__(self, event: np.ndarray, sessions: OrderedSessions, label: int) -> None:
        self._event, self._sessions, self._label = event, sessions, label

    @property
    def count(self) -> np.ndarray:
        """How many each end has, shape (ends,), int64."""
        return np.ones(len(self._event), np.int64)

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing them takes, shape (ends,): few for each mark."""
        return 1 + self._sessions.number[self._event] // SHORT

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some ends, in the given order; as `Answers.blocks`."""
        if limit == 0:
            return
        length = np.zeros(len(self._event), np.int64)
        if self._label:
            length = self._sessions.number[self._event]
        for some in marks_at_once(order, length, size):
            event, first = self._event[some], np.append(0, np.cumsum(length[some]))
            marks = np.empty(int(first[-1]), np.int64)
            if self._label:
                marked_back(event, self._sessions.before, first, marks)
            label = np.broadcast_to(np.int32(self._label), len(marks))
            yield Block(some, self._sessions.first[event], first, marks, label)


def marks_at_once(order: np.ndarray, length: np.ndarray, size: int | None) -> Iterator[np.ndarray]:
    """The ends in their order, in groups with about `MARKS` marks and at most `size` ends.

    Parameters
    ----------
    order : ndarray, shape (m,), int64
        Numbers of ends.
    length : ndarray, shape (ends,), int64
        How many marks each end has.
    size : int or None
    """
    sums = np.cumsum(length[order])
    done = 0
    while done < len(order):
        before = int(sums[done - 1]) if done else 0
        stop = max(int(np.searchsorted(sums, before + MARKS, side="right")), done + 1)
        if size is not None:
            stop = min(stop, done + max(size, 1))
        yield order[done:stop]
        done = stop

"""The complex events of sessions: one for each end, with every event from its start to the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np

from cer_gpu.enumeration.blocks import MarkBlock, in_parts, ranges
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.steps.cpu_sessions import OrderedSessions, marked_back

MARKS = 1 << 20
"""About the most marks of a block."""

SHORT = 8
"""About how many marks take as long as the other columns of a complex event."""


class SingleAnswers(ABC):
    """One complex event for each end; `Answers`.

    Parameters
    ----------
    length : ndarray, shape (ends,), int64
        How many marks each has.
    """

    sharing: Literal["ends", "blocks"] = "ends"
    marks_of_step: ClassVar[int] = SHORT

    def __init__(self, length: np.ndarray) -> None:
        self._length = length

    @property
    def count(self) -> np.ndarray:
        """How many each end has, shape (ends,), int64."""
        return np.ones(len(self._length), np.int64)

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing them takes, shape (ends,): few for each mark."""
        return 1 + self._length // self.marks_of_step

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[MarkBlock]:
        """The complex events of some ends, in the given order; as `Answers.blocks`."""
        if limit == 0:
            return
        for some in marks_at_once(order, self._length, size):
            yield self._block(some, np.append(0, np.cumsum(self._length[some])))

    @abstractmethod
    def _block(self, some: np.ndarray, first: np.ndarray) -> MarkBlock:
        """The complex events of some ends, and where the marks of each begin."""


class GreatestSets(SingleAnswers):
    """Each with all events of its lane from a start to the end.

    Parameters
    ----------
    event, start : ndarray, shape (ends,), int64
        The last and the first event of each complex event.
    label : int
        The mark of every event; 0: no event is marked.
    """

    def __init__(self, event: np.ndarray, start: np.ndarray, label: int) -> None:
        super().__init__(event - start + 1 if label else np.zeros(len(event), np.int64))
        self._start, self._label = start, label

    def _block(self, some: np.ndarray, first: np.ndarray) -> Block:
        marks = ranges(self._start[some], self._length[some])
        return Block(some, self._start[some], first, marks, same_labels(self._label, marks))


class OrderedSets(SingleAnswers):
    """As `GreatestSets`, for events of several lanes in the order of the stream.

    Parameters
    ----------
    event : ndarray, shape (ends,), int64
    sessions : OrderedSessions
        The sessions of the events.
    label : int
        As for `GreatestSets`.
    """

    def __init__(self, event: np.ndarray, sessions: OrderedSessions, label: int) -> None:
        super().__init__(sessions.number[event] if label else np.zeros(len(event), np.int64))
        self._event, self._sessions, self._label = event, sessions, label

    def _block(self, some: np.ndarray, first: np.ndarray) -> Block:
        event, marks = self._event[some], np.empty(int(first[-1]), np.int64)
        if self._label:
            marked_back(event, self._sessions.before, first, marks)
        return Block(some, self._sessions.first[event], first, marks, same_labels(self._label, marks))


def same_labels(label: int, marks: np.ndarray) -> np.ndarray:
    """One label for all marks, without memory for each."""
    return np.broadcast_to(np.int32(label), len(marks))


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
    for done, stop, _ in in_parts(length[order], MARKS, size):
        yield order[done:stop]

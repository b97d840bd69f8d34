"""The complex events of a sequence of single events, listed from the events of each step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Literal

import numpy as np

from cer_gpu.enumeration.blocks import PathBlock
from cer_gpu.enumeration.sessions import MARKS, SingleAnswers
from cer_gpu.kernels.runs.sequences import SequenceEntries, bounds_of, fill

BLOCK = 1 << 17
"""About how many complex events a block has, unless the caller wants another size."""

ALL = np.iinfo(np.int64).max


class SequenceAnswers:
    """All ascending rows of entries that begin in the window of an end; `Answers`.

    Parameters
    ----------
    entries : SequenceEntries
    labels : ndarray, shape (steps,), int32
        The marks of the events of each step.
    event : ndarray, shape (ends,), int64
        Ascending.
    lowest : ndarray, shape (ends,), int64
        The least admissible start of each end, non-decreasing.
    count : ndarray, shape (ends,), int64, or None
        How many complex events each end has; None for two steps.
    """

    sharing: Literal["ends"] = "ends"

    def __init__(
        self,
        entries: SequenceEntries,
        labels: np.ndarray,
        event: np.ndarray,
        lowest: np.ndarray,
        count: np.ndarray | None = None,
    ) -> None:
        self._entries, self._labels, self._event = entries, labels, event
        self._low, self._high = bounds_of(entries, lowest, event)
        self.count = self._high - self._low if count is None else count

    def work(self, limit: int | None) -> np.ndarray:
        """How many complex events of each end are listed: shape (ends,)."""
        return self.count if limit is None else np.minimum(self.count, limit)

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[PathBlock]:
        """The complex events of some ends, in the given order; as `Answers.blocks`."""
        if limit == 0:
            return
        size = BLOCK if size is None else max(size, 1)
        steps = len(self._labels)
        left = float(self.work(limit)[order].sum(dtype=float))
        progress = np.zeros(2 * steps, np.int64)
        while progress[0] < len(order):
            rows = int(min(left, size))
            hit, column = np.empty(rows, np.int64), np.empty((steps, rows), np.int64)
            found = fill(
                self._entries, self._low, self._high, self._event, order, ALL if limit is None else limit,
                progress, hit, column,
            )  # fmt: skip
            if not found:
                raise RuntimeError("a hit has fewer matches than were counted; please report this")
            left -= found
            yield PathBlock(hit[:found], column[:, :found], self._labels)


class SinglePaths(SingleAnswers):
    """Each with one event for each step, also where that is not marked; `Answers`.

    Parameters
    ----------
    count : int
        How many ends there are.
    labels : ndarray, shape (steps,), int32
        The mark of each step, 0 for none.
    """

    def __init__(self, count: int, labels: np.ndarray) -> None:
        super().__init__(np.broadcast_to(np.int64(len(labels)), count))
        self.labels = labels

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[PathBlock]:
        """As `SingleAnswers.blocks`: all have as many marks, so these are not counted."""
        if limit == 0:
            return
        at_once = max(MARKS // len(self.labels), 1)
        at_once = at_once if size is None else min(at_once, max(size, 1))
        for low in range(0, len(order), at_once):
            yield self._block(order[low : low + at_once])

    def _block(self, some: np.ndarray, first: np.ndarray | None = None) -> PathBlock:
        return PathBlock(some, self._columns(some), self.labels)

    @abstractmethod
    def _columns(self, hit: np.ndarray) -> np.ndarray:
        """The events of each step, shape (steps, ends)."""


class ChosenSequences(SinglePaths):
    """Of the ascending rows of entries that end at an end, the one that NEXT or LAST leaves; `Answers`.

    NEXT leaves the row that takes, from the first admitted start on, the next entry of each step, and LAST
    the one that takes, from the end back, the last entry of each step before.

    Parameters
    ----------
    entries, labels, event, lowest
        As for `SequenceAnswers`.
    latest : bool
        LAST in place of NEXT.
    """

    def __init__(
        self,
        entries: SequenceEntries,
        labels: np.ndarray,
        event: np.ndarray,
        lowest: np.ndarray,
        latest: bool,
    ) -> None:
        super().__init__(len(event), labels)
        self._entries, self._event, self._latest = entries, event, latest
        low, high = bounds_of(entries, lowest, event)
        self._entry = high - 1 if latest else low

    def _columns(self, hit: np.ndarray) -> np.ndarray:
        """The events of each step, shape (steps, ends)."""
        entries, steps = self._entries, len(self.labels)
        column = np.empty((steps, len(hit)), np.int64)
        column[-1] = self._event[hit]
        entry = self._entry[hit]
        for step in range(steps - 2, -1, -1) if self._latest else range(steps - 1):
            column[step] = entries.event[entry]
            if step != (0 if self._latest else steps - 2):
                entry = entries.preceding[entry] - 1 if self._latest else entries.following[entry]
        return column


class EdgeAnswers(SinglePaths):
    """One complex event for each end, of which the first and the last event alone may be marked; `Answers`.

    Parameters
    ----------
    labels : ndarray, shape (2,) or (1,), int32
        Their marks, 0 for none; one where a complex event is a single event.
    event, start : ndarray, shape (ends,), int64
        The last and the first event of each complex event.
    """

    def __init__(self, labels: np.ndarray, event: np.ndarray, start: np.ndarray) -> None:
        super().__init__(len(event), labels)
        self._edges = (start, event)[-len(labels) :]

    def _columns(self, hit: np.ndarray) -> np.ndarray:
        """The events of each step, shape (steps, ends)."""
        column = np.empty((len(self._edges), len(hit)), np.int64)
        for step, edge in enumerate(self._edges):
            column[step] = edge[hit]
        return column

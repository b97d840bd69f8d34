"""The complex events of an automaton that has one for each end, and marks all of its events or none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from cer_gpu.enumeration.blocks import ranges
from cer_gpu.enumeration.sessions import SHORT, marks_at_once
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.runs.forced_runs import begins, labelled


class ForcedRuns:
    """One complex event for each end: all events from its start, or no marks; `Answers`.

    Parameters
    ----------
    tables : TransitionTables
        `kernels.runs.forced_runs.is_forced`.
    symbols : ndarray, shape (events,), uint8 or uint16
        Those of a lane are neighbours.
    positions : ndarray, shape (events,), int64
    begin : ndarray, shape (lanes,), int64
        The first event of each lane.
    event, latest : ndarray, shape (ends,), int64
        The last event of each complex event, and the position of the first.
    """

    sharing: Literal["ends"] = "ends"

    def __init__(
        self,
        tables: TransitionTables,
        symbols: np.ndarray,
        positions: np.ndarray,
        begin: np.ndarray,
        event: np.ndarray,
        latest: np.ndarray,
    ) -> None:
        self._tables, self._symbols = tables, symbols
        low = begin[np.searchsorted(begin, event, side="right") - 1]
        self._start = begins(positions, low, event, latest)
        self._length = event - self._start + 1
        if not tables.label.any():
            self._length[:] = 0

    @property
    def count(self) -> np.ndarray:
        """How many each end has, shape (ends,), int64."""
        return np.ones(len(self._start), np.int64)

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing them takes, shape (ends,): few for each mark."""
        return 1 + self._length // SHORT

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some ends, in the given order; as `Answers.blocks`."""
        if limit == 0:
            return
        for some in marks_at_once(order, self._length, size):
            start, length = self._start[some], self._length[some]
            first = np.append(0, np.cumsum(length))
            label = labelled(self._tables, self._symbols, start, first)
            yield Block(some, start, first, ranges(start, length), label)

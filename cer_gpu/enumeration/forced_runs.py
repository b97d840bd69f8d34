"""The complex events of an automaton that has one for each end, and marks all of its events or none."""

from __future__ import annotations

import numpy as np

from cer_gpu.enumeration.blocks import ranges
from cer_gpu.enumeration.sessions import SingleAnswers
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.runs.forced_runs import begins, labelled


class ForcedRuns(SingleAnswers):
    """One complex event for each end: all events from its start, or no marks.

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
        length = event - self._start + 1
        super().__init__(length if tables.label.any() else np.zeros_like(length))

    def _block(self, some: np.ndarray, first: np.ndarray) -> Block:
        start = self._start[some]
        label = labelled(self._tables, self._symbols, start, first)
        return Block(some, start, first, ranges(start, self._length[some]), label)

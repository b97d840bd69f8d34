"""Counts of steps where one complex event ends at each event with some symbols: nothing is kept of a lane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends, no_ends
from cer_gpu.engine.machines.steps import StepRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.compiled_query import CompiledQuery


class SingleRunner(StepRunner):
    """Counts the ends of chunks in the order of the stream, or grouped by lane without a tail.

    Parameters
    ----------
    query : CompiledQuery
        Of a machine that is `single`.
    workers : Workers
    """

    ungrouped = True

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        super().__init__(query, workers)
        assert self._lone is not None
        self._ends = self._lone != 0

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk; each is its own latest start, and `lowest` is left empty."""
        if self._query.limit == 0:
            return no_ends()
        event = np.flatnonzero(self._ends[chunk.events.symbols])
        return Ends(event, chunk.events.positions[event], event[:0])

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk, and one complex event for each."""
        event = self.ends(chunk).event
        return event, np.ones(len(event), np.int64)

    def number(self, chunk: Chunk) -> int:
        """How many complex events end in a chunk."""
        return int(np.count_nonzero(self._ends[chunk.events.symbols]))

    def needed(self, chunk: Chunk) -> np.ndarray:
        """None of the events of a lane."""
        return chunk.lanes.stop

    def carried(self) -> list[np.ndarray]:
        """Nothing."""
        return []

    def carry_on(self, carried: Sequence[np.ndarray]) -> None:
        """Continue with nothing."""

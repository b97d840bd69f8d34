"""Hits and counts of an automaton over partitions, carried from event to event without grouping by lane."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.automaton import AutomatonRunner
from cer_gpu.engine.machines.chunk import Chunk, by_lane
from cer_gpu.engine.machines.ends import Ends, no_ends
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.counts.cpu_ends import counted_in_order
from cer_gpu.kernels.hits.cpu import hits_in_order
from cer_gpu.plan.compiled_query import CompiledQuery

NEAR = 1 << 20
"""The most bytes that the registers of all lanes have if events are run in the order of the stream.

They then stay in a core's cache; those of more lanes would be fetched from memory for each event.
"""


class UngroupedRunner(AutomatonRunner):
    """Runs a small automaton over chunks in the order of the stream; a `CarryingRunner`.

    Each lane has registers, and an event changes those of its lane (`hits_in_order`). Where these
    are too many for the cache, or numbers too large for 64 bits, a chunk is grouped by lane after all.

    Parameters
    ----------
    query : CompiledQuery
        A query that `carries`, with partitions.
    workers : Workers
    """

    ungrouped = True

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        super().__init__(query, workers, carries=True)

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk with their latest starts; `lowest` is left empty."""
        events = chunk.events
        if not len(events) or self._query.limit == 0:
            return no_ends()
        lanes = _lanes_of(chunk)
        self.registers = grown(self.registers, lanes, -1)
        if lanes * self.registers.shape[1] * 8 > NEAR:
            grouped = self._grouped(chunk, lanes)
            found = super().ends(grouped, bounded=False)
            return Ends(self._back(chunk, grouped, found.event), found.latest, found.lowest)
        event, latest = hits_in_order(
            self.program, events.symbols, events.positions, events.lanes, self.registers
        )
        return Ends(event, latest, event[:0])

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk and how many complex events end at each, before LIMIT."""
        events = chunk.events
        if not len(events) or self._query.limit == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        lanes = _lanes_of(chunk)
        self.vectors = grown(self.vectors, lanes)
        if lanes * self.vectors.shape[1] * 8 <= NEAR and self.vectors.dtype != object:
            found = counted_in_order(self.counted, events.symbols, events.lanes, self.vectors)
            if found is not None:
                return found
        grouped = self._grouped(chunk, lanes)
        event, number = super().counts(grouped)
        return self._back(chunk, grouped, event), number

    def _grouped(self, chunk: Chunk, lanes: int) -> Chunk:
        """The events of a chunk, grouped by lane."""
        events, segments = by_lane([chunk.events], 0, lanes, self._workers)
        return Chunk(events, events.measured, segments, segments)

    def _back(self, chunk: Chunk, grouped: Chunk, event: np.ndarray) -> np.ndarray:
        """The events of a chunk, given by their numbers in `grouped`."""
        return np.searchsorted(chunk.events.positions, grouped.events.positions[event])


def _lanes_of(chunk: Chunk) -> int:
    """A bound of the numbers of the lanes of a chunk."""
    return int(chunk.events.lanes.max(initial=-1)) + 1


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> UngroupedRunner:
    """The runner of an automaton over partitions on the CPU; it always carries."""
    return UngroupedRunner(query, workers)

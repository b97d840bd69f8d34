"""Hits and counts of steps between neighbours, carried from event to event without grouping by lane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends, no_ends
from cer_gpu.engine.machines.single_event_steps import SingleRunner
from cer_gpu.engine.machines.steps import StepRunner
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.steps.contract import NEVER, NeighbourLanes, neighbour_lanes
from cer_gpu.kernels.steps.cpu_neighbours import neighbour_ends, neighbour_sum
from cer_gpu.plan.compiled_query import CompiledQuery


class NeighbourRunner(StepRunner):
    """Runs an automaton of steps between neighbours over chunks in the order of the stream.

    Of each lane only the last event is kept, with the runs that it has entered
    (`kernels.steps.cpu_neighbours`).

    Parameters
    ----------
    query : CompiledQuery
        A query that `carries`.
    workers : Workers
    """

    ungrouped = True

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        super().__init__(query, workers)
        self._known = neighbour_lanes(self.tables)

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk with their latest starts; `lowest` is left empty."""
        if self._query.limit == 0:
            return no_ends()
        event, latest = self._lane_ends(chunk, counted=False)
        return Ends(event, latest, event[:0])

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk and how many complex events end at each, before LIMIT."""
        if self._query.limit == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return self._lane_ends(chunk, counted=True)

    def number(self, chunk: Chunk) -> int | None:
        """How many complex events end in a chunk, where they are summed as they are counted; else None."""
        if self._query.limit is not None:
            return None
        events = chunk.events
        self._widen(int(events.lanes.max(initial=0)) + 1)
        given = self.timed(chunk)
        return neighbour_sum(self.tables, given, events.positions, events.lanes, self._known)

    def _lane_ends(self, chunk: Chunk, counted: bool) -> tuple[np.ndarray, np.ndarray]:
        events = chunk.events
        self._widen(int(events.lanes.max(initial=0)) + 1)
        given = self.timed(chunk)
        return neighbour_ends(self.tables, given, events.positions, events.lanes, self._known, counted)

    def carried(self) -> list[np.ndarray]:
        """What is kept of each lane."""
        return list(self._known)

    def carry_on(self, carried: Sequence[np.ndarray]) -> None:
        """Continue from what `carried` returned."""
        self._known = NeighbourLanes(*carried)

    def _widen(self, lanes: int) -> None:
        """Make room for what is kept of `lanes` lanes."""
        if len(self._known.place) < lanes:
            place, time, runs = self._known
            self._known = NeighbourLanes(grown(place, lanes, NEVER), grown(time, lanes), grown(runs, lanes))


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> NeighbourRunner | SingleRunner:
    """The runner of steps between neighbours, or of single ends, on the CPU; it always carries."""
    return (SingleRunner if query.traits.symbols_alone else NeighbourRunner)(query, workers)

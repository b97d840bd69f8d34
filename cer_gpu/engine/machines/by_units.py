"""Shared by runners that run a chunk unit by unit, and check afterwards any window that is no interval."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.consume import Consuming, Consumption
from cer_gpu.engine.machines.ends import Ends, admitted_hits, no_ends
from cer_gpu.engine.machines.found import Answers
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.plan.compiled import CompiledQuery


class UnitsRunner(Consuming, ABC):
    """Runs the units of a chunk by several threads: joins, steps with bounds, steps that are compared.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers

    Attributes
    ----------
    chunks : int
        How many ordinary chunks (`cer_gpu.engine.run.chunks.CHUNK` events each) make a chunk for it.
    consumption : Consumption
    """

    chunks = 1

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        self._query = query
        self._workers = workers
        self.consumption = Consumption(query)

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk that are reported; `lowest` may be meaningless unless `bounded`."""
        if not len(chunk.segments) or self._query.limit == 0:
            return no_ends()
        bounded = bounded or self._query.consume != "NONE"
        found = self._admitted_hits(chunk) if chunk.held else self._hits(chunk, bounded)
        return self.consumption.left(chunk, found)

    @abstractmethod
    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends of a chunk."""

    def needed(self, chunk: Chunk) -> np.ndarray:
        """As `MachineRunner.needed`: any event of a lane may matter to a later one."""
        return chunk.lanes.begin

    def measured(self, chunk: Chunk) -> np.ndarray:
        """What the window measures of the events of a chunk; empty without a window."""
        return chunk.measured if self._query.window is not None else chunk.events.keys[:0]

    @abstractmethod
    def _hits(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk; a window that is no interval is not checked."""

    def _listed(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends that their windows admit, to be listed one by one."""
        return self.answers(chunk, ends)

    def _units(self, chunk: Chunk) -> list[tuple[int, int]]:
        return chunk.segments.units(self._workers.threads)

    # ------------------------------------------------------- windows that no structure orders by start

    def _window(self, chunk: Chunk) -> AttributeWindow | None:
        """The window that complex events are still to be checked against, where it is no interval."""
        if not chunk.held:
            return None
        assert self._query.window is not None
        return AttributeWindow(chunk.events.keys, chunk.events.all_keyed, self._query.window.size)

    def _admitted_hits(self, chunk: Chunk) -> Ends:
        """The hits under such a window, from the complex events of an interval around it."""
        around = self._hits(chunk)
        return admitted_hits(chunk, around, self._listed(chunk, around))

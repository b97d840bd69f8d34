"""What runs a chunk unit by unit, by the kernels of any family: `UnitsRunner`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.consume import ConsumeRunner, Consumption
from cer_gpu.engine.machines.ends import Ends, admitted_hits, ends_of, first_ends, no_ends
from cer_gpu.engine.machines.ends import joined as ends_joined
from cer_gpu.engine.machines.open_runs import OpenRuns
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.loop.contract import LoopSegments
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.plan.compiled_query import CompiledQuery

Result = TypeVar("Result")
Runner = TypeVar("Runner")


@dataclass(frozen=True, slots=True)
class ChunkUnit:
    """Neighbouring segments of a chunk that one thread runs, with their events numbered from 0 on.

    Attributes
    ----------
    whole : Segments
        The segments, as the chunk numbers events.
    segments : LoopSegments
    events : NamedTuple of ndarray
        The events as the kernels of the family read them.
    measured : ndarray, shape (n,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
        The size of the window; 0 without one.
    low : int
        The number of the first event in the chunk.
    """

    whole: Segments
    segments: LoopSegments
    events: Any
    measured: np.ndarray
    size: int | float
    low: int

    def hits(self, found: Ends) -> SegmentHits:
        """The ends that the segments report, numbered as the events of the unit are."""
        first, event, lowest = ends_of(self.whole, found)
        return SegmentHits(first, event - self.low, lowest - self.low)


class RunnerDevices(Generic[Runner]):
    """Does the work of a runner on devices, where that is faster and there is memory for it.

    Every function gets the runner on the CPU, and a chunk. It gives None where the CPU has to do the work.

    Attributes
    ----------
    chunks : int
        How many ordinary chunks (`cer_gpu.engine.run.chunks.CHUNK` events each) make a chunk for it.
    """

    chunks: int

    def hits(self, runner: Runner, chunk: Chunk, bounded: bool) -> Ends | None:
        """The ends of a chunk; `lowest` may be meaningless unless `bounded`."""
        return None

    def counted_ends(self, runner: Runner, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        """The ends of a chunk and their numbers, where every complex event counts."""
        return None

    def counts(self, runner: Runner, chunk: Chunk, ends: Ends) -> np.ndarray | None:
        """How many complex events end at each of some ends."""
        return None


class UnitsRunner(ConsumeRunner, ABC):
    """Runs the units of a chunk by several threads: joins, steps with bounds, steps that are compared.

    A family says how its kernels read events, find the hits of a unit, and count and list what ends there.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    devices : RunnerDevices or None
        Does what it can on devices; None for the CPU.

    Attributes
    ----------
    chunks : int
        How many ordinary chunks (`cer_gpu.engine.run.chunks.CHUNK` events each) make a chunk for it.
    consumption : Consumption
    """

    def __init__(
        self, query: CompiledQuery, workers: Workers, devices: RunnerDevices[Any] | None = None
    ) -> None:
        self._query = query
        self._workers = workers
        self._devices = devices
        self.chunks = 1 if devices is None else devices.chunks
        self.consumption = Consumption(query)

    # ------------------------------------------------------------------------ what a family says of itself

    @abstractmethod
    def _read(self, events: EventArrays, low: int, high: int) -> Any:
        """The events low .. high - 1 of a chunk, as the kernels read them."""

    @abstractmethod
    def _found(self, unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a unit and the latest start of each."""

    def _counted_ends(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        """The ends of a chunk and their numbers, where they are found as they are counted; else None."""
        return None

    @abstractmethod
    def counts_here(self, chunk: Chunk, found: Ends) -> np.ndarray:
        """How many complex events end at each of some ends, counted by the CPU."""

    @abstractmethod
    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends of a chunk."""

    def _listed(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends that their windows admit, to be listed one by one."""
        return self.answers(chunk, ends)

    # ------------------------------------------------------------------------------- what all families do

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk that are reported; `lowest` may be meaningless unless `bounded`."""
        if not len(chunk.segments.begin) or self._query.limit == 0:
            return no_ends()
        bounded = bounded or self._query.consume != "NONE"
        if chunk.held:
            # Under such a window the hits are those of an interval around it that have complex events.
            around = self.hits(chunk)
            found = admitted_hits(chunk, around, self._listed(chunk, around))
        else:
            found = self.hits(chunk, bounded)
        return self.consumption.left(chunk, found)

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk that are reported and how many complex events end at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (h,), int64
            Ascending.
        number : ndarray, shape (h,), int64, or object where it may not fit
        """
        if len(chunk.segments.begin) and self._query.limit != 0:
            counted = self._counted_ends(chunk)
            if counted is not None:
                return counted
        found = self.ends(chunk)
        if not len(found):
            return found.event, found.event
        return found.event, self._counts(chunk, found)

    def needed(self, chunk: Chunk) -> np.ndarray:
        """As `MachineRunner.needed`: any event of a lane may matter to a later one."""
        return chunk.lanes.begin

    def measured(self, chunk: Chunk) -> np.ndarray:
        """What the window measures of the events of a chunk; empty without a window."""
        return chunk.measured if self._query.window is not None else chunk.events.keys[:0]

    def hits(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk; a window that is no interval is not checked."""
        there = None if self._devices is None else self._devices.hits(self, chunk, bounded)
        if there is not None:
            return there

        def run(unit: ChunkUnit) -> Ends:
            return self.ends_in(chunk, unit, self._found(unit), bounded)

        return ends_joined(self._each("finding hits", chunk, run))

    def ends_in(
        self, chunk: Chunk, unit: ChunkUnit, found: tuple[np.ndarray, np.ndarray], bounded: bool = True
    ) -> Ends:
        """What `_found` gives for a unit of a chunk, as ends of the chunk."""
        event, latest = found[0] + unit.low, chunk.events.positions[found[1] + unit.low]
        if not bounded:
            return Ends(event, latest, event)
        first = first_ends(unit.whole, event)
        return Ends(event, latest, chunk.lowest_starts(unit.whole, first, event, self._query.window))

    def _counts(self, chunk: Chunk, found: Ends) -> np.ndarray:
        """How many complex events end at each of some ends."""
        there = None if self._devices is None else self._devices.counts(self, chunk, found)
        return self.counts_here(chunk, found) if there is None else there

    def unit(self, chunk: Chunk, part: Segments | None = None) -> ChunkUnit:
        """Some segments of a chunk; by default all."""
        part = chunk.segments if part is None else part
        low, high = int(part.begin.min()), int(part.stop.max())
        segments = LoopSegments(part.begin - low, part.report - low, part.stop - low)
        events, window = self._read(chunk.events, low, high), self._query.window
        size = 0 if window is None else window.size
        return ChunkUnit(part, segments, events, self.measured(chunk)[low:high], size, low)

    def _each(self, purpose: str, chunk: Chunk, run: Callable[[ChunkUnit], Result]) -> list[Result]:
        """What a function gives for each unit of a chunk, in several threads."""
        units = chunk.segments.units(self._workers.threads)
        events = chunk.segments.events
        return self._workers.map(purpose, lambda part: run(self.unit(chunk, part)), units, events)

    def _window(self, chunk: Chunk) -> AttributeWindow | None:
        """The window that complex events are still to be checked against, where it is no interval."""
        if not chunk.held:
            return None
        assert self._query.window is not None
        return AttributeWindow(chunk.events.keys, chunk.events.all_keyed, self._query.window.size)


class EndsRunner(UnitsRunner):
    """Finds where matches end: the machine of configurations lists them, and runs streams.

    Unless a family says otherwise, it counts them, too.
    """

    def counts_here(self, chunk: Chunk, found: Ends) -> np.ndarray:
        """Never called."""
        raise TypeError("what ends here is counted by its configurations")

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """Never called."""
        raise TypeError("what ends here is listed by its configurations")

    def open_runs(self) -> OpenRuns | None:
        """None: there is no stream."""
        return None

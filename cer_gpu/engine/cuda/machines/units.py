"""Shared by joins and steps on devices: the units of a chunk, and the ends that are found in them.

A unit is a segment, cut where the window allows it until there are enough units for a device's threads.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from cer_gpu.engine.cuda.machines.automaton import DevicesAutomaton
from cer_gpu.engine.cuda.machines.one_device import cut_early
from cer_gpu.engine.cuda.pool import DevicePool
from cer_gpu.engine.devices import on, tried_on
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, joined
from cer_gpu.engine.machines.unit_runner import RunnerDevices, UnitsRunner
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.windows import cuda as windows
from cer_gpu.plan.compiled_query import WindowPlan

LEAST_UNIT = 256
"""The least number of events of a unit; with fewer, the cost of starting a unit would show."""

LEAST = 1 << 10
"""The least number of units, or lists of hits, for which a device is used: with fewer the CPU is faster."""


class MeasuredEvents(Protocol):
    """The events of a chunk on a device.

    Attributes
    ----------
    measured : device array, shape (events,) or (0,), uint64 or float64
        What the window measures, made `comparable`.
    """

    @property
    def measured(self) -> Any: ...


There = TypeVar("There", bound=MeasuredEvents)
Runner = TypeVar("Runner", bound=UnitsRunner)


class UnitsDevices(RunnerDevices[Runner], ABC, Generic[There, Runner]):
    """Runs the units of a chunk on devices, beside a runner on the CPU.

    Each device gets a range of the units, with about as many events as every other device. It takes as many
    at a time as it has memory for, and half of them if that was too many. If there is no memory for a single
    one, the CPU runs the chunk, with a warning.

    Parameters
    ----------
    window : WindowPlan or None
    devices : tuple of int
        The numbers of the devices, at least one.
    lane, stream : Geometry
        How kernels are launched with one thread for each unit, or for each row.
    """

    chunks = DevicesAutomaton.chunks
    what: ClassVar[str]
    """What takes the memory, in the words of the warning."""

    def __init__(
        self,
        window: WindowPlan | None,
        devices: tuple[int, ...],
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        self._window = window
        self._lane, self._stream = lane, stream
        self._tables: list[Any] = []
        self._cut: tuple[Chunk, Segments | None] | None = None
        """The chunk that was cut last, and its units: hits and counts are asked one after another."""
        # The pool lives as long as this does. A reference back would keep memory of devices until Python's
        # collector comes by.
        own = weakref.proxy(self)
        self._pool: DevicePool[There] = DevicePool(
            devices, lambda chunk: own._copied_events(chunk), self.what
        )

    def load(self, runner: Runner) -> None:
        """Copy the tables of a runner's automaton to all devices."""
        self._runner = weakref.proxy(runner)  # which holds these devices
        for number in self._pool.numbers:
            with on(number):
                self._tables.append(self._copied_tables(runner))

    @abstractmethod
    def _copied_tables(self, runner: Runner) -> Any:
        """Copy the tables of a runner's automaton to the current device."""

    @abstractmethod
    def _copied_events(self, chunk: Chunk) -> There:
        """Copy to the current device what kernels read of the events of a chunk."""

    def _units(self, chunk: Chunk) -> Segments | None:
        """The units of a chunk; None if they are too few or too large."""
        if self._cut is None or self._cut[0] is not chunk:
            self._cut = chunk, units_of(self._pool, chunk, self._window, self._stream)
        return self._cut[1]

    def _ends_of(self, there: There, units: Segments, found: Sequence[Any], bounded: bool = True) -> Ends:
        """Ends that were found in units, on the host; `latest` are events.

        Parameters
        ----------
        there : MeasuredEvents
        units : Segments
        found : sequence of device array
            Where the ends of each unit begin, the events of the ends, and the latest start of each.
        bounded : bool, optional
            Whether `lowest` is asked for.
        """
        first, event, latest = found
        if self._window is not None and bounded:
            begin, size = copied(units.begin), self._window.size
            lowest = windows.lowest_starts(there.measured, begin, first, event, size, self._stream)
            return Ends(*(part.copy_to_host() for part in (event, latest, lowest)))
        ends = event.copy_to_host()
        lowest = np.repeat(units.begin, np.diff(first.copy_to_host())) if bounded else ends
        return Ends(ends, latest.copy_to_host(), lowest)

    @staticmethod
    def _joined(chunk: Chunk, parts: Sequence[Ends]) -> Ends:
        """The ends of all units of a chunk from those that `_ends_of` gave."""
        found = joined(parts)
        return Ends(found.event, chunk.events.positions[found.latest], found.lowest)


def units_of(
    pool: DevicePool[Any], chunk: Chunk, window: WindowPlan | None, stream: Geometry
) -> Segments | None:
    """The segments of a chunk, cut where the window allows it; None if they are too few or too large.

    Parameters
    ----------
    pool : DevicePool
        What it copies of a chunk has `measured`: a device array of what the window measures.
    chunk : Chunk
    window : WindowPlan or None
    stream : Geometry
    """
    segments = chunk.segments
    if len(segments.begin) + int((segments.stop - segments.report).sum()) // LEAST_UNIT < LEAST:
        return None
    if window is None:
        return segments if len(segments.begin) >= LEAST else None

    def cut() -> Segments:
        return cut_early(segments, pool.copied(0, chunk).there.measured, window.size, stream)

    units = pool.or_none(tried_on(pool.numbers[0], cut))
    return units if units is not None and len(units.begin) >= LEAST else None

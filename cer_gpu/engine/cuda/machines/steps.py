"""The CUDA backend of timed steps: hits and counts of chunks on one device or several.

The CPU lists complex events, follows sessions, which is one comparison for each event, and does what is too
little work for a device, what needs more memory than a device has, and windows over an attribute that falls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cer_gpu.engine.cuda.machines.units import UnitsDevices
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, first_ends
from cer_gpu.engine.machines.single_event_steps import SingleRunner
from cer_gpu.engine.machines.steps import StepRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.device.words import copied, to_device
from cer_gpu.kernels.loop.contract import LoopSegments
from cer_gpu.kernels.steps import cpu_counts as on_cpu
from cer_gpu.kernels.steps import cuda_counts as step_counts
from cer_gpu.kernels.steps import cuda_hits as step_hits
from cer_gpu.kernels.steps.contract import StepEvents, short_tables
from cer_gpu.kernels.steps.cpu_short_chains import MOST_EVENTS
from cer_gpu.kernels.steps.cuda_units import DeviceSteps, device_steps
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled_query import CompiledQuery, WindowPlan


class DeviceTimedEvents(NamedTuple):
    """The events of a chunk on a device, for the kernels of steps.

    Attributes
    ----------
    events : StepEvents
        Of device arrays; `symbols` are padded uint16.
    measured : device array, shape (events,) or (0,), uint64 or float64
        What the window measures, made `comparable`.
    """

    events: StepEvents
    measured: Any


class DevicesSteps(UnitsDevices[DeviceTimedEvents, StepRunner]):
    """Finds the ends of an automaton of steps, and counts its complex events, on devices.

    Parameters as for `UnitsDevices`.
    """

    what = "the entries of timed steps"

    def load(self, runner: StepRunner) -> None:
        """Copy the tables of a runner's automaton to all devices."""
        self._short = short_tables(runner.tables)
        super().load(runner)

    def _copied_tables(self, runner: StepRunner) -> DeviceSteps:
        return device_steps(runner.tables)

    def hits(self, runner: StepRunner, chunk: Chunk, bounded: bool) -> Ends | None:
        """As `RunnerDevices.hits`."""
        units = None if chunk.held else self._units(chunk)
        if units is None:
            return None
        size = step_hits.bytes_of_hits(self._tables[0], units.stop - units.begin, units.stop - units.report)
        # A window that leaves nothing out need not be checked.
        window = None if runner.spans else self._window

        def run(number: int, low: int, high: int) -> Ends:
            return self._hits_of(number, chunk, units.part(low, high), window, bounded)

        parts = self._pool.fitted(chunk, units.stop - units.begin, size, run)
        return None if parts is None else self._joined(chunk, parts)

    def _hits_of(
        self, number: int, chunk: Chunk, units: Segments, window: WindowPlan | None, bounded: bool
    ) -> Ends:
        """The hits of some units; `latest` are events."""
        there, size = self._pool.copied(number, chunk).there, 0 if window is None else window.size
        keys = there.measured if window is not None else _none_of(there.measured)
        found = step_hits.hits(
            self._tables[number], there.events, keys, size, _step_segments(units), False, self._lane,
            self._stream,
        )  # fmt: skip
        return self._ends_of(there, units, found, bounded)

    def counted_ends(self, runner: StepRunner, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        """As `RunnerDevices.counted_ends`."""
        units = self._units(chunk)
        if units is None:
            return None
        found = self._counted(chunk, units)
        if found is None:
            return None
        event, number = found
        begin = units.begin[np.searchsorted(units.report, event, side="right") - 1]
        return event, on_cpu.exact_numbers(runner.tables, runner.timed(chunk), number, begin, event)

    def counts(self, runner: StepRunner, chunk: Chunk, ends: Ends) -> np.ndarray | None:
        """As `RunnerDevices.counts`."""
        units = self._units(chunk)
        if units is None:
            return None
        longest = int((units.stop - units.begin).max())
        if self._short is not None and longest <= MOST_EVENTS:
            return self._short_counts(chunk, units, ends)
        every = self._counted(chunk, units)
        if every is None:
            return None
        number = every[1][np.searchsorted(every[0], ends.event)]
        begin = np.repeat(units.begin, np.diff(first_ends(units, ends.event)))
        later = np.flatnonzero(ends.lowest > begin)
        if len(later):
            earliest = self._earliest(chunk, units, ends.event[later])
            if earliest is None:
                return None
            again = later[earliest < ends.lowest[later]]
            if len(again):
                stop, low = ends.event[again], ends.lowest[again]
                alone = Segments(low, stop, stop + 1, np.zeros(len(again), np.int64))
                counted = self._counted(chunk, alone)
                if counted is None:
                    return None
                number[again] = counted[1]
        lowest = np.maximum(ends.lowest, begin)
        return on_cpu.exact_numbers(runner.tables, runner.timed(chunk), number, lowest, ends.event)

    def _counted(self, chunk: Chunk, units: Segments) -> tuple[np.ndarray, np.ndarray] | None:
        """The ends of units and the numbers of all complex events that end there."""
        reported = units.stop - units.report
        size = step_counts.bytes_of_counts(self._tables[0], units.stop - units.begin, reported)

        def run(number: int, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
            there = self._pool.copied(number, chunk).there.events
            _, event, counted = step_counts.counts(
                self._tables[number], there, _step_segments(units.part(low, high)), self._lane, self._stream
            )
            return event.copy_to_host(), counted.copy_to_host()

        parts = self._pool.fitted(chunk, units.stop - units.begin, size, run)
        if parts is None:
            return None
        event, number = (np.concatenate(column) for column in zip(*parts))
        return event, number

    def _earliest(self, chunk: Chunk, units: Segments, event: np.ndarray) -> np.ndarray | None:
        """The earliest start of a complex event of its unit that ends at each of some events."""
        size = step_hits.bytes_of_hits(self._tables[0], units.stop - units.begin, units.stop - units.report)

        def run(number: int, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
            there = self._pool.copied(number, chunk).there
            _, ends, start = step_hits.hits(
                self._tables[number], there.events, _none_of(there.measured), 0,
                _step_segments(units.part(low, high)), True, self._lane, self._stream,
            )  # fmt: skip
            return ends.copy_to_host(), start.copy_to_host()

        parts = self._pool.fitted(chunk, units.stop - units.begin, size, run)
        if parts is None:
            return None
        ends, start = (np.concatenate(column) for column in zip(*parts))
        earliest: np.ndarray = start[np.searchsorted(ends, event)]
        return earliest

    def _short_counts(self, chunk: Chunk, units: Segments, ends: Ends) -> np.ndarray | None:
        short, first = self._short, first_ends(units, ends.event)
        length = units.stop - units.begin
        size = step_counts.bytes_of_short(self._tables[0], short, length, np.diff(first))

        def run(number: int, low: int, high: int) -> np.ndarray:
            own = first[low : high + 1]
            part = slice(own[0], own[-1])
            found: np.ndarray = step_counts.short_counts(
                self._tables[number], short, self._pool.copied(number, chunk).there.events,
                _step_segments(units.part(low, high)), own - own[0], ends.event[part], ends.lowest[part],
                self._lane, self._stream,
            ).copy_to_host()  # fmt: skip
            return found

        parts = self._pool.fitted(chunk, length, size, run)
        return None if parts is None else np.concatenate(parts)

    def _copied_events(self, chunk: Chunk) -> DeviceTimedEvents:
        """Copy to the current device what steps read of the events of a chunk."""
        read = self._runner.timed(chunk)
        measured, _ = comparable(self._runner.measured(chunk), 0)
        keys = copied(measured)
        # A window of time measures the times that gaps are of.
        same = read.times.dtype == measured.dtype and np.shares_memory(read.times, measured)
        times = keys if same else copied(read.times)
        events = StepEvents(to_device(read.symbols.astype(np.uint16)), times, copied(read.places))
        return DeviceTimedEvents(events, keys)


def _none_of(values: Any) -> Any:
    """An empty array of a device's values: numba-cuda refuses to slice what is empty."""
    return values[:0] if values.size else values


def _step_segments(units: Segments) -> LoopSegments:
    return LoopSegments(units.begin, units.report, units.stop)


def runner(query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]) -> StepRunner:
    """The runner of a timed pattern on devices; it carries nothing."""
    if query.traits.symbols_alone:
        return SingleRunner(query, workers)
    there = DevicesSteps(query.window, devices)
    found = StepRunner(query, workers, there)
    there.load(found)
    return found

"""The CUDA backend of automata with one clock: hits and counts of chunks in many units, on one device.

A unit is followed by one thread, which begins a window before what it reports. The CPU follows the runs where
there is no window of time, where complex events are listed, and where the device has too little memory.
"""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.cuda.machines.first_device import FirstDevice, fits
from cer_gpu.engine.cuda.machines.one_device import cut_early
from cer_gpu.engine.cuda.machines.units import LEAST, LEAST_UNIT
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, in_order
from cer_gpu.engine.machines.one_clock import ClockRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.clock.cpu_stream import ARENA_FULL, DONE
from cer_gpu.kernels.clock.cuda_ends import MOST_NODES, bytes_of_units, clocked_ends
from cer_gpu.kernels.clock.cuda_units import NODES_OF_EVENT, device_clock
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled_query import CompiledQuery

NOTHING = np.empty(0, np.int64), np.empty(0, np.int64)
"""The result of the device where the CPU has to follow the runs for another reason than memory."""


class DevicesClock(FirstDevice[ClockRunner]):
    """Finds the ends of an automaton with one clock, and counts complex events, on a device.

    Parameters as for `FirstDevice`. Once it has had too little memory, the CPU does everything.
    """

    what = "the runs of automata with a clock"

    def __init__(self, device: int, lane: Geometry = LANE, stream: Geometry = STREAM) -> None:
        super().__init__(device, lane, stream)
        self._nodes = NODES_OF_EVENT

    def hits(self, runner: ClockRunner, chunk: Chunk, bounded: bool) -> Ends | None:
        """As `RunnerDevices.hits`; it never finds `lowest`."""
        found = None if bounded else self._found(runner, chunk, counted=False)
        if found is None:
            return None
        event, latest = found
        return Ends(event, chunk.events.positions[latest], event[:0])

    def counted_ends(self, runner: ClockRunner, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        """As `RunnerDevices.counted_ends`."""
        return self._found(runner, chunk, counted=True)

    def _found(
        self, runner: ClockRunner, chunk: Chunk, counted: bool
    ) -> tuple[np.ndarray, np.ndarray] | None:
        query, segments = runner.query, chunk.segments
        window = query.window
        if self._full or window is None or window.kind == "attribute" or query.consume != "NONE":
            return None
        if len(segments) + int((segments.stop - segments.report).sum()) // LEAST_UNIT < LEAST:
            return None

        def run() -> tuple[np.ndarray, np.ndarray]:
            times = chunk.events.moments.view(runner.constants.dtype)
            values = chunk.measured
            if times.dtype == np.float64:
                values = values.astype(np.float64, copy=False)  # places, beside times: there is one kernel
            measured, size = comparable(values, window.size)
            there = device_clock(runner.tables, runner.constants, chunk.events.symbols, times, measured)
            units = cut_early(segments, there.events.measured, size, self._stream)
            while len(units) >= LEAST and self._fits(runner, units):
                status, event, value = clocked_ends(
                    there, units, size, counted, self._nodes, self._lane, self._stream
                )
                if status == DONE:
                    return event.copy_to_host(), value.copy_to_host()
                if status != ARENA_FULL or self._nodes >= MOST_NODES:
                    break
                self._nodes *= 2
            return NOTHING

        found = self._on_device(run)
        if found is None or found is NOTHING:
            return None
        event, value = found
        order = in_order(event)
        return (event, value) if order is None else (event[order], value[order])

    def _fits(self, runner: ClockRunner, units: Segments) -> bool:
        """Whether the device has memory for some units at a time."""
        length, reported = units.stop - units.begin, units.stop - units.report
        needed = bytes_of_units(runner.tables, length, reported, self._nodes)
        return fits(int(needed.sum()))


def runner(query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]) -> ClockRunner:
    """The runner of automata with one clock on devices, of which it uses the first; it carries nothing."""
    return ClockRunner(query, DevicesClock(devices[0]))

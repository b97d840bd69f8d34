"""The CUDA backend of ordered look-ups: hits and counts of chunks with many lanes or segments, on one device.

The CPU sorts what is compared, lists complex events, and does what is too little work for a device or needs
more memory than the device has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cer_gpu.engine.cuda.machines.automaton import DevicesAutomaton
from cer_gpu.engine.cuda.memory import free_bytes
from cer_gpu.engine.cuda.pool import SHARE
from cer_gpu.engine.devices import say_by_cpu, tried_on
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.comparisons import ComparedRunner
from cer_gpu.engine.machines.ends import Ends, counts_joined
from cer_gpu.engine.machines.ends import joined as ends_joined
from cer_gpu.engine.machines.unit_runner import RunnerDevices
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.comparisons import ComparedUnit
from cer_gpu.kernels.comparisons import cpu_counts as on_cpu
from cer_gpu.kernels.comparisons import cuda_counts, cuda_hits
from cer_gpu.kernels.comparisons.cuda_units import DevicePairs, bytes_of_pairs, device_pairs
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.plan.compiled_query import CompiledQuery

LEAST = 1 << 10
"""The least number of segments for which a device is used: with fewer threads the CPU is faster."""


class DeviceComparisons(RunnerDevices[ComparedRunner]):
    """Finds the ends of compared steps, and counts complex events, on a device.

    Parameters
    ----------
    device : int
        Its number.
    lane, stream : Geometry
        How kernels are launched with one thread for each segment, or for each row.
    """

    chunks = DevicesAutomaton.chunks

    def __init__(self, device: int, lane: Geometry = LANE, stream: Geometry = STREAM) -> None:
        self._device = device
        self._lane, self._stream = lane, stream
        self._full = False
        """Whether there has been too little memory."""

    def hits(self, runner: ComparedRunner, chunk: Chunk, bounded: bool) -> Ends | None:
        """As `RunnerDevices.hits`."""
        if len(chunk.segments.begin) < LEAST:
            return None
        unit = runner.unit(chunk)
        found = self._found(runner.arranged(unit), cuda_hits.hits)
        return None if found is None else ends_joined([runner.ends_in(chunk, unit, found, bounded)])

    def counted_ends(self, runner: ComparedRunner, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        """As `RunnerDevices.counted_ends`."""
        if len(chunk.segments.begin) < LEAST:
            return None
        unit = runner.arranged(runner.unit(chunk))
        found = self._found(unit, cuda_counts.counted_ends)
        if found is None:
            return None
        # -1 stands for a number that may not fit.
        event, number = on_cpu.exact_ends(unit.tables, unit.events, unit.segments, unit.arranged, *found)
        return counts_joined([(event + unit.low, number)])

    def _found(
        self, unit: ComparedUnit, ask: Callable[..., tuple[Any, Any]]
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """What a kernel finds for a unit; None where the device has no memory for it, or was lost.

        The first time, this is also a warning.
        """

        def run() -> tuple[np.ndarray, np.ndarray] | None:
            if bytes_of_pairs(unit.tables, int(unit.segments.base[-1])) > free_bytes() // SHARE:
                return None
            pairs: DevicePairs = device_pairs(unit.tables, unit.events, unit.segments, unit.arranged)
            event, other = ask(pairs, unit.measured, unit.size, self._lane, self._stream)
            return event.copy_to_host(), other.copy_to_host()

        found = tried_on(self._device, run)
        if found is None and not self._full:
            self._full = True
            say_by_cpu(self._device, "the look-ups of compared steps")
        return found


def runner(query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]) -> ComparedRunner:
    """The runner of ordered look-ups on devices, of which it uses the first; it carries nothing."""
    return ComparedRunner(query, workers, DeviceComparisons(devices[0]))

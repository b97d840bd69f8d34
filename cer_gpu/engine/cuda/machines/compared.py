"""The CUDA backend of ordered look-ups: hits and counts of chunks with many lanes or segments, on one device.

The CPU sorts what is compared, lists complex events, and does what is too little work for a device or needs
more memory than the device has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cer_gpu.engine.cuda.machines.first_device import FirstDevice, fits
from cer_gpu.engine.machines.compared import ComparedRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.compared import ComparedUnit
from cer_gpu.kernels.compared import cuda_counts, cuda_hits
from cer_gpu.kernels.compared.cuda_units import DevicePairs, bytes_of_pairs, device_pairs
from cer_gpu.plan.compiled import CompiledQuery

LEAST = 1 << 10
"""The least number of segments for which a device is used: with fewer threads the CPU is faster."""


class DevicesCompared(FirstDevice):
    """Finds the ends of compared steps, and counts complex events, on a device: `ComparedDevices`.

    Parameters as for `FirstDevice`.
    """

    what = "the look-ups of compared steps"

    def hits(self, unit: ComparedUnit) -> tuple[np.ndarray, np.ndarray] | None:
        """The hits of a unit and their latest starts; None where the CPU has to find them."""
        return self._found(unit, cuda_hits.hits)

    def counted_ends(self, unit: ComparedUnit) -> tuple[np.ndarray, np.ndarray] | None:
        """The ends of a unit and their numbers, -1 for one that may not fit; None: the CPU has to count."""
        return self._found(unit, cuda_counts.counted_ends)

    def _found(
        self, unit: ComparedUnit, ask: Callable[..., tuple[Any, Any]]
    ) -> tuple[np.ndarray, np.ndarray] | None:
        if len(unit.segments.begin) < LEAST:
            return None

        def run() -> tuple[np.ndarray, np.ndarray] | None:
            if not fits(bytes_of_pairs(unit.tables, int(unit.segments.base[-1]))):
                return None
            pairs: DevicePairs = device_pairs(unit.tables, unit.events, unit.segments, unit.arranged)
            event, other = ask(pairs, unit.measured, unit.size, self._lane, self._stream)
            return event.copy_to_host(), other.copy_to_host()

        return self._on_device(run)


def runner(query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]) -> ComparedRunner:
    """The runner of ordered look-ups on devices, of which it uses the first; it carries nothing."""
    return ComparedRunner(query, workers, DevicesCompared(devices[0]))

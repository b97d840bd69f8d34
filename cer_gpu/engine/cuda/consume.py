"""CONSUME BY PARTITION on a device: one thread decides for each partition."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.devices import on, with_memory
from cer_gpu.engine.machines.consume import Consumption
from cer_gpu.kernels.consume.cuda import consume_partition
from cer_gpu.kernels.device.geometry import LANE, Geometry
from cer_gpu.kernels.device.words import copied
from cer_gpu.plan.compiled_query import CompiledQuery

LEAST = 1 << 9
"""From this many partitions with hits on a device is used: the CPU needs some nanoseconds for a hit, and a
thread of a device waits a hundred times as long for its memory."""


class CudaConsumption(Consumption):
    """What a run has consumed so far; decided on a device where many partitions have hits.

    Parameters
    ----------
    query : CompiledQuery
    device : int
        The number of the device.
    lane : Geometry
        How the kernel is launched, with one thread for each partition.
    """

    def __init__(self, query: CompiledQuery, device: int, lane: Geometry = LANE) -> None:
        super().__init__(query)
        self._device, self._lane = device, lane

    def _by_lane(
        self, positions: np.ndarray, latest: np.ndarray, lanes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        begin = np.flatnonzero(np.diff(lanes, prepend=-1))
        if len(begin) < LEAST:
            return super()._by_lane(positions, latest, lanes)
        present = lanes[begin]

        def there() -> tuple[np.ndarray, ...]:
            with on(self._device):
                floors = copied(self.floors[present])
                first = copied(np.append(begin, len(lanes)))
                found = consume_partition(copied(positions), copied(latest), first, floors, self._lane)
                return tuple(part.copy_to_host() for part in (floors, *found))

        judged = with_memory(there)
        if judged is None:
            return super()._by_lane(positions, latest, lanes)
        self.floors[present], keep, before = judged
        return keep, before

"""How fast a device is: three figures, which its check measures and the findings keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from time import perf_counter

import numpy as np
from numba import cuda

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.device.arrays import device_array, locked_bytes, zeros
from cer_gpu.kernels.device.scan import add_totals_kernel
from cer_gpu.printable_text import brief

COPIED = 1 << 26
"""Bytes of the copies that are measured: the least with which the time of a copy is not that of its start."""

LAUNCHES = 64
"""Launches that are measured together, as a run hands them to the device."""


@dataclass(frozen=True, slots=True)
class DeviceSpeed:
    """How fast a device is.

    Attributes
    ----------
    memory : float
        Bytes/s that a copy in its memory reads and writes together.
    bus : float
        Bytes/s of a copy from page-locked memory of the host.
    launch : float
        Seconds of a launch.
    """

    memory: float
    bus: float
    launch: float

    def to_dict(self) -> dict[str, object]:
        """The figures as a dict that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, told: object) -> DeviceSpeed:
        """The figures from the dict that `to_dict` returned.

        Raises
        ------
        ValueError
            For anything else.
        """
        match told:
            case {"memory": float(memory), "bus": float(bus), "launch": float(launch)}:
                if min(memory, bus, launch) > 0:
                    return cls(memory, bus, launch)
        raise ValueError(f"not the speed of a device: {brief(told)}")


def measured_speed() -> DeviceSpeed:
    """The speed of the current device.

    Raises
    ------
    Exception
        Where the device or the host has no memory left for what is copied.
    """
    there, other = device_array(COPIED, np.uint8), device_array(COPIED, np.uint8)
    host, number = locked_bytes(COPIED), zeros(1)
    host[:] = 0

    def launch() -> None:
        for _ in range(LAUNCHES):
            add_totals_kernel[1, 32](number, number, 1)

    return DeviceSpeed(
        2 * COPIED / _least_seconds(lambda: other.copy_to_device(there)),
        COPIED / _least_seconds(lambda: there.copy_to_device(host)),
        _least_seconds(launch) / LAUNCHES,
    )


def _least_seconds(work: Callable[[], object]) -> float:
    """How long some work of a device takes at least, once it has been done."""
    taken = []
    for _ in range(6):
        cuda.synchronize()
        begin = perf_counter()
        work()
        cuda.synchronize()
        taken.append(perf_counter() - begin)
    return min(taken[1:])

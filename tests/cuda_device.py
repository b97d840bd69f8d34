"""The device that tests of its kernels run on: a GPU, a virtual device, or Numba's simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from cer_gpu.kernels.device.arrays import pooled
from cer_gpu.kernels.device.availability import cuda_usable
from cer_gpu.kernels.device.geometry import Geometry
from cer_gpu.kernels.device.jit import KernelLauncher
from cuda_registry import KERNELS
from numba import cuda, typeof, types
from numba.np.numpy_support import from_dtype

USABLE = cuda_usable()

SIMULATED = USABLE.devices == ("simulator",)

VIRTUAL = bool(USABLE) and USABLE.devices[0].startswith("Virtual device")
"""Whether the devices are those of `virtual_device`: what the compiler makes of kernels runs on the host."""

PART_OF_VIRTUAL = 3
"""A virtual device gets one in so many of a GPU's random cases; `device_cases.py` draws as many as wanted."""

TINY = [Geometry(4, 2), Geometry(2, 3), Geometry(8, 1)]
"""Blocks of few threads, and grids too small for the work."""

if SIMULATED:
    from bench import simulated

    simulated.install()


def cases(simulated: int, real: int) -> int:
    """How many random cases a test has: in the simulator, and on a GPU."""
    if SIMULATED:
        return simulated
    return real // PART_OF_VIRTUAL if VIRTUAL else real


@contextmanager
def forms_launched() -> Iterator[dict[str, set[tuple[types.Type, ...]]]]:
    """The types of the arguments of all launches meanwhile, by the kernel's name."""
    found: dict[str, set[tuple[types.Type, ...]]] = {}
    configured = KernelLauncher.__getitem__

    def noting(kernel: KernelLauncher, configuration: tuple[Any, ...]) -> Callable[..., Any]:
        launch = configured(kernel, configuration)

        def noted(*arguments: Any) -> Any:
            found.setdefault(kernel.name, set()).add(signature(arguments))
            return launch(*arguments)

        return noted

    with patch.object(KernelLauncher, "__getitem__", noting):
        yield found


def allocators() -> list[tuple[Any, str]]:
    """The functions that take memory of a device or page-locked memory, with what they are attributes of."""
    found: list[tuple[Any, str]] = [(cuda, name) for name in ("device_array", "to_device", "pinned_array")]
    pool = pooled()
    return found if pool is None else [*found, (pool, "empty"), (pool.cuda, "alloc_pinned_memory")]


def forms_ahead() -> dict[str, set[tuple[types.Type, ...]]]:
    """Those for which kernels are compiled ahead of time."""
    return {kernel.name: set(kernel.signatures) for kernel in KERNELS}


def signature(arguments: tuple[Any, ...]) -> tuple[types.Type, ...]:
    """The types with which a kernel is compiled for the arguments of a launch."""
    return tuple(_type_of(argument) for argument in arguments)


def _type_of(argument: Any) -> types.Type:
    if isinstance(argument, tuple):
        return types.BaseTuple.from_types(signature(argument), type(argument))
    if isinstance(argument, (int, np.generic)):
        return typeof(argument)
    return types.Array(from_dtype(argument.dtype), argument.ndim, "C")

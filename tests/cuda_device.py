"""The device that tests of its kernels run on: a GPU, or Numba's simulator in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from cer_gpu.kernels.device.availability import cuda_usable
from cer_gpu.kernels.device.geometry import Geometry
from cuda_registry import KERNELS
from numba import typeof, types
from numba.np.numpy_support import from_dtype

USABLE = cuda_usable()

TINY = [Geometry(4, 2), Geometry(2, 3), Geometry(8, 1)]
"""Blocks of few threads, and grids too small for the work."""

if USABLE.devices == ("simulator",):
    from bench import simulated

    simulated.install()


@contextmanager
def forms_launched() -> Iterator[dict[str, set[tuple[types.Type, ...]]]]:
    """The types of the arguments of all launches in the simulator meanwhile, by the kernel's name."""
    from numba.cuda.simulator.kernel import FakeCUDAKernel

    found: dict[str, set[tuple[types.Type, ...]]] = {}
    launch = FakeCUDAKernel.__call__

    def noting(kernel: FakeCUDAKernel, *arguments: object) -> object:
        if kernel.__name__.endswith("_kernel"):
            found.setdefault(kernel.__name__.removesuffix("_kernel"), set()).add(signature(arguments))
        return launch(kernel, *arguments)

    with patch.object(FakeCUDAKernel, "__call__", noting):
        yield found


def forms_ahead() -> dict[str, set[tuple[types.Type, ...]]]:
    """Those for which kernels are compiled ahead of time."""
    return {kernel.name: set(kernel.signatures) for kernel in KERNELS}


def signature(arguments: tuple[Any, ...]) -> tuple[types.Type, ...]:
    """The types with which a kernel is compiled for arguments of a launch in the simulator."""
    return tuple(_type_of(argument) for argument in arguments)


def _type_of(argument: Any) -> types.Type:
    if isinstance(argument, tuple):
        return types.BaseTuple.from_types(signature(argument), type(argument))
    if isinstance(argument, (int, np.generic)):
        return typeof(argument)
    return types.Array(from_dtype(argument.dtype), argument.ndim, "C")

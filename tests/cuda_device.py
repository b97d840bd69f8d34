"""The device that tests of its kernels run on: a GPU, or Numba's simulator in a process of its own."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from cer_gpu.kernels.device.geometry import Geometry
from cer_gpu.kernels.device.usable import cuda_usable
from numba import typeof, types
from numba.np.numpy_support import from_dtype

USABLE = cuda_usable()

TINY = [Geometry(4, 2), Geometry(2, 3), Geometry(8, 1)]
"""Blocks of few threads, and grids too small for the work."""

if USABLE.devices == ("simulator",):
    # Its threads are Python's: they take turns quickly, so that barriers cost little and races show.
    sys.setswitchinterval(1e-5)


def signature(arguments: tuple[Any, ...]) -> tuple[types.Type, ...]:
    """The types with which a kernel is compiled for arguments of a launch in the simulator."""
    return tuple(_type_of(argument) for argument in arguments)


def _type_of(argument: Any) -> types.Type:
    if isinstance(argument, tuple):
        return types.Tuple(signature(argument))
    if isinstance(argument, (int, np.generic)):
        return typeof(argument)
    return types.Array(from_dtype(argument.dtype), argument.ndim, "C")

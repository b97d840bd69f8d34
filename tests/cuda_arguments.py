"""The types of the arguments of CUDA kernels: arrays, numbers, and tuples of them."""

from typing import Any, NamedTuple

from cer_gpu.kernels.device.geometry import STREAM
from numba import types


def array(dtype, ndim=1):
    """The type of an array whose rows lie one after another."""
    return types.Array(dtype, ndim, "C")


U8_2, I32_3 = array(types.uint8, 2), array(types.int32, 3)
U8, U16, U32, U64 = (array(dtype) for dtype in (types.uint8, types.uint16, types.uint32, types.uint64))
I32, I64, F64 = (array(dtype) for dtype in (types.int32, types.int64, types.float64))
F64_2 = array(types.float64, 2)
I64_2, I64_3, U64_2 = array(types.int64, 2), array(types.int64, 3), array(types.uint64, 2)
U32_2 = array(types.uint32, 2)
I32_2, I32_4, I64_4 = array(types.int32, 2), array(types.int32, 4), array(types.int64, 4)
INT = types.int64

NUMBERS = tuple(
    array(dtype)
    for dtype in (
        types.int8,
        types.int16,
        types.int32,
        types.int64,
        types.uint8,
        types.uint16,
        types.uint32,
        types.uint64,
        types.float32,
        types.float64,
    )
)
"""Columns of numbers."""

SYMBOLS = (U8, U16)
KEYS = ((U64, types.uint64), (F64, types.float64))
"""Keys of windows, and their sizes."""


def named(kind, *fields):
    """The type of a named tuple of arrays and numbers."""
    return types.BaseTuple.from_types(fields, kind)


class CudaKernel(NamedTuple):
    """A kernel, the types of its arguments, and the most threads of a block.

    There is one tuple of types for each form that the engine launches.
    """

    name: str
    function: Any
    signatures: tuple[tuple[types.Type, ...], ...]
    threads: int = STREAM.threads

"""The places of the fields of CPython's and NumPy's objects that machine code reads.

All offsets are in bytes from the beginning of an object, on 64-bit systems. NumPy's are part of its binary
interface. CPython's have been the same for many versions; those of integers changed once, in 3.12. `holds`
checks objects of this process, so that a version with other offsets is noticed.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from functools import cache

import numpy as np

TYPE = 8
ITEMS = 24
"""The place of the first item of a tuple; the length of the tuple stands before it."""
LENGTH = 16
FLOAT = 16
SCALAR = 16
"""The value of a NumPy number."""

DIGITS = 24
"""The place of the digits of an integer, 30 bits each, the lowest first."""
TAG = 16
"""The place of the number of digits of an integer, which is negative for a negative integer. From Python 3.12
on it is eight times the number of digits, plus 2 for a negative integer and 1 for zero."""
TAGGED = sys.version_info >= (3, 12)

DATA, DIMENSIONS, SHAPE, STRIDES, DTYPE, FLAGS = 16, 24, 32, 40, 56, 64
"""The places of the fields of an array."""
BYTE_ORDER, NUMBER = 26, 28
"""The places of the fields of a dtype."""


@cache
def holds() -> bool:
    """Whether the objects of this process are laid out like that."""
    usual = sys.implementation.name == "cpython" and struct.calcsize("P") == 8 and sys.byteorder == "little"
    return usual and not _without_lock() and _objects_are()


def _without_lock() -> bool:
    """Whether this Python has no lock of the interpreter: then every object begins with other words."""
    if not hasattr(sys, "_is_gil_enabled"):  # before 3.13
        return False
    import sysconfig

    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def _objects_are() -> bool:
    def word(at: int) -> int:
        return ctypes.c_int64.from_address(at).value

    def half(at: int) -> int:
        return ctypes.c_int32.from_address(at).value

    array = np.zeros((3, 5), np.uint16)[:, 1:]
    pair = (array, 1.5)
    large, less = -(2**40 + 7), -5
    number = np.float64(2.5)
    facts = [
        word(id(array) + TYPE) == id(np.ndarray),
        word(id(array) + DATA) == array.__array_interface__["data"][0],
        half(id(array) + DIMENSIONS) == 2,
        word(word(id(array) + SHAPE) + 8) == 4,
        word(word(id(array) + STRIDES)) == 10,
        word(id(array) + DTYPE) == id(array.dtype),
        half(id(array) + FLAGS) == array.flags.num,
        half(id(array.dtype) + NUMBER) == array.dtype.num,
        ctypes.c_char.from_address(id(array.dtype) + BYTE_ORDER).value == array.dtype.byteorder.encode(),
        word(id(pair) + LENGTH) == 2,
        word(id(pair) + ITEMS) == id(array),
        word(id(pair) + ITEMS + 8) == id(pair[1]),
        ctypes.c_double.from_address(id(pair[1]) + FLOAT).value == 1.5,
        ctypes.c_double.from_address(id(number) + SCALAR).value == 2.5,
        half(id(large) + DIGITS) == (2**40 + 7) % 2**30,
        half(id(large) + DIGITS + 4) == 2**10,
        word(id(large) + TAG) == (2 << 3 | 2 if TAGGED else -2),
        word(id(less) + TAG) == (1 << 3 | 2 if TAGGED else -1),
        half(id(less) + DIGITS) == 5,
        half(id(True) + DIGITS) == 1,
    ]
    return all(facts)

"""Arrays of small numbers, read eight bytes at a time.

A thread that takes eight neighbouring rows, or runs over a segment of its own, would read one or two bytes at
a time, and each request of a warp would go to 32 places. Reading words of eight bytes makes an eighth or a
quarter as many requests, and the bytes of a word are used while it is in a register. Unlike a copy in shared
memory it needs no barrier.
"""

import numpy as np

from .arrays import device_array

EACH = 8
"""The size of a padded array is a multiple of this, so its bytes fill words, whatever its dtype."""


def padded(size):
    """The least padded size that is at least `size`; never 0, since an array without memory has no words."""
    return max(-(-size // EACH), 1) * EACH


def empty(size, dtype):
    """A device array of `padded(size)` undefined numbers."""
    return device_array(padded(size), dtype)


def copied(values):
    """A copy on the device of a host array, of any shape."""
    host = np.ascontiguousarray(values)
    there = device_array(host.shape, host.dtype)
    if host.size:
        there.copy_to_device(host)
    return there


def to_device(values):
    """A copy on the device of a host array, padded with zeros."""
    whole = np.zeros(padded(values.size), values.dtype)
    whole[: values.size] = values
    return copied(whole)


def words(values):
    """A padded array as words: uint64."""
    return values.view(np.uint64)

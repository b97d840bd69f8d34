"""`cpu` on the device: a binary search for each hit, in place of a walk along the hits."""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.geometry import STREAM
from ..device.jit import device, kernel
from .contract import comparable


@device
def segment_of(first, hit):
    """The segment g with `first[g] <= hit < first[g + 1]`."""
    low = 0
    high = first.shape[0] - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if first[middle] <= hit:
            low = middle
        else:
            high = middle
    return low


@kernel
def lowest_starts_kernel(keys, begin, first, event, size, lowest):
    """`cpu.lowest_starts_body`, one hit for each thread."""
    for hit in range(cuda.grid(1), event.shape[0], cuda.gridsize(1)):
        low = begin[segment_of(first, hit)]
        high = event[hit]
        end = keys[high]
        while low < high:
            middle = (low + high) >> 1
            if end - keys[middle] > size:
                low = middle + 1
            else:
                high = middle
        lowest[hit] = low


def lowest_starts(keys, begin, first, event, size, geometry=STREAM):
    """`cpu.lowest_starts` for device arrays.

    Parameters
    ----------
    keys : device array, shape (events,), uint64 or float64
        Made `comparable`; non-decreasing inside a segment.
    begin : device array, shape (segments,), int64
    first : device array, shape (segments + 1,), int64
    event : device array, shape (hits,), int64
    size : int or float

    Returns
    -------
    device array, shape (hits,), int64
    """
    lowest = device_array(event.shape[0], np.int64)
    if event.shape[0]:
        _, size = comparable(np.empty(0, keys.dtype), size)
        launch = geometry.blocks(event.shape[0]), geometry.threads
        lowest_starts_kernel[launch](keys, begin, first, event, size, lowest)
    return lowest

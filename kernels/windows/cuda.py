"""`cpu` on the device: a search for each hit, in place of a walk along the hits."""

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


@device
def lowest_start(keys, low, high, size):
    """The least event of low .. high whose window reaches event `high`: a few steps where it is near."""
    end = keys[high]
    found = high
    step = 8
    while found > low:
        at = max(found - step, low)
        if end - keys[at] > size:
            low = at + 1
            break
        found = at
        step *= 8
    while low < found:
        middle = (low + found) >> 1
        if end - keys[middle] > size:
            low = middle + 1
        else:
            found = middle
    return found


@kernel
def lowest_starts_kernel(keys, begin, first, event, size, lowest):
    """`cpu.lowest_starts_body`, one hit for each thread."""
    for hit in range(cuda.grid(1), event.shape[0], cuda.gridsize(1)):
        lowest[hit] = lowest_start(keys, begin[segment_of(first, hit)], event[hit], size)


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

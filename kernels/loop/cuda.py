"""What kernels of the device that run the loop share: a thread runs it over one segment."""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.geometry import LANE, STREAM
from ..device.jit import inlined, kernel
from ..device.scan import offsets_of
from ..device.words import copied
from ..windows.contract import MeasuredWindow, comparable
from .contract import LoopSegments
from .follow import WORDS


@inlined
def segment_of(segments, g):
    """One of the segments: `LoopSegments`."""
    return LoopSegments(segments.begin[g : g + 1], segments.report[g : g + 1], segments.stop[g : g + 1])


def progress_for(segments, more=0):
    """The progress of the loop over each segment, which is at its beginning: device array, int64.

    `more`: further zeros for each segment.
    """
    return copied(np.zeros((segments, WORDS + more), np.int64))


def no_window(dtype=np.int64):
    """The window of kernels without one, with keys of some dtype: `MeasuredWindow` of a device array."""
    keys, size = comparable(np.empty(0, dtype), 0)
    return MeasuredWindow(copied(keys), size)


@kernel
def move_hits_kernel(event, start, out_first, offsets, out_event, out_start):
    """Move the hits of each unit from `out_first` to `offsets`, both int64 [units + 1]."""
    for unit in range(cuda.grid(1), out_first.shape[0] - 1, cuda.gridsize(1)):
        shift = out_first[unit] - offsets[unit]
        for at in range(offsets[unit], offsets[unit + 1]):
            out_event[at] = event[at + shift]
            out_start[at] = start[at + shift]


def moved(wide, before, number, geometry=LANE, stream=STREAM):
    """Move what the units have found together.

    Parameters
    ----------
    wide : list of two device arrays, shape (events,), int64
    before : device array, shape (units + 1,), int64
        Where each unit has written its part.
    number : device array, shape (units,), int64
        How much each has written.

    Returns
    -------
    offsets : device array, shape (units + 1,), int64
    event, other : device array, shape (found,), int64
    """
    units = number.shape[0]
    offsets = offsets_of(number, stream)
    out = [device_array(int(offsets[units]), np.int64) for _ in range(2)]
    move_hits_kernel[geometry.blocks(units), geometry.threads](*wide, before, offsets, *out)
    return offsets, *out

"""What kernels of the device that run the loop share: a thread runs it over one segment."""

import numpy as np

from ..device.jit import inlined
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

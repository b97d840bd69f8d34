"""What kernels of the device that run the loop share: a thread runs it over one segment."""

from ..device.jit import inlined
from .contract import LoopSegments


@inlined
def segment_of(segments, g):
    """One of the segments: `LoopSegments`."""
    return LoopSegments(segments.begin[g : g + 1], segments.report[g : g + 1], segments.stop[g : g + 1])

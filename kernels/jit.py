"""How kernels are compiled for the CPU: `jit` for a kernel, `inline` for a helper
put where it is called, `composed` for a loop closed over such helpers."""

import numpy as np

from cer_gpu.compiling.instruction import prefetch
from cer_gpu.compiling.kernel import composed, inline, jit
from cer_gpu.compiling.loader import words

__all__ = ["AHEAD", "OFTEN", "SELDOM", "ahead", "composed", "go_on", "inline", "jit", "prefetch"]

AHEAD = 32
"""By how many events a kernel prefetches what it needs in memory: about as many are done while it comes."""

go_on = words.check
"""Python code that does the work of a kernel calls this from time to time: it raises once the run is over."""

SELDOM, OFTEN = 1 << 14, 64
"""Events between two looks at `halt`: `SELDOM` where an event costs little, `OFTEN` where it costs much. With
`SELDOM` the loop is cut into strips, or looks at every event whose number is a multiple of it.

`halt` is uint8 [1], in: not 0 once the run is over (Ctrl-C, an error in another thread). A kernel whose time
has no bound then ends; what it has written is not read. Callers do not pass `halt`: it is the last parameter,
and is added to every call. On a device, where nothing is interrupted, it is empty.
"""


@inline
def ahead(event, count):
    """The event that is `AHEAD` after another of `count` events, or the last one."""
    return np.uint64(min(np.int64(event) + AHEAD, count - 1))

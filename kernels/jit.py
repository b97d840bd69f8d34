"""How kernels are compiled for the CPU: `jit` for a kernel, `inline` for a helper put where it is called."""

from cer_gpu.compiling.kernel import inline, jit
from cer_gpu.compiling.loaded import words

__all__ = ["OFTEN", "SELDOM", "go_on", "inline", "jit"]

go_on = words.check
"""What Python calls from time to time where it does the work of a kernel: it raises once the run is over."""

SELDOM, OFTEN = 1 << 14, 64
"""Events between two looks at `halt`, by what an event costs. Where it costs little, a loop over strips of so
many stands around the one over events: a test for each event would be felt.

`halt` is uint8 [1], in: not 0 once the run is over (Ctrl-C, an error in another thread). A kernel whose time
has no bound ends then, whatever it has written: nobody reads it. As the last parameter of a kernel it comes
by itself. On a device, where nothing is interrupted, it is empty.
"""

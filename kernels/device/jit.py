"""How kernels are compiled for the device: at their first launch, kept on disk.

No signatures stand here: a decorator with signatures asks the driver for its device when the module is
imported. Those that are compiled ahead of time are in `registry`.
"""

from numba import cuda

kernel = cuda.jit(cache=True)
"""For what is launched."""

device = cuda.jit(device=True)
"""For what kernels call; the plain bodies of `cer_gpu.kernels` among it."""

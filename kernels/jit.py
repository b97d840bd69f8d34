"""How kernels are compiled for the CPU: `jit` for a kernel, `inline` for a helper put where it is called."""

from cer_gpu.compiling.kernel import inline, jit

__all__ = ["inline", "jit"]

"""From the plain Python body of a kernel to machine code on disk, and back without Numba.

Numba translates a body for given kinds of arguments to LLVM's code, once; LLVM makes an object of it, of some
kilobytes, which is kept on disk. A later process loads the object through `llvmlite` and calls it through
`ctypes`: Numba, whose import alone takes longer than most counts, is not even imported.
"""

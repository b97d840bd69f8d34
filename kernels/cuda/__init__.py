"""The kernels of the CUDA device: the contracts of `cer_gpu.kernels`, with arrays that lie on the device.

Nothing here is imported before a device is chosen; `cer_gpu.kernels.cuda.usable` says whether one can be.

Contract of every array that a kernel reads in words of eight bytes (the index of a stage, the symbols): its
size is a multiple of eight, and what stands behind its last row or event is not looked at. The functions
here that make such arrays see to it (`cer_gpu.kernels.cuda.words`).

Kernels do not raise. They run right for every launch geometry: loops go in steps of the grid, or of the
blocks of it where the threads of a block meet at a barrier.
"""

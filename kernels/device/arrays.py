"""Arrays in the memory of the device, from CuPy's pool where CuPy is installed.

Allocating device memory takes as long as a kernel over it, and freeing it waits for all kernels; locking
pages of the host takes longer still. CuPy keeps what was freed and hands it out again. That is safe here: all
kernels are launched on the default stream, so whoever still reads an array is done before the next user
writes to its memory. Before the memory of a copy on another stream is given back, the copy is waited for
(`cer_gpu.engine.cuda.staging`).
"""

from functools import cache

import numpy as np
from numba import config, cuda
from numba.cuda.cudadrv import driver

from .availability import simulated


@cache
def pooled():
    """The package `cupy`; None where it is not installed, and in the simulator."""
    if config.ENABLE_CUDASIM:
        return None
    try:
        import cupy
    except ImportError:
        return None
    return cupy


def device_array(shape, dtype):
    """An array of undefined numbers on the current device.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype

    Raises
    ------
    Exception
        Where there is no memory left; see `usable.out_of_memory`.
    """
    cupy = pooled()
    if cupy is None or not np.prod(shape):
        return cuda.device_array(shape, dtype)
    with cupy.cuda.Stream.null:  # where all kernels are launched, whatever stream the caller is on
        made = cupy.empty(shape, dtype)
    # Without the stream in it that CuPy would name: copies would no longer be waited for.
    described = {
        "shape": made.shape,
        "typestr": made.dtype.str,
        "data": (made.data.ptr, False),
        "version": 2,
    }
    return cuda.from_cuda_array_interface(described, owner=made, sync=False)


def zeros(size, dtype=np.int64):
    """An array of zeros on the current device, [size]: the driver writes them, without a kernel."""
    made = device_array(size, dtype)
    if simulated():
        made[:] = 0
    elif size:
        driver.device_memset(made, 0, made.nbytes)
    return made


def locked_bytes(size):
    """Undefined bytes in page-locked memory of the host: ndarray, shape (size,), uint8.

    Raises
    ------
    Exception
        As `device_array`.
    """
    cupy = pooled()
    if cupy is None:
        return cuda.pinned_array(size, np.uint8)
    return np.frombuffer(cupy.cuda.alloc_pinned_memory(size), np.uint8, size)


def unused_bytes():
    """How many bytes the pool holds that no array of the current device uses."""
    cupy = pooled()
    return 0 if cupy is None else cupy.get_default_memory_pool().free_bytes()

"""Prefix sums: of the threads of a block, and of an array.

CuPy scans the array where it is installed. Without it, and in the simulator, units are scanned in shared
memory, then the sums of the units are scanned and added.
"""

import numpy as np
from numba import cuda, int64

from .arrays import device_array, pooled
from .geometry import STREAM
from .jit import device, kernel


@device
def block_scan(value, sums):
    """Put the sum of the values of this and all earlier threads of the block into `sums[thread]`.

    `sums` int64 [threads], shared: out. All threads of the block call it. It ends with a barrier: `sums` can
    be read at once, and where each thread reads its own entry only, it can be called again without another.
    """
    thread = cuda.threadIdx.x
    sums[thread] = value
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        before = sums[thread - step] if thread >= step else 0
        cuda.syncthreads()
        sums[thread] += before
        cuda.syncthreads()
        step *= 2


@kernel
def scan_units_kernel(values, offsets, totals):
    """Exclusive prefix sums inside units; a unit has as many values as a block has threads.

    ==========  ==================  ===================================================
    `values`    int64 [n]           in
    `offsets`   int64 [n or n + 1]  out: sums inside the unit
    `totals`    int64 [units]       out: the sum of each unit of `offsets`
    ==========  ==================  ===================================================
    """
    sums = cuda.shared.array(0, int64)
    thread = cuda.threadIdx.x
    for unit in range(cuda.blockIdx.x, totals.shape[0], cuda.gridDim.x):
        i = unit * cuda.blockDim.x + thread
        value = values[i] if i < values.shape[0] else 0
        block_scan(value, sums)
        if i < offsets.shape[0]:
            offsets[i] = sums[thread] - value
        if thread == cuda.blockDim.x - 1:
            totals[unit] = sums[thread]


@kernel
def add_totals_kernel(offsets, totals, size):
    """`offsets[i] += totals[i // size]`, where `totals` are exclusive prefix sums of the units' sums."""
    for i in range(cuda.grid(1), offsets.shape[0], cuda.gridsize(1)):
        offsets[i] += totals[i // size]


def offsets_of(numbers, geometry=STREAM):
    """Where each of several lists begins when they are stored one after another.

    Parameters
    ----------
    numbers : device array, shape (n,), int64
        Their lengths.

    Returns
    -------
    device array, shape (n + 1,), int64
        The last number is the length of all lists together.
    """
    cupy = pooled()
    if cupy is None:
        return own_offsets_of(numbers, geometry)
    offsets = device_array(numbers.shape[0] + 1, np.int64)
    with cupy.cuda.Stream.null:  # where all kernels are launched, whatever stream the caller is on
        whole = cupy.asarray(offsets)
        whole[0] = 0
        cupy.cumsum(cupy.asarray(numbers), out=whole[1:])
    return offsets


def own_offsets_of(numbers, geometry=STREAM):
    """`offsets_of` without CuPy."""
    offsets = device_array(numbers.shape[0] + 1, np.int64)
    _scan(numbers, offsets, geometry)
    return offsets


def _scan(values, offsets, geometry):
    n, threads = offsets.shape[0], geometry.threads
    units = -(-n // threads)
    totals = device_array(units, np.int64)
    blocks = min(units, geometry.most)
    scan_units_kernel[blocks, threads, 0, 8 * threads](values, offsets, totals)
    if units > 1:
        before = device_array(units, np.int64)
        _scan(totals, before, geometry)
        add_totals_kernel[geometry.blocks(n), threads](offsets, before, threads)

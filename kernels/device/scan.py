"""Prefix sums: of the threads of a block, of the tiles of a launch, and of an array.

A kernel that sums over its tiles while it runs needs no launch before it: each tile publishes its sum, and
looks back at those of the tiles before (decoupled look-back).

CuPy scans the array where it is installed. Without it, and in the simulator, units are scanned in shared
memory, then the sums of the units are scanned and added.
"""

from math import isqrt

import numpy as np
from numba import cuda, int64

from .arrays import device_array, pooled, zeros
from .geometry import STREAM
from .jit import device, kernel
from .memory import newest


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


EMPTY, OWN, WHOLE = 0, 1 << 61, 1 << 62
"""What the word of a tile says: nothing yet; the sum of the tile; the sum of all tiles up to this one.

The sum and what it is are one word of 64 bits, written by one atomic instruction and read by one load: no
thread can see one without the other. So no fence is needed between them, and nothing else that a tile writes
is read by other tiles of the launch.
"""

SUM = OWN - 1
"""The bits of a word that hold the sum."""

NEAREST, BEFORE, TILE = 0, 1, 2
"""Places in the shared `noted` of `next_tile` and `look_back`."""

NOTED = 3
"""The size of `noted`."""


def new_tiles(tiles):
    """The words of tiles before a launch: int64 [1 + tiles] zeros, of which the first counts tiles.

    The word of tile t is at t + 1. After the launch the last word has the sum of all tiles (`total_of`).
    """
    return zeros(1 + tiles)


def total_of(words):
    """The sum of all tiles after a launch: copied to the host, which waits for it."""
    return int(words[words.shape[0] - 1]) & SUM


@device
def next_tile(words, noted):
    """The number of the tile that this block does next; at least the number of tiles if all are taken.

    Tiles are numbered in the order in which blocks begin them, whatever the numbers of the blocks: those
    that a block waits for in `look_back` have been begun by blocks that run, and end. All threads of the
    block call it, and none of them may still read what the block did for the tile before.
    """
    if cuda.threadIdx.x == 0:
        noted[TILE] = cuda.atomic.add(words, 0, 1)
    cuda.syncthreads()
    return noted[TILE]


@device
def publish(words, tile, kind, value):
    """Let other blocks see the sum of a tile (`OWN`), or of all tiles up to it (`WHOLE`)."""
    cuda.atomic.exch(words, tile + 1, kind | value)


@device
def look_back(words, tile, noted):
    """The sum of all tiles before this one, whose own sum was published; all threads of the block call it.

    First one thread looks at the tile before, which is done where few blocks run. Then all threads look at
    one tile each, so that a step reaches over most tiles that blocks are at. A thread waits until the sum of
    its tile is known. Behind the nearest tile with the sum of all before it nothing is added.
    """
    thread = cuda.threadIdx.x
    reach = int64(1)
    before = int64(0)
    last = tile
    while last > 0:
        if thread == 0:
            noted[NEAREST] = reach
            noted[BEFORE] = 0
        cuda.syncthreads()
        word = int64(EMPTY)
        if thread < reach and thread < last:
            word = newest(words, last - thread)
            while word == EMPTY:
                word = newest(words, last - thread)
            if word & WHOLE:
                cuda.atomic.min(noted, NEAREST, int64(thread))
        cuda.syncthreads()
        nearest = noted[NEAREST]
        if thread <= nearest:
            cuda.atomic.add(noted, BEFORE, word & SUM)
        cuda.syncthreads()
        before += noted[BEFORE]
        last = int64(0) if nearest < reach else last - reach
        reach = int64(cuda.blockDim.x)
        cuda.syncthreads()  # `noted` is written again
    return before


@device
def place_of(value, words, tile, sums, noted):
    """The sum of the values of all earlier threads of this tile and of all threads of the tiles before.

    `sums` as in `block_scan`, others as in `look_back`; all threads of the block call it. It ends with a
    barrier.
    """
    thread = cuda.threadIdx.x
    block_scan(value, sums)
    whole = sums[cuda.blockDim.x - 1]
    before = sums[thread] - value
    if thread == 0:
        publish(words, tile, WHOLE if tile == 0 else OWN, whole)
    earlier = look_back(words, tile, noted)
    if thread == 0 and tile > 0:
        publish(words, tile, WHOLE, earlier + whole)
    cuda.syncthreads()
    return before + earlier


def neighbours(tiles, groups):
    """How many neighbouring tiles one of so many groups of threads composes, where one block scans all tiles.

    First the groups compose beside one another, then what they made is applied group by group: with the
    square root of the tiles both take as many steps.
    """
    return max(isqrt(tiles), -(-tiles // groups))


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

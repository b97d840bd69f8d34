"""`cpu` on the device: from columns to symbols, and compaction.

One row for each thread. The tables (bounds, shares, classes) are read from global memory: the first-level
cache holds what a query's axes need, while every block would have to copy them to shared memory again.

Compaction is three steps: **mark** looks the symbols up and leaves one bit for each row and one sum for each
unit, the sums are scanned, **scatter** writes what is kept. The second reading is of bits, and of the kept
rows only, so that a stream whose events are mostly neutral is read once.
"""

import numpy as np
from numba import cuda, int64

from ..device.arrays import device_array
from ..device.geometry import STREAM
from ..device.jit import device, kernel
from ..device.scan import block_scan, offsets_of
from ..device.words import empty, words
from .cpu import elementary_range_body

GROUP = 8
"""Rows of a thread: the bits of one byte mark them."""

elementary_range = device(elementary_range_body)


@kernel
def add_cuts_kernel(index, values, valid, bounds, shares):
    """`contract.add_cuts_reference`, by binary search for any number of bounds.

    No bound is <= a NaN, so its range is 0.
    """
    masked = valid.shape[0] > 0
    for i in range(cuda.grid(1), values.shape[0], cuda.gridsize(1)):
        count = 0
        if not masked or valid[i] != 0:
            count = elementary_range(values[i], bounds)
        index[i] += shares[count]


@kernel
def add_codes_kernel(index, codes, valid, shares, absent):
    """`cpu.add_codes_body`."""
    masked = valid.shape[0] > 0
    for i in range(cuda.grid(1), codes.shape[0], cuda.gridsize(1)):
        index[i] += shares[codes[i]] if not masked or valid[i] != 0 else absent


@kernel
def fill_kernel(index, value):
    """`index[i] = value`."""
    for i in range(cuda.grid(1), index.shape[0], cuda.gridsize(1)):
        index[i] = value


@kernel
def restate_kernel(index, rows, table, stride, following):
    """The index of the next stage as it begins: `following[i] = stride * table[index[i]]`."""
    for i in range(cuda.grid(1), rows, cuda.gridsize(1)):
        following[i] = stride * table[index[i]]


@kernel
def mark_kernel(index_words, width, rows, table, bits, found):
    """One bit for each row whose symbol is not 0, and how many there are in each unit.

    =============  ==========================  =======================================================
    `index_words`  uint64 [padded]             in: the index, numbers of `width` bytes
    `rows`         int64                       in
    `table`        uint8 or uint16 [cells]     in: the symbols
    `bits`         uint8 [groups of 8 rows]    out: the lowest bit is the first row of the group
    `found`        int64 [units]               out: of as many groups as a block has threads
    =============  ==========================  =======================================================
    """
    sums = cuda.shared.array(0, int64)
    thread = cuda.threadIdx.x
    last = cuda.blockDim.x - 1
    for unit in range(cuda.blockIdx.x, found.shape[0], cuda.gridDim.x):
        group = unit * cuda.blockDim.x + thread
        mark = 0
        if group < bits.shape[0]:
            mark = mark_of(index_words, width, rows, table, group)
            bits[group] = mark
        block_scan(np.int64(cuda.popc(mark)), sums)
        if thread == last:
            found[unit] = sums[last]


@device
def mark_of(index_words, width, rows, table, group):
    """The bits of a group of eight rows: it is `width` words."""
    mark = 0
    row = group * GROUP
    each = GROUP // width
    bits = np.uint64(8 * width)
    all_bits = (np.uint64(1) << bits) - np.uint64(1)
    for k in range(width):
        word = index_words[group * width + k]
        for _ in range(each):
            if row < rows and table[word & all_bits] != 0:
                mark |= 1 << (row & (GROUP - 1))
            word >>= bits
            row += 1
    return mark


@kernel
def scatter_kernel(index, table, base, bits, offsets, out_position, out_symbol):
    """The positions and symbols of the marked rows, in their order.

    `offsets` int64 [units + 1] in: where those of each unit of `mark_kernel` begin, of the same block size.
    The rest as in `cpu.compact_body`.
    """
    sums = cuda.shared.array(0, int64)
    thread = cuda.threadIdx.x
    for unit in range(cuda.blockIdx.x, offsets.shape[0] - 1, cuda.gridDim.x):
        group = unit * cuda.blockDim.x + thread
        mark = np.int64(bits[group]) if group < bits.shape[0] else 0
        number = np.int64(cuda.popc(mark))
        block_scan(number, sums)
        at = offsets[unit] + sums[thread] - number
        for place in range(GROUP):
            if (mark >> place) & 1:
                row = group * GROUP + place
                out_position[at] = base + row
                out_symbol[at] = table[index[row]]
                at += 1


@kernel
def gather_kernel(values, rows, base, out):
    """`out[i] = values[rows[i] - base]`: `rows` int64 [m] in, `out` of a wider dtype [m] out."""
    for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        out[i] = values[rows[i] - base]


def gather(values, rows, base, dtype, geometry=STREAM):
    """`out[i] = values[rows[i] - base]` in a new device array of `dtype`: int64 or float64."""
    out = device_array(rows.shape[0], dtype)
    if rows.shape[0]:
        launch = geometry.blocks(rows.shape[0]), geometry.threads
        gather_kernel[launch](values, rows, base, out)
    return out


def add_cuts(index, values, valid, bounds, shares, geometry=STREAM):
    """`cpu.add_cuts` for device arrays; `index` may be padded."""
    launch = geometry.blocks(values.shape[0]), geometry.threads
    add_cuts_kernel[launch](index, values, valid, bounds, shares)


def add_codes(index, codes, valid, shares, absent, geometry=STREAM):
    """`cpu.add_codes` for device arrays; `index` may be padded."""
    launch = geometry.blocks(codes.shape[0]), geometry.threads
    add_codes_kernel[launch](index, codes, valid, shares, absent)


def restate(index, rows, table, stride, following, geometry=STREAM):
    """`following[i] = stride * table[index[i]]`: from the index of a stage to that of the next.

    Parameters
    ----------
    index, following : device array, shape (padded rows,), uint16 or uint32
        The padding behind the rows is neither read nor written.
    rows : int
    table : device array, 1-D, int32
    stride : int
    """
    restate_kernel[geometry.blocks(rows), geometry.threads](index, rows, table, stride, following)


def compact(index, rows, table, base, geometry=STREAM):
    """The rows whose symbol is not neutral: `cpu.compact` on the device.

    Parameters
    ----------
    index : device array, shape (padded rows,), uint16 or uint32
    rows : int
    table : device array, shape (cells,), uint8 or uint16
        The symbol for each index. The padding of `index` behind the rows is not read.
    base : int
        The position of the first row.

    Returns
    -------
    positions : device array, shape (kept,), int64
    symbols : device array, shape (kept, padded), dtype of table
    kept : int
    """
    threads = geometry.threads
    groups = -(-rows // GROUP)
    units = max(-(-groups // threads), 1)
    bits = device_array(groups, np.uint8)
    found = device_array(units, np.int64)
    launch = min(units, geometry.most), threads, 0, 8 * threads
    mark_kernel[launch](words(index), index.dtype.itemsize, rows, table, bits, found)
    offsets = offsets_of(found, geometry)
    kept = int(offsets[units])
    positions = device_array(kept, np.int64)
    symbols = empty(kept, table.dtype)
    if kept:
        scatter_kernel[launch](index, table, base, bits, offsets, positions, symbols)
    return positions, symbols, kept


def new_index(rows, dtype, geometry=STREAM):
    """The index of a stage, all zeros and padded: uint16 or uint32."""
    index = empty(rows, dtype)
    fill_kernel[geometry.blocks(index.shape[0]), geometry.threads](index, 0)
    return index

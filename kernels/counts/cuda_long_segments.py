"""Counts of long segments without a window: their events are cut into units that run side by side.

A unit multiplies the numbers of runs in the states by a matrix, and matrices are multiplied by a scan over
the units, as the maps of `cer_gpu.kernels.hits.cuda_long_segments` are composed. State 0 always has one run,
so its column can hold a constant: the first unit of a segment maps everything to what it makes of the
segment's own numbers. A column of a matrix is what the unit makes of one vector, and a column of a product
needs only the same column of its right factor, so each thread has one column and no thread waits for another.

A unit is run once for each state, and again with its true numbers: that is n + 1 times the work of one thread
that runs the whole segment, done by n times as many threads as there are units. With few states the device
has enough threads for this; with more than `MOST_STATES` it is not worth it.

Sums and products stop at 2^62, so an entry below 2^62 is exact. An entry of 2^62 makes a number too large for
the device only where it is multiplied by a number that is not 0.
"""

import numpy as np
from numba import cuda

from ..device.arrays import device_array, zeros
from ..device.geometry import LANE, SCRATCH
from ..device.jit import device, kernel
from ..hits.cuda_long_segments import GROUP, end_segments_kernel
from ..runs.contract import INTO, LEFT, RIGHT
from .cuda import forward_counts

MOST = 1 << 62
"""Sums and products stop here."""

MOST_STATES = 32
"""The most states: with more, the units are run so often that the few threads of a CPU are as fast."""


@device
def sum_of(one, other):
    """The sum of two numbers of at most 2^62, or 2^62 if it is greater."""
    total = one + other
    return total if 0 <= total < MOST else MOST


@device
def product_of(one, other):
    """The product of two numbers of at most 2^62, or 2^62 if it is greater."""
    large = (one | other) >> 31 != 0 and other > 0 and one > MOST // other
    return MOST if large else min(one * other, MOST)


@kernel
def matrices_kernel(forward, symbols, begin, stop, segment, vectors, register, matrix):
    """The matrix of every unit, one column for each thread.

    ===========  ===========================  ============================================================
    `forward`    Program                      in: `forward_program`, as a tuple
    `symbols`    uint8 or uint16 [padded]     in
    `begin`      int64 [units]                in
    `stop`       int64 [units]                in
    `segment`    int64 [units]                in: the segment of each unit, ascending
    `vectors`    int64 [segments, n]          in: runs in each state before the segment
    `register`   int64 [registers, threads]   scratch
    `matrix`     int64 [units, n, n]          out: what a run in state c becomes, at [t, q, c]
    ===========  ===========================  ============================================================
    """
    first, moves, n_registers = forward.first, forward.moves, forward.n_registers
    thread = cuda.grid(1)
    n = vectors.shape[1]
    for at in range(thread, begin.shape[0] * n, cuda.gridsize(1)):
        unit, column = at // n, at % n
        fresh = unit == 0 or segment[unit - 1] != segment[unit]
        for q in range(n_registers):
            value = np.int64(0)
            if q < n and (q == column if not fresh or q == 0 else column == 0):
                value = vectors[segment[unit], q] if fresh and q > 0 else np.int64(1)
            register[q, thread] = value
        for i in range(begin[unit], stop[unit]):
            symbol = symbols[i]
            for k in range(first[symbol], first[symbol + 1]):
                one, other = register[moves[k, LEFT], thread], register[moves[k, RIGHT], thread]
                register[moves[k, INTO], thread] = sum_of(one, other)
        for q in range(n):
            matrix[unit, q, column] = register[q, thread]


@kernel
def multiply_kernel(matrix, product, size):
    """Write for each matrix the product of its group of `size` up to it, the first one on the right."""
    units, n, _ = matrix.shape
    for at in range(cuda.grid(1), -(-units // size) * n, cuda.gridsize(1)):
        group, column = at // n, at % n
        for q in range(n):
            product[group * size, q, column] = matrix[group * size, q, column]
        for unit in range(group * size + 1, min((group + 1) * size, units)):
            for q in range(n):
                total = np.int64(0)
                for p in range(n):
                    total = sum_of(total, product_of(matrix[unit, q, p], product[unit - 1, p, column]))
                product[unit, q, column] = total


@kernel
def last_products_kernel(product, size, last):
    """Copy the last product of each group of `size`."""
    units, n, _ = product.shape
    for at in range(cuda.grid(1), last.shape[0] * n * n, cuda.gridsize(1)):
        group, q, column = at // (n * n), at // n % n, at % n
        last[group, q, column] = product[min((group + 1) * size, units) - 1, q, column]


@device
def number_after(product, size, before, unit, q):
    """The number of runs in state q after a unit; the arrays as in `vectors_kernel`."""
    group = unit // size
    if group == 0:
        return product[unit, q, 0]
    total = np.int64(0)
    for p in range(product.shape[1]):
        total = sum_of(total, product_of(product[unit, q, p], before[group - 1, p]))
    return total


@kernel
def vectors_kernel(product, size, before, after):
    """Write the numbers after each unit: its product applied to `before` [groups, n] of the group before.

    In the first group, where nothing comes before, that is the column of state 0.
    """
    units, n = after.shape
    for at in range(cuda.grid(1), units * n, cuda.gridsize(1)):
        unit, q = at // n, at % n
        after[unit, q] = number_after(product, size, before, unit, q)


@kernel
def begin_vectors_kernel(segment, vectors, product, size, before_group, before, status):
    """Write the numbers that each unit begins with: its segment's, or those after the unit before it.

    ==============  ====================  =============================================================
    `segment`       int64 [units]         in: the segment of each unit, ascending
    `vectors`       int64 [segments, n]   in
    `product`       int64 [units, n, n]   in: as `multiply_kernel` makes it, with `size`
    `before_group`  int64 [groups, n]     in: the numbers after each group of units but the last
    `before`        int64 [units, n]      out
    `status`        uint8 [units]         out: 1 where a number has reached 2^62; 0 before
    ==============  ====================  =============================================================
    """
    units, n = before.shape
    for at in range(cuda.grid(1), units * n, cuda.gridsize(1)):
        unit, q = at // n, at % n
        if unit == 0 or segment[unit - 1] != segment[unit]:
            number = vectors[segment[unit], q]
        else:
            number = number_after(product, size, before_group, unit - 1, q)
        before[unit, q] = number
        if number >= MOST:
            status[unit] = 1


@kernel
def join_status_kernel(segment, unit_status, status):
    """A segment's status becomes 1 where that of one of its units is."""
    for unit in range(cuda.grid(1), segment.shape[0], cuda.gridsize(1)):
        if unit_status[unit] != 0:
            status[segment[unit]] = 1


def most_units(n_live):
    """The most units that are launched together: their matrices and products share the scratch memory."""
    return max(1, SCRATCH // (2 * 8 * n_live * n_live))


def scan_matrices(matrix, size, geometry=LANE):
    """The numbers of runs after every unit.

    Parameters
    ----------
    matrix : device array, shape (units, n, n), int64
        The first one has zeros but in the column of state 0, as `matrices_kernel` makes it.
    size : int
        Matrices of a group.
    geometry : Geometry

    Returns
    -------
    device array, shape (units, n), int64
        2^62 for a number that is not smaller.
    """
    units, n, _ = matrix.shape
    after = device_array((units, n), np.int64)
    scanned = multiplied(matrix, size, geometry)
    vectors_kernel[geometry.blocks(units * n), geometry.threads](*scanned, after)
    return after


def multiplied(matrix, size, geometry):
    """The products inside groups of units, the size of a group, and the numbers after each group.

    Where there is one group, nothing comes before it, and its numbers are undefined.
    """
    units, n, _ = matrix.shape
    groups, threads = -(-units // size), geometry.threads
    product = device_array((units, n, n), np.int64)
    multiply_kernel[geometry.blocks(groups * n), threads](matrix, product, size)
    if groups == 1:
        return product, size, device_array((1, n), np.int64)
    last = device_array((groups, n, n), np.int64)
    last_products_kernel[geometry.blocks(groups * n * n), threads](product, size, last)
    return product, size, scan_matrices(last, size, geometry)


def long_forward_counts(
    machine, symbols, begin, stop, segment, first, hits, vectors, status, geometry=LANE, totals=None
):
    """Counts without a window, of segments that are cut into units: `forward_counts` over long ones.

    Parameters
    ----------
    machine : DeviceTables
        Of at most `MOST_STATES` states.
    symbols : device array, shape (padded events,), uint8 or uint16
    begin, stop, segment : device array, shape (units,), int64
        As in `cer_gpu.kernels.hits.cuda_long_segments.long_hits`; at most `most_units` units.
    first : device array, shape (units + 1,), int64
        The hits of each unit.
    hits : int
        How many hits there are.
    vectors, status : device array
        As in `cuda.forward_counts`, for the segments; numbers less than 2^62.
    geometry : Geometry
    totals : device array, shape (units, 2), int64, optional
        As in `cuda.forward_counts`, for the units.

    Returns
    -------
    device array, shape (hits,), int64
    """
    units, n = begin.shape[0], vectors.shape[1]
    if not units:
        return device_array(hits, np.int64)
    threads = geometry.threads
    blocks = geometry.blocks(units * n)
    register = device_array((machine.forward[-1], blocks * threads), np.int64)
    matrix = device_array((units, n, n), np.int64)
    matrices_kernel[blocks, threads](
        machine.forward, symbols, begin, stop, segment, vectors, register, matrix
    )
    before = device_array((units, n), np.int64)
    unit_status = zeros(units, np.uint8)
    begin_vectors_kernel[blocks, threads](
        segment, vectors, *multiplied(matrix, GROUP, geometry), before, unit_status
    )
    out = forward_counts(machine, symbols, begin, stop, first, hits, before, unit_status, geometry, totals)
    join_status_kernel[geometry.blocks(units), threads](segment, unit_status, status)
    end_segments_kernel[blocks, threads](segment, before, status, vectors)
    return out

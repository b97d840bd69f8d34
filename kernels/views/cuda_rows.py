"""`cpu_levels` on the device: rows are sorted, and merged by the places that they have in both arrays."""

import numpy as np
from numba import cuda

from ..device.arrays import device_array, pooled
from ..device.geometry import STREAM
from ..device.jit import kernel
from ..device.scan import offsets_of
from ..device.words import copied
from .contract import BLOCK, SHIFT, CountedRows, sums_of
from .cpu_search import FROM
from .cuda import alike, around


@kernel
def view_taken_kernel(keys, counts, order, made_keys, made_counts):
    """Write rows in the order `order` int64 [n]."""
    for i in range(cuda.grid(1), order.shape[0], cuda.gridsize(1)):
        row = order[i]
        for column in range(keys.shape[1]):
            made_keys[i, column] = keys[row, column]
        made_counts[i] = counts[row]


@kernel
def view_heads_kernel(keys, heads):
    """Write whether each row differs from the one before it: `heads` int64 [n]."""
    for i in range(cuda.grid(1), heads.shape[0], cuda.gridsize(1)):
        heads[i] = 1 if i == 0 or not alike(keys, i, keys, i - 1, keys.shape[1]) else 0


@kernel
def view_collapsed_kernel(keys, counts, offsets, made_keys, made_counts):
    """`contract.collapse_reference`. `offsets` int64 [n + 1]: of the heads; `made_counts` in: 0."""
    for i in range(cuda.grid(1), counts.shape[0], cuda.gridsize(1)):
        at = offsets[i + 1] - 1
        if at == offsets[i]:
            for column in range(keys.shape[1]):
                made_keys[at, column] = keys[i, column]
        cuda.atomic.add(made_counts, at, counts[i])


@kernel
def view_kept_kernel(counts, kept):
    """Write whether each row has a multiplicity other than 0: `kept` int64 [n]."""
    for i in range(cuda.grid(1), kept.shape[0], cuda.gridsize(1)):
        kept[i] = 1 if counts[i] != 0 else 0


@kernel
def view_merged_kernel(one, own, other, theirs, keys, counts):
    """Write the rows of `one` that are kept to their places among those of `other`.

    `own` and `theirs` int64 [rows + 1]: how many rows of `one` and of `other` before each are kept.
    """
    for i in range(cuda.grid(1), one.counts.shape[0], cuda.gridsize(1)):
        if own[i + 1] > own[i]:
            width = keys.shape[1]
            at = own[i] + theirs[around(other.keys, 0, one.keys, i, width, 0, FROM)]
            for column in range(width):
                keys[at, column] = one.keys[i, column]
            counts[at] = one.counts[i]


@kernel
def view_sums_kernel(values, sums):
    """Write the sums of each `BLOCK` values: `sums` int64 [blocks]."""
    for block in range(cuda.grid(1), sums.shape[0], cuda.gridsize(1)):
        total = 0
        for i in range(block << SHIFT, min(values.shape[0], (block + 1) << SHIFT)):
            total += values[i]
        sums[block] = total


@kernel
def view_put_kernel(rows, keys, amounts, missing, emptied):
    """`contract.put_reference` without the sums; `emptied` int64 [m]: out, what each adds to its result."""
    size, width = rows.keys.shape
    for i in range(cuda.grid(1), amounts.shape[0], cuda.gridsize(1)):
        emptied[i] = 0
        if missing[i] == 0:
            continue
        at = around(rows.keys, 0, keys, i, width, 0, FROM)
        if at < size and alike(rows.keys, at, keys, i, width):
            missing[i] = 0
            before = rows.counts[at]
            after = before + amounts[i]
            rows.counts[at] = after
            emptied[i] = (1 if after == 0 else 0) - (1 if before == 0 else 0)


def sum_up(rows, geometry=STREAM):
    """Fill the sums of `CountedRows` of device arrays, if it keeps any."""
    if rows.sums.shape[0]:
        blocks = (rows.counts.shape[0] + BLOCK - 1) >> SHIFT
        for values, sums in ((rows.counts, rows.sums[:blocks]), (rows.sums[:blocks], rows.sums[blocks:])):
            view_sums_kernel[geometry.blocks(sums.shape[0]), geometry.threads](values, sums)


def rows_there(keys, counts, summed, geometry=STREAM):
    """`CountedRows` of device arrays, with their sums if they are kept."""
    sums = device_array(sums_of(counts.shape[0]) if summed else 0, np.int64)
    made = CountedRows(keys, counts, sums)
    sum_up(made, geometry)
    return made


def order_of(keys):
    """The order of rows: device array int64 [n].

    CuPy sorts where it is installed; without it, and in the simulator, the host does.
    """
    cupy = pooled()
    if cupy is None:
        return copied(np.lexsort(keys.copy_to_host().T[::-1]))
    with cupy.cuda.Stream.null:  # where all kernels are launched, whatever stream the caller is on
        found = cupy.lexsort(cupy.ascontiguousarray(cupy.asarray(keys).T[::-1]))
        made = device_array(keys.shape[0], np.int64)
        cupy.asarray(made)[...] = found
    return made


def collapsed(keys, counts, geometry=STREAM):
    """Make equal rows one, with the sum of their multiplicities, in order; multiplicities 0 stay.

    Parameters
    ----------
    keys : device array, shape (n, width), int64
        `width` is at least 1.
    counts : device array, shape (n,), int64

    Returns
    -------
    keys, counts : device array
    """
    rows, width = keys.shape
    launch = geometry.blocks(rows), geometry.threads
    sorted_keys, sorted_counts = device_array((rows, width), np.int64), device_array(rows, np.int64)
    view_taken_kernel[launch](keys, counts, order_of(keys), sorted_keys, sorted_counts)
    heads = device_array(rows, np.int64)
    view_heads_kernel[launch](sorted_keys, heads)
    offsets = offsets_of(heads, geometry)
    size = int(offsets[rows])
    made_keys, made_counts = device_array((size, width), np.int64), copied(np.zeros(size, np.int64))
    view_collapsed_kernel[launch](sorted_keys, sorted_counts, offsets, made_keys, made_counts)
    return made_keys, made_counts


def merged(one, other, summed, geometry=STREAM):
    """`merge` for device arrays: `CountedRows`, or None where no row is left."""
    parts = []
    for rows in (one, other):
        size = rows.counts.shape[0]
        if not size:
            parts.append(copied(np.zeros(1, np.int64)))
            continue
        kept = device_array(size, np.int64)
        view_kept_kernel[geometry.blocks(size), geometry.threads](rows.counts, kept)
        parts.append(offsets_of(kept, geometry))
    own, theirs = parts
    size = int(own[one.counts.shape[0]]) + int(theirs[other.counts.shape[0]])
    if not size:
        return None
    keys, counts = device_array((size, one.keys.shape[1]), np.int64), device_array(size, np.int64)
    for rows, mine, beside, yours in ((one, own, other, theirs), (other, theirs, one, own)):
        if rows.counts.shape[0]:
            launch = geometry.blocks(rows.counts.shape[0]), geometry.threads
            view_merged_kernel[launch](rows, mine, beside, yours, keys, counts)
    return rows_there(keys, counts, summed, geometry)


def put(rows, keys, amounts, missing, geometry=STREAM):
    """`put` for device arrays, but `missing` uint8 [m] is on the host, in/out; the sums are changed too."""
    units = amounts.shape[0]
    still, emptied = copied(missing), device_array(units, np.int64)
    view_put_kernel[geometry.blocks(units), geometry.threads](rows, keys, amounts, still, emptied)
    sum_up(rows, geometry)
    missing[:] = still.copy_to_host()
    return int(emptied.copy_to_host().sum())

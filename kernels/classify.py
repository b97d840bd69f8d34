"""From columns to symbols: class numbers, their index into a table, and compaction.

Contract of the three `add_*` kernels (one stage of `cer_gpu.plan.symbols`):

==========  =========================  ====================================================
`index`     uint16 or uint32 [n]       in/out: the sum of `stride * class` over the axes
`values`    any number [n]             in: a column
`valid`     uint8 [n] or [0]           in: 0 where the value is null; empty where none is
`bounds`    dtype of values [m]        in: ascending
`shares`    dtype of index [m + 1]     in: what each elementary range adds to the index
==========  =========================  ====================================================

A value's elementary range is the number of bounds that are <= it; a null's and a NaN's is 0.
"""

import numba
import numpy as np


def add_cuts_body(index, values, valid, bounds, shares):
    """Add the share of every value's elementary range to its index."""
    masked = valid.shape[0] > 0
    for i in range(values.shape[0]):
        count = 0
        if not masked or valid[i]:
            for k in range(bounds.shape[0]):
                count += values[i] >= bounds[k]
        index[i] += shares[count]


def add_one_cut_body(index, values, valid, bounds, shares):
    """`add_cuts_body` for one bound, without a loop so that it is vectorised."""
    bound = bounds[0]
    low = shares[0]
    step = index.dtype.type(shares[1] - shares[0])
    if valid.shape[0] > 0:
        for i in range(values.shape[0]):
            index[i] += low + step * ((values[i] >= bound) & (valid[i] != 0))
    else:
        for i in range(values.shape[0]):
            index[i] += low + step * (values[i] >= bound)


def add_many_cuts_body(index, values, valid, bounds, shares):
    """`add_cuts_body` by binary search, for many bounds."""
    masked = valid.shape[0] > 0
    for i in range(values.shape[0]):
        low = 0
        if (not masked or valid[i]) and values[i] == values[i]:
            high = bounds.shape[0]
            while low < high:
                middle = (low + high) >> 1
                if bounds[middle] <= values[i]:
                    low = middle + 1
                else:
                    high = middle
        index[i] += shares[low]


def add_codes_body(index, codes, valid, shares, absent):
    """Add `shares[code]` to every index; `absent` where the code is null.

    `codes` are the integers of a dictionary-encoded column, or booleans as uint8.
    """
    if valid.shape[0] > 0:
        for i in range(codes.shape[0]):
            index[i] += shares[codes[i]] if valid[i] else absent
    else:
        for i in range(codes.shape[0]):
            index[i] += shares[codes[i]]


def lookup_body(index, table, out):
    """`out[i] = table[index[i]]`: the state after a stage."""
    for i in range(index.shape[0]):
        out[i] = table[index[i]]


def compact_body(index, table, base, out_position, out_symbol):
    """Look symbols up and keep the events whose symbol is not 0 (neutral).

    `base` int64 in: the position of the first event; `out_position` (int64 [>= n]) gets the positions of the
    kept events, ascending, `out_symbol` (uint8 or uint16 [>= n]) their symbols; returns how many there are.
    What stands behind them in the two arrays is undefined.
    """
    kept = 0
    for i in range(index.shape[0]):
        symbol = table[index[i]]
        out_position[kept] = base + i
        out_symbol[kept] = symbol
        kept += symbol != 0
    return kept


def first_decrease_body(values, before):
    """The first row whose value is less than the one before it (`before` for row 0), or -1.

    A NaN is not less than anything, and nothing is less than it: the caller looks for NaN itself.
    """
    previous = before
    for i in range(values.shape[0]):
        if values[i] < previous:
            return i
        previous = values[i]
    return -1


_jit = numba.njit(nogil=True, cache=True)
_add_cuts = _jit(add_cuts_body)
_add_one_cut = _jit(add_one_cut_body)
_add_many_cuts = _jit(add_many_cuts_body)
add_codes = _jit(add_codes_body)
lookup = _jit(lookup_body)
compact = _jit(compact_body)
first_decrease = _jit(first_decrease_body)

LINEAR_BOUNDS = 8
"""Up to so many bounds a scan is faster than a binary search."""

NONE_MISSING = np.empty(0, np.uint8)
"""The `valid` of a column without nulls."""


def add_cuts(index, values, valid, bounds, shares):
    """Add the share of every value's elementary range, by the kernel that suits the number of bounds."""
    if bounds.shape[0] == 1:
        _add_one_cut(index, values, valid, bounds, shares)
    elif bounds.shape[0] <= LINEAR_BOUNDS:
        _add_cuts(index, values, valid, bounds, shares)
    else:
        _add_many_cuts(index, values, valid, bounds, shares)

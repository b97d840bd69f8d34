"""From columns to symbols: class numbers, their index into a table, and compaction."""

import numpy as np

from ..jit import jit

STRIP = 2048
"""Rows that are done at a time: their column and index stay in the first-level cache."""

FEW_CUTS = 128
"""Up to so many bounds, one pass for each is faster than a binary search: 3 ns a row and not 20 for 64."""

FEW_CODES = 6
"""Up to this many codes that add anything, comparing is faster than looking up."""


def add_few_cuts_body(index, values, valid, bounds, shares):
    """`add_cuts_reference` one bound after another, each pass over a strip without branches or look-ups.

    The bounds ascend, so passing one more of them adds the difference of two neighbouring shares (modulo
    the width of the index, which the sum comes back from).
    """
    masked = valid.shape[0] > 0
    for low in range(0, values.shape[0], STRIP):
        high = min(low + STRIP, values.shape[0])
        part = index[low:high]
        column = values[low:high]
        part += shares[0]
        for k in range(bounds.shape[0]):
            bound = bounds[k]
            step = shares[k + 1] - shares[k]
            if masked:
                mask = valid[low:high]
                for i in range(column.shape[0]):
                    part[i] += step * ((column[i] >= bound) & (mask[i] != 0))
            else:
                for i in range(column.shape[0]):
                    part[i] += step * (column[i] >= bound)


def elementary_range_body(value, bounds):
    """The number of bounds that are <= a value, by binary search; of a NaN it is 0.

    Each step halves what is left, whatever the value: which half it is, is added and not branched on, since
    no processor foresees it.
    """
    left = bounds.shape[0]
    if left == 0:
        return 0
    low = 0
    while left > 1:
        half = left >> 1
        low += half * (bounds[low + half - 1] <= value)
        left -= half
    return low + (bounds[low] <= value)


_elementary_range = jit(elementary_range_body)


def add_many_cuts_body(index, values, valid, bounds, shares):
    """`add_cuts_reference` by binary search, for many bounds."""
    if valid.shape[0] > 0:
        for i in range(values.shape[0]):
            index[i] += shares[_elementary_range(values[i], bounds) if valid[i] else 0]
    else:
        for i in range(values.shape[0]):
            index[i] += shares[_elementary_range(values[i], bounds)]


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


def add_few_codes_body(index, codes, wanted, shares):
    """`index[i] += shares[k]` where `codes[i] == wanted[k]`, by comparing strips with each wanted code."""
    for low in range(0, codes.shape[0], STRIP):
        high = min(low + STRIP, codes.shape[0])
        part = index[low:high]
        column = codes[low:high]
        for k in range(wanted.shape[0]):
            code = wanted[k]
            share = shares[k]
            for i in range(column.shape[0]):
                part[i] += share * (column[i] == code)


def lookup_body(index, table, out):
    """`out[i] = table[index[i]]`: the state after a stage."""
    for i in range(index.shape[0]):
        out[i] = table[index[i]]


def compact_body(index, table, base, out_position, out_symbol):
    """Look symbols up and keep the events whose symbol is not 0 (neutral).

    `base` int64 in: the position of the first event; `out_position` (int64 [>= n]) gets the positions of the
    kept events, ascending, `out_symbol` (uint8 or uint16 [>= n]) their symbols; returns how many there are.
    The rest of the two arrays is undefined.
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
    if values.shape[0] > 0 and values[0] < before:
        return 0
    # Neighbours as two arrays: an index with a difference could be negative, which each step would look at.
    later, earlier = values[1:], values[: max(values.shape[0] - 1, 0)]
    for low in range(0, later.shape[0], STRIP):
        after, former = later[low : low + STRIP], earlier[low : low + STRIP]
        falls = False
        for i in range(after.shape[0]):
            falls |= after[i] < former[i]
        if falls:
            for i in range(after.shape[0]):
                if after[i] < former[i]:
                    return low + i + 1
    return -1


_add_few_cuts = jit(add_few_cuts_body)
_add_many_cuts = jit(add_many_cuts_body)
_add_codes = jit(add_codes_body)
_add_few_codes = jit(add_few_codes_body)
lookup = jit(lookup_body)
compact = jit(compact_body)
first_decrease = jit(first_decrease_body)


def add_cuts(index, values, valid, bounds, shares):
    """`add_cuts_reference`, by the kernel that suits the number of bounds."""
    kernel = _add_few_cuts if bounds.shape[0] <= FEW_CUTS else _add_many_cuts
    kernel(index, values, valid, bounds, shares)


def add_codes(index, codes, valid, shares, absent):
    """`add_codes_body`, by comparing instead of looking up where few codes add anything."""
    wanted = np.flatnonzero(shares)
    if valid.shape[0] == 0 and wanted.shape[0] <= FEW_CODES:
        _add_few_codes(index, codes, wanted.astype(codes.dtype), shares[wanted])
    else:
        _add_codes(index, codes, valid, shares, absent)

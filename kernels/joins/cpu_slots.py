"""Slots of a unit of a stream numbered afresh, so that its look-up table is as large as the unit."""

import numpy as np

from ..jit import inline, jit

EMPTY = -1
"""What a free place of the table holds: no slot is negative."""


@inline
def _place(key, mask):
    """Where to look for a key first: the upper half of a product, on which all bits of the key have a say."""
    product = key * -7046029254386353131
    return ((product >> 32) ^ (product >> 52)) & mask


@jit
def localise_near(slots, least, table):
    """The same as `localise` for numbers that lie close together, by a table of them all.

    `slots` int32 [columns, n] in/out, -1 stays; `least` int64 in: no other number is less; `table` int32
    [range] in: -1 throughout, scratch.
    """
    count = 0
    for i in range(slots.shape[1]):
        for column in range(slots.shape[0]):
            key = np.int64(slots[column, i])
            if key < 0:
                continue
            if table[key - least] < 0:
                table[key - least] = count
                count += 1
            slots[column, i] = table[key - least]
    return count


@jit
def localise(slots, table_key, table_code):
    """Number what occurs in some rows of slots afresh, from 0 on, in the order of first sight; how many.

    The numbers of a unit of a stream are then as few as the unit has values, and neighbours in time are
    neighbours in the look-up table.

    `slots` int32 [columns, n] in/out, -1 stays; `table_key` int64 [power of two, at least twice the cells]
    in: `EMPTY` throughout, scratch; `table_code` int32 likewise, scratch.
    """
    mask = table_key.shape[0] - 1
    count = 0
    for i in range(slots.shape[1]):
        for column in range(slots.shape[0]):
            key = np.int64(slots[column, i])
            if key < 0:
                continue
            at = _place(key, mask)
            while table_key[at] != key and table_key[at] != EMPTY:
                at = (at + 1) & mask
            if table_key[at] == EMPTY:
                table_key[at] = key
                table_code[at] = count
                count += 1
            slots[column, i] = table_code[at]
    return count

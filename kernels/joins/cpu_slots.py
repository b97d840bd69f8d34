"""New numbers for the slots of a unit, so that its look-up table is not larger than the unit."""

import numpy as np

from ..jit import inline, jit

EMPTY = -1
"""Marks a free place of the table: no slot is negative."""


@inline
def place_key(key, mask):
    """Where to look for a key first: the upper half of a product, which depends on all bits of the key."""
    product = key * -7046029254386353131
    return ((product >> 32) ^ (product >> 52)) & mask


@inline
def slot_of(slots, column, event):
    """The slot of an event in a column, -1 where it has no value; 0 without a column, where all are alike."""
    slot = 0
    if column >= 0:
        slot = slots[column, event]
    return slot


@jit
def localise_near(slots, least, table):
    """As `localise`, for numbers in a small range: with a table of the whole range.

    `slots` int32 [columns, n]: in/out, -1 stays; `least` int64: in, the least other number; `table` int32
    [range]: scratch, -1 throughout on entry.
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
    """Number the slots that occur from 0 on, in the order of first sight; gives how many there are.

    So a unit has no more numbers than values, and neighbours in time are neighbours in the look-up table.

    `slots` int32 [columns, n]: in/out, -1 stays; `table_key` int64 [power of two, at least twice the cells]:
    scratch, `EMPTY` throughout on entry; `table_code` int32 of the same shape: scratch.
    """
    mask = table_key.shape[0] - 1
    count = 0
    for i in range(slots.shape[1]):
        for column in range(slots.shape[0]):
            key = np.int64(slots[column, i])
            if key < 0:
                continue
            at = place_key(key, mask)
            while table_key[at] != key and table_key[at] != EMPTY:
                at = (at + 1) & mask
            if table_key[at] == EMPTY:
                table_key[at] = key
                table_code[at] = count
                count += 1
            slots[column, i] = table_code[at]
    return count

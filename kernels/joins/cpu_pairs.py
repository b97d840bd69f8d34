"""Numbers for pairs of numbers: an open-addressing hash table.

A pair is one 64-bit key, left in the upper half. Numbers are given in the order of first sight.
"""

import numpy as np

from ..jit import inline, jit

EMPTY = -1
"""What a free place of the table holds: no pair has this key, since neither half is negative."""


@inline
def _place(key, mask):
    """Where to look for a key first: the upper half of a product, on which all bits of the key have a say."""
    product = key * -7046029254386353131
    return ((product >> 32) ^ (product >> 52)) & mask


@jit
def pair_codes(left, right, table_key, table_code, count, codes, fresh):
    """Number pairs; how many numbers there are by now, or -1 - row where the table must grow first.

    ============  =====================  ==========================================================
    `left`        int32 [n]              in: -1 is null
    `right`       int32 [n]              in
    `table_key`   int64 [power of two]   in/out: keys, `EMPTY` where there is none
    `table_code`  int32 [power of two]   in/out
    `count`       int64                  in: numbers given so far
    `codes`       int32 [n]              in/out: -2 where still to be numbered; out: number, -1 for null
    `fresh`       int64 [n]              out: the new keys, in the order of their numbers
    ============  =====================  ==========================================================
    """
    mask = table_key.shape[0] - 1
    most = table_key.shape[0] // 2
    before = count
    for i in range(left.shape[0]):
        if codes[i] != -2:
            continue
        if left[i] < 0 or right[i] < 0:
            codes[i] = -1
            continue
        key = (np.int64(left[i]) << 32) | right[i]
        at = _place(key, mask)
        while table_key[at] != key and table_key[at] != EMPTY:
            at = (at + 1) & mask
        if table_key[at] == EMPTY:
            if count >= most:
                return -1 - count
            table_key[at] = key
            table_code[at] = count
            fresh[count - before] = key
            count += 1
        codes[i] = table_code[at]
    return count


@jit
def place(keys, table_key, table_code):
    """Put keys with the numbers 0, 1, ... into an empty table."""
    mask = table_key.shape[0] - 1
    for code in range(keys.shape[0]):
        at = _place(keys[code], mask)
        while table_key[at] != EMPTY:
            at = (at + 1) & mask
        table_key[at] = keys[code]
        table_code[at] = code


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

    The numbers of a piece of a stream are then as few as the piece has values, and neighbours in time are
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

"""The lowest event at which a complex event may start, for each event at which one ends."""

import numpy as np

from .jit import jit


def lowest_starts_body(keys, begin, first, event, size, lowest):
    """For each hit, the least event i of its segment with `keys[event] - keys[i] <= size`.

    ========  =====================  =======================================================
    `keys`    uint64 or float64 [n]  in: non-decreasing inside a segment
    `begin`   int64 [segments]       in: first event of each segment
    `first`   int64 [segments + 1]   in: the hits of segment g are first[g] .. first[g + 1] - 1
    `event`   int64 [hits]           in: ascending inside a segment
    `size`    dtype of keys          in: the longest difference that is kept
    `lowest`  int64 [hits]           out: non-decreasing inside a segment
    ========  =====================  =======================================================
    """
    for g in range(begin.shape[0]):
        low = begin[g]
        for h in range(first[g], first[g + 1]):
            end = keys[event[h]]
            while end - keys[low] > size:
                low += 1
            lowest[h] = low


def lowest_starts_reference(keys, begin, first, event, size):
    """The lowest starts by their definition: a list, one for each hit."""
    return [
        min(i for i in range(begin[g], event[h] + 1) if keys[event[h]] - keys[i] <= size)
        for g in range(len(begin))
        for h in range(first[g], first[g + 1])
    ]


_lowest_starts = jit(lowest_starts_body)


def comparable(keys, size):
    """Keys and a size whose differences can be compared: uint64 for integers, float64 otherwise.

    Integers are subtracted modulo 2**64: keys do not decrease, so that this is exact over the whole range.
    """
    if keys.dtype.kind in "iu":
        whole = np.iinfo(np.uint64).max if size >= 2**64 else int(size)
        if keys.dtype.kind == "i":
            return keys.astype(np.int64, copy=False).view(np.uint64), np.uint64(whole)
        return keys.astype(np.uint64, copy=False), np.uint64(whole)
    return keys.astype(np.float64, copy=False), np.float64(size)


def lowest_starts(keys, begin, first, event, size):
    """`lowest_starts_body` for keys of any number type and a size >= 0, a Python int or float.

    Returns
    -------
    ndarray, shape (hits,), int64
    """
    lowest = np.empty(event.size, dtype=np.int64)
    keys, size = comparable(keys, size)
    _lowest_starts(keys, begin, first, event, size, lowest)
    return lowest

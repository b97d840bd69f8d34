"""Lanes in which keys fall, and for each end the lowest event at which a complex event may start."""

import numpy as np

from ..jit import jit
from .contract import comparable, settle_body


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


settle = jit(settle_body)
_lowest_starts = jit(lowest_starts_body)


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

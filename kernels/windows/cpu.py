"""Lanes in which keys fall, and for each end the lowest event at which a complex event may start."""

import numpy as np

from ..jit import jit
from .contract import comparable, settle_body

ONE = np.uint64(1)


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
        low = np.uint64(begin[g])
        for hit in range(first[g], first[g + 1]):
            h = np.uint64(hit)
            end = keys[np.uint64(event[h])]
            while end - keys[low] > size:
                low += ONE
            lowest[h] = low


@jit
def _near_last(keys, lanes, size, last, seen, near):
    """Mark the events that the window of the last event of their lane admits.

    ========  =====================  =======================================================
    `keys`    uint64 or float64 [n]  in: non-decreasing inside a lane
    `lanes`   int32 [n]              in: of each event, >= 0
    `size`    dtype of keys          in: the longest difference that is kept
    `last`    dtype of keys [lanes]  scratch
    `seen`    uint8 [lanes]          scratch: zeros
    `near`    uint8 [n]              out
    ========  =====================  =======================================================
    """
    for i in range(keys.shape[0] - 1, -1, -1):
        lane = np.uint64(lanes[i])
        if seen[lane] == 0:
            seen[lane] = 1
            last[lane] = keys[i]
        near[i] = last[lane] - keys[i] <= size


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


def near_last(keys, lanes, size):
    """Which events of many lanes, in the order of the stream, the window of their lane's last event admits.

    Parameters
    ----------
    keys : ndarray, shape (n,)
    lanes : ndarray, shape (n,), int32
    size : int or float

    Returns
    -------
    ndarray, shape (n,), bool
    """
    keys, size = comparable(keys, size)
    count, near = int(lanes.max(initial=-1)) + 1, np.empty(len(keys), np.uint8)
    _near_last(keys, lanes, size, np.empty(count, keys.dtype), np.zeros(count, np.uint8), near)
    return near.view(bool)

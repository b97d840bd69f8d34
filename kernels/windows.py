"""The lowest event at which a complex event may start, for each event at which one may end."""

import numpy as np

from .jit import jit


def lowest_starts_body(keys, begin, report, stop, size, lowest):
    """For each reported event j of a segment, the least i of the segment with `keys[j] - keys[i] <= size`.

    ========  =====================  =======================================================
    `keys`    uint64 or float64 [n]  in: non-decreasing inside a segment
    `begin`   int64 [segments]       in: first event of each segment
    `report`  int64 [segments]       in: first event that is reported
    `stop`    int64 [segments]       in: one past its last event
    `size`    dtype of keys          in: the longest difference that is kept
    `lowest`  int64 [n]              out: for the reported events; non-decreasing in each segment
    ========  =====================  =======================================================
    """
    for g in range(begin.shape[0]):
        low = begin[g]
        for j in range(report[g], stop[g]):
            while keys[j] - keys[low] > size:
                low += 1
            lowest[j] = low


def unlimited_starts_body(begin, stop, lowest):
    """`lowest_starts` without a window: every event of a segment may start a complex event."""
    for g in range(begin.shape[0]):
        for j in range(begin[g], stop[g]):
            lowest[j] = begin[g]


def lowest_starts_reference(keys, begin, report, stop, size, lowest):
    """`lowest_starts_body` by its definition."""
    for low, middle, high in zip(begin, report, stop):
        for j in range(middle, high):
            lowest[j] = min(i for i in range(low, j + 1) if keys[j] - keys[i] <= size)


_lowest_starts = jit(lowest_starts_body)
unlimited_starts = jit(unlimited_starts_body)


def lowest_starts(keys, begin, report, stop, size, lowest):
    """`lowest_starts_body` for keys of any number type and a size >= 0, a Python int or float.

    Integers are subtracted modulo 2**64: keys do not decrease, so that this is exact over the whole range.
    """
    if keys.dtype.kind in "iu":
        whole = np.iinfo(np.uint64).max if size >= 2**64 else int(size)
        _lowest_starts(
            keys.astype(np.int64, copy=False).view(np.uint64)
            if keys.dtype.kind == "i"
            else keys.astype(np.uint64, copy=False),
            begin,
            report,
            stop,
            np.uint64(whole),
            lowest,
        )
    else:
        _lowest_starts(keys.astype(np.float64, copy=False), begin, report, stop, np.float64(size), lowest)

"""The contract of windows: keys whose differences can be compared, and the lowest starts by definition."""

from typing import NamedTuple

import numpy as np


class MeasuredWindow(NamedTuple):
    """A window that admits an interval of events.

    ========  =============================  ===========================================================
    `keys`    uint64 or float64 [events]     what it measures of each event, non-decreasing in a segment;
              or [0]                         empty: there is no window
    `size`    dtype of keys                  the longest difference that it keeps
    ========  =============================  ===========================================================
    """

    keys: np.ndarray
    size: int | float


def lowest_starts_reference(keys, begin, first, event, size):
    """The lowest starts by their definition: a list, one for each hit."""
    return [
        min(i for i in range(begin[g], event[h] + 1) if keys[event[h]] - keys[i] <= size)
        for g in range(len(begin))
        for h in range(first[g], first[g + 1])
    ]


def comparable(keys, size):
    """A window whose differences can be compared: `MeasuredWindow`, of uint64 for integers, else float64.

    Integers are subtracted modulo 2**64: keys do not decrease, so that this is exact over the whole range.
    """
    if keys.dtype.kind in "iu":
        whole = np.iinfo(np.uint64).max if size >= 2**64 else int(size)
        if keys.dtype.kind == "i":
            return MeasuredWindow(keys.astype(np.int64, copy=False).view(np.uint64), np.uint64(whole))
        return MeasuredWindow(keys.astype(np.uint64, copy=False), np.uint64(whole))
    return MeasuredWindow(keys.astype(np.float64, copy=False), np.float64(size))

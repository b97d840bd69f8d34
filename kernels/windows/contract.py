"""The contract of windows: keys whose differences can be compared, where they fall, and lowest starts."""

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
    """The lowest starts by definition: a list, one for each hit."""
    return [
        min(i for i in range(begin[g], event[h] + 1) if keys[event[h]] - keys[i] <= size)
        for g in range(len(begin))
        for h in range(first[g], first[g + 1])
    ]


def settle_body(keys, keyed, begin, stop, falls):
    """Fill in missing keys, and find the lanes in which the other keys fall.

    `keys` int64 or float64 [n]: in/out. A missing key becomes the one before it in its lane; at the beginning
    of a lane the first key that there is; 0 where all are missing. `keyed` uint8 [n] or [0]: in, 0 where the
    key is missing, empty where none is; `begin`, `stop` int64 [lanes]: in; `falls` uint8 [lanes]: out,
    whether a key is less than one before it.
    """
    holes = keyed.shape[0] > 0
    for g in range(begin.shape[0]):
        first = begin[g]
        while holes and first < stop[g] and keyed[first] == 0:
            first += 1
        if holes:
            for i in range(begin[g], min(first, stop[g])):
                keys[i] = keys[first] if first < stop[g] else 0
            for i in range(first + 1, stop[g]):
                if keyed[i] == 0:
                    keys[i] = keys[i - 1]
        fell = 0  # without branches: most keys of most streams ascend
        for i in range(first + 1, stop[g]):
            fell |= keys[i] < keys[i - 1]
        falls[g] = fell


def comparable(keys, size):
    """The `MeasuredWindow` whose differences can be compared: of uint64 for integers, else float64.

    Integers are subtracted modulo 2**64: keys do not fall, so this is exact over the whole range.
    """
    if keys.dtype.kind in "iu":
        whole = np.iinfo(np.uint64).max if size >= 2**64 else int(size)
        if keys.dtype.kind == "i":
            return MeasuredWindow(keys.astype(np.int64, copy=False).view(np.uint64), np.uint64(whole))
        return MeasuredWindow(keys.astype(np.uint64, copy=False), np.uint64(whole))
    return MeasuredWindow(keys.astype(np.float64, copy=False), np.float64(size))


NO_WINDOW = comparable(np.empty(0, np.int64), 0)
"""The window of kernels without one."""

"""The contract of hits and counts under an attribute window, whose admissible starts are no interval.

The attribute may be null or go down. The start i and the end j are kept iff both have a value and
`keys[j] - keys[i] <= size`.
"""

import numpy as np

from ..runs.contract import accepting_runs

DONE, FULL, OVER = range(3)


def counts_by_start_reference(tables, symbols, keys, valid, size, lowest, begin, report, stop):
    """The hits of one segment by definition: a list of (event, latest admissible start, count)."""
    found = {}
    for i, j, _ in accepting_runs(tables, symbols, begin, stop):
        if j >= report and i >= lowest[j] and valid[i] and valid[j] and keys[j] - keys[i] <= size:
            found.setdefault(j, []).append(i)
    return [(j, max(starts), len(starts)) for j, starts in sorted(found.items())]


def unsigned(keys, size):
    """Integer keys in their order and without a sign, so that no difference overflows, and the size."""
    if keys.dtype.kind != "i":
        return keys, keys.dtype.type(size)
    without = keys.astype(np.int64, copy=False).view(np.uint64) ^ np.uint64(2**63)
    return without, np.uint64(2**64 - 1 if size >= 2**64 else int(size))

"""The second method: answers of three-step sequences by searches and prefix sums over sorted positions."""

from __future__ import annotations

import numpy as np


def hits(a: np.ndarray, b: np.ndarray, c: np.ndarray, within: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of `a ; b ; c`, and the latest start at each.

    The latest start for an end is the last a before the last b before it.

    Parameters
    ----------
    a, b, c : ndarray of int64, ascending, no two equal
    within : int
        Largest difference of end and start.

    Returns
    -------
    ends, starts : ndarray of int64
    """
    last_b = np.searchsorted(b, c) - 1
    ends = c[last_b >= 0]
    last_a = np.searchsorted(a, b[last_b[last_b >= 0]]) - 1
    ends, starts = ends[last_a >= 0], a[last_a[last_a >= 0]]
    inside = ends - starts <= within
    return ends[inside], starts[inside]


def counts(a: np.ndarray, b: np.ndarray, c: np.ndarray, within: int) -> np.ndarray:
    """How many complex events of `a ; b ; c` end at each of c; arguments as in `hits`.

    The sum over the b in the window: how many a are before it, minus those that are before the window.

    Returns
    -------
    ndarray, shape (len(c),), int64
    """
    low = c - within
    earlier = np.concatenate(([0], np.cumsum(np.searchsorted(a, b))))
    first, last = np.searchsorted(b, low), np.searchsorted(b, c)
    return earlier[last] - earlier[first] - (last - first) * np.searchsorted(a, low)

"""The ascending order of whole numbers: by their digits where they are close to each other."""

import numpy as np

from . import cpu
from .contract import DIGIT

FEW = 1 << 11
"""Numbers below which NumPy sorts as fast."""

DIGITS = 3
"""Digits up to which sorting by them is faster than by comparisons."""


def ascending(values: np.ndarray) -> np.ndarray:
    """The order that sorts values, equal ones by their place: what a stable `argsort` gives.

    Parameters
    ----------
    values : ndarray, shape (n,), of signed integers

    Returns
    -------
    ndarray, shape (n,), int64

    Examples
    --------
    >>> ascending(np.array([30, 10, 20, 10])).tolist()
    [1, 3, 2, 0]
    """
    count = len(values)
    if (values[1:] >= values[:-1]).all():
        return np.arange(count)
    if count < FEW:
        return np.argsort(values, kind="stable")
    low = int(values.min())
    bits, shift = (int(values.max()) - low).bit_length(), (count - 1).bit_length()
    if bits > DIGITS * DIGIT or bits + shift > 63:
        return _by_comparisons(values)
    order, starts = np.empty(count, np.int64), np.empty(1 << DIGIT, np.int64)
    whole = values.astype(np.int64, copy=False)
    cpu.order_of(whole, low, bits, shift, np.empty((2, count), np.int64), starts, order)
    return order


def _by_comparisons(values: np.ndarray) -> np.ndarray:
    """The same order of any values. NumPy sorts five times as fast if it may swap equal ones."""
    order = np.argsort(values)
    ranked = values[order]
    same = ranked[1:] == ranked[:-1]
    if same.any():
        tied = np.append(same, False) | np.append(False, same)
        group = np.cumsum(np.append(True, ~same))[tied]
        shift = (len(values) - 1).bit_length()
        packed = group << shift | order[tied]
        packed.sort()
        order[tied] = packed & ((1 << shift) - 1)
    return order

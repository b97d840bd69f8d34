"""Finds the ascending order of whole numbers; numbers that are close to each other are sorted by digits."""

from __future__ import annotations

import numpy as np

from cer_gpu.kernels.sorting import cpu
from cer_gpu.kernels.sorting.contract import DIGIT

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
    if count < FEW:
        return np.argsort(values, kind="stable")
    low = int(values.min())
    bits, shift = (int(values.max()) - low).bit_length(), (count - 1).bit_length()
    if bits > DIGITS * DIGIT or bits + shift > 63:
        return np.argsort(values, kind="stable")
    order, starts = np.empty(count, np.int64), np.empty(1 << DIGIT, np.int64)
    whole = values.astype(np.int64, copy=False)
    cpu.order_of(whole, low, bits, shift, np.empty((2, count), np.int64), starts, order)
    return order

"""Numbers as rows of slots: the side of a value, and the two halves of its word."""

import numpy as np

from ..jit import jit
from .contract import AT, NO_VALUE

HIGHEST_BIT = 63
WITHOUT_SIGN = (1 << HIGHEST_BIT) - 1


@jit
def _floats(data, valid, out):
    """Write the rows of slots of floats.

    ========  =======================  ====================================================================
    `data`    float64 [n]              in
    `valid`   uint8 [n] or [0]         in: 0 for nulls; empty: there are none
    `out`     int32 [3, n]             out: the side, the upper and the lower half of the word
    ========  =======================  ====================================================================
    """
    words = data.view(np.int64)
    for row in range(data.shape[0]):
        number = data[row]
        there = number == number and (valid.shape[0] == 0 or valid[row] != 0)
        word = words[row] if number != 0 else 0  # the two zeros are one
        word ^= (word >> HIGHEST_BIT) & WITHOUT_SIGN
        out[0, row] = AT if there else NO_VALUE
        out[1, row] = np.int32(word >> 32)
        out[2, row] = np.int32(word)


@jit
def _whole(data, valid, out):
    """Write the rows of slots of whole numbers: int64 [n], and the rest as for floats."""
    for row in range(data.shape[0]):
        word = data[row]
        out[0, row] = AT if valid.shape[0] == 0 or valid[row] != 0 else NO_VALUE
        out[1, row] = np.int32(word >> 32)
        out[2, row] = np.int32(word)


def value_rows(data, valid, out):
    """Write the rows of slots of numbers that are words of their own domain: floats, or whole numbers.

    Parameters
    ----------
    data : ndarray, shape (n,)
        Floats, or integers that fit int64.
    valid : ndarray, shape (n,) or (0,), uint8
    out : ndarray, shape (3, n), int32
    """
    kernel, dtype = (_floats, np.float64) if data.dtype.kind == "f" else (_whole, np.int64)
    kernel(np.ascontiguousarray(data, dtype), valid, out)

"""Whole numbers of 128 bits, as two words each, and their sums: `WideNumbers`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.row_matches import ValueChain
from cer_gpu.kernels.row_patterns import folds

DIGITS = 38
"""The most digits of a decimal of 128 bits."""

_HALF = (1 << 32) - 1
_WORD = (1 << 64) - 1


class WideNumbers(NamedTuple):
    """Whole numbers of 128 bits, in two's complement.

    Attributes
    ----------
    low : ndarray, shape (n,), int64
        The bits of the lower half.
    high : ndarray, shape (n,), int64 or None
        The upper half; None where `low` is the number itself.
    """

    low: np.ndarray
    high: np.ndarray | None

    def fit_words(self) -> np.ndarray:
        """Which numbers fit 64 bits with a sign."""
        if self.high is None:
            return np.ones(len(self.low), bool)
        return self.high == self.low >> 63

    def fit_digits(self) -> np.ndarray:
        """Which numbers have at most `DIGITS` digits."""
        if self.high is None:
            return np.ones(len(self.low), bool)
        most = 10**DIGITS - 1
        return _is_above(self, -most - 1) & ~_is_above(self, most)

    def floats(self) -> np.ndarray:
        """The numbers as float64."""
        if self.high is None:
            return self.low.astype(np.float64)
        wide = self.high.astype(np.float64) * 2.0**64 + self.low.view(np.uint64).astype(np.float64)
        return np.where(self.fit_words(), self.low.astype(np.float64), wide)

    def decimals(self, scale: int, missing: np.ndarray) -> pa.Array:
        """The numbers as decimals of `DIGITS` digits in units of the last place; null where missing."""
        halves = np.empty((len(self.low), 2), np.int64)
        halves[:, 0] = self.low
        halves[:, 1] = self.low >> 63 if self.high is None else self.high
        there = pa.py_buffer(np.packbits(~missing, bitorder="little"))
        return pa.Array.from_buffers(pa.decimal128(DIGITS, scale), len(halves), [there, pa.py_buffer(halves)])


def wide_numbers(values: pa.Array) -> WideNumbers:
    """Whole numbers, intervals, or decimals in units of their last place; null is 0.

    Raises
    ------
    pyarrow.ArrowInvalid
        When a decimal of 256 bits does not fit 128.
    """
    kind = values.type
    if pa.types.is_decimal(kind):
        wide = values.cast(pa.decimal128(DIGITS, kind.scale))
        halves = np.frombuffer(wide.buffers()[1], np.int64).reshape(-1, 2)[wide.offset :][: len(wide)]
        if wide.null_count:
            # Arrow's fill_null may change the scale.
            halves = np.where(np.asarray(wide.is_valid())[:, None], halves, 0)
        numbers = WideNumbers(np.ascontiguousarray(halves[:, 0]), np.ascontiguousarray(halves[:, 1]))
        return WideNumbers(numbers.low, None) if numbers.fit_words().all() else numbers
    if pa.types.is_uint64(kind):
        low = np.asarray(values.fill_null(0)).view(np.int64)
        return WideNumbers(low, np.zeros_like(low) if (low < 0).any() else None)
    if pa.types.is_duration(kind):
        values = values.view(pa.int64())
    return WideNumbers(np.asarray(values.fill_null(0)).astype(np.int64, copy=False), None)


def sums_at(numbers: WideNumbers, valid: np.ndarray, chain: ValueChain) -> tuple[WideNumbers, np.ndarray]:
    """The sums at the rows of an answer, and of how many numbers they are.

    Numbers that may go beyond 64 bits together are summed in parts of 32 bits, of which each sum fits.

    Parameters
    ----------
    numbers : WideNumbers
        One at least.
    valid : ndarray
        As for `folds.running`.
    chain : ValueChain

    Returns
    -------
    sums : WideNumbers
        Without a number undefined.
    counts : ndarray, shape (rows,), int64
    """
    counts = np.empty(len(valid), np.int64)
    sums = []
    for part in _parts(numbers, chain.longest):
        totals = np.empty_like(part)
        folds.running(folds.SUM, part, valid, chain.before, totals, counts)
        sums.append(totals[chain.last])
    return _joined(sums), counts[chain.last]


def _parts(numbers: WideNumbers, most: int) -> list[np.ndarray]:
    """Numbers as words; as four, the lowest 32 bits first, where so many of them may not fit one."""
    low, high = numbers
    if high is None:
        if max(-int(low.min()), int(low.max())) * most < 1 << 63:
            return [low]
        high = low >> 63
    return [low & _HALF, (low >> 32) & _HALF, high & _HALF, high >> 32]


def _joined(parts: list[np.ndarray]) -> WideNumbers:
    """The reverse of `_parts`, of sums.

    Beyond 128 bits the upper half is the least or the greatest word, which no number of `DIGITS` digits has.
    """
    if len(parts) == 1:
        return WideNumbers(parts[0], None)
    first, second, third, top = parts
    second = second + (first >> 32)
    third = third + (second >> 32)
    top = top + (third >> 32)
    words = np.iinfo(np.int64)
    fits = top == top.astype(np.int32)
    high = np.where(fits, top << 32 | third & _HALF, np.where(top < 0, words.min, words.max))
    return WideNumbers(first & _HALF | (second & _HALF) << 32, high)


def _is_above(numbers: WideNumbers, bound: int) -> np.ndarray:
    """Which numbers are greater than a whole number."""
    assert numbers.high is not None
    high, low = bound >> 64, np.uint64(bound & _WORD)
    return (numbers.high > high) | ((numbers.high == high) & (numbers.low.view(np.uint64) > low))

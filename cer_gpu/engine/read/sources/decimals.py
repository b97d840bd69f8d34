"""Decimals as whole numbers: 12.50 with two digits after the point is 1250 hundredths."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.errors import DataError
from cer_gpu.language import tree
from cer_gpu.language.walk import walk

FITTING = 18
"""Decimals of up to this many digits are 64-bit integers, whatever their values."""

DIGITS_OF_INT64 = 19
"""How many digits hold all 64-bit integers."""

WIDEST = 76
"""The most digits of an Arrow decimal."""

MOST_DECIMAL = 10**WIDEST
"""Greater than all decimals, in units of their last digit."""

_LIMBS = {128: 2, 256: 4}


def scaled(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Decimals in units of their last digit.

    Parameters
    ----------
    array : pyarrow.Array
        Of decimal128 or decimal256.

    Returns
    -------
    values : ndarray, shape (n,), int64
        The value at a null, or where a value does not fit, is arbitrary.
    beyond : ndarray, shape (n,) or (0,), bool
        Where a value does not fit 64 bits, or a null stands for one that does not; empty if all fit.
    """
    limbs = _LIMBS[array.type.bit_width]
    if len(array) == 0:
        return np.empty(0, np.int64), np.empty(0, bool)
    data = np.frombuffer(array.buffers()[1], np.int64, len(array) * limbs, array.offset * 8 * limbs)
    parts = data.reshape(len(array), limbs)
    values = parts[:, 0].copy()
    values.flags.writeable = False
    if array.type.precision <= FITTING:
        return values, np.empty(0, bool)
    sign = values >> 63
    beyond = parts[:, 1] != sign
    for limb in range(2, limbs):
        beyond |= parts[:, limb] != sign
    return values, beyond if beyond.any() else np.empty(0, bool)


def halves(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The upper and the lower 64 bits of decimals of 128 bits, in units of their last digit: (n,), int64."""
    if not len(array):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    data = np.frombuffer(array.buffers()[1], np.int64, 2 * len(array), 16 * array.offset)
    return data[1::2], data[::2]


def unscaled(array: pa.Array) -> np.ndarray:
    """Decimals in units of their last digit, as Python integers, shape (n,), object; 0 at a null."""
    limbs = _LIMBS[array.type.bit_width]
    found = np.zeros(len(array), object)
    if not len(array):
        return found
    if array.null_count:
        array = array.fill_null(0)
    data = np.frombuffer(array.buffers()[1], np.uint64, len(array) * limbs, array.offset * limbs * 8)
    parts = data.reshape(len(array), limbs)
    found += parts[:, -1].view(np.int64)
    for limb in range(limbs - 2, -1, -1):
        found = found * (1 << 64) + parts[:, limb]
    return found


def from_scaled(values: np.ndarray, kind: pa.DataType) -> pa.Array:
    """The decimals whose last digits count to whole numbers, int64: the inverse of `scaled`."""
    limbs = _LIMBS[kind.bit_width]
    parts = np.empty((len(values), limbs), np.int64)
    parts[:, 0] = values
    parts[:, 1:] = (values >> 63)[:, None]
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(parts)])


def from_integers(values: Sequence[int], kind: pa.DataType) -> pa.Array:
    """The decimals whose last digits count to whole numbers of any size.

    Raises
    ------
    OverflowError
        If one does not fit the type.
    """
    size = kind.bit_width // 8
    data = b"".join(int(value).to_bytes(size, "little", signed=True) for value in values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


class WideWords:
    """Words of decimals of any size, in units of their last digit.

    A number from -2^63 to 2^62 - 1 is its own word; any other number gets a word from 2^62 on when it is
    first seen. Two numbers are equal iff their words are. No word is forgotten: data on disk has them.
    """

    FIRST = 1 << 62
    """The first word that is no number itself."""

    def __init__(self) -> None:
        self._words: dict[int | Fraction, int] = {}
        self._texts = np.full(8, "", object)  # a stored state holds texts of any length
        self._count = 0

    def own(self, number: Any) -> int | None:
        """The word of a number that is its own word; None for one that gets a word when it is seen."""
        return number if -2 * self.FIRST <= number < self.FIRST else None

    def word(self, number: int | Fraction) -> int:
        """The word of a number."""
        own = self.own(number)
        if own is not None:
            return own
        if len(self._words) != self._count:  # after a stored state was put back
            self._words = {
                Fraction(text): self.FIRST + k for k, text in enumerate(self._texts[: self._count])
            }
        word = self._words.setdefault(number, self.FIRST + self._count)
        if word == self.FIRST + self._count:
            if self._count == len(self._texts):
                self._texts = np.concatenate([self._texts, np.full(self._count, "", object)])
            self._texts[self._count] = str(number)
            self._count += 1
        return word

    def words(self, numbers: np.ndarray) -> np.ndarray:
        """The words of numbers, Python integers: shape (n,), int64."""
        return np.fromiter(map(self.word, numbers.tolist()), np.int64, len(numbers))

    def numbers(self, words: np.ndarray) -> list[int]:
        """The numbers of some words."""
        return [word if word < self.FIRST else int(self._texts[word - self.FIRST]) for word in words.tolist()]


class DoubleWords(WideWords):
    """Words of whole numbers of 64 bits and of decimals that are compared with floats, by value.

    A number that is exactly a float64 has the bits of that float. Any other number equals no float, and gets
    the bits of a NaN of its own when it is first seen.
    """

    FIRST = int(np.array(0xFFF8_0000_0000_0001, np.uint64).view(np.int64))

    def own(self, number: Any) -> int | None:
        """See `WideWords.own`."""
        close = float(number)
        return int(np.float64(close).view(np.int64)) if Fraction(close) == number else None

    def of_decimals(self, array: pa.Array) -> np.ndarray:
        """The words of decimals, shape (n,), int64; arbitrary at a null."""
        distinct, places = np.unique(unscaled(array), return_inverse=True)
        one = 10**array.type.scale
        words = [self.word(Fraction(number, one)) for number in distinct.tolist()]
        return np.array(words, np.int64)[places.reshape(-1)]

    def words(self, numbers: np.ndarray) -> np.ndarray:
        """The words of numbers, whole ones of 64 bits: shape (n,), int64."""
        if numbers.dtype == np.uint64:
            large = numbers >= np.uint64(1 << 63)
            found = self.words(np.where(large, 0, numbers).astype(np.int64))
            found[large] = super().words(numbers[large].astype(object))
            return found
        numbers = numbers.astype(np.int64, copy=False)
        close = numbers.astype(np.float64)
        inside = close < float(1 << 63)
        exact = inside & (np.where(inside, close, 0).astype(np.int64) == numbers)
        found = close.view(np.int64)
        if not exact.all():
            far = np.flatnonzero(~exact)
            found[far] = super().words(numbers[far])
        return found


def decimal_with(digits: int) -> pa.DataType:
    """A type that holds all 64-bit integers as decimals with `digits` digits after the point.

    Raises
    ------
    DataError
        If no type has that many.
    """
    if digits > WIDEST:
        raise DataError(
            f"arithmetic gives decimals with {digits} digits after the point, and Arrow can hold at most "
            f"{WIDEST}: cast one of the columns to fewer digits, or to float64"
        )
    most = max(DIGITS_OF_INT64, digits)
    return pa.decimal128(most, digits) if most <= 38 else pa.decimal256(most, digits)


def widened(kind: pa.DataType, expression: Any, schema: pa.Schema) -> pa.DataType:
    """The type of decimals with as many digits after the point, and room for the values of an expression.

    Parameters
    ----------
    kind : pyarrow.DataType
        A type of decimals of 64 bits.
    expression : Expression
    schema : pyarrow.Schema
        Of the columns that it reads.
    """
    parts = list(walk(expression))
    digits = int(any(isinstance(part, tree.Arithmetic) for part in parts))
    for part in parts:
        if isinstance(part, tree.Attribute):
            own = schema.field(part.name).type
            digits += own.precision if pa.types.is_decimal(own) else DIGITS_OF_INT64
        elif isinstance(part, tree.Number):
            digits += len(str(part.value))
    if digits <= FITTING:
        return kind
    most = min(max(digits, DIGITS_OF_INT64, kind.scale), WIDEST)
    return pa.decimal128(most, kind.scale) if most <= 38 else pa.decimal256(most, kind.scale)


def common_decimal(kinds: Sequence[pa.DataType]) -> pa.DataType | None:
    """The type that holds the values of decimals and integers of several types; None if there is none."""
    whole = max(_digits_before(kind) for kind in kinds)
    scale = max(kind.scale if pa.types.is_decimal(kind) else 0 for kind in kinds)
    if whole + scale > WIDEST:
        return None
    return pa.decimal128(whole + scale, scale) if whole + scale <= 38 else pa.decimal256(whole + scale, scale)


def _digits_before(kind: pa.DataType) -> int:
    if pa.types.is_decimal(kind):
        return kind.precision - kind.scale
    return DIGITS_OF_INT64 + pa.types.is_uint64(kind)

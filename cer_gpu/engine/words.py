"""Values as 64-bit words that have their order, so that whatever compares values compares whole numbers.

A word is a whole number of the domain's unit, or the bits of a float64, turned so that they ascend with the
floats. A value that has no word in a domain lies just below or above one: 3.7 above the 3 of int64 values,
2^53 + 1 above the 2^53 of float64 values. A null and a NaN have no word: they compare to nothing.

A number of any size is a text whose order is its own, so that what orders texts orders it. Such a text is
bytes: what kind of number it is (`KINDS`), its whole part rounded down, and the binary digits of what is
left, without zeros at its end. The whole part is 16 bytes, 2^127 added; past that, its length comes first,
both of a negative number subtracted from the greatest.

>>> number_text(-1).hex()
'807fffffffffffffffffffffffffffffff'
>>> number_text(0.5).hex()
'808000000000000000000000000000000080'
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from math import floor, isinf
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.comparisons.contract import ABOVE, AT, BELOW
from cer_gpu.language.units import one_in
from cer_gpu.lazy_modules import compute as pc

LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""The least and the greatest word."""

EXACT = 1 << 53
"""Up to here every whole number is a float64."""

TURN = np.uint64(1 << 63)
"""The upper bit, which turns uint64 into int64 of the same order."""

KINDS = MINUS_INFINITY, FAR_BELOW, NEAR, FAR_ABOVE, INFINITY = 0x00, 0x7F, 0x80, 0x81, 0xFF
"""Minus infinity; a number below -2^127; one that 128 bits hold; one from 2^127 on; infinity."""

OFFSET = 1 << 127
SIZE = 17
"""Bytes of the text of a whole number that 128 bits hold."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The kind and the unit of the values of an expression.

    Attributes
    ----------
    kind : {"i", "u", "f"}
        int64, uint64 or float64.
    unit : str or None
        The unit of times and decimals.
    """

    kind: str
    unit: str | None

    @property
    def one(self) -> Fraction:
        """How much one whole number of the domain is worth; for a time, in nanoseconds."""
        return Fraction(1) if self.unit is None else one_in(self.unit)


class OrderedWords(NamedTuple):
    """Values as words of a domain.

    Attributes
    ----------
    words : ndarray, shape (n,), int64
    sides : ndarray, shape (n,), int32
        `BELOW`, `AT` or `ABOVE`: on which side of its word each value lies.
    """

    words: np.ndarray
    sides: np.ndarray


def domain_of(data: np.ndarray, unit: str | None) -> Domain:
    """The domain of some values."""
    if data.dtype.kind == "f":
        return Domain("f", unit)
    return Domain("u" if data.dtype == np.uint64 else "i", unit)


def common_domain(one: Domain, other: Domain) -> Domain:
    """The domain in which values of two domains are compared: a whole one, the finer unit."""
    if one.kind != other.kind:
        return min(one, other, key=lambda domain: "iuf".index(domain.kind))
    return min(one, other, key=lambda domain: domain.one)


def in_domain(data: np.ndarray, own: Domain, domain: Domain, there: np.ndarray) -> OrderedWords:
    """Numbers as words of a domain.

    Parameters
    ----------
    data : ndarray, shape (n,)
    own : Domain
        The domain of the numbers.
    domain : Domain
    there : ndarray, shape (n,), bool
        Which numbers exist; the results for others are arbitrary.
    """
    factor = own.one / domain.one
    sides = np.full(len(data), AT, np.int32)
    if factor == 1 and own.kind == domain.kind:
        return OrderedWords(_plain(data, domain.kind), sides)
    if factor == 1 and domain.kind == "f":
        return _whole_as_floats(data, sides)
    if factor == 1:
        return _as_whole(np.floor(data) if own.kind == "f" else data, data, domain.kind, sides)
    if own.kind == "i" and domain.kind == "i" and 1 in (factor.numerator, factor.denominator):
        return _scaled(data.astype(np.int64), factor, sides)
    words = np.zeros(len(data), np.int64)
    for row in np.flatnonzero(there).tolist():
        words[row], sides[row] = _exactly(data[row].item(), factor, domain.kind)
    return OrderedWords(words, sides)


def float_words(values: np.ndarray) -> np.ndarray:
    """The words of float64 values: their bits, those of negative ones turned around; one for both zeros."""
    return _turned((values + 0.0).view(np.int64))


def floats_of(words: np.ndarray) -> np.ndarray:
    """The float64 values of words."""
    return _turned(words).view(np.float64)


def float_word(number: float) -> int:
    """The word of a single float."""
    (bits,) = struct.unpack("<q", struct.pack("<d", number + 0.0))
    return bits ^ MOST if bits < 0 else bits


def unsigned_words(values: np.ndarray) -> np.ndarray:
    """The words of uint64 values: less 2^63, so that they have the same order and the same differences."""
    return (values ^ TURN).view(np.int64)


def unsigned_of(words: np.ndarray) -> np.ndarray:
    """The uint64 values of words."""
    return words.astype(np.int64, copy=False).view(np.uint64) ^ TURN


def _turned(bits: np.ndarray) -> np.ndarray:
    return bits ^ ((bits >> 63) & MOST)


def _plain(data: np.ndarray, kind: str) -> np.ndarray:
    if kind == "f":
        return float_words(data.astype(np.float64, copy=False))
    if kind == "u":
        return unsigned_words(data)
    return data.astype(np.int64, copy=False)


def _whole_as_floats(data: np.ndarray, sides: np.ndarray) -> OrderedWords:
    near = data.astype(np.float64)
    far = np.flatnonzero(np.abs(near) >= EXACT)
    if len(far):
        exact, found = data[far], near[far]
        over = found >= (2.0**64 if data.dtype == np.uint64 else 2.0**63)
        back = np.where(over, 0.0, found).astype(data.dtype)
        sides[far] = np.where(over | (exact < back), BELOW, np.where(exact > back, ABOVE, AT))
    return OrderedWords(float_words(near), sides)


def _as_whole(low: np.ndarray, data: np.ndarray, kind: str, sides: np.ndarray) -> OrderedWords:
    """Numbers of another kind as words of whole numbers; `low`: rounded down."""
    sides[low != data] = ABOVE
    if low.dtype == np.uint64:
        over, under = low > np.uint64(MOST), np.zeros(len(low), bool)
    elif kind == "u":
        over, under = low >= 2.0**64, low < 0
    else:
        over, under = low >= 2.0**63, low < -(2.0**63)
    whole = np.where(over | under | (low != low), 0, low)
    words = _plain(whole.astype(np.uint64 if kind == "u" else np.int64), kind)
    words[over], sides[over] = MOST, ABOVE
    words[under], sides[under] = LEAST, BELOW
    return OrderedWords(words, sides)


def _scaled(data: np.ndarray, factor: Fraction, sides: np.ndarray) -> OrderedWords:
    """Whole numbers in a finer or coarser unit."""
    if factor.numerator == 1:
        by = factor.denominator
        if by > MOST:
            sides[data != 0] = ABOVE
            return OrderedWords(np.where(data < 0, -1, 0), sides)
        words = data // by
        sides[words * by != data] = ABOVE
        return OrderedWords(words, sides)
    by = factor.numerator
    over, under = data > MOST // by, data < -(-LEAST // by)
    words = np.where(over | under, 0, data) * np.int64(min(by, MOST))
    words[over], sides[over] = MOST, ABOVE
    words[under], sides[under] = LEAST, BELOW
    return OrderedWords(words, sides)


def _exactly(value: int | float, factor: Fraction, kind: str) -> tuple[int, int]:
    """One number as a word and its side, by rational numbers."""
    if isinstance(value, float) and isinf(value):
        if kind == "f":
            return float_word(value), AT
        return (MOST, ABOVE) if value > 0 else (LEAST, BELOW)
    exact = Fraction(value) * factor
    if kind == "f":
        try:
            near = float(exact)
        except OverflowError:
            near = np.finfo(np.float64).max.item() if exact > 0 else np.finfo(np.float64).min.item()
        side = AT if exact == Fraction(near) else BELOW if exact < Fraction(near) else ABOVE
        return float_word(near), side
    offset = 1 << 63 if kind == "u" else 0
    whole = floor(exact) - offset
    if whole > MOST:
        return MOST, ABOVE
    if whole < LEAST:
        return LEAST, BELOW
    return whole, AT if exact == whole + offset else ABOVE


# -------------------------------------------------------------------------------------- ranks among others


def ranks_of(one: OrderedWords, other: OrderedWords) -> tuple[np.ndarray, np.ndarray]:
    """The words of both sides of a comparison as whole numbers from 0 on, with their sides: int64 each."""
    distinct = np.unique(np.concatenate([one.words, other.words]))
    first, second = (3 * np.searchsorted(distinct, each.words) + each.sides for each in (one, other))
    return first, second


def text_ranks(distinct: pa.Array) -> np.ndarray:
    """The place of each of some texts in their order, int64.

    Arrow orders texts by their bytes, which is the order of code points.
    """
    order = pc.sort_indices(distinct).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


# ------------------------------------------------------------------------------------- the halves of words


def halves_of(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The upper and the lower half of words, int32 each, as rows of slots have them."""
    return (words >> 32).astype(np.int32), words.astype(np.int32)


def of_halves(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """The words of halves."""
    words: np.ndarray = upper.astype(np.int64) << 32
    words |= np.ascontiguousarray(lower).view(np.uint32)
    return words


# ------------------------------------------------------------------------------------ numbers of any size


def number_text(number: int | Fraction | float) -> bytes:
    """The text of a number, which is no NaN."""
    if isinstance(number, float) and isinf(number):
        return bytes([MINUS_INFINITY if number < 0 else INFINITY])
    exact = Fraction(number)
    whole = floor(exact)
    rest, fraction = exact - whole, b""
    if rest:  # of a float: its denominator is a power of two
        size = -(-(rest.denominator.bit_length() - 1) // 8)
        fraction = int(rest * (1 << 8 * size)).to_bytes(size, "big").rstrip(b"\0")
    if -OFFSET <= whole < OFFSET:
        return bytes([NEAR]) + (whole + OFFSET).to_bytes(16, "big") + fraction
    size = (abs(whole).bit_length() + 7) // 8
    if whole > 0:
        return bytes([FAR_ABOVE]) + size.to_bytes(4, "big") + whole.to_bytes(size, "big") + fraction
    body = ((1 << 8 * size) - 1 + whole).to_bytes(size, "big")
    return bytes([FAR_BELOW]) + ((1 << 32) - 1 - size).to_bytes(4, "big") + body + fraction


def texts_of_halves(upper: np.ndarray, lower: np.ndarray) -> pa.Array:
    """The texts of whole numbers of 128 bits.

    Parameters
    ----------
    upper, lower : ndarray, shape (n,), int64
        The halves of each.

    Returns
    -------
    pyarrow.Array
        large_string: bytes, which no one reads as a text.
    """
    count = len(upper)
    data = np.empty((count, SIZE), np.uint8)
    data[:, 0] = NEAR
    data[:, 1:9] = (upper.view(np.uint64) ^ TURN).astype(">u8").view(np.uint8).reshape(count, 8)
    data[:, 9:] = lower.astype(">i8").view(np.uint8).reshape(count, 8)
    ends = np.arange(0, SIZE * (count + 1), SIZE, dtype=np.int64)
    return pa.LargeStringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(data))


def texts_of_numbers(numbers: np.ndarray, times: int) -> pa.Array:
    """The texts of numbers, none of them a NaN, each times a whole number; as `texts_of_halves`.

    Parameters
    ----------
    numbers : ndarray, shape (n,)
        Of whole numbers, floats, or Python's integers.
    times : int
    """
    if numbers.dtype.kind in "iub" and numbers.dtype != np.uint64:
        numbers = numbers.astype(np.int64)
        if max(int(numbers.max(initial=1)), -int(numbers.min(initial=-1))) * times < 1 << 63:
            numbers = numbers * times
            return texts_of_halves(numbers >> 63, numbers)
    if numbers.dtype.kind != "f":
        whole = numbers.astype(object) * times
        lower = (whole & ((1 << 64) - 1)).astype(np.uint64).view(np.int64)
        try:
            return texts_of_halves((whole >> 64).astype(np.int64), lower)
        except OverflowError:
            return _of_each(whole.tolist())
    return _of_each([number if isinf(number) else Fraction(number) * times for number in numbers.tolist()])


def _of_each(numbers: Sequence[int | Fraction | float]) -> pa.Array:
    texts = list(map(number_text, numbers))
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return pa.LargeStringArray.from_buffers(
        len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts) or b" ")
    )

"""Numbers of any size as texts whose order is theirs, so that what orders texts orders them.

A text is bytes: what kind of number it is (`KINDS`), its whole part rounded down, and the binary digits of
what is left, without zeros at its end. The whole part is 16 bytes, 2^127 added; past that, its length comes
first, both of a negative number subtracted from the greatest.

>>> number_text(-1).hex()
'807fffffffffffffffffffffffffffffff'
>>> number_text(0.5).hex()
'808000000000000000000000000000000080'
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, isinf

import numpy as np
import pyarrow as pa

LEAST, BELOW, NEAR, ABOVE, MOST = KINDS = 0x00, 0x7F, 0x80, 0x81, 0xFF
"""Minus infinity; a number below -2^127; one that 128 bits hold; one from 2^127 on; infinity."""

WORD = (1 << 64) - 1
OFFSET = 1 << 127
SIZE = 17
"""Bytes of a whole number that 128 bits hold."""


def number_text(number: int | Fraction | float) -> bytes:
    """The text of a number, which is no NaN."""
    if isinstance(number, float) and isinf(number):
        return bytes([LEAST if number < 0 else MOST])
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
        return bytes([ABOVE]) + size.to_bytes(4, "big") + whole.to_bytes(size, "big") + fraction
    body = ((1 << 8 * size) - 1 + whole).to_bytes(size, "big")
    return bytes([BELOW]) + ((1 << 32) - 1 - size).to_bytes(4, "big") + body + fraction


def of_halves(upper: np.ndarray, lower: np.ndarray) -> pa.Array:
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
    turned = upper.view(np.uint64) ^ np.uint64(1 << 63)
    data[:, 1:9] = turned.astype(">u8").view(np.uint8).reshape(count, 8)
    data[:, 9:] = lower.astype(">i8").view(np.uint8).reshape(count, 8)
    ends = np.arange(0, SIZE * (count + 1), SIZE, dtype=np.int64)
    return pa.LargeStringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(data))


def of_numbers(numbers: np.ndarray, times: int) -> pa.Array:
    """The texts of numbers, none of them a NaN, each times a whole number; as `of_halves`.

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
            return of_halves(numbers >> 63, numbers)
    if numbers.dtype.kind != "f":
        whole = numbers.astype(object) * times
        lower = (whole & WORD).astype(np.uint64).view(np.int64)
        try:
            return of_halves((whole >> 64).astype(np.int64), lower)
        except OverflowError:
            return _of_each(whole.tolist())
    return _of_each([number if isinf(number) else Fraction(number) * times for number in numbers.tolist()])


def _of_each(numbers: Sequence[int | Fraction | float]) -> pa.Array:
    texts = list(map(number_text, numbers))
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return pa.LargeStringArray.from_buffers(
        len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts) or b" ")
    )

"""Numbers as 64-bit words that have an order.

A word is a whole number of the domain's unit, or the bits of a float64, turned so that they ascend with the
floats. A value that has no word in a domain lies just below or above one: 3.7 above the 3 of int64 values,
2^53 + 1 above the 2^53 of float64 values.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, isinf

import numpy as np

from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.compared.contract import ABOVE, AT, BELOW
from cer_gpu.language.units import NANOSECONDS, digits_of, one_in

LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""The least and the greatest word."""

EXACT = 1 << 53
"""Up to here every whole number is a float64."""


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
        if self.unit is None:
            return Fraction(1)
        return Fraction(one_in(self.unit) if digits_of(self.unit) is not None else NANOSECONDS[self.unit])


def domain_of(values: Values, unit: str | None) -> Domain:
    """The domain of some values."""
    kind = values.data.dtype.kind
    if kind == "u":
        kind = "u" if values.data.dtype.itemsize == 8 else "i"
    return Domain("f" if kind == "f" else "u" if kind == "u" else "i", unit)


def in_domain(
    data: np.ndarray, own: Domain, domain: Domain, there: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as words of a domain, and on which side of its word each number lies.

    Parameters
    ----------
    data : ndarray, shape (n,)
    own : Domain
        The domain of the numbers.
    domain : Domain
    there : ndarray, shape (n,), bool
        Which numbers exist; the results for others are arbitrary.

    Returns
    -------
    words : ndarray, shape (n,), int64
    sides : ndarray, shape (n,), int32
    """
    factor = own.one / domain.one
    sides = np.full(len(data), AT, np.int32)
    if factor == 1 and own.kind == domain.kind:
        return _plain(data, domain.kind), sides
    if factor == 1 and domain.kind == "f":
        return _whole_as_floats(data, sides)
    if factor == 1 and own.kind == "f" and domain.kind == "i":
        return _floats_as_whole(data.astype(np.float64), sides)
    if own.kind == "i" and domain.kind == "i" and 1 in (factor.numerator, factor.denominator):
        return _scaled(data.astype(np.int64), factor, sides)
    words = np.zeros(len(data), np.int64)
    for row in np.flatnonzero(there).tolist():
        words[row], sides[row] = _exactly(data[row].item(), factor, domain.kind)
    return words, sides


def _plain(data: np.ndarray, kind: str) -> np.ndarray:
    if kind == "f":
        return _ascending((data.astype(np.float64) + 0.0).view(np.int64))  # the two zeros are one
    if kind == "u":
        return (data ^ np.uint64(1 << 63)).view(np.int64)
    return data.astype(np.int64, copy=False)


def _ascending(bits: np.ndarray) -> np.ndarray:
    """The bits of floats, those of negative ones turned around."""
    return bits ^ ((bits >> 63) & MOST)


def _whole_as_floats(data: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    near = data.astype(np.float64)
    for row in np.flatnonzero(np.abs(near) >= EXACT).tolist():
        exact, found = int(data[row]), int(near[row])
        sides[row] = AT if exact == found else BELOW if exact < found else ABOVE
    return _plain(near, "f"), sides


def _floats_as_whole(data: np.ndarray, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low = np.floor(data)
    sides[low != data] = ABOVE
    over, under = low >= 2.0**63, low < -(2.0**63)
    with np.errstate(invalid="ignore"):
        words = np.where(over | under | np.isnan(low), 0.0, low).astype(np.int64)
    words[over], sides[over] = MOST, ABOVE
    words[under], sides[under] = LEAST, BELOW
    return words, sides


def _scaled(data: np.ndarray, factor: Fraction, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers in a finer or coarser unit."""
    if factor.numerator == 1:
        by = factor.denominator
        if by > MOST:
            sides[data != 0] = ABOVE
            return np.where(data < 0, -1, 0), sides
        words = data // by
        sides[words * by != data] = ABOVE
        return words, sides
    by = factor.numerator
    over, under = data > MOST // by, data < -(-LEAST // by)
    words = np.where(over | under, 0, data) * np.int64(min(by, MOST))
    words[over], sides[over] = MOST, ABOVE
    words[under], sides[under] = LEAST, BELOW
    return words, sides


def _exactly(value: int | float, factor: Fraction, kind: str) -> tuple[int, int]:
    """One number as a word and its side, by rational numbers."""
    if isinstance(value, float) and isinf(value):
        bits = int(_plain(np.array([value]), "f")[0])
        if kind == "f":
            return bits, AT
        return (MOST, ABOVE) if value > 0 else (LEAST, BELOW)
    exact = Fraction(value) * factor
    if kind == "f":
        try:
            near = float(exact)
        except OverflowError:
            near = np.finfo(np.float64).max.item() if exact > 0 else np.finfo(np.float64).min.item()
        side = AT if exact == Fraction(near) else BELOW if exact < Fraction(near) else ABOVE
        return int(_plain(np.array([near]), "f")[0]), side
    offset = 1 << 63 if kind == "u" else 0
    whole = floor(exact) - offset
    if whole > MOST:
        return MOST, ABOVE
    if whole < LEAST:
        return LEAST, BELOW
    return whole, AT if exact == whole + offset else ABOVE

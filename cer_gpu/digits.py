"""Writes whole numbers of any size: Python refuses to write more than 4,300 digits; counts may have more."""

from __future__ import annotations

import decimal
from decimal import Decimal

_SMALL = 1 << 12
"""Bits of a number that is converted in one go."""

_SHOWN = 40
"""Digits that a message shows."""


class LargeCount(int):
    """A whole number that prints in full: Python refuses to print a plain one of more than 4,300 digits."""

    def __str__(self) -> str:
        return decimal_text(self)

    __repr__ = __str__

    def __format__(self, form: str) -> str:
        if form.endswith("s"):
            return format(decimal_text(self), form)
        if form[-1:].isalpha() and not form.endswith("d"):
            return super().__format__(form)
        return decimal_text(self, form.removesuffix("d"))


def decimal_text(number: int, form: str = "") -> str:
    """A whole number in decimal digits, however many it has; `form`: as in `format`, without a type."""
    with decimal.localcontext() as context:
        context.prec, context.Emax = decimal.MAX_PREC, decimal.MAX_EMAX
        context.traps[decimal.Inexact] = True
        return format(_decimal(number, number.bit_length()), f"{form}f")


def _decimal(number: int, bits: int) -> Decimal:
    # Halves take far less time than the whole, whose conversion is quadratic.
    if bits <= _SMALL:
        return Decimal(number)
    low = bits // 2
    return _decimal(number >> low, bits - low) * Decimal(2) ** low + _decimal(number & ((1 << low) - 1), low)


def digits(number: int) -> int:
    """How many decimal digits a whole number has."""
    number = abs(number)
    # A number of n bits has n * log10(2) digits, rounded down or up.
    found = max(number.bit_length() - 1, 0) * 30103 // 100000 + 1
    while number >= 10**found:
        found += 1
    while found > 1 and number < 10 ** (found - 1):
        found -= 1
    return found


def shown(number: int) -> str:
    """A whole number for a message: its digits, or how many there are."""
    size = digits(number)
    return str(number) if size <= _SHOWN else f"a number of {size:,} digits"

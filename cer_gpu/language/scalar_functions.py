"""Arithmetic and functions on single values, as section 4 of the language says: `combined`, `value_of`.

Constants are computed by them when a query is compiled, and comparisons of several events when it runs;
whole columns are computed by `cer_gpu.engine.read.derive` and `functions`. Functions of a time are not
among them, as they need its time zone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from cer_gpu.language.functions import JOINED, OUTERMOST
from cer_gpu.language.signs import COMBINES


def lower(text: str) -> str:
    """A text in small letters, as LOWER has it.

    Each code point becomes one code point (the simple mappings of Unicode), as in Arrow: a text keeps its
    length. Python's own methods end a Greek word with another sigma, and make `'SS'` of `'ß'`.
    """
    return text.lower() if text.isascii() else "".join(map(_small, text))


def upper(text: str) -> str:
    """A text in capital letters, as UPPER has it: `UPPER('ß')` is `'ẞ'`."""
    return text.upper() if text.isascii() else "".join(map(_capital, text))


def _small(letter: str) -> str:
    return letter.lower()[0]  # of a capital I with a dot the dot is left out


def _capital(letter: str) -> str:
    if letter == "ß":
        return "ẞ"
    # Greek letters with an iota below have a capital of one code point that Unicode calls a title's.
    return next((one for one in (letter.upper(), letter.title()) if len(one) == 1), letter)


Scalar: TypeAlias = Any
"""An int, float, Fraction or text; None is null."""


def value_of(function: str, values: Sequence[Scalar]) -> Scalar:
    """The value of a function; null where an argument is null, but for COALESCE, GREATEST and LEAST.

    Parameters
    ----------
    function : str
        Its name in capitals.
    values : sequence of int, float, Fraction, str or None
        Of types that the language allows.
    """
    if function == "COALESCE":
        return next((value for value in values if value is not None), None)
    if function in OUTERMOST:
        choose = max if function == "GREATEST" else min
        return _outermost(choose, [value for value in values if value is not None])
    return None if None in values else _OF_VALUES[function](*values)


def combined(op: str, one: Scalar, other: Scalar) -> Scalar:
    """`one op other`, of numbers: exact, unless one is a float; null beside a null and for division by 0."""
    if one is None or other is None:
        return None
    if op == "/" or isinstance(one, float) or isinstance(other, float):
        one, other = nearest_float(one), nearest_float(other)
    if op in COMBINES:
        return COMBINES[op](one, other)
    if other == 0:
        return None
    if op == "/":
        return one / other
    if isinstance(one, float):
        return math.nan if math.isinf(one) else math.fmod(one, other)
    size = abs(one) % abs(other)
    return -size if one < 0 else size


def _outermost(choose: Callable[..., Scalar], values: Sequence[Scalar]) -> Scalar:
    """The greatest or least value. A NaN is left out where there is another value."""
    some = [value for value in values if value == value]
    return choose(some) if some else next(iter(values), None)


def nearest_float(value: Scalar) -> float:
    """The float64 nearest to a number, infinite where it is beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def substring(text: str, start: int, length: int | None = None) -> str:
    """`length` code points of a text from place `start` on, where 1 is the first; all if it is None."""
    end = len(text) if length is None else max(start - 1 + length, 0)
    return text[max(start - 1, 0) : end]


def replaced(text: str, what: str, by: str) -> str:
    """A text with `by` wherever `what` stands in it; an empty `what` stands nowhere."""
    return text.replace(what, by) if what else text


def split_part(text: str, separator: str, number: int) -> str:
    """Part `number` of a text, from 1, between separators; empty where there is none."""
    parts = text.split(separator) if separator else [text]
    return parts[number - 1] if 1 <= number <= len(parts) else ""


def power(base: Scalar, exponent: Scalar) -> float | None:
    """A power as float64; None where it is not defined: a root of a negative number, 0 to a negative one."""
    one, other = nearest_float(base), nearest_float(exponent)
    if one == 0 and other < 0:
        return None
    try:
        return math.pow(one, other)
    except OverflowError:
        return -math.inf if one < 0 and other % 2 == 1 else math.inf
    except ValueError:
        return None


def _root(value: Scalar) -> float | None:
    number = nearest_float(value)
    return None if number < 0 else math.sqrt(number)


def _exponential(value: Scalar) -> float:
    try:
        return math.exp(nearest_float(value))
    except OverflowError:
        return math.inf


def _logarithm(value: Scalar) -> float | None:
    number = nearest_float(value)
    return None if number <= 0 else math.log(number)


def _sign(value: Scalar) -> float:
    return math.nan if value != value else float((value > 0) - (value < 0))


def _rounding(rounded: Callable[[Any], int]) -> Callable[[Scalar], int | None]:
    def whole(value: Scalar) -> int | None:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        found = rounded(value)
        return found if -(2**63) <= found < 2**63 else None

    return whole


_OF_VALUES: Mapping[str, Callable[..., Scalar]] = {
    "ABS": abs,
    "FLOOR": _rounding(math.floor),
    "CEIL": _rounding(math.ceil),
    "ROUND": _rounding(round),  # Python rounds a half to the even neighbour
    "SQRT": _root,
    "EXP": _exponential,
    "LN": _logarithm,
    "POWER": power,
    "SIGN": _sign,
    "LOWER": lower,
    "UPPER": upper,
    "LENGTH": len,
    "SUBSTRING": substring,
    "REPLACE": replaced,
    "TRIM": lambda text: text.strip(" "),
    "SPLIT_PART": split_part,
    JOINED: lambda text, other: text + other,
    "CONTAINS": lambda text, part: part in text,
    "STARTS_WITH": lambda text, part: text.startswith(part),
    "ENDS_WITH": lambda text, part: text.endswith(part),
}

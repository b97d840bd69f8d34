"""The functions of one event on Python values, one by one as section 4 of the language says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from cer_gpu.language.scalar_functions import lower, upper
from cer_gpu.language.units import NANOSECONDS
from cer_gpu.reference.events import Duration, Instant, Value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def call(function: str, values: Sequence[Value]) -> Value:
    """The value of a function. A null gives a null, except in COALESCE, which gives the first non-null value.

    FLOOR, CEIL and ROUND of a NaN, and of what does not fit 64 bits, are null. Times are in UTC.

    Raises
    ------
    TypeError
        When the function does not take such a value.
    """
    if function == "COALESCE":
        return next((value for value in values if value is not None), None)
    if function in ("GREATEST", "LEAST"):
        return _outermost(function, [value for value in values if value is not None])
    if any(value is None for value in values):
        return None
    if function in _OF_TEXTS:
        return _OF_TEXTS[function](*values)
    if function in _FLOATS:
        return _float(_FLOATS[function], *map(_as_float, values))
    (value,) = values
    if function in _OF_TEXT and isinstance(value, str):
        return _OF_TEXT[function](value)
    if isinstance(value, Instant):
        if function == "DATE":
            return Instant(value.nanoseconds // NANOSECONDS["d"], "d")
        if function in _OF_TIME:
            return _OF_TIME[function](_EPOCH + timedelta(microseconds=value.nanoseconds // 1_000))
    if function == "ABS" and isinstance(value, Duration):
        return Duration(value.count if value.count >= 0 else -value.count, value.unit)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise TypeError(f"{function} of {value!r}")
    if function == "ABS":
        return value if value >= 0 else -value
    return _whole(_ROUNDED[function], value)


def _outermost(function: str, values: Sequence[Any]) -> Value:
    """The greatest or the least; a NaN only where nothing else is."""
    found: Any = None
    for value in values:
        after = found is not None and (_key(value) > _key(found)) is (function == "GREATEST")
        if found is None or found != found or (after and value == value):
            found = value
    return found


def _key(value: Any) -> Any:
    return value.nanoseconds if isinstance(value, Instant) else value


def _as_float(value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise TypeError(f"a number is wanted, not {value!r}")
    return float(value)


def _float(compute: Callable[..., float], *values: float) -> float | None:
    """A float64; None where the function is not defined."""
    try:
        return compute(*values)
    except ValueError:
        return None
    except OverflowError:  # too large for a float64
        odd = len(values) == 2 and values[0] < 0 and values[1] % 2 == 1
        return -math.inf if odd else math.inf


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:
        raise ValueError("0 to a negative power")
    return math.pow(base, exponent)


_FLOATS: Mapping[str, Callable[..., float]] = {
    "SQRT": math.sqrt,
    "EXP": math.exp,
    "LN": math.log,
    "POWER": _power,
    "SIGN": lambda value: value if value == 0 or value != value else math.copysign(1.0, value),
}


def _substring(text: str, start: int, length: int | None = None) -> str:
    places = enumerate(text, 1)
    return "".join(one for at, one in places if at >= start and (length is None or at < start + length))


def _split_part(text: str, separator: str, number: int) -> str:
    parts = text.split(separator) if separator else [text]
    return dict(enumerate(parts, 1)).get(number, "")


_OF_TEXTS: Mapping[str, Callable[..., Value]] = {
    "SUBSTRING": _substring,
    "REPLACE": lambda text, what, by: by.join(text.split(what)) if what else text,
    "TRIM": lambda text: text.strip(" "),
    "SPLIT_PART": _split_part,
    "||": lambda text, other: f"{text}{other}",
    "CONTAINS": lambda text, part: text.find(part) >= 0,
    "STARTS_WITH": lambda text, part: text[: len(part)] == part,
    "ENDS_WITH": lambda text, part: text[max(len(text) - len(part), 0) :] == part,
}

_OF_TEXT: Mapping[str, Callable[[str], Value]] = {"LOWER": lower, "UPPER": upper, "LENGTH": len}

_OF_TIME: Mapping[str, Callable[[datetime], int]] = {
    "YEAR": lambda time: time.year,
    "MONTH": lambda time: time.month,
    "DAY": lambda time: time.day,
    "HOUR": lambda time: time.hour,
    "MINUTE": lambda time: time.minute,
    "SECOND": lambda time: time.second,
    "WEEKDAY": datetime.isoweekday,
}

# Python rounds a half to the even neighbour.
_ROUNDED: Mapping[str, Callable[[Any], int]] = {"FLOOR": math.floor, "CEIL": math.ceil, "ROUND": round}


def _whole(rounded: Callable[[Any], int], value: int | float | Fraction) -> int | None:
    if not math.isfinite(value):
        return None
    whole = rounded(value)
    return whole if -(2**63) <= whole < 2**63 else None

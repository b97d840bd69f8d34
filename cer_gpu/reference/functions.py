"""The functions of one event on Python values, one by one as section 4 of the language says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from cer_gpu.language.letters import lower, upper
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
    (value,) = values
    if value is None:
        return None
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

"""Comparisons and arithmetic of scalar values, one row at a time over Python values."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from cer_gpu.errors import DataError

LEAST, MOST = -(2**63), 2**63 - 1
MICROSECOND = timedelta(microseconds=1)

# Comparisons


def alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Two values as Python compares them: a text beside a time is one, a date is its midnight."""
    if isinstance(left, date) and isinstance(right, str):
        right = _read_beside(left, right)
    elif isinstance(right, date) and isinstance(left, str):
        left = _read_beside(right, left)
    if isinstance(left, date) and isinstance(right, date):
        left, right = as_moment(left), as_moment(right)
        if (left.tzinfo is None) != (right.tzinfo is None):
            left, right = (
                one.replace(tzinfo=two.tzinfo) if one.tzinfo is None else one
                for one, two in ((left, right), (right, left))
            )
    if isinstance(left, float) and isinstance(right, Decimal):
        right = float(right)
    elif isinstance(right, float) and isinstance(left, Decimal):
        left = float(left)
    return left, right


def _read_beside(column: date, text: str) -> datetime:
    """A text as a time; one with an offset is compared in UTC with a column that has no zone."""
    moment = datetime.fromisoformat(text.strip())
    if moment.tzinfo is not None and as_moment(column).tzinfo is None:
        return moment.astimezone(UTC).replace(tzinfo=None)
    return moment


def as_moment(value: date) -> datetime:
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def _equal(left: Any, right: Any) -> bool:
    left, right = alike(left, right)
    return bool(left == right)


def _less(left: Any, right: Any) -> bool:
    left, right = alike(left, right)
    return bool(left < right)


def _in(value: Any, *others: Any) -> bool | None:
    if value is None:
        return None
    if any(other is not None and _equal(value, other) for other in others):
        return True
    return None if None in others else False


def _null_if(value: Any, other: Any) -> Any:
    return None if value is not None and other is not None and _equal(value, other) else value


def _distinct(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is not right
    return not _equal(left, right)


def _extreme(wins: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def compute(*values: Any) -> Any:
        if any(value != value for value in values):
            return math.nan
        if any(isinstance(value, datetime) for value in values):
            values = tuple(as_moment(value) for value in values)
        best = values[0]
        for value in values[1:]:
            if wins(*alike(value, best)):
                best = value
        return best

    return compute


OF_NULLS: dict[str, Callable[..., Any]] = {
    "is null": lambda value: value is None,
    "is true": lambda value: value is True,
    "in": _in,
    "nullif": _null_if,
    "distinct from": _distinct,
}

# Arithmetic


def _fits(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and not LEAST <= value <= MOST:
        raise DataError("a whole number does not fit 64 bits")
    return value


def _numbers(left: Any, right: Any) -> tuple[Any, Any]:
    if isinstance(left, float) or isinstance(right, float):
        return float(left), float(right)
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return Decimal(left), Decimal(right)
    return left, right


def _plus(left: Any, right: Any) -> Any:
    if isinstance(left, timedelta) and isinstance(right, date):
        left, right = right, left
    if isinstance(left, int) and isinstance(right, date):
        left, right = right, left
    if isinstance(left, date):
        if isinstance(right, int):
            return left + timedelta(days=right)
        return as_moment(left) + right
    if isinstance(left, timedelta):
        return left + right
    one, two = _numbers(left, right)
    return _fits(exactly(lambda: one + two))


def _minus(left: Any, right: Any) -> Any:
    if isinstance(left, date) and isinstance(right, date):
        one, two = alike(left, right)
        return one - two
    if isinstance(left, date):
        return _plus(left, -right)
    if isinstance(left, timedelta):
        return left - right
    one, two = _numbers(left, right)
    return _fits(exactly(lambda: one - two))


def _times(left: Any, right: Any) -> Any:
    if isinstance(left, timedelta) or isinstance(right, timedelta):
        return left * right
    one, two = _numbers(left, right)
    return _fits(exactly(lambda: one * two))


def exactly(compute: Callable[[], Any]) -> Any:
    with localcontext() as context:
        context.prec = 200
        return compute()


def _quotient(left: Any, right: Any) -> Any:
    exact = not isinstance(left, float) and not isinstance(right, float)
    if exact and not right:
        return None
    if isinstance(left, timedelta):
        if isinstance(right, timedelta):
            return left / right
        return cut_quotient(left // MICROSECOND, right) * MICROSECOND
    one, two = float(left), float(right)
    if isinstance(right, Decimal) and not two:
        two = 0.0  # a decimal has no negative zero
    if two:
        try:
            return one / two
        except OverflowError:
            return math.copysign(math.inf, one) * math.copysign(1, two)
    if one == 0 or one != one:
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, two)


def cut_quotient(left: int, right: int) -> int:
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def _whole_quotient(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and right:
        return _fits(cut_quotient(left, right))
    return _quotient(left, right)


def _remainder(left: Any, right: Any) -> Any:
    one, two = _numbers(left, right)
    if isinstance(one, float):
        return math.nan if two == 0 or math.isinf(one) else math.fmod(one, two)
    if two == 0:
        return None
    if isinstance(one, Decimal):
        return exactly(lambda: one % two)  # with the sign of the dividend, unlike int
    return one - cut_quotient(one, two) * two


def _sign(value: Any) -> Any:
    if isinstance(value, float):
        return value if value != value or value == 0 else math.copysign(1.0, value)
    return (value > 0) - (value < 0)


def _whole(function: Callable[[Any], int]) -> Callable[[Any], Any]:
    def compute(value: Any) -> Any:
        if isinstance(value, float):
            return value if not math.isfinite(value) else float(function(value))
        return Decimal(function(value)) if isinstance(value, Decimal) else value

    return compute


def _round(value: Any, places: int = 0) -> Any:
    """Halves away from zero; a float is multiplied, rounded and divided, as floats are."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return value
        power = 10.0 ** abs(places)
        scaled = value * power if places >= 0 else value / power
        whole = math.copysign(float(Decimal(scaled).quantize(Decimal(1), ROUND_HALF_UP)), value)
        return whole / power if places >= 0 else whole * power
    if isinstance(value, int):
        if places >= 0:
            return value
        return _fits(int(exactly(lambda: Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))))
    if -value.as_tuple().exponent <= places:
        return value
    return exactly(lambda: value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def _ieee(function: Callable[..., float]) -> Callable[..., float]:
    def compute(*values: Any) -> float:
        numbers = [float(value) for value in values]
        try:
            return function(*numbers)
        except ValueError:
            return -math.inf if numbers[0] == 0 else math.nan
        except OverflowError:
            return math.inf

    return compute


OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "+": _plus,
    "-": _minus,
    "*": _times,
    "/": _quotient,
    "//": _whole_quotient,
    "%": _remainder,
    "mod": _remainder,
    "neg": lambda value: _fits(-value),
    "=": _equal,
    "<>": lambda left, right: not _equal(left, right),
    "<": _less,
    "<=": lambda left, right: _less(left, right) or _equal(left, right),
    ">": lambda left, right: _less(right, left),
    ">=": lambda left, right: _less(right, left) or _equal(left, right),
    "not": lambda value: not value,
    "greatest": _extreme(lambda value, best: value > best),
    "least": _extreme(lambda value, best: value < best),
    "abs": lambda value: _fits(abs(value)),
    "sign": _sign,
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "round": _round,
    "sqrt": _ieee(math.sqrt),
    "exp": _ieee(math.exp),
    "ln": _ieee(math.log),
    "log10": _ieee(math.log10),
    "power": _ieee(math.pow),
}

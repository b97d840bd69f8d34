"""Functions of texts and times and casts, one row at a time over Python values."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pyarrow as pa

from cer_gpu.errors import DataError
from cer_gpu.reference.row_arithmetic import MICROSECOND, alike, as_moment, cut_quotient, exactly

# Texts


def _like(detail: str | None, text: str, pattern: str, flags: int = 0) -> bool:
    regex, place = "", 0
    while place < len(pattern):
        character = pattern[place]
        if detail is not None and character == detail:
            place += 1
            if place == len(pattern) or pattern[place] not in ("%", "_", detail):
                raise DataError("an escape character before nothing that it escapes")
            regex += re.escape(pattern[place])
        else:
            regex += {"%": ".*", "_": "."}.get(character, re.escape(character))
        place += 1
    return re.fullmatch(regex, text, flags | re.DOTALL) is not None


def _substring(text: str, start: int, length: int | None = None) -> str:
    """Characters from `start` on, of those that there are; below zero counted from the end."""
    first = max(start, 1) if start >= 0 else len(text) + start + 1
    end = len(text) + 1 if length is None else first + max(length, 0)
    return "".join(letter for place, letter in enumerate(text, 1) if first <= place < end)


def _join(*values: Any) -> str:
    return "".join(_cast(pa.string(), value) for value in values)


# Times


def _extract(unit: str, value: Any) -> Any:
    if isinstance(value, timedelta):
        if unit == "epoch":
            return value / timedelta(seconds=1)
        sign = -1 if value < timedelta() else 1
        rest = abs(value)
        fields = {
            "day": rest.days,
            "hour": rest.seconds // 3600,
            "minute": rest.seconds // 60 % 60,
            "second": rest.seconds % 60,
            "millisecond": rest.microseconds // 1000,
        }
        return sign * fields[unit]
    moment = as_moment(value)
    match unit:
        case "epoch":
            since = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
            return (since - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)
        case "quarter":
            return (moment.month + 2) // 3
        case "week":
            return moment.isocalendar().week
        case "dow":
            return moment.isoweekday() % 7
        case "doy":
            return moment.timetuple().tm_yday
        case "millisecond":
            return moment.microsecond // 1000
    return getattr(moment, unit)


def _truncate(unit: str, value: date) -> date:
    moment = as_moment(value)
    if unit == "week":
        moment -= timedelta(days=moment.weekday())
    elif unit == "quarter":
        moment = moment.replace(month=(moment.month - 1) // 3 * 3 + 1, day=1)
    units = ["year", "month", "day", "hour", "minute", "second", "microsecond"]
    least = {"month": 1, "day": 1}
    last = {"quarter": "month", "week": "day"}.get(unit, unit)
    cut = {one: least.get(one, 0) for one in units[units.index(last) + 1 :]}
    made = moment.replace(**cut)  # type: ignore[arg-type]
    days = unit not in ("hour", "minute", "second")
    return made.date() if days and not isinstance(value, datetime) else made


def _difference(unit: str, first: date, second: date) -> int:
    one, two = alike(first, second)
    months = {"month": 1, "quarter": 3, "year": 12}
    if unit in months:
        sign = 1 if two >= one else -1
        early, late = (one, two) if sign > 0 else (two, one)
        count = (late.year - early.year) * 12 + late.month - early.month
        clock = [(at.day, at.time()) for at in (early, late)]
        return sign * ((count - (clock[1] < clock[0])) // months[unit])
    lengths = {"week": 7 * 86_400_000, "day": 86_400_000, "hour": 3_600_000, "minute": 60_000}
    length = lengths.get(unit, 1000 if unit == "second" else 1)
    return cut_quotient((two - one) // MICROSECOND, length * 1000)


def _add_months(value: date, months: int) -> date:
    number = value.year * 12 + value.month - 1 + months
    for day in range(value.day, 0, -1):
        try:
            return value.replace(year=number // 12, month=number % 12 + 1, day=day)
        except ValueError:
            continue
    raise DataError("a time beyond the calendar")


# Casts


def _cast(detail: pa.DataType, value: Any) -> Any:
    try:
        return _as_type(detail, value)
    except (ValueError, ArithmeticError, LookupError) as error:
        raise DataError(f"CAST: {value!r} cannot become {detail}") from error


def _try_cast(detail: pa.DataType, value: Any) -> Any:
    try:
        return _cast(detail, value)
    except DataError:
        return None


def _as_type(type_: pa.DataType, value: Any) -> Any:
    value = value.strip() if isinstance(value, str) and not pa.types.is_string(type_) else value
    if pa.types.is_boolean(type_):
        return (
            {"true": True, "1": True, "false": False, "0": False}[value.lower()]
            if isinstance(value, str)
            else bool(value)
        )
    if pa.types.is_integer(type_):
        if isinstance(value, float | Decimal):
            value = int(Decimal(value).quantize(Decimal(1), ROUND_HALF_UP))
        value, limit = int(value), 2 ** (type_.bit_width - 1)
        if not -limit <= value < limit:
            raise ValueError(value)
        return value
    if pa.types.is_floating(type_):
        return float(value)
    if pa.types.is_decimal(type_):
        made = exactly(lambda: Decimal(value).quantize(Decimal(1).scaleb(-type_.scale), ROUND_HALF_UP))
        if abs(made) >= 10 ** (type_.precision - type_.scale):
            raise ValueError(value)
        return made
    if pa.types.is_string(type_):
        if isinstance(value, datetime):
            text = value.strftime("%Y-%m-%d %H:%M:%S.%f")
            return text.rstrip("0").rstrip(".")
        return str(value).lower() if isinstance(value, bool) else str(value)
    if pa.types.is_date(type_):
        return (datetime.fromisoformat(value) if isinstance(value, str) else as_moment(value)).date()
    if pa.types.is_timestamp(type_):
        return datetime.fromisoformat(value) if isinstance(value, str) else as_moment(value)
    raise ValueError(type_)


DETAILED: dict[str, Callable[..., Any]] = {
    "like": _like,
    "ilike": lambda detail, text, pattern: _like(detail, text, pattern, re.IGNORECASE),
    "extract": _extract,
    "date_trunc": _truncate,
    "date_diff": _difference,
    "cast": _cast,
    "try cast": _try_cast,
}

OF_TEXTS_AND_TIMES: dict[str, Callable[..., Any]] = {
    "||": _join,
    "regexp": lambda text, pattern: re.search(pattern, text) is not None,
    "upper": str.upper,
    "lower": str.lower,
    "length": len,
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "substring": _substring,
    "replace": lambda text, what, other: text.replace(what, other) if what else text,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": lambda text, part: part in text,
    "position": lambda part, text: text.find(part) + 1,
    "add_months": _add_months,
}

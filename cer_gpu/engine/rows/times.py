"""Functions of times: their parts, units cut off, whole units between two times, months added."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from cer_gpu.engine.rows.calls import ScalarCall, ScalarStep
from cer_gpu.engine.rows.value_types import (
    DATE,
    FLOAT,
    INT,
    MOMENTS,
    Values,
    common,
    converted,
    described,
    finer,
    in_zone,
    kind_of,
    numbers_of,
    steps_of,
    times_of,
)
from cer_gpu.lazy_modules import compute as pc

_PARTS = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "week": "iso_week",
    "day": "day",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "millisecond": "millisecond",
    "doy": "day_of_year",
}
_CLOCK = ("hour", "minute", "second", "millisecond")
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def _moment(call: ScalarCall, step: ScalarStep, others: frozenset[str] = frozenset()) -> None:
    if kind_of(step.type) in MOMENTS | others | {"null"}:
        return
    hint = "write `TIMESTAMP '2024-01-31 12:30:00'`" if step.text is not None else "CAST it to TIMESTAMP"
    message = f"`{_shown(call)}` takes a date or a timestamp, and this is {described(step.type)}"
    raise call.refusal("CER029", message, hint, at=step)


def _shown(call: ScalarCall) -> str:
    return {"date_diff": "TIMESTAMPDIFF", "add_months": "+"}.get(call.node.name, call.name)


def _unit(call: ScalarCall, known: tuple[str, ...]) -> str:
    unit = str(call.node.detail).lower()
    if unit not in known:
        raise call.refusal(
            "CER015", f"`{_shown(call)}` has no unit {unit.upper()}", f"it knows {', '.join(known)}"
        )
    return unit


def extracted(call: ScalarCall) -> ScalarStep:
    """`EXTRACT`: weeks are those of ISO 8601, the days of a week run from 0, Sunday; parts are int64.

    EPOCH is a float: the seconds since 1970, or of an interval.
    """
    unit = _unit(call, (*_PARTS, "dow", "epoch"))
    (operand,) = call.operands
    _moment(call, operand, frozenset({"duration", "time"}))
    type_ = FLOAT if unit == "epoch" else INT
    kind = kind_of(operand.type)
    if kind == "null":
        return call.null(type_)
    if unit == "epoch":
        return call.step(FLOAT, _epoch)
    if kind in ("duration", "time"):
        if unit not in (*_CLOCK, "day"):
            message = f"{described(operand.type)} has no {unit.upper()}"
            raise call.refusal(
                "CER029", message, "it has days, hours, minutes, seconds, milliseconds and the EPOCH"
            )
        return call.step(INT, _part_of_length(unit))
    if kind == "date" and unit in _CLOCK:
        return call.step(INT, lambda values: pc.multiply(numbers_of(values), pa.scalar(0, INT)))
    if unit == "dow":
        return call.step(INT, lambda values: pc.cast(pc.day_of_week(values, week_start=7), INT))
    function = getattr(pc, _PARTS[unit])
    return call.step(INT, lambda values: pc.cast(function(values), INT))


def _epoch(values: Values) -> Values:
    if pa.types.is_date(values.type):
        values = pc.cast(values, pa.timestamp("s"))
    number = pc.cast(numbers_of(values), FLOAT, safe=False)
    return pc.divide(number, pa.scalar(float(steps_of(values.type))))


def _part_of_length(unit: str) -> Callable[[Values], Values]:
    """A field of an interval: its days, and what is left of them, with its sign."""

    def compute(values: Values) -> Values:
        number, second = numbers_of(values), steps_of(values.type)

        def below(whole: str) -> Values:
            size = pa.scalar(_SECONDS[whole] * second, INT)
            return pc.subtract(number, pc.multiply(pc.divide(number, size), size))

        if unit == "millisecond":
            rest = below("second")
            return pc.divide(pc.multiply(rest, pa.scalar(1000, INT)), pa.scalar(second, INT))
        rest = {"day": number, "hour": below("day"), "minute": below("hour"), "second": below("minute")}[unit]
        return pc.divide(rest, pa.scalar(_SECONDS[unit] * second, INT))

    return compute


def truncated(call: ScalarCall) -> ScalarStep:
    """`DATE_TRUNC`: a date stays one for days and more; weeks begin on Monday."""
    unit = _unit(call, ("year", "quarter", "month", "week", "day", "hour", "minute", "second"))
    (operand,) = call.operands
    _moment(call, operand)
    type_ = operand.type
    if kind_of(type_) == "null":
        return call.null(pa.timestamp("us"))
    if kind_of(type_) == "date" and unit in _CLOCK:
        return call.step(pa.timestamp("s"), lambda values: pc.cast(values, pa.timestamp("s")))
    return call.step(type_, lambda values: pc.floor_temporal(values, unit=unit))


def between(call: ScalarCall) -> ScalarStep:
    """`TIMESTAMPDIFF`: whole units from the first time to the second, cut towards zero."""
    unit = _unit(call, (*_MONTHS, *_SECONDS, "millisecond"))
    for operand in call.operands:
        _moment(call, operand)
    left, right = call.types
    both = common(left, right)
    if both is None:
        raise call.type_refusal("CER029", "only one of them has a time zone: CAST one")
    if "null" in (kind_of(left), kind_of(right)):
        return call.null(INT)
    if pa.types.is_date(both):
        both = pa.timestamp("s")
    if unit in _MONTHS:
        return call.step(INT, lambda one, two: _months_between(_clocks(one, both), _clocks(two, both), unit))
    size = steps_of(both) * _SECONDS.get(unit, 1)
    if unit == "millisecond":
        both = pa.timestamp(finer(both.unit, "ms"), both.tz)
        size = steps_of(both) // 1000

    def compute(one: Values, two: Values) -> Values:
        first, second = numbers_of(converted(one, both)), numbers_of(converted(two, both))
        return pc.divide(pc.subtract_checked(second, first), pa.scalar(size, INT))

    return call.step(INT, compute)


def _clocks(values: Values, type_: pa.DataType) -> Values:
    """Times as clocks of their zone show them."""
    values = converted(values, type_)
    return pc.local_timestamp(values) if type_.tz is not None else values


def _month_numbers(values: Values) -> Values:
    """Months since the year 0."""
    return pc.add(pc.multiply(pc.year(values), pa.scalar(12, INT)), pc.subtract(pc.month(values), 1))


def _months_between(first: Values, second: Values, unit: str) -> Values:
    months = pc.subtract(_month_numbers(second), _month_numbers(first))
    one, two = (
        pc.subtract(numbers_of(at), numbers_of(pc.floor_temporal(at, unit="month"))) for at in (first, second)
    )
    short = pc.and_(pc.greater(months, 0), pc.less(two, one))
    long = pc.and_(pc.less(months, 0), pc.greater(two, one))
    months = pc.subtract(months, pc.cast(short, INT))
    months = pc.add(months, pc.cast(long, INT))
    return pc.divide(months, pa.scalar(_MONTHS[unit], INT))


def with_months(call: ScalarCall) -> ScalarStep:
    """A time and an interval of months: the day of the month stays, or is the last one that the month has."""
    at, months = call.operands
    _moment(call, at)
    if kind_of(months.type) not in ("int", "null"):
        raise call.refusal(
            "CER029", f"months are a whole number, and this is {described(months.type)}", at=months
        )
    type_ = at.type
    if kind_of(type_) == "null":
        return call.null(type_)

    def compute(values: Values, number: Values) -> Values:
        zone = None if pa.types.is_date(type_) else type_.tz
        clocks = values if zone is None else pc.local_timestamp(values)
        day = pc.cast(clocks, DATE)
        target = pc.add_checked(_month_numbers(day), pc.cast(number, INT))
        first = _first_day(target)
        length = pc.subtract(_first_day(pc.add(target, 1)), first)
        moved = pc.add(
            first, pc.min_element_wise(pc.subtract(pc.day(day), 1), pc.subtract(length, 1), skip_nulls=False)
        )
        if pa.types.is_date(type_):
            return times_of(moved, DATE)
        second = steps_of(type_)
        clock = pc.subtract(numbers_of(clocks), numbers_of(pc.floor_temporal(clocks, unit="day")))
        made = pc.add_checked(pc.multiply_checked(moved, pa.scalar(86_400 * second, INT)), clock)
        moment = times_of(made, pa.timestamp(type_.unit))
        return moment if zone is None else in_zone(moment, zone)

    return call.step(type_, compute)


def _first_day(months: Values) -> Values:
    """The first day of a month, in days since 1970: Howard Hinnant's `days_from_civil`, with March first."""

    def number(value: int) -> pa.Scalar:
        return pa.scalar(value, INT)

    def floored(values: Values, size: int) -> Values:
        cut = pc.divide(values, number(size))
        return pc.subtract(cut, pc.cast(pc.less(values, pc.multiply(cut, number(size))), INT))

    shifted = pc.subtract(months, number(2))
    year = floored(shifted, 12)
    month = pc.subtract(shifted, pc.multiply(year, number(12)))
    before = pc.divide(pc.add(pc.multiply(month, number(153)), number(2)), number(5))
    leap = pc.add(pc.subtract(floored(year, 4), floored(year, 100)), floored(year, 400))
    return pc.subtract(pc.add(pc.add(pc.multiply(year, number(365)), leap), before), number(719_468))

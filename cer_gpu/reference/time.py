"""Differences of the order attribute, and the bounds that windows and gaps set on them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from cer_gpu.language import tree as t
from cer_gpu.language.units import NANOSECONDS, exact
from cer_gpu.reference.events import Duration, Instant, Value


def difference(late: Value, early: Value) -> int | float | Duration | None:
    """`late - early`: of the column's own type, a `Duration` for instants; None where one is null or NaN.

    Two float64 values are subtracted as float64 values.
    """
    if late is None or early is None:
        return None
    if isinstance(late, Instant | Duration) and isinstance(early, Instant | Duration):
        if late.unit == early.unit:
            return Duration(late.count - early.count, late.unit)
        return Duration(late.nanoseconds - early.nanoseconds)
    if isinstance(late, str | Instant | Duration) or isinstance(early, str | Instant | Duration):
        raise TypeError(f"{late!r} - {early!r} has no value")
    gap: Any = late - early
    return None if gap != gap else gap


def bound_of(
    number: int | float, unit: str | None, like: int | float | Duration, order_unit: str | None
) -> int | float | Fraction:
    """A bound as a number that compares with `_measure(difference)`.

    A bound with a unit is exact (`0.1 s` is one tenth of a second); for a float64 column it is rounded to
    the nearest float64 value of the column's unit. A bound without a unit is in the column's own unit.

    Raises
    ------
    ValueError
        When the bound has a unit, the column holds plain numbers, and their unit is not known.
    """
    if isinstance(like, Duration):
        return exact(number) * NANOSECONDS[like.unit if unit is None else unit]
    if unit is None:
        return number
    if order_unit is None:
        raise ValueError(f"a bound of {number} {unit} on a plain number whose unit is not known")
    scaled = exact(number) * Fraction(NANOSECONDS[unit], NANOSECONDS[order_unit])
    return float(scaled) if isinstance(like, float) else scaled


def _measure(gap: int | float | Duration) -> int | float | Fraction:
    return gap.nanoseconds if isinstance(gap, Duration) else gap


def at_most(
    gap: int | float | Duration | None, size: int | float, unit: str | None, order_unit: str | None
) -> bool:
    """Whether a difference is at most the size of a window; a null one is not."""
    return gap is not None and _measure(gap) <= bound_of(size, unit, gap, order_unit)


def inside(gap: int | float | Duration | None, interval: t.Interval, order_unit: str | None) -> bool:
    """Whether a difference lies in an interval of section 3; a null one does not."""
    if gap is None:
        return False
    measure = _measure(gap)
    low, high = interval.low, interval.high
    if low is not None:
        bound = bound_of(low.value, low.unit, gap, order_unit)
        if measure < bound or (low.open and measure == bound):
            return False
    if high is not None:
        bound = bound_of(high.value, high.unit, gap, order_unit)
        if measure > bound or (high.open and measure == bound):
            return False
    return True


def counting(interval: t.Interval) -> t.Interval:
    """An interval in events as one of plain numbers."""
    low, high = (None if one is None else replace(one, unit=None) for one in (interval.low, interval.high))
    return t.Interval(low, high)

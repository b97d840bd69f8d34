"""The reach of an interval: how far it goes in the units of the data."""

from __future__ import annotations

import math
from fractions import Fraction

from cer_gpu.language import tree
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact
from cer_gpu.plan.outlook import Reach


def reach_of(interval: tree.Interval | None, schema: Schema) -> Reach:
    """The reach of an interval, in the units of the data, both ends in."""
    if interval is None:
        return Reach(None)
    bounds = [bound for bound in (interval.low, interval.high) if bound is not None]
    counts = any(bound.unit == EVENTS for bound in bounds)
    unit, kind = None, ValueType.INT64
    if not counts:
        assert schema.order is not None
        kind = schema.attributes[schema.order]
        unit = schema.units.get(schema.order, schema.order_unit)
    whole = kind is not ValueType.FLOAT64

    def size(bound: tree.Bound) -> Fraction:
        value = exact(bound.value)
        if counts or bound.unit is None:
            return value
        assert unit is not None
        return value * Fraction(NANOSECONDS[bound.unit], NANOSECONDS[unit])

    low, high = interval.low, interval.high
    return Reach(
        "events" if counts else "time",
        0 if low is None else _least(size(low), low.open, whole),
        None if high is None else -_least(-size(high), high.open, whole),
    )


def _least(size: Fraction, beyond: bool, whole: bool) -> int | float:
    """The least number from a bound on, or beyond it."""
    if whole:
        return math.floor(size) + 1 if beyond else math.ceil(size)
    nearest = float(size)
    return math.nextafter(nearest, math.inf) if beyond else nearest

"""The reach of an interval, and of all intervals of a pattern together, in the units of the data."""

from __future__ import annotations

import math
from fractions import Fraction

from cer_gpu.language import tree
from cer_gpu.language.amounts import counts_events
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact
from cer_gpu.language.walk import nodes
from cer_gpu.plan.outlook import Reach

ASSUMED = Schema({"time": ValueType.TIMESTAMP}, None, frozenset(), order="time", units={"time": "ns"})
"""In whose unit intervals are measured while the data is not known."""

ROUNDED = 2.0**-40
"""By what part the difference of two float64 times may be more than the sum of those in between."""

FARTHEST = 2**62
"""A pattern that may last longer than this has no window of its own."""


def reach_of(interval: tree.Interval | None, schema: Schema) -> Reach:
    """The reach of an interval, in the units of the data, both ends in."""
    if interval is None:
        return Reach(None)
    counts = counts_events(interval)
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


def longest(pattern: tree.Pattern, schema: Schema) -> int | float | None:
    """The longest time from start to end that the intervals of a pattern allow, None for any.

    `A ;[<= 5 s] B ;[<= 5 s] C` lasts 10 s at most, and `(A ; B) WITHIN [<= 9 s]` lasts 9 s. What a selector
    chooses may depend on longer complex events, which it does not choose or an operator around it leaves out:
    a pattern with one may last for any time.

    Parameters
    ----------
    pattern : Pattern
        Without `Optional`.
    schema : Schema
    """
    own = list(nodes(pattern))
    if schema.order is None or any(isinstance(node, tree.Selector) for node in own):
        return None
    if not any(isinstance(node, tree.Timed) or getattr(node, "gap", None) is not None for node in own):
        return None
    found = _longest(pattern, schema)
    if found is None or found > FARTHEST:
        return None
    return found * (1 + ROUNDED) if schema.attributes[schema.order] is ValueType.FLOAT64 else found


def _longest(pattern: tree.Pattern, schema: Schema) -> int | float | None:
    # Operators of two sides lean to the left, and may be many.
    above: list[tree.Pattern] = []
    while not isinstance(pattern, tree.EventType | tree.OtherEvent):
        above.append(pattern)
        pattern = pattern.left if hasattr(pattern, "left") else pattern.pattern
    found: int | float | None = 0
    for node in reversed(above):
        match node:
            case tree.Sequence():
                found = _sum(found, reach_of(node.gap, schema).high, _longest(node.right, schema))
            case tree.Iteration():
                most = node.times.most if node.times is not None else None
                if most is None:
                    found = None
                elif most > 1:
                    high = reach_of(node.gap, schema).high
                    found = None if found is None or high is None else most * found + (most - 1) * high
            case tree.Timed():
                found = _least_of(found, reach_of(node.interval, schema).high)
            case tree.And():
                found = _least_of(found, _longest(node.right, schema))
            case tree.Or():
                other = _longest(node.right, schema)
                found = None if found is None or other is None else max(found, other)
            case tree.All():
                found = None
            case _:  # the time of its operand, or of its left side
                pass
    return found


def _sum(*times: int | float | None) -> int | float | None:
    return None if None in times else sum(time for time in times if time is not None)


def _least_of(one: int | float | None, other: int | float | None) -> int | float | None:
    known = [time for time in (one, other) if time is not None]
    return min(known, default=None)

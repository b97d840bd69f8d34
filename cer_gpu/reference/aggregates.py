"""Aggregates: one value over the events that a variable marks (section 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.reference.events import Duration, Event, Instant, Value

Marked: TypeAlias = Callable[[str, t.Earlier], Sequence[Event]]
"""The events that a variable marks, in the order of the stream; with a word in earlier repetitions."""


def aggregate_of(node: t.Aggregate, marked: Marked) -> Value:
    """The value of an aggregate. Nulls, missing attributes and NaN are left out; COUNT of nothing is 0.

    Raises
    ------
    OverflowError
        When a sum of integers does not fit 64 bits.
    """
    events = marked(node.variable or "", node.prior)
    if not isinstance(node.argument, t.Attribute):
        return len(events)
    read = (event.attributes.get(node.argument.name) for event in events)
    values = [value for value in read if value is not None and value == value]
    if node.function == "COUNT":
        return len(set(map(_comparable, values))) if node.distinct else len(values)
    if not values:
        return None
    match node.function:
        case "FIRST":
            return values[0]
        case "LAST":
            return values[-1]
        case "MIN":
            return min(values, key=_comparable)
        case "MAX":
            return max(values, key=_comparable)
        case "SUM":
            return _sum(values)
        case _:
            return float(_sum(values)) / len(values)


def _comparable(value: Value) -> Any:
    return value.nanoseconds if isinstance(value, Instant | Duration) else value


def _sum(values: Sequence[Any]) -> int | float:
    total: int | float = sum(values)
    if isinstance(total, int) and not -(2**63) <= total < 2**63:
        raise OverflowError(f"the sum {total} does not fit 64 bits")
    return total

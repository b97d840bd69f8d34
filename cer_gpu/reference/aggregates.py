"""Aggregates: one value over the events that a variable marks (section 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.reference.events import Duration, Event, Instant, Value

Marked: TypeAlias = Callable[[str, t.Earlier], Sequence[Event]]
"""The events that a variable marks, in the order of the stream; with a word in earlier repetitions."""


Repetitions: TypeAlias = Callable[[t.Aggregate], Sequence[Mapping[str, Sequence[Event]]]]
"""For an expression over several variables, their events in each repetition of which they are."""

Valued: TypeAlias = Callable[[t.Expression, Mapping[str, Event]], Value]
"""The value of an expression, given an event for each variable."""


def aggregate_of(
    node: t.Aggregate, marked: Marked, valued: Valued, repetitions: Repetitions | None = None
) -> Value:
    """The value of an aggregate. Nulls, missing attributes and NaN are left out; COUNT of nothing is 0.

    Raises
    ------
    OverflowError
        When a sum of integers does not fit 64 bits.
    """
    if node.argument is None:
        return len(marked(node.variable or "", node.prior))
    if node.variable is not None:
        chosen = [{node.variable: event} for event in marked(node.variable, node.prior)]
    else:
        assert repetitions is not None
        chosen = [
            dict(zip(events, choice)) for events in repetitions(node) for choice in product(*events.values())
        ]
    read = (valued(node.argument, one) for one in chosen)
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


def _sum(values: Sequence[Any]) -> Any:
    if isinstance(values[0], Duration):
        return Duration(sum(value.nanoseconds for value in values))
    total: int | float = sum(values)
    if isinstance(total, int) and not -(2**63) <= total < 2**63:
        raise OverflowError(f"the sum {total} does not fit 64 bits")
    return total

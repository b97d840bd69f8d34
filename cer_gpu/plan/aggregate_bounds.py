"""Filters that compare an aggregate of an iteration with a constant, and the bound in the units of the data.

`SUM(b.size) > 350` and `MAX(t.price) - MIN(t.price) >= 2` are such filters. One that asks for less is read
with the values negated: `SUM(b.size) < 350` asks for a sum of -b.size above -350.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, isfinite
from typing import NamedTuple

from cer_gpu.automata.comparisons import beyond
from cer_gpu.automata.configurations.comparisons import column_of
from cer_gpu.errors import QueryError
from cer_gpu.kernels.thresholds.contract import EVERY, MEAN, SOME, SPREAD, SUM
from cer_gpu.language import tree
from cer_gpu.language.leaves import aggregates, attributes
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.language.signs import CONVERSE
from cer_gpu.language.walk import walk
from cer_gpu.plan.constants import ConstantReader, Measure

FARTHEST = 2**64
"""A bound beyond this is no other than this one: no sum of 64 bits comes near it."""

VALUE_TYPES = {
    SUM: (ValueType.INT64, ValueType.FLOAT64, ValueType.DURATION),
    MEAN: (ValueType.INT64, ValueType.FLOAT64),
    SPREAD: (ValueType.INT64, ValueType.FLOAT64, ValueType.DURATION, ValueType.TIMESTAMP),
    SOME: (ValueType.INT64, ValueType.FLOAT64, ValueType.DURATION, ValueType.TIMESTAMP),
    EVERY: (ValueType.INT64, ValueType.FLOAT64, ValueType.DURATION, ValueType.TIMESTAMP),
}
"""Of which types the values of each kind may be."""


class AggregateCondition(NamedTuple):
    """A comparison of an aggregate with a constant.

    Attributes
    ----------
    comparison : Comparison
        As written.
    variable : str
    value : Expression
        What is aggregated, over a single event.
    kind : int
        As in `AggregateThreshold`, of the values times `sign`.
    sign : {1, -1}
    strict : bool
    constant : Expression
    """

    comparison: tree.Comparison
    variable: str
    value: tree.Expression
    kind: int
    sign: int
    strict: bool
    constant: tree.Expression


class AggregateBound(NamedTuple):
    """What an aggregate of the values times a sign has to exceed.

    Attributes
    ----------
    bound : int or float
        Of whole numbers a whole one.
    strict : bool
        Whether the bound itself is not enough; never of whole numbers.
    """

    bound: int | float
    strict: bool


def aggregate_condition(condition: tree.Condition) -> AggregateCondition | None:
    """A condition that compares one aggregate with a constant, in either direction; None if it is another."""
    if not isinstance(condition, tree.Comparison):
        return None
    left, op, right = condition.left, condition.op, condition.right
    if next(aggregates(right), None) is not None:
        left, op, right = right, CONVERSE[op], left
    if op not in (">", ">=", "<", "<=") or next(aggregates(right), None) or next(attributes(right), None):
        return None
    sign = 1 if op in (">", ">=") else -1
    spread = isinstance(left, tree.Arithmetic) and left.op == "-"
    one = left.left if isinstance(left, tree.Arithmetic) else left
    if not isinstance(one, tree.Aggregate) or one.argument is None or one.variable is None:
        return None
    if one.prior or one.distinct or one.order or one.edge is not None:
        return None
    value, function = column_of(one.argument), one.function
    if isinstance(left, tree.Arithmetic):
        # Less than a spread: each event is nothing away from itself, so this asks for single events.
        other = left.right
        if not spread or sign < 0 or function != "MAX" or not isinstance(other, tree.Aggregate):
            return None
        if other.function != "MIN" or (other.argument, other.variable) != (one.argument, one.variable):
            return None
        if other.prior:
            return None
        kind = SPREAD
    elif function in ("SUM", "AVG"):
        kind = SUM if function == "SUM" else MEAN
    elif function in ("MAX", "MIN"):
        kind = SOME if (function == "MAX") == (sign > 0) else EVERY
    else:
        return None
    return AggregateCondition(condition, one.variable, value, kind, sign, op in (">", "<"), right)


def bound_of(condition: AggregateCondition, reader: ConstantReader) -> AggregateBound:
    """The constant of a condition as a bound of the values times its sign.

    Raises
    ------
    QueryError
        When it is no number, a float does not hold it, or values of their type have no threshold.
    """
    try:
        measure = reader.type_of(condition.value)
    except KeyError:
        return AggregateBound(0, condition.strict)  # nothing is known of the data yet
    if measure.type not in VALUE_TYPES[condition.kind]:
        raise _beyond(condition, "is not over numbers or times of 64 bits")
    if any(isinstance(part, tree.Parameter) for part in walk(condition.constant)):
        return AggregateBound(0, condition.strict)  # of a plan that is only shown
    if condition.kind == SPREAD and measure.type is ValueType.TIMESTAMP:
        measure = Measure(ValueType.DURATION, measure.unit)
    if condition.kind == MEAN:
        measure = Measure(ValueType.FLOAT64)
    constant = reader.read(condition.constant, measure)
    if constant is None or isinstance(constant, str):
        raise _beyond(condition, "does not compare with a number")
    if isinstance(constant, float) and not isfinite(constant):
        raise _beyond(condition, "compares with an infinite number")
    wanted = Fraction(constant) * condition.sign
    if measure.type is not ValueType.FLOAT64:
        least = floor(wanted) + 1 if condition.strict else ceil(wanted)
        return AggregateBound(min(max(least, -FARTHEST), FARTHEST), False)
    if abs(wanted) > FARTHEST and not isinstance(constant, float):
        raise _beyond(condition, "compares with a number beyond float64")
    if Fraction(float(wanted)) != wanted:
        raise _beyond(condition, "compares with a number beyond float64")
    return AggregateBound(float(wanted), condition.strict)


def _beyond(condition: AggregateCondition, why: str) -> QueryError:
    return beyond(f"`{to_text(condition.comparison)}` {why}")

"""Evaluates conditions on Python values, case by case as section 4 of the language says.

The logic is two-valued: a comparison with a null, a NaN or an attribute that the event lacks is false, and
NOT is the complement.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.language.leaves import aggregates, attributes
from cer_gpu.language.units import exact
from cer_gpu.language.walk import walk
from cer_gpu.reference.aggregates import Marked, Repetitions, aggregate_of
from cer_gpu.reference.events import Duration, Event, Instant, Value, duration, instant
from cer_gpu.reference.functions import call

Lookup: TypeAlias = Callable[[Any], Value]
"""The value of what an expression reads of events: an Attribute, a Previous, an Aggregate or a Moment."""

Leaf: TypeAlias = t.Comparison | t.Like | t.InSet | t.InRange | t.IsNull

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def condition_holds(condition: t.Condition, marked: Marked, repetitions: Repetitions | None = None) -> bool:
    """Whether a condition holds of the events that each variable marks.

    Parameters
    ----------
    condition : Condition
    marked : callable
        Returns the events that a variable marks, in the order of the stream; called with "PRIOR", those that
        it marked in the repetition before, with "BEFORE" in all before. Unary predicates and correlations
        hold if they hold for every event, or for every choice of one event of each variable; so they hold if
        there is no event.
    repetitions : callable, optional
        As in `aggregate_of`.

    Raises
    ------
    TypeError
        When values do not compare, which the checks of the language exclude.
    """
    match condition:
        case t.Truth(value=value):
            return value
        case t.Both(left=left, right=right):
            return condition_holds(left, marked, repetitions) and condition_holds(right, marked, repetitions)
        case t.Either(left=left, right=right):
            return condition_holds(left, marked, repetitions) or condition_holds(right, marked, repetitions)
        case t.Not(operand=operand):
            return not condition_holds(operand, marked, repetitions)
        case t.Every(variable=name, predicate=predicate, prior=prior):
            return all(predicate_holds(predicate, event) for event in marked(name, prior))
        case _:
            read = attributes(condition)
            chosen_of = sorted({(one.variable or "", one.prior) for one in read})
            if any(not marked(name, "BEFORE") for name in _aggregated_before(condition)):
                return True
            choices = product(*(tuple(marked(*owner)) for owner in chosen_of))
            return all(
                _correlation_holds(condition, dict(zip(chosen_of, chosen)), marked, repetitions)
                for chosen in choices
            )


def _aggregated_before(leaf: Leaf) -> frozenset[str]:
    """The variables whose BEFORE is aggregated in a comparison."""
    found = aggregates(leaf)
    read = (part for one in found for part in walk(one) if isinstance(part, t.Attribute | t.Aggregate))
    return frozenset(part.variable for part in read if part.prior == "BEFORE" and part.variable)


def predicate_holds(predicate: t.Condition, event: Event) -> bool:
    """Whether one event satisfies a predicate.

    Raises
    ------
    TypeError
        Values that do not compare.
    """
    match predicate:
        case t.Truth(value=value):
            return value
        case t.Both(left=left, right=right):
            return predicate_holds(left, event) and predicate_holds(right, event)
        case t.Either(left=left, right=right):
            return predicate_holds(left, event) or predicate_holds(right, event)
        case t.Not(operand=operand):
            return not predicate_holds(operand, event)
        case t.Every():
            raise TypeError("a predicate on one event speaks of no variable")
        case _:
            return _leaf_holds(predicate, lambda node: of_event(node, event))


def _correlation_holds(
    leaf: Leaf, chosen: Mapping[tuple[str, str], Event], marked: Marked, repetitions: Repetitions | None
) -> bool:
    def lookup(node: t.Expression) -> Value:
        if isinstance(node, t.Aggregate):
            return aggregate_of(node, marked, valued, repetitions)
        owner = node.attribute if isinstance(node, t.Previous) else node
        if not isinstance(owner, t.Attribute) or owner.variable is None:
            raise TypeError(f"{node!r} of no variable in a correlation")
        return of_event(node, chosen[owner.variable, owner.prior])

    return _leaf_holds(leaf, lookup)


def valued(expression: t.Expression, chosen: Mapping[str, Event]) -> Value:
    """The value of an expression, given an event for each variable."""

    def lookup(node: t.Expression) -> Value:
        owner = node.attribute if isinstance(node, t.Previous) else node
        assert isinstance(owner, t.Attribute)
        return of_event(node, chosen[owner.variable or ""])

    return value_of(expression, lookup)


def of_event(node: t.Expression, event: Event) -> Value:
    """The value of an attribute of an event, or of one before it."""
    match node:
        case t.Attribute(name=name):
            return event.attributes.get(name)
        case t.Previous(attribute=attribute, distance=distance):
            before = event.back(distance)
            return None if before is None else before.attributes.get(attribute.name)
        case _:
            raise TypeError(f"{node!r} is no value of one event")


def _leaf_holds(leaf: Leaf, lookup: Lookup) -> bool:
    match leaf:
        case t.Comparison(op=op, left=left, right=right):
            return compare(op, *_both(left, right, lookup))
        case t.Like(operand=operand, pattern=pattern):
            value = value_of(operand, lookup)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"LIKE on {value!r}")
            return value is not None and re.search(pattern, value) is not None
        case t.InSet(operand=operand, members=members):
            return any(compare("=", *_both(operand, one, lookup)) for one in members.constants) or any(
                _between(operand, low, high, lookup) for low, high in members.ranges
            )
        case t.InRange(operand=operand, low=low, high=high):
            return _between(operand, low, high, lookup)
        case t.IsNull(operand=operand):
            return value_of(operand, lookup) is None


def _between(
    operand: t.Expression, low: t.Expression | None, high: t.Expression | None, lookup: Lookup
) -> bool:
    # A range without ends holds for what compares with something: not for a null or a NaN.
    value = value_of(operand, lookup)
    inside = compare("=", value, value)
    if low is not None:
        inside = inside and compare(">=", *_both(operand, low, lookup))
    if high is not None:
        inside = inside and compare("<=", *_both(operand, high, lookup))
    return inside


def _both(left: t.Expression, right: t.Expression, lookup: Lookup) -> tuple[Value, Value]:
    """Two values that are put together: beside a decimal, a number is the one that is written."""
    first, second = value_of(left, lookup), value_of(right, lookup)
    if isinstance(first, Fraction) and isinstance(right, t.Number):
        return first, exact(right.value)
    if isinstance(second, Fraction) and isinstance(left, t.Number):
        return exact(left.value), second
    return first, second


def compare(op: str, left: Value, right: Value) -> bool:
    """`left op right`: false for a null or a NaN; exact between int and float; strings by code point.

    A string compared with an instant is an ISO 8601 literal.

    Raises
    ------
    TypeError
        When the values are of types that do not compare.
    """
    if left is None or right is None:
        return False
    if isinstance(left, Instant) and isinstance(right, str):
        right = instant(right)
    if isinstance(right, Instant) and isinstance(left, str):
        left = instant(left)
    if _kind(left) != _kind(right):
        raise TypeError(f"{left!r} and {right!r} do not compare")
    a, b = (v.nanoseconds if isinstance(v, Instant | Duration) else v for v in (left, right))
    # Python orders NaN as IEEE 754 does, but for `!=`, which here is false like every other comparison.
    return a == a and b == b and _COMPARE[op](a, b)


def _kind(value: Value) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float() | Fraction():
            return "number"
        case str():
            return "string"
        case Instant():
            return "instant"
        case _:
            return "duration"


def value_of(expression: t.Expression, lookup: Lookup) -> Value:
    """The value of an arithmetic expression; null if an operand is null or a divisor is zero.

    Integers are exact here (they do not wrap at 64 bits), `/` divides float64 values, `%` has the sign of
    the dividend.

    Raises
    ------
    TypeError
        When an operand is of a type without arithmetic.
    """
    match expression:
        case t.Number() | t.Text() | t.Boolean():
            return expression.value
        case t.Quantity(value=size, unit=unit):
            return duration(size, unit)
        case t.Attribute() | t.Previous() | t.Aggregate() | t.Moment():
            return lookup(expression)
        case t.Call(function=function, arguments=arguments):
            return call(function, [value_of(one, lookup) for one in arguments])
        case t.Parameter(name=name):
            raise TypeError(f"the parameter ${name} has no value")
        case t.Negation(operand=operand):
            return _negated(value_of(operand, lookup))
        case t.Arithmetic(op=op, left=left, right=right):
            return _arithmetic(op, *_both(left, right, lookup))


def _negated(value: Value) -> Value:
    if isinstance(value, Duration):
        return Duration(-value.count, value.unit)
    return None if value is None else -_number(value)


def _arithmetic(op: str, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None
    if isinstance(left, Instant | Duration) or isinstance(right, Instant | Duration):
        return _time_arithmetic(op, left, right)
    a, b = _number(left), _number(right)
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return None if b == 0 else float(a) / float(b)
        case _:
            return None if b == 0 else remainder(a, b)


def remainder(dividend: Any, divisor: Any) -> Any:
    """`dividend % divisor` with the sign of the dividend; the divisor is not zero."""
    if isinstance(dividend, int | Fraction) and isinstance(divisor, int | Fraction):
        one: Any = abs(dividend)
        size = one % abs(divisor)
        return -size if dividend < 0 else size
    if math.isinf(dividend):
        return math.nan
    return math.fmod(dividend, divisor)


def _time_arithmetic(op: str, left: Value, right: Value) -> Value:
    match op, left, right:
        case "-", Instant(), Instant():
            if left.unit == right.unit:
                return Duration(left.count - right.count, left.unit)
            return Duration(left.nanoseconds - right.nanoseconds)
        case (("+" | "-"), Instant(), Duration()):
            moved = right.nanoseconds if op == "+" else -right.nanoseconds
            return _shifted(left, moved)
        case "+", Duration(), Instant():
            return _shifted(right, left.nanoseconds)
        case (("+" | "-"), Duration(), Duration()):
            other = right.nanoseconds if op == "+" else -right.nanoseconds
            return Duration(left.nanoseconds + other)
        case "*", Duration(), int() | float():
            return _scaled(left, right)
        case "*", int() | float(), Duration():
            return _scaled(right, left)
        case "/", Duration(), int() | float():
            return None if right == 0 else _scaled(left, 1 / Fraction(right))
        case _:
            raise TypeError(f"{left!r} {op} {right!r} has no value")


def _scaled(span: Duration, by: int | float | Fraction) -> Duration | None:
    if by != by or by in (math.inf, -math.inf):
        return None
    return Duration(span.nanoseconds * Fraction(by))


def _shifted(start: Instant, by: int | Fraction) -> Instant:
    # A fraction of a nanosecond can only come from a literal; it is kept, since comparisons are exact.
    return Instant(start.nanoseconds + by)  # type: ignore[arg-type]


def _number(value: Value) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise TypeError(f"{value!r} is not a number")
    return value

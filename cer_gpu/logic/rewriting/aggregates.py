"""Rewrites MIN and MAX beside constants, and aggregates of one event, to conditions on single events.

Arithmetic of whole constants is done once: `2 * 3` is `6`. Arithmetic on other numbers is kept: compared with
a decimal, `0.1` is one tenth, but `0.05 + 0.05` is a float.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cer_gpu.language import tree as t
from cer_gpu.language.leaves import aggregates, attributes
from cer_gpu.language.signs import COMBINES, CONVERSE, HOLDS
from cer_gpu.language.walk import rebuild, walk, with_aggregates, with_attributes
from cer_gpu.logic.boolean import replace_literals
from cer_gpu.logic.rewriting.places import always_there, at_filters, is_single, sites

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""What holds of two values of which another comparison does not."""

ONE_VALUE = ("SUM", "MIN", "MAX", "FIRST", "LAST")
"""The aggregates that of one value are the value."""


def extremes(pattern: t.Pattern) -> t.Pattern:
    """Replace MIN and MAX beside a constant by predicates on single events.

    `MIN(x.a) > 3` means that no event of x has `a <= 3` and some event has `a > 3`; `MAX(x.a) > 3` means the
    latter alone.
    """

    def change(node: t.Filter) -> t.Pattern:
        found = replace_literals(node.condition, _extreme)
        return node if found == node.condition else replace(node, condition=found)

    return at_filters(pattern, change)


def _extreme(literal: t.Condition) -> t.Condition:
    if not isinstance(literal, t.Comparison):
        return literal
    op, left, right = literal.op, literal.left, literal.right
    if isinstance(right, t.Aggregate):
        op, left, right = CONVERSE[op], right, left
    if not isinstance(left, t.Aggregate) or left.function not in ("MIN", "MAX") or not is_constant(right):
        return literal
    attribute = left.argument
    if not isinstance(attribute, t.Attribute) or left.variable is None or left.distinct:
        return literal
    if left.prior == "BEFORE":  # of nothing before the comparison holds, which no event can say
        return literal
    name, prior, span = left.variable, left.prior, literal.span
    value = replace(attribute, variable=None, prior="")

    def some(op: str) -> t.Condition:
        return t.Not(t.Every(name, t.Not(t.Comparison(op, value, right, span=span)), prior, span=span))

    def none(op: str) -> t.Condition:
        return t.Every(name, t.Not(t.Comparison(op, value, right, span=span)), prior, span=span)

    # What the extreme is beyond: of MIN, no value is less.
    near, far = ("<", ">") if left.function == "MIN" else (">", "<")
    if op == "=":
        return t.Both(some("="), none(near))
    if op == "!=":
        return t.Either(t.Both(some(far), none(OPPOSITE[far])), some(near))
    if op[0] == near:
        return some(op)
    return t.Both(some(op), none(OPPOSITE[op]))


def single_values(pattern: t.Pattern) -> t.Pattern:
    """Replace aggregates of a variable that marks one event: COUNT by 1, others by the value of the event."""

    def change(node: t.Filter) -> t.Pattern:
        def one(literal: t.Condition) -> t.Condition:
            if not isinstance(literal, t.Comparison) or any(isinstance(n, t.Call) for n in walk(literal)):
                return literal
            made = with_aggregates(literal, value)
            return literal if made == literal else settled(made) or literal

        def value(one: t.Aggregate) -> t.Expression:
            return _of_one(one) if _marks_one(pattern, node, one) else one

        found = replace_literals(node.condition, one)
        return node if found == node.condition else replace(node, condition=found)

    return at_filters(pattern, change)


def _of_one(aggregate: t.Aggregate) -> t.Expression:
    """What an aggregate of one event is."""
    if isinstance(aggregate.argument, t.Attribute):
        plain = aggregate.function in ONE_VALUE and not aggregate.distinct
        return aggregate.argument if plain else aggregate
    return t.Number(1, span=aggregate.span)


def _marks_one(root: t.Pattern, node: t.Filter, aggregate: t.Aggregate) -> bool:
    """Whether the variable of an aggregate in a filter marks one event of each complex event there."""
    name = aggregate.variable
    if name is None or aggregate.prior or not isinstance(aggregate.argument, t.Attribute | None):
        return False
    inside = list(sites(node.pattern, name))
    if len(inside) != 1 or len(list(sites(root, name))) != 1:
        return False
    return is_single(inside[0]) and always_there(node.pattern, inside[0])


def is_constant(expression: t.Expression) -> bool:
    """Whether an expression reads no event."""
    return not any(attributes(expression)) and not any(aggregates(expression))


def settled(literal: t.Comparison) -> t.Condition | None:
    """Simplify a comparison to a predicate on the events of one variable, or to a truth value.

    None if it compares constants that are not plain numbers.
    """
    sides = (literal.left, literal.right)
    read = {(one.variable, one.prior) for one in attributes(*sides)}
    if any(aggregates(*sides)) or len(read) > 1:
        return literal
    if read:
        ((name, prior),) = read
        bare = with_attributes(literal, lambda one: replace(one, variable=None, prior=""))
        return t.Every(name or "", bare, prior, span=literal.span)
    numbers = [folded(side) for side in sides]
    if not all(isinstance(one, t.Number) for one in numbers):
        return None
    return t.Truth(HOLDS[literal.op](*(one.value for one in numbers)))


LEAST, MOST = -(2**63), 2**63 - 1


def folded(side: Any) -> Any:
    """Replace arithmetic on constant integers by its result, if that fits 64 bits."""
    if not isinstance(side, t.Negation | t.Arithmetic):
        return side
    match made := rebuild(side, folded):
        case t.Negation(operand=t.Number(value=int() as value)):
            return _number(-value, made)
        case t.Arithmetic(left=t.Number(value=int() as one), right=t.Number(value=int() as other)):
            return _number(COMBINES[made.op](one, other), made) if made.op in COMBINES else made
    return made


def _number(value: int, side: t.Expression) -> t.Expression:
    """A number in the place of an expression, where it fits 64 bits."""
    return t.Number(value, span=side.span) if LEAST <= value <= MOST else side

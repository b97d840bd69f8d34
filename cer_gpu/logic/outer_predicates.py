"""Finds the predicates that filters inside a scope read from outside, and replaces them by a truth value.

The first step of the proof of Theorem 5.3 of the CEPL thesis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cer_gpu.language import tree as t
from cer_gpu.language.leaves import aggregates, attributes
from cer_gpu.language.scope import variables
from cer_gpu.language.signs import HOLDS
from cer_gpu.language.walk import children, condition_variables, rebuild
from cer_gpu.logic.binding import hidden
from cer_gpu.logic.boolean import FALSE, TRUE, replace_literals, unary_literals


def outer_literals(body: t.Pattern, bound: frozenset[str]) -> tuple[t.Every, ...]:
    """The unary predicates, in filters inside the body, on variables that the scope binds.

    Parameters
    ----------
    body : Pattern
        The body of a scope.
    bound : frozenset of str
        The variables that the scope binds.

    Returns
    -------
    tuple of Every
        Each predicate once, in the order of the formula.
    """
    if not bound:
        return ()
    found = [one for one in _own_literals(body) if one.variable in bound]
    for child in children(body):
        found += outer_literals(child, bound - bound_at(body, child))
    return tuple(dict.fromkeys(found))


def assigned(body: t.Pattern, values: Mapping[t.Every, bool]) -> t.Pattern:
    """The body with those predicates set to a truth value wherever they are bound there."""
    if not values:
        return body

    def child(inner: t.Pattern) -> t.Pattern:
        taken = bound_at(body, inner)
        return assigned(inner, {one: v for one, v in values.items() if one.variable not in taken})

    def value(literal: t.Condition) -> t.Condition:
        outer = literal in own and literal in values
        return t.Truth(values[literal]) if outer else literal  # type: ignore[index]

    own = _own_literals(body)
    changed = rebuild(body, child)
    if any(literal in values for literal in own):
        assert isinstance(changed, t.Filter | t.OtherEvent)
        assert changed.condition is not None
        return replace(changed, condition=replace_literals(changed.condition, value))
    return changed


def without(body: t.Pattern, names: frozenset[str]) -> t.Pattern:
    """The body, given that some outer variables mark nothing: conditions on their events hold."""
    if not names:
        return body
    changed = rebuild(body, lambda inner: without(inner, names - bound_at(body, inner)))
    match changed:
        case t.Filter(pattern=inner, condition=condition):
            return filtered(changed.pattern, vacuous(condition, names - variables(inner)))
        case t.OtherEvent(type=kind, condition=condition) if condition is not None:
            return replace(changed, condition=vacuous(condition, names - frozenset(kind.variables)))
        case _:
            return changed


def vacuous(condition: t.Condition, names: frozenset[str]) -> t.Condition:
    """The condition, given that some variables mark nothing: conditions on their events hold.

    COUNT of such a variable is 0, and a comparison with any other aggregate of it does not hold.
    """

    def literal(one: t.Condition) -> t.Condition:
        if not condition_variables(one) & names:
            return one
        if not isinstance(one, t.Comparison):
            return TRUE
        if any(read.variable in names and not read.prior for read in attributes(one.left, one.right)):
            return TRUE
        if any(
            not fold.prior and condition_variables(fold) & names and fold.function != "COUNT"
            for fold in aggregates(one.left, one.right)
        ):
            return FALSE
        sides = _constant(one.left, names), _constant(one.right, names)
        if None in sides:
            return TRUE
        return TRUE if HOLDS[one.op](*sides) else FALSE

    return replace_literals(condition, literal)


def _constant(side: t.Expression, names: frozenset[str]) -> int | float | None:
    """A number, or the count of what marks nothing; None for anything else."""
    match side:
        case t.Number(value=value):
            return value
        case t.Aggregate(function="COUNT", variable=name, prior="") if name in names:
            return 0
    return None


def filtered(pattern: t.Pattern, condition: t.Condition) -> t.Pattern:
    """`pattern FILTER condition`, or the pattern alone if the condition always holds."""
    return pattern if condition == TRUE else t.Filter(pattern, condition)


def _own_literals(pattern: t.Pattern) -> list[t.Every]:
    """The unary predicates of this node alone that speak of variables from outside."""
    match pattern:
        case t.Filter(pattern=inner, condition=condition):
            local = variables(inner)
        case t.OtherEvent(type=kind, condition=condition) if condition is not None:
            local = frozenset(kind.variables)
        case _:
            return []
    return [one for one in unary_literals(condition) if one.variable not in local]


def bound_at(pattern: t.Pattern, child: t.Pattern) -> frozenset[str]:
    """The variables that a node binds for filters inside one of its children."""
    match pattern:
        case t.Iteration() | t.Selector():
            return variables(child)
        case t.Unless(right=right) | t.Beside(right=right) if child is right:
            return variables(right)
        case t.Project():
            return hidden(pattern)
        case _:
            return frozenset()

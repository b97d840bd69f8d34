"""Small functions of formulas that every rewriting needs."""

from __future__ import annotations

from collections.abc import Iterable

from cer_gpu.language import tree as t
from cer_gpu.language.chains import chain_of
from cer_gpu.language.walk import condition_variables, leaves_of, nodes, prior_variables, rebuild
from cer_gpu.logic.boolean import FALSE

BUDGET = 20_000
"""How many atoms a normal form may have, unless the caller says otherwise."""


def atoms(pattern: t.Pattern) -> int:
    """The size of a formula: how many event types and other events it has, repetitions counted."""
    return sum(isinstance(node, t.EventType | t.OtherEvent) for node in nodes(pattern))


def first_type(pattern: t.Pattern) -> t.EventType:
    """The event type of the first atom of a formula."""
    found = (node for node in nodes(pattern) if isinstance(node, t.EventType | t.OtherEvent))
    atom = next(found)
    return atom.type if isinstance(atom, t.OtherEvent) else atom


def without_besides(pattern: t.Pattern) -> t.Pattern:
    """The pattern without FOLLOWED BY and PRECEDED BY: `(p FOLLOWED BY q) ; r` becomes `p ; r`.

    Their right sides are queries of their own; the machine reads one bit of their result for each event.
    """
    if isinstance(pattern, t.Beside):
        return without_besides(pattern.left)
    return rebuild(pattern, without_besides)


def around(node: t.Pattern, inner: t.Pattern) -> t.Pattern:
    """A copy of a node that has one child, with another child."""
    return rebuild(node, lambda _: inner)


def joined(node: t.Pattern, left: t.Pattern, right: t.Pattern) -> t.Pattern:
    """A copy of a node that has two children, with other children."""
    sides = iter((left, right))
    return rebuild(node, lambda _: next(sides))


def either(patterns: Iterable[t.Pattern]) -> t.Pattern:
    """OR of one or more patterns, without repetitions."""
    return chain_of(t.Or, list(dict.fromkeys(patterns)))


def never(atom: t.EventType) -> t.Filter:
    """A formula in LP-normal form without complex events."""
    return t.Filter(atom, t.Every(atom.name, FALSE))


def correlates(pattern: t.Pattern) -> bool:
    """Whether some filter of the pattern compares events of different variables."""
    return any(
        compares_events(node.condition)
        for node in nodes(pattern)
        if isinstance(node, t.Filter | t.OtherEvent) and node.condition is not None
    )


def compares_events(condition: t.Condition) -> bool:
    """Whether a condition compares events with each other, or with those of the repetition before."""
    return any(map(_compares, leaves_of(condition)))


def _compares(leaf: t.Condition) -> bool:
    if isinstance(leaf, t.Every):
        return bool(leaf.prior)
    return bool(condition_variables(leaf) or prior_variables(leaf))

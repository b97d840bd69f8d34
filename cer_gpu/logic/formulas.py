"""Small functions of formulas that every rewriting needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from cer_gpu.language import tree as t
from cer_gpu.language.chains import chain_of
from cer_gpu.language.walk import condition_variables, nodes, prior_variables
from cer_gpu.logic.boolean import FALSE

BUDGET = 20_000
"""How many atoms a normal form may have, unless the caller says otherwise."""

Names = frozenset[str] | None
"""A set of variables; None stands for all, the marks of any variable."""


class Count(NamedTuple):
    """How many events are marked, at least and at most; 2 stands for two or more."""

    least: int
    most: int


def atoms(pattern: t.Pattern) -> int:
    """The size of a formula: how many event types and other events it has, repetitions counted."""
    return sum(isinstance(node, t.EventType | t.OtherEvent) for node in nodes(pattern))


def first_type(pattern: t.Pattern) -> t.EventType:
    """The event type of the first atom of a formula."""
    found = (node for node in nodes(pattern) if isinstance(node, t.EventType | t.OtherEvent))
    atom = next(found)
    return atom.type if isinstance(atom, t.OtherEvent) else atom


def rebuild(pattern: t.Pattern, change: Callable[[t.Pattern], t.Pattern]) -> t.Pattern:
    """The pattern with its direct children replaced."""
    match pattern:
        case t.EventType() | t.OtherEvent():
            return pattern
        case t.Sequence() | t.Or() | t.And() | t.All() | t.Unless() | t.Beside():
            return replace(pattern, left=change(pattern.left), right=change(pattern.right))
        case _:
            return replace(pattern, pattern=change(pattern.pattern))


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


def names_below(node: t.As | t.Project, names: Names) -> Names:
    """The variables inside an AS or a PROJECT that mark the events which `names` mark outside it."""
    if isinstance(node, t.As):
        return None if names is None or node.variable in names else names
    kept = frozenset(node.variables)
    return kept if names is None else names & kept


def marks(atom: t.EventType, names: Names) -> bool:
    """Whether one of the names marks the events of an atom."""
    return names is None or not names.isdisjoint(atom.variables)


def count_marked(pattern: t.Pattern, names: Names) -> Count:
    """How many events the names mark in a complex event of the pattern: bounds, not always the tightest."""
    match pattern:
        case t.EventType():
            return Count(1, 1) if marks(pattern, names) else Count(0, 0)
        case t.OtherEvent():
            return Count(0, 0)
        case t.As() | t.Project():
            return count_marked(pattern.pattern, names_below(pattern, names))
        case t.Iteration(pattern=body):
            return _repeated(pattern, count_marked(body, names))
        case t.Optional(pattern=inner):
            return Count(0, count_marked(inner, names).most)
        case t.Unless(left=kept) | t.Beside(left=kept):
            return count_marked(kept, names)
        case t.Sequence() | t.Or() | t.And() | t.All():
            return _together(pattern, count_marked(pattern.left, names), count_marked(pattern.right, names))
        case _:
            return count_marked(pattern.pattern, names)


def counts_marked(pattern: t.Pattern) -> dict[str | None, Count]:
    """`count_marked` for each variable of the pattern alone, and for None, in one walk."""
    match pattern:
        case t.EventType():
            return dict.fromkeys((None, *pattern.variables), Count(1, 1))
        case t.OtherEvent():
            return {None: _NO_EVENTS}
        case t.As(pattern=inner, variable=name):
            counts = counts_marked(inner)
            counts[name] = counts[None]
            return counts
        case t.Project(pattern=inner, variables=kept):
            counts = counts_marked(inner)
            shown: dict[str | None, Count] = {name: counts[name] for name in kept if name in counts}
            shown[None] = count_marked(pattern, None)
            return shown
        case t.Iteration(pattern=body):
            return {name: _repeated(pattern, count) for name, count in counts_marked(body).items()}
        case t.Optional(pattern=inner):
            return {name: Count(0, count.most) for name, count in counts_marked(inner).items()}
        case t.Unless(left=kept) | t.Beside(left=kept):
            return counts_marked(kept)
        case t.Sequence() | t.Or() | t.And() | t.All():
            left, right = counts_marked(pattern.left), counts_marked(pattern.right)
            return {
                name: _together(pattern, left.get(name, _NO_EVENTS), right.get(name, _NO_EVENTS))
                for name in {**left, **right}
            }
        case _:
            return counts_marked(pattern.pattern)


_NO_EVENTS = Count(0, 0)


def _repeated(pattern: t.Iteration, once: Count) -> Count:
    most = once.most if pattern.most == 1 else 2 * once.most
    return Count(min(2, once.least * pattern.least), min(2, most))


def _together(pattern: t.Sequence | t.Or | t.And | t.All, a: Count, b: Count) -> Count:
    match pattern:
        case t.Sequence():
            return Count(min(2, a.least + b.least), min(2, a.most + b.most))
        case t.Or():
            return Count(min(a.least, b.least), max(a.most, b.most))
        case t.All():
            return Count(max(a.least, b.least), min(2, a.most + b.most))
        case t.And():
            return Count(max(a.least, b.least), min(a.most, b.most))


def correlates(pattern: t.Pattern) -> bool:
    """Whether some filter of the pattern compares events of different variables."""
    return any(
        compares_events(node.condition)
        for node in nodes(pattern)
        if isinstance(node, t.Filter | t.OtherEvent) and node.condition is not None
    )


def compares_events(condition: t.Condition) -> bool:
    """Whether a condition compares events with each other, or with those of the repetition before."""
    match condition:
        case t.Both(left=left, right=right) | t.Either(left=left, right=right):
            return compares_events(left) or compares_events(right)
        case t.Not(operand=operand):
            return compares_events(operand)
        case t.Every(prior=prior):
            return bool(prior)
        case t.Truth():
            return False
        case _:
            return bool(condition_variables(condition) or prior_variables(condition))

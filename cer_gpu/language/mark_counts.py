"""How many events variables mark in the complex events of a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cer_gpu.language import tree as t
from cer_gpu.language.walk import marking

Names = frozenset[str] | None
"""A set of variables; None stands for all, the marks of any variable."""


class Count(NamedTuple):
    """How many events are marked, at least and at most; 2 stands for two or more."""

    least: int
    most: int


NO_EVENTS, ONE_EVENT = Count(0, 0), Count(1, 1)


def names_below(node: t.As | t.Project, names: Names) -> Names:
    """The variables inside an AS or a PROJECT that mark the events which `names` mark outside it."""
    if isinstance(node, t.As):
        return None if names is None or node.variable in names else names
    kept = frozenset(node.variables)
    return kept if names is None else names & kept


def is_marked(atom: t.EventType, names: Names) -> bool:
    """Whether one of the names marks the events of an atom."""
    return names is None or not names.isdisjoint(atom.variables)


def count_marked(pattern: t.Pattern, names: Names) -> Count:
    """How many events the names mark in a complex event of the pattern: bounds, not always the tightest."""
    if isinstance(pattern, t.EventType):
        return ONE_EVENT if is_marked(pattern, names) else NO_EVENTS
    below = names_below(pattern, names) if isinstance(pattern, t.As | t.Project) else names
    return _combined(pattern, [count_marked(part, below) for part in marking(pattern)])


def counts_marked(pattern: t.Pattern) -> dict[str | None, Count]:
    """`count_marked` for each variable of the pattern alone, and for None, in one walk."""
    if isinstance(pattern, t.EventType):
        return dict.fromkeys((None, *pattern.variables), ONE_EVENT)
    found = [counts_marked(part) for part in marking(pattern)]
    if isinstance(pattern, t.Project):
        kept = (*pattern.variables, None)
        return {name: found[0][name] for name in kept if name in found[0]} | {
            None: count_marked(pattern, None)
        }
    if len(found) == 1 and not isinstance(pattern, t.Iteration | t.Optional):
        counts = found[0]
        if isinstance(pattern, t.As):
            counts[pattern.variable] = counts[None]
        return counts
    return {
        name: _combined(pattern, [one.get(name, NO_EVENTS) for one in found])
        for name in dict.fromkeys((None, *(name for one in found for name in one)))
    }


def _combined(pattern: t.Pattern, counts: Sequence[Count]) -> Count:
    """The count of a pattern from those of its operands."""
    match pattern, counts:
        case t.OtherEvent(), _:
            return NO_EVENTS
        case t.Iteration(), (once,):
            most = once.most if pattern.most == 1 else 2 * once.most
            return Count(min(2, once.least * pattern.least), min(2, most))
        case t.Optional(), (once,):
            return Count(0, once.most)
        case t.Sequence(), (a, b):
            return Count(min(2, a.least + b.least), min(2, a.most + b.most))
        case t.Or(), (a, b):
            return Count(min(a.least, b.least), max(a.most, b.most))
        case t.All(), (a, b):
            return Count(max(a.least, b.least), min(2, a.most + b.most))
        case t.And(), (a, b):
            return Count(max(a.least, b.least), min(a.most, b.most))
    return counts[0]

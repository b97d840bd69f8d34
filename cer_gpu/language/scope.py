"""Which variables a pattern defines, and what they can mark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.language.walk import marking


def variables(pattern: t.Pattern) -> frozenset[str]:
    """The variables that mark events in complex events of the pattern.

    Event types are variables too. Nothing inside `NOT (...)` or on the right of UNLESS and FOLLOWED BY marks
    events, and PROJECT hides the variables that it does not keep.
    """
    found: set[str] = set()
    waiting = [pattern]
    while waiting:
        match part := waiting.pop():
            case t.EventType():
                found.update(part.variables)
            case t.As():
                found.add(part.variable)
                waiting.append(part.pattern)
            case t.Project():
                found |= variables(part.pattern).intersection(part.variables)
            case _:
                waiting += marking(part)
    return frozenset(found)


Marks: TypeAlias = Mapping[str, frozenset[t.EventType]]
"""The event types that each variable can mark."""


def marks(pattern: t.Pattern, known: dict[int, Marks] | None = None) -> Marks:
    """The event types that each variable of a pattern can mark.

    Its keys are `variables(pattern)`. A variable marks no type if its operand marks nothing, as in `NOT (T)
    AS x`.

    Parameters
    ----------
    pattern : Pattern
    known : dict, optional
        Results by the `id` of patterns, for a caller that asks for a pattern and its children and keeps them
        alive meanwhile.
    """
    if known is None:
        known = {}
    found = known.get(id(pattern))
    if found is None:
        found = known[id(pattern)] = _marks(pattern, known)
    return found


def _marks(pattern: t.Pattern, known: dict[int, Marks]) -> Marks:
    if isinstance(pattern, t.EventType):
        return dict.fromkeys(pattern.variables, frozenset((pattern,)))
    found: Marks = {}
    for part in marking(pattern):
        found = _join_marks(found, marks(part, known))
    if isinstance(pattern, t.As):
        return _join_marks(found, {pattern.variable: frozenset[t.EventType]().union(*found.values())})
    if isinstance(pattern, t.Project):
        return {name: found[name] for name in found if name in pattern.variables}
    return found


class Scope:
    """The variables that can be used at a place of a pattern: those of the patterns around it.

    Each pattern adds its own variables to those around it. Nothing is copied, so that a walk over a pattern
    with thousands of names takes n log n steps.

    Parameters
    ----------
    marks : mapping
        The result of `marks` for the pattern.
    around : Scope or None
    alone : bool
        Whether a name that the pattern defines means its own events only, not those around it too.
    """

    def __init__(self, marks: Marks, around: Scope | None = None, *, alone: bool = False) -> None:
        self._marks = marks
        self._around = around
        self._alone = alone

    def __contains__(self, name: str) -> bool:
        return any(name in scope._marks for scope in self._levels())

    def types(self, name: str) -> frozenset[t.EventType]:
        """The event types that a variable can mark; none of one that is not defined."""
        found: frozenset[t.EventType] = frozenset()
        for scope in self._levels():
            if name in scope._marks:
                found |= scope._marks[name]
                if scope._alone:
                    break
        return found

    def names(self) -> frozenset[str]:
        """All variables that are seen."""
        return frozenset().union(*(scope._marks for scope in self._levels()))

    def _levels(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope._around


def _join_marks(one: Marks, two: Marks) -> Marks:
    """The event types of each variable in two patterns together."""
    if not one:
        return two
    joined = {**one, **two}
    for name in one.keys() & two.keys():
        joined[name] = one[name] | two[name]
    return joined


def dropped(pattern: t.Pattern) -> frozenset[str]:
    """The variables that mark events inside a pattern and that some PROJECT of it hides."""
    found = frozenset[str]().union(*map(dropped, marking(pattern)))
    if isinstance(pattern, t.Project):
        return found | (variables(pattern.pattern) - variables(pattern))
    return found

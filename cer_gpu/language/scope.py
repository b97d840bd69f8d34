"""Which variables a pattern defines, and what they can mark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from cer_gpu.language import tree as t


def variables(pattern: t.Pattern) -> frozenset[str]:
    """The variables that mark events in complex events of the pattern.

    Event types are variables too. Nothing inside `NOT (...)` or on the right of UNLESS and FOLLOWED BY marks
    events, and PROJECT hides the variables that it does not keep.
    """
    match pattern:
        case t.EventType():
            return frozenset(pattern.variables)
        case t.OtherEvent():
            return frozenset()
        case t.As(pattern=inner, variable=name):
            return variables(inner) | {name}
        case t.Project(pattern=inner, variables=kept):
            return variables(inner) & frozenset(kept)
        case t.Unless(left=left) | t.Beside(left=left):
            return variables(left)
        case t.Sequence(left=left, right=right) | t.Or(left=left, right=right):
            return variables(left) | variables(right)
        case t.And(left=left, right=right) | t.All(left=left, right=right):
            return variables(left) | variables(right)
        case _:
            return variables(pattern.pattern)


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
    match pattern:
        case t.EventType():
            return dict.fromkeys(pattern.variables, frozenset((pattern,)))
        case t.OtherEvent():
            return {}
        case t.As(pattern=inner, variable=name):
            below = marks(inner, known)
            return _join_marks(below, {name: frozenset[t.EventType]().union(*below.values())})
        case t.Project(pattern=inner, variables=kept):
            below = marks(inner, known)
            return {name: below[name] for name in below if name in kept}
        case t.Unless(left=left) | t.Beside(left=left):
            return marks(left, known)
        case t.Sequence(left=left, right=right) | t.Or(left=left, right=right):
            return _join_marks(marks(left, known), marks(right, known))
        case t.And(left=left, right=right) | t.All(left=left, right=right):
            return _join_marks(marks(left, known), marks(right, known))
        case _:
            return marks(pattern.pattern, known)


def most_marked(pattern: t.Pattern, name: str) -> int:
    """How many events a variable marks at most: 0, 1, or 2 for several."""
    return _most_marked(pattern, name, False)


def _most_marked(pattern: t.Pattern, name: str, named: bool) -> int:
    # With `named`, an AS around the pattern has given the name to all that it marks.
    match pattern:
        case t.EventType():
            return 1 if named or name in pattern.variables else 0
        case t.OtherEvent():
            return 0
        case t.As(pattern=inner, variable=own):
            return _most_marked(inner, name, named or own == name)
        case t.Project(pattern=inner, variables=kept):
            return _most_marked(inner, name, named) if named or name in kept else 0
        case t.Iteration(pattern=inner):
            return min(2, _most_marked(inner, name, named) * (1 if pattern.most == 1 else 2))
        case t.Or() | t.And():
            return max(_most_marked(side, name, named) for side in (pattern.left, pattern.right))
        case t.Sequence() | t.All():
            return min(2, sum(_most_marked(side, name, named) for side in (pattern.left, pattern.right)))
        case t.Unless(left=left) | t.Beside(left=left):
            return _most_marked(left, name, named)
        case _:
            return _most_marked(pattern.pattern, name, named)


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
    joined = {**one, **two}
    for name in one.keys() & two.keys():
        joined[name] = one[name] | two[name]
    return joined


def dropped(pattern: t.Pattern) -> frozenset[str]:
    """The variables that mark events inside a pattern and that some PROJECT of it hides."""
    match pattern:
        case t.EventType() | t.OtherEvent():
            return frozenset()
        case t.Project(pattern=inner):
            return dropped(inner) | (variables(inner) - variables(pattern))
        case t.Unless(left=left) | t.Beside(left=left):
            return dropped(left)
        case t.Sequence(left=left, right=right) | t.Or(left=left, right=right):
            return dropped(left) | dropped(right)
        case t.And(left=left, right=right) | t.All(left=left, right=right):
            return dropped(left) | dropped(right)
        case _:
            return dropped(pattern.pattern)

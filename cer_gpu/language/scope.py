"""Which variables a pattern defines, and what they can mark."""

from __future__ import annotations

from collections.abc import Mapping

from cer_gpu.language import tree as t


def variables(pattern: t.Pattern) -> frozenset[str]:
    """The variables that mark events in complex events of the pattern.

    Event types are variables too; what stands inside `NOT (...)` or on the right of UNLESS marks nothing,
    and PROJECT hides what it does not keep.
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
        case t.Unless(left=left):
            return variables(left)
        case t.Sequence(left=left, right=right) | t.Or(left=left, right=right):
            return variables(left) | variables(right)
        case t.And(left=left, right=right) | t.All(left=left, right=right):
            return variables(left) | variables(right)
        case _:
            return variables(pattern.pattern)


def marks(pattern: t.Pattern) -> Mapping[str, frozenset[t.EventType]]:
    """The event types that each variable of a pattern can mark.

    Its keys are `variables(pattern)`. A variable marks no type when it names only what marks nothing, as in
    `NOT (T) AS x`.
    """
    match pattern:
        case t.EventType():
            return dict.fromkeys(pattern.variables, frozenset((pattern,)))
        case t.OtherEvent():
            return {}
        case t.As(pattern=inner, variable=name):
            below = marks(inner)
            return join_marks(below, {name: frozenset[t.EventType]().union(*below.values())})
        case t.Project(pattern=inner, variables=kept):
            below = marks(inner)
            return {name: below[name] for name in below if name in kept}
        case t.Unless(left=left):
            return marks(left)
        case t.Sequence(left=left, right=right) | t.Or(left=left, right=right):
            return join_marks(marks(left), marks(right))
        case t.And(left=left, right=right) | t.All(left=left, right=right):
            return join_marks(marks(left), marks(right))
        case _:
            return marks(pattern.pattern)


def join_marks(
    one: Mapping[str, frozenset[t.EventType]], two: Mapping[str, frozenset[t.EventType]]
) -> Mapping[str, frozenset[t.EventType]]:
    """What variables mark where two patterns meet: each the types of both."""
    nothing: frozenset[t.EventType] = frozenset()
    return {name: one.get(name, nothing) | two.get(name, nothing) for name in {**one, **two}}


def dropped(pattern: t.Pattern) -> frozenset[str]:
    """The variables that mark events inside a pattern and that some PROJECT of it hides."""
    match pattern:
        case t.EventType() | t.OtherEvent():
            return frozenset()
        case t.Project(pattern=inner):
            return dropped(inner) | (variables(inner) - variables(pattern))
        case t.Unless(left=left):
            return dropped(left)
        case t.Sequence(left=left, right=right) | t.Or(left=left, right=right):
            return dropped(left) | dropped(right)
        case t.And(left=left, right=right) | t.All(left=left, right=right):
            return dropped(left) | dropped(right)
        case _:
            return dropped(pattern.pattern)

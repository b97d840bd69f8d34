"""Which variables a pattern defines."""

from __future__ import annotations

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

"""What an aggregate of an expression takes together: one value for each repetition of an iteration.

`SUM(u.ts - d.ts)` outside `(Down AS d ; Up AS u)+` has a value for each repetition of the smallest iteration
in which all its variables are defined (section 4). A `RepetitionEdge` tells where a repetition begins: at an
event that one variable marks, once in each repetition, before or after all events of the expression; or, as
in `(A+ AS x ; B+ AS y)+`, where events of one element follow those of a later one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cer_gpu.language import tree as t
from cer_gpu.language.chains import flattened
from cer_gpu.language.leaves import attributes
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import children, is_one_event, marking, walk
from cer_gpu.language.words import written_variable


class UnknownRepetitionError(Exception):
    """What an aggregate of an expression takes together is not known: the message says why."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class AggregatePlace(NamedTuple):
    """An aggregate of an expression over several variables in a condition.

    Attributes
    ----------
    aggregate : Aggregate
    filtered : Pattern
        The pattern that the filter is of.
    around : tuple of Pattern
        The scopes around the filter, the whole pattern first.
    loops : tuple of Iteration
        The iterations around it, the outermost first.
    """

    aggregate: t.Aggregate
    filtered: t.Pattern
    around: tuple[t.Pattern, ...]
    loops: tuple[t.Iteration, ...]


def is_joint(node: object) -> bool:
    """Whether a node is an aggregate of an expression over several variables."""
    return isinstance(node, t.Aggregate) and node.variable is None and node.argument is not None


def names_of(aggregate: t.Aggregate) -> frozenset[str]:
    """The variables of the expression of an aggregate."""
    assert aggregate.argument is not None
    return frozenset(one.variable or "" for one in attributes(aggregate.argument))


def word_of(aggregate: t.Aggregate) -> t.Earlier:
    """PRIOR or BEFORE, if the expression of an aggregate speaks of these."""
    assert aggregate.argument is not None
    return next(attributes(aggregate.argument)).prior


def places(pattern: t.Pattern) -> Iterator[AggregatePlace]:
    """The aggregates of expressions over several variables in the filters of a pattern."""
    yield from _places(pattern, (pattern,), ())


def _places(
    pattern: t.Pattern, around: tuple[t.Pattern, ...], loops: tuple[t.Iteration, ...]
) -> Iterator[AggregatePlace]:
    match pattern:
        case t.EventType():
            return
        case t.OtherEvent(type=kind, condition=condition):
            if condition is not None:
                yield from (AggregatePlace(one, kind, around, loops) for one in _joint_in(condition))
        case t.Filter(pattern=inner, condition=condition):
            yield from (AggregatePlace(one, inner, around, loops) for one in _joint_in(condition))
            yield from _places(inner, around, loops)
        case t.Iteration(pattern=inner):
            yield from _places(inner, (*around, inner), (*loops, pattern))
        case t.Selector(pattern=inner):
            yield from _places(inner, (*around, inner), loops)
        case t.Project(pattern=inner):
            yield from _places(inner, (*around, pattern), loops)
        case t.Unless(left=left, right=right):
            yield from _places(left, around, loops)
            yield from _places(right, (*around, right), loops)
        case t.Beside(left=left, right=right):
            yield from _places(left, around, loops)
            yield from _places(right, (right,), ())
        case _:
            for child in children(pattern):
                yield from _places(child, around, loops)


def _joint_in(condition: t.Condition) -> Iterator[t.Aggregate]:
    for node in walk(condition):
        if is_joint(node):
            assert isinstance(node, t.Aggregate)
            yield node


def scope_of(place: AggregatePlace) -> t.Pattern:
    """The pattern in which all variables of an aggregate are bound.

    Raises
    ------
    UnknownRepetitionError
        When they are bound in several.
    """
    names = names_of(place.aggregate)
    if word_of(place.aggregate):
        found = [_smallest(place.loops, name) for name in names]
    elif names <= variables(place.filtered):
        return place.filtered
    else:
        local = variables(place.filtered)
        found = [place.filtered if name in local else _smallest(place.around, name) for name in names]
    if any(one is not found[0] for one in found):
        shown = " and ".join(f"`{written_variable(name)}`" for name in sorted(names))
        raise UnknownRepetitionError(
            f"{shown} are not of one repetition",
            "write the filter around the pattern that defines all of them",
        )
    scope = found[0]
    if word_of(place.aggregate) == "PRIOR" and isinstance(scope, t.Iteration):
        return scope.pattern
    return scope


def _smallest(scopes: tuple[t.Pattern, ...], name: str) -> t.Pattern:
    for one in reversed(scopes):
        if isinstance(one, t.Project):  # which binds what it hides
            if name in variables(one.pattern) and name not in one.variables:
                return one.pattern
        elif name in variables(one):
            return one
    return scopes[0]


def repeated_in(scope: t.Pattern, names: frozenset[str]) -> list[t.Iteration]:
    """The smallest iterations in a pattern that define all of some variables."""
    if not names <= variables(scope):
        return []
    found = [one for child in marking(scope) for one in repeated_in(child, names)]
    return found or ([scope] if isinstance(scope, t.Iteration) else [])


def edge_of(scope: t.Pattern, names: frozenset[str]) -> t.RepetitionEdge | None:
    """What tells the repetitions of some variables in a scope apart; None where there is one repetition.

    Raises
    ------
    UnknownRepetitionError
        When nothing does.
    """
    loops = repeated_in(scope, names)
    if not loops:
        return None
    shown = " and ".join(f"`{written_variable(name)}`" for name in sorted(names))
    loop, *others = loops
    if others or any(name in _outside(scope, loop) for name in names):
        raise UnknownRepetitionError(
            f"{shown} are defined in more than one place",
            "give the variables of each place names of their own",
        )
    outside = _outside(scope, loop)
    for first in (True, False):
        found = _edges(loop.pattern, names, first) - outside
        if found:
            return t.RepetitionEdge(min(found, key=lambda name: (name not in names, name)), first)
    for variable, after in _turns(loop.pattern, names):
        if variable not in outside and after not in outside:
            return t.RepetitionEdge(variable, True, after)
    raise UnknownRepetitionError(
        f"it is not known where a repetition with {shown} begins",
        "each repetition needs one event before or after these, with its own name: "
        "`(Begin AS b ; (A AS x ALL B AS y))+`",
    )


def _outside(pattern: t.Pattern, loop: t.Iteration) -> frozenset[str]:
    """The variables that a pattern defines outside an iteration in it."""
    if pattern is loop:
        return frozenset()
    match pattern:
        case t.EventType() | t.OtherEvent():
            return variables(pattern)
        case t.As(pattern=inner, variable=name):
            return _outside(inner, loop) | {name}
        case t.Project(pattern=inner, variables=kept):
            return _outside(inner, loop) & frozenset(kept)
        case _:
            return frozenset[str]().union(*(_outside(child, loop) for child in marking(pattern)))


def _edges(body: t.Pattern, names: frozenset[str], first: bool) -> frozenset[str]:
    """The variables that mark one event of each match, before (after) those that some names mark."""
    match body:
        case t.Filter() | t.Timed() | t.Selector():
            return _edges(body.pattern, names, first)
        case t.As(pattern=inner, variable=name):
            # The name is of all events, and with one event of this one.
            own = {name} if is_one_event(inner, t.Timed) else set()
            asked = names | variables(inner) if name in names else names
            return (_edges(inner, asked, first) - {name}) | own
        case t.EventType():
            return frozenset(body.variables)
        case t.Or(left=left, right=right):
            return _edges(left, names, first) & _edges(right, names, first)
        case t.Unless(left=left) | t.Beside(left=left):
            return _edges(left, names, first)
        case t.Sequence():
            elements = _elements(body)
            for one in elements if first else elements[::-1]:
                there = bool(variables(one) & names)
                if there or is_one_event(one, t.Timed):
                    others = [variables(other) for other in elements if other is not one]
                    found = _edges(one, names, first).difference(*others)
                    if found or there:
                        return found
    return frozenset()


def _turns(body: t.Pattern, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Variables of the first element with events of some names, and of a later one, which take turns."""
    while isinstance(body, t.Filter | t.Timed):
        body = body.pattern
    if not isinstance(body, t.Sequence):
        return
    elements = _elements(body)
    place = next(at for at, one in enumerate(elements) if variables(one) & names)

    def alone(at: int) -> list[str]:
        others = (variables(one) for other, one in enumerate(elements) if other != at)
        return sorted(_of_all(elements[at]).difference(*others), key=lambda name: (name not in names, name))

    for variable in alone(place):
        for later in range(place + 1, len(elements)):
            yield from ((variable, after) for after in alone(later))


def _of_all(pattern: t.Pattern) -> frozenset[str]:
    """The variables that mark all events of each match, none of which is without a mark."""
    match pattern:
        case t.EventType():
            return frozenset(pattern.variables)
        case t.As(pattern=inner, variable=name):
            found = _of_all(inner)
            return found | {name} if found else found
        case t.Filter() | t.Timed() | t.Iteration():
            return _of_all(pattern.pattern)
        case t.Or(left=left, right=right):
            return _of_all(left) & _of_all(right)
    return frozenset()


def _elements(sequence: t.Sequence) -> list[t.Pattern]:
    return list(flattened(t.Sequence, sequence))

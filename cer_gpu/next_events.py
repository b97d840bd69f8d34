"""The events of a step of a pattern that tell first whether a run goes on, one after another.

A step is such a sequence where its events can be found one by one, each the first that fits: in

>>> A ; (B {2,} ; C ? ; (D AS d FILTER d.x > 3)) AS s

the first `B` after the run, the first `B` after that one, and then the first `D` with `x > 3`. What may be
left out or repeated further is not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cer_gpu.language import tree
from cer_gpu.language.chains import chain_of, flattened
from cer_gpu.language.printer import to_text
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import condition_variables, nodes, prior_variables, walk, with_attributes

MOST_EVENTS = 16
"""Events of a step at most."""


class TypedEvent(NamedTuple):
    """A type that an event may have, with the variables that then mark it, and what is asked of it."""

    type: tree.EventType
    variables: tuple[str, ...]
    conditions: tuple[Any, ...]


class NextEvent(NamedTuple):
    """One event: its pattern, without iterations, and the types that it may have."""

    pattern: Any
    choices: tuple[TypedEvent, ...]

    @property
    def variables(self) -> frozenset[str]:
        """The variables that may mark the event."""
        return frozenset(name for one in self.choices for name in one.variables)


class NextEvents(NamedTuple):
    """The events of a step, in their order, and what is asked of them besides."""

    events: tuple[NextEvent, ...]
    conditions: tuple[Any, ...] = ()


def next_events(pattern: Any) -> NextEvents | str:
    """The events that make a run go on to a step; or why there is no such sequence of events."""
    match pattern:
        case tree.Sequence(contiguous=True):
            return "the step has events joined by `:`"
        case tree.Sequence(gap=tree.Interval()):
            return "the step has an interval between its events"
        case tree.Sequence(left=left, right=right):
            needed = [one for one in (left, right) if not isinstance(one, tree.Optional)]
            return _joined([next_events(one) for one in needed])
        case tree.Iteration(pattern=inner, times=times) if times is not None and times.least_parameter:
            return "how often the step repeats is a parameter"
        case tree.Iteration(pattern=inner, least=1):
            return next_events(inner)
        case tree.Iteration(contiguous=True) | tree.Iteration(gap=tree.Interval()):
            return "the repetitions of the step are joined by `:` or by an interval"
        case tree.Iteration(least=least) if least > MOST_EVENTS:
            return f"the step has more than {MOST_EVENTS} events"
        case tree.Iteration(pattern=inner, least=least):
            return _joined([next_events(inner)] * least)
        case tree.As(pattern=inner, variable=name):
            found = next_events(inner)
            return found if isinstance(found, str) else _named(found, name)
        case tree.Filter(pattern=inner, condition=condition):
            if _of_some(inner, condition):
                return _some(condition)
            found = next_events(inner)
            return found if isinstance(found, str) else _asked(found, condition)
        case _:
            choices = choices_of(pattern)
            if choices is None:
                return "the step is not a sequence of single events"
            return NextEvents((NextEvent(_once(pattern), tuple(choices)),))


def choices_of(pattern: Any) -> list[TypedEvent] | None:
    """What a pattern of one event, or of iterations of one, may match; None for other patterns."""
    match pattern:
        case tree.EventType():
            return [TypedEvent(pattern, pattern.variables, ())]
        case tree.As(pattern=inner, variable=name):
            found = choices_of(inner)
            return found and [one._replace(variables=(*one.variables, name)) for one in found]
        case tree.Filter(pattern=inner, condition=condition):
            found = None if _of_some(inner, condition) else choices_of(inner)
            return found and [one._replace(conditions=(*one.conditions, condition)) for one in found]
        case tree.Or(left=left, right=right):
            first, second = choices_of(left), choices_of(right)
            return None if first is None or second is None else [*first, *second]
        case tree.Iteration(pattern=inner, times=times):
            many = times is not None and (times.least > 1 or times.least_parameter is not None)
            return None if many else choices_of(inner)
        case _:
            return None


def none_of(event: NextEvent, conditions: Sequence[Any]) -> Any:
    """Any number of events, or none, each of which is not the event of a step.

    Parameters
    ----------
    event : NextEvent
    conditions : sequence of Condition
        What is asked of the event besides.
    """
    others = [_other(one, conditions) for one in event.choices]
    return tree.Optional(tree.Iteration(chain_of(tree.And, others), contiguous=True))


def together_asked(
    pattern: Any, parts: NextEvents, before: frozenset[str], conditions: Sequence[Any]
) -> str | None:
    """Why conditions cannot be asked of each event of a step by itself; None where they can.

    Parameters
    ----------
    pattern : Pattern
        The step.
    parts : NextEvents
        Its events.
    before : frozenset of str
        The variables that mark events of the steps before.
    conditions : sequence of Condition
        What is asked of the step besides.
    """
    own = variables(pattern)
    needed = frozenset[str]().union(*(one.variables for one in parts.events))
    inner = [each for one in parts.events for choice in one.choices for each in choice.conditions]
    for condition in (*conditions, *parts.conditions, *inner):
        used, written = condition_variables(condition), f"`{to_text(condition)}`"
        if not used or prior_variables(condition):
            return f"{written} does not speak of one event of the step"
        if used & own & before:
            return f"{written} reads a variable that marks events of earlier steps, too"
        if any(
            isinstance(node, tree.Aggregate) and condition_variables(node) & own for node in walk(condition)
        ):
            return f"{written} aggregates events of the step"
        if used & own - needed:
            return f"{written} reads an event that may be left out"
        if condition in conditions and used & own and _of_some(pattern, condition):
            return _some(condition)
        if len(parts.events) > 1 and len(used & own) > 1:
            return f"{written} compares events of the step"
        for event in parts.events:
            for choice in event.choices:
                if used & event.variables - {*choice.variables}:
                    return f"{written} is asked of some of the types that an event may have"
    for event in parts.events:
        if len({one.type.name for one in event.choices}) < len(event.choices):
            return "an event of the step may have a type in two ways"
    return None


def _of_some(pattern: Any, condition: Any) -> bool:
    """Whether a condition may hold for a match of several events, but not for each of them."""
    several = (tree.Iteration, tree.Optional, tree.Sequence)
    return not _of_each(condition) and any(isinstance(node, several) for node in nodes(pattern))


def _of_each(condition: Any) -> bool:
    """Whether a condition holds where it holds for each event by itself."""
    if isinstance(condition, tree.Both):
        return _of_each(condition.left) and _of_each(condition.right)
    return not isinstance(condition, tree.Either | tree.Not)


def _some(condition: Any) -> str:
    return f"`{to_text(condition)}` may hold for some events of the step alone"


def _joined(parts: Sequence[NextEvents | str]) -> NextEvents | str:
    """One part after another."""
    found = NextEvents(())
    for part in parts:
        if isinstance(part, str):
            return part
        found = NextEvents((*found.events, *part.events), (*found.conditions, *part.conditions))
        if len(found.events) > MOST_EVENTS:
            return f"the step has more than {MOST_EVENTS} events"
    return found


def _named(parts: NextEvents, name: str) -> NextEvents:
    """Events that a further variable marks."""
    return parts._replace(
        events=tuple(
            NextEvent(
                tree.As(event.pattern, name),
                tuple(one._replace(variables=(*one.variables, name)) for one in event.choices),
            )
            for event in parts.events
        )
    )


def _asked(parts: NextEvents, condition: Any) -> NextEvents:
    """Events of which something is asked."""
    if len(parts.events) > 1:
        return parts._replace(conditions=(*parts.conditions, *flattened(tree.Both, condition)))
    (event,) = parts.events
    choices = tuple(one._replace(conditions=(*one.conditions, condition)) for one in event.choices)
    return parts._replace(events=(NextEvent(tree.Filter(event.pattern, condition), choices),))


def _once(pattern: Any) -> Any:
    """A pattern of one event, without the iterations around it."""
    match pattern:
        case tree.As() | tree.Filter():
            return replace(pattern, pattern=_once(pattern.pattern))
        case tree.Or(left=left, right=right):
            return replace(pattern, left=_once(left), right=_once(right))
        case tree.Iteration(pattern=inner):
            return _once(inner)
        case _:
            return pattern


def _other(choice: TypedEvent, conditions: Sequence[Any]) -> Any:
    """An event that is none of a choice."""
    own = {*choice.variables}
    asked = [_of(one, own, choice.type.name) for one in (*choice.conditions, *conditions)]
    return tree.OtherEvent(choice.type, chain_of(tree.Both, asked) if asked else None)


def _of(condition: Any, own: set[str], name: str) -> Any:
    """A condition that speaks of `name` where it spoke of one of the variables `own`."""

    def renamed(one: tree.Attribute) -> tree.Attribute:
        return replace(one, variable=name) if one.variable in own else one

    match condition:
        case tree.Both(left=left, right=right) | tree.Either(left=left, right=right):
            return replace(condition, left=_of(left, own, name), right=_of(right, own, name))
        case tree.Not(operand=inner):
            return replace(condition, operand=_of(inner, own, name))
        case tree.Every(variable=variable):
            return replace(condition, variable=name) if variable in own else condition
        case _:
            return with_attributes(condition, renamed)

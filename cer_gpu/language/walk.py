"""Walks over syntax trees: every node, the direct parts of a node, and the variables of a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from cer_gpu.errors import Span
from cer_gpu.language import tree as t

_OF_TYPES = (
    *(t.EventType, t.OtherEvent, t.As, t.Sequence, t.Iteration, t.Optional, t.And, t.All, t.Or, t.Unless),
    *(t.Project, t.Selector),
)
"""The patterns that ask for types alone, where they have no interval and name no stream."""


def walk(node: Any) -> Iterator[Any]:
    """Every node of a syntax tree, the outer before the inner, left to right.

    Of the members of a set only those in `Members.others` are nodes.
    """
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += reversed(part)
        elif isinstance(part, t.Members):
            ends = (*part.lows, *part.highs) if t.Parameter in part.end_kinds else ()
            waiting += reversed((*part.others, *(end for end in ends if isinstance(end, t.Parameter))))
        elif names := _fields_of(part.__class__):
            yield part
            waiting += [getattr(part, name) for name in names]


@cache
def _fields_of(kind: type) -> tuple[str, ...]:
    """The names of the fields of a kind of nodes, the last first; none of what is no node."""
    if not is_dataclass(kind) or issubclass(kind, Span):
        return ()
    return tuple(field.name for field in reversed(fields(kind)))


def names_in(statement: t.Statement) -> frozenset[str]:
    """The names of all attributes in a statement."""
    found: set[str] = set()
    for node in walk(statement):
        match node:
            case t.Attribute(name=name):
                found.add(name)
            case t.SelectItem(attributes=attributes):
                found.update(attributes)
            case t.Window(attribute=str(name)):
                found.add(name)
            case t.SelectQuery(partition=partition):
                found.update(name for part in partition for name in part)
            case t.RuleAtom(names=names):
                found.update(names or ())
    return frozenset(found)


def asks_types_alone(statement: t.Statement) -> bool:
    """Whether a query asks nothing of an event but its type: no column and no time decides what it means."""
    if isinstance(statement, t.Rule) or statement.streams or statement.measures or names_in(statement):
        return False
    if statement.suppress is not None:
        return False
    if any(item.whole for item in statement.select or ()):
        return False
    if statement.window is not None and statement.window.kind != "events":
        return False
    return all(
        isinstance(node, _OF_TYPES) and not getattr(node, "gap", None) and not getattr(node, "stream", None)
        for node in nodes(statement.pattern)
    )


def streams_of(statement: t.Statement) -> tuple[str, ...]:
    """The names of FROM; a rule has none, but the one type of its atoms is what all events are of."""
    if isinstance(statement, t.SelectQuery):
        return statement.streams
    types = tuple({atom.type.name: None for atom in statement.atoms})
    return types if len(types) == 1 else ()


def children(pattern: t.Pattern) -> tuple[t.Pattern, ...]:
    """The patterns that a pattern is directly built from."""
    match pattern:
        case t.EventType() | t.OtherEvent():
            return ()
        case (
            t.Sequence(left=left, right=right)
            | t.Or(left=left, right=right)
            | t.And(left=left, right=right)
            | t.All(left=left, right=right)
            | t.Unless(left=left, right=right)
            | t.Beside(left=left, right=right)
        ):
            return (left, right)
        case _:
            return (pattern.pattern,)


def nodes(pattern: t.Pattern) -> Iterator[t.Pattern]:
    """The pattern and all patterns inside it, the outer before the inner, left to right."""
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += reversed(children(one))


def parts(node: t.Condition | t.Expression) -> tuple[t.Condition | t.Expression, ...]:
    """The conditions and expressions that a condition or an expression is directly built from.

    The members of a set are not among them: they are constants.
    """
    match node:
        case (
            t.Both(left=left, right=right)
            | t.Either(left=left, right=right)
            | t.Comparison(left=left, right=right)
            | t.Arithmetic(left=left, right=right)
        ):
            return (left, right)
        case t.Not(operand=inner) | t.Like(operand=inner) | t.InSet(operand=inner) | t.IsNull(operand=inner):
            return (inner,)
        case t.Negation(operand=operand):
            return (operand,)
        case t.InRange(operand=operand, low=low, high=high):
            return tuple(part for part in (operand, low, high) if part is not None)
        case t.Every(predicate=predicate):
            return (predicate,)
        case t.Call(arguments=arguments):
            return arguments
        case t.Previous(attribute=attribute):
            return (attribute,)
        case t.Aggregate(argument=argument):
            return () if argument is None else (argument,)
        case _:
            return ()


def with_attributes(node: Any, change: Callable[[t.Attribute], t.Attribute]) -> Any:
    """A condition or an expression with each of its attributes changed.

    Parameters
    ----------
    node : Condition or Expression
    change : callable
        Returns the attribute that replaces the given one.
    """
    match node:
        case t.Attribute():
            return change(node)
        case t.Comparison(left=left, right=right) | t.Arithmetic(left=left, right=right):
            return replace(node, left=with_attributes(left, change), right=with_attributes(right, change))
        case t.Both(left=left, right=right) | t.Either(left=left, right=right):
            return replace(node, left=with_attributes(left, change), right=with_attributes(right, change))
        case t.InRange(operand=operand, low=low, high=high):
            low, high = (None if end is None else with_attributes(end, change) for end in (low, high))
            return replace(node, operand=with_attributes(operand, change), low=low, high=high)
        case t.Not() | t.Negation() | t.Like() | t.InSet() | t.IsNull():
            return replace(node, operand=with_attributes(node.operand, change))
        case t.Call(arguments=arguments):
            return replace(node, arguments=tuple(with_attributes(one, change) for one in arguments))
        case t.Previous(attribute=attribute):
            return replace(node, attribute=change(attribute))
        case t.Aggregate(argument=argument) if argument is not None:
            return replace(node, argument=with_attributes(argument, change))
        case _:
            return node


def with_aggregates(node: Any, change: Callable[[t.Aggregate], t.Expression]) -> Any:
    """As `with_attributes`, with each aggregate changed."""
    match node:
        case t.Aggregate():
            return change(node)
        case t.Comparison() | t.Arithmetic() | t.Both() | t.Either():
            left, right = (with_aggregates(side, change) for side in (node.left, node.right))
            return replace(node, left=left, right=right)
        case t.Not() | t.Negation():
            return replace(node, operand=with_aggregates(node.operand, change))
        case t.Call(arguments=arguments):
            return replace(node, arguments=tuple(with_aggregates(one, change) for one in arguments))
        case _:
            return node


def condition_variables(condition: t.Condition | t.Expression) -> frozenset[str]:
    """The variables in a condition; none for a predicate on one event.

    Variables of PRIOR and BEFORE are left out: see `prior_variables`.
    """
    return frozenset(name for name, prior in _spoken_of(condition) if not prior)


def prior_variables(condition: t.Condition | t.Expression) -> frozenset[str]:
    """The variables of PRIOR and BEFORE in a condition."""
    return frozenset(name for name, prior in _spoken_of(condition) if prior)


def _spoken_of(condition: t.Condition | t.Expression) -> Iterator[tuple[str, t.Earlier]]:
    waiting = [condition]
    while waiting:
        match waiting.pop():
            case t.Every(variable=name, prior=prior) | t.Attribute(variable=str(name), prior=prior):
                yield name, prior
            case t.Aggregate(variable=str(name), prior=prior):
                yield name, prior
            case t.Aggregate(edge=t.RepetitionEdge() as edge, argument=argument) as node:
                own = [*_spoken_of(argument)] if argument is not None else []
                yield from own
                yield from ((name, own[0][1]) for name in edge.variables)
            case node:
                waiting += parts(node)

"""Walks over syntax trees: every node, the direct parts of a node, variables of conditions, types needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import attrgetter, is_
from typing import Any, TypeAlias

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


def has_parameter(node: Any) -> bool:
    """Whether a part of a statement has a parameter."""
    return any(isinstance(part, t.Parameter) for part in walk(node))


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


_PARTS: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((t.Sequence, t.Or, t.And, t.All, t.Unless, t.Beside), ("left", "right")),
    **dict.fromkeys((t.As, t.Iteration, t.Optional, t.Filter, t.Project, t.Selector, t.Timed), ("pattern",)),
    **dict.fromkeys((t.Both, t.Either, t.Comparison, t.Arithmetic), ("left", "right")),
    **dict.fromkeys((t.Not, t.Negation, t.Like, t.InSet, t.IsNull), ("operand",)),
    t.InRange: ("operand", "low", "high"),
    t.Every: ("predicate",),
    t.Call: ("arguments",),
    t.Previous: ("attribute",),
    t.Aggregate: ("argument",),
}
"""The fields with what a node is directly built from: a pattern from patterns, anything else from conditions
and expressions. The members of a set are not among them: they are constants."""

_OPEN = (t.InRange, t.Aggregate)
"""What may lack a part."""

_ONE_SIDED = (t.Unless, t.Beside)


@cache
def _names_of(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node that its `parts` are in.

    A node that only automata know, such as a window, stands around a pattern.
    """
    return _PARTS.get(kind) or (("pattern",) if hasattr(kind, "pattern") else ())


@cache
def _getter(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    names = _names_of(kind)
    if not names:
        return lambda node: ()
    if kind is t.Call:
        return attrgetter("arguments")
    if kind in _OPEN:
        return lambda node: tuple(part for name in names if (part := getattr(node, name)) is not None)
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda node: (get(node),)


def parts(node: Any) -> tuple[Any, ...]:
    """The patterns that a pattern is directly built from; of another node the conditions and expressions."""
    return _getter(node.__class__)(node)


def children(pattern: t.Pattern) -> tuple[t.Pattern, ...]:
    """The patterns that a pattern is directly built from."""
    return parts(pattern)


def own_children(pattern: t.Pattern) -> tuple[t.Pattern, ...]:
    """As `children`, without the right side of FOLLOWED BY and PRECEDED BY, a query of its own."""
    return (pattern.left,) if isinstance(pattern, t.Beside) else parts(pattern)


def own_nodes(pattern: t.Pattern) -> Iterator[t.Pattern]:
    """As `nodes`, of `own_children`."""
    return descendants(pattern, own_children)


def marking(pattern: t.Pattern) -> tuple[t.Pattern, ...]:
    """As `children`, without the right sides of UNLESS, FOLLOWED BY and PRECEDED BY, which mark nothing."""
    return (pattern.left,) if isinstance(pattern, _ONE_SIDED) else parts(pattern)


def rebuild(node: Any, change: Callable[[Any], Any]) -> Any:
    """A node with each of its `parts` replaced by what `change` gives; the same object where none changes."""
    changed = {}
    for name in _names_of(node.__class__):
        part = getattr(node, name)
        if part is not None:
            changed[name] = tuple(map(change, part)) if part.__class__ is tuple else change(part)
    return _with_fields(node, changed)


def rebuild_all(node: Any, change: Callable[[Any], Any]) -> Any:
    """As `rebuild`, with each field of a node, or each item of a tuple."""
    if isinstance(node, tuple):
        made = tuple(map(change, node))
        return node if all(map(is_, made, node)) else made
    if not _fields_of(node.__class__) or isinstance(node, t.Members):
        return node
    names = (field.name for field in fields(node) if field.init)
    return _with_fields(node, {name: change(getattr(node, name)) for name in names})


def _with_fields(node: Any, made: dict[str, Any]) -> Any:
    changed = {}
    for name, new in made.items():
        own = getattr(node, name)
        if new is not own and not (own.__class__ is tuple and all(map(is_, new, own))):
            changed[name] = new
    return replace(node, **changed) if changed else node


def nodes(pattern: t.Pattern) -> Iterator[t.Pattern]:
    """The pattern and all patterns inside it, the outer before the inner, left to right."""
    return descendants(pattern, children)


def descendants(root: Any, children_of: Callable[[Any], Sequence[Any]]) -> Iterator[Any]:
    """A node and all nodes below it, the outer before the inner, left to right."""
    waiting = [root]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += reversed(children_of(one))


def is_one_event(pattern: t.Pattern, *others: type) -> bool:
    """Whether a pattern is built of event types, AS, FILTER, OR and `others` alone, and so is one event."""
    return all(isinstance(node, (t.EventType, t.As, t.Filter, t.Or, *others)) for node in nodes(pattern))


LeafCondition: TypeAlias = "t.Every | t.Comparison | t.Like | t.InSet | t.InRange | t.IsNull | t.Truth"


def leaves_of(condition: t.Condition) -> Iterator[LeafCondition]:
    """The conditions that AND, OR and NOT combine in a condition, from left to right."""
    waiting = [condition]
    while waiting:
        part = waiting.pop()
        if isinstance(part, t.Both | t.Either | t.Not):
            waiting += reversed(parts(part))
        else:
            yield part


def with_attributes(node: Any, change: Callable[[t.Attribute], Any]) -> Any:
    """A condition or an expression with each of its attributes changed.

    Parameters
    ----------
    node : Condition or Expression
    change : callable
        Returns what replaces the given attribute.
    """
    if isinstance(node, t.Attribute):
        return change(node)
    return rebuild(node, lambda part: with_attributes(part, change))


def with_aggregates(node: Any, change: Callable[[t.Aggregate], t.Expression]) -> Any:
    """As `with_attributes`, with each aggregate changed."""
    if isinstance(node, t.Aggregate):
        return change(node)
    return rebuild(node, lambda part: with_aggregates(part, change))


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


def in_a_row(pattern: t.Pattern) -> bool:
    """Whether the events of a match follow one another without a gap."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        if isinstance(node, t.All | t.Selector) or not getattr(node, "contiguous", True):
            return False
        waiting += marking(node)
    return True


def needed_types(statement: t.Statement) -> frozenset[str]:
    """The names of the event types that all matches of a query need.

    `A ; (B OR C) ; D?` needs A, and nothing else.
    """
    if isinstance(statement, t.Rule):
        return frozenset(atom.type.name for atom in statement.atoms)
    return _needed(statement.pattern)


def only_type(statement: t.Statement) -> str | None:
    """The type that FROM gives to all events if they have none of their own, where the query asks for it."""
    streams = streams_of(statement)
    asked = (node.name for node in walk(statement) if isinstance(node, t.EventType))
    return streams[0] if len(streams) == 1 and streams[0] in asked else None


def _needed(pattern: t.Pattern) -> frozenset[str]:
    match pattern:
        case t.EventType(name=name):
            return frozenset({name})
        case t.OtherEvent() | t.Optional():
            return frozenset()
        case t.Or(left=left, right=right):
            return _needed(left) & _needed(right)
        case t.Unless(left=left) | t.Beside(left=left, negated=True):
            return _needed(left)
    return frozenset[str]().union(*map(_needed, parts(pattern)))

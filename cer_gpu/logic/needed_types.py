"""The types of which every match has an event: where one of them never occurs, there is no match."""

from __future__ import annotations

from cer_gpu.language import tree
from cer_gpu.language.walk import parts, streams_of, walk


def needed_types(statement: tree.Statement) -> frozenset[str]:
    """The names of the event types that all matches of a query need.

    `A ; (B OR C) ; D?` needs A, and nothing else.
    """
    if isinstance(statement, tree.Rule):
        return frozenset(atom.type.name for atom in statement.atoms)
    return _needed(statement.pattern)


def only_type(statement: tree.Statement) -> str | None:
    """The type that FROM gives to all events if they have none of their own, where the query asks for it."""
    streams = streams_of(statement)
    asked = (node.name for node in walk(statement) if isinstance(node, tree.EventType))
    return streams[0] if len(streams) == 1 and streams[0] in asked else None


def _needed(pattern: tree.Pattern) -> frozenset[str]:
    match pattern:
        case tree.EventType(name=name):
            return frozenset({name})
        case tree.OtherEvent() | tree.Optional():
            return frozenset()
        case tree.Or(left=left, right=right):
            return _needed(left) & _needed(right)
        case tree.Unless(left=left) | tree.Beside(left=left, negated=True):
            return _needed(left)
    return frozenset[str]().union(*map(_needed, parts(pattern)))

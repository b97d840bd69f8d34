"""The marks `S>T` of atoms `T` under `FROM S, ...`: `with_stream_marks`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce

from cer_gpu.language import tree as t
from cer_gpu.language.walk import rebuild, walk


def with_stream_marks(query: t.SelectQuery) -> t.SelectQuery:
    """The query with its atoms by stream, where it speaks of events of a type in one of the streams.

    >>> SELECT * FROM S1, S2 WHERE BUY ; SELL FILTER S1>BUY[price > 5]
    >>> SELECT * FROM S1, S2 WHERE (S1>BUY OR S2>BUY) ; SELL FILTER S1>BUY[price > 5]

    An event is of one stream, so both have the same complex events, and the second has the marks `S>T` too. A
    query that speaks of none keeps its atoms.
    """
    if not query.streams:
        return query
    spoken = set(_spoken_of(query))
    if not any(">" in variable for variable in spoken):
        return query
    types = {node.name for node in walk(query.pattern) if isinstance(node, t.EventType)}
    by_stream = {
        name: query.streams
        for name in types
        if not spoken.isdisjoint(f"{stream}>{name}" for stream in query.streams)
    }
    return replace(query, pattern=_by_stream(query.pattern, by_stream)) if by_stream else query


def _spoken_of(query: t.SelectQuery) -> Iterator[str]:
    """The variables of conditions, measures, the SELECT list and PROJECT."""
    for node in walk(query):
        match node:
            case t.Every(variable=str(name)) | t.Attribute(variable=str(name)):
                yield name
            case t.Aggregate(variable=str(name)) | t.SelectItem(variable=name):
                yield name
            case t.Project(variables=names):
                yield from names


def _by_stream(pattern: t.Pattern, by_stream: Mapping[str, tuple[str, ...]]) -> t.Pattern:
    match pattern:
        case t.EventType(name=name, stream=None) if name in by_stream:
            atoms: list[t.Pattern] = [replace(pattern, stream=stream) for stream in by_stream[name]]
            return reduce(lambda left, right: t.Or(left, right, span=pattern.span), atoms)
    rebuilt: t.Pattern = rebuild(pattern, lambda part: _by_stream(part, by_stream))
    return rebuilt

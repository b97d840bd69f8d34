"""Random queries over kinds of columns that other random queries do not have, and events to run them on.

`g` and `h` are ordered categories; `u` and `w` are uint64 of the whole width, beside int64 and floats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pyarrow as pa
from generate import ORDER, stream

from cer_gpu.reference.events import Category, Event, Instant

GRADES = ("low", "medium", "high", "critical", "beta")
"""Categories in their order, which is not that of their texts."""

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


class Kind:
    """A kind of columns.

    Attributes
    ----------
    columns : sequence of str
        Columns that compare with each other.
    constants : callable
        Draws a constant that they are compared with, as text.
    """

    def __init__(self, columns: Sequence[str], constants: Callable[[Random], str]) -> None:
        self.columns = tuple(columns)
        self.constants = constants


WIDE_NUMBERS = (0, 1, 7, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**63 + 2048, 2**64 - 2, 2**64 - 1)
WHOLE_NUMBERS = (-(2**63), -1, 0, 1, 7, 2**53 + 1, 2**63 - 1)
FLOATS = (-1.5, 0.0, 7.0, 2.0**53, 2.0**63, 2.0**64, float("nan"), float("inf"))

WIDE = Kind(("u", "w", "u", "w", "i", "f"), lambda rng: f"{rng.choice((*WIDE_NUMBERS, 7.5))}")
GRADED = Kind(("g", "h"), lambda rng: f"'{rng.choice(GRADES)}'")


def predicate(rng: Random, kind: Kind) -> str:
    """A predicate of one event."""
    op, column, other = rng.choice(OPERATORS), rng.choice(kind.columns), rng.choice(kind.columns)
    low, high = kind.constants(rng), kind.constants(rng)
    found = rng.choice(
        (
            f"{column} {op} {low}",
            f"{column} {op} {low}",
            f"{column} {op} {other}",
            f"{column} {op} PREV({other})",
            f"{column} IN RANGE ({low}, {high})",
            f"{column} IN {{{low}, {high}}}",
            f"COALESCE({rng.choice(kind.columns[:2])}, {low}) {op} {other}",
            f"{column} IS NULL",
        )
    )
    return f"NOT ({found})" if rng.random() < 0.2 else found


def comparison(rng: Random, kind: Kind, names: Sequence[str]) -> str:
    """A comparison of events of some names."""
    op, one, two = rng.choice(OPERATORS), rng.choice(names), rng.choice(names)
    column, other = rng.choice(kind.columns), rng.choice(kind.columns)
    extreme = rng.choice(("MIN", "MAX", "FIRST", "LAST"))
    return rng.choice(
        (
            f"{one}.{column} {op} {two}.{other}",
            f"{one}.{column} {op} {two}.{other}",
            f"{one}.{column} {op} {kind.constants(rng)}",
            f"{extreme}({one}.{column}) {op} {kind.constants(rng)}",
            f"{extreme}({one}.{column}) {op} {two}.{other}",
            f"COUNT(DISTINCT {one}.{column}) {op} {rng.randrange(3)}",
        )
    )


def query(rng: Random, kind: Kind) -> str:
    """A query that compares columns of a kind."""
    column = rng.choice(kind.columns)
    op = rng.choice(("<", "<=", ">", ">=", "="))
    pattern = rng.choice(
        (
            f"A AS x FILTER x[{predicate(rng, kind)}]",
            f"A AS x ; B AS y FILTER {comparison(rng, kind, 'xy')} AND {comparison(rng, kind, 'xy')}",
            f"A AS x ; B AS y ; C AS z FILTER x.{column} {op} y.{column} AND y.{column} {op} z.{column}",
            f"(A AS x FILTER x[{predicate(rng, kind)}])+ ; B AS y FILTER {comparison(rng, kind, 'xy')}",
            f"(A AS x FILTER x.{column} {op} PRIOR(x).{column})+",
            f"(A AS x ; B AS y FILTER {comparison(rng, kind, 'xy')})+ FILTER {comparison(rng, kind, 'xy')}",
            f"A AS x ; NOT (B FILTER B[{predicate(rng, kind)}]) : C AS y",
            f"A AS x FOLLOWED BY (B AS y ; C AS z FILTER {comparison(rng, kind, 'yz')})",
            f"(A OR B) AS x : (B OR C) AS y FILTER x.id = y.id AND y.{column} {op} x.{column}",
        )
    )
    clauses = [
        rng.choice(("", "", f"PARTITION BY {column}", "PARTITION BY id")),
        rng.choice(("", "WITHIN 4 EVENTS", "WITHIN 2 SECONDS")),
    ]
    strategy = rng.choice(("", "", "", "NEXT ", "LAST ", "MAX "))
    return f"SELECT {strategy}* WHERE {pattern} {' '.join(clauses)}"


def events_of(rng: Random, count: int) -> list[Event]:
    """Events with further columns, which are null now and then."""
    made = []
    for event in stream(rng, count):
        own: dict[str, Any] = {name: Category(rng.choice(GRADES), GRADES) for name in "gh"}
        own |= {name: rng.choice(WIDE_NUMBERS) for name in "uw"}
        own |= {"i": rng.choice(WHOLE_NUMBERS), "f": rng.choice(FLOATS)}
        there = {name: None if rng.random() < 0.1 else value for name, value in own.items()}
        made.append(Event(event.type, {**event.attributes, **there}, event.stream))
    return made


def table_of(events: Sequence[Event]) -> pa.Table:
    """The events as a table."""

    def values(name: str) -> list[Any]:
        return [event.attributes.get(name) for event in events]

    def graded(name: str) -> pa.Array:
        places = [None if one is None else GRADES.index(one) for one in values(name)]
        return pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(GRADES), ordered=True)

    times = [value.count if isinstance(value, Instant) else None for value in values(ORDER)]
    return pa.table(
        {
            "type": pa.array([event.type for event in events], pa.string()),
            "stream": pa.array([event.stream for event in events], pa.string()),
            "id": pa.array(values("id"), pa.int64()),
            "g": graded("g"),
            "h": graded("h"),
            "u": pa.array(values("u"), pa.uint64()),
            "w": pa.array(values("w"), pa.uint64()),
            "i": pa.array(values("i"), pa.int64()),
            "f": pa.array(values("f"), pa.float64()),
            ORDER: pa.array(times, pa.int64()).cast(pa.timestamp("ms")),
        }
    )

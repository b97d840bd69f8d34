"""A push of one event to a stream, at growing numbers of events in the open window."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, duration
from bench.measure import Times
from bench.sizes import Sizes, large

KEYS = 1000
"""How many values `g`, the key of PARTITION BY, has."""

PUSHES = 500
"""How many pushes are timed, after a tenth of them that is not."""

MOST_S = 100e-6
"""The most seconds that a push of one event may take if nothing ends."""

PATTERN = "SELECT * FROM S WHERE A AS a ; B AS b ; C AS c"


class Kind(NamedTuple):
    """A query that single events are pushed to.

    Attributes
    ----------
    text : str
    answers : callable
        `answers(n)`: how many answers a last B and C have, after n A's.
    tables : bool
        Whether an event is pushed as a dict with a table for each type.
    """

    text: str
    answers: Callable[[int], int]
    tables: bool = False


KINDS = {
    "A ; B ; C": Kind(f"{PATTERN} WITHIN 1000000 SECONDS", lambda starts: starts),
    "A ; B ; C, tables by type": Kind(f"{PATTERN} WITHIN 1000000 SECONDS", lambda starts: starts, True),
    "A ; B ; C, a number filtered": Kind(
        f"{PATTERN} FILTER a[k >= 5] WITHIN 1000000 SECONDS", lambda starts: starts - 5
    ),
    "A ; B ; C of a key": Kind(
        f"{PATTERN} PARTITION BY g WITHIN 1000000 SECONDS", lambda starts: -(-starts // KEYS)
    ),
    "A ; B ; C, window of an attribute": Kind(f"{PATTERN} WITHIN 1000000000 [k]", lambda starts: starts),
    "A ; B ; C with gaps": Kind(
        "SELECT * FROM S WHERE A AS a ;[<= 1000000 s] B AS b ;[<= 1000000 s] C AS c", lambda starts: starts
    ),
    "A ; B ; C with gaps, of a key": Kind(
        "SELECT * FROM S WHERE A AS a ;[<= 1000000 s] B AS b ;[<= 1000000 s] C AS c PARTITION BY g",
        lambda starts: -(-starts // KEYS),
    ),
    "LAST A ; B ; C": Kind(f"{PATTERN.replace('*', 'LAST *', 1)} WITHIN 1000000 SECONDS", lambda starts: 1),
    "join of A, B, C, window of an attribute": Kind(
        "Q(x) <- A(k = x), B(k = x), C(k = x) WITHIN 1000000000 [g]", lambda starts: 1
    ),
    "join of A, B, C": Kind(
        "Q(x) <- A(k = x), B(k = x), C(k = x) WITHIN 1000000000 EVENTS", lambda starts: 1
    ),
}
"""The queries that are measured, by their names in the table. Every A of the join has a key of its own."""


def streams_push(sizes: Sizes) -> Iterator[Figure]:
    """The time of a push at which nothing ends, for each kind of query."""
    for name, kind in KINDS.items():
        for count in (10, 10_000, sizes.pushed):
            times = _pushes(kind, count)
            case = f"{name}, {large(count)} open events"
            yield duration("streams_push", case, times, MOST_S, "the number of answers of a C in the end")


def _pushes(kind: Kind, count: int) -> Times:
    """The times of pushes of an A each to a stream with so many open A's; what ends then is checked."""
    seconds = []
    with cer.compile(kind.text).stream(order_by="ts", order_unit="ms", device="cpu") as stream:

        def push(name: str, first: int, many: int, key: int | None = None) -> Any:
            events = _events(name, first, many, key)
            given: Any = events if many != 1 else events.to_batches()[0]
            if kind.tables:
                given = {each: _events(each, first, many if each == name else 0, key) for each in "ABC"}
                given = {each: table.drop_columns("type") for each, table in given.items()}
            begin = time.perf_counter()
            found = stream.push(given)
            seconds.append(time.perf_counter() - begin)
            return found

        push("A", 0, count)
        for at in range(count, count + PUSHES + PUSHES // 10):
            push("A", at, 1)
        times = Times(tuple(seconds[-PUSHES:]))
        starts = count + PUSHES + PUSHES // 10
        must(push("B", starts, 1, 0).to_arrow().num_rows == 0, f"a B in {kind.text}")
        answers = sum(len(batch) for batch in push("C", starts + 1, 1, 0).batches())
        must(answers == kind.answers(starts), f"{answers:,} answers of {kind.text} over {starts:,} A's")
    return times


def _events(kind: str, first: int, count: int, key: int | None = None) -> pa.Table:
    """Events of one type: their numbers are `ts` and, unless `key` is given, `k`; `g` groups them."""
    numbers = np.arange(first, first + count)
    types = pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), pa.array([kind]))
    keys = numbers if key is None else np.full(count, key)
    return pa.table({"type": types, "ts": numbers, "k": keys, "g": keys % KEYS})

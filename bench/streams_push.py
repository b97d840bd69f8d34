"""A push of one event to a stream, at growing numbers of events in the open window."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, duration
from bench.measure import Times
from bench.sizes import Sizes, large

TEXT = "SELECT * FROM S WHERE A AS a ; B AS b ; C AS c WITHIN 1000000 SECONDS"

RULE = "Q(x) <- A(k = x), B(k = x), C(k = x) WITHIN 1000000000 EVENTS"

PUSHES = 500
"""Pushes that are timed, after a tenth of them that is not."""

MOST_S = 100e-6
"""Seconds that a push of one event may take at most, where nothing ends."""


def streams_push(sizes: Sizes) -> Iterator[Figure]:
    """The time of a push that nothing ends in, for a pattern of three steps and for a join."""
    for name, text in (("A ; B ; C", TEXT), ("join of A, B, C", RULE)):
        for count in (10, 10_000, sizes.pushed):
            times = _pushes(text, count)
            case = f"{name}, {large(count)} open events"
            yield duration("streams_push", case, times, MOST_S, "the number of answers of a C in the end")


def _pushes(text: str, count: int) -> Times:
    """The times of pushes of an A each to a stream with so many open A's.

    What ends with a B and a C is checked afterwards: one answer for each A of the pattern; of the join, whose
    A's have each a key of their own, one in all.
    """
    keyed = text == RULE
    seconds = []
    with cer.compile(text).stream(order_by="ts", order_unit="ms", device="cpu") as stream:
        stream.push(_events("A", 0, count))
        for at in range(count, count + PUSHES + PUSHES // 10):
            batch = _events("A", at, 1).to_batches()[0]
            begin = time.perf_counter()
            stream.push(batch)
            seconds.append(time.perf_counter() - begin)
        first = count + len(seconds)
        must(stream.push(_events("B", first, 1, key=0)).to_arrow().num_rows == 0, f"a B in {text}")
        found = stream.push(_events("C", first + 1, 1, key=0))
        answers = sum(len(batch) for batch in found.batches())
        must(answers == (1 if keyed else first), f"{answers:,} answers of {text} over {first:,} A's")
    return Times(tuple(seconds[PUSHES // 10 :]))


def _events(kind: str, first: int, count: int, key: int | None = None) -> pa.Table:
    """Events of one type, with their numbers as time and, if no other is given, as key."""
    numbers = np.arange(first, first + count)
    types = pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), pa.array([kind]))
    return pa.table({"type": types, "ts": numbers, "k": numbers if key is None else np.full(count, key)})

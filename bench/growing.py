"""Joins whose window grows: what an event costs, and the steps between two answers.

One query, the chain `A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y`, on three kinds of streams;
one event in `SPACING` matters, and time is told for each of these.

- *few*: as many keys as the window asks for, so that about as many answers end as events matter;
- *many*: `KEYS` keys whatever the window: the answers grow with the square of the window;
- *reversed*: half a window of A, then each of their B in reverse. Every pair of a and b begins before all
  that the same C may join, so each union goes all the way down its heap: the worst case of Theorem 5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.answers import must
from bench.joined import CHAIN, by_sorted_arrays, key_shares, make_stream
from cer_gpu.engine import join_execute
from cer_gpu.engine.chunk import Chunk
from cer_gpu.engine.hits import Hits
from cer_gpu.engine.intake import joined
from cer_gpu.engine.join_execute import JoinExecutor
from cer_gpu.engine.options import read_options
from cer_gpu.enumeration.products import Products
from cer_gpu.enumeration.products_validator import longest_walk
from cer_gpu.kernels.gather_tables import GatherTables

SPACING = 5
KEYS = 10
KINDS = ("few", "many", "reversed")
CHECKED = 20_000
"""Events of the stream on which all answers are listed by a second method too."""
MOST_LISTED = 1 << 24
WALKED = 100_000
"""Events that matter at most where steps between answers are counted: the validator is plain Python."""
ANSWERS = 2000
"""Answers of a hit that are walked."""
TYPES = ["A", "B", "C", "D"]


def make_events(kind: str, count: int, within: int, spacing: int = SPACING) -> pa.Table:
    """A stream of `count` events, of which every `spacing`-th matters.

    Parameters
    ----------
    kind : {"few", "many", "reversed"}
    count, within : int
    spacing : int

    Returns
    -------
    pyarrow.Table
        `type` of A, B, C, D (D does not matter), `x`, `y`.
    """
    number = -(-count // spacing)
    inside = max(within // spacing, 4)
    if kind == "reversed":
        at = np.arange(number) % inside
        half = inside // 2
        codes = np.where(at < half, 0, np.where(at % 8 == 7, 2, 1)).astype(np.int32)
        x, y = np.where(at < half, at, inside - 1 - at), np.zeros(number, np.int64)
    else:
        # With a key for each 7.35 events of a window there are as many answers as events (`Join.within`).
        keys = KEYS if kind == "many" else max(1, round(inside / 7.35))
        drawn = make_stream(CHAIN, number, key_shares(keys, False))
        codes = drawn.column("type").chunk(0).indices.to_numpy()
        x, y = (drawn.column(name).chunk(0).to_numpy() for name in "xy")
    types = np.full(count, TYPES.index("D"), np.int32)
    types[::spacing] = codes
    columns = {"type": pa.DictionaryArray.from_arrays(pa.array(types), pa.array(TYPES))}
    for name, values in (("x", x), ("y", y)):
        spread = np.zeros(count, np.int64)
        spread[::spacing] = values
        columns[name] = pa.array(spread)
    return pa.table(columns)


class Built(Products):
    """The structure without the numbers of answers, which Algorithm 1 does not ask for."""

    def _counts(self, lowest: np.ndarray) -> np.ndarray:
        return np.zeros(len(lowest), np.int64)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A stream that has been read, as one chunk with one segment: nothing is run twice.

    Attributes
    ----------
    executor : JoinExecutor
    chunk : Chunk
    hits : Hits
    """

    executor: JoinExecutor
    chunk: Chunk
    hits: Hits

    def build(self) -> list[Products]:
        """The structure of all hits."""
        parts: list[Products] = []

        def begun(tables: GatherTables) -> Products:
            parts.append(Built(tables))
            return parts[-1]

        with mock.patch.object(join_execute, "Products", begun):
            self.executor.structure(self.chunk, self.hits)
        return parts


def prepared(events: pa.Table, within: int) -> Prepared:
    """A stream read, its hits found and compared with `hits_by_prefix_maxima`."""
    query = cer.compile(CHAIN.text.format(w=within))
    bound = query._bound(events, read_options())
    run = bound.begin(enumerates=False)
    assert isinstance(run.executor, JoinExecutor)
    chunk = run.runner.chunk(joined(list(run.intake(bound.read(run)))))
    chunk = replace(chunk, segments=chunk.lanes)
    found = run.executor.hits(chunk)
    ends, starts = hits_by_prefix_maxima(events, within)
    must(np.array_equal(chunk.events.positions[found.event], ends), f"hits of {query.text}")
    must(np.array_equal(found.latest, starts), f"latest starts of {query.text}")
    return Prepared(run.executor, chunk, found)


def hits_by_prefix_maxima(events: pa.Table, within: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the chain, and the latest start at each: a second method.

    For each b the last a before it with its x; for each c the latest of these over the b before it with its y.

    Returns
    -------
    ends, starts : ndarray of int64
    """
    codes = events.column("type").chunk(0).indices.to_numpy()
    x, y = (events.column(name).chunk(0).to_numpy() for name in "xy")
    span = len(events) + 1
    a, b, c = (np.flatnonzero(codes == code) for code in range(3))
    last_a = _last_before(np.sort(x[a] * span + a), x[b] * span + b, span)
    order = np.argsort(y[b], kind="stable")
    # One number rises from key to key, so that a maximum does not reach back into the key before.
    raised = np.maximum.accumulate(y[b][order] * span + last_a[order] + 1)
    whole = y[b][order] * span + b[order]
    place = np.searchsorted(whole, y[c] * span + c) - 1
    known = (place >= 0) & (y[b][order][place] == y[c]) if len(b) else np.zeros(len(c), bool)
    start = np.where(known, raised[place] - y[c] * span - 1, -1) if len(b) else np.full(len(c), -1)
    inside = (start >= 0) & (c - start <= within)
    return c[inside], start[inside]


def _last_before(whole: np.ndarray, asked: np.ndarray, span: int) -> np.ndarray:
    """The position of the last of `whole` before each asked (key, position) with its key, else -1."""
    if not len(whole):
        return np.full(len(asked), -1)
    place = np.searchsorted(whole, asked) - 1
    same = (place >= 0) & (whole[place] // span == asked // span)
    return np.where(same, whole[place] % span, -1)


def check_beginning(events: pa.Table, within: int) -> None:
    """Count the answers of a beginning of a stream, and compare with all of them listed by sorted arrays."""
    few = pa.table({name: events.column(name).combine_chunks() for name in events.column_names}).slice(0, CHECKED)
    few = few.combine_chunks()
    found, wanted = cer.compile(CHAIN.text.format(w=within)).count(few), by_sorted_arrays(CHAIN, few, within)
    must(found == wanted.number, f"{found:,} answers at the beginning, where there are {wanted.number:,}")


def longest_walks(within: int, kind: str, make: Callable[..., pa.Table] = make_events) -> float:
    """Most steps from an answer to the next, over the events of the larger of the two (Theorem 5.2)."""
    spacing = max(1, 2 * within // WALKED)
    parts = prepared(make(kind, 2 * within, within, spacing), within).build()
    return max(
        longest_walk(part, len(part.hits.event) - 1, ANSWERS) for part in parts if len(part.hits.event)
    )

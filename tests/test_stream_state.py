"""Streams whose pushes cost what is new: the same answers however they are cut, and nothing kept in vain."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from engine_oracle import OPTIONS, found
from generate import stream, stream_to_table, unary_query

from cer_gpu.api import Query
from cer_gpu.engine.machines.stream_state import StreamState
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text


def cut(rng: Random, table: pa.Table) -> list[pa.Table]:
    """A table in batches of which most have one event or none."""
    parts, low = [], 0
    while low < len(table):
        size = rng.choice((0, 1, 1, 1, 2, 5))
        parts.append(table.slice(low, size))
        low += size
    return parts


@pytest.fixture(params=[1, 7])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drop what is no longer open at every other event."""
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LEAST", request.param)


@pytest.mark.parametrize("block", range(3))
def test_random_queries_in_random_batches(block: int, few: None) -> None:
    rng = Random(f"stream {block}")
    total = kept = 0
    while total < 500:
        query = unary_query(rng)
        if query.window is not None and query.window.kind == "attribute":
            continue
        total += check(query, rng)
        kept += 1
    assert kept > 10


def check(query: tree.Query, rng: Random) -> int:
    table = stream_to_table(stream(rng, rng.randrange(20, 60)))
    compiled = Query(to_text(query))
    wanted = found(compiled.run(table, limit=3000, **OPTIONS))
    if len(wanted) == 3000:
        return 0
    late = []
    rows = []
    with compiled.stream(**OPTIONS) as pushed:
        for part in cut(rng, table):
            matches = pushed.push(part)
            if rng.random() < 0.5:
                rows.append(found(matches))
            else:
                rows.append([])
                late.append((len(rows) - 1, matches))
            if rng.random() < 0.1:
                rng.shuffle(late)
                while late:
                    at, matches = late.pop()
                    rows[at] = found(matches)
        assert pushed._state is None or isinstance(pushed._state, StreamState)
        for at, matches in late:
            rows[at] = found(matches)
    assert [row for part in rows for row in part] == wanted, to_text(query)
    return len(wanted)

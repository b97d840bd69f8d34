"""Random queries with equalities between events: every way of running them agrees with the reference."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

import pyarrow as pa
import pytest
from engine_oracle import check
from generate import stream
from random_correlated import random_correlated, random_scopes

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.answers import batches as enumerate
from cer_gpu.engine.machines import chunk
from cer_gpu.engine.read import classify
from cer_gpu.engine.run import bound_query
from cer_gpu.engine.run import chunks as runner
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text

QUERIES = 40


def agree(
    seed: str, queries: int, made: Callable[[Random], tree.SelectQuery] = random_correlated
) -> Counter[str]:
    rng = Random(seed)
    found: Counter[str] = Counter()
    for _ in range(queries):
        query = made(rng)
        events = stream(rng, rng.randrange(8, 17), types=("A", "B", "C"), lap_falls=rng.random() < 0.3)
        try:
            compiled = Query(to_text(query))
        except QueryError as error:
            found.update({finding.code for finding in error.diagnostics if finding.severity == "error"})
            continue
        except LimitError:
            found["limit"] += 1
            continue
        kind = "lifted" if compiled._plan.engine == "regular" else "chain"
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            answers = check(query, events, rng)
        found[kind] += 1
        found["answered"] += answers > 0
    return found


@pytest.mark.draws("seed", 6)
def test_run_count_hits_and_stream_agree_with_the_reference(seed: int) -> None:
    found = agree(f"correlated {seed}", QUERIES)
    assert found["lifted"] > 2
    assert found["chain"] > 5
    assert found["answered"] > 2
    assert found.keys() <= {"lifted", "chain", "answered"}


@pytest.mark.draws("seed", 3)
def test_scopes_agree_with_the_reference(seed: int) -> None:
    found = agree(f"scopes {seed}", QUERIES, random_scopes)
    assert found["lifted"] > 2
    assert found["chain"] > 5
    assert found["answered"] > 2


@pytest.mark.draws("seed", 6)
def test_they_agree_in_tiny_pieces_too(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classify, "BLOCK", 4)
    monkeypatch.setattr(bound_query, "BATCH", 5)
    monkeypatch.setattr(runner, "CHUNK", 3)
    monkeypatch.setattr(runner, "CARRIED", 2)
    monkeypatch.setattr(chunk, "SEGMENT", 2)
    monkeypatch.setattr(enumerate, "GROUP", 3)
    monkeypatch.setattr("cer_gpu.enumeration.products.BULK_ROWS", 3)
    monkeypatch.setattr("cer_gpu.engine.read.eviction.REMEMBERED", 1)
    assert agree(f"correlated pieces {seed}", QUERIES)["answered"] > 2


def test_a_time_equals_a_time_plus_a_span() -> None:
    begin = datetime(2024, 1, 1)
    table = pa.table(
        {
            "type": ["A", "B", "C", "A", "B", "C"],
            "ts": pa.array([begin + timedelta(milliseconds=500 * i) for i in range(6)], pa.timestamp("ms")),
            "id": [0, 1, 1, 0, 1, 1],
        }
    )
    text = "SELECT a, b, c FROM S WHERE A AS a ; B AS b ; C AS c FILTER b.ts = a.ts + 0.5 s AND c.id = b.id"
    found = cer.compile(text).run(table, order_by="ts")
    assert [(ce.marks["a"], ce.marks["b"], ce.marks["c"]) for ce in found] == [
        ((0,), (1,), (2,)),
        ((0,), (1,), (5,)),
        ((3,), (4,), (5,)),
    ]

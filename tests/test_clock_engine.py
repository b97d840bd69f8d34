"""The machine of one clock: random formulas on random streams with ties agree with the reference."""

from __future__ import annotations

import warnings
from random import Random

import engine_oracle
import pyarrow as pa
import pytest
from generate import stream, stream_to_table
from random_one_clock import one_clock_query

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.answers import batches as listing
from cer_gpu.engine.machines import chunk, open_runs
from cer_gpu.engine.read import classify
from cer_gpu.engine.run import bound_query
from cer_gpu.engine.run import chunks as runner
from cer_gpu.language.printer import to_text


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, chunks and groups of a few events; what is no longer open is dropped at every event."""
    monkeypatch.setattr(classify, "BLOCK", 4)
    monkeypatch.setattr(bound_query, "BATCH", 5)
    monkeypatch.setattr(runner, "CHUNK", 3)
    monkeypatch.setattr(chunk, "SEGMENT", 2)
    monkeypatch.setattr(listing, "GROUP", 3)
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LEAST", 1)
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LOOK", 1)
    monkeypatch.setattr(open_runs, "STEP", 2)


def agree(seed: str, queries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine_oracle.OPTIONS, "engine", "clock")
    rng = Random(seed)
    answered = 0
    for _ in range(queries):
        query = one_clock_query(rng)
        events = stream(rng, rng.randrange(6, 14))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event |no match is possible|1 event has no ")
            answered += engine_oracle.check(query, events, rng) > 0
    assert answered > 0


@pytest.mark.draws("seed", 4)
def test_every_product_agrees_with_the_reference(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(f"whole {seed}", 10, monkeypatch)


@pytest.mark.usefixtures("tiny")
@pytest.mark.draws("seed", 4)
def test_they_agree_in_tiny_chunks_too(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(f"tiny {seed}", 10, monkeypatch)


def test_it_agrees_with_the_machines_of_steps_and_of_configurations() -> None:
    """On larger streams than the reference can answer, wherever they apply too."""
    rng, compared = Random("machines"), 0
    options = {"order_by": "ts", "stream_column": "stream"}
    for _ in range(12):
        query = Query(to_text(one_clock_query(rng)))
        events = stream_to_table(stream(rng, 40))
        wanted = engine_oracle.found(query.run(events, engine="clock", limit=500, **options))
        if len(wanted) == 500:
            continue
        for engine, refusal in query._plan.said:
            if engine != "clock" and refusal is None:
                assert engine_oracle.found(query.run(events, engine=engine, **options)) == wanted
                assert query.count(events, engine=engine, **options) == query.count(
                    events, engine="clock", **options
                )
                compared += len(wanted) > 0
    assert compared > 5


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("pattern", ["A ;[<= 5] B ;[<= 5] C", "(A ;[>= 2] B) ; C WITHIN 9 EVENTS"])
def test_answers_that_are_read_late_are_not_those_of_later_events(pattern: str) -> None:
    """What is needed of the structure moves in its own memory only while nobody reads answers from it."""
    rng = Random(pattern)
    kinds = rng.choices("ABCX", k=200)
    query = cer.compile(f"SELECT * WHERE {pattern}")
    kept, wanted = [], []
    with (
        query.stream(order_by="ts", engine="clock") as late,
        query.stream(order_by="ts", engine="clock") as soon,
    ):
        for low in range(0, len(kinds), 8):
            table = pa.table({"type": kinds[low : low + 8], "ts": range(low, low + 8)})
            kept.append(late.push(table))
            wanted.append(soon.push(table).to_arrow())
        assert sum(map(len, wanted)) > 10
        assert [found.to_arrow() for found in kept] == wanted

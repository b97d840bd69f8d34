"""Random timed patterns on random streams with ties: every way of running them agrees with the reference."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from cer_gpu.kernels.steps import cpu_hits
from engine_oracle import OPTIONS, check, expected
from generate import stream, stream_to_table
from random_steps import keyed_query, neighbour_query, session_query, timed_query

from cer_gpu import compile
from cer_gpu.api import Query
from cer_gpu.engine.answers import batches as enumerate
from cer_gpu.engine.machines import chunk
from cer_gpu.engine.read import classify
from cer_gpu.engine.run import bound_query
from cer_gpu.engine.run import chunks as runner
from cer_gpu.errors import LimitError
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.tree import SelectQuery

BATCHES = 6
QUERIES = 14


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, chunks, segments and groups of a few events, so that small streams cross their borders."""
    monkeypatch.setattr(classify, "BLOCK", 4)
    monkeypatch.setattr(bound_query, "BATCH", 5)
    monkeypatch.setattr(bound_query, "CARRIED_BATCH", 3)
    monkeypatch.setattr(runner, "CHUNK", 3)
    monkeypatch.setattr(runner, "CARRIED", 2)
    monkeypatch.setattr(chunk, "SEGMENT", 2)
    monkeypatch.setattr(enumerate, "GROUP", 3)
    monkeypatch.setattr(enumerate, "BULK_COUNT", 2)


def agree(seed: str, queries: int, drawn: Callable[[Random], SelectQuery] = timed_query) -> None:
    rng = Random(seed)
    answered, refused = 0, 0
    for _ in range(queries):
        query = drawn(rng)
        events = stream(rng, rng.randrange(6, 13), lap_falls=rng.random() < 0.3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event |no match is possible|1 event has no ")
            try:
                answered += check(query, events, rng) > 0
            except LimitError:  # the automaton is over the budget
                refused += 1
    assert answered >= 1
    assert refused <= queries // 4


@pytest.mark.draws("seed", BATCHES)
def test_run_count_hits_and_stream_agree_with_the_reference(seed: int) -> None:
    agree(f"whole {seed}", QUERIES)


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", BATCHES)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"pieces {seed}", QUERIES)


@pytest.mark.draws("seed", 2)
def test_strategies_over_sessions_agree_with_the_reference(seed: int) -> None:
    agree(f"sessions {seed}", QUERIES, session_query)


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 2)
def test_strategies_over_sessions_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"session pieces {seed}", QUERIES, session_query)


def test_steps_between_neighbours_agree_with_the_reference() -> None:
    rng = Random("neighbours carried")
    carried = [compile(to_text(neighbour_query(rng)))._plan.compiled.carries for _ in range(20)]
    assert sum(carried) > 15
    agree("neighbours", QUERIES, neighbour_query)


@pytest.mark.usefixtures("tiny_pieces")
def test_steps_between_neighbours_agree_in_tiny_pieces_too() -> None:
    agree("neighbour pieces", QUERIES, neighbour_query)


def test_equalities_that_make_lanes_agree_with_the_reference() -> None:
    agree("lanes", QUERIES, keyed_query)


@pytest.mark.usefixtures("tiny_pieces")
def test_equalities_that_make_lanes_agree_in_tiny_pieces_too() -> None:
    agree("lane pieces", QUERIES, keyed_query)


def test_counts_beside_a_window_look_for_no_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of at most three events what may end a match is counted, and ends are those whose number is not 0."""
    rng = Random("counted, not looked for")
    monkeypatch.setattr(cpu_hits, "hits", None)
    total = empty = 0
    for window in ("WITHIN 2 SECONDS", "WITHIN 4 EVENTS", "PARTITION BY id WITHIN 2 SECONDS"):
        query = parse(f"SELECT * WHERE A AS x ;[<= 1500 ms] B AS y ;[<= 1500 ms] C AS z {window}")
        assert isinstance(query, SelectQuery)
        for _ in range(30):
            events = stream(rng, 14)
            wanted = Counter(row[1] for row in expected(query, events))
            asked = Query(to_text(query))
            counts = asked.counts(stream_to_table(events), **OPTIONS).to_pydict()
            assert dict(zip(counts["position"], counts["count"], strict=True)) == wanted
            assert counts["position"] == sorted(wanted)
            assert asked.count(stream_to_table(events), **OPTIONS) == wanted.total()
            total += wanted.total()
            empty += sum(event.type == "C" for event in events) - len(wanted)
    assert total > 50
    assert empty > 50

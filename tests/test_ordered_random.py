"""Random comparisons between events: every way of running ordered look-ups agrees with the reference."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from engine_oracle import check
from generate import stream
from random_ordered import random_chosen, random_neighbours, random_ordered
from whole_cases import STREAMS, of_query

from cer_gpu.api import Query
from cer_gpu.engine.answers import batches as enumerate
from cer_gpu.engine.machines import chunk, comparisons
from cer_gpu.engine.read import classify
from cer_gpu.engine.run import bound_query
from cer_gpu.engine.run import chunks as runner
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.tree import SelectQuery

QUERIES = 14


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, chunks, segments and groups of a few events, so that small streams cross their borders."""
    monkeypatch.setattr(classify, "BLOCK", 4)
    monkeypatch.setattr(bound_query, "BATCH", 5)
    monkeypatch.setattr(runner, "CHUNK", 3)
    monkeypatch.setattr(runner, "CARRIED", 2)
    monkeypatch.setattr(chunk, "SEGMENT", 2)
    monkeypatch.setattr(enumerate, "GROUP", 3)
    monkeypatch.setattr("cer_gpu.enumeration.products.BULK_ROWS", 3)
    monkeypatch.setattr("cer_gpu.enumeration.comparisons.FEW", 0)
    monkeypatch.setattr("cer_gpu.enumeration.compared_choices.FEW", 0)
    monkeypatch.setattr(comparisons, "countable_by_few", lambda tables: False)


def agree(
    seed: str,
    queries: int,
    drawn: Callable[[Random], SelectQuery] = random_ordered,
    engine: str = "ordered",
) -> Counter[str]:
    rng = Random(seed)
    found: Counter[str] = Counter()
    while found["taken"] < queries:
        query = drawn(rng)
        events = stream(rng, rng.randrange(6, 13), lap_falls=rng.random() < 0.3)
        try:
            compiled = Query(to_text(query))
        except (QueryError, LimitError):
            found["refused"] += 1
            continue
        if compiled._plan.engine != engine:
            found["other"] += 1
            continue
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event |no match is possible|1 event has no ")
            answers = check(query, events, rng)
        found["taken"] += 1
        found["answered"] += answers > 0
    assert found["answered"] > 0
    return found


@pytest.mark.draws("seed", 4)
def test_run_count_hits_and_stream_agree_with_the_reference(seed: int) -> None:
    agree(f"ordered {seed}", QUERIES)


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 4)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"ordered pieces {seed}", QUERIES)


@pytest.mark.draws("seed", 3)
def test_what_strategies_leave_of_compared_steps_agrees_with_the_reference(seed: int) -> None:
    agree(f"chosen {seed}", QUERIES, random_chosen)


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 3)
def test_what_strategies_leave_agrees_in_tiny_pieces_too(seed: int) -> None:
    agree(f"chosen pieces {seed}", QUERIES, random_chosen)


@pytest.mark.draws("seed", 2)
def test_prior_among_neighbours_is_prev(seed: int) -> None:
    agree(f"neighbours {seed}", QUERIES, random_neighbours, "regular")


@pytest.mark.usefixtures("tiny_pieces")
def test_prior_among_neighbours_is_prev_in_tiny_pieces_too() -> None:
    agree("neighbours in pieces", QUERIES, random_neighbours, "regular")


@pytest.mark.parametrize("tiny", [False, True])
@pytest.mark.parametrize(
    "pattern",
    [
        "(A AS x FILTER x.v > PRIOR(x).v){2,3} ; B AS y",
        "A AS z ; (A AS x FILTER x.v > PRIOR(x).v){1,3} ; B AS y",
    ],
)
def test_what_is_not_shown_has_no_place_in_the_order(
    pattern: str, tiny: bool, request: pytest.FixtureRequest
) -> None:
    """`x` = 1, 2 comes before 1, 2, 3, though the end that is not shown comes after 3."""
    if tiny:
        request.getfixturevalue("tiny_pieces")
    query = parse(f"SELECT x WHERE {pattern}")
    assert isinstance(query, SelectQuery)
    rng = Random(pattern)
    answers = 0
    for _ in range(6):
        events = [
            replace(one, type=kind) for one, kind in zip(stream(rng, 9, holes=0.0), "AAAABACAB", strict=True)
        ]
        answers += check(query, events, rng)
    assert answers > 20


def test_the_query_of_a_campaign() -> None:
    """`python tests/whole_cases.py --seed compared-20261125 --first 4145 --cases 1`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = of_query("compared-20261125", 4145)
    assert found["cases"] == STREAMS
    assert not found["WRONG"]

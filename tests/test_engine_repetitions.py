"""Counted repetitions and optional elements: every way to run them agrees with the reference."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from random import Random

import pyarrow as pa
import pytest
from counting import calls
from engine_oracle import check
from generate import query_around, stream, unary_query
from random_correlated import random_correlated
from random_formulas import formula
from random_repetitions import changed, kinds, repeated
from test_engine_selection import tiny_pieces  # noqa: F401

from cer_gpu.api import Query
from cer_gpu.engine.run import chunks
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.logic.formulas import atoms
from cer_gpu.logic.lp import to_lp
from cer_gpu.reference.semantics import matches

QUERIES = 24


def agree(seed: str, drawn: Callable[[Random], tree.SelectQuery], queries: int = QUERIES) -> Counter[str]:
    rng = Random(seed)
    found: Counter[str] = Counter()
    for _ in range(queries):
        query = drawn(rng)
        events = stream(rng, rng.randrange(4, 10), lap_falls=rng.random() < 0.3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                Query(to_text(query))
                answers = check(query, events, rng)
            except LimitError:
                found["over budget"] += 1
                continue
            except QueryError as error:
                found.update(one.code for one in error.diagnostics if one.severity == "error")
                continue
        found["answered"] += answers > 0
        found.update(kinds(query))
    return found


def regular(rng: Random) -> tree.SelectQuery:
    return repeated(rng, unary_query(rng, atoms=3))


def extended(rng: Random) -> tree.SelectQuery:
    return repeated(
        rng, query_around(rng, formula(rng, rng.choice((1, 1, 2, 3))), rng.choice(list(tree.Strategy)))
    )


def correlated(rng: Random) -> tree.SelectQuery:
    return repeated(rng, random_correlated(rng), 0.25)


@pytest.mark.draws("seed", 3)
def test_regular_queries(seed: int) -> None:
    found = agree(f"repetitions {seed}", regular)
    assert found["answered"] > QUERIES // 4
    assert found["over budget"] <= QUERIES // 10
    assert found["optional"] > 0
    assert found["counted"] > 0


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 2)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    assert agree(f"repetitions in pieces {seed}", regular)["answered"] > QUERIES // 4


@pytest.mark.draws("seed", 2)
def test_beside_selectors_and_negation(seed: int) -> None:
    found = agree(f"repetitions of selectors {seed}", extended)
    assert found["answered"] > QUERIES // 5
    assert found["over budget"] <= QUERIES // 8
    assert found["optional"] > 3


@pytest.mark.draws("seed", 4)
def test_beside_equalities(seed: int) -> None:
    found = agree(f"repetitions of equalities {seed}", correlated)
    assert found["answered"] > 2
    assert found["optional"] > 2
    assert found["counted"] + found["counted group"] > 2


@pytest.mark.draws("seed", 2)
def test_the_normal_form_is_equivalent(seed: int) -> None:
    rng = Random(f"normal forms {seed}")
    seen = 0
    while seen < 60:
        pattern = changed(rng, formula(rng, rng.choice((1, 2)), filters=0.3), 0.5)
        if atoms(pattern) > 5:
            continue
        events = stream(rng, 7)
        assert matches(to_lp(pattern), events) == matches(pattern, events), to_text(tree.SelectQuery(pattern))
        seen += 1


def test_a_large_count_is_compiled_in_steps_that_grow_with_it() -> None:
    def steps(count: int) -> int:
        return calls(lambda: Query(f"SELECT * WHERE A {{{count},}} ; B WITHIN 900 EVENTS"))

    steps(10)
    assert steps(400) < 3 * steps(200)


@pytest.mark.parametrize("text", ["A {30000,}", "(A ; B) :{1,10001}", "(A {200} ; B) {200}"])
def test_a_count_beyond_the_budget_names_itself(text: str) -> None:
    with pytest.raises(LimitError, match=r"stands for [\d,]+ steps, and at most 20,000 are allowed"):
        Query(f"SELECT * WHERE {text}")


def test_hits_of_a_long_count_start_so_many_events_back(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random("so many")
    table = pa.table({"type": [rng.choice("AAB") for _ in range(9_000)]})
    places = [place for place, kind in enumerate(table["type"].to_pylist()) if kind == "A"]
    query = Query("SELECT * WHERE A {100,}")
    for chunk in (chunks.CHUNK, 500):
        monkeypatch.setattr(chunks, "CHUNK", chunk)
        found = query.hits(table.to_reader(max_chunksize=chunk))
        assert found["position"].to_pylist() == places[99:]
        assert found["latest_start"].to_pylist() == places[:-99]

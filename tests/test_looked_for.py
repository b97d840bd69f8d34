"""FOLLOWED BY and PRECEDED BY that look for what compares events, or has intervals."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from engine_oracle import check
from fuzz import sizes
from generate import stream, with_keys
from random_looked_for import looking_query

import cer_gpu as cer
from cer_gpu.errors import LimitError

CASES = 30


def events(text: str, **columns: Any) -> pa.Table:
    """A stream of events of these types, a second apart."""
    kinds = text.split()
    return pa.table({"type": kinds, "ts": range(len(kinds))} | columns)


def ends(pattern: str, table: pa.Table, **options: Any) -> list[int]:
    """Where complex events of a pattern end."""
    found: list[int] = (
        cer.compile(f"SELECT * WHERE {pattern}").hits(table, order_by="ts", **options)["position"].to_pylist()
    )
    return found


@pytest.mark.parametrize("tiny", [False, True], ids=["", "tiny"])
@pytest.mark.draws("seed", 2)
def test_random_queries_agree_with_the_reference(seed: int, tiny: bool) -> None:
    rng, answered = Random(f"looked for {seed} {tiny}"), 0
    for _ in range(CASES):
        query = looking_query(rng)
        found = stream(rng, rng.randrange(4, 12), lap_falls=rng.random() < 0.3)
        found = with_keys(rng, found) if rng.random() < 0.2 else found
        with sizes(tiny):
            answered += bool(check(query, found, rng))
    assert answered


def test_a_dearer_one_later_is_looked_for_from_the_latest_start() -> None:
    table = events("D B D C C D B", p=[0.0, 5.0, 0.0, 4.0, 6.0, 0.0, 9.0])
    rising = "(B AS b ; C AS c FILTER c.p > b.p)"
    assert ends(f"D FOLLOWED BY {rising}", table) == [0]
    assert ends(f"D NOT FOLLOWED BY {rising}", table) == [2, 5]
    assert ends(f"D FOLLOWED BY [<= 3] {rising}", table) == []
    assert ends(f"D FOLLOWED BY [4] {rising}".replace("[4]", "[= 4]"), table) == [0]


def test_what_came_before_is_bounded_by_its_start() -> None:
    table = events("B C D D D B D", p=[1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    rising = "(B AS b ; C AS c FILTER c.p > b.p)"
    assert ends(f"D PRECEDED BY [<= 3] {rising}", table) == [2, 3]
    assert ends(f"D PRECEDED BY [>= 4] {rising}", table) == [4, 6]
    assert ends(f"D PRECEDED BY [4 EVENTS, 5 EVENTS] {rising}", table) == [4]
    assert ends(f"D NOT PRECEDED BY {rising}", table) == []


def test_aggregates_and_prior_are_looked_for() -> None:
    table = events("D B B B D C", p=[0.0, 2.0, 3.0, 4.0, 0.0, 0.0])
    assert ends("D FOLLOWED BY (((B AS b)+ ; C) FILTER SUM(b.p) = 9)", table) == [0]
    assert ends("D FOLLOWED BY (((B AS b)+ ; C) FILTER SUM(b.p) = 8)", table) == []
    assert ends("D FOLLOWED BY ((B AS b FILTER b.p > PRIOR(b).p){3})", table) == [0]
    assert ends("C PRECEDED BY [<= 4] (B ;[= 1] B ;[= 1] B)", table) == [5]


def test_the_query_around_keeps_its_machine() -> None:
    query = cer.compile("SELECT * WHERE A FOLLOWED BY (B AS b ; C AS c FILTER c.p > b.p)")
    assert query._plan.engine == "regular"
    assert "followed with values" in query.explain(verbose=True)
    timed = cer.compile("SELECT * WHERE A PRECEDED BY (B ;[<= 1 s] C)")
    assert timed._plan.engine == "regular"
    assert "followed with clocks" in timed.explain(verbose=True)


def test_events_that_nothing_asks_of_are_dropped() -> None:
    table = events("X X B X C X D X X", p=[float(n) for n in range(9)])
    query = cer.compile("SELECT * WHERE D PRECEDED BY [<= 9] (B AS b ; C AS c FILTER c.p > b.p)")
    assert "every event is relevant" not in query.explain(verbose=True)
    assert query.count(table, order_by="ts") == 1


def test_too_many_partial_matches_of_what_is_looked_for_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.machines.configurations.CONFIGURATIONS", 100)
    table = events("D " + "B " * 10 + "C", p=[float(1 << n) for n in range(12)])
    with pytest.raises(LimitError, match=r"SUM\(b.p\) = 3"):
        ends("D FOLLOWED BY (((B AS b)+ ; C) FILTER SUM(b.p) = 3)", table)

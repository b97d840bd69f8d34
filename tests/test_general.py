"""The machine of configurations where numbers are large, tables full, or what is open is late."""

from __future__ import annotations

import re
from itertools import combinations
from random import Random

import pyarrow as pa
import pytest
from engine_oracle import OPTIONS as ENGINE
from engine_oracle import check, found
from generate import stream
from random_comparisons import compared_query

import cer_gpu as cer
from cer_gpu.automata.configurations import shapes
from cer_gpu.engine.machines import configurations
from cer_gpu.engine.machines.open_runs import FollowedEvents
from cer_gpu.engine.machines.step_tables import GrowingSteps
from cer_gpu.errors import LimitError
from cer_gpu.language.printer import to_text

OPTIONS = {"order_by": "ts", "engine": "general"}


def table(types: str, times: list[int] | None = None) -> pa.Table:
    kinds = list(types)
    stamps = list(range(len(kinds))) if times is None else times
    return pa.table({"type": kinds, "ts": pa.array(stamps, pa.int64())})


@pytest.mark.parametrize("window", ["", "WITHIN 1000 EVENTS"])
def test_counts_past_64_bits_are_exact(window: str) -> None:
    query = cer.compile(f"SELECT * WHERE (A AS a+ ; B) WITHIN [<= 900] {window}")
    data = table("A" * 200 + "B")
    assert query.count(data, **OPTIONS) == 2**200 - 1
    assert query.counts(data, **OPTIONS)["count"].to_pylist() == [2**200 - 1]
    assert query.hits(data, **OPTIONS)["latest_start"].to_pylist() == [199]


def test_ends_with_very_many_answers_list_them_in_order() -> None:
    query = cer.compile("SELECT * WHERE (A AS a+ ; B AS b) WITHIN [<= 900]")
    data = table("A" * 20 + "B")
    rows = found(query.run(data, **OPTIONS, limit=400))
    every = sorted(
        (chosen for size in range(1, 21) for chosen in combinations(range(20), size)),
        key=lambda chosen: (chosen[0], (*chosen, 20)),
    )
    assert [dict(row[2])["a"] for row in rows] == every[:400]
    assert {row[1] for row in rows} == {20}


def test_labels_come_after_positions_in_the_order_of_answers() -> None:
    query = cer.compile("SELECT * WHERE ((A AS x OR A AS y)+ ; B) WITHIN [<= 900]")
    data = table("A" * 11 + "B")
    rows = found(query.run(data, **OPTIONS, limit=3000))
    few = found(query.run(table("A" * 6 + "B"), **OPTIONS))
    assert len(few) == 3**6 - 1
    assert [(row[0], sorted({one for _, marked in row[2] for one in marked})) for row in rows] == sorted(
        (row[0], sorted({one for _, marked in row[2] for one in marked})) for row in rows
    )


@pytest.mark.parametrize("strategy", ["NEXT", "LAST", "MAX"])
def test_answers_that_mark_the_same_positions_are_in_the_order_of_their_names(strategy: str) -> None:
    """Those that a strategy leaves too, as from every other machine."""
    query = cer.compile(f"SELECT {strategy} * WHERE ((A AS x OR A AS y) ; B) WITHIN [<= 900]")
    rows = found(query.run(table("AB"), **OPTIONS))
    assert [dict(row[2]).keys() for row in rows] == [{"A", "x", "B"}, {"A", "y", "B"}]
    assert rows == found(query.run(table("AB"), order_by="ts"))


def test_too_many_shapes_name_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "SHAPES", 12)
    query = cer.compile("SELECT * WHERE PROJECT(A AS x ; A ;[= 100] A | x) PARTITION BY k")
    lanes = [lane for count in range(20) for lane in [count] * count]
    data = table("A" * len(lanes)).append_column("k", pa.array(lanes))
    with pytest.raises(LimitError, match=r"kinds are open at once: .* of `;\[= 100\]`\. .*narrower interval"):
        query.count(data, **OPTIONS)


def test_more_values_than_memory_name_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "MEMORY", 1 << 18)
    query = cer.compile("SELECT y WHERE ((A AS x)+ ; A AS y) FILTER SUM(x.v) > y.v")
    data = table("A" * 30).append_column("v", pa.array([1 << n for n in range(30)]))
    with pytest.raises(LimitError, match=r"bytes.*`SUM\(x.v\) > y.v` compares\. .*`:\+`.*smaller WITHIN"):
        query.count(data, **OPTIONS)


def test_a_value_for_each_subset_is_named_in_the_words_of_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "MEMORY", 1 << 16)
    query = cer.compile(
        "SELECT x WHERE (A AS x ;[> 0] (A AS y)+) FILTER x.v != y.v AND COUNT(DISTINCT y.v) >= 9"
    )
    data = table("A" * 30).append_column("v", pa.array(range(30)))
    with pytest.raises(LimitError) as raised:
        query.hits(data, **OPTIONS)
    said = str(raised.value)
    assert "PROJECT" not in said
    assert "for the bounds of `;[> 0]`" in said
    assert "each may have another `COUNT(DISTINCT y.v)`" in said
    assert "ask only for `hits`" in said
    assert "`(T AS y)+ FILTER COUNT(DISTINCT y.v) >= 9`" in said


def test_partial_matches_keep_hundreds_of_values() -> None:
    query = cer.compile("SELECT * WHERE (A AS x) :+ FILTER COUNT(DISTINCT x.v) = COUNT(x)")
    data = table("A" * 300).append_column("v", pa.array([*range(290), *range(10)]))
    # The runs of events that all differ: those that begin at event n reach up to n + 289, or to the end.
    expected = sum(min(n + 290, 300) - n for n in range(300))
    assert query.count(data, **OPTIONS) == expected


def test_what_events_do_is_found_again_once_it_was_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GrowingSteps, "crowded", lambda steps: True)
    monkeypatch.setitem(ENGINE, "engine", "general")
    answered = 0
    for seed in range(24):
        rng = Random(f"forgotten {seed}")
        query = compared_query(rng)
        if dict(cer.compile(to_text(query))._plan.said)["general"] is not None:
            continue
        answered += check(query, stream(rng, rng.randrange(6, 12)), rng) > 0
    assert answered > 2


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("(A AS a ; B AS b) WITHIN [<= 100]", "the window of the query"),
        ("(A AS a ; B AS b) WITHIN [<= 100] ; B", "`WITHIN [<= 100]`"),
    ],
)
def test_too_many_partial_matches_name_the_interval(
    pattern: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configurations, "CONFIGURATIONS", 40)
    query = cer.compile(f"SELECT * WHERE {pattern}")
    with pytest.raises(LimitError, match=rf"more than 40 .* bounds of {re.escape(named)}\. Give these"):
        query.count(table("A" * 60), **OPTIONS)


def test_late_configurations_are_dropped() -> None:
    # A lane that sees no event any more, and others that go on: what is open stays small.
    query = cer.compile("SELECT * WHERE (A AS a ; B AS b) WITHIN [<= 3] PARTITION BY k")
    kinds = ["A"] * 40_000 + ["B"]
    data = pa.table({"type": kinds, "ts": list(range(40_001)), "k": [n % 7 for n in range(40_001)]})
    stream = query.stream(**OPTIONS)
    stream.push(data)
    assert len(stream.snapshot()) < 200_000


def test_a_float_and_a_tied_time() -> None:
    data = pa.table({"type": list("AABB"), "ts": [-0.0, 0.0, 0.1 + 0.2, 0.3]}).take([0, 1, 3, 2])
    query = cer.compile("SELECT * WHERE (A AS a ; B AS b) WITHIN [<= 0.3]")
    assert [(row[0], row[1]) for row in found(query.run(data, **OPTIONS))] == [(0, 2), (1, 2)]


def test_explain_says_why_and_what_it_costs() -> None:
    told = cer.compile("SELECT * WHERE (A AS a ; B+ AS b) WITHIN [<= 3 s] ; C ;[>= 1 s] D").explain(
        verbose=True
    )
    assert "configurations" in told
    assert "general: takes it, and runs it" in told


def test_its_timed_automaton_is_drawn_where_there_is_one() -> None:
    query = cer.compile("SELECT * WHERE (A AS a ; B AS b) WITHIN [<= 3 s] ;[>= 1 s] C")
    assert "3 s" in query.explain(format="mermaid", engine="general")
    query = cer.compile("SELECT * WHERE (A AS a ; B AS b) WITHIN [>= 3 s] UNLESS C")
    with pytest.raises(LimitError, match=r"`UNLESS`.* cannot be drawn"):
        query.explain(format="mermaid")


@pytest.mark.parametrize("way", ["limit", "first"])
def test_the_first_answers_come_before_most_events_are_followed(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = 0
    push = configurations.ConfigurationRuns.push

    def counted(runs: configurations.ConfigurationRuns, following: FollowedEvents) -> object:
        nonlocal followed
        followed += following.stop - following.first
        return push(runs, following)

    monkeypatch.setattr(configurations.ConfigurationRuns, "push", counted)
    query = cer.compile("SELECT * WHERE (A AS a ; A AS b ; A AS c) FILTER a.v < c.v WITHIN 20 EVENTS")
    data = pa.table({"type": ["A"] * 50_000, "ts": range(50_000), "v": [n % 97 for n in range(50_000)]})
    found = query.run(data, **OPTIONS, limit=100 if way == "limit" else None)
    first = found.to_arrow().num_rows if way == "limit" else found.first()
    assert first
    assert followed < 1000
    assert query.run(data.slice(0, 3000), **OPTIONS).to_arrow().num_rows == query.count(
        data.slice(0, 3000), **OPTIONS
    )

"""Chains of which two steps are compared: against the reference, loops by hand, and integers of any size."""

from __future__ import annotations

import operator
import warnings
from math import comb
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.step_pairs import cpu_counts
from cer_gpu.kernels.step_pairs.contract import StepPairTables, chains_reference
from engine_oracle import check
from generate import stream
from random_apart import random_apart
from test_ordered_random import tiny_pieces

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.machines import chunk
from cer_gpu.language.printer import to_text
from cer_gpu.language.tree import EventType
from cer_gpu.language.walk import nodes

__all__ = ["tiny_pieces"]


def agree(seed: str, queries: int = 5) -> None:
    """Check random chains that this machine counts, on streams long enough for answers."""
    rng = Random(seed)
    taken = answered = 0
    while taken < queries:
        query = random_apart(rng)
        if Query(to_text(query))._plan.engine != "apart":
            continue
        types = [node.name for node in nodes(query.pattern) if isinstance(node, EventType)]
        events = stream(rng, rng.randrange(10, 24), types=types, holes=0.03)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answered += check(query, events, rng) > 0
        taken += 1
    assert answered > 0


@pytest.mark.draws("seed", 2)
def test_hits_counts_and_streams_agree_with_the_reference(seed: int) -> None:
    agree(f"apart {seed}")


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 2)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"apart pieces {seed}")


@pytest.fixture
def tree_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take few old events into the tree, too."""
    monkeypatch.setattr("cer_gpu.plan.step_pairs.FEW", 1)


@pytest.mark.usefixtures("tree_alone")
@pytest.mark.draws("seed", 2)
def test_they_agree_by_the_tree_too(seed: int) -> None:
    agree(f"apart tree {seed}")


def test_numbers_that_may_not_fit_are_counted_by_integers_of_any_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cpu_counts, "DOUBTFUL", 2.0)
    agree("apart doubtful")


def events(count: int, seed: int, types: str = "ABC") -> pa.Table:
    rng = np.random.default_rng(seed)
    kinds = rng.choice(list(types), count)
    return pa.table({"type": kinds, "p": rng.integers(0, 30, count), "key": rng.integers(0, 3, count)})


@pytest.mark.crossed
@pytest.mark.parametrize("few", [512, 60, 2])
@pytest.mark.parametrize("holds", ["c.p > a.p + 20", "c.p < a.p - 26", "c.p != a.p", "c.p > a.p + 40"])
def test_a_window_full_of_old_events_is_compared_at_once(
    few: int, holds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer windows than those below: more old events than are looked at one by one, or just too many."""
    monkeypatch.setattr("cer_gpu.plan.step_pairs.FEW", few)
    table, window = events(900, 8), 180
    kinds, p = table["type"].to_numpy(zero_copy_only=False), table["p"].to_numpy()
    wanted, latest = {}, {}
    for end in np.flatnonzero(kinds == "C").tolist():
        first = np.arange(max(end - window, 0), end)
        between = np.cumsum((kinds[first] == "B")[::-1])[::-1]
        agrees = eval(holds, {}, {"a": SimpleNamespace(p=p[first]), "c": SimpleNamespace(p=p[end])})
        ways = np.where((kinds[first] == "A") & agrees, between, 0)
        if ways.any():
            wanted[end], latest[end] = int(ways.sum()), int(first[np.flatnonzero(ways)[-1]])
    query = cer.compile(f"SELECT * FROM S WHERE A AS a ; B ; C AS c FILTER {holds} WITHIN {window} EVENTS")
    assert query._plan.engine == "apart"
    counts, hits = query.counts(table).to_pydict(), query.hits(table).to_pydict()
    assert dict(zip(counts["position"], counts["count"], strict=True)) == wanted
    assert dict(zip(hits["position"], hits["latest_start"], strict=True)) == latest
    assert bool(wanted) == (holds != "c.p > a.p + 40")


def test_a_window_over_the_order_is_one_of_time() -> None:
    """What orders the events is known with the data: until then, the values of `ts` may fall."""
    table = events(900, 8).append_column("ts", pa.array(range(900)))
    asked = "SELECT * FROM S WHERE A AS a ; B ; C AS c FILTER c.p > a.p WITHIN 60 {}"
    query, wanted = cer.compile(asked.format("[ts]")), cer.compile(asked.format("EVENTS")).counts(table)
    takes = "apart: takes it, and runs it"
    assert takes in query.explain(events=table, order_by="ts", verbose=True)
    assert takes not in query.explain(events=table, verbose=True)
    assert len(wanted)
    for keywords in ({}, {"order_by": "ts"}, {"order_by": "ts", "engine": "apart"}):
        found = query.counts(table, **keywords)
        assert found.select(["position", "count"]) == wanted
    with pytest.raises(cer.QueryError, match="its window is over an attribute"):
        query.counts(table, engine="apart")


CHAINS = [
    ("A AS a ; B AS b ; C AS c", "c.p > a.p", 0, 2, operator.lt),
    ("A AS a ; B AS b ; C AS c ; B AS d", "c.p >= a.p", 0, 2, operator.le),
    ("A AS a ; B AS b ; C AS c ; B AS d", "d.p < b.p", 1, 3, operator.gt),
    ("A AS a ; B AS b ; A AS c ; C AS d ; B AS e", "d.p != b.p", 1, 3, operator.ne),
    ("A AS a ; B AS b ; C AS c ; A AS d ; B AS e", "c.p > a.p AND c.p - 9 <= a.p", 0, 2, None),
]


@pytest.mark.crossed
@pytest.mark.parametrize(("chain", "compared", "old", "new", "holds"), CHAINS)
@pytest.mark.parametrize(("window", "few"), [(9, 24), (14, 24), (14, 2)])
def test_counts_are_those_of_the_definition(
    chain: str,
    compared: str,
    old: int,
    new: int,
    holds: Any,
    window: int,
    few: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunk, "SEGMENT", 40)
    monkeypatch.setattr("cer_gpu.plan.step_pairs.FEW", few)
    table = events(160, 5)
    steps = [part[0] for part in chain.split(" ; ")]
    masks = np.array([sum(1 << at for at, one in enumerate(steps) if one == kind) for kind in "ABC"])
    apart = StepPairTables(masks, old, new, len(steps) - 1)
    symbols = ["ABC".index(kind) for kind in table["type"].to_pylist()]
    p = table["p"].to_pylist()
    holds = holds or (lambda one, other: one < other <= one + 9)
    wanted, latest = {}, {}
    for end in range(len(p)):
        found = chains_reference(
            apart, symbols, lambda one, other: holds(p[one], p[other]), max(end - window, 0), end
        )
        if found:
            wanted[end] = len(found)
            latest[end] = max(events[0] for events in found)
    query = cer.compile(f"SELECT * WHERE {chain} FILTER {compared} WITHIN {window} EVENTS")
    counts = query.counts(table, engine="apart").to_pydict()
    assert dict(zip(counts["position"], counts["count"], strict=True)) == wanted
    hits = query.hits(table, engine="apart").to_pydict()
    assert dict(zip(hits["position"], hits["latest_start"], strict=True)) == latest
    assert query.count(table, engine="general") == sum(wanted.values())


def test_counts_past_64_bits_are_exact() -> None:
    count = 400
    names = [f"x{step}" for step in range(16)]
    chain = " ; ".join(f"A AS {name}" for name in names)
    table = pa.table({"type": ["A"] * count, "p": range(count)})
    whole = cer.compile(f"SELECT * WHERE {chain} FILTER x15.p > x3.p WITHIN 200 EVENTS")
    found = whole.counts(table, engine="apart")["count"].to_pylist()
    assert found[-1] == comb(200, 15) > 2**64
    assert sum(found) == whole.count(table)


@pytest.mark.parametrize("text", ["WITHIN 30 EVENTS", "WITHIN 30 EVENTS CONSUME BY ANY", "PARTITION BY key"])
def test_it_is_chosen_and_says_the_same_as_the_machine_of_configurations(text: str) -> None:
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b ; C AS c FILTER c.p > a.p {text}")
    table = events(3000 if "WITHIN" in text else 90, 8)
    assert "step 3 of a chain with step 1" in query.explain(verbose=True)
    for asked in (query.counts, query.hits):
        assert asked(table).equals(asked(table, engine="general"))


def test_texts_and_times_are_compared() -> None:
    rng = Random(3)
    words = [rng.choice(("ash", "elm", "oak", "yew", None)) for _ in range(300)]
    times = pa.array([rng.randrange(50) for _ in words], pa.timestamp("s"))
    table = pa.table({"type": [rng.choice("ABC") for _ in words], "s": words, "t": times})
    for compared in ("c.s > a.s", "c.s = a.s", "c.t <= a.t - 3 s"):
        query = cer.compile(f"SELECT * WHERE A AS a ; B AS b ; C AS c FILTER {compared} WITHIN 40 EVENTS")
        assert query.counts(table, engine="apart").equals(query.counts(table, engine="general"))


OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("window", [7, 90, None])
def test_hits_of_a_pair_start_at_the_latest_event_that_agrees(op: str, window: int | None) -> None:
    rng = np.random.default_rng(7)
    rising = np.arange(120) // 3
    drifting = np.arange(400) / 40 + rng.normal(0, 3, 400)
    within = "" if window is None else f"WITHIN {window} EVENTS"
    query = cer.compile(f"SELECT * FROM E WHERE E AS a ; E AS b FILTER a.x {op} b.x {within}")
    assert "apart: hits" in query.explain(verbose=True)
    for values in (rising, rising[::-1], rng.integers(0, 9, 400), drifting, -drifting):
        there = rng.random(len(values)) < 0.95
        found = query.hits(pa.table({"x": pa.array(values, mask=~there)}), type_column=None).to_pydict()
        wanted = {}
        for end in np.flatnonzero(there).tolist():
            before = np.arange(0 if window is None else max(0, end - window), end)
            agreed = before[there[before] & OPERATORS[op](values[before], values[end])]
            if len(agreed):
                wanted[end] = int(agreed[-1])
        assert dict(zip(found["position"], found["latest_start"], strict=True)) == wanted

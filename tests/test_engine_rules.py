"""Rules by the engine: the case files, and random rules on random streams, in every way they can be asked."""

from __future__ import annotations

import warnings
from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from case_files import RULES, cases
from case_tables import table_of
from engine_oracle import cuts, pieces
from generate import stream_to_table
from random_rules import random_rule, random_rule_events

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Event
from cer_gpu.reference.homomorphisms import answers


def typed_tables(case: dict[str, Any]) -> dict[str, pa.Table]:
    """The events of a case as a table for each event type, whose columns are its attributes in order."""
    whole = table_of(case)
    types = whole["type"].to_pylist()
    return {
        name: whole.filter(pa.array([found == name for found in types])).select(list(attributes))
        for name, attributes in case["types"].items()
    }


@pytest.mark.parametrize("family", RULES)
def test_the_engine_gives_what_the_cases_expect(family: str) -> None:
    for case in cases(family):
        query = cer.compile(case["query"])
        wanted = sorted(tuple(answer["positions"]) for answer in case["expected"])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            found = list(query.run(table_of(case), order_by=case["order_by"]))
            assert sorted(answer.positions for answer in found) == wanted, case["id"]
            by_position = cer.compile(case["query_by_position"])
            tables = typed_tables(case)
            if all(before["ts"] < after["ts"] for before, after in zip(case["events"], case["events"][1:])):
                again = by_position.run(tables, order_by=case["order_by"])
                assert [answer.positions for answer in again] == [answer.positions for answer in found]


def check(rule: tree.Rule, events: list[Event], rng: Random, engine: str = "auto") -> int:
    """Assert that an engine agrees with the brute force; the number of answers."""
    wanted = list(answers(rule, events, order="ts"))
    table = stream_to_table(events)
    query = Query(to_text(rule))
    options = {"order_by": "ts", "engine": engine}
    found = list(query.run(table, **options))
    assert [answer.positions for answer in found] == wanted
    assert [(answer.start, answer.end) for answer in found] == [(min(row), max(row)) for row in wanted]
    ends = Counter(max(row) for row in wanted)
    assert query.count(table, **options) == len(wanted)
    counts = query.counts(table, **options).to_pydict()
    assert dict(zip(counts["position"], counts["count"], strict=True)) == ends
    latest = {end: max(min(row) for row in wanted if max(row) == end) for end in ends}
    hits = query.hits(table, **options).to_pydict()
    assert dict(zip(hits["position"], hits["latest_start"], strict=True)) == latest
    parts = pieces(table, cuts(rng, len(events)))
    reader = pa.Table.from_batches([batch for part in parts for batch in part.to_batches()], table.schema)
    again = query.run(reader.to_reader(max_chunksize=rng.choice((1, 2, 5))), **options)
    assert [answer.positions for answer in again] == wanted
    with query.stream(**options) as stream:
        pushed = [answer.positions for part in parts for answer in stream.push(part)]
    assert pushed == wanted
    return len(wanted)


@pytest.mark.draws("block", 5)
def test_random_rules_on_random_streams(block: int) -> None:
    rng = Random(f"engine rules {block}")
    total = 0
    for _ in range(60):
        rule = random_rule(rng)
        total += check(rule, random_rule_events(rng, rule, rng.randrange(1, 16)), rng)
    assert total > 100


def test_the_head_gives_the_values_of_its_variables() -> None:
    table = pa.table({"type": ["T", "S", "R"], "a": [1, 1, 1], "b": [None, "x", "x"]})
    rule = cer.compile("Q(y, x) <- T(a = x), S(a = x, b = y), R(a = x, b = y)")
    matches = rule.run(table)
    assert matches.to_arrow().to_pydict() == {
        "start": [0], "end": [2], "y": ["x"], "x": [1], "positions": [[0, 1, 2]],
    }  # fmt: skip
    [answer] = matches
    assert answer.values == {"y": "x", "x": 1}
    assert answer.marks == {}
    assert answer.partition is None


@pytest.mark.draws("block", 3)
def test_keys_that_have_left_the_window_are_forgotten(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.read.eviction.REMEMBERED", 1)
    rng = Random(f"forgotten keys {block}")
    total = 0
    for _ in range(30):
        rule = random_rule(rng)
        total += check(rule, random_rule_events(rng, rule, rng.randrange(10, 30)), rng)
    assert total > 100


def test_memory_of_keys_follows_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.read.eviction.REMEMBERED", 100)
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", 64)
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LEAST", 256)
    count = 20_000
    table = pa.table({"type": ["A", "B"] * count, "k": [row // 2 for row in range(2 * count)]})
    query = cer.compile("Q(x) <- A(k = x), B(k = x) WITHIN 10 EVENTS")
    with query.stream() as stream:
        for start in range(0, 2 * count, 100):
            assert len(stream.push(table.slice(start, 100)).to_arrow()) == 50
        assert stream._run.intake._joins.size < 2_000


@pytest.mark.draws("block", 2)
def test_every_cut_into_batches_gives_the_same_answers(block: int) -> None:
    rng = Random(f"every cut {block}")
    answered = 0
    for _ in range(6):
        rule = random_rule(rng)
        events = random_rule_events(rng, rule, 7)
        wanted = list(answers(rule, events, order="ts"))
        answered += bool(wanted)
        table, query = stream_to_table(events), Query(to_text(rule))
        for chosen in range(1 << (len(events) - 1)):
            bounds = [place + 1 for place in range(len(events) - 1) if chosen >> place & 1]
            with query.stream(order_by="ts") as stream:
                pushed = [stream.push(part).to_arrow() for part in pieces(table, bounds)]
            assert [tuple(row) for part in pushed for row in part["positions"].to_pylist()] == wanted
    assert answered

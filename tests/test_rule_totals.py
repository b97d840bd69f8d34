"""The number of all answers of a rule over a stream, by the join tree of a view: it is what lookups count."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from generate import stream_to_table
from random_rules import random_join, random_rule_events

import cer_gpu as cer
from cer_gpu.engine.machines import tuple_total
from cer_gpu.language.printer import to_text
from cer_gpu.reference.homomorphisms import answers

CHAIN = "Q(x, y, z) <- R(v = x), S(v = y), T(v = z), x < y, y <= z"


@pytest.fixture
def by_trees(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count by trees wherever there is one; the numbers that were found so."""
    found: list[int] = []
    whole = tuple_total.total

    def noted(*arguments: Any) -> int | None:
        number = whole(*arguments)
        found.extend([] if number is None else [number])
        return number

    monkeypatch.setattr(tuple_total, "total", noted)
    monkeypatch.setattr(tuple_total, "LEAST", 0)
    monkeypatch.setattr(tuple_total, "FEWEST", 0)
    return found


def chain(events: int, keys: int = 0) -> pa.Table:
    rng = np.random.default_rng(events)
    table = {"type": rng.choice(["R", "S", "T"], events), "v": rng.integers(0, 50, events)}
    return pa.table(table | ({"k": rng.integers(0, keys, events)} if keys else {}))


def test_random_rules_have_as_many_answers_as_the_definition_says(by_trees: list[int]) -> None:
    rng = Random("totals")
    answered = 0
    for _ in range(260):
        rule = replace(random_join(rng), window=None)
        events = random_rule_events(rng, rule, rng.randrange(4, 12))
        before = len(by_trees)
        wanted = sum(1 for _ in answers(rule, events, order="ts"))
        query = cer.compile(to_text(rule))
        assert query.count(stream_to_table(events), order_by="ts", engine="join") == wanted
        answered += len(by_trees) > before and wanted > 0
    assert answered > 15


@pytest.mark.parametrize("keys", [0, 4])
def test_only_what_is_counted_as_a_whole_is_counted_by_a_tree(by_trees: list[int], keys: int) -> None:
    table = chain(300, keys)
    text = CHAIN.replace("v = ", "k = k, v = ") if keys else CHAIN
    query = cer.compile(text)
    wanted = int(sum(query.counts(table)["count"].to_pylist()))
    assert not by_trees
    assert query.count(table) == wanted
    assert by_trees == [wanted]
    windowed = cer.compile(f"{text} WITHIN 20 EVENTS")
    assert windowed.count(table) == sum(windowed.counts(table)["count"].to_pylist())
    assert by_trees == [wanted]
    with query.stream() as stream:
        found = sum(len(list(stream.push(table.slice(low, 30)))) for low in range(0, 60, 30))
    assert found == query.count(table.slice(0, 60))


@pytest.mark.parametrize("chunk", [3, 40])
def test_chunks_with_events_of_earlier_ones_are_counted_by_lookups(
    by_trees: list[int], monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", chunk)
    monkeypatch.setattr("cer_gpu.engine.run.bound_query.BATCH", 5)
    query = cer.compile(CHAIN.replace("v = ", "k = k, v = "))
    # Of each key first some events, and later more: a chunk has events of keys that it adds nothing to.
    table = chain(240, 4)
    key = np.concatenate([np.repeat(np.arange(4), 30), np.repeat(np.arange(4), 30)])
    table = table.set_column(table.schema.get_field_index("k"), "k", pa.array(key))
    assert query.count(table) == sum(query.counts(table)["count"].to_pylist()) > 0
    assert by_trees


def test_a_limit_holds_for_what_a_tree_counts(by_trees: list[int]) -> None:
    assert cer.compile(CHAIN).count(chain(300), limit=7) == 7
    assert by_trees


def test_numbers_that_no_tree_can_hold_are_counted_by_lookups(by_trees: list[int]) -> None:
    each = 40
    table = pa.table({"type": ["A"] * each, "n": np.arange(each)})
    atoms = ", ".join(f"A(n = x{number})" for number in range(12))
    query = cer.compile(f"Q() <- {atoms}, x0 >= x1 - 10000, x1 > x2 - 10000")
    assert query.count(table) == each**12
    assert not by_trees


def test_explain_says_when_a_tree_counts() -> None:
    said = "count() counts all answers over a join tree"
    assert said in cer.compile(CHAIN).explain(verbose=True)
    for text in (
        f"{CHAIN} WITHIN 5 EVENTS",
        "Q() <- R(v = x), S(v = y), x < y",
        "Q() <- R(x, y), S(y, z), T(z, x)",
        "Q() <- R(v = x), S(v = y), T(v = z), x < y + z, y < z",
    ):
        assert said not in cer.compile(text).explain(verbose=True), text


def test_few_partial_answers_are_listed_and_many_are_not() -> None:
    whole = tuple_total.total
    found: list[int | None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuple_total, "total", lambda *one: found.append(whole(*one)) or found[-1])
        query = cer.compile(CHAIN)
        few, many = query.count(chain(60)), query.count(chain(3000))
    assert found == [None, many]
    assert 0 < few < many

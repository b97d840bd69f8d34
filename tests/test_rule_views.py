"""Rules over streams whose answers a view lists: the same answers, hits and counts as by lookups."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from random_rules import random_join, random_rule, random_rule_events
from test_engine_lookups import TINY
from test_engine_rules import check

import cer_gpu as cer
from cer_gpu.engine.machines import tuple_views
from cer_gpu.errors import LimitError

CHAIN = "Q(x, y, z) <- R(v = x), S(v = y), T(v = z), x < y, y <= z"
SPARSE = "Q(x, z) <- R(k = x, v = a), S(k = x, w = y, v = b), T(w = y, v = z), a < b, b < z"


@pytest.fixture
def by_views(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """List by views wherever there is one; how many answers each listed, beside what it left out."""
    found: list[int] = []
    added = tuple_views.TupleView._added

    def noted(self: Any, end: int) -> Any:
        for rows in added(self, end):
            found.append(len(rows))
            yield rows

    monkeypatch.setattr(tuple_views.TupleView, "_added", noted)
    for name in ("FEWEST", "ROW", "ANSWER"):
        monkeypatch.setattr(tuple_views, name, 0)
    return found


@pytest.mark.parametrize("sizes", ["usual", "tiny"])
@pytest.mark.draws("block", 4)
def test_random_rules_of_any_form(
    block: int, sizes: str, by_views: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"views of streams {block}")
    if sizes == "tiny":
        for name, size in {**TINY, "cer_gpu.engine.machines.tuple_views.PIECE": 2}.items():
            monkeypatch.setattr(name, size)
    total = 0
    for number in range(30):
        monkeypatch.setattr(tuple_views, "BLOCK", rng.choice((1, 2, 4096)))
        rule = (random_rule if number % 3 else random_join)(rng)
        while len(rule.atoms) < 3:
            rule = (random_rule if number % 3 else random_join)(rng)
        before = len(by_views)
        answers = check(rule, random_rule_events(rng, rule, rng.randrange(4, 14)), rng, "join")
        total += answers if len(by_views) > before else 0
    assert total > 20


def events(count: int, keys: int = 0) -> pa.Table:
    rng = np.random.default_rng(count)
    table = {"type": rng.choice(["R", "S", "T"], count), "v": rng.integers(0, 50, count)}
    return pa.table(table | ({"k": rng.integers(0, keys, count)} if keys else {}))


@pytest.mark.parametrize("keys", [0, 4])
@pytest.mark.parametrize("window", ["", " WITHIN 30 EVENTS", " WITHIN 12 EVENTS"])
def test_answers_of_windows_and_keys(
    keys: int, window: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    table = events(300, keys)
    query = cer.compile((CHAIN.replace("v = ", "k = k, v = ") if keys else CHAIN) + window)
    answers, counts, hits = query.run(table).to_arrow(), query.counts(table), query.hits(table)
    by_views = request.getfixturevalue("by_views")
    monkeypatch.setattr(tuple_views, "BLOCK", 10)
    monkeypatch.setattr("cer_gpu.engine.machines.tuple_answers.FEW", 50)
    monkeypatch.setattr("cer_gpu.engine.machines.tuple_answers.BULK_ROWS", 400)
    assert query.run(table).to_arrow() == answers
    assert len(by_views) > 1
    assert query.counts(table) == counts
    assert query.hits(table) == hits
    with query.stream() as stream:
        pushed = [stream.push(table.slice(low, 70)).to_arrow() for low in range(0, 300, 70)]
    assert pa.concat_tables(pushed) == answers
    # A block lists little that its window leaves out.
    del by_views[:]
    query.counts(table)
    assert sum(by_views) < 3 * len(answers)


def sparse(count: int, matching: int) -> pa.Table:
    """Many R and S that join, and hardly any T that joins an S."""
    rng = np.random.default_rng(7)
    w = rng.integers(0, 1 << 40, count)
    kind = rng.choice(["R", "S", "T"], count)
    some = np.flatnonzero(kind == "S")[:: max(count // matching // 3, 1)]
    w[some] = 5
    w[np.flatnonzero(kind == "T")[:matching]] = 5
    columns = {"type": kind, "k": rng.integers(0, 3, count), "w": w, "v": rng.integers(0, 1000, count)}
    return pa.table(columns)


def test_the_cheaper_way_is_taken() -> None:
    whole = tuple_views.view_of
    found: list[bool] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuple_views, "view_of", lambda *one: found.append((v := whole(*one)) is not None) or v)
        query = cer.compile(SPARSE)
        many = sparse(6000, 20)
        answers = query.run(many).to_arrow()
        assert found == [True]
        counted = query.counts(many)
        dense = cer.compile(CHAIN)
        few = events(600)
        listed = dense.run(few).to_arrow()
        assert found[-1] is False
        patch.setattr(tuple_views, "view_of", lambda *one: None)
        assert query.run(many).to_arrow() == answers
        assert query.counts(many) == counted
        assert dense.run(few).to_arrow() == listed
    assert 0 < len(answers) < 100_000


def test_a_multiplicity_that_does_not_fit_leaves_it_to_lookups(
    by_views: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = events(60)
    wanted = cer.compile(CHAIN).count(table)
    assert by_views
    del by_views[:]

    def fails(*_: Any) -> None:
        raise LimitError("a multiplicity")

    monkeypatch.setattr(tuple_views, "_take", fails)
    assert len(cer.compile(CHAIN).run(table).to_arrow()) == wanted > 0
    assert not by_views


def test_explain_says_when_a_view_lists() -> None:
    said = "a view lists the answers, and a window deletes old events from it"
    assert said in cer.compile(f"{CHAIN} WITHIN 5 EVENTS").explain(verbose=True)
    for text in (
        "Q() <- R(v = x), S(v = y), x < y",
        "Q() <- R(x, y), S(y, z), T(z, x)",
        "Q() <- R(v = x), S(v = y), T(v = z), x < y + z, y < z",
    ):
        assert said not in cer.compile(text).explain(verbose=True), text

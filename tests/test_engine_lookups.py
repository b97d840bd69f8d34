"""Rules of any form by lookups: random ones, the shapes that no other engine takes, counts, limits."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from random_rules import random_join, random_rule, random_rule_events
from test_engine_rules import check

import cer_gpu as cer
from cer_gpu.language.parser import parse
from cer_gpu.reference.events import Event
from cer_gpu.reference.homomorphisms import answers

TINY = {
    "cer_gpu.engine.machines.lookups.BLOCK": 3,
    "cer_gpu.engine.machines.tuple_answers.FEW": 1,
    "cer_gpu.engine.machines.tuple_answers.BULK_ROWS": 2,
    "cer_gpu.engine.machines.tuples.UNIT": 2,
    "cer_gpu.engine.machines.chunk.SEGMENT": 2,
    "cer_gpu.engine.run.chunks.CHUNK": 3,
    "cer_gpu.engine.run.bound_query.BATCH": 5,
    "cer_gpu.engine.read.eviction.REMEMBERED": 1,
}
"""Sizes under which a stream of ten events crosses every border."""


@pytest.fixture(params=["usual", "tiny"])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, size in TINY.items() if request.param == "tiny" else ():
        monkeypatch.setattr(name, size)
    return request.param


@pytest.mark.usefixtures("sizes")
@pytest.mark.draws("block", 4)
def test_random_rules_of_any_form(block: int) -> None:
    rng = Random(f"lookups {block}")
    total = 0
    for _ in range(20):
        rule = random_join(rng)
        total += check(rule, random_rule_events(rng, rule, rng.randrange(1, 14)), rng)
    assert total > 20


@pytest.mark.usefixtures("sizes")
def test_hierarchical_rules_by_lookups() -> None:
    rng = Random("hierarchical by lookups")
    total = 0
    for _ in range(40):
        rule = random_rule(rng)
        total += check(rule, random_rule_events(rng, rule, rng.randrange(1, 12)), rng, "join")
    assert total > 100


def orders(count: int, seed: int = 3, symbols: int = 5) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "type": rng.choice(["Buy", "Sell"], count),
            "ts": pa.array(np.cumsum(rng.integers(0, 30, count)), pa.timestamp("s")),
            "symbol": rng.choice([f"s{number}" for number in range(symbols)], count),
            "price": rng.integers(90, 120, count).astype(np.float64),
        }
    )


def test_a_condition_between_the_atoms_of_a_body() -> None:
    table = orders(400)
    rule = "Q(x) <- Buy(symbol = x, price = p), Sell(symbol = x, price = q), q > 1.05 * p WITHIN 1 HOUR"
    query = cer.compile(rule)
    rows = table.to_pylist()
    wanted = sorted(
        (max(i, j), min(i, j), i, j)
        for i, buy in enumerate(rows)
        for j, sell in enumerate(rows)
        if (buy["type"], sell["type"], buy["symbol"]) == ("Buy", "Sell", sell["symbol"])
        and sell["price"] > 1.05 * buy["price"]
        and abs((buy["ts"] - sell["ts"]).total_seconds()) <= 3600
    )
    found = [(one.end, one.start, *one.positions) for one in query.run(table, order_by="ts")]
    assert found == wanted
    assert len(wanted) > 100
    assert query.count(table, order_by="ts") == len(wanted)
    with query.stream(order_by="ts") as stream:
        pushed = [one for low in range(0, 400, 37) for one in stream.push(table.slice(low, 37))]
    assert [(one.end, one.start, *one.positions) for one in pushed] == wanted


@pytest.mark.parametrize(
    "rule",
    [
        "Q(x, y, z) <- R(a = x, b = y), S(a = y, b = z), T(a = z, b = x)",
        "Q(x, y, z) <- R(a = x, b = y), R(a = y, b = z), R(a = z, b = x) WITHIN 8 EVENTS",
        "Q() <- R(a = x), S(b = y), T(a = z), x != y, z > x, z < y + 2",
        "Q(x) <- R(a = x, b = y), S(a = z, b = w), x + y = z + w WITHIN 9 EVENTS",
        "Q() <- R(a = x), S(a = y), T(a = z), x * y > z",
        "Q() <- R(a = x), R(a = y), x / y > 1.5 WITHIN 6 EVENTS",
    ],
)
def test_shapes_that_no_automaton_takes(rule: str) -> None:
    rng = Random(rule)
    events = [
        Event(rng.choice("RST"), {"a": rng.randrange(4), "b": rng.choice((0, 1, 2, 3, None))})
        for _ in range(24)
    ]
    table = pa.table(
        {
            "type": [one.type for one in events],
            "a": pa.array([one.attributes["a"] for one in events], pa.int64()),
            "b": pa.array([one.attributes["b"] for one in events], pa.int64()),
        }
    )
    wanted = list(answers(parse(rule), events))
    query = cer.compile(rule)
    assert [one.positions for one in query.run(table)] == wanted
    assert query.count(table) == len(wanted) > 0
    assert "join: takes it, and runs it" in query.explain(verbose=True)


def test_values_that_only_exact_numbers_tell_apart() -> None:
    big = 2**53
    table = pa.table(
        {
            "type": ["A", "A", "B", "B"],
            "n": pa.array([big, big + 1, None, None], pa.int64()),
            "f": pa.array([None, None, float(big), float(big + 2)], pa.float64()),
        }
    )
    query = cer.compile("Q() <- A(n = x), B(f = y), x > y")
    assert [one.positions for one in query.run(table)] == [(1, 2)]
    texts = pa.table({"type": ["A", "B", "B"], "s": ["é", "z", "𝄞"]})
    assert [one.positions for one in cer.compile("Q() <- A(s = x), B(s = y), y > x").run(texts)] == [(0, 2)]


def test_times_of_different_units_are_compared_as_times() -> None:
    table = pa.table(
        {
            "type": ["A", "B", "B"],
            "fine": pa.array([1_500_000, None, None], pa.timestamp("us")),
            "whole": pa.array([None, 1, 2], pa.timestamp("s")),
        }
    )
    assert [one.positions for one in cer.compile("Q() <- A(fine = x), B(whole = y), y > x").run(table)] == [
        (0, 2)
    ]
    later = cer.compile("Q() <- A(fine = x), B(whole = y), y - x >= 0.5 s")
    assert [one.positions for one in later.run(table)] == [(0, 2)]


def test_decimals_are_compared_exactly_at_any_width() -> None:
    number = Decimal("12345678901234567890123.5")
    table = pa.table(
        {
            "type": ["A", "B", "B"],
            "d": pa.array([number, None, None], pa.decimal128(30, 1)),
            "e": pa.array([None, number, number + 1], pa.decimal128(30, 2)),
        }
    )
    for condition, wanted in (
        ("y > x", [(0, 2)]),
        ("y - x >= 1", [(0, 2)]),
        ("y <= x + 0.5", [(0, 1)]),
        ("x + y > 2 * x", [(0, 2)]),
    ):
        query = cer.compile(f"Q() <- A(d = x), B(e = y), {condition}")
        assert [one.positions for one in query.run(table)] == wanted, condition


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    table = pa.table({"type": ["A", "B"], "n": pa.array([2**62, 2**62], pa.int64())})
    with pytest.raises(cer.DataError, match="does not fit 64 bits"):
        cer.compile("Q() <- A(n = x), B(n = y), x + y > 3").count(table)
    with pytest.raises(cer.DataError, match="does not fit 64 bits"):
        cer.compile("Q() <- A(n = x), B(n = y), 4 * x > y").count(table)


def test_what_is_counted_is_not_listed() -> None:
    each = 1000
    table = pa.table({"type": list("ABCD") * each, "n": np.arange(4 * each)})
    wanted = each**4
    query = cer.compile("Q() <- A(n = x), B(n = y), C(n = z), D(n = w), x >= 0 * y")
    assert "counting multiplies" in query.explain(verbose=True)
    assert query.count(table) == wanted
    counts = query.counts(table)
    assert sum(int(one) for one in counts["count"].to_pylist()) == wanted


def test_counts_past_64_bits() -> None:
    each = 300
    table = pa.table({"type": ["A"] * each, "n": np.arange(each)})
    atoms = ", ".join(f"A(n = x{number})" for number in range(8))
    query = cer.compile(f"Q() <- {atoms}, x0 >= x1 - 10000")
    assert query.count(table) == each**8


def test_lookups_that_lead_nowhere_end_with_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.machines.lookups.EFFORT", 1000)
    table = pa.table({"type": ["A", "B", "C"] * 300, "n": np.arange(900) % 7})
    with pytest.raises(cer.LimitError, match=r"x \* y \* z = 1000 keeps hardly any: narrow the window"):
        cer.compile("Q() <- A(n = x), B(n = y), C(n = z), x * y * z = 1000").count(table)


def test_what_explain_says_of_a_slow_rule() -> None:
    said = cer.compile("Q(x, y, z) <- R(x, y), S(y, z), T(z, x)").explain(verbose=True)
    assert "cyclic, not hierarchical" in said
    assert "one of them must be in every `T(...)` that has the other" in said
    drawn = cer.compile("Q(x, y, z) <- R(x, y), S(y, z), T(z, x)").explain("mermaid")
    assert "same y" in drawn

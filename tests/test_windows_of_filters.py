"""Filters that bound a match from its first event to its last are its window, once the order is known."""

from __future__ import annotations

import warnings
from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from engine_oracle import check
from generate import query_around, stream

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

SAID = "bounds a match from its first event to its last, as WITHIN does"

SAME = [
    ("c.ts <= a.ts + 60 s", 60_000),
    ("c.ts - a.ts <= 1 min", 60_000),
    ("a.ts + 60 s >= c.ts", 60_000),
    ("c.ts - 60 s <= a.ts", 60_000),
    ("-(a.ts - c.ts) <= 60 s", 60_000),
    ("c.ts - a.ts < 60 s", 59_999),
    ("c.ts < a.ts + 59 s + 999500 us", 59_999),
    ("c.ts - a.ts <= 60 s AND a.ts >= c.ts - 45 s", 45_000),
    ("C.ts <= A.ts + 60 s", 60_000),
]

OTHER = [
    "c.ts >= a.ts + 60 s",
    "c.ts <= b.ts + 20 s",
    "b.ts - a.ts <= 20 s",
    "NOT c.ts - a.ts > 60 s",
    "c.ts - a.ts <= 60 s OR c.v > a.v",
    "c.ts - b.ts <= b.ts - a.ts",
]


def events(count: int = 400, unit: str | None = "ms") -> pa.Table:
    rng = np.random.default_rng(3)
    times = np.cumsum(rng.integers(0, 30_000, count))
    kind = pa.int64() if unit is None else pa.timestamp(unit)
    return pa.table(
        {
            "type": rng.choice(["A", "B", "C"], count),
            "ts": pa.array(times, pa.int64()).cast(kind),
            "v": rng.integers(0, 9, count),
        }
    )


@pytest.mark.crossed
@pytest.mark.parametrize(("condition", "longest"), SAME)
@pytest.mark.parametrize("more", ["", " AND c.v > a.v"])
@pytest.mark.parametrize("within", ["", " WITHIN 50 s", " WITHIN 90000 [ts]"])
def test_it_is_within(condition: str, longest: int, more: str, within: str) -> None:
    pattern, table = "SELECT * WHERE A AS a ; B AS b ; C AS c", events()
    query = cer.compile(f"{pattern} FILTER {condition}{more}{within}")
    size = min(longest, 50_000) if "50 s" in within else longest
    other = cer.compile(f"{pattern}{' FILTER c.v > a.v' if more else ''} WITHIN {size} ms")
    wanted = other.counts(table, order_by="ts")
    assert len(wanted) > 10
    assert query.counts(table, order_by="ts") == wanted
    assert query.run(table, order_by="ts").to_arrow() == other.run(table, order_by="ts").to_arrow()
    told = query.explain(events=table, order_by="ts")
    assert SAID in told
    assert f"\nengine      {'apart' if more else 'regular'}" in told
    if "50 s" not in within:  # rows are in the order of `ts`, but nothing says so
        assert query.counts(table) == wanted.drop_columns("time")


def test_longer_chains_have_a_first_and_a_last_step() -> None:
    """Chains of operators are balanced trees: the last of four steps is no right side of the outermost."""
    table = events()
    query = cer.compile("SELECT * WHERE A AS a ; B ; B ; C ; C AS z FILTER z.ts - a.ts <= 90 s")
    wanted = cer.compile("SELECT * WHERE A ; B ; B ; C ; C WITHIN 90 s").counts(table, order_by="ts")
    assert len(wanted)
    assert query.counts(table, order_by="ts") == wanted
    assert SAID in query.explain(events=table, order_by="ts")


def test_explain_says_what_the_order_would_change() -> None:
    said = "with order_by='at', `b.at - a.at <= 60 s` is a window"
    asked = "SELECT * WHERE A AS a ; B AS b FILTER b.{} - a.{} <= {}"
    assert said in cer.compile(asked.format("at", "at", "60 s")).explain()
    assert "order_by" not in cer.compile(asked.format("n", "n", "60")).explain()
    assert "order_by" not in cer.compile(asked.format("at", "start", "60 s")).explain()
    assert "order_by" not in cer.compile("SELECT * WHERE A AS a ; B AS b FILTER b.p <= a.p").explain()
    query = cer.compile(asked.format("ts", "ts", "60 s"))
    assert "order_by='ts'" in query.explain()
    assert "order_by='ts'" not in query.explain(events=events(), order_by="ts")


@pytest.mark.parametrize("condition", OTHER)
def test_what_says_something_else_stays(condition: str) -> None:
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b ; C AS c FILTER {condition}")
    table = events(60)
    assert SAID not in query.explain(events=table, order_by="ts")
    assert query.counts(table, order_by="ts").drop_columns("time") == query.counts(table)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE (A AS a)+ ; C AS c FILTER c.ts <= a.ts + 60 s WITHIN 90 s",
        "SELECT * WHERE A AS a ; (C AS c OR B AS c) FILTER c.ts <= a.ts + 60 s",
        "SELECT * WHERE (A AS a ; C AS c) UNLESS B FILTER c.ts <= a.ts + 60 s",
        "SELECT LAST * WHERE A AS a ; C AS c FILTER c.ts <= a.ts + 60 s",
        "SELECT * WHERE A AS a ; C AS c FILTER c.ts <= a.ts + 60 s CONSUME BY ANY",
        "SELECT * WHERE A AS a ; A ; C FILTER C.ts <= A.ts + 60 s",
        "SELECT * WHERE A AS a ; C AS c FILTER c.ts <= a.ts + 60 s WITHIN 9 EVENTS",
    ],
)
def test_other_patterns_keep_their_filter(text: str) -> None:
    assert SAID not in cer.compile(text).explain(events=events(9), order_by="ts")


def test_whole_numbers_have_no_unit() -> None:
    table = events(unit=None)
    query = cer.compile("SELECT * WHERE A AS a ; C AS c FILTER c.ts - a.ts <= 2 * 30000")
    wanted = cer.compile("SELECT * WHERE A ; C WITHIN 60000 [ts]").counts(table, order_by="ts")
    assert query.counts(table, order_by="ts") == wanted
    assert query.counts(table) == wanted.drop_columns("time")
    assert SAID in query.explain(events=table, order_by="ts")
    real = table.set_column(1, "ts", table["ts"].cast(pa.float64()))
    assert SAID not in query.explain(events=real, order_by="ts")
    assert query.counts(real, order_by="ts").drop_columns("time") == wanted.drop_columns("time")


def test_a_stream_and_a_parameter() -> None:
    table = events()
    query = cer.compile("SELECT * WHERE A AS a ; C AS c FILTER c.ts - a.ts <= 60 s")
    wanted = query.run(table, order_by="ts").to_arrow()
    opened = query.stream(order_by="ts")
    parts = [opened.push(table.slice(low, 90)).to_arrow() for low in range(0, 400, 90)]
    assert pa.concat_tables([*parts, opened.close().to_arrow()]).combine_chunks() == wanted.combine_chunks()
    given = cer.compile("SELECT * WHERE A AS a ; C AS c FILTER c.ts - a.ts <= $most")
    assert given.run(table, order_by="ts", params={"most": "60 s"}).to_arrow() == wanted


BOUNDS = ["{l}.ts <= {f}.ts + {n} ms", "{l}.ts - {f}.ts < {n} ms", "{f}.ts + {n} ms >= {l}.ts"]


@pytest.mark.draws("seed", 12)
def test_random_patterns(seed: int) -> None:
    rng = Random(f"filters that are windows {seed}")
    steps = [f"{rng.choice('ABC')} AS x{step}" for step in range(rng.choice((2, 3, 3)))]
    if len(steps) == 3 and rng.random() < 0.4:
        steps[1] = f"({steps[1]})+"
    size = rng.choice((0, 250, 500, 1500, 3000))
    conditions = [rng.choice(BOUNDS).format(l=f"x{len(steps) - 1}", f="x0", n=size)]
    if rng.random() < 0.5:
        conditions.append(rng.choice(("x1.v > x0.v", "x1.id = x0.id", "x0[v > 2]")))
    text = f"SELECT * WHERE {' ; '.join(steps)} FILTER {' AND '.join(conditions)}"
    parsed = parse(text)
    assert isinstance(parsed, t.SelectQuery)
    query = replace(query_around(rng, parsed.pattern), streams=())
    print(f"seed {seed}: {to_text(query)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Query(to_text(query))
        for _ in range(4):
            check(query, stream(rng, rng.randrange(6, 12)), rng)

"""Neighbours that are compared: what is rewritten to PREV, and that it means the same."""

from __future__ import annotations

import warnings
from functools import partial
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from engine_oracle import check, check_quickly, select
from generate import pattern, query_around, schema, stream
from random_whole import condition, interval, predicate

import cer_gpu as cer
from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.logic.rewriting.previous_events import (
    comparisons_with_previous,
    distances,
    intervals_with_previous,
    since_previous,
)
from cer_gpu.reference.semantics import matches

gap = partial(since_previous, schema=schema())


def of(text: str) -> t.Pattern:
    return select(f"SELECT * WHERE {text}").pattern


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A AS a : B AS b FILTER b.v > a.v", "A AS a : B AS b FILTER b[v > PREV(v)]"),
        ("A AS a : B AS b FILTER a.v + 1 < b.v", "A AS a : B AS b FILTER b[PREV(v) + 1 < v]"),
        ("A AS a : B AS b FILTER NOT b.v > a.v", "A AS a : B AS b FILTER NOT b[v > PREV(v)]"),
        ("A : B FILTER B.v > A.v", "A : B FILTER B[v > PREV(v)]"),
        ("A AS a : B : C AS c FILTER c.v > a.v", "A AS a : B : C AS c FILTER c[v > PREV(v, 2)]"),
        (
            "A AS a : B AS b : C AS c FILTER a.v + b.v < ABS(c.p)",
            "A AS a : B AS b : C AS c FILTER c[PREV(v, 2) + PREV(v) < ABS(p)]",
        ),
        ("A AS a : B AS b FILTER PREV(a.v) < b.v", "A AS a : B AS b FILTER b[PREV(v, 2) < v]"),
        ("A+ ; A AS a : B AS b FILTER b.v > a.v", "A+ ; A AS a : B AS b FILTER b[v > PREV(v)]"),
        (
            "A AS a : NOT (C) : B AS b ; C+ FILTER b.v > a.v",
            "A AS a : NOT (C) : B AS b ; C+ FILTER b[v > PREV(v, 2)]",
        ),
        ("(A OR C) AS a : B AS b FILTER b.v > a.v", "(A OR C) AS a : B AS b FILTER b[v > PREV(v)]"),
        (
            "(A AS a OR C AS a) : B :{2} : C AS c FILTER c.v > a.v",
            "(A AS a OR C AS a) : B :{2} : C AS c FILTER c.v > a.v",
        ),
        ("(A AS a : B AS b FILTER b.v > a.v)+", "(A AS a : B AS b FILTER b[v > PREV(v)])+"),
        ("NXT(A : B AS b) : C AS c FILTER c.v > b.v", "NXT(A : B AS b) : C AS c FILTER c[v > PREV(v)]"),
        ("(A AS a UNLESS B) : B AS b FILTER b.v > a.v", "(A AS a UNLESS B) : B AS b FILTER b[v > PREV(v)]"),
        (
            "PROJECT(A AS a : B AS b | b) : C AS c FILTER c.v > b.v",
            "PROJECT(A AS a : B AS b | b) : C AS c FILTER c[v > PREV(v)]",
        ),
    ],
)
def test_comparisons_of_neighbours_read_prev(text: str, expected: str) -> None:
    assert to_text(comparisons_with_previous(of(text))) == to_text(of(expected))


@pytest.mark.parametrize(
    "text",
    [
        "A AS a ; B AS b FILTER b.v > a.v",
        "A AS a : B+ AS b FILTER b.v > a.v",
        "A AS a : B :+ : C AS c FILTER c.v > a.v",
        "A AS a : A AS a : B AS b FILTER b.v > a.v",
        "A : A : B AS b FILTER b.v > A.v",
        "A AS a : B ? : C AS c FILTER c.v > a.v",
        "A AS a : (B AS b) ? FILTER b.v > a.v",
        "(A AS a OR B AS b) : C AS c FILTER c.v > a.v",
        "(A OR NOT (B)) AS a : C AS c FILTER c.v > a.v",
        "(A AS a : B) AS x : C AS c FILTER c.v > x.v",
        "A AS a : B+ AS b : C AS c FILTER c.v > MAX(b.v) + a.v",
        "(A AS a ALL B AS b) FILTER b.v > a.v",
    ],
)
def test_other_comparisons_stay(text: str) -> None:
    written = of(text)
    assert comparisons_with_previous(written) is written


SINCE = "ts - PREV(ts)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A :[> 6 h] B", f"A : (B FILTER B[{SINCE} > 6 h])"),
        ("A+ :[1 s, 2 s] B AS b", f"A+ : (B FILTER B[{SINCE} >= 1 s AND {SINCE} <= 2 s]) AS b"),
        ("A :[< 1 s] (B ; C)", f"A : ((B FILTER B[{SINCE} < 1 s]) ; C)"),
        ("A :[< 1 s] (B OR C)", f"A : ((B FILTER B[{SINCE} < 1 s]) OR (C FILTER C[{SINCE} < 1 s]))"),
        ("A :[< 1 s] (B UNLESS C)", f"A : ((B FILTER B[{SINCE} < 1 s]) UNLESS C)"),
        ("A :[< 1 s] B+", f"A : ((B FILTER B[{SINCE} < 1 s]) OR (B FILTER B[{SINCE} < 1 s]) ; B{{1,}})"),
        ("A :[< 1 s] B :{2,4}", f"A : ((B FILTER B[{SINCE} < 1 s]) : B :{{1,3}})"),
        ("(A :[< 1 s] B) ;[< 1 s] C", f"(A : (B FILTER B[{SINCE} < 1 s])) ;[< 1 s] C"),
    ],
)
def test_intervals_between_neighbours_read_prev(text: str, expected: str) -> None:
    assert to_text(intervals_with_previous(of(text), gap)) == to_text(of(expected))


@pytest.mark.parametrize(
    "text",
    [
        "A ;[< 1 s] B",
        "A :[< 1 s] NOT (B)",
        "A :[< 1 s] NXT(B ; C)",
        "A :[< 1 s] B ?",
        "A ? :[< 1 s] B",
        "A :[< 1 s] (B ALL C)",
        "A :[< 1 s] (B AS b FILTER b.v > PRIOR(b).v)+",
        "A :[< 1 s] (B AS b ; (C AS c FILTER c.v > b.v))+",
        "A :+[< 1 s]",
        "(A ; B) :{3}[< 1 s]",
        "A +[< 1 s]",
    ],
)
def test_other_intervals_stay(text: str) -> None:
    written = of(text)
    assert intervals_with_previous(written, gap) is written


def test_repetitions_are_not_taken_out_where_each_gives_a_value() -> None:
    written = of("C :[< 1 s] (A AS a : B AS b) :+ FILTER SUM(b.v - a.v) > 3")
    assert intervals_with_previous(written, gap) is not written
    assert intervals_with_previous(written, gap, unrolls=False) is written


@pytest.mark.parametrize(
    ("kind", "unit", "interval", "expected"),
    [
        (ValueType.INT64, None, "[> 3]", "t - PREV(t) > 3"),
        (ValueType.INT64, "ms", "[> 3 s]", "t - PREV(t) > 3000"),
        (ValueType.INT64, "s", "[> 3 ms]", None),
        (ValueType.FLOAT64, "s", "[<= 3 ms]", "t - PREV(t) <= 0.003"),
        (ValueType.DURATION, None, "[<= 3]", "t - PREV(t) <= 3 us"),
        (ValueType.DECIMAL, None, "[<= 3]", None),
    ],
)
def test_units_of_the_order(kind: ValueType, unit: str | None, interval: str, expected: str | None) -> None:
    units = {"t": "us"} if kind is ValueType.DURATION else {}
    schema = Schema({"t": kind}, order="t", order_unit=unit, units=units)
    (found,) = (node.gap for node in (of(f"A :{interval} B"),) if isinstance(node, t.Sequence))
    assert found is not None
    said = since_previous(found, schema)
    if expected is None:
        assert said is None
        return
    assert said is not None
    assert to_text(t.Filter(of("A"), t.Every("A", said))) == to_text(of(f"A FILTER A[{expected}]"))


def test_distances_add_up_along_neighbours() -> None:
    known = distances(of("A AS a : B AS b : NOT (C) : C AS c ; A+ ; B AS x : A :{2} : C AS y"))
    assert (known.front["a"], known.front["c"]) == (0, 3)
    assert known.of("ab") is not None
    assert known.of("ax") is None
    assert known.of("xy") is None  # how long an iteration is has nobody asked
    assert known.length is None


STEPS = (
    "{k} AS {n}",
    "{k} AS {n}",
    "{k} AS {n}",
    "({k} AS {n} FILTER {n}[{p}])",
    "({k} OR B) AS {n}",
    "({k} AS {n} OR B AS {n})",
    "NOT ({k})",
    "{k}+ AS {n}",
    "{k} AS {n} :{{1,2}}",
    "({k} AS {n} ; B AS {n}x)",
    "({k} AS {n} : B)+",
    "{k} AS {n} ?",
    "LAST({k} ; B AS {n})",
    "({k} AS {n} UNLESS B)",
    "({k} AS {n}) :+[<= 1 s]",
)


def near(rng: Random) -> t.Pattern:
    """A pattern with neighbours that are compared, or between which there is an interval."""
    while True:
        names = [f"e{number}" for number in range(rng.choice((2, 2, 3, 4)))]
        made = ""
        for name in names:
            step = rng.choice(STEPS).format(k=rng.choice("AB"), n=name, p=predicate(rng))
            sign = f":{interval(rng)}" if rng.random() < 0.3 else rng.choice((":", ":", ":", ";"))
            made = f"{made} {sign} {step}" if made else step
            if rng.random() < 0.1 and "?" not in made:
                made = f"({made})"
        marked = [name for name in names if name in made]
        if len(marked) > 1 and rng.random() < 0.85:
            made = f"({made}) FILTER {condition(rng, marked)}"
        if rng.random() < 0.1:
            made = f"({made}) :{{1,2}}{interval(rng)}"
        elif rng.random() < 0.1:
            made = f"{rng.choice(('NXT', 'LAST', 'MAX'))}({made})"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                cer.compile(f"SELECT * WHERE {made}")
            except cer.QueryError:
                continue
            except LimitError:
                continue
        return of(made)


@pytest.mark.draws("block", 6)
def test_both_forms_have_the_same_complex_events(block: int) -> None:
    rng = Random(f"previous events {block}")
    compared = timed = answered = 0
    for number in range(120):
        written = near(rng) if number % 3 else pattern(rng, full=True)
        events = stream(rng, rng.randrange(4, 9), types="AAB", holes=0.1)
        try:
            expected = matches(written, events, order="ts")
        except OverflowError:
            continue
        one, other = comparisons_with_previous(written), intervals_with_previous(written, gap)
        compared += one is not written
        timed += other is not written
        answered += bool(expected) and not (one is written is other)
        for made in (one, other, intervals_with_previous(one, gap)):
            assert matches(made, events, order="ts") == expected, to_text(written)
    assert min(compared, timed) > 5
    assert answered > 0


@pytest.mark.draws("seed", 40)
def test_engines_say_the_same_with_keys_and_streams(seed: int) -> None:
    """Runs, streams in parts and snapshots, over nulls, NaN, keys, FROM and every clause."""
    rng = Random(f"previous events in engines {seed}")
    query = query_around(rng, near(rng))
    print(f"seed {seed}: {to_text(query)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            check(query, stream(rng, rng.randrange(5, 10), types="AAB", holes=0.1), rng)
            check_quickly(query, stream(rng, rng.randrange(5, 10), types="AAB", holes=0.1), rng)


def table_of(count: int = 900) -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "type": rng.choice(["A", "B"], count),
            "ts": pa.array(np.cumsum(rng.integers(0, 9, count)), pa.timestamp("s")),
            "k": rng.integers(0, 3, count),
            "v": rng.integers(0, 40, count),
        }
    )


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("A AS a :[> 3 s] B AS b", "A AS a : B AS b FILTER b[ts - PREV(ts) > 3 s]"),
        ("A AS a : B AS b FILTER b.ts - a.ts > 3 s", "A AS a : B AS b FILTER b[ts - PREV(ts) > 3 s]"),
        ("A AS a : B AS b FILTER b.v - a.v > $d", "A AS a : B AS b FILTER b[v - PREV(v) > $d]"),
        ("A AS a : B AS b FILTER b.v = a.v", "A AS a : B AS b FILTER b[v = PREV(v)]"),
        (
            "A AS a :[<= 9 s] B AS b : A AS c FILTER c.v > a.v",
            "A AS a : B AS b : A AS c FILTER b[ts - PREV(ts) <= 9 s] AND c[v > PREV(v, 2)]",
        ),
    ],
)
@pytest.mark.parametrize("key", ["", " PARTITION BY k"])
def test_both_forms_run_the_same_engine(text: str, other: str, key: str) -> None:
    table = table_of()
    params = {"d": 20} if "$" in text else {}
    one, two = (cer.compile(f"SELECT * WHERE {asked}{key}", params) for asked in (text, other))
    told = one.explain(events=table, order_by="ts")
    assert "\nengine      regular" in told
    assert "\nrewritten " in told
    assert "\nrewritten " not in two.explain(events=table, order_by="ts")
    wanted = two.run(table, order_by="ts").to_arrow()
    assert len(wanted) > 0
    assert one.run(table, order_by="ts").to_arrow() == wanted
    for engine in ("regular", "general"):
        assert one.count(table, order_by="ts", engine=engine) == len(wanted)
    opened = one.stream(order_by="ts")
    parts = [opened.push(table.slice(low, 30)).to_arrow() for low in range(0, len(table), 30)]
    parts.append(opened.close().to_arrow())
    # A stream gives the matches of each push, in which keys come as they are met.
    assert sorted(map(repr, pa.concat_tables(parts).to_pylist())) == sorted(map(repr, wanted.to_pylist()))


def test_what_runs_as_fast_as_it_is_written_stays() -> None:
    """A window needs no other column, and no comparison is saved where the same engine runs both forms."""
    table = table_of()
    for text in (
        "A AS a :[<= 3 s] B AS b",
        "A AS a : B AS b FILTER b.ts - a.ts <= 3 s",
        "A AS a : B AS b ; A AS c FILTER b.v > a.v AND c.v + b.v > a.v",
    ):
        query = cer.compile(f"SELECT * WHERE {text}")
        assert "\nrewritten" not in query.explain(events=table, order_by="ts")


def test_the_intervals_still_bound_a_match() -> None:
    query = cer.compile("SELECT * WHERE A :[<= 3 s] B :[<= 2 s] A PARTITION BY k")
    told = query.explain(events=table_of(), order_by="ts")
    assert "the upper bounds of the intervals add up to a window" in told
    assert "\nengine      regular" in told


def test_the_event_before_may_be_of_another_table_and_lack_the_attribute() -> None:
    one = pa.table({"ts": pa.array([1, 4, 9], pa.timestamp("s")), "v": [1, None, 3]})
    two = pa.table({"ts": pa.array([2, 5, 10], pa.timestamp("s")), "w": [7, 8, 9]})
    for asked, count in (("b.w > a.v", 2), ("NOT b.w > a.v", 1), ("b.w > a.v OR b.ts - a.ts > 0 s", 3)):
        query = cer.compile(f"SELECT * WHERE A AS a : B AS b FILTER {asked}")
        assert query.count({"A": one, "B": two}, order_by="ts") == count
        assert query.count({"A": one, "B": two}, order_by="ts", engine="general") == count

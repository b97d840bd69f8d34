"""SUM, AVG, MIN and MAX of expressions: one value for each repetition, against the reference and by hand."""

from __future__ import annotations

import warnings
from random import Random

import generate
import pyarrow as pa
import pytest
from engine_oracle import check
from pattern_checks import CLAUSES, check_pattern

import cer_gpu as cer
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

PATTERNS = [
    "((A OR B) AS x ; (B OR C) AS y)+",
    "((A OR B) AS x : (A OR B) AS y) :+",
    "(LAST(A AS x ; B AS y))+",
    "(A AS x ; B AS y)+ FILTER SUM(y.v - x.v) > 1",
    "(A AS x ; (B AS y)+)+ FILTER SUM(y.v * x.v) > 9",
    "(A AS x ; B AS y FILTER SUM(BEFORE(y).v - BEFORE(x).v) < 3)+",
    "((A AS x)+ ; B AS y)+ FILTER MAX(y.v - x.v) < 5 AND AVG(x.p + y.p) > 1",
    "(A AS x ; B AS y ; C AS c FILTER MIN(x.v - y.v) < 2)",
    "A AS x ; (B AS y)+ FILTER SUM(x.v - y.v) < 0",
    "(A AS x ; B AS y)+ ; (C AS c FILTER c.v > SUM(y.v - x.v))",
    "((A AS x ; B AS y){1,2} ; C AS c)+ FILTER SUM(x.v * y.v) > 4",
    "(A AS x ; B AS y ?)+ FILTER NOT SUM(y.v - x.v) > 1",
    "(A AS x ; B AS y FILTER x.v > MAX(PRIOR(y).v - PRIOR(x).v) OR x.v = 1)+",
    "(A AS x)+ FILTER SUM(x.v * x.p) > 8 AND MAX(x.ts - x.ts) < 1 s",
    "(A AS x ; B AS y)+ FILTER SUM(y.ts - x.ts) < 5 s",
    "(C AS c ; (A AS x)+ ; (B AS y)+)+ FILTER SUM(x.v / y.v) > 1 AND MIN(x.p % y.p) < 3",
    "((A AS x : B AS y) OR (A AS x ; C AS y))+ FILTER SUM(ABS(y.v - x.v)) >= 2 AND AVG(x.p * y.p) > 1",
    "A AS a ; ((A AS x ; B AS y)+ FILTER SUM(x.v - y.v) <= a.v)",
    "MAX((A AS x ; B AS y)+) FILTER MIN(COALESCE(x.v, 0) - y.v) < 3",
    "((A AS x)+ ; (B AS y)+)+ FILTER SUM(y.v - x.v) > 1 AND MIN(x.v * y.v) < 9",
    "(C ; (A AS x)+ ; (A AS y)+ ; (B AS z)+)+ FILTER MAX(y.v - x.v) > 1 OR SUM(x.v * y.v) = 2",
    "((A AS x)+ ; (B AS y)+ FILTER SUM(BEFORE(y).v * BEFORE(x).v) < 9)+",
    "((A AS x AS y)+ ; B AS z) FILTER SUM(y.v * x.p) > 3 AND MIN(x.v - y.v) = 0",
    "((A AS y AS x ; B AS x)+ ; C) FILTER SUM(x.v - y.v) >= 0",
    "(A AS x ; B AS y)+ AND ((A AS x ; B AS y)+ FILTER MAX(x.v + y.v) > 3)",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_answered_as_the_reference_says(pattern: str) -> None:
    check_pattern(pattern, 14)


MEASURES = [
    ("SUM(y.v - x.v)", "(A AS x ; B AS y)+"),
    ("MIN(x.v * y.p)", "(A AS x ; (B AS y)+)+"),
    ("AVG(x.p - y.p)", "((A AS x)+ ; B AS y)+"),
    ("MAX(x.v + y.v)", "(A AS x)+ ; (B AS y)+"),
    ("SUM(y.ts - x.ts)", "(A AS x ; B AS y ?)+"),
    ("SUM(x.v * x.p)", "(A AS x ; B AS y)+"),
    ("SUM(ABS(x.v - y.v)) - COUNT(x)", "((A AS x ; B AS y){1,2} ; C AS c)+"),
    ("SUM(x.v * y.v * c.v)", "(C AS c ; (A AS x)+ ; (B AS y)+)+"),
    ("SUM(x.v * y.v)", "((A AS x)+ ; (B AS y)+)+"),
    ("MIN(x.v - y.v)", "((A AS x)+ ; (A AS y)+ ; (B AS z)+)+"),
    ("SUM(x.v * y.v)", "(C ; (A AS x)+ ; (B AS y)+)+"),
]


@pytest.mark.parametrize(("measure", "pattern"), MEASURES)
def test_measures_are_those_of_the_reference(measure: str, pattern: str) -> None:
    answered = 0
    for seed in range(4):
        rng = Random(f"{measure} {pattern} {seed}")
        clause = rng.choice(CLAUSES)
        kept = rng.choice(("*", "NONE", "x", "MAX *", "NEXT NONE"))
        query = parse(f"SELECT {kept}, {measure} AS m WHERE {pattern} {clause}")
        assert isinstance(query, t.SelectQuery)
        events = generate.stream(rng, 12, holes=0.05)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answered += check(query, events, rng) > 0
    assert answered


def outages() -> pa.Table:
    seconds = [0, 5, 10, 25, 60, 61]
    return pa.table({"type": ["Down", "Up"] * 3, "ts": pa.array(seconds, pa.timestamp("s"))})


def test_the_time_that_a_machine_was_down() -> None:
    query = cer.compile("SELECT MAX NONE, SUM(u.ts - d.ts) AS down WHERE (Down AS d ; Up AS u)+")
    found = query.run(outages(), order_by="ts").to_arrow()
    assert found["down"].type == pa.duration("s")
    assert found["down"].cast(pa.int64()).to_pylist() == [5, 20, 21]


def test_a_filter_on_the_time_that_a_machine_was_down() -> None:
    for pattern in (
        "(Down AS d ; Up AS u)+ FILTER SUM(u.ts - d.ts) > 20 s",
        "(Down AS d ; Up AS u)+ FILTER MAX(u.ts - d.ts) = 15 s AND SUM(u.ts - d.ts) = 21 s",
    ):
        found = cer.compile(f"SELECT * WHERE {pattern}").run(outages(), order_by="ts")
        assert (0, 5, (0, 2, 4), (1, 3, 5)) in [
            (one.start, one.end, one.marks["d"], one.marks["u"]) for one in found
        ]
    capped = "(Down AS d : Up AS u FILTER SUM(BEFORE(u).ts - BEFORE(d).ts) < 15 s) :+"
    found = cer.compile(f"SELECT MAX NONE WHERE {capped}").run(outages(), order_by="ts")
    assert [(one.start, one.end) for one in found] == [(0, 1), (0, 3), (4, 5)]


def test_sums_that_do_not_fit_say_so() -> None:
    data = pa.table({"type": ["A", "B", "A", "B"], "v": pa.array([2**61, 2, 2**61, 3], pa.int64())})
    query = cer.compile("SELECT * WHERE (A AS x : B AS y) :{2} FILTER SUM(x.v * y.v) > 3")
    with pytest.raises(cer.DataError, match=r"SUM\(x.v \* y.v\)|x.v \* y.v"):
        query.count(data)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT * WHERE (A AS x ALL B AS y)+ FILTER SUM(x.v - y.v) > 3",
            "it is not known where a repetition",
        ),
        ("SELECT SUM(x.v - y.v) AS s WHERE (A AS x+ ; B AS y+ ?)+", "it is not known where a repetition"),
        ("SELECT * WHERE (A AS x ; (B AS y FILTER SUM(x.v - y.v) > 3))+", "are not of one repetition"),
        ("SELECT * WHERE (A AS x ; B AS y)+ ; A AS x FILTER SUM(x.v - y.v) > 3", "more than one place"),
        ("SELECT * WHERE (A AS x)+ FILTER SUM(MAX(x.v) - x.v) > 3", "cannot stand inside another"),
        ("SELECT * WHERE (A AS x)+ FILTER SUM(v * 2) > 3", "belongs to no variable"),
        ("SELECT * WHERE (A AS x)+ FILTER SUM(3 * 2) > 3", "takes values of events"),
        ("SELECT * WHERE (A AS x)+ FILTER COUNT(x.v * 2) > 3", "COUNT takes a variable"),
        ("SELECT * WHERE (A AS x)+ FILTER LAST(x.v * 2) > 3", "LAST takes one attribute"),
        ("SELECT * WHERE (A AS x FILTER SUM(x.v - BEFORE(x).v) > 3)+", "takes values of one repetition"),
        ("SELECT SUM(PREV(x.v) * 2) AS s WHERE A AS x", "PREV is a value of one event"),
    ],
)
def test_what_is_no_argument_is_shown(query: str, message: str) -> None:
    with pytest.raises(cer.QueryError) as caught:
        cer.compile(query)
    found = [one for one in caught.value.diagnostics if message in one.message]
    assert found, str(caught.value)
    assert found[0].span is not None


def test_the_mean_of_durations_is_shown() -> None:
    query = cer.compile("SELECT * WHERE (Down AS d ; Up AS u)+ FILTER AVG(u.ts - d.ts) > 3")
    with pytest.raises(cer.QueryError, match=r"divide the sum: `SUM\(u.ts - d.ts\) / COUNT\(u\)`"):
        query.count(outages(), order_by="ts")


def test_expressions_are_printed_as_they_are_read() -> None:
    query = parse("SELECT x, y, SUM(y.v - x.v) AS m WHERE (A AS x ; B AS y)+ FILTER MAX(x.v * (y.v + 1)) > 3")
    assert parse(to_text(query)) == query

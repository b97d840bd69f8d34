"""Comparisons between any events: random queries in every way they can be asked, against the reference."""

from __future__ import annotations

import re
import warnings
from random import Random

import generate
import pyarrow as pa
import pytest
from engine_oracle import check
from random_comparisons import compared_query

import cer_gpu as cer
from cer_gpu.engine.machines import configurations
from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text


def checked(name: str, seeds: range) -> int:
    """How many queries had answers, all of them those of the reference."""
    answered = 0
    for seed in seeds:
        rng = Random(f"{name} {seed}")
        query = compared_query(rng)
        events = generate.stream(rng, rng.randrange(4, 10))
        try:
            cer.compile(to_text(query))
        except cer.QueryError as error:
            if {one.code for one in error.diagnostics if one.severity == "error"} != {"CER027"}:
                raise
            continue  # types that do not compare
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(f"seed {name} {seed}: {to_text(query)}")
            answered += check(query, events, rng) > 0
    return answered


@pytest.mark.draws("part", 4)
def test_random_comparisons(part: int) -> None:
    assert checked(f"compared {part}", range(12)) > 1


QUERIES = [
    "A AS x ; B AS y FILTER y.p > x.p",
    "A AS a ; B ; C AS c FILTER c.p > 1.05 * a.p",
    "A AS a ; B AS b ; C AS c FILTER c.v != a.v AND NOT (b.v = a.v)",
    "A AS a ; B AS b ; C AS c FILTER a.v < b.v OR b.s = c.s",
    "A AS a ; (B AS b)+ ; C AS c FILTER b.v < c.v AND SUM(b.v) > a.v",
    "((A OR B) AS x FILTER x.v >= PRIOR(x).v) {2,}",
    "(A AS a ; B AS b ; C AS c) FILTER a.v + b.v = c.v",
    "(A AS a ; (B AS b FILTER b.v > a.v)+ ; C AS c) FILTER c.id = a.id",
    "A AS a ; C UNLESS (B AS b FILTER b.v > a.v)",
    "A AS a ; NOT (B FILTER B.v > a.v) : C",
    "NXT(A AS a ; B AS b FILTER b.v > a.v) ; C AS c",
    "MAX((A AS a ; (B AS b)+) FILTER b.v > a.v)",
    "(A AS a ALL B AS b) FILTER a.v < b.v",
    "(A AS a ; B AS b) WITHIN [<= 2 s] ; C AS c FILTER c.v > b.v",
    "A AS a ;[<= 2 s] C AS c FILTER c.p < a.p",
    "PROJECT(A AS a ; B AS b FILTER b.v > a.v | b) ; C AS c",
    "A AS a ; (B AS b) {2} FILTER COUNT(DISTINCT b.v) = 2 AND AVG(b.p) > a.p",
    "A AS a ; B AS b FILTER b.ts < a.ts + 1.5 s",
    "A AS a ; B AS b ; C FILTER a.v - b.v < 2",
    "A AS a ; B AS b ; C FILTER b.v + a.v < 2 * b.v",
]


@pytest.mark.parametrize("pattern", QUERIES)
def test_patterns_with_comparisons(pattern: str) -> None:
    answered = 0
    for seed in range(4):
        rng = Random(f"{pattern} {seed}")
        clause = rng.choice(("", "WITHIN 3 SECONDS", "WITHIN 6 EVENTS", "CONSUME BY ANY", "WITHIN 3 [lap]"))
        query = parse(f"SELECT {rng.choice(('', '', 'NEXT', 'MAX', 'LAST'))} * WHERE {pattern} {clause}")
        assert isinstance(query, t.SelectQuery)
        events = generate.stream(rng, 14, holes=0.03)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answered += check(query, events, rng) > 0
    assert answered


def test_numbers_compare_by_value() -> None:
    large = 2**53
    data = pa.table(
        {
            "type": ["A", "B", "A", "B"],
            "whole": pa.array([large + 1, None, -1, None], pa.int64()),
            "real": pa.array([None, float(large), None, 0.5], pa.float64()),
        }
    )
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a.whole > b.real")
    assert [(ce.start, ce.end) for ce in query.run(data)] == [(0, 1), (0, 3)]


def test_decimals_and_times_of_other_units_compare_exactly() -> None:
    data = pa.table(
        {
            "type": ["A", "B", "B"],
            "d": pa.array(["1.10", None, None], pa.string()).cast(pa.decimal128(10, 2)),
            "e": pa.array([None, "1.100", "1.101"], pa.string()).cast(pa.decimal128(12, 3)),
            "t": pa.array([1_000, None, None], pa.timestamp("ms")),
            "u": pa.array([None, 1_000_000, 1_000_001], pa.timestamp("us")),
        }
    )
    for condition in ("b.e > a.d", "b.u > a.t", "b.e != a.d", "b.u - a.t >= 1 us"):
        query = cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER {condition}")
        assert [(ce.start, ce.end) for ce in query.run(data)] == [(0, 2)], condition


def test_a_sum_that_does_not_fit_says_so() -> None:
    data = pa.table({"type": ["A", "A", "B"], "v": pa.array([2**62, 2**62, 1], pa.int64())})
    query = cer.compile("SELECT * WHERE (A AS a) {2} ; B AS b FILTER SUM(a.v) > b.v")
    with pytest.raises(cer.DataError, match=r"SUM\(a.v\) does not fit 64 bits"):
        query.count(data)


def test_too_many_partial_matches_name_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configurations, "CONFIGURATIONS", 40)
    data = pa.table({"type": ["A"] * 60 + ["B"], "v": list(range(61))})
    query = cer.compile("SELECT * WHERE A AS a ; A AS b ; B AS c FILTER c.v > a.v + b.v")
    with pytest.raises(LimitError, match=r"`c.v > a.v \+ b.v`.*PARTITION BY"):
        query.count(data)


def test_partial_matches_of_many_values_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configurations, "MEMORY", 1 << 20)
    data = pa.table({"type": ["A"] * 30 + ["B"], "v": list(range(31))})
    query = cer.compile("SELECT * WHERE ((A AS a)+ ; B AS b) FILTER a.v != b.v")
    with pytest.raises(LimitError, match=r"more than ([\d,]+) partial matches are open") as stopped:
        query.count(data)
    assert 100 < int(re.findall(r"more than ([\d,]+)", str(stopped.value))[0].replace(",", "")) < 20_000


def test_hits_of_several_values_need_no_common_partial_match() -> None:
    rng = Random("hits")
    count = 700
    data = pa.table(
        {
            "type": [rng.choice("ABC") for _ in range(count)],
            "v": [rng.randrange(10**6) for _ in range(count)],
        }
    )
    query = cer.compile("SELECT * WHERE A AS a ; B AS b ; C AS c FILTER c.v > a.v + b.v")
    found = query.hits(data)["position"].to_pylist()
    kinds, values = data["type"].to_pylist(), data["v"].to_pylist()
    least_a = least = 10**9
    wanted = []
    for position, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        if kind == "A":
            least_a = min(least_a, value)
        elif kind == "B":
            least = min(least, least_a + value)
        elif value > least:
            wanted.append(position)
    assert found == wanted


def test_a_shared_key_makes_lanes_beside_other_comparisons() -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B ; C AS c FILTER a.id = B.id AND B.id = c.id AND c.v > a.v")
    assert "one lane for each value of id" in query.explain(verbose=True)
    rng = Random("lanes")
    data = pa.table(
        {
            "type": [rng.choice("ABC") for _ in range(60)],
            "id": [rng.randrange(4) for _ in range(60)],
            "v": [rng.randrange(9) for _ in range(60)],
        }
    )
    assert query.count(data) == len(list(query.run(data))) > 0


def test_parameters_may_stand_in_comparisons_and_in_the_window() -> None:
    data = pa.table({"type": list("ABBB"), "v": [10, 11, 12, 13], "ts": [0, 1, 2, 3]})
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER b.v > $f * a.v WITHIN $w EVENTS")
    for factor, window in ((1.0, 3), (1.15, 3), (1.0, 2), (1.25, 3)):
        wanted = [k for k in (1, 2, 3) if data["v"][k].as_py() > factor * 10 and k <= window]
        given = {"params": {"f": factor, "w": window}, "order_by": "ts"}
        assert [ce.end for ce in query.run(data, **given)] == wanted
        assert query.count(data, **given) == len(wanted)


def test_explain_names_what_is_made_of_columns_as_it_is_written() -> None:
    told = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER LOWER(a.v) > PREV(b.w)").explain()
    assert "reads       `type` (A, B), LOWER(v), PREV(w)\n" in told


def test_explain_says_what_is_kept_and_what_would_be_faster() -> None:
    told = cer.compile("SELECT * WHERE A AS a ; (B AS b)+ ; C AS c FILTER SUM(b.v) > a.v + c.v").explain(
        verbose=True
    )
    assert "compared: `SUM(b.v) > a.v + c.v` needs the values of earlier events" in told
    assert "later events are compared with, made\n" in told
    assert "compared compiled" in told
    assert "PARTITION BY it" in told
    assert "WITHIN drops partial matches" in told
    keyed = "SELECT * WHERE A AS a ; B ; C AS c FILTER c.v > a.v PARTITION BY id WITHIN 9 EVENTS"
    assert "PARTITION BY it" not in cer.compile(keyed).explain(verbose=True)


@pytest.mark.parametrize(
    ("pattern", "iteration", "condition"),
    [
        ("{} ; B AS b", "A AS a +", "LAST(a.p) < b.p"),
        ("{} ; B AS b", "(A AS a FILTER a[v > 1]) :+", "b.p >= 1.05 * LAST(a.p)"),
        ("C AS b ; {}", "A AS a +", "FIRST(a.p) > b.p"),
        ("B AS a_first ; C AS b : {}", "A AS a :+", "FIRST(a.p) > b.p + 1"),
    ],
)
def test_explain_says_how_to_name_the_end_of_an_iteration(
    pattern: str, iteration: str, condition: str
) -> None:
    """What it says is followed: the same matches, from the machine of search trees, or that of PREV."""
    rng = Random(pattern)
    text = "SELECT a, b WHERE {} FILTER {} WITHIN 8 EVENTS"
    query = cer.compile(text.format(pattern.format(iteration), condition))
    told = " ".join(query.explain(verbose=True).split())
    said = re.search(r"p is never null, (\S+) is of one event: name it, `(.*?)`, compare (\S+), and", told)
    assert said is not None, told
    named = cer.compile(text.format(pattern.format(f"({said[2]})"), condition.replace(said[1], said[3])))
    machine = "rewritten   neighbours" if " : " in pattern else "search trees over"
    assert machine in named.explain(verbose=True)
    assert "search trees over" not in query.explain(verbose=True)
    rows = [(rng.choice("ABC"), rng.randrange(9), rng.randrange(4)) for _ in range(300)]
    table = pa.table(dict(zip(("type", "p", "v"), map(list, zip(*rows, strict=True)), strict=True)))
    assert named.run(table).to_arrow() == query.run(table).to_arrow()
    assert query.count(table) > 20


@pytest.mark.parametrize(
    "query",
    [
        "A AS a + ; C AS c ; B AS b FILTER LAST(a.p) < b.p",
        "A AS a + ; B AS b FILTER LAST(a.p) < b.p + FIRST(a.p)",
        "A AS a {2,} ; B AS b FILTER LAST(a.p) < b.p",
        "(A AS a ; C AS c)+ ; B AS b FILTER LAST(c.p) < b.p",
    ],
)
def test_explain_names_no_end_that_is_not_beside_the_event(query: str) -> None:
    assert "is of one event" not in cer.compile(f"SELECT * WHERE {query} WITHIN 9 EVENTS").explain(
        verbose=True
    )


@pytest.mark.parametrize(
    ("condition", "about"),
    [
        ("LOWER(MAX(b.s)) < c.s", "LOWER of a text"),
        ("AVG(b.d) > c.d", "`AVG(b.d)` is an average of decimals or spans of time"),
        ("SUM(b.d) > c.p", "a decimal with a float"),
    ],
)
def test_explain_says_why_a_comparison_is_not_compiled(condition: str, about: str) -> None:
    data = pa.table(
        {
            "type": list("ABBC"),
            "s": ["", "X", "Ab", "zz"],
            "d": pa.array(["1.00", "2.50", "0.25", "1.00"], pa.string()).cast(pa.decimal128(10, 2)),
            "p": [0.0, 0.0, 0.0, 1.5],
        }
    )
    query = cer.compile(f"SELECT * WHERE A AS a ; (B AS b)+ ; C AS c FILTER {condition}")
    assert f"one by one in Python, as no words of 64 bits hold {about}" in query.explain(
        events=data, verbose=True
    )
    assert query.count(data) == len(list(query.run(data))) > 0


def test_a_comparison_that_can_never_be_asked_is_answered() -> None:
    data = pa.table({"type": list("ABC"), "v": [1, 2, 3]})
    for pattern in (
        "(B AS b UNLESS (C AS c FILTER c.v > PRIOR(c).v){2,}) FILTER COUNT(b) >= 2",
        "(A AS a ; B AS b FILTER a.v < b.v) FILTER COUNT(a) > 1",
    ):
        assert cer.compile(f"SELECT * WHERE {pattern}").count(data) == 0


def test_a_comparison_of_what_marks_nothing_is_no_comparison() -> None:
    data = pa.table({"type": list("AB"), "v": [20, 1]})
    for condition, number in (
        ("MIN(a.v) < 11", 0),
        ("COUNT(a) = 0", 1),
        ("COUNT(a) > 0", 0),
        ("a.v < b.v", 1),
    ):
        query = cer.compile(f"SELECT * WHERE PROJECT(A AS a ; B AS b | b) FILTER {condition}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert query.count(data) == number, condition


@pytest.mark.parametrize(
    "holds", ["COALESCE(y.p, x.v) <= 5", "MIN(COALESCE(y.p, x.v)) <= 5", "COALESCE(y.p, x.p, x.v) <= 5"]
)
def test_coalesce_of_several_events_keeps_a_nan(holds: str) -> None:
    """A NaN is no null: it is not replaced, and compares to nothing."""
    table = pa.table({"type": list("ABAB"), "v": [1, 4, 1, 4], "p": [2.0, float("nan"), 2.0, None]})
    query = cer.compile(f"SELECT * WHERE (A AS x ; B AS y) FILTER {holds}")
    assert [(one.start, one.end) for one in query.run(table)] == [(0, 3), (2, 3)]
    assert query.hits(table)["position"].to_pylist() == [3]
    with query.stream() as stream:
        assert [one.end for at in range(4) for one in stream.push(table.slice(at, 1))] == [3, 3]

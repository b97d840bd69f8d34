"""BEFORE(x): the events that x marked in all earlier repetitions, against the reference and by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pattern_checks import check_pattern

import cer_gpu as cer
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse

MERGED = "(E AS e FILTER e.ts <= MAX(BEFORE(e).stop)) :+"

PATTERNS = [
    "(A AS x FILTER x.v <= MAX(BEFORE(x).v)) :+",
    "(A AS x FILTER x.v >= 0.9 * MAX(BEFORE(x).v)) +",
    "(A AS x FILTER NOT x.v < MIN(BEFORE(x).v) OR x.v < 4) {1,3}",
    "(A AS x FILTER x.v > BEFORE(x).v) {2,}",
    "(A AS x FILTER x.v != BEFORE(x).v) {2,3}",
    "(A AS x FILTER x.id = BEFORE(x).id OR x.p < AVG(BEFORE(x).p)) +",
    "(A AS x FILTER NOT x.v > BEFORE(x).v OR x.v = 1) {1,3}",
    "(A AS x FILTER COUNT(BEFORE(x)) < 2) +",
    "(A AS x FILTER SUM(BEFORE(x).v) < 9 AND x.s = LAST(BEFORE(x).s)) +",
    "(A AS x FILTER BEFORE(x)[v > 3]) +",
    "(A AS x FILTER NOT BEFORE(x)[v > 3] OR x.id = 1) +",
    "(A AS x ; (B AS y) ? FILTER x.v >= BEFORE(y).v) {1,3}",
    "(A AS x ; (B AS y) ? FILTER x.v >= MAX(BEFORE(y).v)) {1,3}",
    "((A AS x FILTER x.v > MAX(BEFORE(x).v)) {1,2} ; B AS y FILTER y.v > MIN(BEFORE(y).v)) +",
    "((A AS x) {1,2} ; B AS y FILTER y.v > COUNT(BEFORE(x))) +",
    "((A AS x) {1,2} ; B AS y FILTER SUM(x.v) >= SUM(BEFORE(x).v)) +",
    "((A AS x FILTER x.v < FIRST(BEFORE(y).v)) ; B AS y) {1,3}",
    "(A AS x FILTER x.v > PRIOR(x).v AND x.v < SUM(BEFORE(x).v)) +",
    "((A OR B) AS x FILTER x.v > MAX(BEFORE(x).v) OR x.p < MIN(BEFORE(x).p)) {2,4} ; C AS c",
    "A AS a ; (B AS b FILTER b.v + MAX(BEFORE(b).v) > a.v) + ; C",
    "(A AS x FILTER x.v + x.p > BEFORE(x).v - 1 AND COUNT(DISTINCT BEFORE(x).v) < 3) +",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_answered_as_the_reference_says(pattern: str) -> None:
    check_pattern(pattern, 12)


def test_intervals_that_overlap_are_merged() -> None:
    table = pa.table(
        {
            "type": ["E"] * 7,
            "ts": [0, 2, 6, 9, 20, 21, 40],
            "stop": [8, 3, 7, 10, 22, 30, 41],
        }
    )
    found = cer.compile(f"SELECT MAX * WHERE {MERGED}").run(table, order_by="ts")
    # By end the longest: the third begins inside the first, which ended after the second did.
    assert [(one.start, one.end) for one in found] == [(0, 0), (0, 1), (0, 2), (3, 3), (4, 4), (4, 5), (6, 6)]


def test_a_fall_from_the_peak_ends_a_run() -> None:
    prices = [100, 110, 105, 99, 98, 97]
    table = pa.table({"type": ["T"] * 6, "price": prices})
    query = "SELECT MAX * WHERE (T AS x FILTER x.price >= 0.9 * MAX(BEFORE(x).price)) :+"
    assert [(one.start, one.end) for one in cer.compile(query).run(table)] == [
        (0, 0), (0, 1), (0, 2), (0, 3), (2, 4), (2, 5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("x.v > BEFORE(x).v", True),
        ("NOT x.v > BEFORE(x).v", False),
        ("x.v > MAX(BEFORE(x).v)", True),
        ("NOT x.v > MAX(BEFORE(x).v)", False),
        ("MAX(BEFORE(x).v) > 3", True),
        ("NOT MIN(BEFORE(x).v) > 3", False),
        ("COUNT(BEFORE(x)) > 3", True),
        ("BEFORE(x)[v > 3]", True),
        ("NOT BEFORE(x)[v > 3]", False),
        ("x.v > MAX(PRIOR(x).v)", False),
    ],
)
def test_the_first_repetition(condition: str, holds: bool) -> None:
    table = pa.table({"type": ["A"], "v": [1]})
    assert cer.compile(f"SELECT * WHERE (A AS x FILTER {condition})+").count(table) == holds


def test_values_that_are_null_are_not_nothing() -> None:
    table = pa.table({"type": ["A", "A"], "v": pa.array([None, 3], pa.int64())})
    for condition in ("x.v > MAX(BEFORE(x).v)", "x.v > BEFORE(x).v"):
        found = cer.compile(f"SELECT * WHERE (A AS x FILTER {condition})+").run(table)
        assert [(one.start, one.end) for one in found] == [(0, 0), (1, 1)], condition


def test_texts_are_times_beside_aggregates_of_times() -> None:
    moments = pa.array([0, 5, 10], pa.timestamp("s", tz="Europe/Berlin"))
    table = pa.table({"type": ["A"] * 3, "t": moments})
    for condition, ends in (
        ("MAX(BEFORE(x).t) < '1970-01-01T01:00:05'", [0, 1]),
        ("LAST(BEFORE(x).t) <= '1970-01-01T00:00:05Z'", [0, 1, 2]),
        ("'1970-01-01T01:00:01' > MIN(BEFORE(x).t) + 1 s", [0]),
    ):
        found = cer.compile(f"SELECT * WHERE (A AS x FILTER {condition}) :+").run(table, order_by="t")
        assert [one.end for one in found if one.start == 0] == ends, condition


@pytest.mark.parametrize(
    "pattern",
    [
        "A AS x FILTER x.v > BEFORE(x).v",
        "(NXT(A AS x FILTER x.v > BEFORE(x).v) ; B)+",
        "((A AS x FILTER x.v > BEFORE(y).v)+ ; B AS y)",
        "(A AS x ; NOT (B FILTER B.v > BEFORE(x).v))+",
    ],
)
def test_where_prior_may_not_stand_before_may_not(pattern: str) -> None:
    with pytest.raises(cer.QueryError) as caught:
        cer.compile(f"SELECT * WHERE {pattern}")
    (found,) = [one for one in caught.value.diagnostics if one.severity == "error"]
    assert found.code == "CER027"
    assert "BEFORE" in found.message
    assert found.span is not None


def test_an_aggregate_of_one_repetition_gets_the_corrected_text() -> None:
    (note,) = check(parse("SELECT * WHERE (E AS e FILTER e.ts <= MAX(e.stop)) :+"))
    assert note.code == "CER114"
    assert note.severity == "note"
    assert note.hints == ("for the events of all earlier repetitions write `e.ts <= MAX(BEFORE(e).stop)`",)


@pytest.mark.parametrize(
    "pattern",
    [
        MERGED,
        "((A AS x) {2} FILTER MAX(x.v) < 5)+",
        "(A AS x)+ FILTER MAX(x.v) < 5",
        "A AS x ; (B AS y FILTER y.v < MAX(x.v))+",
    ],
)
def test_other_aggregates_get_no_note(pattern: str) -> None:
    assert not check(parse(f"SELECT * WHERE {pattern}"))

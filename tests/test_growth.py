"""Cost against size: what `explain` says beforehand, and the hits of iterations by one repetition."""

from __future__ import annotations

import warnings
from dataclasses import replace
from random import Random
from unittest.mock import patch

import pytest
from engine_oracle import select
from generate import ORDER, stream, stream_to_table
from random_correlated import random_correlated
from random_repetitions import repeated

import cer_gpu as cer
from bench.growth import STOPPED, Case, Point, exponent, measured
from bench.growth_questions import CEQL, DOUBLING, LOOKED_UP, SQL, SQUARED, events
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.walk import nodes, rebuild
from cer_gpu.logic.rewriting.repetitions import with_single_repetitions
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import evaluate


def growth(text: str) -> str | None:
    """What `explain` says of the growth of a query."""
    lines = cer.compile(text).explain().splitlines()
    return next((line.removeprefix("growth").strip() for line in lines if line.startswith("growth ")), None)


@pytest.mark.parametrize("name", CEQL)
def test_explain_says_of_exactly_some_constructs_that_their_cost_grows_faster(name: str) -> None:
    said = growth(CEQL[name])
    assert ("may double with each event" in (said or "")) is (name in DOUBLING)
    assert ("without WITHIN all" in (said or "")) is (name in SQUARED)
    assert ("without WITHIN each event is looked up" in (said or "")) is (name in LOOKED_UP)


@pytest.mark.parametrize("name", SQL)
def test_row_patterns_say_where_a_start_may_read_all_rows(name: str) -> None:
    said = cer.match_recognize(SQL[name], t=events(10, False, True)).explain()
    assert ("growth" in said) is (name in ("MATCH_RECOGNIZE, any rows", "MATCH_RECOGNIZE, aggregate"))


@pytest.mark.parametrize(
    ("pattern", "doubles"),
    [
        ("A+ AS a ; B AS b FILTER ABS(a.v - b.v) > 3", True),
        ("A+ AS a ALL B AS b FILTER a.v != b.v", True),
        ("(A AS a ; C AS c)+ FILTER a.v != c.v", True),
        ("(B AS b ; A+ AS a)+ FILTER a.v != b.v", True),
        ("(A+ AS y ; B AS b) FILTER y.v != b.v", True),
        ("(A AS a FILTER a.v != BEFORE(a).v)+", True),
        ("(A AS a FILTER SUM(BEFORE(a).v) > 3)+", True),
        ("(A AS a FILTER SUM(BEFORE(a).v) > 3) :+", False),
        ("(A AS a FILTER a.v >= MAX(BEFORE(a).v))+", False),
        ("(A AS a FILTER a.v != PRIOR(a).v)+", False),
        ("(A AS a ; B AS b FILTER a.v != b.v)+", False),
        ("B AS b ; (A+ AS a ; C) FILTER a.v != b.v", False),
        ("A {2,4} AS a ; B AS b FILTER a.v != b.v", False),
        ("A :+ AS a ; B AS b FILTER a.v != b.v", False),
        ("A+ AS a ; B AS b FILTER a.v < b.v", False),
        ("A+ AS a ; B AS b FILTER NOT (a.v = b.v)", False),
    ],
)
def test_values_that_a_later_event_needs_double_partial_matches(pattern: str, doubles: bool) -> None:
    assert ("double" in (growth(f"SELECT * WHERE {pattern}") or "")) is doubles


@pytest.mark.parametrize(
    ("window", "said"),
    [("WITHIN 9 EVENTS", "so at most 1,024 partial matches"), ("WITHIN 900 EVENTS", "about 20 such events")],
)
def test_the_window_is_part_of_the_estimate(window: str, said: str) -> None:
    assert said in cer.compile(f"SELECT * WHERE A+ AS a ; B AS b FILTER a.v != b.v {window}").explain()


def test_a_window_of_events_bounds_what_is_compared() -> None:
    assert growth("SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v + b.v < c.v WITHIN 50 EVENTS") is None


def test_explain_says_which_form_hits_take() -> None:
    said = cer.compile("SELECT * WHERE A+ AS a ; B AS b FILTER a.v != b.v").explain()
    assert "by engine ordered, of `A AS a ; B AS b FILTER a.v != b.v`" in said
    assert "\nhits " not in cer.compile("SELECT MAX * WHERE A+ AS a ; B AS b FILTER a.v != b.v").explain()


@pytest.mark.parametrize(
    ("pattern", "single"),
    [
        ("A+ AS a ; B AS b FILTER a.v != b.v", "A AS a ; B AS b FILTER a.v != b.v"),
        ("(A ; B+)+ ; C", "A ; B ; C"),
        ("A {1,3} ; B", "A ; B"),
        ("A : B+ : C", None),  # the first B has to follow the A
        ("A ;[<= 3 s] B+", None),
        ("A : (B ; C+) :+", "A : (B ; C) :+"),
        ("A {2,} ; B", None),
        ("A :+ ; B", None),
        ("(A AS a FILTER a.v > PRIOR(a).v)+", None),
        ("(A+ AS a ; B) FILTER COUNT(a) > 2", None),
        ("(A+ AS a ; B AS b) FILTER NOT (a.v = b.v)", None),
        ("(A+ ; B) UNLESS C", None),
        ("(A+ ; B) WITHIN [>= 3 s]", None),
        ("A+ AS a ; (B AS b FILTER b.v > a.v)", "A AS a ; (B AS b FILTER b.v > a.v)"),
        ("A+ AS a ; (B AS b FILTER b.v = COUNT(a))", None),
        ("A+ AS a : (B AS b FILTER NOT (b.v > a.v))", None),
        ("A+ AS a : NOT (B FILTER B.v > a.v)", None),
        ("(A+ AS a ; (B AS b FILTER b.v = 0 OR SUM(PRIOR(a).v) > 5))+", None),
        (
            "((A AS a ; (B AS b FILTER b.v < a.v)+)+ ; A AS a) FILTER a.v != b.v",
            "(A AS a ; (B AS b FILTER b.v < a.v))+ ; A AS a FILTER a.v != b.v",
        ),
        ("A+ ; B ; A", "A ; B ; A"),
        ("A : (B ? ; C+)", None),
        ("A : (B ? ; B ? ; C+)", None),
        ("A ; (B ? ; C+)", "A ; (B ? ; C)"),
        ("A : (B ; C+)", "A : (B ; C)"),
    ],
)
def test_one_repetition_is_enough_where_a_later_start_and_fewer_events_match(
    pattern: str, single: str | None
) -> None:
    query = cer.compile(f"SELECT * WHERE {pattern}")._tree
    assert isinstance(query, tree.SelectQuery)
    found = with_single_repetitions(query)
    assert (None if found is None else to_text(found.pattern)) == single


def compared(rng: Random, query: tree.SelectQuery) -> tree.SelectQuery:
    """A query with other comparisons in the place of its equalities."""

    def other(condition: tree.Condition) -> tree.Condition:
        match condition:
            case tree.Comparison() if rng.random() < 0.7:
                op = rng.choice(("!=", "<", ">=", "="))
                made = tree.Comparison(op, condition.left, condition.right)
                return tree.Not(made) if rng.random() < 0.2 else made
            case tree.Both(left=left, right=right):
                return rng.choice((tree.Both, tree.Both, tree.Either))(other(left), other(right))
        return condition

    names = [node.variable for node in nodes(query.pattern) if isinstance(node, tree.As)]

    def changed(node: tree.Pattern) -> tree.Pattern:
        made = rebuild(node, changed)
        match made:
            case tree.As(pattern=inner) if rng.random() < 0.1:
                return tree.As(inner, rng.choice(names))
            case tree.Filter(pattern=tree.Sequence() as inner, condition=condition) if rng.random() < 0.4:
                return replace(inner, right=tree.Filter(inner.right, other(condition)))
            case tree.Filter(pattern=inner, condition=condition):
                return tree.Filter(inner, other(condition))
        return made

    return replace(query, pattern=changed(query.pattern), limit=None)


def asked_hits(text: str, events: list[Event]) -> dict[int, int]:
    """For each hit of the engine the latest start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hits = cer.compile(text).hits(stream_to_table(events), order_by=ORDER, stream_column="stream")
    found = dict(zip(*(hits[name].to_pylist() for name in ("position", "latest_start")), strict=True))
    assert hits["position"].to_pylist() == sorted(found)
    return found


def wanted_hits(query: tree.Statement, events: list[Event]) -> dict[int, int]:
    """The same of the reference."""
    latest: dict[int, int] = {}
    for match in evaluate(query, events, order=ORDER):
        latest[match.end] = max(match.start, latest.get(match.end, 0))
    return latest


@pytest.mark.draws("seed", 180)
def test_hits_of_random_repetitions_are_those_of_the_reference(seed: int) -> None:
    rng = Random(f"single repetitions {seed}")
    for _ in range(20):
        query = compared(rng, repeated(rng, random_correlated(rng)))
        if with_single_repetitions(query) is not None:
            break
    data = stream(rng, 9)
    text = to_text(query)
    try:
        query = select(text)
        hits = asked_hits(text, data)
    except cer.QueryError:
        return  # texts and numbers do not compare, or a filter now stands behind nothing
    assert hits == wanted_hits(query, data)


@pytest.mark.parametrize(
    "pattern",
    [
        "A+ AS a ; (B AS b FILTER b.v = COUNT(a))",
        "A+ AS a : (B AS b FILTER NOT b.v > a.v)",
        "((A AS a ; (B AS b FILTER b.v < a.v)+)+ ; A AS a) FILTER a.v != b.v",
        "A+ AS a : NOT (B FILTER B.v > a.v)",
        "(A+ AS a ; (B AS b FILTER (b.v = 0 OR SUM(PRIOR(a).v) > 5)))+",
        "(A+ AS a ; B AS b) UNLESS (C AS c FILTER c.v > a.v)",
        "A+ AS a ; (B AS b FILTER b.v > a.v)+",
        "A AS a : (B ? ; (C AS c FILTER c.v > 2)+) FILTER c.v != a.v",
    ],
)
def test_conditions_beside_a_repetition_read_all_of_it(pattern: str) -> None:
    text, rng = f"SELECT * WHERE {pattern}", Random(pattern)
    query = select(text)
    for _ in range(20):
        data = stream(rng, 8, types="ABC")
        assert asked_hits(text, data) == wanted_hits(query, data)


@pytest.mark.large
def test_the_bench_asks_more_and_more_events_until_an_error() -> None:
    asked = [
        Case(name, "count", False, True)
        for name in (next(one for one in CEQL if one not in DOUBLING), *DOUBLING)
    ][:2]
    found = dict(measured(asked, (200, 400, 800)))
    assert list(found) == asked
    assert [point.rows for point in found[asked[0]]] == [200, 400, 800]
    assert not any(point.said for point in found[asked[0]])
    last = found[asked[1]][-1]
    # Where four times the events took so much longer that the next size would take too long, it is left out.
    assert "LimitError" in last.said or last.said == STOPPED or last.rows < 800


def test_the_exponent_is_that_of_the_last_two_answers_that_say_something() -> None:
    points = [Point(100, 0.001), Point(1000, 0.1), Point(10_000, 10.0)]
    assert exponent(points) == pytest.approx(2)
    assert exponent(points[:1]) is None
    assert exponent([Point(100, 0.001), Point(1000, 0.002)]) is None


@pytest.mark.parametrize(("window", "sweeps"), [("", False), ("WITHIN 500 EVENTS", True)])
def test_late_partial_matches_are_searched_only_where_some_may_be_late(window: str, sweeps: bool) -> None:
    swept = []
    sweep = ConfigurationRuns._sweep

    def noted(self: ConfigurationRuns, ends: object) -> object:
        swept.append(self.open_count)
        return sweep(self, ends)  # type: ignore[arg-type]

    query = cer.compile(f"SELECT * WHERE A+ AS a ; B AS b FILTER a.v != b.v {window}")
    with (
        patch("cer_gpu.engine.machines.configurations.CONFIGURATIONS", 20_000),
        patch.object(ConfigurationRuns, "_sweep", noted),
        pytest.raises(LimitError, match=r"`\+` takes any subset.*So write `:\+`"),
    ):
        query.count(events(400, False, True), order_by="ts")
    assert bool(swept) is sweeps

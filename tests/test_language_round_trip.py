"""Printing and parsing are each other's inverse (section 2 of the language, as far as it is written)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from case_files import cases
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from language_trees import CONDITIONS, MEASURE_EXPRESSIONS, PATTERNS, QUERIES

from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

SETTINGS = settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@SETTINGS
@given(QUERIES)
def test_a_query_is_read_back_as_it_was_written(query: t.SelectQuery) -> None:
    assert parse(to_text(query)) == query


@SETTINGS
@given(PATTERNS)
def test_a_pattern_is_read_back_as_it_was_written(pattern: t.Pattern) -> None:
    assert parse(f"SELECT * WHERE {to_text(pattern)}").pattern == pattern


@SETTINGS
@given(CONDITIONS)
def test_a_condition_is_read_back_as_it_was_written(condition: t.Condition) -> None:
    parsed = parse(f"SELECT * WHERE T FILTER {to_text(condition)}").pattern
    assert isinstance(parsed, t.Filter)
    assert parsed.condition == condition


def _shapes(pattern: t.Pattern) -> list[t.Pattern]:
    # Every way to put an operator around a pattern, on each side of it.
    other = t.EventType("Z")
    interval = t.Interval(t.Bound(1, "s"), t.Bound(2, "s", True))
    holds = t.Every("x", t.IsNull(t.Attribute("a")))
    shapes: list[t.Pattern] = [
        t.As(pattern, "x"),
        t.Iteration(pattern),
        t.Iteration(pattern, True, interval),
        t.Filter(pattern, holds),
        t.Filter(pattern, t.Either(holds, holds)),
        t.Project(pattern, ("x",)),
        t.Selector(t.Strategy.LAST, pattern),
        t.Timed(pattern, interval),
    ]
    for left, right in ((pattern, other), (other, pattern)):
        shapes += [t.Sequence(left, right), t.Sequence(left, right, True, interval)]
        shapes += [t.And(left, right), t.All(left, right), t.Or(left, right), t.Unless(left, right)]
    return shapes


def test_every_operator_inside_every_operator() -> None:
    for inner in _shapes(t.EventType("A")):
        for outer in _shapes(inner):
            text = to_text(outer)
            assert parse(f"SELECT * WHERE {text}").pattern == outer, text


def test_every_condition_inside_every_condition() -> None:
    def shapes(part: t.Condition) -> list[t.Condition]:
        other = t.Every("y", t.IsNull(t.Attribute("b")))
        return [t.Not(part), *(kind(*sides) for kind in (t.Both, t.Either)
                               for sides in ((part, other), (other, part)))]  # fmt: skip

    leaves: list[t.Condition] = [
        t.Every("x", t.IsNull(t.Attribute("a"))),
        t.Comparison("=", t.Attribute("a", "x"), t.Attribute("a", "y")),
    ]
    for leaf in leaves:
        for inner in shapes(leaf):
            for outer in shapes(inner):
                query = t.SelectQuery(t.Filter(t.EventType("A"), outer))
                assert parse(to_text(query)) == query, to_text(query)


def test_every_expression_inside_every_expression() -> None:
    def shapes(part: t.Expression) -> list[t.Expression]:
        other = t.Number(-2)
        sums = [t.Arithmetic(op, *sides) for op in "+-*/%" for sides in ((part, other), (other, part))]
        return [t.Negation(part), *sums]

    for inner in shapes(t.Attribute("a")):
        for middle in shapes(inner):
            for outer in shapes(middle):
                predicate = t.Comparison("<", outer, t.Quantity(-1.5, "h"))
                query = t.SelectQuery(t.Filter(t.EventType("A"), t.Every("A", predicate)))
                assert parse(to_text(query)) == query, to_text(query)


def test_all_queries_of_the_case_files_round_trip() -> None:
    seen = 0
    for case in cases():
        query = parse(case["query"])
        text = to_text(query)
        # `repr` tells 1 from 1.0, which `==` does not.
        assert repr(parse(text)) == repr(query), case["id"]
        assert to_text(parse(text)) == text
        seen += 1
    assert seen > 100


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("((A)) ; ((B ; C))", "A ; (B ; C)"),
        ("(A ; B) ; C", "A ; B ; C"),
        ("(A : B) ; C", "A : B ; C"),
        ("A ; (B OR C)", "A ; (B OR C)"),
        ("(A ; B) OR C", "A ; B OR C"),
        ("((A AND B) ALL C) OR D UNLESS E", "A AND B ALL C OR D UNLESS E"),
        ("A OR (B OR C)", "A OR (B OR C)"),
        ("A UNLESS (B UNLESS C)", "A UNLESS (B UNLESS C)"),
        ("((A) AS x)+", "A AS x+"),
        ("(A ; B) AS x", "(A ; B) AS x"),
        ("((A)+ AS y) :+[<=  5 s]", "A+ AS y :+[<= 5 s]"),
        ("(A FILTER A.v > 1) ; B", "(A FILTER A[v > 1]) ; B"),
        ("A FILTER (A[v > 1]) FILTER A[v < 9]", "A FILTER A[v > 1] FILTER A[v < 9]"),
        ("A FILTER (A[v=1] OR A[v=2]) AND A[v=3]", "A FILTER (A[v = 1] OR A[v = 2]) AND A[v = 3]"),
        ("A FILTER NOT (A[v=1] AND A[v=2])", "A FILTER NOT (A[v = 1] AND A[v = 2])"),
        ("A FILTER A[NOT (v = 1)]", "A FILTER A[NOT v = 1]"),
        ("A FILTER A[NOT (v IN {1})]", "A FILTER A[v NOT IN {1}]"),
        ("A FILTER A[v - (1 - 2) > (v + 1) * 2]", "A FILTER A[v - (1 - 2) > (v + 1) * 2]"),
        ("A FILTER A[(v * 2) + 1 == -(v)]", "A FILTER A[v * 2 + 1 = -v]"),
        ("A FILTER A[v <> - -v]", "A FILTER A[v != - -v]"),
        ("A FILTER A[v IN RANGE (1, 5)]", "A FILTER A[v IN {1..5}]"),
        ("A FILTER A[v IN RANGE (1, 1 + v)]", "A FILTER A[v IN RANGE (1, 1 + v)]"),
        ("A FILTER NOT A.name IS NOT NULL", "A FILTER NOT A[name IS NOT NULL]"),
        ("S > T FILTER S>T.v > 1", "S>T FILTER S>T[v > 1]"),
        ("NXT(A) ; next(B)", "NXT(A) ; NXT(B)"),
        ("((A ; B)) WITHIN [2 s, 2 s]", "(A ; B) WITHIN [= 2 s]"),
        ("A ;[<= 5 s, > 2 s] B", "A ;[> 2 s, <= 5 s] B"),
        ("A AS `from`", "A AS `from`"),
        ("A AS `x`", "A AS x"),
    ],
)
def test_canonical_text_has_the_fewest_parentheses(text: str, canonical: str) -> None:
    assert to_text(parse(f"SELECT * WHERE {text}").pattern) == canonical


def test_a_query_prints_one_line_for_each_clause() -> None:
    text = (
        "select next x[price, `limit`], S>T from S, R where (S>T as x) ; B partition by [a], [b, c] "
        "within 1 hour 30 minutes consume by any limit 3"
    )
    assert to_text(parse(text)) == (
        "SELECT NEXT x[price, `limit`], S>T\n"
        "FROM S, R\n"
        "WHERE S>T AS x ; B\n"
        "PARTITION BY [a], [b, c]\n"
        "WITHIN 90 MINUTES\n"
        "CONSUME BY ANY\n"
        "LIMIT 3"
    )


STRATEGIES = st.sampled_from([one for one in t.Strategy if one is not t.Strategy.ALL])


@SETTINGS
@given(STRATEGIES, MEASURE_EXPRESSIONS)
def test_a_measure_is_read_alike_behind_every_strategy_word(
    chosen: t.Strategy, measure: t.Expression
) -> None:
    """But for one that begins with a parenthesis, which is that of an aggregate there."""
    text = to_text(measure)
    assume(not text.startswith("("))
    plain = parse(f"SELECT {text} AS m WHERE T AS x")
    behind = parse(f"SELECT {chosen.value} {text} AS m WHERE T AS x")
    assert behind == replace(plain, strategy=chosen)

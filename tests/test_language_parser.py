"""What each construct of the language is parsed to (sections 2 to 4)."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import pyarrow as pa
import pytest

from cer_gpu.api import Query
from cer_gpu.errors import QueryError, Span
from cer_gpu.language import tree as t
from cer_gpu.language.parser import MAX_DEPTH, parse
from cer_gpu.language.printer import to_text

A, B, C, D, E = (t.EventType(name) for name in "ABCDE")


def pattern(text: str) -> t.Pattern:
    return parse(f"SELECT * WHERE {text}").pattern


def condition(text: str) -> t.Condition:
    parsed = pattern(f"A FILTER {text}")
    assert isinstance(parsed, t.Filter)
    return parsed.condition


def predicate(text: str) -> t.Condition:
    parsed = condition(f"x[{text}]")
    assert isinstance(parsed, t.Every)
    assert parsed.variable == "x"
    return parsed.predicate


def codes(text: str) -> list[str]:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert caught.value.text == text
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


def seconds(low: float | None, high: float | None, *, low_open: bool = False, high_open: bool = False) -> Any:
    return t.Interval(
        None if low is None else t.Bound(low, "s", low_open),
        None if high is None else t.Bound(high, "s", high_open),
    )


V, W = t.Attribute("v"), t.Attribute("w")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A", A),
        ("S>A", t.EventType("A", "S")),
        ("NOT (A)", t.OtherEvent(A)),
        (
            "NOT (A FILTER A[v = 1] FILTER A[w = 2])",
            t.OtherEvent(
                A,
                t.Both(
                    t.Every("A", t.Comparison("=", V, t.Number(1))),
                    t.Every("A", t.Comparison("=", W, t.Number(2))),
                ),
            ),
        ),
        ("A AS x", t.As(A, "x")),
        ("A+", t.Iteration(A)),
        ("A :+", t.Iteration(A, True)),
        ("A +[<= 5 s]", t.Iteration(A, False, seconds(None, 5))),
        ("A :+[2 s, 5 s]", t.Iteration(A, True, seconds(2, 5))),
        ("A AS x + AS y", t.As(t.Iteration(t.As(A, "x")), "y")),
        ("A ; B", t.Sequence(A, B)),
        ("A : B", t.Sequence(A, B, True)),
        ("A ; B : C ; D", t.Sequence(t.Sequence(A, B), t.Sequence(C, D), True)),
        ("A ;[> 2 s, <= 5 s] B", t.Sequence(A, B, False, seconds(2, 5, low_open=True))),
        ("A :[< 5 s] B", t.Sequence(A, B, True, seconds(None, 5, high_open=True))),
        ("A ;[= 1 s] B", t.Sequence(A, B, False, seconds(1, 1))),
        ("A ;[<= 5] B", t.Sequence(A, B, False, t.Interval(None, t.Bound(5)))),
        ("A ;[<= 1 min 30 s] B", t.Sequence(A, B, False, seconds(None, 90))),
        ("A ; B AND C", t.And(t.Sequence(A, B), C)),
        ("A AND B ALL C", t.All(t.And(A, B), C)),
        ("A ALL B OR C", t.Or(t.All(A, B), C)),
        ("A OR B UNLESS C", t.Unless(t.Or(A, B), C)),
        ("A UNLESS B OR C", t.Unless(A, t.Or(B, C))),
        ("A OR B ALL C AND D ; E", t.Or(A, t.All(B, t.And(C, t.Sequence(D, E))))),
        ("(A ; B) WITHIN [<= 5 s]", t.Timed(t.Sequence(A, B), seconds(None, 5))),
        ("(A) WITHIN [>= 2 s] AS x", t.As(t.Timed(A, seconds(2, None)), "x")),
        ("NXT(A) ; NEXT(B)", t.Sequence(t.Selector(t.Strategy.NEXT, A), t.Selector(t.Strategy.NEXT, B))),
        ("LAST(A) : MAX(B)", t.Sequence(t.Selector(t.Strategy.LAST, A), t.Selector(t.Strategy.MAX, B), True)),
        ("STRICT(A ; B)", t.Selector(t.Strategy.STRICT, t.Sequence(A, B))),
        ("PROJECT(A ; B | A, S>B)", t.Project(t.Sequence(A, B), ("A", "S>B"))),
        ("PROJECT(A ; B | )", t.Project(t.Sequence(A, B), ())),
        ("last ; max", t.Sequence(t.EventType("last"), t.EventType("max"))),
        ("`AS` AS `two ``words`", t.As(t.EventType("AS"), "two `words")),
    ],
)
def test_patterns(text: str, tree: t.Pattern) -> None:
    assert pattern(text) == tree


def test_filter_reaches_as_far_as_it_can() -> None:
    is_one = t.Every("A", t.Comparison("=", V, t.Number(1)))
    is_two = t.Every("B", t.Comparison("=", V, t.Number(2)))
    assert pattern("A ; B FILTER A[v = 1] AND B[v = 2]") == t.Filter(t.Sequence(A, B), t.Both(is_one, is_two))
    assert pattern("A OR B FILTER A[v = 1] OR B[v = 2]") == t.Filter(t.Or(A, B), t.Either(is_one, is_two))
    assert pattern("A ; B FILTER A[v = 1] FILTER B[v = 2]") == t.Filter(
        t.Filter(t.Sequence(A, B), is_one), is_two
    )


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("v = 1", t.Comparison("=", V, t.Number(1))),
        ("v == 1", t.Comparison("=", V, t.Number(1))),
        ("v <> 1", t.Comparison("!=", V, t.Number(1))),
        ("v != 1.0", t.Comparison("!=", V, t.Number(1.0))),
        ("3 < v", t.Comparison("<", t.Number(3), V)),
        ("v >= -4", t.Comparison(">=", V, t.Number(-4))),
        ("v<-5", t.Comparison("<", V, t.Number(-5))),
        ("v - 4 <= .5", t.Comparison("<=", t.Arithmetic("-", V, t.Number(4)), t.Number(0.5))),
        ("v > -9223372036854775808", t.Comparison(">", V, t.Number(-(2**63)))),
        ("v > 1e3", t.Comparison(">", V, t.Number(1000.0))),
        ("v > 'it''s'", t.Comparison(">", V, t.Text("it's"))),
        ("v = true", t.Comparison("=", V, t.Boolean(True))),
        ("v < 2 h", t.Comparison("<", V, t.Quantity(2, "h"))),
        ("v < 2.5 minutes", t.Comparison("<", V, t.Quantity(2.5, "min"))),
        ("v < -3d", t.Comparison("<", V, t.Quantity(-3, "d"))),
        ("-v > 0", t.Comparison(">", t.Negation(V), t.Number(0))),
        ("v > w", t.Comparison(">", V, W)),
        (
            "2 * v + w % 3 > 0",
            t.Comparison(
                ">",
                t.Arithmetic("+", t.Arithmetic("*", t.Number(2), V), t.Arithmetic("%", W, t.Number(3))),
                t.Number(0),
            ),
        ),
        (
            "NOT (v - 5) % 3 = 1",
            t.Not(
                t.Comparison(
                    "=", t.Arithmetic("%", t.Arithmetic("-", V, t.Number(5)), t.Number(3)), t.Number(1)
                )
            ),
        ),
        ("v LIKE 'a.*'", t.Like(V, "a.*")),
        ("v NOT LIKE 'a.*'", t.Not(t.Like(V, "a.*"))),
        ("v IN {1, -2, 'x'}", t.InSet(V, t.Members.of(t.Number(1), t.Number(-2), t.Text("x")))),
        ("v NOT IN {1}", t.Not(t.InSet(V, t.Members.of(t.Number(1))))),
        ("v IN {1..5}", t.InRange(V, t.Number(1), t.Number(5))),
        ("v IN {-1.5..}", t.InRange(V, t.Number(-1.5), None)),
        ("v IN {..5 s}", t.InRange(V, None, t.Quantity(5, "s"))),
        ("v + 1 IN RANGE (w, w + 4)", t.InRange(t.Arithmetic("+", V, t.Number(1)), W,
                                                t.Arithmetic("+", W, t.Number(4)))),
        ("v NOT IN RANGE (1, 2)", t.Not(t.InRange(V, t.Number(1), t.Number(2)))),
        ("v IS NULL", t.IsNull(V)),
        ("v IS NOT NULL", t.Not(t.IsNull(V))),
        (
            "v IS NULL OR v IS NULL AND NOT w IS NULL",
            t.Either(t.IsNull(V), t.Both(t.IsNull(V), t.Not(t.IsNull(W)))),
        ),
        ("(v IS NULL OR w IS NULL) AND v IS NULL",
         t.Both(t.Either(t.IsNull(V), t.IsNull(W)), t.IsNull(V))),
    ],
)  # fmt: skip
def test_predicates(text: str, tree: t.Condition) -> None:
    parsed = predicate(text)
    assert repr(parsed) == repr(tree)


@pytest.mark.parametrize(
    ("dotted", "bracketed"),
    [
        ("x.v > 1", "x[v > 1]"),
        ("5 < x.v", "x[5 < v]"),
        ("x.v = x.w + 1", "x[v = w + 1]"),
        ("x.v NOT IN {1, 2}", "x[v NOT IN {1, 2}]"),
        ("x.v IN RANGE (x.lo, x.hi)", "x[v IN RANGE (lo, hi)]"),
        ("x.v LIKE 'a'", "x[v LIKE 'a']"),
        ("x.v IS NOT NULL", "x[v IS NOT NULL]"),
        ("S>T.v > 1", "S>T[v > 1]"),
        ("NOT x.v = 1 OR (x.w = 2)", "NOT x[v = 1] OR x[w = 2]"),
    ],
)
def test_a_comparison_about_one_variable_is_a_predicate(dotted: str, bracketed: str) -> None:
    assert condition(dotted) == condition(bracketed)


def test_correlations_keep_their_variables() -> None:
    assert condition("y.price > 1.02 * x.price") == t.Comparison(
        ">", t.Attribute("price", "y"), t.Arithmetic("*", t.Number(1.02), t.Attribute("price", "x"))
    )
    assert condition("l.ts < s.ts + 1 h") == t.Comparison(
        "<",
        t.Attribute("ts", "l"),
        t.Arithmetic("+", t.Attribute("ts", "s"), t.Quantity(1, "h")),
    )
    assert condition("x.a > y.b") == t.Comparison(">", t.Attribute("a", "x"), t.Attribute("b", "y"))
    assert condition("x.a + 5 s > y.b") == t.Comparison(
        ">",
        t.Arithmetic("+", t.Attribute("a", "x"), t.Quantity(5, "s")),
        t.Attribute("b", "y"),
    )
    assert condition("x.a > S>T.b") == t.Comparison(">", t.Attribute("a", "x"), t.Attribute("b", "S>T"))


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("SELECT * WHERE A", {}),
        ("SELECT NONE WHERE A", {"select": ()}),
        ("SELECT ALL * WHERE A", {}),
        ("SELECT ANY * WHERE A", {"strategy": t.Strategy.ANY}),
        ("SELECT nxt * WHERE A", {"strategy": t.Strategy.NEXT}),
        ("SELECT LAST x WHERE A", {"strategy": t.Strategy.LAST, "select": (t.SelectItem("x"),)}),
        ("SELECT last, max WHERE A", {"select": (t.SelectItem("last"), t.SelectItem("max"))}),
        ("SELECT MAX NONE WHERE A", {"strategy": t.Strategy.MAX, "select": ()}),
        ("SELECT STRICT * WHERE A", {"strategy": t.Strategy.STRICT}),
        (
            "SELECT x[price, volume], S>T, S>T[limit] WHERE A",
            {
                "select": (
                    t.SelectItem("x", ("price", "volume")),
                    t.SelectItem("S>T"),
                    t.SelectItem("S>T", ("limit",)),
                )
            },
        ),
        ("SELECT * FROM S, `my stream` WHERE A", {"streams": ("S", "my stream")}),
        ("SELECT * WHERE A PARTITION BY a, b", {"partition": (("a",), ("b",))}),
        ("SELECT * WHERE A PARTITION BY [a], [b, c]", {"partition": (("a",), ("b", "c"))}),
        ("SELECT * WHERE A WITHIN 4 EVENTS", {"window": t.Window(4, "events")}),
        ("SELECT * WHERE A WITHIN 4.5 seconds", {"window": t.Window(4.5, "time", "s")}),
        ("SELECT * WHERE A WITHIN 1 MINUTES 30 SECONDS", {"window": t.Window(90, "time", "s")}),
        ("SELECT * WHERE A WITHIN 1.5 HOURS 30 MINUTES", {"window": t.Window(120, "time", "min")}),
        ("SELECT * WHERE A WITHIN 0.1 s 0.2 s", {"window": t.Window(0.3, "time", "s")}),
        ("SELECT * WHERE A WITHIN 1500 MILLISECONDS", {"window": t.Window(1500, "time", "ms")}),
        ("SELECT * WHERE A WITHIN 3 [ts]", {"window": t.Window(3, "attribute", attribute="ts")}),
        ("SELECT * WHERE A CONSUME BY NONE", {}),
        ("SELECT * WHERE A CONSUME BY ANY", {"consume": t.Consume.ANY}),
        ("SELECT * WHERE A CONSUME BY PARTITION LIMIT 0", {"consume": t.Consume.PARTITION, "limit": 0}),
        (
            "SELECT * FROM S WHERE A -- a comment\nPARTITION BY k /* and\n more */ WITHIN 2 EVENTS LIMIT 5",
            {"streams": ("S",), "partition": (("k",),), "window": t.Window(2, "events"), "limit": 5},
        ),
    ],
)
def test_clauses(clauses: str, expected: dict[str, Any]) -> None:
    parsed = parse(clauses)
    assert parsed == t.SelectQuery(A, **expected)
    if parsed.window is not None:
        assert type(parsed.window.size) is type(expected["window"].size)


def test_every_node_has_the_span_of_its_text() -> None:
    text = "SELECT y[p] WHERE (A AS x ;[<= 5 s] NOT (B)+) FILTER x[p > 1 + q] AND 7 < y.r WITHIN 3 [ts]"
    query = parse(text)
    found = {type(node).__name__: text[node.span.start : node.span.end] for node in _nodes(query)}
    assert found["SelectQuery"] == text
    assert found["SelectItem"] == "y[p]"
    assert found["As"] == "A AS x"
    assert found["Interval"] == "[<= 5 s]"
    assert found["Bound"] == "5 s"
    assert found["Iteration"] == "NOT (B)+"
    assert found["OtherEvent"] == "NOT (B)"
    assert found["Sequence"] == "A AS x ;[<= 5 s] NOT (B)+"
    assert found["Filter"] == "(A AS x ;[<= 5 s] NOT (B)+) FILTER x[p > 1 + q] AND 7 < y.r"
    assert found["Both"] == "x[p > 1 + q] AND 7 < y.r"
    assert found["Arithmetic"] == "1 + q"
    assert found["Window"] == "3 [ts]"
    assert all(node.span is not None for node in _nodes(query))


def test_names_that_are_not_nodes_have_places() -> None:
    text = "SELECT x[p, q] FROM S WHERE PROJECT(A AS x | x, A) PARTITION BY [a], [b, c] LIMIT 5"
    query = parse(text)
    assert query.places is not None
    assert query.select is not None
    assert isinstance(query.pattern, t.Project)

    def words(spans: tuple[Span, ...]) -> list[str]:
        return [text[span.start : span.end] for span in spans]

    assert words(query.places.streams) == ["S"]
    assert [words(part) for part in query.places.partition] == [["a"], ["b", "c"]]
    assert query.places.limit is not None
    assert words((query.places.limit,)) == ["5"]
    assert words(query.select[0].places) == ["p", "q"]
    assert words(query.pattern.places) == ["x", "A"]


def _nodes(node: Any) -> list[Any]:
    if isinstance(node, tuple):
        return [inner for part in node for inner in _nodes(part)]
    if not is_dataclass(node) or isinstance(node, Span | t.ClausePlaces):
        return []
    return [node, *(inner for entry in fields(node) for inner in _nodes(getattr(node, entry.name)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["CER001"]),
        ("A ; B", ["CER001"]),
        ("SELECT * WHERE A ; ", ["CER001"]),
        ('SELECT * WHERE A FILTER A[s = "x"]', ["CER002"]),
        ("SELECT * WHERE A FILTER A[s = 'x]", ["CER003"]),
        ("SELECT * WHERE `A", ["CER003"]),
        ("SELECT * WHERE A /* never closed", ["CER003"]),
        ("SELECT * WHERE (A ; B", ["CER004"]),
        ("SELECT * WHERE (A ; B WITHIN 5 s", ["CER004"]),
        ("SELECT * WHERE A)", ["CER004"]),
        ("SELECT * WHERE A FILTER A[v > 18446744073709551616]", ["CER005"]),
        ("SELECT * WHERE A FILTER A[v > -9223372036854775809]", ["CER005"]),
        ("SELECT * WHERE A FILTER A[v > 1e999]", ["CER005"]),
        ("SELECT * WHERE A WITHIN 9223372036854775808 EVENTS", ["CER005"]),
        ("SELECT * WHERE A ;[<= -9223372036854775809 s] A", ["CER005"]),
        ("SELECT * WHERE A WITHIN 9000000000000000000 DAYS 1 NANOSECOND", ["CER005"]),
        ("SELECT * WHERE A LIMIT " + "9" * 5000, ["CER005"]),
        ("SELECT * WHERE A LIMIT 5 WITHIN 3 EVENTS", ["CER008"]),
        ("SELECT * WHERE A LIMIT 5 LIMIT 6", ["CER008"]),
        ("SELECT * WHERE A AS ``", ["CER009"]),
        ("SELECT * WHERE A AS `x>y`", ["CER009"]),
        ("SELECT * WHERE A FILTER price > 5 OR 1 = 1", ["CER010", "CER010"]),
        ("SELECT * WHERE A FILTER x.price > volume", ["CER010"]),
        ("SELECT * WHERE A FILTER x[y.a = 1] AND x[x.a = y.a]", ["CER011", "CER011"]),
        ("SELECT * WHERE A FILTER x.a + y.a IS NULL", ["CER012"]),
        ("SELECT * WHERE A FILTER x.a IN RANGE (1, y.a + z.a)", ["CER012"]),
        ("SELECT * WHERE A FILTER x.a IN RANGE (y.a, 5)", ["CER012"]),
        ("SELECT * WHERE NOT (A ; B)", ["CER013"]),
        ("SELECT * WHERE A ;[5 s] B", ["CER014"]),
        ("SELECT * WHERE A ;[> 2 s, > 5 s] B", ["CER014"]),
        ("SELECT * WHERE A ;[= 2 s, < 5 s] B", ["CER014"]),
        ("SELECT * WHERE A ;[<= 2 EVENTS] B", ["CER014"]),
        ("SELECT * WHERE A WITHIN 5 m", ["CER015"]),
        ("SELECT * WHERE A WITHIN 5", ["CER016"]),
        ("SELECT * WHERE A WITHIN 2 EVENTS 5 SECONDS", ["CER016"]),
        ("SELECT * WHERE A WITHIN 5 SECONDS [ts]", ["CER016"]),
        ("SELECT * WHERE A WITHIN 1.5 EVENTS", ["CER016"]),
        ("SELECT * WHERE A LIMIT 1.5", ["CER017"]),
        ("SELECT * WHERE A FILTER A[v IN {}]", ["CER018"]),
        ("SELECT * WHERE A FILTER A[v IN {..}]", ["CER018"]),
        ("SELECT * WHERE (A AS a ; B) FILTER COUNT(a) IN {..}", ["CER012", "CER018"]),
        ("SELECT * WHERE A FILTER A[v IN {'a'..'b'}]", ["CER018"]),
        ("SELECT * WHERE A ;[5 s] B FILTER v > 1 WITHIN 5", ["CER014", "CER010", "CER016"]),
    ],
)
def test_what_is_no_query(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("A ; B", "begins with SELECT"),
        ("SELECT * FROM S A ; B", "after WHERE"),
        ("SELECT * FROM WHERE A", "or leave FROM out"),
        ("SELECT x.price WHERE A", "in brackets"),
        ("SELECT * WHERE A , B", "for one event after another write `A ; B`"),
        ("SELECT * WHERE A => B", "for one event after another write `A ; B`"),
        ("SELECT * WHERE A -> B", "for one event after another write `A ; B`"),
        ("SELECT * WHERE A THEN B", "for one event after another write `A ; B`"),
        ("SELECT * WHERE A ; B;", "remove it: `;`"),
        ("SELECT * WHERE A B", "AS B"),
        ("SELECT * WHERE A* ; B", "one or more is `B+`"),
        ("SELECT * WHERE A{2", "add the missing `}`, at the end or earlier"),
        ("SELECT * WHERE A | B", "with OR: `A OR B`"),
        ("SELECT * WHERE A[v > 5]", "after FILTER"),
        ("SELECT * WHERE A WHERE A.v > 5", "after FILTER"),
        ("SELECT * WHERE A NOT B", "UNLESS"),
        ("SELECT * WHERE NOT A", "with parentheses"),
        ("SELECT * WHERE A AS from", "back-ticks"),
        ("SELECT * WHERE A ; B WITHIN [<= 5 s]", "in parentheses"),
        ("SELECT * WHERE A PARTITION k", "PARTITION BY"),
        ("SELECT * WHERE A FILTER A[v > 5 && v < 6]", "AND"),
        ("SELECT * WHERE A FILTER A[v > 5, v < 6]", "AND or OR"),
        ("SELECT * WHERE A FILTER A[1 < v < 5]", "with AND: `1 < v AND v < 5`"),
        ("SELECT * WHERE A FILTER A[v => 5]", "`>=`"),
        ("SELECT * WHERE A FILTER A[v =< 5]", "`<=`"),
        ("SELECT * WHERE A FILTER A[v BETWEEN 1 AND 5]", "IN RANGE"),
        ("SELECT * WHERE A FILTER A[v = NULL]", "IS NULL"),
        ("SELECT * WHERE A FILTER A[v IN (1, 2)]", "in braces"),
        ("SELECT * WHERE A FILTER A[flag]", "flag = TRUE"),
        ("SELECT * WHERE A FILTER A[!flag]", "NOT"),
        ("SELECT * WHERE A FILTER price > 5", "`A.price`"),
        ("SELECT * WHERE A WITHIN 5", "`5 SECONDS`"),
        ("SELECT * WHERE A WITHIN 5 sec", "`s`"),
        ('SELECT * WHERE A FILTER A[s = "x"]', "text in single quotes"),
    ],
)
def test_common_slips_get_a_hint(text: str, hint: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    (diagnostic,) = caught.value.diagnostics
    assert any(hint in one for one in diagnostic.hints), diagnostic


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE " + "(" * 100_000,
        "SELECT * WHERE " + "(" * 5_000 + "A" + ")" * 5_000,
        "SELECT * WHERE " + "(A ; " * 5_000 + "A" + ")" * 5_000,
        "SELECT * WHERE A" + " UNLESS A" * 5_000,
        "SELECT * WHERE A FILTER A[" + "NOT " * 5_000 + "v = 1]",
        "SELECT * WHERE A FILTER A[v = " + "- " * 5_000 + "w]",
        "SELECT * WHERE A FILTER A[v = " + "1 + " * 5_000 + "w]",
    ],
)
def test_deep_nesting_is_an_error_not_a_crash(text: str) -> None:
    assert codes(text)[0] in ("CER001", "CER006")


def test_a_query_at_the_depth_limit_is_usable() -> None:
    inner = (MAX_DEPTH - 5) // 2
    text = "SELECT * WHERE " + "(A ; " * inner + "A" + ")" * inner
    query = parse(text)
    assert query == parse(text)
    assert hash(query) == hash(parse(text))
    assert repr(query)
    assert parse(to_text(query)) == query
    assert Query(text).count(pa.table({"type": ["A"] * (inner + 2)})) == inner + 2


def test_a_long_set_is_no_nesting() -> None:
    parsed = predicate("v IN {" + ", ".join(map(str, range(2_000))) + "}")
    assert isinstance(parsed, t.InSet)
    assert len(parsed.members) == 2_000


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE A WITHIN -9223372036854775808 EVENTS",
        "SELECT * WHERE A WITHIN - 9223372036854775808 s",
        "SELECT * WHERE A ;[> -9223372036854775808 s, <= 9223372036854775807 ms] A",
    ],
)
def test_a_window_of_the_least_integer_is_read_back(text: str) -> None:
    """That no window is negative is found by the check, which names the place; what it has may be printed."""
    assert parse(to_text(parse(text))) == parse(text)

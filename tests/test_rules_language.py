"""Rules as text: what is parsed and printed (section 7 of the language)."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from language_trees import RULES

from cer_gpu.errors import QueryError, Span
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

X, Y, A, B = t.RuleVariable("x"), t.RuleVariable("y"), t.RuleVariable("a"), t.RuleVariable("b")


def rule(text: str) -> t.Rule:
    parsed = parse(text)
    assert isinstance(parsed, t.Rule)
    return parsed


def atom(name: str, *terms: t.Term, names: tuple[str, ...] | None = None) -> t.RuleAtom:
    return t.RuleAtom(t.EventType(name), terms, names)


def compared(op: str, left: str, right: str | int) -> t.Comparison:
    other = t.Attribute(right) if isinstance(right, str) else t.Number(right)
    return t.Comparison(op, t.Attribute(left), other)


# ------------------------------------------------------------------------------------- parsing


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (
            "Q(x, y)  <- T(x), S(x, y), R(x, y)   -- equality joins",
            t.Rule("Q", (X, Y), (atom("T", X), atom("S", X, Y), atom("R", X, Y))),
        ),
        (
            "Q(a) <- R(a, b), a < b, T(a), b <> 3",
            t.Rule(
                "Q",
                (A,),
                (atom("R", A, B), atom("T", A)),
                (compared("<", "a", "b"), compared("!=", "b", 3)),
            ),
        ),
        (
            "Q(x; count(*), SUM(v * 2)) <- T(x), S(x, v)",
            t.Rule(
                "Q",
                (X,),
                (atom("T", X), atom("S", X, t.RuleVariable("v"))),
                aggregates=(
                    t.Aggregate("COUNT", None),
                    t.Aggregate("SUM", t.Arithmetic("*", t.Attribute("v"), t.Number(2))),
                ),
            ),
        ),
        (
            "Q(x) <- R(x, y), S(x) within 1 minute 30 seconds",
            t.Rule("Q", (X,), (atom("R", X, Y), atom("S", X)), window=t.Window(90, "time", "s")),
        ),
        (
            "Q() <- R(2, -3.5, 'it''s', true)",
            t.Rule("Q", (), (atom("R", t.Number(2), t.Number(-3.5), t.Text("it's"), t.Boolean(True)),)),
        ),
        (
            "Q(x, x) <- R(a = x, `the b`==x)",
            t.Rule("Q", (X, X), (atom("R", X, X, names=("a", "the b")),)),
        ),
        (
            "`from`(`a``b`) <- `two words`(`a``b`)",
            t.Rule("from", (t.RuleVariable("a`b"),), (atom("two words", t.RuleVariable("a`b")),)),
        ),
        (
            "max(last) <- by(last), x > last, T(x) WITHIN 3 [x]",
            t.Rule(
                "max",
                (t.RuleVariable("last"),),
                (atom("by", t.RuleVariable("last")), atom("T", X)),
                (compared(">", "x", "last"),),
                window=t.Window(3, "attribute", attribute="x"),
            ),
        ),
        ("Q() <- T()", t.Rule("Q", (), (atom("T", names=()),))),
        (
            "Q(; COUNT(*)) <- S > T(x)",
            t.Rule(
                "Q", (), (t.RuleAtom(t.EventType("T", "S"), (X,)),), aggregates=(t.Aggregate("COUNT", None),)
            ),
        ),
    ],
)
def test_what_a_rule_is_parsed_to(text: str, tree: t.Rule) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize("text", ["Q(a)<-T(a),a<-3", "Q(a) <- T(a), a <-3", "Q(a) <-T(a),a <- 3"])
def test_the_arrow_and_a_negative_number(text: str) -> None:
    assert rule(text) == t.Rule("Q", (A,), (atom("T", A),), (compared("<", "a", -3),))


@pytest.mark.parametrize(
    ("text", "comparison"),
    [
        ("a > b", compared(">", "a", "b")),
        ("a>b", compared(">", "a", "b")),
        ("a > (b)", compared(">", "a", "b")),
        ("(a) > b", compared(">", "a", "b")),
    ],
)
def test_a_comparison_is_no_stream(text: str, comparison: t.Comparison) -> None:
    assert rule(f"Q() <- R(a, b), {text}").comparisons == (comparison,)


def said(text: str, place: Span | None) -> str:
    assert place is not None
    return text[place.start : place.end]


def _nodes(node: Any) -> list[Any]:
    if isinstance(node, tuple):
        return [inner for part in node for inner in _nodes(part)]
    if not is_dataclass(node) or isinstance(node, Span):
        return []
    return [node, *(inner for entry in fields(node) for inner in _nodes(getattr(node, entry.name)))]


def test_every_node_of_a_rule_has_its_place() -> None:
    text = "Q(x; SUM(v + 1)) <- one>S(x, 'a'), R(id = x, `na``me` = -3), v > - x * 2 WITHIN 5 s 3 ms"
    parsed = rule(text)
    nodes = _nodes(parsed)
    assert all(node.span is not None for node in nodes)

    assert said(text, parsed.span) == text
    assert [said(text, one.span) for one in parsed.head] == ["x"]
    assert [said(text, one.span) for one in parsed.aggregates] == ["SUM(v + 1)"]
    assert [said(text, one.span) for one in parsed.atoms] == ["one>S(x, 'a')", "R(id = x, `na``me` = -3)"]
    assert [said(text, one.type.span) for one in parsed.atoms] == ["one>S", "R"]
    assert [said(text, term.span) for one in parsed.atoms for term in one.terms] == ["x", "'a'", "x", "-3"]
    assert [said(text, place) for place in parsed.atoms[1].places] == ["id", "`na``me`"]
    assert [said(text, one.span) for one in parsed.comparisons] == ["v > - x * 2"]
    assert parsed.window is not None
    assert said(text, parsed.window.span) == "5 s 3 ms"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q(x) <- ", ["CER001"]),
        ("Q(x) = T(x)", ["CER001"]),
        ("Q(x) < - T(x)", ["CER001"]),
        ("Q <- T(x)", ["CER001"]),
        ("Q(x) <- T(x) S(x)", ["CER001"]),
        ("Q(x) <- T(x),", ["CER001"]),
        ("Q(x) <- T(x) LIMIT 3", ["CER001"]),
        ("Q(x) <- T(x) PARTITION BY x", ["CER001"]),
        ("Q(x) <- T(x) WITHIN [<= 5 s]", ["CER001"]),
        ("Q(x) <- T(x + 1)", ["CER001"]),
        ("Q(x) <- T(x) & S(x)", ["CER002"]),
        ("Q(x) <- T('x)", ["CER003"]),
        ("Q(x) <- T(x", ["CER004"]),
        ("Q(x) <- T(18446744073709551616)", ["CER005"]),
        ("Q(x) <- T(x), x > 18446744073709551616", ["CER005"]),
        ("Q(x) <- T(x), x > " + "(" * 200 + "1" + ")" * 200, ["CER006"]),
        ("Q(x) <- `a>b`(x), T(x)", ["CER009"]),
        ("Q(x) <- T(x) WITHIN 5", ["CER016"]),
        ("Q(x) <- R(x, b = y)", ["CER046"]),
        ("Q(x) <- T(5 s)", ["CER047"]),
        ("Q(; MEDIAN(x), SUM(*), COUNT(x)) <- T(x)", ["CER048", "CER048", "CER048"]),
        ("Q(; SUM(y.x)) <- T(x), x.a > 3", ["CER051", "CER051"]),
        ("Q(x) <- x > 3", ["CER052"]),
        ("Q(x) <- T(x), 1 < 2", ["CER053"]),
    ],
)
def test_what_is_no_rule(text: str, expected: list[str]) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert [one.code for one in caught.value.diagnostics] == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Q(x) := T(x)", "write `<-` between"),
        ("Q(x) -> T(x)", "write `<-` between"),
        ("Q(x) ← T(x)", "write `<-` between"),
        ("T(x), S(x)", "a rule looks like"),
        ("Q(*) <- T(x)", "the head lists variables"),
        ("Q(3) <- T(x)", "the head lists variables"),
        ("Q(x, COUNT(*)) <- T(x)", "after the variables and a `;`"),
        ("Q(x) <- , T(x)", "at least one event type"),
        ("Q(x) <- T(x), WITHIN 5 s", "does not end with `,`"),
        ("Q(x) <- T(x).", "does not end with `.`"),
        ("Q(x) <- T(x);", "does not end with `;`"),
        ("Q(x) <- T(x) ; S(x)", "write `,` between the parts of a body"),
        ("Q(x) <- T(x) AND S(x)", "write `,` between the parts of a body"),
        ("Q(x) <- T(x) & S(x)", "write `,` between the parts of a body"),
        ("Q(x) <- T(x) OR S(x)", "a rule for each case"),
        ("Q(x) <- T(x), NOT S(x)", "no negation"),
        ("Q(x) <- T(x), !S(x)", "no negation"),
        ("Q(x) <- T(x), S", "an event type has parentheses"),
        ("Q(x) <- T(x, S(x)", "close the parentheses first"),
        ("Q(x) <- T(x ; y)", "write `,` between the terms"),
        ("Q(x) <- T(x > 3)", "a condition after the event type"),
        ("Q(x) <- T(x) FILTER x > 3", "a condition after the event type"),
        ("Q(x) <- T(*)", "`T()`"),
        ("Q(x) <- T(NULL)", "a null equals nothing"),
        ("Q(x) <- T(x) AS t", "a part of a rule has no name"),
        ("Q(x) <- T(x), 1 < x < 5", "one comparison after another"),
        ("Q(x) <- T(x), x IN {1}", "can compare only with"),
        ("Q(x) <- T(x) CONSUME BY ANY", "no CONSUME BY"),
        ("Q(x) <- T(x) WITHIN 5 s, S(x)", "after the whole body"),
        ("Q(x) <- T(from)", "back-ticks"),
    ],
)
def test_what_was_probably_meant(text: str, hint: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert hint in str(caught.value)


# ------------------------------------------------------------------------------------ printing


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(RULES)
def test_a_rule_is_read_back_as_it_was_written(node: t.Rule) -> None:
    text = to_text(node)
    assert parse(text) == node
    assert to_text(rule(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("Q(x)<-T(x),x<-3,S(x)", "Q(x) <- T(x), S(x), x < -3"),
        ("Q(;count( * ), Max(`v`)) <- T(v = v)", "Q(; COUNT(*), MAX(v)) <- T(v = v)"),
        ("q() <- T() within 1 hour", "q() <- T() WITHIN 1 HOURS"),
        ("Q(`last`) <- S > `T`(last)", "Q(`last`) <- S>T(`last`)"),
        ("Q(x) <- T(x) /* why */ WITHIN 3 [ts] -- so", "Q(x) <- T(x) WITHIN 3 [ts]"),
    ],
)
def test_the_canonical_text(text: str, canonical: str) -> None:
    assert to_text(rule(text)) == canonical

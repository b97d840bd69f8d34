"""What the check finds in rules, how their terms get names, and which rules are evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from case_files import RULES as FAMILIES
from case_files import cases
from test_rules_language import rule, said

from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.language import tree as t
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import Schema, ValueType

KINDS = {
    "int64": ValueType.INT64,
    "float64": ValueType.FLOAT64,
    "string": ValueType.STRING,
    "timestamp[ms]": ValueType.TIMESTAMP,
}
SCHEMA = Schema(
    {
        "id": ValueType.INT64,
        "name": ValueType.STRING,
        "price": ValueType.FLOAT64,
        "open": ValueType.BOOL,
        "at": ValueType.TIMESTAMP,
        "lap": ValueType.DURATION,
        "ts": ValueType.TIMESTAMP,
    },
    {
        "T": frozenset({"id", "ts"}),
        "S": frozenset({"id", "price", "ts"}),
        "R": frozenset({"id", "name", "open", "at", "lap", "ts"}),
    },
    streams=frozenset({"one"}),
    order="ts",
    units={"at": "ms", "ts": "ms", "lap": "ms"},
    unsupported={"tags": "list<item: string>"},
    ordered={
        "T": ("id",),
        "S": ("id", "tags", "price"),
        "R": ("id", "name", "open", "at", "lap"),
    },
)


# ------------------------------------------------------------------------------------ checking


def found(text: str, schema: Schema | None = SCHEMA) -> list[tuple[str, str]]:
    return [(one.code, said(text, one.span)) for one in check(parse(text), schema)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q(x, x) <- T(x), S(x, y, z), R(id = x)", []),
        ("Q() <- T(3), R(2, 'a', TRUE, '2024-01-31', z), T()", []),
        ("Q(x) <- one>T(x), S(id = x, price = p), p > x, p != 2 WITHIN 5 s", []),
        ("Q(x) <- T(x) WITHIN 3 [id]", []),
        # Names
        ("Q(x, zz) <- T(x)", [("CER022", "zz")]),
        ("Q(; SUM(w)) <- T(x), x > v + u", [("CER022", "w"), ("CER022", "v"), ("CER022", "u")]),
        ("Q(x) <- TT(x), U(x, y, z)", [("CER020", "TT"), ("CER020", "U")]),
        ("Q(x) <- T(idd = x), S(name = x)", [("CER021", "idd"), ("CER021", "name")]),
        ("Q(x) <- two>T(x)", [("CER023", "two>T")]),
        ("Q(x) <- S(id = x, id = y)", [("CER025", "id")]),
        ("Q(x) <- T(x), S(x, y, p), S(y, z, p)", [("CER024", "y")]),
        ("Q(x) <- S(x, 'a', p)", [("CER024", "'a'")]),
        ("Q(x) <- S(x, y, p), y > 3", [("CER024", "y")]),
        ("Q(x; MAX(y)) <- S(x, y, p)", [("CER024", "y")]),
        # Numbers of terms
        ("Q(x) <- T(x, y)", [("CER049", "T(x, y)")]),
        ("Q(x) <- R(x, y), one>S(x)", [("CER049", "R(x, y)"), ("CER049", "one>S(x)")]),
        # Types
        ("Q(x) <- T(x), S(id = y, price = x), S(price = x)", []),  # numbers are equal by value
        ("Q(x) <- T(x), S(id = y, price = x), R(name = x)", [("CER050", "x")]),
        ("Q(x) <- R(id = x, name = x)", [("CER050", "x")]),
        ("Q() <- T('a'), S(price = 'b'), R(name = 3)", [("CER031", one) for one in ("'a'", "'b'", "3")]),
        ("Q() <- R(open = 1, at = 'noon')", [("CER031", "1"), ("CER035", "'noon'")]),
        ("Q(x) <- R(open = x), R(name = n), x > TRUE, n < 3", [("CER031", "x > TRUE"), ("CER031", "n < 3")]),
        ("Q() <- R(name = n, lap = d, at = a), n + 1 > 2", [("CER030", "n + 1")]),
        ("Q() <- R(lap = d, at = a), d > 5 s, a + d > a, d > 5", [("CER031", "d > 5")]),
        ("Q(; SUM(n), AVG(o), MIN(o), MAX(n), SUM(d), AVG(x)) <- R(x, n, o, a, d)",
         [("CER030", "SUM(n)"), ("CER030", "AVG(o)"), ("CER031", "MIN(o)")]),
        # Windows
        ("Q(x) <- T(x) WITHIN -5 s", [("CER041", "-5 s")]),
        ("Q(x) <- T(x) WITHIN 5 [idd]", [("CER021", "idd")]),
        ("Q(x) <- T(x) WITHIN 5 [name]", [("CER043", "name")]),
        # Notes
        ("Q(x) <- S(x, _, p), T(x)", []),
        ("Q() <- R(_, _, o, a, d)", [("CER050", "_"), ("CER108", "_")]),
    ],
)  # fmt: skip
def test_what_the_check_finds(text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(found(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Q(x) <- T(x), T(x, y), S(x, 'a', 3, TRUE), S(id = x), x > 'a'", [("CER049", "T(x, y)")]),
        ("Q(z) <- T(x), x + 'a' > 3", [("CER022", "z"), ("CER030", "x + 'a'")]),
        ("Q(x) <- T(x) WITHIN -5 EVENTS", [("CER041", "-5 EVENTS")]),
    ],
)
def test_what_is_found_without_a_schema(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text, None) == expected


def test_a_window_over_time_needs_an_order() -> None:
    unordered = replace(SCHEMA, order=None)
    assert found("Q(x) <- T(x) WITHIN 5 s", unordered) == [("CER044", "5 s")]
    plain = replace(SCHEMA, order="id")
    assert found("Q(x) <- T(x) WITHIN 5 s", plain) == [("CER045", "5 s")]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("Q(x) <- S(x)", "`S` has 3 attributes (id, tags, price), and there is 1 term here", "`S(id = x)`"),
        ("Q(x) <- S(2, x)", "there are 2 terms here", "`S(id = 2, tags = x)`"),
        (
            "Q(x) <- T(x, y)",
            "`T` has 1 attribute (id), and there are 2 terms here",
            "leave out the columns of the event type",
        ),
        ("Q(x) <- T(x), R(name = x)", "an int64 in `T(id)` and a string in `R(name)`", "cast"),
        (
            "Q(Price) <- T(price)",
            "the variable `Price` is in no part of the rule's body",
            "did you mean `price`?",
        ),
    ],
)
def test_what_the_check_says(text: str, message: str, hint: str) -> None:
    (one,) = check(parse(text), SCHEMA)
    assert message in one.message
    assert hint in " ".join(one.hints)


# ----------------------------------------------------------------------------------- resolving


def schema_of(case: dict[str, Any]) -> Schema:
    columns = {
        name: {column: KINDS[kind] for column, kind in kinds.items()} for name, kinds in case["types"].items()
    }
    return Schema(
        {column: kind for own in columns.values() for column, kind in own.items()},
        {name: frozenset(own) for name, own in columns.items()},
        order=case["order_by"],
        order_unit="ms",
        ordered={
            name: tuple(column for column in own if column != case["order_by"])
            for name, own in columns.items()
        },
    )


def terms_of(one: t.RuleAtom) -> dict[str, t.Term]:
    assert one.names is not None
    return dict(zip(one.names, one.terms, strict=True))


def test_the_rules_of_the_case_files() -> None:
    seen = 0
    for case in cases(*FAMILIES):
        schema = schema_of(case)
        resolved = []
        for form in ("query", "query_by_position"):
            parsed = rule(case[form])
            assert repr(rule(to_text(parsed))) == repr(parsed), case["id"]
            assert check(parsed, schema) == (), case["id"]
            resolved.append(resolve(parsed, schema))
        # By name, attributes that do not matter are left out.
        by_name, by_position = resolved
        assert replace(by_position, atoms=by_name.atoms) == by_name, case["id"]
        for left, right in zip(by_name.atoms, by_position.atoms, strict=True):
            assert left.type == right.type
            assert terms_of(left).items() <= terms_of(right).items()
        seen += 1
    assert seen == 64


def test_resolving_keeps_all_but_the_names() -> None:
    parsed = rule("Q(x) <- T(x), S(x, y, 3), S(price = p), p > 2 WITHIN 5 s")
    resolved = resolve(parsed, SCHEMA)
    assert [one.names for one in resolved.atoms] == [("id",), ("id", "tags", "price"), ("price",)]
    assert [one.span for one in resolved.atoms] == [one.span for one in parsed.atoms]
    assert replace(resolved, atoms=parsed.atoms) == parsed
    assert resolve(resolved, SCHEMA) == resolved


def test_resolving_without_a_schema_makes_names_up() -> None:
    resolved = resolve(rule("Q(x) <- T(x), S(x, y), S(price = p), R()"), None)
    assert [one.names for one in resolved.atoms] == [("$1",), ("$1", "$2"), ("price",), ()]


def test_a_rule_that_does_not_fit_the_schema_is_not_resolved() -> None:
    with pytest.raises(ValueError, match="2 terms for the attributes"):
        resolve(rule("Q(x) <- T(x, y)"), SCHEMA)


# ------------------------------------------------------------------------- the order of columns


def test_the_columns_of_a_table_with_a_type_column() -> None:
    table = pa.table(
        {
            "b": pa.array([1]),
            "kind": ["T"],
            "d": pa.array([[1]]),
            "tie": pa.array([1]),
            "place": ["one"],
            "ts": pa.array([1]),
            "a": ["x"],
        }
    )
    source = open_source(table, order_by=("ts", "tie"), type_column="kind", stream_column="place")
    schema = source.language_schema()
    assert schema.attributes_in_order("T") == ("b", "d", "a")
    assert found("Q(x) <- T(x, y, 'a'), one>U(x, z, 'b')", schema) == []
    assert found("Q(x) <- T(x, x, z)", schema) == [("CER024", "x")]
    assert found("Q(x) <- T(x, y)", schema) == [("CER049", "T(x, y)")]


def test_the_columns_of_a_dict_of_tables() -> None:
    tables = {
        "T": pa.table({"b": [1], "a": [1], "ts": [1]}),
        "S": pa.table({"a": ["x"], "ts": [1], "c": [1.5], "b": [2]}),
    }
    schema = open_source(tables, order_by=("ts",)).language_schema()
    assert schema.attributes_in_order("T") == ("b", "a")
    # The tables disagree on `a`: its place stays, and nothing can be asked of it.
    assert schema.attributes_in_order("S") == ("a", "c", "b")
    assert schema.types == {"T": frozenset({"b", "ts"}), "S": frozenset({"c", "b", "ts"})}
    assert found("Q(x) <- T(x, y), S(z, 1.5, x)", schema) == []
    assert found("Q(x) <- T(x, y), S(y, 1.5, x)", schema) == [("CER024", "y"), ("CER024", "y")]


def test_the_order_of_a_schema_that_lists_none() -> None:
    schema = replace(SCHEMA, ordered={})
    assert schema.attributes_in_order("S") == ("id", "price")
    assert schema.attributes_in_order("R") == ("id", "name", "open", "at", "lap")

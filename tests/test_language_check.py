"""What `check` finds, with and without a schema (section 5 of the language)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from case_files import cases

from cer_gpu.language import tree as t
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse
from cer_gpu.language.schema import Schema, ValueType

_KINDS = {
    "int64": ValueType.INT64,
    "float64": ValueType.FLOAT64,
    "string": ValueType.STRING,
    "timestamp[ms]": ValueType.TIMESTAMP,
}

COMMON = {"name", "price", "volume", "on", "ts", "lap"}
SCHEMA = Schema(
    {
        "name": ValueType.STRING,
        "price": ValueType.FLOAT64,
        "volume": ValueType.INT64,
        "on": ValueType.BOOL,
        "ts": ValueType.TIMESTAMP,
        "lap": ValueType.DURATION,
        "bid": ValueType.FLOAT64,
        "n": ValueType.INT64,
    },
    {"Sell": frozenset(COMMON), "Buy": frozenset(COMMON), "Quote": frozenset({*COMMON, "bid", "n"})},
    streams=frozenset({"S", "R"}),
    order="ts",
    units={"ts": "ms", "lap": "ms"},
    unsupported={"tags": "list<item: string>"},
)


def found(text: str, schema: Schema | None) -> list[tuple[str, str]]:
    """Codes with the text that each points at; of notes and errors alike."""
    places = []
    for diagnostic in check(parse(text), schema):
        span = diagnostic.span
        places.append((diagnostic.code, "" if span is None else text[span.start : span.end]))
    return places


def where(pattern: str) -> str:
    return f"SELECT * WHERE {pattern}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Names
        (where("Sel ; Buy"), [("CER020", "Sel")]),
        (where("S>Sel"), [("CER020", "Sel")]),
        (where("NOT (Sel) ; Buy"), [("CER020", "Sel")]),
        (where("Sell FILTER Sell[pricee > 100]"), [("CER021", "pricee")]),
        (where("Sell AS s FILTER 5 < s.pricee"), [("CER021", "pricee")]),
        (where("Sell AS s ; Buy AS b FILTER s.pricee < b.price"), [("CER021", "pricee")]),
        (where("(Sell OR Buy) AS x FILTER x[bid > 1]"), [("CER021", "bid")]),
        (where("(Sell OR Quote) AS x FILTER x[bid > 1]"), [("CER104", "bid")]),
        (where("NOT (Sell FILTER Sell[bid > 1]) ; Buy"), [("CER021", "bid")]),
        (where("Sell FILTER Sell[tags = 'a']"), [("CER024", "tags")]),
        (where("Sell FILTER s[price > 1]"), [("CER022", "s")]),
        (where("Sell FILTER 1 < s.price"), [("CER022", "s")]),
        (where("Sell FILTER Sell.price > s.price"), [("CER022", "s")]),
        (where("Sell AS s ; (Buy AS b FILTER b.price > s.price)+"), []),
        (where("(Sell AS s FILTER s.price < b.price)+ ; Buy AS b"), []),
        (where("Sell UNLESS (Buy AS b FILTER b.price > Sell.price)"), []),
        (where("(Sell UNLESS Buy AS b) FILTER b[price > 1]"), [("CER022", "b")]),
        (where("(Sell FILTER b[price > 1]) UNLESS Buy AS b"), [("CER022", "b")]),
        (where("NOT (Sell) ; Buy FILTER Sell[price > 1]"), [("CER022", "Sell")]),
        (where("Buy AS b ; NOT (Sell FILTER Sell.price > b.price)"), []),
        (where("Buy ; NOT (Sell FILTER b.price > Sell.price)"), [("CER022", "b")]),
        (where("PROJECT(Sell AS s ; Buy | s) FILTER Buy[price > 1]"), [("CER103", "Buy")]),
        (where("PROJECT((Sell AS s ; Buy FILTER Buy[price > 1]) | s)"), []),
        (where("PROJECT(Sell AS s | s, t, s)"), [("CER022", "t"), ("CER025", "s")]),
        ("SELECT s WHERE Sell", [("CER022", "s")]),
        ("SELECT Buy WHERE PROJECT(Sell ; Buy | Sell)", [("CER103", "Buy")]),
        ("SELECT Sell[price, bid] WHERE Sell", [("CER021", "bid")]),
        ("SELECT Sell, Sell[price] WHERE Sell", [("CER025", "Sell[price]")]),
        ("SELECT Sell[price, price] WHERE Sell", [("CER025", "price")]),
        ("SELECT * FROM S, T WHERE Sell", [("CER023", "T")]),
        ("SELECT * FROM S WHERE R>Sell", [("CER023", "R>Sell")]),
        ("SELECT * FROM S WHERE S>Sell FILTER S>Sell[price > 1]", []),
        # Types
        (where("Sell FILTER Sell[name + 1 > 2]"), [("CER030", "name + 1")]),
        (where("Sell FILTER Sell[-on = 2]"), [("CER030", "-on")]),
        (where("Sell FILTER Sell[ts + 5 > ts]"), [("CER030", "ts + 5")]),
        (where("Sell FILTER Sell[ts * 2 > ts]"), [("CER030", "ts * 2")]),
        (where("Sell FILTER Sell[ts + ts > ts]"), [("CER030", "ts + ts")]),
        (where("Sell FILTER Sell[price + lap > 1]"), [("CER030", "price + lap")]),
        (where("Sell FILTER Sell[name = 5]"), [("CER031", "name = 5")]),
        (where("Sell FILTER Sell[price < '5']"), [("CER031", "price < '5'")]),
        (where("Sell FILTER Sell[price < 5 s]"), [("CER031", "price < 5 s")]),
        (where("Sell FILTER Sell[lap < 5]"), [("CER031", "lap < 5")]),
        (where("Sell FILTER Sell[ts > 5]"), [("CER031", "ts > 5")]),
        (where("Sell FILTER Sell[on = 'TRUE']"), [("CER031", "on = 'TRUE'")]),
        (where("Sell FILTER Sell[on < TRUE]"), [("CER031", "on < TRUE")]),
        (where("Sell FILTER Sell[volume IN {1, 'x', 2.5}]"), [("CER031", "'x'")]),
        (where("Sell FILTER Sell[name IN {1..5}]"), [("CER031", "1"), ("CER031", "5")]),
        (where("Sell FILTER Sell[name IN RANGE (price, 'z')]"), [("CER031", "price")]),
        (where("Sell ; Buy FILTER Sell.name = Buy.price"), [("CER032", "Sell.name = Buy.price")]),
        (where("Sell ; Buy FILTER Sell.volume = Buy.price"), []),
        (where("Sell FILTER Sell[price LIKE '5']"), [("CER033", "price")]),
        (where("Sell FILTER Sell[name LIKE 'a(b' AND price > 0]"), [("CER034", "'a(b'")]),
        (where("Sell FILTER Sell[ts > '2024-13-01']"), [("CER035", "'2024-13-01'")]),
        (where("Sell FILTER Sell['noon' <= ts]"), [("CER035", "'noon'")]),
        (where("Sell FILTER Sell[ts IN RANGE ('2024-01-01', 'x')]"), [("CER035", "'x'")]),
        (where("Sell FILTER Sell[ts > '2024-02-29T12:00:00.123456789+02:00']"), []),
        (where("Sell FILTER Sell[lap < 5 s AND lap IN {1 s..2 h} AND -lap < 1 d]"), []),
        (where("Sell ; Buy FILTER Buy.ts < Sell.ts + 1 h AND Buy.lap > Sell.lap"), []),
        (where("Sell FILTER Sell[ts - '2024-01-01' < 5 s]"), [("CER030", "ts - '2024-01-01'")]),
        (where("Sell FILTER Sell[ts - ts < lap + 5 s]"), []),
        (where("Sell FILTER Sell[ts IS NULL OR name IN {'a', 'b'} OR on = TRUE]"), []),
        (where("Sell FILTER Sell[volume IN {5..1}]"), [("CER106", "volume IN {5..1}")]),
        # Windows, partitions, limits, intervals
        ("SELECT * WHERE Sell WITHIN 5 MINUTES", []),
        ("SELECT * WHERE Sell WITHIN 5 [ts]", []),
        ("SELECT * WHERE Sell WITHIN 5 [name]", [("CER043", "name")]),
        ("SELECT * WHERE Sell WITHIN 5 [nme]", [("CER021", "nme")]),
        ("SELECT * WHERE Sell WITHIN -5 EVENTS", [("CER041", "-5 EVENTS")]),
        ("SELECT * WHERE Sell WITHIN 0 EVENTS LIMIT 0", []),
        ("SELECT * WHERE Sell LIMIT -1", [("CER041", "-1")]),
        ("SELECT * WHERE Sell PARTITION BY [name], [pricee]", [("CER021", "pricee")]),
        ("SELECT * WHERE Sell PARTITION BY [name, price]", [("CER036", "price")]),
        ("SELECT * WHERE Sell ; Quote PARTITION BY n", [("CER105", "n")]),
        ("SELECT * WHERE Sell ; Quote PARTITION BY [n, volume]", []),
        (where("Sell ;[> 5 s, < 5 s] Buy"), [("CER040", "[> 5 s, < 5 s]")]),
        (where("Sell ;[1 min, 5 s] Buy"), [("CER040", "[1 min, 5 s]")]),
        (where("Sell+[< 0 s]"), [("CER040", "[< 0 s]")]),
        (where("Sell :[= 0 s] Buy"), []),
        (where("(Sell) WITHIN [<= -5 s]"), [("CER041", "-5 s")]),
        (where("Sell ;[2, 5 s] Buy"), [("CER042", "[2, 5 s]"), ("CER042", "2")]),
        (where("Sell ;[<= 5] Buy"), [("CER042", "5")]),
        # Notes
        (where("Sell AS x ; Buy AS x"), [("CER101", "x")]),
        (where("Sell AS x ALL Buy AS x"), [("CER101", "x")]),
        (where("Sell AS x AND Sell AS x"), [("CER101", "x")]),
        (where("Sell AS x OR Buy AS x"), []),
        (where("Sell AS x UNLESS Buy AS x"), []),
        (where("Sell ; Sell"), []),
        (where("NOT (Sell) AS x ; Buy"), [("CER102", "x")]),
        (where("PROJECT(Sell AS x ; Buy | Buy) AS y"), []),
    ],
)
def test_findings_with_a_schema(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text, SCHEMA) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (where("Sel FILTER Sel[anything > 1 AND anything LIKE 'x']"), []),
        ("SELECT * WHERE Sell WITHIN 5 MINUTES", []),
        ("SELECT * WHERE Sell PARTITION BY a WITHIN 5 [b]", []),
        (where("A ;[<= 5 s] B"), []),
        (where("A FILTER x[a = 1]"), [("CER022", "x")]),
        (where("A FILTER A['x' + 1 > a]"), [("CER030", "'x' + 1")]),
        (where("A FILTER A[a IN {1, 'x'}]"), [("CER031", "'x'")]),
        (where("A FILTER A[a LIKE '[']"), [("CER034", "'['")]),
        (where("A ;[5 s, 1 s] B"), [("CER040", "[5 s, 1 s]")]),
        (where("A ;[-1, 5] B"), [("CER041", "-1")]),
        ("SELECT * WHERE A LIMIT -1", [("CER041", "-1")]),
        ("SELECT y WHERE A AS x", [("CER022", "y")]),
        (where("A AS x : B AS x"), [("CER101", "x")]),
    ],
)
def test_findings_without_a_schema(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text, None) == expected


def test_time_needs_an_order_attribute() -> None:
    bare = replace(SCHEMA, order=None)
    assert found("SELECT * WHERE Sell WITHIN 5 MINUTES", bare) == [("CER044", "5 MINUTES")]
    assert found(where("Sell ;[<= 5 s] Buy"), bare) == [("CER044", "[<= 5 s]")]
    assert found("SELECT * WHERE Sell WITHIN 5 [volume]", bare) == []
    assert found("SELECT * WHERE Sell WITHIN 5 EVENTS", bare) == []


def test_a_unit_needs_the_unit_of_a_plain_number() -> None:
    plain = replace(SCHEMA, order="volume")
    assert found("SELECT * WHERE Sell WITHIN 5 MINUTES", plain) == [("CER045", "5 MINUTES")]
    assert found(where("Sell ;[<= 5 s] Buy"), plain) == [("CER045", "5 s")]
    assert found(where("Sell ;[<= 5] Buy"), plain) == []
    known = replace(plain, order_unit="ms")
    assert found("SELECT * WHERE Sell WITHIN 5 MINUTES", known) == []
    assert found(where("Sell ;[<= 5 s] Buy+[<= 5]"), known) == []


def test_types_that_are_not_read_yet_have_all_attributes() -> None:
    unread = replace(SCHEMA, types=None)
    assert found(where("Anything FILTER Anything[bid > 1]"), unread) == []
    assert found(where("Anything FILTER Anything[bit > 1]"), unread) == [("CER021", "bit")]


def test_an_unknown_type_says_nothing_about_its_attributes() -> None:
    assert found(where("Sel AS x FILTER x[whatever > 1]"), SCHEMA) == [("CER020", "Sel")]


def test_everything_is_found_at_once_in_the_order_of_the_text() -> None:
    text = (
        "SELECT z, Sell[pricee] WHERE (Sel ; Sell AS s ;[5 s, 1 s] Buy FILTER s[name > 5] AND t[price > 1])"
        " PARTITION BY nam WITHIN -5 MINUTES LIMIT -1"
    )
    codes = [diagnostic.code for diagnostic in check(parse(text), SCHEMA)]
    assert codes == ["CER022", "CER021", "CER020", "CER040", "CER031", "CER022", "CER021", "CER041", "CER041"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (where("Sell FILTER Sell[pricee > 1]"), "did you mean `price`? `Sell` has lap, name, on"),
        (where("Sell FILTER Sell[Price > 1]"), "did you mean `price`?"),
        (where("sell"), "did you mean `Sell`? the types are Buy, Quote, Sell"),
        (where("Sell AS s FILTER S[price > 1]"), "did you mean `s`? the variables are s, Sell"),
        (where("NOT (Sell) ; Buy FILTER Sell[price > 1]"), "write its condition inside"),
        (where("Sell UNLESS Buy FILTER Buy[price > 1]"), "`UNLESS (Buy FILTER Buy[price > 1])`"),
        (where("Sell FILTER Sell[name = 5]"), "quote it: `'5'`"),
        (where("Sell FILTER Sell[price > '5']"), "leave the quotes out: `5`"),
        (where("Sell FILTER Sell[price > 5 s]"), "leave the unit out"),
        (where("Sell FILTER Sell[ts > 5]"), "written as text"),
        (where("Sell FILTER Sell[lap > 5]"), "write the unit: `5 s`"),
        (where("Sell FILTER Sell[on = 'yes']"), "`TRUE` or `FALSE`"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    (diagnostic,) = check(parse(text), SCHEMA)
    assert any(hint in one for one in diagnostic.hints), diagnostic


def test_a_tree_that_was_not_parsed_is_checked_too() -> None:
    query = t.SelectQuery(
        t.Filter(t.As(t.EventType("Sel"), "x"), t.Every("y", t.Like(t.Attribute("name"), "["))),
        select=(t.SelectItem("x", ("a", "a")), t.SelectItem("x")),
        streams=("T",),
        partition=(("zzz", "name"), ("name", "price")),
        limit=-1,
    )
    diagnostics = check(query, SCHEMA)
    assert {diagnostic.code for diagnostic in diagnostics} == {
        "CER020", "CER021", "CER022", "CER023", "CER025", "CER034", "CER036", "CER041"
    }  # fmt: skip
    assert all(diagnostic.span is None for diagnostic in diagnostics)


def test_the_queries_of_the_case_files_have_no_errors() -> None:
    for case in cases():
        schema = Schema(
            {name: _KINDS[kind] for kinds in case["types"].values() for name, kind in kinds.items()},
            {name: frozenset(kinds) for name, kinds in case["types"].items()},
            order=case["order_by"],
        )
        query = parse(case["query"])
        errors = [one for one in check(query, schema) if one.severity == "error"]
        assert errors == [], case["id"]
        assert [one for one in check(query) if one.severity == "error"] == []

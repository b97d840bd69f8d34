"""Decimals: conditions on them are exact, whatever they are compared with, and results return them."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.read.sources.decimals import common_decimal, from_scaled, scaled
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.reference.conditions import predicate_holds
from cer_gpu.reference.events import Event

KINDS = {
    "p": pa.decimal128(10, 2),
    "q": pa.decimal128(18, 4),
    "n": pa.decimal128(9, -2),
    "wide": pa.decimal128(38, 3),
    "huge": pa.decimal256(70, 20),
    "f": pa.float64(),
    "i": pa.int64(),
}
"""Attributes of the events."""

WIDE = ("wide", "huge")
"""Those of which few values fit 64 bits."""


def decimal_of(rng: Random, kind: pa.DataType) -> Decimal:
    """A decimal of a type: most of them small, some near the ends of 64 bits, some with all digits."""
    size = rng.choice((2, 3, 3, 4, kind.precision))
    far = 2**63 + rng.randint(-2, 2)
    value = min(rng.choice((rng.randrange(10**size), far, 1010, 1000)), 10**kind.precision - 1)
    return Decimal(rng.choice((1, -1)) * value).scaleb(-kind.scale)


def value_of(rng: Random, name: str) -> Any:
    if rng.random() < 0.1:
        return None
    if name == "f":
        return rng.choice((10.1, 10.0, 0.1, -3.25, 1e17, float("nan"), float("inf"), 1010.0, 10.25))
    if name == "i":
        return rng.choice((10, -3, 0, 1, 7, 1010, 2**53 + 1, -(2**63), 2**63 - 1))
    return decimal_of(rng, KINDS[name])


def events(rng: Random, n: int = 60) -> pa.Table:
    """Events of type A."""
    columns = {name: pa.array([value_of(rng, name) for _ in range(n)], kind) for name, kind in KINDS.items()}
    return pa.table({"type": pa.array(["A"] * n), **columns})


def reference_events(table: pa.Table) -> list[Event]:
    def exactly(value: Any) -> Any:
        return Fraction(value) if isinstance(value, Decimal) else value

    return [
        Event("A", {name: exactly(value) for name, value in row.items() if name != "type"})
        for row in table.to_pylist()
    ]


def literal(rng: Random) -> str:
    return rng.choice(
        ("10.1", "10", "-3.25", "0", "10.10", "1010", "1e3", "9223372036854775807", "0.005", "2.5")
    )


def condition(rng: Random) -> str:
    names = [*KINDS, "p", "q"]
    one, two = rng.choice(names), rng.choice(names)
    op = rng.choice(("=", "!=", "<", "<=", ">", ">="))
    some = ", ".join(literal(rng) for _ in range(3))
    return rng.choice(
        (
            f"{one} {op} {literal(rng)}",
            f"{one} {op} {two}",
            f"{literal(rng)} {op} {one}",
            f"{one} IN {{{some}}}",
            f"NOT {one} IN {{{rng.choice(('..5', '10.1..1010', '-3.25..'))}}}",
            f"{one} IN RANGE ({literal(rng)}, {two})",
            f"p {rng.choice('+-*')} {rng.choice(('p', 'q', '0.1', '3', 'n'))} {op} {two}",
            f"p % {rng.choice(('q', '0.3', '7', 'n'))} {op} {literal(rng)}",
            f"-p {op} {two}",
            f"{rng.choice(WIDE)} {rng.choice('+-*')} {rng.choice((*WIDE, 'p', '3', '0.1'))} {op} {two}",
            f"{rng.choice(WIDE)} % {rng.choice((*WIDE, 'q', '7'))} {op} {literal(rng)}",
            f"{rng.choice(('ABS', 'FLOOR', 'CEIL', 'ROUND'))}({rng.choice((*WIDE, 'n', 'q'))}) {op} {two}",
            f"ABS({rng.choice(WIDE)} * {rng.choice((*WIDE, 'p'))}) {op} {literal(rng)}",
            f"{rng.choice(('FLOOR', 'ROUND'))}({rng.choice(WIDE)}) IS NULL",
            f"COALESCE({rng.choice(WIDE)}, {rng.choice((*WIDE, 'n'))}) {op} {literal(rng)}",
            f"{one} IS NULL",
        )
    )


def positions(text: str, table: pa.Table) -> list[int]:
    query = cer.compile(f"SELECT * FROM S WHERE A AS a FILTER a[{text}]")
    return query.hits(table)["position"].to_pylist()


@pytest.mark.draws("seed", 300)
def test_conditions_agree_with_the_reference(seed: int) -> None:
    rng = Random(seed)
    text = condition(rng)
    table = events(rng)
    query = parse(f"SELECT * FROM S WHERE A AS a FILTER a[{text}]")
    assert isinstance(query, tree.SelectQuery)
    assert isinstance(query.pattern, tree.Filter)
    assert isinstance(query.pattern.condition, tree.Every)
    predicate = query.pattern.condition.predicate
    wanted = [row for row, event in enumerate(reference_events(table)) if predicate_holds(predicate, event)]
    assert positions(text, table) == wanted


def test_a_number_beside_a_decimal_is_the_one_that_is_written() -> None:
    prices = pa.table(
        {"type": ["A"] * 3, "p": pa.array([Decimal("10.10"), Decimal("10.11"), None], KINDS["p"])}
    )
    assert positions("p = 10.1", prices) == [0]
    assert positions("p + 0.01 = 10.11", prices) == [0]
    assert positions("p > 10.1", prices) == [1]
    floats = prices.append_column("f", pa.array([10.1, 10.1, 10.1]))
    assert positions("p = f", floats) == []  # no float64 is 10.1


def test_arithmetic_beyond_64_bits() -> None:
    far = Decimal(10**30).scaleb(-3)
    table = pa.table(
        {"type": ["A", "B"], "wide": pa.array([Decimal(1), far], KINDS["wide"]), "i": [2**62] * 2}
    )
    for text, found in {
        "wide + 1 > 0": [0, 1],
        "wide * wide > wide * 1000000000000000000": [1],
        "ABS(-wide) > 2": [1],
        "FLOOR(wide) IS NULL": [1],
        "wide / 2 > 1": [1],
    }.items():
        for type_name, position in (("A", 0), ("B", 1)):
            query = cer.compile(f"SELECT * FROM S WHERE {type_name} AS x FILTER x[{text}]")
            assert query.count(table) == (position in found), text
            stream = query.stream()
            pushed = sum(len(list(stream.push(batch))) for batch in table.to_batches(max_chunksize=1))
            assert pushed + len(list(stream.close())) == (position in found), text
    with pytest.raises(cer.DataError, match=r"row 1 .*integer overflow: \d+ \+ \d+ does not fit 64 bits"):
        cer.compile("SELECT * FROM S WHERE B AS b FILTER b[wide > 3 AND i + i > wide]").count(table)


def test_more_digits_than_arrow_can_hold() -> None:
    table = pa.table({"type": ["A"], "deep": pa.array([Decimal("0.5")], pa.decimal256(60, 40))})
    assert positions("deep * deep = 0.25", table) == [0]
    with pytest.raises(
        cer.DataError, match="decimals with 80 digits after the point, and Arrow can hold at most 76"
    ):
        positions("ABS(deep * deep) = 0.25", table)


def test_decimals_are_returned_and_part_the_stream() -> None:
    values = [Decimal("1.50"), Decimal("2.25"), None, Decimal("1.50"), Decimal("-2.25")]
    table = pa.table({"type": ["A"] * 5, "p": pa.array(values, KINDS["p"]), "ts": [1, 2, 3, 4, 5]})
    matches = cer.compile("SELECT a[p] FROM S WHERE A AS a FILTER a[p > 1.5]").run(table)
    assert matches.to_arrow()["a[p]"].to_pylist() == [[{"p": Decimal("2.25")}]]
    parted = cer.compile("SELECT * FROM S WHERE A AS a ; A AS b PARTITION BY [p]").run(table)
    assert [(ce.start, ce.end, ce.partition) for ce in parted] == [(0, 3, (Decimal("1.50"),))]


def test_decimals_are_joined_with_decimals_and_integers() -> None:
    table = pa.table(
        {
            "type": ["A", "B", "C", "B"],
            "p": pa.array([Decimal("1.50"), None, None, None], KINDS["p"]),
            "q": pa.array([None, Decimal("1.5000"), None, Decimal("1.5001")], KINDS["q"]),
            "i": [None, None, 3, None],
        }
    )
    query = cer.compile("SELECT * FROM S WHERE A AS a ; B AS b FILTER a.p = b.q")
    assert [(ce.start, ce.end) for ce in query.run(table)] == [(0, 1)]
    query = cer.compile("SELECT * FROM S WHERE A AS a ; C AS c FILTER a.p + a.p = c.i")
    assert [(ce.start, ce.end) for ce in query.run(table)] == [(0, 2)]


@pytest.mark.draws("seed", 12)
def test_decimals_beyond_64_bits_are_keys(seed: int) -> None:
    """Equalities with arithmetic, and parts of the stream, against pairs of exact numbers."""
    rng = Random(seed)
    near = [Decimal(2**62 + k).scaleb(-3) for k in (-1, 0, 1)] + [Decimal(10**30 + k) for k in (0, 1, 2)]
    rows = [
        {
            "type": rng.choice("AB"),
            "wide": rng.choice((*near, *map(Decimal.copy_negate, near), Decimal(2), Decimal(3))),
            "huge": rng.choice((*near, Decimal(2), None)),
        }
        for _ in range(40)
    ]
    kinds = {"type": pa.string(), "wide": KINDS["wide"], "huge": KINDS["huge"]}
    table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})

    def pairs(left: str, right: str) -> list[tuple[int, int]]:
        def value(text: str, row: dict[str, Any]) -> Any:
            names = {name: row[name] and Fraction(row[name]) for name in ("wide", "huge")}
            absent = any(name in text and number is None for name, number in names.items())
            return None if absent else eval(text, {"abs": abs, **names})

        numbers = [(value(left, row), value(right, row)) for row in rows]
        return [
            (a, b)
            for b, (_, second) in enumerate(numbers)
            for a, (first, _) in enumerate(numbers[:b])
            if rows[a]["type"] == "A" and rows[b]["type"] == "B" and first == second is not None
        ]

    for left, right in [
        ("wide", "huge"),
        ("wide + 1", "wide"),
        ("wide * 2 - wide", "huge + 1 - 1"),
        ("abs(wide)", "huge"),
        ("abs(wide) + 1", "abs(wide)"),
        ("wide * wide", "huge * huge"),
    ]:
        sides = (re.sub(r"(wide|huge)", rf"{name}.\1", text) for name, text in (("a", left), ("b", right)))
        query = cer.compile(
            "SELECT * WHERE A AS a ; B AS b FILTER " + " = ".join(sides).replace("abs", "ABS")
        )
        wanted = pairs(left, right)
        assert [(found.start, found.end) for found in query.run(table)] == wanted, (left, right)
        assert query.count(table) == len(wanted)
        stream = query.stream()
        told = [found for batch in table.slice(0, 20).to_batches(9) for found in stream.push(batch)]
        stream = query.stream(state=stream.snapshot())
        told += [found for batch in table.slice(20).to_batches(9) for found in stream.push(batch)]
        assert [(found.start, found.end) for found in [*told, *stream.close()]] == wanted
    parted = cer.compile("SELECT * WHERE A AS a ; B AS b PARTITION BY wide").run(table)
    assert [(found.start, found.end) for found in parted] == pairs("wide", "wide")
    assert all(found.partition == (rows[found.start]["wide"],) for found in parted)


def test_the_modules_of_what_streams_keep_are_there() -> None:
    from importlib.util import find_spec

    from cer_gpu.engine.run.components import MODULES

    assert [name for name in sorted(MODULES) if find_spec(name) is None] == []


def test_windows_over_decimals() -> None:
    values = [Decimal("0.10"), Decimal("0.25"), Decimal("0.40"), Decimal("0.41")]
    table = pa.table({"type": ["A", "B", "B", "B"], "p": pa.array(values, KINDS["p"])})
    query = cer.compile("SELECT * FROM S WHERE A AS a ; B AS b WITHIN 0.3 [p]")
    assert [(ce.start, ce.end) for ce in query.run(table)] == [(0, 1), (0, 2)]
    with pytest.raises(cer.DataError, match="order column `p` of the table is of type decimal128"):
        query.run(table, order_by="p")


@pytest.mark.parametrize("kind", [pa.decimal128(18, 2), pa.decimal128(38, 2), pa.decimal256(60, 2)])
def test_scaled_and_back(kind: pa.DataType) -> None:
    numbers = [0, -1, 10**17, -(10**17), 123]
    column = pa.array([None, *(Decimal(number).scaleb(-2) for number in numbers)], kind)
    values, beyond = scaled(column.slice(1))
    assert values.tolist() == numbers
    assert not beyond.any()
    assert from_scaled(values, kind).equals(column.slice(1))


def test_common_types() -> None:
    assert common_decimal([KINDS["p"], KINDS["q"]]) == pa.decimal128(18, 4)
    assert common_decimal([KINDS["p"], pa.int64()]) == pa.decimal128(21, 2)
    assert common_decimal([pa.decimal128(38, 0), KINDS["q"]]) == pa.decimal256(42, 4)
    assert common_decimal([pa.decimal256(76, 0), KINDS["q"]]) is None


@pytest.mark.parametrize(
    "digits", ["12345678901234567890123.45", "99999999999999999999.5", "12345678901234567.25"]
)
def test_a_decimal_is_compared_with_the_digits_that_are_written(digits: str) -> None:
    """A float64 holds 17 digits; a literal beside a decimal stands for all that it has."""
    one = Decimal(digits)
    values = [one, one + 1, one - 1, None, -one]
    events = pa.table({"type": ["A"] * 5, "v": pa.array(values, pa.decimal128(38, 2))})
    holds = {
        ">": [1], ">=": [0, 1], "=": [0], "<": [2, 4], "<=": [0, 2, 4], "!=": [1, 2, 4],
    }  # fmt: skip
    for op, places in holds.items():
        for left in ("v", "v + 0"):
            query = cer.compile(f"SELECT * WHERE A AS a FILTER a[{left} {op} {digits}]")
            assert query.hits(events)["position"].to_pylist() == places, (left, op)
    query = cer.compile(f"SELECT * WHERE A AS a FILTER a[v = -{digits} OR v IN RANGE ({digits}, {digits})]")
    assert query.hits(events)["position"].to_pylist() == [0, 4]


def test_digits_beyond_a_float_do_not_matter_to_floats() -> None:
    events = pa.table({"type": ["A", "A"], "x": [0.12345678901234568, 0.25], "n": [12345678901234567, 5]})
    for condition in ("x = 0.12345678901234567890123", "n > 12345678901234566.5", "n < 12345678901234567.25"):
        query = cer.compile(f"SELECT * WHERE A AS a FILTER a[{condition} AND x < 0.2]")
        assert query.hits(events)["position"].to_pylist() == [0], condition


FAR = Decimal(10) ** 24
RISING = "SELECT a[v], b WHERE A AS a ; B AS b FILTER b.v > a.v WITHIN 3 EVENTS"


def rising(far: int, n: int = 60) -> pa.Table:
    """Events whose values fit 64 bits but for those from the position `far` on."""
    values = [Decimal(7 * k % 11) + (FAR if k >= far else 0) for k in range(n)]
    return pa.table(
        {"type": list("AAB") * (n // 3), "v": pa.array(values, pa.decimal128(38, 2)), "k": range(n)}
    )


@pytest.mark.parametrize("far", [0, 31, 59])
def test_order_of_decimals_beyond_64_bits_is_exact(far: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where answers have been given before the first of them is met."""
    monkeypatch.setattr("cer_gpu.engine.run.bound_query.BATCH", 7)
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", 5)
    events, query = rising(far), cer.compile(RISING)
    exactly = {"engine": "general"}
    wanted = query.run(events, **exactly).to_arrow()
    assert len(wanted) > 10
    assert "ordered: takes it, and runs " in query.explain(events=events, verbose=True)
    assert query.count(events) == len(wanted)
    assert query.hits(events).equals(query.hits(events, **exactly))
    assert query.counts(events).equals(query.counts(events, **exactly))
    matches = query.run(events)
    assert [(ce.start, ce.end, ce.marks) for ce in matches] == [
        (ce.start, ce.end, ce.marks) for ce in query.run(events, **exactly)
    ]
    assert query.run(events).to_arrow().equals(wanted)
    assert query.run(events).events().equals(query.run(events, **exactly).events())
    flat = [pa.Table.from_batches(list(query.run(events, **how).flat_batches())) for how in ({}, exactly)]
    assert flat[0].equals(flat[1])
    assert query.run(events).head(11).to_arrow().equals(wanted.slice(0, 11))
    assert "some decimals do not fit 64 bits: they are compared as numbers of any size" in matches.notes


def test_of_events_that_are_read_once_the_type_decides_what_compares_them() -> None:
    query = cer.compile(RISING)
    wanted = query.run(rising(31), engine="general").to_arrow()
    for read_once in (lambda: rising(31).to_reader(9), lambda: iter(rising(31).to_batches(9))):
        assert query.count(read_once()) == len(wanted)
        assert query.run(read_once()).to_arrow().equals(wanted)
    assert query.count(rising(31), engine="ordered") == len(wanted)
    kinds = {"narrow": pa.decimal128(18, 2), "wide": pa.decimal128(19, 2)}
    planned = {
        name: query.portable(pa.schema({"type": pa.string(), "v": kind})).query
        for name, kind in kinds.items()
    }
    assert {type(one.machine).__name__ for one in planned.values()} == {"ComparedMachine"}
    assert {name: bool(one.reading.keys.exact) for name, one in planned.items()} == {
        "narrow": False,
        "wide": True,
    }
    tried = cer.backtest({"one": RISING, "two": RISING.replace("3", "5")}, rising(31))
    assert tried.to_arrow()["matches"].to_pylist()[0] == len(wanted)

"""Decimals equal floats, whole numbers and decimals of other scales by value, exactly, in every join."""

from __future__ import annotations

import math
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.errors import DataError, QueryError

FAR = 1 << 53
VALUES = {
    "d": [Decimal(text) for text in ("0.00", "1.50", "0.10", "-2.25", "7.00", f"{FAR}.00", f"{FAR + 1}.00")],
    "e": [Decimal(text) for text in ("0.0000", "1.5000", "0.1000", "-2.2500", "0.1001", "7.0000")],
    "w": [Decimal(text) for text in ("0.1", "1.5", "7.0", f"{10**30}.0", f"{10**30}.1")],
    "p": [0.0, -0.0, 1.5, 0.1, -2.25, 7.0, 2.0**53, 1e30, math.nan, math.inf],
    "i": [0, 1, 7, FAR, FAR + 1],
}
TYPES = {
    "d": pa.decimal128(20, 2),
    "e": pa.decimal128(12, 4),
    "w": pa.decimal256(50, 1),
    "p": pa.float64(),
    "i": pa.int64(),
}
PAIRS = [("i", "p"), ("d", "p"), ("p", "e"), ("w", "p"), ("d", "e"), ("d", "i"), ("i", "w"), ("d", "w")]


OVERFLOW = "asked for by name, the general machine scales both sides to one unit, in 64 bits"


def table(seed: str, count: int = 120) -> pa.Table:
    rng = Random(seed)
    columns = {
        name: pa.array([rng.choice([*VALUES[name], None]) for _ in range(count)], TYPES[name])
        for name in TYPES
    }
    return pa.table({"type": [rng.choice("ABC") for _ in range(count)], "ts": range(count), **columns})


def equal(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one == other  # Python compares numbers by value


def pairs(events: pa.Table, one: str, other: str) -> list[tuple[int, int]]:
    rows = events.to_pylist()
    return sorted(
        (start, end)
        for end in range(len(rows))
        for start in range(end)
        if (rows[start]["type"], rows[end]["type"]) == ("A", "B")
        and equal(rows[start][one], rows[end][other])
    )


def listed(found: pa.Table) -> list[tuple[int, int]]:
    return sorted(zip(found["start"].to_pylist(), found["end"].to_pylist(), strict=True))


@pytest.mark.crossed
@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("engine", ["auto", "general"])
def test_of_two_events(one: str, other: str, engine: str, request: pytest.FixtureRequest) -> None:
    if (one, other, engine) == ("d", "e", "general"):
        request.applymarker(pytest.mark.xfail(raises=DataError, strict=True, reason=OVERFLOW))
    events = table(f"{one} {other}")
    expected = pairs(events, one, other)
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER a.{one} = b.{other}")
    assert listed(query.run(events, order_by="ts", engine=engine).to_arrow()) == expected
    assert query.count(events, order_by="ts", engine=engine) == len(expected) > 3


@pytest.mark.crossed
@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("rows", [1, 7])
def test_in_pushes_with_a_snapshot(one: str, other: str, rows: int) -> None:
    events = table(f"{one} {other}")
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER a.{one} = b.{other}")
    stream, found = query.stream(order_by="ts"), []
    for first in range(0, len(events), rows):
        found += listed(stream.push(events.slice(first, rows)).to_arrow())
        if first == 49:
            stream = query.stream(order_by="ts", state=stream.snapshot())
    assert sorted(found) == pairs(events, one, other)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_of_rules(one: str, other: str) -> None:
    events = table(f"{one} {other}")
    rows = events.to_pylist()
    expected = sum(
        equal(a[one], b[other]) for a in rows if a["type"] == "A" for b in rows if b["type"] == "B"
    )
    assert cer.compile(f"Q() <- A({one} = x), B({other} = x)").count(events, order_by="ts") == expected


def test_text_does_not_equal_a_decimal() -> None:
    events = table("text").append_column("s", pa.array(["1.5"] * 120))
    with pytest.raises(QueryError):
        cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a.d = b.s").count(events, order_by="ts")

"""Whole numbers and floats are compared by value, exactly, also where a float64 does not hold the number."""

from __future__ import annotations

import math
from itertools import product
from operator import eq, ge, gt, le, lt, ne
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer

FAR = 1 << 53

WHOLE = [0, 1, -1, 7, FAR, FAR + 1, FAR + 3, -FAR - 1, 2**62 + 1, 2**63 - 1, -(2**63), None]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 7.0, 2.0**53, 2.0**53 + 4, -(2.0**53), 2.0**62, 2.0**63, -(2.0**63)]
FLOATS += [math.nan, math.inf, -math.inf, None]

SIGNS = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def table(count: int, seed: str) -> pa.Table:
    """Events of three types, with whole numbers `v` and floats `p`, far from zero and near it."""
    rng = Random(seed)
    return pa.table(
        {
            "type": [rng.choice("ABC") for _ in range(count)],
            "v": pa.array([rng.choice(WHOLE) for _ in range(count)], pa.int64()),
            "p": pa.array([rng.choice(FLOATS) for _ in range(count)], pa.float64()),
            "ts": range(count),
        }
    )


def holds(one: Any, sign: str, other: Any) -> bool:
    """What a comparison is by value; a null and a NaN make none true but `!=` of numbers."""
    if one is None or other is None or one != one or other != other:
        return False
    return bool(SIGNS[sign](one, other))


def pairs(events: pa.Table, sign: str) -> list[tuple[int, int]]:
    """The pairs of an A and a later B with `a.v SIGN b.p`, ascending by the end."""
    rows = events.to_pylist()
    return [
        (start, end)
        for end, start in product(range(len(rows)), repeat=2)
        if start < end
        and (rows[start]["type"], rows[end]["type"]) == ("A", "B")
        and holds(rows[start]["v"], sign, rows[end]["p"])
    ]


def listed(found: pa.Table) -> list[tuple[int, int]]:
    return sorted(zip(found["start"].to_pylist(), found["end"].to_pylist()), key=lambda one: one[::-1])


@pytest.mark.crossed
@pytest.mark.parametrize("sign", ["=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("engine", ["auto", "general"])
def test_of_two_events(sign: str, engine: str) -> None:
    events = table(300, f"two {sign}")
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER a.v {sign} b.p")
    expected = pairs(events, sign)
    given = {"order_by": "ts", "device": "cpu", "engine": engine}
    assert listed(query.run(events, **given).to_arrow()) == expected
    assert query.count(events, **given) == len(expected) > 20
    assert query.hits(events, **given)["position"].to_pylist() == sorted({end for _, end in expected})


def test_in_small_batches_and_pushes_with_a_snapshot() -> None:
    events = table(200, "stream")
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a.v = b.p")
    expected, found = pairs(events, "="), []
    stream = query.stream(order_by="ts")
    for first in range(0, len(events), 7):
        found += listed(stream.push(events.slice(first, 7)).to_arrow())
        if first == 98:
            stream = query.stream(order_by="ts", state=stream.snapshot())
    assert found == expected
    reader = pa.RecordBatchReader.from_batches(events.schema, events.to_batches(max_chunksize=3))
    assert listed(query.run(reader, order_by="ts", device="cpu").to_arrow()) == expected
    single = query.stream(order_by="ts")
    assert [
        one for row in range(200) for one in listed(single.push(events.slice(row, 1)).to_arrow())
    ] == expected


def test_numbers_that_no_float_holds_equal_each_other() -> None:
    events = pa.table(
        {
            "type": ["A", "C", "A", "C", "B", "C"],
            "v": pa.array([FAR + 1, FAR + 1, FAR, FAR, 5, FAR + 2], pa.int64()),
            "p": [0.0, 0.0, 0.0, 0.0, 2.0**53, 0.0],
            "ts": range(6),
        }
    )
    # The same attribute is compared with a float and with a whole number.
    text = "SELECT * WHERE A AS a ; (B AS x OR C AS y) FILTER a.v = x.p AND a.v = y.v"
    query = cer.compile(text)
    for engine in ("auto", "general"):
        found = query.run(events, order_by="ts", device="cpu", engine=engine).to_arrow()
        assert listed(found) == [(0, 1), (2, 3), (2, 4)]


def test_three_events_and_a_key() -> None:
    events = table(200, "three").append_column("k", pa.array([n % 2 for n in range(200)]))
    rows = events.to_pylist()
    expected = sum(
        rows[a]["type"] + rows[b]["type"] + rows[c]["type"] == "ABC"
        and rows[a]["k"] == rows[b]["k"] == rows[c]["k"]
        and holds(rows[a]["v"], "=", rows[b]["p"])
        and holds(rows[b]["p"], "=", rows[c]["v"])
        for c in range(200)
        for b in range(c)
        for a in range(b)
    )
    text = "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v = b.p AND b.p = c.v PARTITION BY k"
    assert cer.compile(text).count(events, order_by="ts", device="cpu") == expected > 3

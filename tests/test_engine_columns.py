"""Predicates on columns of every type: the engine keeps the rows that plain Python keeps."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def kept(condition: str, **columns: Any) -> list[int]:
    """The rows for which a condition holds, by the engine."""
    query = cer.compile(f"SELECT * FROM T WHERE T FILTER T[{condition}]")
    return query.hits(pa.table(columns))["position"].to_pylist()


def rows(values: list[Any], holds: Callable[[Any], bool]) -> list[int]:
    """The rows whose value is not null or NaN and satisfies a test."""
    return [i for i, value in enumerate(values) if value is not None and value == value and holds(value)]


def compared(values: list[Any], name: str, constant: Any) -> list[int]:
    """The rows whose value compares with a constant as an operator asks."""
    return rows(values, lambda value: OPERATORS[name](value, constant))


INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_integers(kind: pa.DataType) -> None:
    low, high = (
        (0, 2**kind.bit_width - 1)
        if str(kind).startswith("u")
        else (
            -(2 ** (kind.bit_width - 1)),
            2 ** (kind.bit_width - 1) - 1,
        )
    )
    high = min(high, 2**63 - 1)
    values: list[Any] = [low, low + 1, 0, None, 1, 2, 3, 100, high - 1, high, None]
    column = pa.array(values, kind)
    for constant in (low, 0, 2, 3, high):
        for name in OPERATORS:
            assert kept(f"v {name} {constant}", v=column) == compared(values, name, constant)
    assert kept("v > 1.5 AND v <= 100.0", v=column) == rows(values, lambda v: 1.5 < v <= 100)
    assert kept("v IN {2, 3.0, 7}", v=column) == rows(values, lambda v: v in (2, 3))
    assert kept("v NOT IN {2, 3}", v=column) == [i for i, v in enumerate(values) if v not in (2, 3)]
    assert kept("v > 1e300", v=column) == []
    assert kept("v IS NULL", v=column) == [3, 10]


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_floats(kind: pa.DataType) -> None:
    values = [-math.inf, -2.5, -0.0, 0.0, None, 0.1, 1.0, math.nan, 2.5, math.inf]
    if kind == pa.float16():
        mask = np.array([value is None for value in values])
        column = pa.array(np.array([value or 0 for value in values], np.float16), mask=mask)
    else:
        column = pa.array(values, pa.float64()).cast(kind)
    stored = [None if value is None else float(value) for value in column.to_pylist()]
    for constant in (-2.5, 0, 0.1, 1, 2.5):
        for name in OPERATORS:
            assert kept(f"v {name} {constant}", v=column) == compared(stored, name, constant)
    assert kept("NOT v > 0", v=column) == [i for i, v in enumerate(stored) if not (v is not None and v > 0)]
    assert kept("v IS NULL", v=column) == [4]
    assert kept("v IN RANGE (0, 1)", v=column) == rows(stored, lambda v: 0 <= v <= 1)


WORDS = ["beta", "alpha", None, "", "gamma", "delta", "béta", "\U0001f600", "\uffff", "alpha"]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_strings(kind: pa.DataType) -> None:
    column = pa.array(WORDS, pa.string())
    column = column.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else column.cast(kind)
    for constant in ("alpha", "b", "", "\uffff"):
        for name in OPERATORS:
            assert kept(f"s {name} '{constant}'", s=column) == compared(WORDS, name, constant)
    assert kept("s LIKE 'a$' AND s != 'alpha'", s=column) == rows(
        WORDS, lambda s: re.search("a$", s) is not None and s != "alpha"
    )
    assert kept("s IN {'alpha', 'x'} OR s > 'c'", s=column) == rows(
        WORDS, lambda s: s in ("alpha", "x") or s > "c"
    )
    assert kept("s IS NULL OR NOT s LIKE 'a'", s=column) == [
        i for i, s in enumerate(WORDS) if s is None or "a" not in s
    ]
    assert kept("s < r", s=column, r=pa.array([*WORDS[1:], "b"])) == [
        i
        for i, (s, r) in enumerate(zip(WORDS, [*WORDS[1:], "b"], strict=True))
        if s is not None and r is not None and s < r
    ]


def test_booleans_and_columns_of_nulls_only() -> None:
    column = pa.array([True, False, None, True])
    assert kept("b = TRUE", b=column) == [0, 3]
    assert kept("b != TRUE", b=column) == [1]
    assert kept("NOT b = TRUE", b=column) == [1, 2]
    numbers = pa.array([None, None], pa.int64())
    assert kept("v > 0", v=numbers) == []
    assert kept("NOT v > 0", v=numbers) == [0, 1]


MOMENTS = [datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 2, 29, 12, 30, tzinfo=UTC), None]


@pytest.mark.crossed
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_timestamps_of_every_unit_and_zone(unit: str, zone: str | None) -> None:
    plain = pa.array(MOMENTS, pa.timestamp("us", tz="UTC")).cast(pa.timestamp(unit, tz="UTC"))
    column = plain.cast(pa.timestamp(unit, tz=zone)) if zone else plain.cast(pa.timestamp(unit))
    assert kept("t >= '2024-02-29'", t=column) == [1]
    assert kept("t > '2024-02-29T12:30:00'", t=column) == []
    assert kept("t = '2024-02-29T13:30:00+01:00'", t=column) == [1]
    assert kept("t < '2020-01-01T00:00:00.5'", t=column) == [0]
    other = plain.cast(pa.timestamp("ms", tz="UTC"))
    assert kept("t - r < 1 h", t=plain, r=other) == [0, 1]
    assert kept("t + 0.5 s > r", t=plain, r=other) == [0, 1]
    assert kept("t + 0.5 s <= r", t=plain, r=other) == []


def test_dates_durations_and_times_of_day() -> None:
    days = pa.array([0, 18262, None], pa.int32()).cast(pa.date32())
    assert kept("d >= '2020-01-01'", d=days) == [1]
    spans = pa.array([1, 60, None, 3600], pa.duration("s"))
    assert kept("d >= 1 min AND d < 1 h", d=spans) == [1]
    assert kept("d > 59.5 s", d=spans) == [1, 3]
    clock = pa.array([0, 43_200, None], pa.time32("s"))
    assert kept("c >= 12 h", c=clock) == [1]


def test_arithmetic() -> None:
    v, w = [7, -7, 5, None, 0], [2, 2, 0, 1, 3]
    columns = {"v": pa.array(v, pa.int64()), "w": pa.array(w, pa.int64())}
    assert kept("v / w > 3.4", **columns) == [0]
    assert kept("v % w = 1", **columns) == [0]
    assert kept("v % w = -1", **columns) == [1]
    assert kept("(v / w) IS NULL", **columns) == [2, 3]
    assert kept("v / w != 1", **columns) == [0, 1, 4]
    assert kept("-v > w", **columns) == [1]
    assert kept("2 * v + w = 16", **columns) == [0]
    big = {"v": pa.array([2**62, 1]), "f": pa.array([float(2**53), 1.0]), "u": pa.array([2**53 + 1, 1])}
    assert kept("u > f", **big) == [0]
    with pytest.raises(cer.DataError, match="integer overflow"):
        kept("v * 4 > 0", **big)


def test_many_constants_on_one_column() -> None:
    values = list(range(-50, 50))
    condition = " OR ".join(f"(v > {k} AND v < {k + 2})" for k in range(-40, 40, 4))
    wanted = rows(values, lambda v: any(k < v < k + 2 for k in range(-40, 40, 4)))
    assert kept(condition, v=pa.array(values)) == wanted


def test_many_filtered_columns() -> None:
    rng = np.random.default_rng(5)
    table = {f"c{k}": rng.random(500) for k in range(12)}
    condition = " AND ".join(f"c{k} > 0.2" for k in range(12))
    wanted = np.flatnonzero(np.all([column > 0.2 for column in table.values()], axis=0)).tolist()
    assert kept(condition, **table) == wanted
    parts = " OR ".join(f"(T AS x{k} FILTER x{k}[c{k} > 0.9])" for k in range(8))
    query = cer.compile(f"SELECT * FROM T WHERE {parts}")
    assert query.count(pa.table(table)) == sum(int((table[f"c{k}"] > 0.9).sum()) for k in range(8))


HUGE = " * ".join(["9223372036854775807"] * 17)
"""A constant beyond every float64."""


@pytest.mark.crossed
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (f"v < {HUGE}", [0, 1]),
        (f"v > -({HUGE})", [0, 1]),
        (f"v >= {HUGE}", []),
        (f"v < {HUGE} * 1.0", [0, 1]),
        (f"v < {HUGE} / 2", [0, 1]),
        ("v > (1e308 * 10) % 3", []),
        ("v > 1 / 0", []),
        ("'abc' LIKE '^a'", [0, 1, 2]),
        ("'abc' LIKE '^b'", []),
        ("'a' IN {'a', 'b'}", [0, 1, 2]),
        ("'c' NOT IN {'a', 'b'}", [0, 1, 2]),
        ("'a' IS NULL", []),
        ("1 / 0 IS NULL", [0, 1, 2]),
        ("(1e308 * 10) % 3 IS NULL", []),
    ],
)
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64()], ids=str)
def test_constants(kind: pa.DataType, condition: str, expected: list[int]) -> None:
    assert kept(condition, v=pa.array([-1, 5, None], kind)) == expected


GREATEST = 2**63 - 1


def overflowing(events: int = 4) -> pa.Table:
    """A's whose `v` is the greatest number, and B's with small ones."""
    return pa.table(
        {
            "type": ["A", "B"] * (events // 2),
            "v": [GREATEST, 1] * (events // 2),
            "w": range(events),
        }
    )


@pytest.mark.parametrize(
    "filters",
    [
        "b[v + 1 > 0]",  # of the other type
        "b[v + 1 > w - 9]",
        "a[v + 1 IS NULL OR w >= 0]",
        "b[v + v > 0] AND b[v * v > 0]",
        "a[v * v + 1 > 7 OR w >= 0]",  # decided by the other side of OR
        "b[-v - 2 < 0] AND b[v * 2 = v + 1]",
        "b[-(v - 2) * (0 - 4611686018427387904) * 2 < 0]",  # the least number itself
    ],
)
def test_arithmetic_that_no_condition_asks_for_may_overflow(filters: str) -> None:
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER {filters}")
    assert query.count(overflowing()) == 3
    assert len(query.run(overflowing()).to_arrow()) == 3


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ("a[v + 1 > 0]", rf"row 0 of the table .*integer overflow: {GREATEST} \+ 1 does not fit 64 bits"),
        ("a[w > 0 AND v + 1 > 0]", rf"row 2 of the table .*: {GREATEST} \+ 1"),
        ("a[v - -1 > 0]", rf"{GREATEST} - -1 does"),
        ("a[v * v > w]", rf"{GREATEST} \* {GREATEST} does"),
        ("a[(v - 1) * (w + 3) / 7 > 2]", rf"{GREATEST - 1} \* 3 does"),
        ("b[-(v - 2) * (0 - 4611686018427387904) * 3 < 0]", "row 1 of"),
    ],
)
def test_arithmetic_that_a_condition_asks_for_may_not(filters: str, message: str) -> None:
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER {filters}")
    with pytest.raises(cer.DataError, match=message):
        query.count(overflowing())


def test_the_row_of_an_error_is_that_of_the_data(tmp_path: Path) -> None:
    """Not of the batch, nor of all files together, and as it was before it was sorted or merged."""
    wrong = pa.table({"v": [1] * 7 + [GREATEST, 2], "ts": [9, 8, 7, 6, 5, 4, 3, 2, 1]})
    right = pa.table({"v": [1] * 3, "ts": [1, 2, 3]})

    def typed(table: pa.Table) -> pa.Table:
        return table.append_column("type", pa.array(["A"] * len(table)))

    pq.write_table(typed(right), tmp_path / "1.parquet")
    pq.write_table(typed(wrong), tmp_path / "2.parquet", row_group_size=2)
    by_time: dict[str, Any] = {"sort": True, "order_by": "ts"}
    query = cer.compile("SELECT * WHERE A AS a FILTER a[v + 1 > 0]")
    for events, options, row in [
        (typed(wrong).to_reader(max_chunksize=2), {}, "row 7 of the reader"),
        (typed(wrong), by_time, "row 7 of the table"),
        (tmp_path, {}, "row 7 of .*2.parquet"),
        (tmp_path, by_time, "row 7 of .*2.parquet"),
        ({"B": right, "A": wrong}, by_time, "row 7 of the table of `A`"),
    ]:
        with pytest.raises(cer.DataError, match=rf"{row} \(counted from 0\): integer overflow"):
            query.count(events, **options)
    stream = query.stream()
    stream.push(typed(right))
    with pytest.raises(cer.DataError, match=r"row 10 \(counted from 0\): integer overflow"):
        stream.push(typed(wrong))

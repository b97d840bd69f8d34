"""Ordered look-ups: what is compared, larger streams against sums by hand, numbers that need many digits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.comparisons import cpu_counts, cpu_hits
from cer_gpu.kernels.comparisons.contract import AT, NO_VALUE, ComparedSegments, PairedEvents, runs_reference
from cer_gpu.kernels.comparisons.cpu_nested_loop import counted_by_few
from cer_gpu.kernels.comparisons.cpu_order import arrange
from cer_gpu.kernels.comparisons.cpu_rows import value_rows
from cer_gpu.kernels.comparisons.cpu_shared_view_hits import alike, hits_alike
from cer_gpu.kernels.runs.contract import SegmentHits

import cer_gpu as cer
from cer_gpu.engine.machines import chunk, comparisons
from cer_gpu.engine.read.ordered_values import words_of
from cer_gpu.engine.words import Domain, domain_of, float_word, float_words, floats_of, in_domain, ranks_of
from cer_gpu.enumeration.comparisons import ComparedStructure, ComparedUnit
from cer_gpu.plan.comparisons import ComparedMachine

RISING = "SELECT * WHERE (T AS x FILTER x.v > PRIOR(x).v)+"


def pairs(v: np.ndarray, w: np.ndarray, window: int, op: str) -> np.ndarray:
    """How many events i before each event j, at most `window` before it, have `v[i] op w[j]`."""
    low = np.maximum(np.arange(len(v)) - window, 0)
    return np.array([int(COMPARE[op](v[low[j] : j], w[j]).sum()) for j in range(len(v))])


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "!="])
def test_counts_in_many_segments_are_those_of_a_loop(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk, "SEGMENT", 300)
    rng = np.random.default_rng(3)
    v = rng.integers(0, 60, 4000)
    table = pa.table({"type": ["T"] * len(v), "v": v})
    query = cer.compile(f"SELECT * WHERE T AS x ; T AS y FILTER x.v {op} 1.25 * y.v - 3 WITHIN 120 EVENTS")
    wanted = pairs(v.astype(float), 1.25 * v - 3, 120, op)
    found = query.counts(table)
    assert found["position"].to_pylist() == np.flatnonzero(wanted).tolist()
    assert found["count"].to_pylist() == wanted[wanted > 0].tolist()
    hits = query.hits(table)
    assert hits["position"].to_pylist() == np.flatnonzero(wanted).tolist()
    listed = np.bincount([match.end for match in query.run(table)], minlength=len(v))
    assert listed.tolist() == wanted.tolist()


def rising(values: list[int], lowest: list[int]) -> list[int]:
    """How many ascending runs with gaps end at each event and start at its lowest event or later."""
    found = []
    for end, low in enumerate(lowest):
        ways = [0] * len(values)
        for i in range(low, end + 1):
            ways[i] = 1 + sum(ways[j] for j in range(low, i) if values[j] < values[i])
        found.append(ways[end])
    return found


def test_rising_runs_are_counted_past_64_bits() -> None:
    rng = Random(4)
    values = [i + rng.randrange(3) for i in range(120)]
    table = pa.table({"type": ["T"] * len(values), "v": values})
    wanted = rising(values, [0] * len(values))
    assert wanted[-1] > 2**64
    assert cer.compile(RISING).count(table) == sum(wanted)
    lowest = [max(i - 90, 0) for i in range(len(values))]
    assert cer.compile(RISING + " WITHIN 90 EVENTS").count(table) == sum(rising(values, lowest))


def test_rising_runs_in_windows_are_those_of_a_loop() -> None:
    rng = Random(5)
    values = [rng.randrange(20) for _ in range(150)]
    table = pa.table({"type": ["T"] * len(values), "v": values})
    wanted = rising(values, [max(i - 12, 0) for i in range(len(values))])
    query = cer.compile(RISING + " WITHIN 12 EVENTS")
    assert query.counts(table)["count"].to_pylist() == wanted
    assert query.count(table) == sum(1 for _ in query.run(table)) == sum(wanted)


@pytest.mark.crossed
@pytest.mark.parametrize("within", [0, 5, 20, 31, 47, 48, 70, 200])
@pytest.mark.parametrize(
    "pattern",
    [
        "A AS a ; B AS b ; C AS c FILTER a.v < b.v AND b.v != c.v",
        "A AS a ; (B AS b FILTER b.v > PRIOR(b).v) {2,3} ; C AS c",
        "A AS a ; B AS b ; (A OR B) AS c ; C AS d "
        "FILTER a.v <= b.v AND b.v >= c.v AND b.w = c.w AND c.v < d.v",
    ],
)
def test_windows_of_few_events_are_counted_as_those_of_many(
    pattern: str, within: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    few: list[bool] = []

    def counted(*given: Any) -> Any:
        found = counted_by_few(*given)
        few.append(found is not None)
        return found

    monkeypatch.setattr(comparisons, "counted_by_few", counted)
    rng = Random(f"{pattern} {within}")
    rows = 700
    table = pa.table(
        {
            "type": rng.choices("ABC", k=rows),
            "key": rng.choices("xyz", (5, 3, 1), k=rows),
            "v": [rng.choice([None, *range(8)]) for _ in range(rows)],
            "w": [rng.randrange(2) for _ in range(rows)],
        }
    )
    query = cer.compile(f"SELECT * WHERE {pattern} PARTITION BY key WITHIN {within} EVENTS")
    found = query.counts(table)
    assert all(few) or within > 30
    assert few
    assert not all(few) or within < 200
    monkeypatch.setattr(comparisons, "countable_by_few", lambda tables: False)
    assert query.counts(table).equals(found)


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "!=": operator.ne,
}

KINDS = [
    (pa.array([1, 2, 2**53 + 1, -(2**63), 2**63 - 1]), pa.array([1.5, 2.0, 2.0**53, -(2.0**63), 2.0**63])),
    (pa.array([0, 2**63 - 1, 5], pa.int64()), pa.array([-1, 3, 7], pa.int8())),
    (pa.array([-0.0, 1e300, float("inf")]), pa.array([0.0, -1e300, float("-inf")])),
    (pa.array([1, 2, 3], pa.timestamp("s")), pa.array([1000, 1500, 3001], pa.timestamp("ms"))),
    (pa.array([1, 1500, 2001], pa.timestamp("ms")), pa.array([1, 2, -5], pa.timestamp("s"))),
    (pa.array([2**62, 5], pa.duration("s")), pa.array([2**62, 5], pa.duration("ns"))),
    (pa.array([Decimal("1.10"), Decimal("2.00")]), pa.array([Decimal("1.1"), Decimal("1.9")])),
    (pa.array([Decimal("1.10"), Decimal("2.00")]), pa.array([1.1, 2.0])),
    (pa.array([1.1, 2.0]), pa.array([Decimal("1.10"), Decimal("2.00")])),
    (pa.array([Decimal("1.10"), Decimal("2.00")]), pa.array([1, 2])),
    (pa.array(["b", "é", "z", ""]), pa.array(["a", "z", "é", "b"])),
]


def exact(value: pa.Scalar, kind: pa.DataType) -> str | float | Fraction:
    """A value that Python compares as the language does."""
    if pa.types.is_temporal(kind):
        unit = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[kind.unit]
        return Fraction(value.cast(pa.int64()).as_py() * unit)
    found = value.as_py()
    return found if isinstance(found, str | float) else Fraction(str(found))


@pytest.mark.crossed
@pytest.mark.parametrize("kinds", KINDS, ids=[f"{one.type} {other.type}" for one, other in KINDS])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "!="])
def test_values_of_several_types_compare_as_numbers(kinds: tuple[pa.Array, pa.Array], op: str) -> None:
    old, new = kinds
    n, m = len(old), len(new)
    table = pa.table(
        {
            "type": ["A"] * n + ["B"] * m,
            "a": pa.concat_arrays([old, pa.nulls(m, old.type)]),
            "b": pa.concat_arrays([pa.nulls(n, new.type), new]),
        }
    )
    query = cer.compile(f"SELECT * WHERE A AS x ; B AS y FILTER x.a {op} y.b")
    ends, begins = ([exact(value, array.type) for value in array] for array in (new, old))
    wanted = {
        (i, n + j) for i, one in enumerate(begins) for j, other in enumerate(ends) if _holds(one, op, other)
    }
    assert query._plan.engine == "ordered"
    assert {(match.start, match.end) for match in query.run(table)} == wanted
    assert query.count(table) == len(wanted)


def _holds(one: Any, op: str, other: Any) -> bool:
    return bool(COMPARE[op](one, other))


NUMBERS: dict[str, tuple[float | int, ...]] = {
    "f": (0.0, -0.0, 0.5, -3.25, 2.0**53, 2.0**63, 2.0**64, -(2.0**63), 1e19, -1e30, np.inf, -np.inf),
    "i": (0, 1, -7, 2**53 + 1, 2**63 - 1, -(2**63), 2**62),
    "u": (0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 2**10 + 1, 2**64 - 1),
}


@pytest.mark.parametrize("unit", [(None, None), ("s", "ns"), ("ns", "s"), ("e0", "e2"), ("e2", None)])
@pytest.mark.parametrize("kinds", list(product("iuf", "iuf")))
def test_words_of_another_domain_lie_among_its_own_as_the_numbers_do(
    kinds: tuple[str, str], unit: tuple[str | None, str | None]
) -> None:
    own, domain = (Domain(kind, each) for kind, each in zip(kinds, unit, strict=True))
    data, others = (
        np.array(NUMBERS[kind], {"i": np.int64, "u": np.uint64, "f": float}[kind]) for kind in kinds
    )
    found = in_domain(data, own, domain, np.ones(len(data), bool))
    among = in_domain(others, domain, domain, np.ones(len(others), bool))
    assert (among.sides == AT).all()
    rank, others_rank = ranks_of(found, among)
    for one, word, place in zip(data.tolist(), rank, zip(*found, strict=True), strict=True):
        size = one if np.isinf(one) else Fraction(one) * own.one
        for other, other_word, at in zip(others.tolist(), others_rank, zip(*among, strict=True), strict=True):
            its = other if np.isinf(other) else Fraction(other) * domain.one
            assert (
                (place < at, place == at)
                == (size < its, size == its)
                == (word < other_word, word == other_word)
            )


def test_floats_come_back_from_their_words() -> None:
    floats = np.sort(np.array([*NUMBERS["f"], 2.0**-1074, -(2.0**-1074), 1.5e308]))
    words = float_words(floats)
    assert (np.diff(words) >= 0).all()
    assert (floats_of(words) == floats).all()
    assert words.tolist() == [float_word(one) for one in floats.tolist()]


QUERIES = [
    "A AS a ; B AS b FILTER b.v > a.v",
    "A AS a ; B AS b ; A AS c FILTER b.v != a.v AND b.k = a.k AND c.v <= b.v",
    "(A AS a FILTER a.v >= PRIOR(a).v) {2,} ; B AS b",
    "A AS a ; (A OR B) AS b : B AS c FILTER b.v < a.w AND c.v > b.v",
]

ALIKE = [
    "(A AS a FILTER a.v > PRIOR(a).v) {3,}",
    "(A AS a FILTER a.v != PRIOR(a).v AND a.k = PRIOR(a).k) {2,4}",
    "(A AS a FILTER a.v <= PRIOR(a).v) {4}",
]
"""Patterns of which all views show the same entries."""


@pytest.mark.parametrize("pattern", [*QUERIES, *ALIKE])
def test_kernels_find_the_runs_of_the_definition(pattern: str) -> None:
    machine = cer.compile(f"SELECT * WHERE {pattern}")._plan.compiled.machine
    assert isinstance(machine, ComparedMachine)
    tables, rng = machine.tables, np.random.default_rng(8)
    n, values = 60, 1 + max(int(tables.order_value.max()), int(tables.test_value.max(initial=-1)))
    events = PairedEvents(
        rng.integers(0, tables.n_symbols, n).astype(np.uint8),
        np.cumsum(rng.integers(1, 3, n)),
        rng.integers(-1, 2, (machine.slot_rows, n)).astype(np.int32),
        np.full((values, n), AT, np.int32),
        rng.integers(0, 6, (values, n)),
    )
    events.sides[:, rng.random(n) < 0.1] = NO_VALUE
    begin, stop = np.array([0, 15, 36]), np.array([25, 45, 60])
    base = np.append(0, np.cumsum(stop - begin))
    segments = ComparedSegments(begin, np.array([0, 25, 45]), stop, base)
    arranged = arrange(tables, events, segments)
    window = np.arange(n)
    wanted: dict[int, list[tuple[tuple[int, int], ...]]] = {}
    for low, report, high in zip(begin.tolist(), segments.report.tolist(), stop.tolist()):
        for end, here in enumerate(runs_reference(tables, events, low, high), low):
            found = [tuple(marks) for state, marks in here if tables.accepting[state]]
            found = [marks for marks in found if end - marks[0][0] <= 9]
            if found and end >= report:
                wanted[end] = sorted(found)
    event, latest = cpu_hits.hits(tables, events, window, 9, segments, arranged)
    orders = alike(tables)
    assert (orders is not None) == (pattern in ALIKE)
    if orders is not None:
        own = hits_alike(tables, events, window, 9, segments, arranged, orders)
        assert [part.tolist() for part in own] == [event.tolist(), latest.tolist()]
        own = hits_alike(tables, events, window[:0], 0, segments, arranged, orders)
        whole = cpu_hits.hits(tables, events, window[:0], 0, segments, arranged)
        assert [part.tolist() for part in own] == [part.tolist() for part in whole]
    assert event.tolist() == sorted(wanted)
    assert latest.tolist() == [max(marks[0][0] for marks in wanted[end]) for end in sorted(wanted)]
    first = np.append(np.searchsorted(event, segments.report), len(event))
    lowest = np.maximum(event - 9, np.repeat(begin, np.diff(first)))
    unit = ComparedUnit(tables, segments, events, arranged, window, 9, 0)
    built = ComparedStructure(unit, SegmentHits(first, event, lowest))
    assert built.exact_counts().tolist() == [len(wanted[end]) for end in sorted(wanted)]
    counted = cpu_counts.counts(tables, events, segments, arranged, first, event, lowest)
    assert counted.tolist() == [len(wanted[end]) for end in sorted(wanted)]
    listed = ComparedStructure(unit, SegmentHits(first, event, lowest))
    assert listed.rows is not None
    rows = listed.rows.rows
    for hit, end in enumerate(event.tolist()):
        own = range(int(listed.rows.begin[hit]), int(listed.rows.begin[hit + 1]))
        marks = [
            tuple(zip(rows.event[a:b].tolist(), rows.label[a:b].tolist()))
            for a, b in ((rows.first[row], rows.first[row + 1]) for row in own)
        ]
        assert sorted(marks) == wanted[end]


@pytest.mark.crossed
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, np.uint32])
@pytest.mark.parametrize("holes", [False, True])
def test_rows_of_slots_are_made_at_once_as_one_by_one(dtype: type, holes: bool) -> None:
    rng = np.random.default_rng(3)
    data = (rng.normal(0, 1e3, 300) if np.dtype(dtype).kind == "f" else rng.integers(0, 100, 300)).astype(
        dtype
    )
    if np.dtype(dtype).kind == "f":
        data[:6] = 0.0, -0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).tiny
    if dtype is np.int64:
        data[:3] = -(1 << 63), (1 << 63) - 1, -1
    valid = (rng.random(300) < 0.8).astype(np.uint8) if holes else np.empty(0, np.uint8)
    out = np.empty((3, len(data)), np.int32)
    value_rows(data, valid, out)
    sides, words = words_of(out)
    there = ~np.isnan(data) & (valid != 0 if holes else True)
    own = domain_of(data, None)
    wanted, at = in_domain(data, own, own, there)
    assert (sides[0] == np.where(there, at, NO_VALUE)).all()
    assert (words[0][there] == wanted[there]).all()

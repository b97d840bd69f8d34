"""Intervals in every unit of the order attribute: the engine compares gaps as the reference does."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.errors import QueryError
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Duration, Event, Instant
from cer_gpu.reference.semantics import evaluate

INTERVALS = {
    "s": [
        t.Interval(None, t.Bound(2, "s")),
        t.Interval(None, t.Bound(1.5, "s", open=True)),
        t.Interval(t.Bound(700, "ms"), None),
        t.Interval(t.Bound(1, "s", open=True), t.Bound(3, "s", open=True)),
        t.Interval(t.Bound(1, "s"), t.Bound(1, "s")),
        t.Interval(t.Bound(0.1, "s"), t.Bound(0.3, "s")),
        t.Interval(t.Bound(1, "ns", open=True), t.Bound(1, "min")),
    ],
    "": [
        t.Interval(None, t.Bound(2)),
        t.Interval(t.Bound(0, open=True), t.Bound(2.5)),
        t.Interval(t.Bound(1), t.Bound(1)),
        t.Interval(t.Bound(1.5), t.Bound(3, open=True)),
    ],
}

KINDS: dict[str, tuple[Any, list[float]]] = {
    "timestamp s": (pa.timestamp("s"), [0, 1, 1, 2]),
    "timestamp ms": (pa.timestamp("ms"), [0, 100, 300, 500, 700, 1000]),
    "timestamp us": (pa.timestamp("us"), [0, 1, 100_000, 700_000, 1_000_000]),
    "timestamp ns": (pa.timestamp("ns"), [0, 1, 300_000_000, 1_500_000_000]),
    "duration ms": (pa.duration("ms"), [0, 300, 700, 1000, 1500]),
    "int64": (pa.int64(), [0, 1, 2, 3]),
    "float64": (pa.float64(), [0, 0.1, 0.2, 0.7, 1, 1.5]),
}


@pytest.mark.parametrize(("kind", "unit"), [(kind, "s") for kind in KINDS] + [("int64", ""), ("float64", "")])
def test_gaps_are_compared_as_the_reference_does(kind: str, unit: str) -> None:
    arrow, steps = KINDS[kind]
    rng = Random(f"{kind} {unit}")
    options = {"order_unit": "ms" if "64" in kind else None} if unit else {}
    if unit and "64" in kind:
        steps = [step * 1000 for step in steps]
    answers = 0
    for _ in range(6):
        moments, now = [], 0.0
        for _ in range(12):
            now += rng.choice(steps)
            moments.append(now if kind == "float64" else int(now))
        types = [rng.choice("AB") for _ in moments]
        events = [
            Event(name, {"ts": _value(kind, moment)}) for name, moment in zip(types, moments, strict=True)
        ]
        column = pa.array(moments, pa.float64() if kind == "float64" else pa.int64())
        table = pa.table({"type": types, "ts": column.cast(arrow)})
        for interval in INTERVALS[unit]:
            pattern = t.Sequence(
                t.Iteration(t.EventType("A"), False, interval), t.EventType("B"), False, interval
            )
            query = t.SelectQuery(pattern)
            wanted = evaluate(query, events, order="ts", **options)
            compiled = cer.compile(to_text(query))
            given = {name: value for name, value in options.items() if value}
            found = [(ce.start, ce.end) for ce in compiled.run(table, order_by="ts", **given)]
            assert sorted(found) == sorted((one.start, one.end) for one in wanted)
            assert compiled.count(table, order_by="ts", **given) == len(wanted)
            answers += len(wanted)
    assert answers > 50


def _value(kind: str, moment: float) -> object:
    if kind.startswith("timestamp"):
        return Instant(int(moment), kind.split()[1])
    if kind.startswith("duration"):
        return Duration(int(moment), kind.split()[1])
    return moment


def test_times_far_apart_are_compared_exactly() -> None:
    query = cer.compile("SELECT * WHERE A ;[> 5] A")
    far = pa.table({"type": ["A"] * 4, "ts": [-(2**63), -(2**63) + 5, 0, 2**63 - 1]})
    assert query.count(far, order_by="ts") == 5


def test_months_are_refused_with_a_hint() -> None:
    with pytest.raises(cer.QueryError, match="month"):
        cer.compile("SELECT * WHERE A ;[<= 1 month] A")


@pytest.mark.parametrize(("filter_of", "params"), [("s LIKE 'x$'", {}), ("n > $n", {"n": 0})])
def test_a_window_of_the_pattern_stays_beside_what_is_compared_later(
    filter_of: str, params: dict[str, Any]
) -> None:
    """LIKE and parameters are put into a plan that is there already, which keeps its window."""
    query = cer.compile(f"SELECT * WHERE (A AS a ; B FILTER a[{filter_of}]) WITHIN [<= 3 s]")
    table = pa.table(
        {"type": list("AABB"), "s": ["x"] * 4, "n": [1] * 4, "ts": pa.array([0, 2, 4, 9], pa.timestamp("s"))}
    )
    assert query.hits(table, order_by="ts", params=params)["latest_start"].to_pylist() == [1]
    assert query.counts(table, order_by="ts", params=params)["count"].to_pylist() == [1]


@pytest.mark.crossed
@pytest.mark.parametrize("unit", ["month", "MONTHS", "quarters", "year"])
@pytest.mark.parametrize(
    "pattern", ["A ;[<= 2 {}] B", "A+[> 2 {}]", "(A ; B) WITHIN [<= 2 {}]", "A ; B WITHIN 2 {}"]
)
def test_spans_of_the_calendar_are_refused_with_a_hint(pattern: str, unit: str) -> None:
    with pytest.raises(QueryError) as refused:
        cer.compile(f"SELECT * WHERE {pattern.format(unit)}")
    (finding,) = refused.value.diagnostics
    assert finding.code == "CER015"
    assert finding.message == f"`{unit}` is not a unit of time"
    assert "differ in length: write days, such as" in finding.hints[0]


@pytest.mark.parametrize("span", ["1h30min", "2d12h", "1 m30s"])
def test_units_without_a_space_between_are_refused_with_a_hint(span: str) -> None:
    with pytest.raises(QueryError, match="is not a unit of time") as refused:
        cer.compile(f"SELECT * WHERE A ; B WITHIN {span}")
    assert ("leave a space after each unit" in str(refused.value)) == (span != "1 m30s")

"""Iterations with a threshold on a sum, a mean or an extreme: windows that slide, against the reference."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from random_thresholds import aggregate_thresholds_query
from test_ordered_random import tiny_pieces
from test_thresholds_of_counts import agree

import cer_gpu as cer
from cer_gpu.errors import DataError

__all__ = ["tiny_pieces"]


@pytest.mark.draws("seed", 4)
def test_random_thresholds_agree_with_the_reference(seed: int) -> None:
    agree(f"aggregates {seed}", aggregate_thresholds_query, 12)


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 4)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"aggregates pieces {seed}", aggregate_thresholds_query, 12)


def values_of(kind: str, rng: np.random.Generator, count: int) -> pa.Array:
    """Values of a type, a tenth of them missing."""
    whole = rng.integers(-20, 60, count)
    missing = rng.random(count) < 0.1
    made = {
        "int64": lambda: pa.array(whole, mask=missing),
        "int8": lambda: pa.array(whole.astype(np.int8), mask=missing),
        "uint64": lambda: pa.array(np.abs(whole).astype(np.uint64), mask=missing),
        "large": lambda: pa.array(whole * 2**50 + 1, mask=missing),
        "tenths": lambda: pa.array(whole / 10, mask=missing),
        "floats": lambda: pa.array(np.where(missing, np.nan, whole.astype(np.float64))),
        "float32": lambda: pa.array(whole.astype(np.float32) / 3, mask=missing),
        "wild": lambda: pa.array(
            np.where(rng.random(count) < 0.02, np.where(whole > 0, np.inf, -np.inf), whole / 7)
        ),
        "duration": lambda: pa.array(whole * 1000, pa.duration("ms"), mask=missing),
    }
    return made[kind]()


CONDITIONS = (
    "SUM(b.v) > 100{unit}", "SUM(b.v) <= -15{unit}", "AVG(b.v) >= 30.5", "AVG(b.v) < 2", "AVG(b.v) > 20",
    "MAX(b.v) - MIN(b.v) > 60{unit}", "MAX(b.v - b.v + b.v) > 55{unit}", "MIN(b.v - b.v + b.v) > 50{unit}",
    "SUM(2 * b.v - b.w) > 300{unit}",
)  # fmt: skip


@pytest.mark.parametrize(
    "kind", ["int64", "int8", "uint64", "large", "tenths", "floats", "float32", "wild", "duration"]
)
def test_all_types_agree_with_partial_matches(kind: str) -> None:
    rng = np.random.default_rng(7)
    count = 300
    values = values_of(kind, rng, count)
    table = pa.table(
        {
            "type": rng.choice(["b", "b", "b", "c"], count),
            "key": rng.integers(0, 2, count),
            "v": values,
            "w": values.take(rng.permutation(count)),
            "ts": pa.array(np.cumsum(rng.integers(0, 3, count)), pa.timestamp("s")),
        }
    )
    unit = " s" if kind == "duration" else ""
    scale = 2**50 if kind == "large" else 1
    found = 0
    for number, condition in enumerate(CONDITIONS):
        if unit and "AVG" in condition:
            continue
        written = condition.format(unit=unit)
        if scale > 1:
            *start, bound = written.split()
            written = " ".join([*start, str(int(float(bound) * scale) + 3 * ("AVG" not in condition))])
        for iteration in ("+", ":+"):
            # There are as many partial matches of `+` as choices of the window's events.
            window = (
                ("4 EVENTS", "3 s")[number % 2] if iteration == "+" else ("30 EVENTS", "25 s")[number % 2]
            )
            key = ("", " PARTITION BY key")[(number + len(iteration)) % 2]
            query = cer.compile(
                f"SELECT NONE WHERE (b AS b) {iteration} FILTER {written}{key} WITHIN {window}"
            )
            assert query._plan.chosen.engine_for("hits") == "threshold"
            hits = query.hits(table, order_by="ts")
            assert hits.equals(query.hits(table, order_by="ts", engine="general")), (written, iteration)
            assert query.hits(table.to_reader(50), order_by="ts").equals(hits)
            found += len(hits)
    assert found > 150


SUMMED = "SELECT NONE WHERE (b AS b) :+ FILTER SUM(b.v) > {bound} WITHIN 3 EVENTS"


def large(*values: int, kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"type": ["b"] * len(values), "v": pa.array(values, kind or pa.int64())})


def test_sums_that_may_not_fit_are_left_to_partial_matches() -> None:
    query, table = cer.compile(SUMMED.format(bound=5)), large(2**62, -(2**62), 7, 2**62, -9)
    hits = query.hits(table)
    assert hits.equals(query.hits(table, engine="general"))
    assert hits["position"].to_pylist() == [0, 2, 3, 4]


def test_sums_that_do_not_fit_are_an_error() -> None:
    query = cer.compile(SUMMED.format(bound=5))
    for table in (large(2**62, 2**62), large(2**63, 1, kind=pa.uint64())):
        with pytest.raises(DataError, match="64 bits"):
            query.hits(table)
        with pytest.raises(DataError, match="64 bits"):
            query.hits(table.to_reader())
    # Further apart than a window, they are never added.
    assert len(query.hits(large(2**62, 0, 0, 0, 2**62 - 1, 0, 0, 0, 2**62 - 1)))


def test_sums_of_floats_are_added_in_their_order() -> None:
    tenths = pa.table({"type": ["b"] * 3, "v": [0.1, 0.2, 0.3]})
    # 0.1 + 0.2 + 0.3 is 0.6000000000000001, and 0.3 + 0.2 + 0.1 is 0.6.
    query = cer.compile(SUMMED.format(bound=0.6))
    assert query.hits(tenths)["position"].to_pylist() == [2]
    assert not len(query.hits(tenths.take(pa.array([2, 1, 0]))))
    large = pa.table({"type": ["b"] * 4, "v": [1e16, 1.0, 1.0, -1e16]})
    query = cer.compile("SELECT NONE WHERE (b AS b) :{4,} FILTER SUM(b.v) > 1")
    assert not len(query.hits(large))


def test_decimals_and_several_conditions_are_left_to_partial_matches() -> None:
    table = pa.table({"type": ["b"] * 2, "v": pa.array([1, 2], pa.decimal128(9, 2))})
    query = cer.compile("SELECT NONE WHERE (b AS b) :+ FILTER SUM(b.v) > 2")
    assert query.hits(table)["position"].to_pylist() == [1]
    for condition in ("SUM(b.v) > 2 AND COUNT(b) > 1", "SUM(b.v) = 2", "SUM(b.v) / 2 > 1", "AVG(b.v) != 3"):
        query = cer.compile(f"SELECT NONE WHERE (b AS b) :+ FILTER {condition}")
        assert query._plan.chosen.engine_for("hits") == "general"
    assert cer.compile("SELECT NONE WHERE (b AS b) :{2,} FILTER SUM(b.v) > 1")._plan.chosen.engine_for(
        "hits"
    ) == ("general")


def test_a_parameter_is_a_bound() -> None:
    query = cer.compile("SELECT NONE WHERE (b AS b)+ FILTER SUM(b.v) > $least LIMIT 1")
    assert query._plan.chosen.engine_for("hits") == "threshold"
    table = large(1, 2, 3, 4)
    assert [query.count(table, params={"least": least}) for least in (0, 3, 9, 10)] == [4, 2, 1, 0]


def test_wide_windows_cost_no_more_than_narrow_ones() -> None:
    """Each start in the window is a partial match of its own: 100,000 events of 20,000 were too many."""
    rng = np.random.default_rng(5)
    count, window = 100_000, 20_000
    values = rng.integers(-1000, 1000, count)
    table = pa.table({"type": ["b"] * count, "v": values, "p": values / 10})
    prefix = np.append(0, np.cumsum(values))
    bound = 60_000
    for column, least in (("v", bound), ("p", bound / 10 + 0.05)):
        query = cer.compile(
            f"SELECT NONE WHERE (b AS b) :+ FILTER SUM(b.{column}) > {least} WITHIN {window} EVENTS"
        )
        hits = query.hits(table)
        starts = hits["latest_start"].to_numpy()
        ends = hits["position"].to_numpy()
        assert (prefix[ends + 1] - prefix[starts] > bound).all()
        least_before = np.array(
            [prefix[max(0, end - window) : end + 1].min() for end in range(0, count, 501)]
        )
        wanted = np.flatnonzero(prefix[1::501] - least_before > bound) * 501
        assert np.array_equal(ends[ends % 501 == 0], wanted)
        assert 0 < len(ends) < count

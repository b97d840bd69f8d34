"""Time must not run backwards: what is checked, what the errors say, and what sort=True does."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.run import bound_query

PAIR = "SELECT * WHERE A AS a ; B AS b WITHIN 10 [ts]"


def table(times: list[Any], kinds: str = "ABABAB", **columns: Any) -> pa.Table:
    return pa.table({"type": list(kinds[: len(times)]), "ts": times, **columns})


@pytest.fixture(params=[1 << 20, 2])
def _batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound_query, "BATCH", request.param)


pytestmark = pytest.mark.usefixtures("_batch")


def test_a_batch_that_breaks_the_order_names_the_row() -> None:
    message = r"row 3 .*out of order by `ts`: it has 4, and the row above it 5; sort the data.*sort=True"
    with pytest.raises(cer.DataError, match=message):
        cer.compile(PAIR).count(table([1, 2, 5, 4, 6]), order_by="ts")


@pytest.mark.parametrize("missing", [None, math.nan, math.inf])
def test_every_event_needs_a_time(missing: float | None) -> None:
    times = pa.array([1.0, 2.0, missing, 4.0], pa.float64())
    with pytest.raises(cer.DataError, match=r"row 2 .* has no time: `ts` is (null|NaN|infinite)"):
        cer.compile(PAIR).count(table(times), order_by="ts")


def test_ties_are_fine_and_keep_their_order() -> None:
    found = list(cer.compile(PAIR).run(table([1, 1, 1, 1], "ABBA"), order_by="ts"))
    assert [(ce.start, ce.end) for ce in found] == [(0, 1), (0, 2)]


def test_further_columns_break_ties_and_are_checked() -> None:
    events = table([1, 1, 1, 2], "ABAB", seq=[0, 2, 1, 0])
    with pytest.raises(cer.DataError, match=r"row 2 .* `ts`, `seq`"):
        cer.compile(PAIR).count(events, order_by=["ts", "seq"])
    assert cer.compile(PAIR).count(events.take([0, 2, 1, 3]), order_by=["ts", "seq"]) == 4
    nothing = events.append_column("nothing", pa.nulls(4))
    assert cer.compile(PAIR).count(nothing, order_by=["ts", "nothing", "seq"]) == 3
    words = table([1, 1, 2], "ABB", word=["b", "a", "a"])
    with pytest.raises(cer.DataError, match="row 1"):
        cer.compile(PAIR).count(words, order_by=["ts", "word"])


def test_inside_a_partition_only() -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B AS b PARTITION BY k WITHIN 10 [ts]")
    events = table([5, 1, 6, 2, 7, 3], "AABBBB", k=["x", "y", "x", "y", "x", "y"])
    assert query.count(events, order_by="ts") == 4
    late = table([5, 1, 6, 2, 4, 3], "AABBBB", k=["x", "y", "x", "y", "x", "y"])
    with pytest.raises(cer.DataError, match=r"row 4 .*is out of order by `.*` in its partition \('x'\)"):
        query.count(late, order_by="ts")


def test_sorting_on_demand() -> None:
    shuffled = table([4, 1, 3, 2], "BABA", seq=[0, 1, 2, 3])
    found = [
        (ce.start, ce.end, ce.marks["a"]) for ce in cer.compile(PAIR).run(shuffled, order_by="ts", sort=True)
    ]
    assert found == [(0, 2, (0,)), (1, 2, (1,)), (0, 3, (0,)), (1, 3, (1,))]


def test_times_of_start_and_end() -> None:
    times = pa.array([1000, 2000, 3000], pa.timestamp("ms", tz="UTC"))
    rows = cer.compile("SELECT a, b[p] WHERE A AS a ; B AS b WITHIN 5 SECONDS").run(
        table(times, "ACB", p=[1.5, 2.5, None]), order_by="ts"
    )
    assert rows.to_arrow().schema.names == ["start", "end", "start_time", "end_time", "a", "b", "b[p]"]
    (row,) = rows.to_arrow().to_pylist()
    assert (row["start_time"], row["end_time"]) == (times[0].as_py(), times[2].as_py())
    assert row["b[p]"] == [{"p": None}]
    assert rows.to_pandas(flat=False).shape == (1, 7)
    assert rows.to_pandas().columns.tolist()[4:] == ["a", "a_time", "b", "b_time", "b_p"]


def test_units_of_a_plain_number() -> None:
    events = table([0, 1500, 4000], "ABB")
    query = cer.compile("SELECT * WHERE A ; B WITHIN 2 SECONDS")
    assert query.count(events, order_by="ts", order_unit="ms") == 1
    assert query.count(events, order_by="ts", order_unit="us") == 2
    with pytest.raises(cer.QueryError, match="order_unit"):
        query.count(events, order_by="ts")
    with pytest.raises(cer.QueryError, match="order_by"):
        query.count(events)

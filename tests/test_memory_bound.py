"""`memory=`, and without it the free memory, bound what machines hold while they follow events."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine import memory
from cer_gpu.engine.machines.registers import RegisterRuns

SCANS = """
    SELECT NONE, COUNT(DISTINCT c.dst) AS dests FROM Conn
    WHERE (Conn AS c) :+ FILTER COUNT(DISTINCT c.dst) >= 5 PARTITION BY src WITHIN 10 SECONDS
"""
ALLOWED = 20_000_000


def connections(count: int, hosts: int = 4) -> pa.Table:
    """Connections of one source to a few hosts, a millisecond apart: every one of them stays open."""
    return pa.table(
        {
            "type": ["Conn"] * count,
            "src": ["a"] * count,
            "dst": [f"h{number % hosts}" for number in range(count)],
            "ts": pa.array(range(count), pa.timestamp("ms")),
        }
    )


def in_backtest(query: cer.Query, table: pa.Table, **keywords: Any) -> object:
    return cer.backtest({"scans": query}, table, **keywords)


def in_a_stream(query: cer.Query, table: pa.Table, **keywords: Any) -> object:
    with query.stream(**keywords) as stream:
        return stream.push(table).to_arrow()


ASKED: dict[str, Callable[..., object]] = {
    "run": lambda query, table, **keywords: query.run(table, **keywords).to_arrow(),
    "count": lambda query, table, **keywords: query.count(table, **keywords),
    "stream": in_a_stream,
    "backtest": in_backtest,
}


@pytest.mark.parametrize("asked", ["run", "count", "stream"])
def test_partial_matches_stay_within_memory(asked: str) -> None:
    query, table = cer.compile(SCANS), connections(4000)
    ASKED[asked](query, table.slice(0, 200), order_by="ts")  # what is loaded and compiled first
    tracemalloc.start()
    try:
        with pytest.raises(
            cer.LimitError, match=r"current events, need .* memory=20,000,000 is allowed.*narrower"
        ):
            ASKED[asked](query, table, order_by="ts", memory=ALLOWED)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * ALLOWED  # with batches and results


@pytest.mark.parametrize("asked", ASKED)
def test_without_memory_the_free_memory_is_the_bound(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: memory.RESERVE + 30_000_000)
    monkeypatch.setattr(memory, "LIGHT", 1_000_000)
    with pytest.raises(
        cer.LimitError, match=r"current events, need .* bytes, and .* are free on this machine"
    ):
        ASKED[asked](cer.compile(SCANS), connections(4000), order_by="ts")


def test_hits_hold_little(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.concat_tables([connections(4000), connections(1, 1).set_column(2, "dst", pa.array(["x"]))])
    table = table.set_column(3, "ts", pa.array(range(4001), pa.timestamp("ms")))
    hits = cer.compile(f"{SCANS} CONSUME BY PARTITION").hits(table, order_by="ts", memory=2_000_000)
    assert hits.to_pylist()[0]["position"] == 4000
    assert hits.to_pylist()[0]["latest_start"] == 3996


def test_the_machine_of_python_values_looks_at_memory() -> None:
    query = cer.compile("SELECT * WHERE (A AS a) + FILTER SUM(a.v) != 1.5")
    table = pa.table({"type": ["A"] * 30, "v": pa.array([2**n for n in range(30)], pa.decimal128(30, 2))})
    stream = query.stream(memory=2_000_000)
    stream.push(table.slice(0, 4))
    assert isinstance(stream._run.runner.runs, RegisterRuns)
    with pytest.raises(cer.LimitError, match=r"current events, need .* memory=2,000,000 is allowed"):
        stream.push(table.slice(4))


def test_long_matches_of_one_end_are_found_at_once() -> None:
    """3,000 matches of 1,500 events each are few, and have more marks than there is room for at first."""
    count = 3000
    table = connections(count - 1).append_column("n", pa.array(range(count - 1)))
    last = pa.table(
        {"type": ["Conn"], "src": ["a"], "dst": ["x"], "ts": pa.array([count], pa.timestamp("ms"))}
    )
    table = pa.concat_tables([table.drop(["n"]), last])
    query = cer.compile(SCANS.replace("SELECT NONE,", "SELECT c,"))
    matches = query.run(table, order_by="ts")
    starts = [batch["start"].to_pylist() for batch in matches.batches()]
    assert [start for each in starts for start in each] == list(range(count - 4))


def test_the_rows_of_configurations_are_bound_where_no_nodes_are_made() -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a.v + b.v != 7")
    table = pa.table({"type": ["A"] * 60_000 + ["B"], "v": range(60_001)})
    assert query.count(table) == 60_000
    with pytest.raises(cer.LimitError, match=r"partial matches are open|current events, need"):
        query.count(table, memory=3_000_000)


PUSHED = [
    "SELECT * WHERE A ;[<= 5 s] B",
    "SELECT * WHERE A ;[5 s, 9 s] B",
    "SELECT * WHERE A AS x ; B AS y FILTER x.q < y.q WITHIN 5 EVENTS",
]


@pytest.mark.parametrize("text", PUSHED)
def test_a_large_push_with_little_open_is_taken(text: str) -> None:
    """What is open is little: that the answers of a push take more than is allowed is the caller's choice."""
    count = 200_000
    times = pa.array(range(count), pa.timestamp("s"))
    table = pa.table({"type": ["A", "B"] * (count // 2), "ts": times, "q": pa.array(range(count))})
    query = cer.compile(text)
    pushed = query.stream(order_by="ts", memory=20_000_000).push(table)
    assert sum(len(batch) for batch in pushed.batches()) == query.count(table, order_by="ts") > count // 3


def test_dead_nodes_of_python_values_are_dropped_before_memory_is_refused() -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a.v + b.v != 1.5 WITHIN 3 EVENTS")
    values = pa.array(range(30_000), pa.decimal128(30, 2))
    table = pa.table({"type": ["A", "C", "C", "C", "C"] * 6000, "v": values})
    with query.stream(memory=1_500_000) as stream:
        assert stream.push(table).to_arrow().num_rows == 0

"""With PARTITION BY each partition is ordered by itself: nothing is lost to the time of another one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.engine.machines import stream_state
from cer_gpu.engine.read import eviction, lookahead
from cer_gpu.engine.run import bound_query, chunks

WINDOW = 10
SEQUENCE = f"SELECT a, b WHERE A AS a ; B AS b PARTITION BY k WITHIN {WINDOW} [ts]"


class Row(NamedTuple):
    type: str
    k: str
    ts: int


def table(rows: list[Row]) -> pa.Table:
    columns = [[row[place] for row in rows] for place in range(3)]
    return pa.table(dict(zip(Row._fields, columns, strict=True)))


def ordered_by_itself(rng: Random, keys: int, rows: int, spread: int) -> list[Row]:
    """Each key in the order of time, from a time of its own on."""
    clock = {key: rng.randrange(spread) for key in range(keys)}
    found = []
    for _ in range(rows):
        key = rng.randrange(keys)
        clock[key] += rng.choice([0, 1, 1, 4, 15])
        found.append(Row(rng.choice("AABN"), f"k{key}", clock[key]))
    return found


def pairs(rows: list[Row]) -> list[tuple[int, int]]:
    """The complex events of `SEQUENCE` by definition: (end, start)."""
    return [
        (j, i)
        for j, last in enumerate(rows)
        for i, first in enumerate(rows[:j])
        if (first.type, last.type, first.k) == ("A", "B", last.k) and last.ts - first.ts <= WINDOW
    ]


@pytest.fixture(params=[1, 3, 16])
def _tiny(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches and chunks of a few events; keys that are no longer needed are forgotten all the time."""
    monkeypatch.setattr(bound_query, "BATCH", request.param)
    monkeypatch.setattr(chunks, "CHUNK", request.param)
    monkeypatch.setattr(chunks, "LEAST_PURGED", 1)
    monkeypatch.setattr(eviction, "REMEMBERED", 2)
    monkeypatch.setattr(lookahead, "BLOCK", 2)
    monkeypatch.setattr(lookahead, "BATCH", 3)


def forms(rows: list[Row], folder: Path) -> Iterator[tuple[str, Any]]:
    """The events as sources of every kind: in memory, in files, and such as can be read once."""
    whole = table(rows)
    pq.write_table(whole, folder / "events.parquet", row_group_size=7)
    yield "table", whole
    yield "file", folder / "events.parquet"
    yield "reader", whole.to_reader(max_chunksize=2)


def answers(rows: list[Row], query: cer.Query, folder: Path, **options: Any) -> dict[str, list[Any]]:
    """What every product gives, from every source."""
    found: dict[str, list[Any]] = {}
    for name, events in forms(rows, folder):
        if name != "reader":
            found[f"{name}: count"] = [query.count(events, order_by="ts", **options)]
            found[f"{name}: counts"] = query.counts(events, order_by="ts", **options).to_pylist()
            found[f"{name}: hits"] = query.hits(events, order_by="ts", **options).to_pylist()
        given = query.run(events, order_by="ts", **options)
        found[f"{name}: run"] = [(ce.end, ce.start, ce.partition) for ce in given]
    with query.stream(order_by="ts", **options) as stream:
        pushed = [stream.push(table(rows[at : at + 2])) for at in range(0, len(rows), 2)]
        # What a push has given may be listed later, when keys have been forgotten.
        found["stream: run"] = [(ce.end, ce.start, ce.partition) for each in pushed for ce in each]
    return found


def check(rows: list[Row], folder: Path, **options: Any) -> int:
    """Assert that all answers are those by definition; how many there are."""
    expected = pairs(rows)
    ends = sorted({end for end, _ in expected})
    listed = [(end, start, (rows[end].k,)) for end, start in sorted(expected)]
    for name, found in answers(rows, cer.compile(SEQUENCE), folder, **options).items():
        match name.split(": ")[1]:
            case "count":
                assert found == [len(expected)], name
            case "counts":
                assert [(row["position"], row["count"]) for row in found] == [
                    (end, sum(other == end for other, _ in expected)) for end in ends
                ], name
            case "hits":
                assert [(row["position"], row["latest_start"]) for row in found] == [
                    (end, max(start for other, start in expected if other == end)) for end in ends
                ], name
            case "run":
                assert found == listed, name
    return len(expected)


@pytest.mark.usefixtures("_tiny")
@pytest.mark.draws("seed", 6)
def test_each_partition_is_ordered_by_itself(seed: int, tmp_path: Path) -> None:
    rng = Random(f"ordered by itself {seed}")
    rows = ordered_by_itself(rng, rng.choice([2, 5, 12]), 60, rng.choice([1, 20, 200]))
    assert check(rows, tmp_path) > 5


@pytest.mark.usefixtures("_tiny")
@pytest.mark.draws("seed", 3)
def test_a_stream_that_falls_out_of_order_late(seed: int, tmp_path: Path) -> None:
    rng = Random(f"late {seed}")
    rows = sorted(ordered_by_itself(rng, 8, 50, 100), key=lambda row: row.ts)
    # Keys that time has long left behind, and one that is new, go on where each of them was.
    last = {row.k: row.ts for row in rows}
    late = sorted(last, key=lambda key: last[key])[:4]
    rows += [Row("B", key, last[key] + rng.randrange(12)) for key in late]
    rows += [Row("A", "new", 3), Row("B", "new", 4)]
    assert check(rows, tmp_path) > 5


@pytest.mark.usefixtures("_tiny")
def test_in_order_as_a_whole(tmp_path: Path) -> None:
    rng = Random("in order")
    rows = sorted(ordered_by_itself(rng, 20, 80, 300), key=lambda row: row.ts)
    assert check(rows, tmp_path) > 5
    shuffled = rng.sample(rows, len(rows))
    given = cer.compile(SEQUENCE).run(table(shuffled), order_by="ts", sort=True)
    steady = sorted(shuffled, key=lambda row: row.ts)
    assert [(ce.end, ce.start) for ce in given] == sorted(pairs(steady))


@pytest.mark.parametrize("strategy", ["", "LAST"])
def test_a_push_does_not_drop_what_another_partition_needs(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither where a push costs what is new nor where it runs the window again; both drop at once."""
    monkeypatch.setattr(stream_state, "LEAST", 1)
    monkeypatch.setattr(chunks, "LEAST_PURGED", 0)
    monkeypatch.setattr(eviction, "REMEMBERED", 1)
    pushes = [[Row("A", "k1", 0), Row("A", "k2", 100)]]
    pushes += [[Row("A", "k2", 101 + at)] for at in range(8)]
    stream = cer.compile(SEQUENCE.replace("SELECT", f"SELECT {strategy}")).stream(order_by="ts")
    assert not any(len(list(stream.push(table(rows)))) for rows in pushes)
    assert [(ce.start, ce.end) for ce in stream.push(table([Row("B", "k1", 5)]))] == [(0, 10)]


def test_blocks_that_time_has_passed_count_where_their_key_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Four blocks of A's, each with keys and a time of its own, then a B for each key of the first block."""
    monkeypatch.setattr(chunks, "CHUNK", 512)
    monkeypatch.setattr(chunks, "LEAST_PURGED", 64)
    monkeypatch.setattr(bound_query, "BATCH", 256)
    rows = [Row("A", f"{block} {at % 50}", 100 * block) for block in range(4) for at in range(1000)]
    rows += [Row("B", f"0 {at}", 1) for at in range(50)]
    for name, events in forms(rows, tmp_path):
        assert cer.compile(SEQUENCE).count(events, order_by="ts") == 1000, name


# ------------------------------------------------------------------------------ errors about the order


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("window", ["WITHIN 10 [ts]", "WITHIN 3 EVENTS", ""])
def test_a_row_out_of_order_is_found_however_the_input_is_cut(window: str, tmp_path: Path) -> None:
    """The row before it in its partition is one that the query has no use for."""
    rows = [Row("A", "x", 1), Row("N", "y", 9), Row("N", "x", 8), Row("A", "z", 10), Row("A", "z", 10)]
    rows += [Row("N", "w", 2), Row("B", "x", 7), Row("B", "z", 3)]
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b PARTITION BY k {window}")
    message = r"row 6 .*is out of order by `ts` in its partition \('x'\): it has 7, and an earlier row 8;"
    for _, events in forms(rows, tmp_path):
        with pytest.raises(cer.DataError, match=message):
            query.run(events, order_by="ts").to_arrow()
        if not isinstance(events, pa.RecordBatchReader):
            with pytest.raises(cer.DataError, match=message):
                query.count(events, order_by="ts")
    stream = query.stream(order_by="ts")
    for row in rows[:6]:
        stream.push(table([row]))
    with pytest.raises(cer.DataError, match=message):
        stream.push(table(rows[6:]))


@pytest.mark.crossed
@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("partition", ["", "PARTITION BY k"])
@pytest.mark.parametrize("null", [2, 5])
def test_of_several_faults_the_first_is_named(partition: str, null: int) -> None:
    times: list[int | None] = [1, 2, 3, 4, 3, 9]
    times[null] = None
    events = pa.table({"type": list("ABABAB"), "k": ["x"] * 6, "ts": times})
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b {partition} WITHIN 10 [ts]")
    with pytest.raises(
        cer.DataError, match=r"row 2 .* has no time" if null == 2 else r"row 4 .* is out of order by `ts`"
    ):
        query.count(events, order_by="ts")


TIES: dict[str, list[Any]] = {
    "numbers": [0, 1, 2, 3, 4],
    "floats": [0.5, 1.5, 2.5, 3.5, 4.5],
    "texts": ["a", "aa", "b", "bc", "c"],
    "times": [datetime(2024, 1, day) for day in (1, 2, 3, 4, 5)],
}


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("kind", TIES)
def test_what_breaks_ties_is_checked_inside_each_partition(kind: str, tmp_path: Path) -> None:
    """As a whole the stream is out of order, and a null says nothing of the order."""
    values = TIES[kind]
    rows = [("x", 1, 0), ("y", 9, 4), ("y", 9, None), ("y", 9, 0), ("x", 1, 0), ("z", 5, 3), ("x", 1, 2)]
    rows += [("x", 2, 1), ("w", 1, 1), ("x", 2, 2), ("z", 5, 2), ("x", 2, 0)]
    columns = {
        "type": list("ABABABABABAB"),
        "k": [key for key, _, _ in rows],
        "ts": [time for _, time, _ in rows],
        "seq": [None if place is None else values[place] for _, _, place in rows],
    }
    events = pa.table(columns)
    pq.write_table(events, tmp_path / "events.parquet")
    query = cer.compile(SEQUENCE)
    message = (
        r"row 10 .*is out of order by `ts`, `seq` in its partition \('z'\): it has 5, .+, and an earlier row "
        r"5(, | with a later `seq`)"
    )

    def snapshots(given: pa.Table) -> int:
        state, number = None, 0
        for at in range(len(given)):
            stream = query.stream(order_by=["ts", "seq"], state=state)
            number += len(list(stream.push(given.slice(at, 1))))
            state = stream.snapshot()
        return number

    def count(given: Any) -> int:
        return query.count(given, order_by=["ts", "seq"])

    for run, given in (
        (count, events), (count, tmp_path / "events.parquet"), (count, events.to_reader(max_chunksize=2)),
        (snapshots, events),
    ):  # fmt: skip
        with pytest.raises(cer.DataError, match=message):
            run(given)
    right = events.slice(0, 10)
    assert snapshots(right) == count(right) == query.count(right, order_by="ts")


@pytest.mark.usefixtures("_tiny")
def test_of_time_and_what_breaks_ties_the_first_fault_is_named() -> None:
    events = pa.table({"type": list("ABAB"), "ts": [1, 1, 2, 1], "seq": [2, 1, 0, 0]})
    with pytest.raises(
        cer.DataError,
        match=r"row 1 .*is out of order by `ts`, `seq`: it has 1, 1, and the row above it 1, 2;",
    ):
        cer.compile("SELECT * WHERE A ; B WITHIN 10 [ts]").count(events, order_by=["ts", "seq"])

"""Partitions for which memory has no room are put on disk, and that is never seen in an answer."""

from __future__ import annotations

import math
import resource
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from snapshots import stored

import cer_gpu as cer
from cer_gpu.engine import memory
from cer_gpu.engine.read import eviction, spill, spill_files
from cer_gpu.engine.run import bound_query, chunks

pytestmark = pytest.mark.crossed

SEQUENCE = "SELECT a, b WHERE A AS a ; B AS b PARTITION BY k WITHIN 10 [ts]"

QUERIES = [
    "SELECT a[v, text], b[ts] WHERE A AS a ; B AS b PARTITION BY k WITHIN 12 [ts]",
    "SELECT NEXT a[text], b WHERE A AS a ; B AS b PARTITION BY k WITHIN 12 [ts]",
    "SELECT a[text], b WHERE A AS a ; B AS b PARTITION BY k WITHIN 5 EVENTS",
    "SELECT * WHERE (A : B) ; A PARTITION BY k",
    "SELECT * WHERE A AS a ; B AS b PARTITION BY k, w WITHIN 12 [ts] CONSUME BY PARTITION",
    "SELECT * WHERE A AS a ; B AS b PARTITION BY x WITHIN 12 [ts] CONSUME BY ANY",
    "SELECT * WHERE A AS a ; B AS b PARTITION BY w, k WITHIN 3 EVENTS CONSUME BY PARTITION",
    "SELECT * WHERE A AS a ; B AS b PARTITION BY k WITHIN 12 [ts] SUPPRESS FOR 9",
    "SELECT * WHERE A AS a PARTITION BY x, k SUPPRESS FOR 9",
    "SELECT * WHERE A AS a ; B AS b PARTITION BY k WITHIN 12 [ts] CONSUME BY PARTITION SUPPRESS FOR 9",
    "SELECT * WHERE LAST(A ; B) ; A PARTITION BY k WITHIN 20 [ts] CONSUME BY ANY SUPPRESS FOR 4",
    "SELECT * WHERE A AS a ; B AS b ; A AS c PARTITION BY k WITHIN 2 [v]",
    "SELECT LAST * WHERE A AS a ; B AS b PARTITION BY k WITHIN 12 [ts]",
    "SELECT MAX * WHERE A+ ; B PARTITION BY k WITHIN 4 EVENTS",
    "SELECT * WHERE LAST(A AS a ; B AS b) ; A AS c PARTITION BY k WITHIN 20 [ts]",
    "SELECT * WHERE STRICT(A AS a ; B AS b) ; N PARTITION BY k WITHIN 4 EVENTS CONSUME BY PARTITION",
    "SELECT * WHERE LAST(A ; B) ; A PARTITION BY k WITHIN 20 [ts] CONSUME BY ANY",
    "SELECT * WHERE A AS a ; B AS b FILTER a.text = b.text PARTITION BY k WITHIN 12 [ts]",
    "SELECT * WHERE A AS a ; B AS b FILTER a.v = b.w AND a.x = b.x PARTITION BY k WITHIN 20 [ts]",
    "SELECT * WHERE A AS a ; B AS b ; A FILTER a.w = b.w PARTITION BY k WITHIN 0 [v]",
    "SELECT * WHERE A AS a : B AS b FILTER a.v = b.v PARTITION BY k, x WITHIN 3 EVENTS CONSUME BY PARTITION",
    "SELECT a[v, text], b[ts] WHERE (A AS a NOT FOLLOWED BY [<= 3] N) ; B AS b PARTITION BY k WITHIN 12 [ts]",
    "SELECT * WHERE A AS a ; B AS b PRECEDED BY [<= 9] (A ; N) PARTITION BY k WITHIN 12 [ts]",
    "SELECT * WHERE A AS a ; B AS b NOT PRECEDED BY [2, 9] (A ; N) PARTITION BY x, k WITHIN 12 [ts]",
    "SELECT * WHERE A ; B PRECEDED BY [<= 20] (LAST(A ; B) ; N) PARTITION BY k WITHIN 12 [ts]",
    "SELECT * WHERE A AS a ; B AS b NOT FOLLOWED BY [1 EVENTS, 2 EVENTS] N PARTITION BY k WITHIN 2 [v]",
]


@pytest.fixture(autouse=True, params=["always", "sometimes"])
def _little(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept is put on disk whenever it might be too much, or now and then."""
    rng = Random("too much")

    def too_much(
        of: object, nbytes: object, drop: Callable[[], None], put_away: Callable[[int], None], what: object
    ) -> None:
        if request.param == "always" or rng.random() < 0.7:
            drop()
            put_away(0)

    monkeypatch.setattr(memory.Allowance, "keep_to", too_much)
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LOOK", 1)
    monkeypatch.setattr(spill, "WRITTEN", 3)
    monkeypatch.setattr(spill_files, "ROWS", 2)
    monkeypatch.setattr(spill_files, "MAPPED", 4)
    monkeypatch.setattr(spill_files, "MOST_FILES", 6)


@pytest.fixture(name="back")
def _back(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many partitions came back from disk each time, and with how many events."""
    found: list[int] = []
    put_back = spill.AwayLanes._put_back

    def noted(
        of: spill.AwayLanes, lanes: np.ndarray, part: spill_files.SpilledLanes, payload: pa.Schema
    ) -> None:
        found.append(len(part.events))
        put_back(of, lanes, part, payload)

    monkeypatch.setattr(spill.AwayLanes, "_put_back", noted)
    return found


def ordered_by_itself(rng: Random, rows: int) -> pa.Table:
    """Keys that come, go and come again, each in the order of time from a time of its own on."""
    clock = {key: rng.randrange(200) for key in range(12)}
    columns = []
    for row in range(rows):
        key = rng.choice([rng.randrange(12), (row // 40 + rng.randrange(4)) % 12])
        clock[key] += rng.choice([0, 1, 1, 4])
        part = math.nan if key == 3 else key / 2
        text = rng.choice(["x", "y", "long text", None])
        columns.append(
            (rng.choice("AABBN"), f"k{key}", part, rng.randrange(2), rng.choice([0, 1, 1]), text, clock[key])
        )
    names = ("type", "k", "x", "w", "v", "text", "ts")
    table = pa.table(dict(zip(names, map(list, zip(*columns, strict=True)), strict=True)))
    place = table.schema.get_field_index("text")
    return table.set_column(place, "text", table["text"].dictionary_encode())


def cuts(table: pa.Table, rng: Random) -> Iterator[pa.Table]:
    at = 0
    while at < len(table):
        size = rng.randrange(1, 9)
        yield table.slice(at, size)
        at += size


def listed_answers(found: Any) -> list[str]:
    """Complex events as texts."""
    return as_texts(found.to_arrow())


def as_texts(table: pa.Table) -> list[str]:
    """Rows as texts: a NaN in a key equals itself."""
    return list(map(repr, table.to_pylist()))


@pytest.mark.parametrize("text", QUERIES)
def test_what_was_on_disk_changes_no_answer(
    text: str, back: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(text)
    query = cer.compile(text)
    table = ordered_by_itself(rng, 160)
    wanted = listed_answers(query.run(table, order_by="ts"))
    counted, hits = query.count(table, order_by="ts"), as_texts(query.hits(table, order_by="ts"))
    assert len(wanted) == counted
    assert counted > 5
    assert not back
    monkeypatch.setattr(bound_query, "BATCH", 7)
    monkeypatch.setattr(chunks, "CHUNK", 5)
    monkeypatch.setattr(chunks, "LEAST_PURGED", 2)
    monkeypatch.setattr(eviction, "REMEMBERED", 4)

    def reader() -> pa.RecordBatchReader:
        return table.to_reader(max_chunksize=5)

    for product in (
        lambda: listed_answers(query.run(reader(), order_by="ts")) == wanted,
        lambda: query.count(reader(), order_by="ts") == counted,
        lambda: as_texts(query.hits(reader(), order_by="ts")) == hits,
    ):
        back.clear()
        assert product()
        assert back or "WITHIN" not in text or "FOLLOWED" in text  # what waits stays in memory
    back.clear()
    stream = query.stream(order_by="ts")
    pushed = []
    for part in cuts(table, rng):
        stream = stored(stream, lambda state: query.stream(order_by="ts", state=state), rng, often=0.1)
        pushed.append(stream.push(part))
    if (last := stream.close()) is not None:
        pushed.append(last)
    # What a push has given may be listed later.
    found = [row for each in pushed for row in listed_answers(each)]
    assert (sorted(found) == sorted(wanted)) if "FOLLOWED" in text else found == wanted
    assert sum(back) > 5


@pytest.mark.parametrize("window", ["WITHIN 10 [ts]", "WITHIN 3 EVENTS", ""])
def test_a_row_out_of_order_is_found_after_its_partition_was_on_disk(window: str, back: list[int]) -> None:
    stream = cer.compile(f"SELECT * WHERE A AS a ; B AS b PARTITION BY k {window}").stream(order_by="ts")
    for number in range(60):
        stream.push(pa.table({"type": ["N"], "k": [f"k{number}"], "ts": [number + 10]}))
    assert not back
    stream.push(pa.table({"type": ["A"], "k": ["k7"], "ts": [17]}))
    assert back == [0]
    with pytest.raises(cer.DataError, match=r"row 61 .*out of order by .* in its partition \('k8'\)"):
        stream.push(pa.table({"type": ["A"], "k": ["k8"], "ts": [17]}))


@pytest.mark.parametrize("values", [[3, 4, 5], ["c", "d", "e"], [None, None, None]])
def test_what_breaks_ties_is_known_after_a_partition_was_on_disk(values: list[Any], back: list[int]) -> None:
    low, middle, high = values
    stream = cer.compile(SEQUENCE).stream(order_by=["ts", "seq"])
    schema = pa.schema(
        {"type": pa.string(), "k": pa.string(), "ts": pa.int64(), "seq": pa.array(values).type}
    )

    def push(key: int, seq: Any) -> None:
        row = {"type": "N", "k": f"k{key}", "ts": 1, "seq": seq}
        stream.push(pa.Table.from_pylist([row], schema))

    for key in range(60):
        push(key, middle)
    push(7, high)
    assert back == [0]
    if low is None:
        push(8, low)
        return
    with pytest.raises(
        cer.DataError,
        match=r"row 61 .*by `ts`, `seq` in its partition \('k8'\): it has 1, ., .* 1 with a later `seq`",
    ):
        push(8, low)


def late_answers(stream: Any, keys: int) -> int:
    """Push an A for each of many keys, then a B for each: how many complex events there are."""
    for kind in "AB":
        for first in range(0, keys, 50):
            names = [f"key {first + at}" for at in range(50)]
            found = stream.push(pa.table({"type": [kind] * 50, "k": names, "ts": [first] * 50}))
            if kind == "A":
                assert not len(list(found))
    return len(list(found)) if keys == 50 else -1


def test_a_full_disk_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = cer.compile(SEQUENCE).stream(order_by="ts")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, limit[1]))
    try:
        with pytest.raises(cer.LimitError, match=r"no room for cannot be stored in .*memory=.*TMPDIR"):
            late_answers(stream, 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    with pytest.raises(cer.DataError, match="closed"):
        late_answers(stream, 50)


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stream = cer.compile(SEQUENCE).stream(order_by="ts")
    late_answers(stream, 500)
    assert len(stream._run.intake.away) > 50
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------------- what lies on disk


def some(keys: list[int], rng: Random, model: dict[int, list[int]]) -> spill_files.SpilledLanes:
    """Partitions with events of their own; two of three keys have the same hash."""
    sizes = [rng.randrange(4) for _ in keys]
    for key, size in zip(keys, sizes, strict=True):
        model[key] = [rng.randrange(1000) for _ in range(size)]
    values = np.array([value for key in keys for value in model[key]], np.int64)
    return spill_files.SpilledLanes(
        np.array(keys, np.uint64) // np.uint64(3),
        pa.table({"key": pa.array(keys, pa.int64())}),
        pa.table({"value": values}),
        np.array(sizes, np.int64),
    )


@pytest.mark.draws("seed", 4)
def test_partitions_are_taken_as_they_were_put(seed: int) -> None:
    rng = Random(f"spilled {seed}")
    stored, model, made = spill_files.SpilledPartitions(), dict[int, list[int]](), 0
    for _ in range(300):
        if rng.random() < 0.4:
            number = rng.choice([1, 2, 9])
            stored.put([some(list(range(made, made + number)), rng, model)])
            made += number
        asked = rng.sample(range(made + 9), min(made, rng.choice([1, 3, 12])))
        hashes = np.array(asked, np.uint64) // np.uint64(3)
        found: dict[int, list[int]] = {}
        for which, part in stored.take(hashes, [("key", np.array(asked, np.int64))]):
            assert part.lanes["key"].to_pylist() == [asked[at] for at in which]
            values = iter(part.events["value"].to_pylist())
            for at, size in zip(which, part.sizes, strict=True):
                found[asked[at]] = [next(values) for _ in range(size)]
        assert found == {key: model.pop(key) for key in asked if key in model}
        assert len(stored) == len(model)
        assert len(stored._files) <= 7
        assert len(stored._levels) <= 10
        # What has been taken is freed, but for a constant factor.
        assert sum(len(file.taken) for file in stored._files.values()) <= 4 * max(len(model), 1)
    left = {
        key: values
        for part in stored.parts()
        for key, values in zip(part.lanes["key"].to_pylist(), listed(part), strict=True)
    }
    assert left == model


def listed(part: spill_files.SpilledLanes) -> list[list[int]]:
    values = iter(part.events["value"].to_pylist())
    return [[next(values) for _ in range(size)] for size in part.sizes]

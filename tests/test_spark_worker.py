"""What a task does with its rows: random queries and streams, shuffled as Spark would, against the engine.

No JVM is started: workers are called with the batches that Spark would hand them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest
from cer_gpu.spark import cuts
from cer_gpu.spark.binding import task_of
from cer_gpu.spark.cuts import STREAM
from cer_gpu.spark.segments import SEGMENT, Segment
from cer_gpu.spark.task import PRODUCTS, Task
from cer_gpu.spark.worker import Worker, counts_column
from generate import any_query, pattern, query_around, stream, stream_to_table, unary_query
from random_besides import beside, with_besides
from spark_tasks import ROW, answer, dealt, numbered, shuffled, wanted

import cer_gpu as cer
from cer_gpu.compiling.store import store
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.run.chunks import Chunker
from cer_gpu.errors import CerError, DataError, LimitError
from cer_gpu.language import tree
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled_query import CompiledQuery

OPTIONS: dict[str, Any] = {"order_by": ("ts", ROW), "stream_column": "stream"}


def drawn(rng: Random, draw: Any = unary_query) -> tuple[cer.Query, pa.Table]:
    """A query that is evaluated, and a stream in order with a number for each event."""
    while True:
        try:
            query = cer.compile(to_text(draw(rng, atoms=3)))
            break
        except CerError:
            continue
    return query, numbered(stream_to_table(stream(rng, rng.randrange(1, 24))))


def tasks(query: cer.Query, table: pa.Table, **options: Any) -> dict[str, Task]:
    """A task for each product."""
    return {product: task_of(query, table.schema, product, **OPTIONS | options) for product in PRODUCTS}


def check_tasks(query: cer.Query, table: pa.Table, parts: list[pa.Table], rng: Random, **how: Any) -> int:
    """Assert that what tasks give for their parts is what the engine gives; how many there are."""
    found = 0
    for product, task in tasks(query, table, event_id=ROW).items():
        if product == "run":
            got = query.run(table, **OPTIONS).to_arrow()
            expected = wanted(got, task.result.names)
            found = len(expected)
            assert answer(task, parts, rng, **how) == expected, (query.text, table.to_pylist())
        elif product == "count":
            rows = answer(task, parts, rng, **how)
            total = sum(int(row.split("'")[3]) for row in rows)
            assert total == query.count(table, **OPTIONS), query.text
        else:
            got = getattr(query, product)(table, **OPTIONS)
            if product == "counts":
                last = got.num_columns - 1
                got = got.set_column(last, "count", counts_column(got.column(last).to_pylist()))
            assert answer(task, parts, rng, **how) == wanted(got, got.schema.names), query.text
    return found


# ---------------------------------------------------------------------------------------------- keyed


@pytest.mark.draws("seed", 60)
def test_tasks_by_key_give_what_the_engine_gives(seed: int) -> None:
    rng = Random(seed)
    answers, cases = 0, 0
    while cases < 2:
        query, table = drawn(rng, any_query if seed % 3 == 0 else unary_query)
        task = task_of(query, table.schema, "run", **OPTIONS)
        if not task.keyed:
            continue
        cases += 1
        parts = dealt(shuffled(table, rng), task.query.query.reading.partition, rng.choice((1, 2, 3)))
        answers += check_tasks(query, table, parts, rng)
        ordered = [one.sort_by([(ROW, "ascending")]) for one in parts]
        check_tasks(query, table, [by_key(one, task, rng) for one in ordered], rng, streamed=True)


def by_key(table: pa.Table, task: Task, rng: Random) -> pa.Table:
    """The rows key by key, each in order: what Spark's sort gives to tasks that stream."""
    keys = []
    for row in table.to_pylist():
        parts = [next((row[name] for name in part if row[name] is not None), None) for part in
                 task.query.query.reading.partition]  # fmt: skip
        keys.append(repr([value if value != 0 else 0 for value in parts]))
    first = {key: number for number, key in enumerate(sorted(set(keys), key=lambda _: rng.random()))}
    order = sorted(range(len(keys)), key=lambda row: (first[keys[row]], row))
    return table.take(pa.array(order, pa.int64()))


def test_positions_are_places_in_the_partition() -> None:
    table = pa.table(
        {
            "type": ["A", "A", "B", "C", "B", "B"],
            "ts": [1, 2, 3, 4, 5, 6],
            "k": ["x", "y", "y", "x", "x", "y"],
        }
    )
    query = cer.compile("SELECT * WHERE A AS a ; B AS b PARTITION BY [k] WITHIN 10 EVENTS")
    found = {}
    for product in PRODUCTS:
        task = task_of(query, table.schema, product, order_by="ts")
        found[product] = answer(task, [shuffled(table, Random(3))], Random(1))
        by_lane = table.sort_by([("k", "ascending"), ("ts", "ascending")])
        for seed in range(8):  # cut into batches anywhere
            assert answer(task, [by_lane], Random(seed), streamed=True) == found[product]
    assert found["hits"] == [
        "{'position': 1, 'k': 'y', 'time': 3, 'latest_start': 0}",
        "{'position': 2, 'k': 'x', 'time': 5, 'latest_start': 0}",
        "{'position': 2, 'k': 'y', 'time': 6, 'latest_start': 0}",
    ]
    assert found["counts"] == [row.replace("'latest_start': 0", "'count': '1'") for row in found["hits"]]
    assert found["count"] == ["{'count': '3'}"]
    assert [row[:36] for row in found["run"]] == [
        "{'start': 0, 'end': 1, 'k': 'y', 'st",
        "{'start': 0, 'end': 2, 'k': 'x', 'st",
        "{'start': 0, 'end': 2, 'k': 'y', 'st",
    ]


def test_ends_of_a_run_over_all_keys_have_theirs() -> None:
    table = pa.table({"type": ["A", "A", "B", "B"], "ts": [1, 2, 3, 4], "k": ["x", "y", "x", "y"]})
    query = cer.compile("SELECT * WHERE A ; B PARTITION BY [k] CONSUME BY ANY")
    found = {}
    for product in ("hits", "counts"):
        task = task_of(query, table.schema, product, order_by="ts")
        found[product] = answer(task, [shuffled(table, Random(3))], Random(1))
    local = query.hits(table, order_by="ts")
    assert found["hits"] == wanted(local, local.schema.names)
    assert found["counts"] == ["{'position': 2, 'k': 'x', 'time': 3, 'count': '1'}"]


def test_what_a_window_counts_in_some_of_several_streams_is_not_cut() -> None:
    schema = pa.schema([("type", "string"), ("stream", "string"), ("ts", "int64"), ("k", "int64")])
    keywords = {"order_by": "ts", "order_unit": "s", "stream_column": "stream"}
    text = "SELECT * FROM S WHERE A ; B PARTITION BY [k] WITHIN 5"
    assert not task_of(f"{text} EVENTS", schema, "run", **keywords).cuttable
    assert task_of(f"{text} SECONDS", schema, "run", **keywords).cuttable


# ----------------------------------------------------------------------------------------- one stream


@pytest.mark.draws("seed", 54)
def test_one_task_gives_what_the_engine_gives(seed: int) -> None:
    rng = Random(1000 + seed)
    query, table = drawn(rng, beside_query if seed >= 40 else any_query if seed % 2 else unary_query)
    check_tasks(query, table, [shuffled(table, rng)], rng)
    task = task_of(query, table.schema, "run", **OPTIONS)
    check_tasks(query, table, [by_key(table, task, rng) if task.keyed else table], rng, streamed=True)


def test_of_keys_that_come_one_after_another_the_last_one_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the window, and however many the keys."""
    monkeypatch.setattr("cer_gpu.engine.run.bound_query.BATCH", 4)
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", 3)
    monkeypatch.setattr("cer_gpu.engine.read.eviction.REMEMBERED", 4)
    kept: list[tuple[int, int]] = []
    relieve = Chunker.relieve

    def noted(chunker: Chunker, new: list[EventArrays]) -> list[EventArrays]:
        found = relieve(chunker, new)
        kept.append((len(chunker._tails.lanes), chunker._intake.lane_count))
        return found

    monkeypatch.setattr(Chunker, "relieve", noted)
    rows = [(kind, key, time) for key in range(50) for time, kind in enumerate("AANBAB")]
    table = pa.table(dict(zip(("type", "k", "ts"), map(list, zip(*rows)), strict=True)))
    for window, number in (("WITHIN 1 h", 250), ("WITHIN 4 EVENTS", 200), ("", 250)):
        query = cer.compile(f"SELECT * WHERE A ; B PARTITION BY k {window}")
        task = task_of(query, table.schema, "run", order_by="ts", order_unit="s")
        assert len(answer(task, [table], Random(3), streamed=True)) == number
    assert max(tails for tails, _ in kept) <= 1
    assert max(lanes for _, lanes in kept) < 16


@pytest.mark.draws("seed", 60)
def test_segments_with_the_halo_of_a_window_give_what_the_engine_gives(seed: int) -> None:
    rng = Random(2000 + seed)
    cases = 0
    while cases < 2:
        query, table = drawn(rng, any_query if seed % 3 == 0 else unary_query)
        task = task_of(query, table.schema, "run", **OPTIONS)
        plan = task.query.query
        if not task.cuttable or task.keyed or plan.reading.streams or len(table) < 4:
            continue
        cases += 1
        parts, segments = cut(table, plan, rng)
        check_tasks(query, table, parts, rng, segments=segments)


@pytest.mark.draws("seed", 25)
def test_segments_with_halos_on_both_sides_give_what_the_engine_gives(seed: int) -> None:
    rng = Random(5000 + seed)
    cases = 0
    while cases < 2:
        query, table = drawn(rng, near_query)
        task = task_of(query, table.schema, "run", **OPTIONS)
        if not task.cuttable or task.keyed or task.query.query.reading.streams or len(table) < 4:
            continue
        cases += 1
        parts, segments = cut(table, task.query.query, rng)
        check_tasks(query, table, parts, rng, segments=segments)


def beside_query(rng: Random, atoms: int) -> tree.SelectQuery:
    """A query that looks for what follows or precedes."""
    return query_around(rng, with_besides(rng, pattern(rng, atoms=atoms)))


def near_query(rng: Random, atoms: int) -> tree.SelectQuery:
    """A query that looks for what follows or precedes, each within some time."""
    node = pattern(rng, atoms=atoms - 1)
    for _ in range(rng.randrange(1, 3)):
        made = beside(rng, node)
        while made.interval is None or made.interval.high is None or made.interval.high.unit == EVENTS:
            made = beside(rng, node)
        node = made
    window = tree.Window(rng.choice((0, 500, 1000, 2000)), "time", unit="ms")
    return tree.SelectQuery(node, window=window)


def cut(table: pa.Table, plan: CompiledQuery, rng: Random) -> tuple[list[pa.Table], dict[int, Segment]]:
    """A stream cut by time as routes do it, its segments on two tasks."""
    time = table.column("ts").cast(pa.int64()).to_numpy()
    marked = table.append_column(STREAM, pa.array(np.zeros(len(table), np.int32)))
    sketches = [
        row for part in (marked.slice(0, 3), marked.slice(3)) for row in measured(cuts.TimeSketch("ts"), part)
    ]
    spread = cuts.distribution([(rows, values) for _, rows, values in sketches])
    assert spread.rows == len(table)
    bounds = spread.bounds(rng.choice((2, 3, 5)))
    lasting = bounds
    if plan.window.kind == "time":
        halos = cuts.earlier(bounds, plan.reached)
        lasting = cuts.later(bounds, plan.sight) if plan.looks_ahead else bounds
    else:
        cells = np.union1d(bounds, spread.bounds(7))
        size = int(plan.window.size)
        counts = measured(cuts.Histogram("ts", {0: cells}), marked)[0][2]
        halos = cuts.by_count(cells, counts, bounds, size)
        for halo, bound in zip(halos, bounds):
            assert ((time >= halo) & (time < bound)).sum() >= min(size, (time < bound).sum())
    parts: list[list[pa.Table]] = [[], []]
    segments = {}
    starts = [np.iinfo(np.int64).min, *bounds.tolist()]
    stops = [*lasting.tolist(), np.iinfo(np.int64).max]
    for number, (start, halo, stop) in enumerate(zip(starts, [starts[0], *halos.tolist()], stops)):
        rows = table.filter(pa.array((time >= halo) & (time < stop)))
        end = starts[number + 1] if plan.looks_ahead and number + 1 < len(starts) else None
        segments[number + 1] = Segment(None if number == 0 else start, int((time < halo).sum()), end)
        column = pa.array(np.full(len(rows), number + 1, np.int32))
        parts[number % 2].append(shuffled(rows.append_column(SEGMENT, column), rng))
    empty = table.slice(0, 0).append_column(SEGMENT, pa.array([], pa.int32()))
    return [pa.concat_tables([empty, *part]) for part in parts], segments


def measured(function: Any, table: pa.Table) -> list[tuple[int, int, np.ndarray]]:
    """What a measuring task tells of a table."""
    told = [row for batch in function(table.to_batches(max_chunksize=2)) for row in batch.to_pylist()]
    return [
        (row["stream"], row["rows"], np.array(row["integers"] if row["whole"] else row["floats"]))
        for row in told
    ]


# ------------------------------------------------------------------- types that a query has no use for


@pytest.mark.draws("seed", 40)
def test_events_of_other_types_may_be_left_out_where_nothing_counts_them(seed: int) -> None:
    rng = Random(4000 + seed)
    left_out = 0
    while left_out < 5:
        query, table = drawn(rng, any_query if seed % 2 else unary_query)
        task = task_of(query, table.schema, "run", **OPTIONS, event_id=ROW)
        if task.counts_all or task.types is None:
            continue
        kept = table.filter(pa.compute.is_in(table.column("type"), pa.array(task.types, pa.string())))
        left_out += len(table) - len(kept)
        check_tasks(query, table, [shuffled(kept, rng)], rng)


@pytest.mark.parametrize(
    ("text", "types", "counts_all"),
    [
        ("SELECT * WHERE A ; B", ("A", "B"), False),
        ("SELECT * WHERE A AS a ; B AS b FILTER b[v > 3] AND b[v < 2]", (), False),  # no event is of use
        ("SELECT STRICT * WHERE A ; B", None, False),  # any event ends what is contiguous
        ("SELECT * WHERE A : B", None, False),
        ("SELECT * WHERE A ; B WITHIN 3 EVENTS", ("A", "B"), True),
        ("Q(v) <- A(v=v), B(v=v) WITHIN 3 SECONDS", ("A", "B"), False),
    ],
)
def test_the_types_that_a_query_has_a_use_for(text: str, types: Any, counts_all: bool) -> None:
    schema = pa.schema(
        [("type", pa.string()), ("ts", pa.timestamp("us")), ("v", pa.int64()), ("id", pa.int64())]
    )
    task = task_of(text, schema, "run", order_by="ts", event_id="id")
    assert (task.types, task.counts_all) == (types, counts_all)
    assert task_of(text, schema, "run", order_by="ts").counts_all  # positions are places among all events
    assert task_of(text, schema, "count", order_by="ts").counts_all is counts_all


# ---------------------------------------------------------------------------------------------- ties


@pytest.mark.draws("seed", 12)
def test_ties_are_broken_alike_however_rows_are_shuffled(seed: int) -> None:
    rng = Random(3000 + seed)
    query, table = drawn(rng)
    task = task_of(query, table.schema, "run", order_by="ts", stream_column="stream", event_id=ROW)
    parts = [shuffled(table, rng) for _ in range(4)]
    found = [answer(task, [part], rng) for part in parts]
    assert all(one == found[0] for one in found)
    counted = task_of(query, table.schema, "counts", order_by="ts", stream_column="stream")
    tables = [answer(counted, [part], rng) for part in parts]
    assert all(one == tables[0] for one in tables)


def test_ties_without_a_tie_breaker_are_told_once(capfd: pytest.CaptureFixture[str]) -> None:
    from cer_gpu.spark import sorting

    sorting.forget_what_was_said()
    query = cer.compile("SELECT * FROM S WHERE A ; B WITHIN 5 EVENTS")
    table = pa.table({"type": ["B", "A", "B"], "ts": [1, 1, 2], "v": [2, 1, 3]})
    task = task_of(query, table.schema, "count", order_by="ts", ties="warn")
    # By the type: A comes before the B of the same time.
    assert answer(task, [table, table], Random(1)) == ["{'count': '2'}"] * 2
    told = capfd.readouterr().err
    assert told.count("at least 2 rows have the same `ts` as another row") == 1
    sorting.forget_what_was_said()
    named = task_of(query, table.schema, "count", order_by=("ts", "v"), ties="warn")
    assert answer(named, [table], Random(1)) == ["{'count': '2'}"]
    assert "tie" not in capfd.readouterr().err


# --------------------------------------------------------------------------------------------- errors


def test_an_event_without_time_is_named_with_its_key() -> None:
    query = cer.compile("SELECT * WHERE A ; B PARTITION BY [k]")
    table = pa.table({"type": ["A", "B"], "ts": pa.array([1, None], pa.int64()), "k": ["north", "south"]})
    with pytest.raises(DataError, match=r"`ts` is null, NaN or infinite in \(.*k='south'"):
        answer(task_of(query, table.schema, "run", order_by="ts"), [table], Random(1))


def test_an_infinite_time_is_refused() -> None:
    table = pa.table({"type": ["A", "B"], "ts": [1.0, float("inf")]})
    with pytest.raises(DataError, match="infinite"):
        answer(task_of("SELECT * WHERE A ; B", table.schema, "run", order_by="ts"), [table], Random(1))


def test_times_are_shown_in_microseconds() -> None:
    table = pa.table({"type": ["A", "B"], "ts": pa.array([1500, 2999], pa.timestamp("ns"))})
    query = "SELECT * WHERE A ; B WITHIN 1499 [ts]"
    (row,) = answer(task_of(query, table.schema, "run", order_by="ts", event_id="ts"), [table], Random(1))
    assert row.count("datetime(1970, 1, 1, 0, 0, 0, 1)") == 3  # the start, its time, and A
    assert row.count("datetime(1970, 1, 1, 0, 0, 0, 2)") == 3


def test_names_of_our_own_are_refused() -> None:
    schema = pa.schema([("type", pa.string()), ("ts", pa.int64()), ("__cer_segment", pa.int64())])
    with pytest.raises(DataError, match="`__cer_segment` begins with __cer_, which is reserved"):
        task_of("SELECT * WHERE A ; B", schema, "run", order_by="ts")


def test_counts_have_at_most_38_digits() -> None:
    assert counts_column([10**38 - 1]).to_pylist() == [str(10**38 - 1)]
    with pytest.raises(LimitError, match="39 digits"):
        counts_column([10**38])


@pytest.mark.parametrize(
    ("keywords", "error", "text"),
    [
        ({}, DataError, "have no order"),
        ({"order_by": "ts", "sort": True}, TypeError, "always sorted"),
        ({"order_by": "ts", "device": "cpu"}, TypeError, "spark.cer.gpu"),
        ({"order_by": "time"}, DataError, "no column `time`"),
        ({"order_by": "ts", "event_id": "no"}, DataError, "event_id"),
        ({"order_by": "ts", "order": 1}, TypeError, "there is no keyword 'order'"),
        ({"order_by": "ts", "nan_is_null": "yes"}, TypeError, "nan_is_null must be True, False or None"),
    ],
)
def test_wrong_keywords_are_refused_on_the_driver(keywords: Any, error: type, text: str) -> None:
    schema = pa.schema([("type", pa.string()), ("ts", pa.int64())])
    with pytest.raises(error, match=text):
        task_of("SELECT * WHERE A ; B", schema, "run", **keywords)


def test_limit_is_for_run_alone() -> None:
    schema = pa.schema([("type", pa.string()), ("ts", pa.int64())])
    assert task_of("SELECT * WHERE A ; B", schema, "run", order_by="ts", limit=3).limit == 3
    with pytest.raises(ValueError, match="it is for run, which lists matches, and hits lists none"):
        task_of("SELECT * WHERE A ; B", schema, "hits", order_by="ts", limit=3)


def test_the_public_names_are_functions_whatever_was_imported_before() -> None:
    code = """
import sys
import cer_gpu.spark as there
print([name for name in ("pyspark", "numba") if name in sys.modules])
for name in there.__all__:
    getattr(there, name)
print([name for name in there.__all__ if not callable(getattr(there, name))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[:2] == ["[]", "[]"], done.stdout + done.stderr


def test_a_worker_imports_neither_parser_nor_automata_nor_cuda() -> None:
    table = pa.table({"type": ["A", "B"], "ts": [1, 2]})
    dumped = task_of("SELECT * WHERE A ; B WITHIN 3 EVENTS", table.schema, "run", order_by="ts").dumped()
    code = f"""
import sys
import pyarrow as pa
from cer_gpu.spark.worker import Worker
table = pa.table({{"type": ["A", "B"], "ts": [1, 2]}})
(batch,) = Worker({dumped!r})(table.to_batches())
assert batch.num_rows == 1, batch
heavy = ("lark", "cer_gpu.language.parser", "cer_gpu.automata", "cer_gpu.joins", "cer_gpu.logic",
         "cer_gpu.plan.planning.planner", "cer_gpu.api", "cer_gpu.engine.cuda", "cer_gpu.kernels.device",
         "numba.cuda", "cupy")
on_devices = [name for name in sys.modules if name.startswith("cer_gpu.kernels") and ".cuda" in name]
print([name for name in sys.modules if name.startswith(heavy)] + on_devices)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such numbers")
def test_a_worker_without_a_home_keeps_its_kernels_in_the_temporary_folder(tmp_path: Path) -> None:
    """Executors often run where neither the package nor HOME can be written."""
    table = pa.table({"type": ["A", "B"], "ts": [1, 2]})
    dumped = task_of("SELECT * WHERE A ; B WITHIN 3 EVENTS", table.schema, "hits", order_by="ts").dumped()
    assert len(list(Worker(dumped)(table.to_batches()))) == 1  # its kernels are compiled
    own = tmp_path / "temporary" / f"cer-gpu-{os.geteuid()}"
    before = store().folder
    if before is not None:
        shutil.copytree(before / "kernels", own / "kernels", copy_function=shutil.copy2)
        for folder in (own, own / "kernels"):
            folder.chmod(0o700)
    (tmp_path / "home").write_text("in the way of a folder")
    code = f"""
import pyarrow as pa
from cer_gpu.compiling.store import store
from cer_gpu.spark.worker import Worker
table = pa.table({{"type": ["A", "B"], "ts": [1, 2]}})
(batch,) = Worker({dumped!r})(table.to_batches())
assert batch.num_rows == 1, batch
store().write("a kernel", {{}}, b"code")
print(store().folder, store().read("a kernel")[1])
"""
    home = str(tmp_path / "home")
    environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home, "TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{own} b'code'\n", "")

"""A query on Structured Streaming: restarts, keys, what time decides, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark.sql.functions as sf
import pytest
import spark_sessions
from cer_gpu.spark.binding import spark_schema
from cer_gpu.spark.watermark import event_time
from processes import started

import cer_gpu as cer
from cer_gpu import spark as cer_spark
from cer_gpu.errors import DataError

pytestmark = spark_sessions.GROUP

COLUMNS = "type string, ts timestamp, k long, x double, id long"

STEPS = (
    "SELECT * FROM S WHERE A AS a ; B AS b ; C AS c FILTER a[x > 0.5] PARTITION BY k WITHIN 500 MILLISECONDS"
)

SILENCE = "SELECT a WHERE A AS a NOT FOLLOWED BY [<= 3 ms] B"


def history(parts: int = 4, rows: int = 2000) -> list[pa.Table]:
    """Parts of a second each; rows of a part come late by up to 50 ms."""
    rng = np.random.default_rng(3)
    made = []
    for part in range(parts):
        times = 1_700_000_000_000_000 + np.sort(rng.integers(part * 10**6, (part + 1) * 10**6, rows))
        table = pa.table(
            {
                "type": rng.choice(list("ABC"), rows),
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "k": rng.integers(0, 200, rows),
                "x": rng.random(rows),
                "id": np.arange(part * rows, (part + 1) * rows),
            }
        )
        late = np.argsort(times + rng.integers(0, 50_000, rows), kind="stable")
        made.append(table.take(pa.array(late)))
    return made


def written(table: pa.Table, folder: Path, number: int) -> None:
    """Write a file that comes after those with lesser numbers: Spark takes files by their time."""
    path = folder / f"{number}.parquet"
    pq.write_table(table, folder / ".part")
    os.utime(folder / ".part", (1_700_000_000 + number, 1_700_000_000 + number))
    (folder / ".part").rename(path)


class Folder:
    """A folder into which files of events are dropped, and a query that runs over what is new there."""

    def __init__(self, spark: Any, path: Path) -> None:
        self._spark, self._path, self._files = spark, path, 0
        (path / "in").mkdir()

    def drop(self, table: pa.Table) -> None:
        written(table, self._path / "in", self._files)
        self._files += 1

    def frame(self) -> Any:
        reader = self._spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self._path / "in"))

    def run(self, query: str, **keywords: Any) -> Any:
        """Run until nothing is new; gives the query of Spark."""
        found = cer_spark.stream(
            self.frame(), query, **{"order_by": ["ts", "id"], "event_id": "id"} | keywords
        )
        writer = found.writeStream.format("parquet").option("checkpointLocation", str(self._path / "state"))
        ran = writer.option("path", str(self._path / "out")).trigger(availableNow=True).start()
        ran.awaitTermination()
        return ran

    def table(self) -> pa.Table:
        return pq.read_table(self._path / "out")


@pytest.fixture
def folder(spark: Any, tmp_path: Path) -> Folder:
    return Folder(spark, tmp_path)


def comparable(table: pa.Table, names: list[str]) -> list[str]:
    return sorted(map(str, table.select(names).to_pylist()))


def test_a_stream_that_is_restarted_gives_what_one_run_gives(folder: Folder) -> None:
    parts = history()
    for part in parts[:2]:
        folder.drop(part)
    folder.run(STEPS, late="100 ms")
    for part in parts[2:]:
        folder.drop(part)
    folder.run(STEPS, late="100 ms")
    whole = pa.concat_tables(parts)
    latest = whole["ts"].cast(pa.int64()).to_numpy().max() // 1000 * 1000
    wanted = (
        cer.compile(STEPS)
        .run(whole, order_by=["ts", "id"], event_id="id", late="100 ms", until=None)
        .to_arrow()
    )
    known = wanted.filter(pa.array(wanted["end_time"].cast(pa.int64()).to_numpy() < latest - 100_000))
    assert len(known) > 100
    names = ["start", "end", "k", "a", "b", "c"]
    assert comparable(folder.table(), names) == comparable(known, names)

    folder.drop(parts[0])
    with pytest.raises(Exception, match="cannot be continued: the state was stored with another query"):
        folder.run(STEPS.replace("0.5", "0.4"), late="100 ms")


def test_without_a_key_time_decides_what_did_not_follow(folder: Folder) -> None:
    parts = history(3)
    for part in parts:
        folder.drop(part)
    ran = folder.run(SILENCE, late="100 ms", what="hits")
    whole = pa.concat_tables(parts)
    latest = whole["ts"].cast(pa.int64()).to_numpy().max() // 1000 * 1000
    wanted = cer.compile(SILENCE).hits(whole, order_by=["ts", "id"], event_id="id", late="100 ms")
    known = wanted.filter(pa.array(wanted["time"].cast(pa.int64()).to_numpy() < latest - 103_000))
    assert len(known) > 10
    assert comparable(folder.table(), ["position", "latest_start"]) == comparable(
        known, ["position", "latest_start"]
    )
    told = cer_spark.stream_metrics(ran)
    assert told is not None
    assert (told.batch, told.events, told.late) == (3, 0, 0)
    every = [cer_spark.stream_metrics(one) for one in ran.recentProgress]
    assert sum(one.events for one in every if one) == sum(
        len(part.filter(pc.not_equal(part["type"], "C"))) for part in parts
    )
    assert every[1] is not None
    assert every[1].lag is not None
    assert every[1].lag > 0.5


@pytest.mark.large
@spark_sessions.APPLICATION
def test_a_driver_that_is_killed_loses_and_repeats_nothing(tmp_path: Path) -> None:
    parts = history(8)
    (tmp_path / "in0").mkdir()
    for number, part in enumerate(parts):
        written(part, tmp_path / "in0", number)
    app = str(Path(__file__).with_name("live_app.py"))
    command, rng = [sys.executable, app, str(tmp_path), STEPS], Random(3)

    def commits() -> int:
        return len(list((tmp_path / "state0" / "commits").glob("[0-9]*")))

    for _ in range(2):
        before, deadline = commits(), time.monotonic() + 240
        with started([*command, "on"], start_new_session=True, stderr=subprocess.DEVNULL) as process:
            while commits() <= before and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(rng.random() * 2)
            assert process.poll() is None
            os.killpg(process.pid, signal.SIGKILL)  # with its JVM, and the workers
            process.wait()
        assert commits() > before
    subprocess.run([*command, "once"], check=True, stderr=subprocess.DEVNULL, timeout=400)
    whole = pa.concat_tables(parts)
    latest = pc.max(whole["ts"]).cast(pa.int64()).as_py() // 1000 * 1000
    options: Any = {"order_by": ["ts", "id"], "event_id": "id", "late": "100 ms"}
    wanted = cer.compile(STEPS).run(whole, **options).to_arrow()
    known = wanted.filter(pa.array(wanted["end_time"].cast(pa.int64()).to_numpy() < latest - 100_000))
    names = ["start", "end", "k", "a", "b", "c"]
    assert comparable(committed(tmp_path / "out0"), names) == comparable(known, names)


def committed(folder: Path) -> pa.Table:
    """The rows of a file sink, without files of tasks that were killed: as Spark reads its folder."""
    logs = [path.read_text() for path in (folder / "_spark_metadata").glob("[0-9]*")]
    lines = [json.loads(line) for log in logs for line in log.splitlines() if line.startswith("{")]
    paths = {line["path"].removeprefix("file://") for line in lines}
    return pa.concat_tables([pq.read_table(path) for path in sorted(paths)]) if paths else pa.table({})


def test_a_stream_goes_on_where_a_history_stops(spark: Any, folder: Folder, tmp_path: Path) -> None:
    parts = history()
    before, after = pa.concat_tables(parts[:2]), parts[2:]
    pq.write_table(before, tmp_path / "history.parquet")
    for part in after:
        folder.drop(part)
    folder.run(STEPS, late="100 ms", initial=spark.read.parquet(str(tmp_path / "history.parquet")))
    options: Any = {"order_by": ["ts", "id"], "event_id": "id", "late": "100 ms"}
    query, whole, last = cer.compile(STEPS), pa.concat_tables(parts), pc.max(before["ts"]).as_py()
    latest = pc.max(whole["ts"]).cast(pa.int64()).as_py() // 1000 * 1000
    wanted = query.run(whole, **options).to_arrow()
    ended = wanted["end_time"].cast(pa.int64())
    known = wanted.filter(pa.array(ended.to_numpy() < latest - 100_000))
    live = known.filter(pc.greater(known["end_time"], pa.scalar(last, known["end_time"].type)))
    assert len(live) > 50
    assert min(live["start"].to_pylist()) < 4000  # some have begun in the history
    names = ["start", "end", "k", "a", "b", "c"]
    assert comparable(folder.table(), names) == comparable(live, names)


def test_a_stream_goes_on_after_one_that_has_stopped(spark: Any, tmp_path: Path) -> None:
    """With other partitions and buckets, over a source that begins again, also where it has come less far."""
    parts, found = history(4), []
    for name in ("in", "short"):
        (tmp_path / name).mkdir()
        written(parts[0], tmp_path / name, 0)
    written(parts[1], tmp_path / "in", 1)
    keywords: Any = {"order_by": ["ts", "id"], "event_id": "id", "late": "100 ms"}
    for number, (source, partitions) in enumerate((("in", "3"), ("short", "2"), ("in", "1"))):
        if number:
            initial = spark.read.schema(COLUMNS).parquet(str(tmp_path / "in"))
            state = str(tmp_path / f"state{number - 1}")
            keywords |= {"initial": initial, "after": state, "buckets": 3 + number}
        if number == 2:
            for one, part in enumerate(parts[2:], 2):
                written(part, tmp_path / "in", one)
        reader = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
        rows = cer_spark.stream(reader.parquet(str(tmp_path / source)), STEPS, **keywords)
        state = str(tmp_path / f"state{number}")
        writer = rows.writeStream.format("parquet").option("checkpointLocation", state)
        spark.conf.set("spark.sql.shuffle.partitions", partitions)
        try:
            writer.trigger(availableNow=True).start(str(tmp_path / f"out{number}")).awaitTermination()
        finally:
            spark.conf.set("spark.sql.shuffle.partitions", "3")
        found.append(committed(tmp_path / f"out{number}"))
    whole = pa.concat_tables(parts)
    latest = pc.max(whole["ts"]).cast(pa.int64()).as_py() // 1000 * 1000
    wanted = cer.compile(STEPS).run(whole, order_by=["ts", "id"], event_id="id", sort=True).to_arrow()
    known = wanted.filter(pa.array(wanted["end_time"].cast(pa.int64()).to_numpy() < latest - 100_000))
    assert [len(table) > 50 for table in found] == [True, False, True]
    assert len(found[1]) == 0
    names = ["start", "end", "k", "a", "b", "c"]
    assert comparable(pa.concat_tables([found[0], found[2]]), names) == comparable(known, names)


def test_what_a_stream_cannot_go_on_after(spark: Any, folder: Folder, tmp_path: Path) -> None:
    initial = spark.createDataFrame(history(1)[0])
    with pytest.raises(DataError, match="needs the events that the earlier stream has read"):
        cer_spark.stream(folder.frame(), STEPS, order_by="ts", after="state")
    with pytest.raises(DataError, match="is not the checkpointLocation of a stream"):
        cer_spark.stream(folder.frame(), STEPS, order_by="ts", initial=initial, after=str(tmp_path / "in"))
    (tmp_path / "state" / "offsets").mkdir(parents=True)
    log = 'v1\n{"batchWatermarkMs":%d}\n{}'
    (tmp_path / "state" / "offsets" / "0").write_text(log % 0)
    options: Any = {"order_by": "ts", "initial": initial, "after": str(tmp_path / "state")}
    with pytest.raises(DataError, match="micro-batch 0 was interrupted"):
        cer_spark.stream(folder.frame(), STEPS, **options)
    (tmp_path / "state" / "commits").mkdir()
    (tmp_path / "state" / "commits" / "0").write_text("v1")
    with pytest.raises(DataError, match="no watermark has passed an event there"):
        cer_spark.stream(folder.frame(), STEPS, **options)
    (tmp_path / "state" / "offsets" / "10").write_text(log % 1000)
    with pytest.raises(DataError, match="micro-batch 10 was interrupted: start the earlier stream once more"):
        cer_spark.stream(folder.frame(), STEPS, **options)


def test_times_of_all_kinds_make_watermarks(spark: Any) -> None:
    stamps = [-1_000_001, 0, 1_699_146_123_456_789, 1_711_846_923_000_001]  # days of 25 and 23 hours
    stamped = [*zip([pa.timestamp("us", "UTC"), pa.timestamp("us")], [None] * 2, [1] * 2)]
    numbers = [(pa.int64(), "ns", 1000), (pa.int64(), "us", 1), (pa.float64(), "us", 1)]
    days = [(pa.date32(), None, 86_400_000_000), (pa.int32(), "s", 10**6)]
    asked = []
    for kind, unit, scale in [*stamped, *numbers]:
        times = pa.array([stamp * scale for stamp in stamps]).cast(kind)
        spare = 1 if pa.types.is_floating(kind) else 0
        asked.append((kind, unit, times, [stamp - spare for stamp in stamps]))
    for kind, unit, size in days:
        times = pa.array([-1, 0, 19_813], pa.int32()).cast(kind)
        asked.append((kind, unit, times, [-size, 0, 19_813 * size]))
    made = []
    for kind, unit, times, wanted in asked:
        frame = spark.createDataFrame(pa.table({"t": times}), spark_schema(pa.schema([("t", kind)])))
        moment = event_time(sf.col("t"), kind, unit)
        made.append((frame.select(sf.unix_micros(moment).alias("m")), wanted))
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for frame, wanted in made:
            assert [row.m for row in frame.collect()] == wanted
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


def test_a_frame_that_is_no_stream_is_refused(spark: Any) -> None:
    with pytest.raises(DataError, match="takes a streaming DataFrame"):
        cer_spark.stream(spark.createDataFrame([], COLUMNS), STEPS, order_by="ts")


RISES = """SELECT k, first_id, last_id, n FROM events MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY ts, id
    MEASURES FIRST(id) AS first_id, LAST(id) AS last_id, MATCH_NUMBER() AS n, PREV(FIRST(x)) AS before
    AFTER MATCH SKIP {} PATTERN (start up+) WITHIN INTERVAL '40' MILLISECONDS
    DEFINE up AS x > PREV(x){}) WHERE last_id > first_id"""


@pytest.mark.parametrize(("skip", "also"), [("PAST LAST ROW", ""), ("TO NEXT ROW", " AND COUNT(*) < 9")])
def test_row_patterns_are_those_of_one_run(folder: Folder, skip: str, also: str) -> None:
    pytest.importorskip("sqlglot")
    parts, sql = history(), RISES.format(skip, also)
    for part in parts[:2]:
        folder.drop(part)
    folder.run(sql, late="100 ms", order_by=None, event_id=None)
    for part in parts[2:]:
        folder.drop(part)
    ran = folder.run(sql, late="100 ms", order_by=None, event_id=None)
    whole = pa.concat_tables(parts)
    times = dict(zip(whole["id"].to_pylist(), whole["ts"].cast(pa.int64()).to_pylist()))
    wanted = cer.match_recognize(sql, dialect="spark", events=whole).to_arrow().to_pylist()
    last = max(times.values()) // 1000 * 1000 - 140_000
    known = [row for row in wanted if times[row["first_id"]] < last - 1000]
    found = folder.table().to_pylist()
    assert len(known) > 200
    told = {tuple(row.values()) for row in found}
    assert len(told) == len(found)
    assert {tuple(row.values()) for row in known} <= told <= {tuple(row.values()) for row in wanted}
    assert cer_spark.stream_metrics(ran) is not None
    folder.drop(parts[0])
    with pytest.raises(Exception, match="it is of another statement"):
        folder.run(sql.replace("'40'", "'50'"), late="100 ms", order_by=None, event_id=None)


def test_row_patterns_that_no_stream_has_are_refused(folder: Folder) -> None:
    pytest.importorskip("sqlglot")
    frame, sql = folder.frame(), RISES.format("PAST LAST ROW", "")
    with pytest.raises(cer.QueryError, match="a stream needs WITHIN"):
        cer_spark.stream(frame, sql.replace("WITHIN INTERVAL '40' MILLISECONDS", ""))
    with pytest.raises(ValueError, match="gives rows, what='run'"):
        cer_spark.stream(frame, sql, what="hits")
    with pytest.raises(TypeError, match="no keyword 'event_id' for a stream of MATCH_RECOGNIZE"):
        cer_spark.stream(frame, sql, event_id="id")
    inner = "FROM (SELECT k, ts, id, x FROM events WHERE x > 0)"
    with pytest.raises(cer.QueryError, match="one table of one MATCH_RECOGNIZE"):
        cer_spark.stream(frame, sql.replace("FROM events", inner))
    frame.createOrReplaceTempView("live_events")
    with pytest.raises(DataError, match=r"use cer_spark.stream\(df, sql"):
        cer_spark.match_recognize(sql.replace("FROM events", "FROM live_events"), frame.sparkSession)

"""A live query on Spark: micro-batches with checkpoints, sustained, beside a job of Flink CEP.

Flink's job keeps checkpoints and writes its matches to files, too, and takes rows that are as late; its
events come from memory, not from files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cer_gpu as cer
from bench.answers import must
from bench.figures import Figure, duration, rate, ratio
from bench.measure import Times
from bench.rivals.asked import CannotError
from bench.rivals.jvm import is_kept, open_live_flink
from bench.rivals.questions import Sequence
from bench.sizes import Sizes, large
from bench.spark_data import missing, session
from bench.streams import TYPES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECTION = "spark_live"

KEYS = 10_000

WARM = 20
"""Micro-batches before those that are measured: the JVM compiles meanwhile."""

BATCHES = 6
"""Micro-batches that are measured."""

FLINK = 2
"""Of as many micro-batches' events Flink is measured, behind as many in which its JVM compiles."""

WITHIN_MS = LATE_MS = 1000

QUERY = "SELECT a, b, c WHERE A AS a ; B AS b ; C AS c FILTER a[price > 50] PARTITION BY key WITHIN 1 SECONDS"

LONG = (
    "SELECT a, b, c WHERE A AS a ; B AS b ; C AS c FILTER c[price > 99.9] PARTITION BY key WITHIN 60 SECONDS"
)
"""What keeps all A's and B's of a minute: its state is large, and few matches end."""

MINUTE = 60

COLUMNS = "type string, ts timestamp, key long, price double, id long"

SLOW = 50_000
"""Events of a micro-batch whose latency is measured."""


def history(events: int, per_second: int, seed: int = 7) -> pa.Table:
    """Events of ten types and 10,000 keys, evenly spread over time."""
    rng = np.random.default_rng(seed)
    times = 1_700_000_000_000_000 + np.arange(events) * (1_000_000 // per_second)
    return pa.table(
        {
            "type": pa.array(np.array(list(TYPES))[rng.integers(0, len(TYPES), events)]),
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "key": rng.integers(0, KEYS, events),
            "price": rng.random(events) * 100,
            "id": np.arange(events),
        }
    )


def spark_live(sizes: Sizes) -> Iterator[Figure]:
    """Three steps with 10,000 keys: events a second with checkpoints, and the time of a micro-batch."""
    if missing() is not None:
        yield Figure(SECTION, "PySpark 4 with Java 17", None, "s", note=missing() or "")
        return
    size = max(sizes.sparked // 4, 1000)
    with tempfile.TemporaryDirectory() as name, session(Path(name)) as spark:
        spark.conf.set("spark.sql.shuffle.partitions", "2")
        table = history((WARM + BATCHES) * size, 100_000)
        case = f"three steps, {KEYS:,} keys, micro-batches of {large(size)} events"
        ours = _followed(spark, Path(name) / "fast", table, size)
        yield rate(SECTION, case, "events", size, ours, 0.3, "same matches as one run")
        slow = history((WARM + BATCHES) * SLOW, SLOW)
        taken = _followed(spark, Path(name) / "slow", slow, SLOW)
        yield duration(SECTION, f"a micro-batch of {large(SLOW)} events", taken, 2.0, "of a second")
        kept = history((MINUTE + WARM + BATCHES) * SLOW, SLOW)
        taken = _followed(spark, Path(name) / "long", kept, SLOW, LONG, MINUTE * SLOW)
        yield duration(
            SECTION, f"the same, {large(MINUTE * SLOW // 5)} events open", taken, 2.0, "of a minute"
        )
    pause = max(int(1000 * ours.median), 1)
    flink = _flink(table.slice(0, 2 * FLINK * size), FLINK * size, pause)
    if flink is None:
        yield Figure(SECTION, "Flink CEP", None, "s", note="its jars are not there")
        return
    count = FLINK * size
    yield rate(SECTION, f"Flink CEP, checkpoints every {pause} ms", "events", count, flink)
    share = Times(tuple(one * FLINK for one in ours.seconds))
    yield ratio(SECTION, "Flink CEP / ours", ("ours", share), ("flink", flink), 5.0)


def _followed(
    spark: SparkSession, folder: Path, table: pa.Table, size: int, query: str = QUERY, before: int = 0
) -> Times:
    """The seconds of the micro-batches behind the first ones; the matches are checked.

    Parameters
    ----------
    spark : SparkSession
    folder : Path
    table : pyarrow.Table
    size : int
        Events of a micro-batch.
    query : str
    before : int
        Events that are a history, which the stream continues.
    """
    from cer_gpu import spark as cer_spark

    given = folder / "in"
    given.mkdir(parents=True)
    pq.write_table(table.slice(0, before), folder / "history.parquet")
    for number, first in enumerate(range(before, len(table), size)):
        pq.write_table(table.slice(first, size), given / f"{number:03}.parquet")
    reader = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
    options: dict[str, Any] = {"order_by": ["ts", "id"], "event_id": "id"}
    late = f"{LATE_MS} ms"
    initial = spark.read.schema(COLUMNS).parquet(str(folder / "history.parquet")) if before else None
    found = cer_spark.stream(reader.parquet(str(given)), query, late=late, initial=initial, **options)
    writer = found.writeStream.option("checkpointLocation", str(folder / "state")).format("parquet")
    running = writer.option("path", str(folder / "out")).trigger(availableNow=True).start()
    running.awaitTermination()
    told = [cer_spark.stream_metrics(one) for one in running.recentProgress]
    latest = table["ts"][-1].value // 1000 * 1000 - 1_000_000
    ends = cer.compile(query).run(table, **options).to_arrow()["end_time"].cast(pa.int64()).to_numpy()
    known = table["ts"][before - 1].value if before else 0
    number = int(np.count_nonzero((ends > known) & (ends < latest)))
    got = pq.read_table(folder / "out")
    must(got.num_rows == number, f"live: {got.num_rows} matches, {number} of one run")
    return Times(tuple(one.seconds for one in told[WARM : WARM + BATCHES] if one is not None))


def _flink(table: pa.Table, first: int, pause: int) -> Times | None:
    """What a job of Flink CEP takes for the events from a number on; None where it is not there."""
    if not is_kept("flink-live"):
        return None
    question = Sequence(("A", "B", "C"), within=WITHIN_MS, keyed=True, above=50.0)
    with tempfile.TemporaryDirectory() as folder:
        stamps = table["ts"].cast(pa.int64()).to_numpy() // 1000  # Flink counts in milliseconds
        whole = table.set_column(1, "ts", pa.array(stamps).cast(pa.timestamp("ms")))
        wanted = cer.compile(QUERY).count(whole, order_by=["ts", "id"])
        pq.write_table(table.set_column(1, "ts", pa.array(stamps)), f"{folder}/events.parquet")
        program = open_live_flink(f"{folder}/events.parquet", folder, first, pause, LATE_MS)
        try:
            answer = program(question)
            must(answer.number == wanted, f"live: Flink CEP writes {answer.number}, and {wanted} are right")
            return Times((answer.seconds,))
        except CannotError:
            return None
        finally:
            program.close()

"""What the benchmarks of Spark run on: a session, and a folder of Parquet files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.cpu_seconds import can_measure
from bench.streams import SEED, column, to_arrow

FILES = 8
MANY = 100_000
"""Keys of the column `many`."""
GROUP = 1_000_000
"""The most rows of a row group."""
TIME = pa.timestamp("us", "UTC")


def missing() -> str | None:
    """What is missing to run Spark here; None if nothing is."""
    if find_spec("pyspark") is None or not can_measure():
        return "it is not installed" if find_spec("pyspark") is None else "there is no /proc to measure by"
    from cer_gpu.spark.java import JavaError, require_java

    try:
        require_java()
    except JavaError:
        return "it is not installed"
    return None


@contextmanager
def session(folder: Path) -> Iterator[Any]:
    """A session on two cores, as `cer_gpu.spark.configuration` sets it; or the one that runs already."""
    from cer_gpu.spark.configuration import configure
    from pyspark.sql import SparkSession

    there = SparkSession.getActiveSession()
    if there is not None:
        yield there
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("cer-gpu bench")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.local.dir", str(folder / "scratch"))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    spark = configure(builder, gpu="off").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def write_lake(folder: Path, events: int) -> list[str]:
    """Write a stream of `bench.streams` as files in the order of time.

    Returns
    -------
    list of str
        The paths; with columns `type`, `price`, `key`, `time` (one event a millisecond) and `many`.
    """
    folder.mkdir(parents=True)
    table = pa.table(
        {name: to_arrow(name, column(name, 0, events)) for name in ("type", "price", "key")}
        | {
            "time": pa.array(column("time", 0, events)).cast(pa.timestamp("us")).cast(TIME),
            "many": np.random.default_rng((SEED, MANY)).integers(0, MANY, events),
        }
    )
    paths = []
    each = -(-events // FILES)
    for number in range(FILES):
        path = folder / f"events-{number}.parquet"
        pq.write_table(table.slice(number * each, each), path, row_group_size=GROUP, compression="zstd")
        paths.append(str(path))
    return paths


def three_steps(kept: float, window: str | None, key: str | None = None) -> str:
    """`A AS a ; B AS b ; C AS c` with a filter on each, in a window of time.

    Parameters
    ----------
    kept : float
        The share of the events of each type that its filter keeps.
    window : str or None
        The window, as written after WITHIN.
    key : str, optional
        The column of PARTITION BY.
    """
    low, high = round(100 * kept, 6), round(100 * (1 - kept), 6)
    text = f"SELECT a, b, c FROM S WHERE A AS a ; B AS b ; C AS c FILTER a[price > {high}]"
    text += f" AND b[price < {low}] AND c[price > {high}]"
    if key is not None:
        text += f" PARTITION BY [{key}]"
    return text if window is None else f"{text} WITHIN {window}"

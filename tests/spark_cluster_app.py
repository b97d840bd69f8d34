"""A Spark application on a cluster of two executors, some of whose tasks die once: `APP JAR FOLDER LAKE`.

Each executor has pretended GPUs and the plugin in JAR. What its first tasks saw is printed as one line
of JSON, and FOLDER has the metrics of the executors as they were then. After that two tasks of each job
end their Python processes after the first batch; in some jobs, with `--all` in all, one kills its executor,
too. What the operators give is written to FOLDER as Parquet. `APP JAR FOLDER --version VERSION` only starts
an executor, whose driver says that it has that version.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from cer_gpu.spark import backtests, files, operators, routes, settings
from cer_gpu.spark.configuration import configure
from cer_gpu.spark.expressions import in_tasks
from spark_sessions import local_builder

import cer_gpu
from cer_gpu import spark as cer_spark

SCRIPT = """#!/bin/sh
echo '{"name": "gpu", "addresses": ["5", "7"]}'
"""
EVENTS = 1000
"""Events of a task, as it reports them to the plugin."""

KEYED = "SELECT * WHERE A AS a ; B AS b FILTER a[price > 80] PARTITION BY [k] WITHIN 5 EVENTS"
TIMED = "SELECT * WHERE A AS a ; B AS b FILTER a[price > 90] WITHIN 2 SECONDS"
SWEPT = {"p": [60.0, 80.0, 95.0], "w": ["1 s", "4 s"]}
TEMPLATE = "SELECT * WHERE (A AS a FILTER a[price > $p]) ; B PARTITION BY [k] WITHIN $w"
OUTCOMES = {"later": "AFTER 1 s (price) - LAST(a.price)", "wait": "TIME TO (C)"}
QUERIES = {"keyed": KEYED, "timed": TIMED, "files": TIMED}
BACKTEST = {"by": ["1 s", "k"], "durations": True, "starts": True, "outcomes": OUTCOMES}

JOBS = (
    *QUERIES,
    *("backtest", "durations", "outcomes"),
    *("backtest of files", "durations of files", "outcomes of files, read", "outcomes of files"),
)
"""The readings of events, one after another."""

KILLING = ("keyed", "files", "outcomes")
"""Those in which an executor dies: one of frames, one of files, and one of a backtest."""


class Dying:
    """A function of a task that dies once, after its first batch, in the first two partitions.

    Parameters
    ----------
    function : callable
    told : str
        What the name of the file begins with that says that a task has died already.
    kills : bool
        Whether the second task takes its executor with it.
    """

    def __init__(self, function: Any, told: str, kills: bool) -> None:
        self._function = function
        self._told = told
        self._kills = kills

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        partition = TaskContext.get().partitionId()
        told = f"{self._told}-{partition}"
        for batch in self._function(batches):
            yield batch
            if partition < 2 and not os.path.exists(told):
                with open(told, "w"):
                    pass
                die(self._kills and partition == 1)


def die(with_executor: bool) -> None:
    """End this process, or the executor whose worker it is."""
    if with_executor:
        # The worker's parent is Spark's daemon, and the daemon's parent the executor.
        with open(f"/proc/{os.getppid()}/stat") as file:
            os.kill(int(file.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
        time.sleep(60)
    os._exit(1)


def report(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row a task: the GPU that it would take of eight, and whether the plugin listened."""
    from cer_gpu.spark.gpu import addresses_of, number_of
    from cer_gpu.spark.metrics import FILE, publish
    from pyspark import TaskContext

    for _ in batches:
        pass
    gpu = number_of(None, addresses_of(TaskContext.get()), 0, 8)
    # A task that is over at once would be given again to the executor that it ran on.
    time.sleep(1)
    sent = publish(EVENTS, 3, 0.5, f"cuda:{gpu}")
    folder = os.environ["SPARK_LOCAL_DIRS"].partition(",")[0]
    mode = oct(stat.S_IMODE(os.stat(os.path.join(folder, FILE)).st_mode))
    yield pa.RecordBatch.from_pylist([{"gpu": gpu, "sent": sent, "mode": mode}])


def started(jar: str, folder: Path, version: str | None) -> Any:
    """A session whose executors have reported, and have written their metrics."""
    script = folder / "gpus.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    metrics = folder / "sink"
    metrics.mkdir()
    builder = local_builder(f"local-cluster[{1 if version else 2},1,1024]").config(
        map={
            "spark.worker.resource.gpu.amount": "2",
            "spark.worker.resource.gpu.discoveryScript": str(script),
            "spark.executor.memory": "512m",
            "spark.cer.rowsPerTask": "500",
            # What a killed executor had shuffled is asked of it once, and not for 15 seconds.
            "spark.shuffle.io.maxRetries": "1",
            "spark.shuffle.io.retryWait": "100ms",
            "spark.metrics.conf.executor.sink.csv.class": "org.apache.spark.metrics.sink.CsvSink",
            "spark.metrics.conf.executor.sink.csv.period": "1",
            "spark.metrics.conf.executor.sink.csv.directory": str(metrics),
        }
    )
    if version:
        builder = builder.config("spark.cer.version", version)
    spark = configure(builder, gpu="required", rapids=False, plugin=jar).getOrCreate()
    tasks = spark.range(0, 2, 1, 2).mapInArrow(report, "gpu long, sent boolean, mode string").collect()
    # The sink writes every second.
    time.sleep(2.5)
    shutil.copytree(metrics, folder / "metrics")
    sys.stdout.write(json.dumps([task.asDict() for task in tasks]) + "\n")
    return spark


def with_deaths(folder: Path, killing: tuple[str, ...]) -> None:
    """From now on the first two tasks of each job die once."""
    jobs = iter(JOBS)

    def dying(frame: Any, function: Any, result: pa.Schema) -> Any:
        job = next(jobs)
        return in_tasks(frame, Dying(function, str(folder / f"{job}-died"), job in killing), result)

    for module in (operators, files, backtests):
        module.in_tasks = dying  # type: ignore[attr-defined]


def main(jar: str, folder: Path, lake: str | None, version: str | None, whole: bool) -> None:
    spark = started(jar, folder, version)
    if lake is not None:
        spark.sparkContext.setLogLevel("ERROR")
        # The GPUs are pretended ones.
        spark.conf.set(settings.GPU.key, "off")
        spark.sparkContext.addPyFile(__file__)
        with_deaths(folder, JOBS if whole else KILLING)
        routes.SMALL = 200
        ask(spark, lake, folder)
    spark.stop()


def ask(spark: Any, lake: str, folder: Path) -> None:
    """Write what queries and backtests give to Parquet files."""
    frame = spark.read.parquet(lake)
    rows = frame.count()
    found = {
        "keyed": cer_spark.run(frame, KEYED, order_by="ts", event_id="row", rows=rows),
        "timed": cer_spark.run(frame, TIMED, order_by="ts", event_id="row", rows=rows),
        "files": cer_spark.run_files(lake, TIMED, order_by="ts", event_id="row", spark=spark),
    }
    for name, one in found.items():
        pq.write_table(one.toArrow(), folder / f"{name}.parquet")
    sweep = cer_gpu.sweep(TEMPLATE, **SWEPT)
    for name, many in {
        "backtest": cer_spark.backtest(frame, sweep, **BACKTEST, order_by="ts", rows=rows),
        "backtest of files": cer_spark.backtest_files(lake, sweep, **BACKTEST, order_by="ts", spark=spark),
    }.items():
        pq.write_table(many.to_arrow(), folder / f"{name}.parquet")
        pq.write_table(many.outcomes, folder / f"{name}, outcomes.parquet")
        pq.write_table(many.outcome_hits, folder / f"{name}, hits.parquet")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("jar")
    parser.add_argument("folder", type=Path)
    parser.add_argument("lake", nargs="?")
    parser.add_argument("--version")
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args()
    main(asked.jar, asked.folder, asked.lake, asked.version, asked.all)

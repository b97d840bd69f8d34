"""A Spark application on a cluster of two executors, some of whose tasks die once: `APP LAKE FOLDER`.

Each executor has a pretended GPU. One task ends its Python process after its first batch, another kills the
executor it runs on. What the operators give is written to FOLDER as Parquet.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from cer_gpu.spark import backtests, files, operators, routes
from spark_sessions import local_builder

import cer_gpu
from cer_gpu import spark as cer_spark

SCRIPT = """#!/bin/sh
echo '{"name": "gpu", "addresses": ["3"]}'
"""

KEYED = "SELECT * WHERE A AS a ; B AS b FILTER a[price > 80] PARTITION BY [k] WITHIN 5 EVENTS"
TIMED = "SELECT * WHERE A AS a ; B AS b FILTER a[price > 90] WITHIN 2 SECONDS"
SWEPT = {"p": [60.0, 80.0, 95.0], "w": ["1 s", "4 s"]}
TEMPLATE = "SELECT * WHERE (A AS a FILTER a[price > $p]) ; B PARTITION BY [k] WITHIN $w"
OUTCOMES = {"later": "AFTER 1 s (price) - LAST(a.price)", "wait": "TIME TO (C)"}
QUERIES = {"keyed": KEYED, "timed": TIMED, "files": TIMED}


class Dying:
    """A function of a task that dies once, after its first batch, in the first two partitions.

    Parameters
    ----------
    function : callable
    folder : str
        Where a file says that a task has died already.
    told : str
        What the name of that file begins with.
    """

    def __init__(self, function: Any, folder: str, told: str = "") -> None:
        self._function = function
        self._folder = folder
        self._told = told

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        partition = TaskContext.get().partitionId()
        told = os.path.join(self._folder, f"{self._told}died-{type(self._function).__name__}-{partition}")
        for batch in self._function(batches):
            yield batch
            if partition < 2 and not os.path.exists(told):
                with open(told, "w"):
                    pass
                die(partition == 1)


def die(with_executor: bool) -> None:
    """End this process, or the executor whose worker it is."""
    if with_executor:
        # The worker's parent is Spark's daemon, and the daemon's parent the executor.
        with open(f"/proc/{os.getppid()}/stat") as file:
            os.kill(int(file.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
        time.sleep(60)
    os._exit(1)


def gpus(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Which GPU a task would take where its process sees eight."""
    from cer_gpu.spark.gpu import addresses_of, number_of
    from pyspark import TaskContext

    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"gpu": [number_of(None, addresses_of(TaskContext.get()), 0, 8)]})


def main(lake: str, folder: Path) -> None:
    script = folder / "gpus.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    settings = {
        "spark.worker.resource.gpu.amount": "1",
        "spark.worker.resource.gpu.discoveryScript": str(script),
        "spark.executor.resource.gpu.amount": "1",
        "spark.task.resource.gpu.amount": "0.5",
        "spark.executor.memory": "512m",
        "spark.cer.rowsPerTask": "500",
        # What a killed executor had shuffled is asked of it once, and not for 15 seconds.
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "100ms",
    }
    spark = local_builder("local-cluster[2,1,1024]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.sparkContext.addPyFile(__file__)
    seen = spark.range(0, 4, 1, 4).mapInArrow(gpus, "gpu long").collect()
    assert {row["gpu"] for row in seen} == {3}, seen
    routes.SMALL = 200
    worker, reader = operators.Worker, files.FileWorker
    operators.Worker = lambda *given, **more: Dying(worker(*given, **more), str(folder))  # type: ignore[misc,assignment]
    jobs = iter(["backtest-", "durations-", "outcomes-"])
    backtests.Worker = lambda *given: Dying(worker(*given), str(folder), next(jobs))  # type: ignore[misc,assignment]
    files.FileWorker = lambda *given: Dying(reader(*given), str(folder))  # type: ignore[misc,assignment]
    frame = spark.read.parquet(lake)
    rows = frame.count()
    found = {
        "keyed": cer_spark.run(frame, KEYED, order_by="ts", event_id="row", rows=rows),
        "timed": cer_spark.run(frame, TIMED, order_by="ts", event_id="row", rows=rows),
        "files": cer_spark.run_files(lake, TIMED, order_by="ts", event_id="row", spark=spark),
    }
    for name, one in found.items():
        pq.write_table(one.toArrow(), folder / f"{name}.parquet")
        for died in folder.glob("died-Worker-*"):
            died.rename(folder / f"{name}-{died.name}")
    sweep = cer_gpu.sweep(TEMPLATE, **SWEPT)
    by, asked = ["1 s", "k"], {"durations": True, "outcomes": OUTCOMES}
    many = cer_spark.backtest(frame, sweep, by, **asked, order_by="ts", rows=rows)
    pq.write_table(many.to_arrow(), folder / "backtest.parquet")
    pq.write_table(many.outcomes, folder / "outcomes.parquet")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

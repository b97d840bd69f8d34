"""A Spark application with the JVM plugin, whose executors have pretended GPUs: `APP JAR FOLDER [VERSION]`.

It prints what its tasks saw as one line of JSON, after the executors have written their metrics to FOLDER.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
from cer_gpu.spark.configuration import configure
from spark_sessions import local_builder

SCRIPT = """#!/bin/sh
echo '{"name": "gpu", "addresses": ["5", "7"]}'
"""
EVENTS = 1000


def report(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    """One row a task: the GPUs that Spark gave it, and whether the plugin listened."""
    from cer_gpu.spark.metrics import FILE, publish
    from pyspark import TaskContext

    for _ in batches:
        pass
    gpus = TaskContext.get().resources()["gpu"].addresses
    # A task that is over at once would be given again to the executor that it ran on.
    time.sleep(1)
    sent = publish(EVENTS, 3, 0.5, f"cuda:{gpus[0]}")
    folder = os.environ["SPARK_LOCAL_DIRS"].partition(",")[0]
    mode = oct(stat.S_IMODE(os.stat(os.path.join(folder, FILE)).st_mode))
    yield pa.RecordBatch.from_pylist([{"gpu": ",".join(gpus), "sent": sent, "mode": mode}])


def main(jar: str, folder: Path, version: str | None) -> None:
    script = folder / "gpus.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    executors = 1 if version else 2
    builder = local_builder(f"local-cluster[{executors},1,1024]").config(
        map={
            "spark.worker.resource.gpu.amount": "2",
            "spark.worker.resource.gpu.discoveryScript": str(script),
            "spark.executor.memory": "512m",
            "spark.metrics.conf.executor.sink.csv.class": "org.apache.spark.metrics.sink.CsvSink",
            "spark.metrics.conf.executor.sink.csv.period": "1",
            "spark.metrics.conf.executor.sink.csv.directory": str(folder),
        }
    )
    if version:
        builder = builder.config("spark.cer.version", version)
    spark = configure(builder, gpu="required", rapids=False, plugin=jar).getOrCreate()
    tasks = spark.range(0, 2, 1, 2).mapInArrow(report, "gpu string, sent boolean, mode string").collect()
    # The sink writes every second.
    time.sleep(2.5)
    sys.stdout.write(json.dumps([task.asDict() for task in tasks]) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)

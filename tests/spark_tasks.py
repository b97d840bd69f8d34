"""Tasks without a cluster: what Spark would hand to a worker, handed to it here.

Rows are shuffled over tasks by key, come in batches cut anywhere, and in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
import pyarrow as pa
from cer_gpu.spark.binding import task_of
from cer_gpu.spark.segments import SEGMENT, Segment
from cer_gpu.spark.task import Task
from cer_gpu.spark.worker import Worker

ROW = "row"
"""A number for each event, ascending in the order of time: the position that the local engine gives it."""


def batches(table: pa.Table, rng: Random) -> Iterator[pa.RecordBatch]:
    """A table in batches of a few rows, some of them empty."""
    start = 0
    while start < len(table):
        size = rng.choice((0, 1, 2, 3, 7))
        if size:
            (batch,) = table.slice(start, size).combine_chunks().to_batches()
            yield batch
        else:
            yield pa.RecordBatch.from_pylist([], schema=table.schema)
        start += size


def shuffled(table: pa.Table, rng: Random) -> pa.Table:
    """The rows in any order."""
    order = list(range(len(table)))
    rng.shuffle(order)
    return table.take(pa.array(order, pa.int64()))


def dealt(table: pa.Table, keys: Sequence[Sequence[str]], tasks: int) -> list[pa.Table]:
    """The rows of each task: those of a key together, rows without a whole key left out."""
    rows: list[list[int]] = [[] for _ in range(tasks)]
    for number, row in enumerate(table.to_pylist()):
        key = [next((row[name] for name in part if row[name] is not None), None) for part in keys]
        if None not in key:
            shown = tuple("nan" if value != value else value or 0 for value in key)
            rows[hash(repr(shown)) % tasks].append(number)
    return [table.take(pa.array(own, pa.int64())) for own in rows]


def answer(
    task: Task,
    parts: Sequence[pa.Table],
    rng: Random,
    segments: dict[int, Segment] | None = None,
    streamed: bool = False,
) -> list[str]:
    """What the tasks give for their rows, in no order."""
    worker = Worker(task.dumped(), segments, streamed)
    rows = []
    for part in parts:
        columns = [name for name in part.schema.names if name in {*task.columns, SEGMENT}]
        given = batches(part.select(columns), rng)
        for batch in worker(iter(list(given))):
            assert batch.schema == task.result
            rows += batch.to_pylist()
    return sorted(map(repr, rows))


def wanted(found: pa.Table, names: Sequence[str]) -> list[str]:
    """The answer of the local engine in the columns of a task, in no order."""
    return sorted(map(repr, found.select(list(names)).to_pylist()))


def numbered(table: pa.Table) -> pa.Table:
    """A table with the number of each row."""
    return table.append_column(ROW, pa.array(np.arange(len(table))))


__all__ = ["ROW", "answer", "batches", "dealt", "numbered", "shuffled", "task_of", "wanted"]

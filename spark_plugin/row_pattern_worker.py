"""In a worker: finds the matches of a MATCH_RECOGNIZE clause over the Arrow batches of a task.

It imports neither sqlglot nor what reads SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from cer_gpu.spark.arrow_types import halving, shown
from cer_gpu.spark.metrics import publish
from cer_gpu.spark.segments import SEGMENT
from cer_gpu.spark.worker_reuse import settle_task

from cer_gpu.cores import usable_cores
from cer_gpu.engine.free_memory import free_memory
from cer_gpu.engine.read.sources.rows import StreamRows
from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.rows.ordered_rows import OrderedRows, times_of
from cer_gpu.engine.rows.start_chains import EVERYWHERE, StartRange, StartRows
from cer_gpu.engine.rows.table_parts import table_parts
from cer_gpu.engine.workers import Workers
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.progress import begun

EXITS = pa.schema(
    [
        pa.field("segment", pa.int32(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("exits", pa.list_(pa.int64()), nullable=False),
        pa.field("matches", pa.list_(pa.int64()), nullable=False),
    ]
)
"""What `ExitWorker` says of a segment: its rows, and for each row at which it may be entered how many rows
behind it the search goes on, and how many matches start in it.
"""


class RowPatternSegment(NamedTuple):
    """Rows between two times, in which matches start, and how the search comes to them.

    Attributes
    ----------
    begin, end : int or None
        The first time, and the one behind the last, in the unit of the column; None: no bound.
    entry : int
        How many of its rows are skipped, since a match of the segment before reaches over them.
    before : int
        How many matches start before it.
    """

    begin: int | None
    end: int | None
    entry: int = 0
    before: int = 0


@dataclass(frozen=True, slots=True)
class RowPatternTask:
    """What a task needs to run a clause.

    Attributes
    ----------
    answer : RowPatternAnswer
    read : pyarrow.Schema
        The columns that the clause reads; times are shown in the time zone of the session.
    partition_by, order_by : tuple of str
        Columns of the clause.
    numbers_matches : bool
        Whether a measure is MATCH_NUMBER(), or computes with it.
    """

    answer: RowPatternAnswer
    read: pa.Schema
    partition_by: tuple[str, ...]
    order_by: tuple[str, ...]
    numbers_matches: bool = False

    def tables(self, batches: Iterable[pa.RecordBatch], threads: int) -> Iterator[pa.Table]:
        """The rows of the task, or groups of its partitions, where they take too much memory."""
        return self._read(batches, threads, self.read, self.partition_by)

    def segments(self, batches: Iterable[pa.RecordBatch], threads: int) -> Iterator[tuple[int, pa.Table]]:
        """The rows of each segment of the task."""
        marked = self.read.append(pa.field(SEGMENT, pa.int32()))
        for table in self._read(batches, threads, marked, (SEGMENT,)):
            numbers = table.column(SEGMENT)
            for number in pc.unique(numbers).to_pylist():
                yield number, table.filter(pc.equal(numbers, number)).drop_columns([SEGMENT])

    def _read(
        self, batches: Iterable[pa.RecordBatch], threads: int, schema: pa.Schema, by: tuple[str, ...]
    ) -> Iterator[pa.Table]:
        given = (shown(batch.columns, schema) for batch in batches if batch.num_rows)
        rows = StreamRows(pa.RecordBatchReader.from_batches(schema, given), None, "the rows of a task")
        memory = free_memory()
        if memory is not None and by:
            # As many tasks may run here at once.
            memory //= max(1, usable_cores() // threads)
        yield from table_parts(rows, schema.names, by, memory, begun(None))

    def in_order(self, table: pa.Table) -> OrderedRows:
        """The rows; those that tie in the order of their other columns, since a shuffle loses theirs."""
        keys = list(dict.fromkeys((*self.partition_by, *self.order_by)))
        if not keys or table.group_by(keys, use_threads=False).aggregate([]).num_rows < table.num_rows:
            others = [
                (field.name, "ascending")
                for field in self.read
                if field.name not in keys and not pa.types.is_nested(field.type)
            ]
            table = table.take(pc.sort_indices(table, sort_keys=others)) if others else table
        return self.answer.ordered(table)

    def times(self, rows: OrderedRows) -> np.ndarray:
        """The times of ordered rows, int64."""
        name = self.order_by[0]
        return times_of(rows.column(name), name, False)


class RowPatternWorker:
    """A function for `mapInArrow` that gives the rows of a clause over those of a task.

    Parameters
    ----------
    task : RowPatternTask
    result : pyarrow.Schema
        The columns of the answer in types that Spark has.
    segments : mapping of int to RowPatternSegment, optional
        If rows are cut by time: what is known of each segment.
    """

    def __init__(
        self,
        task: RowPatternTask,
        result: pa.Schema,
        segments: Mapping[int, RowPatternSegment] | None = None,
    ) -> None:
        self._task = task
        self._result = result
        self._segments = dict(segments or {})

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        workers = _workers()
        started, read, given = perf_counter(), 0, 0
        for rows, starts in self._parts(batches, workers.threads):
            read += rows.count
            for batch in self._task.answer.over(rows, workers, None, starts):
                for part in halving(batch, self._shown):
                    given += part.num_rows
                    yield part
        publish(read, given, perf_counter() - started, "cpu")
        settle_task()

    def _parts(
        self, batches: Iterable[pa.RecordBatch], threads: int
    ) -> Iterator[tuple[OrderedRows, StartRange | StartRows]]:
        if not self._segments:
            for table in self._task.tables(batches, threads):
                yield self._task.in_order(table), EVERYWHERE
            return
        for number, table in self._task.segments(batches, threads):
            rows, segment = self._task.in_order(table), self._segments[number]
            first, stop = own_rows(self._task.times(rows), segment)
            yield rows, StartRange(min(first + segment.entry, stop), stop, segment.before)

    def _shown(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch in the types of Spark."""
        return shown(batch.columns, self._result)


class ExitWorker:
    """A function for `mapInArrow` that says where the search leaves each segment of a task: see `EXITS`.

    Parameters
    ----------
    task : RowPatternTask
    segments : mapping of int to RowPatternSegment
    span : int
        Of WITHIN, in the unit of the times: the search enters a segment before so much of it has passed.
    """

    def __init__(self, task: RowPatternTask, segments: Mapping[int, RowPatternSegment], span: int) -> None:
        self._task = task
        self._segments = dict(segments)
        self._span = span

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        workers = _workers()
        for number, table in self._task.segments(batches, workers.threads):
            rows, segment = self._task.in_order(table), self._segments[number]
            times = self._task.times(rows)
            first, stop = own_rows(times, segment)
            entries = 1
            if segment.begin is not None:
                entries += int(np.searchsorted(times, segment.begin + self._span)) - first
            exits = self._task.answer.exits(rows, StartRange(first, stop), entries, workers)
            columns = [[number], [stop - first], [exits.rows - stop], [exits.matches]]
            yield pa.RecordBatch.from_arrays(
                [pa.array(column, field.type) for column, field in zip(columns, EXITS)], schema=EXITS
            )
        settle_task()


def own_rows(times: np.ndarray, segment: RowPatternSegment) -> tuple[int, int]:
    """The first of the rows of a segment, and the one behind the last."""
    first = 0 if segment.begin is None else int(np.searchsorted(times, segment.begin))
    stop = len(times) if segment.end is None else int(np.searchsorted(times, segment.end))
    return first, stop


def _workers() -> Workers:
    """The threads that the task may have."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return Workers(max(1, context.cpus() if context is not None else 1))

"""In a worker: finds the matches of a MATCH_RECOGNIZE clause over the Arrow batches of a task.

It imports neither sqlglot nor what reads SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter

import pyarrow as pa
from cer_gpu.spark.arrow_types import halving, shown_as
from cer_gpu.spark.metrics import publish
from cer_gpu.spark.worker_reuse import settle

from cer_gpu.cores import usable_cores
from cer_gpu.engine.free_memory import free_memory
from cer_gpu.engine.read.sources.rows import StreamRows
from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.rows.table_parts import table_parts
from cer_gpu.engine.workers import Workers
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.progress import begun


class RowPatternWorker:
    """A function for `mapInArrow` that runs a clause over the rows of a task.

    Parameters
    ----------
    answer : RowPatternAnswer
    read : pyarrow.Schema
        The columns that the clause reads; times are shown in the time zone of the session.
    partition_by, order_by : tuple of str
        Columns of the clause.
    result : pyarrow.Schema
        The columns of the answer in types that Spark has.
    """

    def __init__(
        self,
        answer: RowPatternAnswer,
        read: pa.Schema,
        partition_by: tuple[str, ...],
        order_by: tuple[str, ...],
        result: pa.Schema,
    ) -> None:
        self._answer = answer
        self._read = read
        self._partition_by = partition_by
        self._order_by = order_by
        self._result = result

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        workers = Workers(max(1, context.cpus() if context is not None else 1))
        started, read, given = perf_counter(), 0, 0
        for table in self._tables(batches, workers.threads):
            read += table.num_rows
            for batch in self._answer.batches(self._in_order(table), workers):
                for part in halving(batch, self._shown):
                    given += part.num_rows
                    yield part
        publish(read, given, perf_counter() - started, "cpu")
        if context is not None:
            settle()

    def _tables(self, batches: Iterable[pa.RecordBatch], threads: int) -> Iterator[pa.Table]:
        """The rows of the task, or groups of its partitions, where they take too much memory."""
        given = (
            pa.RecordBatch.from_arrays(
                [shown_as(values, field.type) for values, field in zip(batch.columns, self._read)],
                schema=self._read,
            )
            for batch in batches
            if batch.num_rows
        )
        rows = StreamRows(pa.RecordBatchReader.from_batches(self._read, given), None, "the rows of a task")
        memory = free_memory()
        if memory is not None and self._partition_by:
            # As many tasks may run here at once.
            memory //= max(1, usable_cores() // threads)
        yield from table_parts(rows, self._read.names, self._partition_by, memory, begun(None))

    def _in_order(self, table: pa.Table) -> pa.Table:
        """The rows; those that tie in the order of their other columns, since a shuffle loses theirs."""
        keys = list(dict.fromkeys((*self._partition_by, *self._order_by)))
        if keys and table.group_by(keys, use_threads=False).aggregate([]).num_rows == table.num_rows:
            return table
        others = [
            (field.name, "ascending")
            for field in self._read
            if field.name not in keys and not pa.types.is_nested(field.type)
        ]
        return table.take(pc.sort_indices(table, sort_keys=others)) if others else table

    def _shown(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch in the types of Spark."""
        columns = [shown_as(column, field.type) for column, field in zip(batch.columns, self._result)]
        return pa.RecordBatch.from_arrays(columns, schema=self._result)

"""In a worker: runs a task over rows that it reads from Parquet files itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from cer_gpu.spark.arrow_types import plain_type
from cer_gpu.spark.labels import Labels
from cer_gpu.spark.segments import ROW
from cer_gpu.spark.worker import Job, TaskRun, task_from

from cer_gpu.engine.read.classify import Classifier
from cer_gpu.engine.read.sources.arrow_types import time_units, whole_type
from cer_gpu.engine.read.sources.fields import schema_with_fields, with_fields
from cer_gpu.engine.read.sources.files import FileRows
from cer_gpu.engine.read.sources.nan_rows import NanRows
from cer_gpu.engine.read.sources.open_file import OpenFile
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.frozen_dataclass import dataclass

BATCH = 1 << 20
"""Rows that are read at a time."""


@dataclass(frozen=True, slots=True)
class Share:
    """The rows that a task reads.

    Attributes
    ----------
    parts : tuple of OpenFile
    first : int
        The number of its first row in all files.
    halo : int
        The number of its first rows that only serve matches which end after them.
    ahead : int
        The number of its last rows that only tell what follows the rows before.
    """

    parts: tuple[OpenFile, ...]
    first: int
    halo: int
    ahead: int = 0


class _OfShares(ABC):
    """A function for `mapInArrow` that gets the numbers of shares, and reads these shares.

    Parameters
    ----------
    task : bytes
        A pickled `Task`.
    schema : pyarrow.Schema
        The columns that the files share.
    shares : sequence of Share
    job : type of Job
        The class that runs the task.
    """

    def __init__(self, task: bytes, schema: pa.Schema, shares: Sequence[Share], job: type[Job] = Job) -> None:
        self._job = job
        self._task = task
        self._schema = schema
        self._shares = shares

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        job = self._job(task_from(self._task))
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self._of(job, self._shares[number])

    @abstractmethod
    def _of(self, job: Job, share: Share) -> Iterator[pa.RecordBatch]:
        """The batches of the result for a share."""


class FileWorker(_OfShares):
    """Runs the task over the events of shares; parameters as for `_OfShares`."""

    def _of(self, job: Job, share: Share) -> Iterator[pa.RecordBatch]:
        return job.results([self._run(job, share)] if share.parts else [])

    def _run(self, job: Job, share: Share) -> TaskRun:
        rows = FileRows(share.parts, self._schema)
        stop = (rows.rows or 0) - share.ahead if share.ahead else None
        job.events += (rows.rows or 0) - share.halo - share.ahead
        labels = Labels(share.first)
        if job.task.event_id is None:
            return job.run(rows, labels, share.halo, stop=stop)
        names = list(job.task.columns)
        source = Source(with_fields(rows, names), (), job.task.query.options.type_column, None)

        def watched() -> Iterator[pa.RecordBatch]:
            for batch in source.batches(names, BATCH):
                labels.add(np.empty(0, np.int64), batch.column(job.task.event_id))
                yield batch

        schema = pa.schema([source.arrow_schema.field(name) for name in names])
        reader = pa.RecordBatchReader.from_batches(schema, watched())
        return job.run(reader, labels, share.halo, stop=stop)


class FileReader(_OfShares):
    """Returns the rows of shares that may matter, with their numbers; parameters as for `_OfShares`.

    Times are passed as the whole numbers that Arrow stores for them: Spark has one unit of time, but a bare
    number in a query is in the unit of the files.

    Attributes
    ----------
    given : pyarrow.Schema
        The columns of these rows.
    times : dict of str to pyarrow.DataType
        The columns of times among them, with their types in the files.
    """

    def __init__(self, task: bytes, schema: pa.Schema, shares: Sequence[Share]) -> None:
        super().__init__(task, schema, shares)
        self._columns = [name for name in task_from(task).columns if name != ROW]
        schema = schema_with_fields(schema, self._columns)
        self.times = {name: schema.field(name).type for name in time_units(schema) if name in self._columns}
        fields = []
        for name in self._columns:
            kind = plain_type(schema.field(name).type)
            if name in self.times:
                kind = whole_type(self.times[name])
            fields.append(pa.field(name, kind))
        self.given = pa.schema([*fields, pa.field(ROW, pa.int64(), nullable=False)])

    def _of(self, job: Job, share: Share) -> Iterator[pa.RecordBatch]:
        choose = _RelevanceFilter(job)
        read = with_fields(FileRows(share.parts, self._schema), self._columns)
        if job.options.nan_is_null:
            read = NanRows.of(read)
        source = Source(read, (), job.task.query.options.type_column, None)
        first = share.first
        for batch in source.batches(self._columns, BATCH):
            rows = choose.rows(batch, first)
            kept = batch if rows is None else batch.take(pa.array(rows))
            at = np.arange(len(batch)) if rows is None else rows
            columns = [column.cast(field.type) for column, field in zip(kept.columns, self.given)]
            yield pa.RecordBatch.from_arrays([*columns, pa.array(at + first)], schema=self.given)
            first += len(batch)


class _RelevanceFilter:
    """Finds the events that a query can use, if it counts no others."""

    def __init__(self, job: Job) -> None:
        query = job.task.query
        self._classifier = None
        if job.task.sees_some:
            self._classifier = Classifier(query.query.reading, query.units, job.workers)

    def rows(self, batch: pa.RecordBatch, before: int) -> np.ndarray | None:
        """The numbers in the batch of the rows to keep, ascending; None: all. `before` rows precede it."""
        if self._classifier is None:
            return None
        found = [positions for positions, _ in self._classifier.relevant(batch, before)]
        return np.concatenate(found) - before if found else np.empty(0, np.int64)

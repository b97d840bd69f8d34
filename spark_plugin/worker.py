"""In a worker: runs a query over the Arrow batches of a task.

It imports neither the parser nor the automata, and nothing of CUDA before the device is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pickle import loads
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark.arrow_types import halving, shown_as
from cer_gpu.spark.gpu import device_of_task
from cer_gpu.spark.labels import Labels
from cer_gpu.spark.metrics import publish
from cer_gpu.spark.segments import SEGMENT, Segment
from cer_gpu.spark.sorting import in_order, row_text, say_once, time_of
from cer_gpu.spark.task import ANY, DIGITS, ERROR, Task
from cer_gpu.spark.ties import TiedRows, tied_in
from cer_gpu.spark.worker_reuse import settle_task

from cer_gpu.digits import digits
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.read.sources.arrow_types import is_text
from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.engine.read.sources.rows import StreamRows, TableRows, one_batch
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.portable_query import PortableQuery
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator

SORTED = "the sorted events of a task"
"""What rows are counted in by messages: a row of a DataFrame has no number."""


@lru_cache(maxsize=16)
def task_from(dumped: bytes) -> Task:
    """A task from its bytes; a reused worker does not read the same bytes twice."""
    return loads(dumped)


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A query bound to the events of one run, and the values that stand for their positions."""

    bound: BoundQuery
    labels: Labels
    beside: tuple[BoundQuery, ...] = ()
    """The other queries of the task, bound to the same events."""


class Job:
    """A task in its process."""

    def __init__(self, task: Task) -> None:
        from pyspark import TaskContext

        context = TaskContext.get()
        self.task = task
        self.options = task.query.options
        self.workers = Workers(max(1, context.cpus() if context is not None else 1))
        self.device, reason = device_of_task(task.gpu, context, *task.engines)
        self.events = 0
        """How many events it has read."""
        self.ties: Accumulator[Any] | None = None
        """What ties are reported to; None: the log of the process."""
        if reason:
            say_once(reason)

    # ------------------------------------------------------------------------------- the runs of a task

    def gathered(self, batches: Iterable[pa.RecordBatch], segments: dict[int, Segment]) -> Iterator[TaskRun]:
        """Collect and sort all rows, then run: one run for each segment, and one for all other keys."""
        given = list(batches)
        if not given:
            return
        table = pa.Table.from_batches(given)
        self.events += len(table)
        del given
        if SEGMENT not in table.schema.names:
            yield self._sorted(_one_batch(table), None)
            return
        number = table.column(SEGMENT)
        for value in sorted(pc.unique(number).to_pylist()):
            part = _one_batch(table.filter(pc.equal(number, value)).drop_columns([SEGMENT]))
            yield self._sorted(part, segments.get(value))

    def _sorted(self, batch: pa.RecordBatch, segment: Segment | None) -> TaskRun:
        encoder = self._encoder(batch.schema)
        found = in_order(batch, self.options.order_by, self.task.ties, encoder)
        halo, offset, stop = 0, 0, None
        if segment is not None:
            offset = segment.offset
            if segment.begin is not None or segment.end is not None:
                time = time_of(found.batch, self.options.order_by[0])
                halo = 0 if segment.begin is None else int(np.searchsorted(time, segment.begin, side="left"))
                if segment.end is not None:
                    stop = int(np.searchsorted(time, segment.end, side="left"))
        if self.task.tie_rule != ANY and found.same.any():
            tied = self._tied(found.batch, found.same)
            self._report(
                tied[(tied >= halo) & (tied < (len(found.batch) if stop is None else stop))], found.batch
            )
        labels = Labels(offset)
        labels.add(found.begins, self._ids(found.batch))
        events = TableRows(pa.Table.from_batches([found.batch]), SORTED)
        return self.run(events, labels, halo, self.task.keyed, stop)

    def streamed(self, batches: Iterable[pa.RecordBatch]) -> Iterator[TaskRun]:
        """One run over rows that come sorted."""
        given = iter(batches)
        first = next(given, None)
        if first is None:
            return
        encoder = self._encoder(first.schema)
        labels = Labels()

        def watched() -> Iterator[pa.RecordBatch]:
            rows, last = 0, -1
            before: pa.RecordBatch | None = None
            for batch in chain([first], given):
                begins = np.empty(0, np.int64)
                if encoder is not None:
                    lanes = encoder.encode(batch, np.arange(len(batch)))
                    begins = np.flatnonzero(np.diff(lanes, prepend=last))
                    last = int(lanes[-1])
                if self.task.tie_rule != ANY:
                    self._watch(before, batch, begins)
                    before = batch
                labels.add(begins + rows, self._ids(batch))
                rows += len(batch)
                self.events += len(batch)
                yield batch

        reader = pa.RecordBatchReader.from_batches(first.schema, watched())
        yield self.run(StreamRows(reader, None, SORTED), labels, 0, self.task.keyed)

    def _watch(self, before: pa.RecordBatch | None, batch: pa.RecordBatch, begins: np.ndarray) -> None:
        """Report the ties of a batch of sorted rows, also those with the last row of the batch before."""
        if before is not None:
            batch = (
                pa.Table.from_batches([before.slice(len(before) - 1), batch]).combine_chunks().to_batches()[0]
            )
            begins = begins + 1
        time = time_of(batch, self.options.order_by[0])
        same = np.zeros(len(batch), bool)
        same[1:] = time[1:] == time[:-1]
        same[begins] = False
        if same.any():
            self._report(self._tied(batch, same), batch)

    def _tied(self, batch: pa.RecordBatch, same: np.ndarray) -> np.ndarray:
        return tied_in(batch, same, self.options.order_by, self.task.ties)

    def _report(self, tied: np.ndarray, batch: pa.RecordBatch) -> None:
        """Tell of rows whose order is not known, by an error where that was asked for."""
        if not len(tied):
            return
        told = TiedRows.of(self.task, len(tied))
        if self.task.tie_rule == ERROR:
            raise told.error(row_text(batch, int(tied[0])))
        if self.ties is not None:
            self.ties.add({told.query: told})
        else:
            say_once(told.warning)

    def _encoder(self, schema: pa.Schema) -> LaneEncoder | None:
        if not self.task.keyed:
            return None
        return LaneEncoder(self.task.query.query.reading.partition, schema)

    def _ids(self, batch: pa.RecordBatch) -> pa.Array | None:
        return None if self.task.event_id is None else batch.column(self.task.event_id)

    def run(
        self, events: Any, labels: Labels, halo: int, grouped: bool = False, stop: int | None = None
    ) -> TaskRun:
        """The query bound to some events; parameters as for `BoundQuery`."""
        query = self.task.query
        source = self.source_of(events, query.options.stream_column, query.columns)
        return TaskRun(self.bound(query, source, self.device, halo, grouped, stop), labels)

    def source_of(self, events: Any, stream_column: str | None, names: Sequence[str]) -> Source:
        """Open some events; columns that no query reads may be missing."""
        return open_source(
            events,
            order_by=self.options.order_by,
            type_column=self.options.type_column,
            stream_column=stream_column,
            names=names,
            nan_is_null=self.options.nan_is_null,
        )

    def bound(
        self, query: PortableQuery, source: Source, device: str, halo: int, grouped: bool, stop: int | None
    ) -> BoundQuery:
        """A query that the driver has planned, on some events; parameters as for `BoundQuery`."""
        options = replace(query.options, device=(device,))
        return BoundQuery(query.query, source, query.units, options, self.workers, halo, True, grouped, stop)

    # ---------------------------------------------------------------------------- what they are asked for

    def results(self, runs: Iterable[TaskRun]) -> Iterator[pa.RecordBatch]:
        """The results of the runs, in the columns of the task; reports their number to the executor."""
        begun, given = perf_counter(), 0
        for batch in self._results(runs):
            given += len(batch)
            yield batch
        publish(self.events, given, perf_counter() - begun, self.device)
        settle_task()

    def _results(self, runs: Iterable[TaskRun]) -> Iterator[pa.RecordBatch]:
        if self.task.product == "count":
            yield self._count(sum(run.bound.count() for run in runs))
            return
        for run in runs:
            yield from self._listed(run) if self.task.product == "run" else self._ends(run)

    def _count(self, total: int) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([counts_column([total])], schema=self.task.result)

    def _listed(self, run: TaskRun) -> Iterator[pa.RecordBatch]:
        form = self.task.query.result
        # What is ordered by a number that the data does not have has no times to show.
        shown = [name for name in form.schema.names if self.task.timed or name not in form.times]

        def given(batch: pa.RecordBatch) -> pa.RecordBatch:
            columns = []
            for name, field in zip(shown, self.task.result, strict=True):
                column = batch.column(name)
                if name in form.positions:
                    columns.append(run.labels.of(column, field.type))
                else:
                    columns.append(shown_as(column, field.type))
            return pa.RecordBatch.from_arrays(columns, schema=self.task.result)

        for batch in run.bound.matches().batches(keep=False):
            yield from halving(batch, given)

    def _ends(self, run: TaskRun) -> Iterator[pa.RecordBatch]:
        hits = self.task.product == "hits"
        found = run.bound.hits() if hits else run.bound.counts()
        if not len(found):
            return
        position, *more, value = (column.combine_chunks() for column in found.columns)
        if self.options.order_by and not self.task.timed:
            more.pop()  # what is ordered by a number that the data does not have has no time to show
        at, *fields, last = self.task.result
        columns = [run.labels.of(position, at.type)]
        columns += [shown_as(column, field.type) for column, field in zip(more, fields)]
        columns.append(run.labels.of(value, last.type) if hits else counts_column(value.to_pylist()))
        yield pa.RecordBatch.from_arrays(columns, schema=self.task.result)


class Worker:
    """A function for `mapInArrow` that runs a query over the events of a task.

    Parameters
    ----------
    task : bytes
        A pickled `Task`.
    segments : dict of int to Segment
        The segments by their numbers in the segment column; a number without an entry belongs to no segment.
    streamed : bool
        Whether the rows come sorted by (key, time, tie-breakers) and may be more than fit into memory.
    job : type of Job
        The class that runs the task.
    ties : Accumulator, optional
        What ties are reported to; by default the log of the process.
    """

    def __init__(
        self,
        task: bytes,
        segments: dict[int, Segment] | None = None,
        streamed: bool = False,
        job: type[Job] = Job,
        ties: Accumulator[Any] | None = None,
    ) -> None:
        self._task = task
        self._ties = ties
        self._segments = segments or {}
        self._streamed = streamed
        self._job = job

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        job = self._job(task_from(self._task))
        job.ties = self._ties
        given = (batch for batch in batches if batch.num_rows)
        runs = job.streamed(given) if self._streamed else job.gathered(given, self._segments)
        yield from job.results(runs)


def counts_column(counts: list[int], most: int = DIGITS) -> pa.Array:
    """Counts as text, which Spark turns into numbers: accelerators take no decimals from Python.

    Parameters
    ----------
    counts : list of int
    most : int
        The digits that a count may have.

    Raises
    ------
    LimitError
        When a count has more digits.
    """
    if max(counts, default=0) >= 10**most:
        raise LimitError(
            f"a count has {digits(max(counts)):,} digits, and a column on Spark can hold at most "
            f"{most}: narrow the query"
        )
    return pa.array(list(map(str, counts)), pa.string())


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    """A table as one batch, its strings as dictionaries: a constant is then compared once a value."""
    columns = [
        column.cast(pa.large_string()).dictionary_encode() if is_text(column.type) else column
        for column in table.itercolumns()
    ]
    whole = pa.table(columns, names=table.schema.names).unify_dictionaries().combine_chunks()
    return one_batch(whole)

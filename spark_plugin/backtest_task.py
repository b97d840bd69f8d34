"""In a worker: runs many queries over the events of a task, and sums up their hits and matches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from cer_gpu.spark.arrow_types import shown_as
from cer_gpu.spark.labels import Labels
from cer_gpu.spark.listed_task import listed
from cer_gpu.spark.outcome_task import OutcomePlans, counted_values, shown_values
from cer_gpu.spark.task import UNCUT, Task
from cer_gpu.spark.worker import SORTED, Job, TaskRun, counts_column

from cer_gpu.backtesting.listed_values import NOTHING, ListedKinds
from cer_gpu.backtesting.row_groups import RowGroups
from cer_gpu.backtesting.table import EndTotals, numbered, of_ends, of_groups
from cer_gpu.engine.answers.end_form import DECIMAL_DIGITS
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.read.sources.columns import single
from cer_gpu.engine.read.sources.rows import StreamRows, TableRows
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BATCH, BoundQuery
from cer_gpu.engine.run.passes import PassSink, passes_of, sum_up
from cer_gpu.engine.run.portable_query import PortableQuery
from cer_gpu.engine.run.totals import Totals
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.whole_file import TEMPORARY, NamedSink, named, temporary_folder

MATCHES = "matches"

SUMS, LISTED, OUTCOMES = "sums", "listed", "outcomes"


@dataclass(frozen=True, slots=True)
class BacktestTask(Task):
    """Many queries over the events of a task; the needs of `query` decide how events are distributed.

    Attributes
    ----------
    members : tuple of Task
        The queries.
    numbers : tuple of int
        Their numbers among those of the backtest.
    parted : Parted
        How rows of the result are grouped.
    cut : bool
        Whether all of them allow that a stream is cut by time, in one way.
    asked : {"sums", "listed", "outcomes"}
        What is asked of them: hits and matches, what their matches are listed for, or how many hits have each
        value of the outcomes.
    listed : ListedKinds
        How long matches last, where they begin, or both.
    outcomes : OutcomePlans or None
        Set if outcomes are asked for.
    """

    members: tuple[Task, ...] = ()
    numbers: tuple[int, ...] = ()
    parted: RowGroups = RowGroups(None, ())
    cut: bool = False
    asked: str = SUMS
    listed: ListedKinds = NOTHING
    outcomes: OutcomePlans | None = None

    @property
    def engines(self) -> frozenset[str]:
        """What runs the queries."""
        return frozenset[str]().union(*(one.engines for one in self.members))

    @property
    def counts_all(self) -> bool:
        """Whether events of types that no query uses change an answer."""
        return self.asked == OUTCOMES or any(one.counts_all for one in self.members)

    @property
    def types(self) -> tuple[str | int | bool, ...] | None:
        """The event types that some query uses; None if others may matter."""
        found: dict[str | int | bool, None] = {}
        for one in self.members:
            types = one.types
            if types is None:
                return None
            found.update(dict.fromkeys(types))
        return tuple(found)

    @property
    def cuttable(self) -> bool:
        """Whether a stream can be cut by time for all queries."""
        return self.cut

    @property
    def uncut(self) -> str:
        """Why a stream cannot be divided among several tasks; empty if it can."""
        if self.asked == OUTCOMES and any(one.cuttable for one in self.members):
            return "the query has no PARTITION BY, and outcomes look at all later events"
        return UNCUT

    @property
    def sees_some(self) -> bool:
        """False: the filters of one query do not tell which events the others need."""
        return False


class BacktestJob(Job):
    """A task of many queries in its process."""

    task: BacktestTask
    _source: Source
    _bound: Callable[[PortableQuery], BoundQuery]

    def run(
        self, events: Any, labels: Labels, halo: int, grouped: bool = False, stop: int | None = None
    ) -> TaskRun:
        """The queries bound to some events; parameters as for `BoundQuery`."""
        queries = [one.query for one in self.task.members]
        plans = self.task.outcomes
        again = plans is not None or (self.task.asked != SUMS and len(queries) > 1)
        if again and isinstance(events, StreamRows):
            events = self._spooled(events)
        read = [*(name for query in queries for name in query.columns), *(plans.columns if plans else ())]
        names = list(dict.fromkeys(read))
        streams = [query.options.stream_column for query in queries if query.options.stream_column]
        source = self.source_of(events, streams[0] if streams else None, names)
        # What comes only once is read once, which a device cannot do for several queries.
        device = self.device if source.rewindable else "cpu"

        def bound(query: PortableQuery) -> BoundQuery:
            return self.bound(query, source, device, halo, grouped, stop)

        first, *others = map(bound, queries)
        self._source, self._bound = source, bound
        return TaskRun(first, labels, tuple(others))

    def _results(self, runs: Iterable[TaskRun]) -> Iterator[pa.RecordBatch]:
        for run in runs:
            bound = [run.bound, *run.beside]
            if self.task.outcomes is not None:
                partitions = self.task.outcomes.partitions
                found_values = counted_values(self.task.outcomes, self._source, bound, self._bound)
                yield from shown_values(
                    found_values, self.task.numbers, partitions, run.labels, self.task.result
                )
                continue
            if self.task.asked == LISTED:
                task = self.task
                yield from listed(bound, task.listed, task.parted, run.labels, task.numbers, task.result)
                continue
            for found in self._summed(bound):
                if len(found):
                    yield self._shown(found)

    def _spooled(self, events: StreamRows) -> TableRows:
        """Events that come once, on disk: the matches of each query are listed by themselves."""
        with named(temporary_folder(), TEMPORARY):
            self._folder = TemporaryDirectory(prefix="cer-backtest-")
        path = os.path.join(self._folder.name, "events.arrows")
        with (
            open(path, "wb") as file,
            NamedSink(file, path, TEMPORARY) as sink,
            pa.ipc.new_stream(sink, events.schema) as writer,
        ):
            for batch in events.read(events.schema, BATCH):
                writer.write_batch(batch)
        return TableRows(pa.ipc.open_stream(pa.memory_map(path)).read_all(), SORTED)

    def _summed(self, bound: list[BoundQuery]) -> Iterator[pa.Table]:
        """What the queries find in the events of a run, with their places in the task."""
        source = self._source
        options = replace(self.options, stream_column=source.stream_column)
        parted = self.task.parted.over(source.arrow_schema, options)
        partitions = [one.partition for one in bound]
        queries = dict(enumerate(bound))
        passes, ends = passes_of(queries), EndTotals(parted, partitions)
        totals = [Totals(parted.buckets, bool(parted.columns)) for _ in passes.groups]
        found = PassSink(totals, ends)
        bunches = sum_up(passes, queries, source, options, found, Notes(aloud=False))
        for own, bunch in zip(totals, bunches, strict=True):
            yield of_groups(own.groups(), parted, bunch)
        yield ends.table()
        for number in passes.alone:
            yield numbered(of_ends(bound[number].counts(), parted, partitions[number]), number)

    def _shown(self, found: pa.Table) -> pa.RecordBatch:
        """A table as Spark has it."""
        number, *columns = (single(column) for column in found.columns)
        first, *fields = self.task.result
        shown = [pa.array(np.array(self.task.numbers)[number.to_numpy()], first.type)]
        for name, column, field in zip(found.schema.names[1:], columns, fields, strict=True):
            if name == MATCHES:
                shown.append(counts_column([int(value) for value in column.to_pylist()], DECIMAL_DIGITS))
            else:
                shown.append(shown_as(column, field.type))
        return pa.RecordBatch.from_arrays(shown, schema=self.task.result)

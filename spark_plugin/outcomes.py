"""On the driver: tells tasks which outcomes to compute, and summarises their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark.arrow_types import plain_type
from cer_gpu.spark.backtest_task import OUTCOMES, BacktestTask
from cer_gpu.spark.binding import spark_type
from cer_gpu.spark.expressions import quoted
from cer_gpu.spark.outcome_task import (
    HIT,
    KEYED,
    LATE,
    MANY,
    OUTCOME,
    PLACE,
    SPAN,
    SUMS,
    TIME,
    VALUE,
    VALUES,
    OutcomePlans,
)

from cer_gpu.api import Query
from cer_gpu.backtesting.backtest_outcomes import BacktestOutcomes
from cer_gpu.backtesting.outcomes.expression import AskedOutcome
from cer_gpu.backtesting.outcomes.summary import Summary, summary_of_counts
from cer_gpu.backtesting.outcomes.table import (
    AFTER,
    ALL,
    BEFORE,
    KEPT,
    ends_query,
    hit_names,
    split_at,
    summary_row,
    summary_table,
    values_query,
)
from cer_gpu.backtesting.outcomes.time_blocks import WIDTH, BlockSums, TimeSpan, added, none_found
from cer_gpu.backtesting.outcomes.values import OutcomeValues, aggregates_of
from cer_gpu.backtesting.queries import AskedQuery, in_query, parameters_of
from cer_gpu.backtesting.row_groups import Partition
from cer_gpu.backtesting.table import QUERY
from cer_gpu.engine.answers.form import free_name, parameter_column
from cer_gpu.engine.answers.future_values import EventColumns
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.engine.run.portable_query import PortableQuery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Planned: TypeAlias = Callable[[Query, Mapping[str, Any]], PortableQuery]
"""Plans a query for the data, with its parameters."""


class WantedOutcomes(NamedTuple):
    """The outcomes of a call, and its split."""

    asked: tuple[AskedOutcome, ...]
    split: Any


class SparkOutcomes:
    """The outcomes of the queries of a backtest.

    Parameters
    ----------
    wanted : WantedOutcomes
    asked : sequence of AskedQuery
    partitions : sequence of Partition
        PARTITION BY of each query.
    schema : pyarrow.Schema
        The columns of the data, times in the time zone that results show.
    first : PortableQuery
        One of the queries.

    Raises
    ------
    DataError, ValueError
        When outcomes do not fit the columns.
    """

    def __init__(
        self,
        wanted: WantedOutcomes,
        asked: Sequence[AskedQuery],
        partitions: Sequence[Partition],
        schema: pa.Schema,
        first: PortableQuery,
    ) -> None:
        self._outcomes, self._asked, self._partitions = wanted.asked, asked, partitions
        self._encoders = {one: LaneEncoder(one, schema) for one in dict.fromkeys(partitions) if one}
        self._at = schema.field(first.options.order_by[0]).type
        self._hits = False
        self._spans = {partition: number for number, partition in enumerate(dict.fromkeys(partitions))}
        options = first.options
        self._split = None if wanted.split is None else split_at(wanted.split, schema, options.order_by)
        empty = schema.empty_table()
        names = [name for one in wanted.asked for name in one.columns]
        source = open_source(
            empty, order_by=options.order_by, type_column=options.type_column, stream_column=None, names=names
        )
        self._typed = source.has_type_column
        columns = EventColumns(source, names, lambda batches: batches)
        nothing = np.empty(0, np.int64)
        values = OutcomeValues(columns, options.order_unit, self._split, lambda *_: nothing)
        for one in wanted.asked:
            values.everywhere(one, ())  # where it does not fit, that is said here, and not by a task

    def tasks(self, groups: Iterable[BacktestTask], planned: Planned, hits: int) -> Iterator[BacktestTask]:
        """Tasks of queries as those that give outcomes.

        Parameters
        ----------
        groups : iterable of BacktestTask
        planned : callable
        hits : int
            How many hits there are in all: the values at each are given where they are not too many.
        """
        self._hits = hits <= KEPT
        for task in groups:
            yield self.task(task, planned)

    def task(self, task: BacktestTask, planned: Planned) -> BacktestTask:
        """A task that computes the outcomes of its queries."""
        asked = [self._asked[number] for number in task.numbers]
        partitions = tuple(self._partitions[number] for number in task.numbers)
        wanted = aggregates_of(self._outcomes)
        values = []
        for one in asked if wanted else ():
            query = values_query(one.name, one.query.tree, wanted)
            given = {name: value for name, value in one.values.items() if name in query.parameters}
            with in_query(one.name):
                values.append(planned(query, given))
        patterns = dict.fromkeys(pattern for one in self._outcomes for pattern in one.patterns)
        ends = {
            (partition, pattern): planned(ends_query(partition, pattern, self._typed), {})
            for partition in dict.fromkeys(partitions)
            for pattern in patterns
        }
        options = task.query.options
        split, unit = self._split, options.order_unit
        plans = OutcomePlans(
            self._outcomes, partitions, self._spans, tuple(values), ends, split, unit, self._hits
        )
        columns = [*task.ties, *(name for name in plans.columns if name not in options.order_by)]
        ties = tuple(dict.fromkeys(columns))
        return replace(task, ties=ties, result=self._result(), asked=OUTCOMES, cut=False, outcomes=plans)

    def _result(self) -> pa.Schema:
        """The columns that tasks give: see `outcome_task.shown_values`."""
        kinds = [pa.int64(), pa.int64(), pa.bool_(), pa.float64(), pa.int64(), pa.int64()]
        counts = list(zip((QUERY, OUTCOME, LATE, VALUE, MANY, PLACE), kinds))
        keys = [(f"{KEYED}{name}", spark_type(kind)) for name, kind in self._keys.items()]
        return pa.schema([*counts, (TIME, spark_type(self._at)), *keys, (VALUES, pa.list_(pa.float64()))])

    @property
    def _keys(self) -> dict[str, pa.DataType]:
        """The columns of the keys of all queries."""
        return {
            name: kind
            for encoder in self._encoders.values()
            for name, kind in zip(encoder.names, encoder.types, strict=True)
        }

    def told(self, frames: Sequence[DataFrame]) -> BacktestOutcomes:
        """The summary of the results of the tasks."""
        import pyspark.sql.functions as sf

        whole = reduce(lambda one, other: one.unionByName(other), frames)
        names = [field.name for field in self._result() if field.name != MANY]
        order = [sf.col(quoted([name])) for name in names]
        table = whole.groupBy(*order).agg(sf.sum(MANY).alias(MANY)).orderBy(*order[:4]).toArrow()
        kinds = table.column(OUTCOME)
        single = pc.equal(kinds, HIT)
        counts = table.filter(pc.greater_equal(kinds, 0))
        counted = _ValueCounts(counts.select([QUERY, OUTCOME, LATE, VALUE, MANY]))
        spans = self._spans_of(table.filter(pc.equal(kinds, SPAN)))
        summed = _SumsByBlock(table.filter(pc.less_equal(kinds, SUMS)))
        late = {ALL: None} if self._split is None else {ALL: None, BEFORE: False, AFTER: True}
        said = []
        for number, one in enumerate(self._asked):
            level = spans[self._spans[self._partitions[number]]].level
            for place, outcome in enumerate(self._outcomes):
                for sample, side in late.items():
                    own = counted.summary(number, place, side)
                    sums = summed.of(number, place, side, level)
                    said.append((one, summary_row(outcome.name, sample, own, sums)))
        hits = self._at_hits(table.filter(single)) if self._hits else None
        return BacktestOutcomes(summary_table(said, parameters_of(self._asked)), hits)

    def _spans_of(self, found: pa.Table) -> dict[int, TimeSpan]:
        """The time that the events of each partition span."""
        whole = not pa.types.is_floating(self._at)
        spans = dict.fromkeys(self._spans.values(), TimeSpan(float("inf"), float("-inf"), whole))
        for number, (least, most) in zip(found.column(QUERY).to_pylist(), found.column(VALUES).to_pylist()):
            spans[number] = spans[number].with_span(TimeSpan(least, most, whole))
        return spans

    def _at_hits(self, found: pa.Table) -> pa.Table:
        """The values at each hit, of all queries, in the order of time."""
        parameters = parameters_of(self._asked)
        taken = {QUERY, *(name for partition in self._partitions for name in hit_names(partition))}
        heads = [free_name(name, taken) for name in (*parameters, *(one.name for one in self._outcomes))]
        found = found.sort_by([(name, "ascending") for name in (QUERY, TIME, PLACE)])
        tables = []
        for number, one in enumerate(self._asked):
            own = found.filter(pc.equal(found.column(QUERY), number))
            count, encoder = len(own), self._encoders.get(self._partitions[number])
            kinds = {} if encoder is None else dict(zip(encoder.names, encoder.types, strict=True))
            given = [parameter_column([one.values.get(name)] * count) for name in parameters]
            keys = [pc.cast(own.column(f"{KEYED}{name}"), plain_type(kind)) for name, kind in kinds.items()]
            place, *shown, at = hit_names(self._partitions[number])
            flat = pc.list_flatten(own.column(VALUES)).to_numpy(zero_copy_only=False)
            values = flat.reshape(count, len(self._outcomes)).T
            tables.append(
                pa.table(
                    [
                        pa.array([one.name] * count, pa.string()),
                        *given,
                        own.column(PLACE),
                        *keys,
                        pc.cast(own.column(TIME), self._at),
                        *(pa.array(column, pa.float64(), from_pandas=True) for column in values),
                    ],
                    [QUERY, *heads[: len(parameters)], place, *shown, at, *heads[len(parameters) :]],
                )
            )
        return pa.concat_tables(tables, promote_options="permissive")


class _ValueCounts:
    """How often each value occurs: the results of the tasks, sorted by query, outcome, side and value."""

    def __init__(self, table: pa.Table) -> None:
        query, outcome, late, self._values, self._numbers = (column.to_numpy() for column in table.columns)
        ids = np.stack([query, outcome, late.astype(np.int64)], axis=1).reshape(-1, 3)
        differ = (ids[1:] != ids[:-1]).any(axis=1)
        begin = np.flatnonzero(np.append(True, differ))[: len(ids)]
        stop = [*begin[1:].tolist(), len(ids)]
        self._rows = {tuple(ids[low].tolist()): slice(low, high) for low, high in zip(begin, stop)}

    def summary(self, query: int, outcome: int, side: bool | None) -> Summary:
        """The spread of the values of a query, on one side of the split or on both."""
        sides = (False, True) if side is None else (side,)
        rows = [self._rows[query, outcome, one] for one in sides if (query, outcome, one) in self._rows]
        every = np.concatenate([np.empty(0), *(self._values[one] for one in rows)])
        many = np.concatenate([np.empty(0, np.int64), *(self._numbers[one] for one in rows)])
        values, at = np.unique(every, return_inverse=True)
        numbers = np.zeros(len(values), np.int64)
        np.add.at(numbers, at, many)
        return summary_of_counts(values, numbers)


class _SumsByBlock:
    """The sums of the tasks by block, of each query, outcome and side."""

    def __init__(self, table: pa.Table) -> None:
        self._block, many = (table.column(name).to_numpy() for name in (PLACE, MANY))
        flat = pc.list_flatten(table.column(VALUES)).to_numpy(zero_copy_only=False)
        rows = flat.reshape(len(table), WIDTH + 1)
        # Rows of several tasks that are the same came back as one.
        self._level, self._sums = rows[:, 0].astype(np.int64), rows[:, 1:] * many[:, None]
        self._rows: dict[Any, list[int]] = {}
        keys = zip(*(table.column(name).to_pylist() for name in (QUERY, OUTCOME, LATE)), strict=True)
        for number, (query, outcome, late) in enumerate(keys):
            self._rows.setdefault((query, SUMS - outcome, late), []).append(number)

    def of(self, query: int, outcome: int, side: bool | None, level: int) -> BlockSums:
        """The sums by blocks of a level."""
        at = np.array(self._rows.get((query, outcome, side), []), np.int64)
        levels = self._level[at]
        parts = [
            BlockSums(own, self._block[at[levels == own]], self._sums[at[levels == own]])
            for own in np.unique(levels).tolist()
        ]
        return added([none_found(level), *parts], level)

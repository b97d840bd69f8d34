"""Backtests over DataFrames and files: many queries in as few readings of the events as possible."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark import settings
from cer_gpu.spark.backtest_task import LISTED, MATCHES, BacktestJob, BacktestTask
from cer_gpu.spark.binding import arrow_schema, spark_type, task_of
from cer_gpu.spark.expressions import in_tasks
from cer_gpu.spark.files import lake_of, task_reads_files, told_by_tasks
from cer_gpu.spark.listed_columns import ListedColumns
from cer_gpu.spark.operators import operator_keywords, size_of
from cer_gpu.spark.outcomes import Planned, SparkOutcomes, WantedOutcomes
from cer_gpu.spark.routes import route_of
from cer_gpu.spark.segments import ROW
from cer_gpu.spark.task import ANY, WARN, Task
from cer_gpu.spark.tie_reports import TieReports
from cer_gpu.spark.ties import checked_ties
from cer_gpu.spark.worker import Worker

from cer_gpu.backtesting.backtest_outcomes import BacktestOutcomes, asked_outcomes, check_variables
from cer_gpu.backtesting.funnels import FunnelStages, staged, with_queries
from cer_gpu.backtesting.listed_columns import too_many
from cer_gpu.backtesting.listed_values import NOTHING, ListedKinds
from cer_gpu.backtesting.provenance import about
from cer_gpu.backtesting.queries import AskedQuery, asked_queries, in_query, refuse_unknown, values_for
from cer_gpu.backtesting.result import Backtest
from cer_gpu.backtesting.row_groups import parted_by
from cer_gpu.backtesting.table import QUERY, combined
from cer_gpu.engine.answers.end_form import DECIMAL_DIGITS, exact_column
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.read.sources.categories import Orders
from cer_gpu.engine.run.options import spelled
from cer_gpu.errors import DataError
from cer_gpu.funnel import bound_stages, unlisted
from cer_gpu.logic.tied_rows import depends_on_ties

if TYPE_CHECKING:
    from cer_gpu.spark.lake import Paths
    from pyspark.sql import DataFrame, SparkSession

    from cer_gpu.api import Query

PART = 19
"""Digits of a part of a number of matches: Spark adds up 2^30 of them exactly."""


@spelled(operator_keywords, omit=("limit", "event_id"))
def backtest(
    df: DataFrame,
    queries: Any,
    by: Any = None,
    durations: bool = False,
    funnel: bool = False,
    outcomes: Mapping[str, str] | None = None,
    split: Any = None,
    starts: bool = False,
    **keywords: Any,
) -> Backtest:
    """Count how often queries would have fired over a DataFrame, as `cer_gpu.backtest` does.

    Queries with the same PARTITION BY share one reading of the events. So do queries without PARTITION BY
    whose windows are of one kind, such as windows of time. Every other query needs a reading of its own.

    Parameters
    ----------
    df : DataFrame
        The events.
    queries : query, mapping, sequence or str
        As for `cer_gpu.backtest`.
    by : str or sequence of str, optional
        As for `cer_gpu.backtest`. Buckets of time are those of the session's time zone.
    durations : bool, default False
        Add how long the matches last, as `duration_median` and `duration_p95`. The tasks list the matches for
        it, in one more reading of the events.
    funnel : bool, default False
        Add how far the matches of each pattern get, as `Backtest.funnel`. It needs one more reading.
    outcomes : mapping of str to str, optional
        Numbers to compute for each hit, as for `cer_gpu.backtest`: `Backtest.outcomes`. It needs one more
        reading. The tasks share the work by the keys of PARTITION BY; a query without PARTITION BY, or whose
        partitions depend on each other, runs in one task. The driver gets each distinct
        value. The values at single hits, `Backtest.outcome_hits`, come in the order of time; `position` is
        the place of the event in its partition, as in `hits`.
    split : object, optional
        A time. Outcomes are then also summed up before it and from it on. A text is a time in the session's
        time zone.
    starts : bool, default False
        Add at how many events matches begin, as `starts`. The matches are listed once for durations and
        starts.
    **keywords
        As for `run`. Events with equal `order_by` are ordered by all columns that some query reads.

    Returns
    -------
    Backtest
        Not lazy: its jobs have run.

    Raises
    ------
    QueryError
        When a query is wrong or does not fit the DataFrame.
    DataError
        When a column is missing.
    ValueError
        When `by`, `outcomes` or `split` is wrong.
    """
    size = size_of(df, keywords.pop("rows", None))
    spark = df.sparkSession
    over = _BacktestData(
        arrow_schema(df.schema), spark.conf.get("spark.sql.session.timeZone"), f"{size.rows:,} rows"
    )
    gpu = settings.value(spark, settings.GPU)

    reports = TieReports(spark)

    def told(_: _BacktestTasks, task: BacktestTask) -> Iterator[DataFrame]:
        route = route_of(df, task, size)
        if route.streamed and len(readings := _readings(task)) > 1:
            for one in readings:
                yield from told(_, one)
            return
        worker = Worker(task.dumped(), route.segments, route.streamed, BacktestJob, reports.of(task))
        yield in_tasks(route.frame, worker, task.result)

    happened = WantedOutcomes(asked_outcomes(outcomes, split), split)
    wanted = _BacktestTasks(asked_queries(queries), by, over, gpu, {"ties": WARN} | keywords)
    return _found(wanted, told, ListedKinds(starts, durations), funnel, happened)


@spelled(operator_keywords, omit=("rows", "limit", "event_id", "ties"))
def backtest_files(
    paths: Paths,
    queries: Any,
    by: Any = None,
    durations: bool = False,
    funnel: bool = False,
    outcomes: Mapping[str, str] | None = None,
    split: Any = None,
    starts: bool = False,
    spark: SparkSession | None = None,
    **keywords: Any,
) -> Backtest:
    """Count how often queries would have fired over Parquet files, which the workers read: see `run_files`.

    Parameters
    ----------
    paths : str, path, or sequence of them
        As for `run_files`.
    queries : query, mapping, sequence or str
        As for `backtest`.
    by : str or sequence of str, optional
        As for `backtest`.
    durations, funnel, starts : bool, default False
        As for `backtest`.
    outcomes : mapping of str to str, optional
        As for `backtest`.
    split : object, optional
        As for `backtest`.
    spark : SparkSession, optional
        By default the active one.
    **keywords
        As for `backtest`; `order_by` is needed.

    Returns
    -------
    Backtest
        Not lazy: its jobs have run.

    Raises
    ------
    DataError
        When there is no Spark session, no `order_by`, or no such file. Other errors as for `backtest`.
    """
    if not keywords.get("order_by"):
        raise DataError("a backtest on Spark needs the column of time: name it with order_by")
    session, found, gpu = lake_of(paths, spark, keywords)
    over = _BacktestData(
        found.schema, None, f"{found.rows:,} events of {len(found.files):,} files", found.orders
    )

    def told(wanted: _BacktestTasks, task: BacktestTask) -> Iterator[DataFrame]:
        def shuffled(numbers: Sequence[int], schema: pa.Schema, order_by: list[str]) -> Task:
            return wanted.again(task, numbers, schema, order_by)

        # Where rows go from task to task, they may come as a stream, which is read once.
        for one in [task] if task_reads_files(session, found, task) else _readings(task):
            yield told_by_tasks(session, found, one, partial(shuffled, one.numbers), BacktestJob)

    happened = WantedOutcomes(asked_outcomes(outcomes, split), split)
    wanted = _BacktestTasks(asked_queries(queries), by, over, gpu, keywords)
    return _found(wanted, told, ListedKinds(starts, durations), funnel, happened)


def _found(
    wanted: _BacktestTasks,
    told: Callable[[_BacktestTasks, BacktestTask], Iterator[DataFrame]],
    listed: ListedKinds,
    funnel: bool,
    outcomes: WantedOutcomes,
) -> Backtest:
    """What queries find, and, where it is asked for, what their stages find."""
    if outcomes.asked:
        wanted.ask_for(outcomes)
    if not funnel:
        return wanted.found(told, listed)
    parts, hits, matches = wanted.staged(), [], []
    if parts.queries:
        counted = _BacktestTasks(parts.queries, None, *wanted.way()).found(told).to_arrow()
        hits, matches = (list(map(int, counted[name].to_pylist())) for name in ("hits", "matches"))
    without = unlisted(parts.stages, "on Spark no matches are listed for it")
    return wanted.found(told, listed, with_queries(wanted.asked, parts, hits, matches, without))


class _BacktestData(NamedTuple):
    """The data of a backtest: its columns, the time zone of its times, its size in words, and the orders of
    categories.
    """

    schema: pa.Schema
    zone: str | None
    told: str
    orders: Orders = {}  # noqa: RUF012 - of a named tuple, which cannot be changed


class _BacktestTasks:
    """The queries of a backtest, as tasks and readings.

    Parameters
    ----------
    asked : sequence of AskedQuery
    by
        As for `backtest`.
    over : _Over
    gpu : {"auto", "required", "off"}
    keywords : dict
    """

    def __init__(
        self, asked: Sequence[AskedQuery], by: Any, over: _BacktestData, gpu: str, keywords: dict[str, Any]
    ) -> None:
        self._begun_at = time.perf_counter()
        self.asked = asked
        if not self.asked:
            raise ValueError("there is no query: give at least one")
        self._over, self._gpu, self._keywords, self._each = over, gpu, dict(keywords), by is None
        self._params = self._keywords.pop("params", None) or {}
        refuse_unknown(self._params, self.asked)
        self._order_by = self._keywords.pop("order_by", None)
        self._ties = checked_ties(self._keywords.pop("ties", ANY))
        # Hits are the events at which matches end.
        self._tied = [depends_on_ties(one.ceql.tree, ends=True) for one in self.asked]
        self._tasks = self.tasks_over(over.schema, self._order_by)
        options, schema = self._tasks[0].query.options, over.schema
        at = schema.field(options.order_by[0])
        if over.zone is not None and pa.types.is_timestamp(at.type) and at.type.tz is not None:
            shown = at.with_type(pa.timestamp(at.type.unit, over.zone))
            schema = schema.set(schema.get_field_index(at.name), shown)
        self._partitions = [one.query.query.reading.partition for one in self._tasks]
        self._parted = parted_by(by, self._partitions, schema, options)
        self._schema = self._parted.schema
        self._shown = schema
        self._outcomes: SparkOutcomes | None = None

    def ask_for(self, wanted: WantedOutcomes) -> None:
        """Add outcomes to the request."""
        first = self._tasks[0].query
        check_variables(wanted.asked, self.asked)
        self._outcomes = SparkOutcomes(wanted, self.asked, self._partitions, self._shown, first)

    def staged(self) -> FunnelStages:
        """The stages of the patterns, but for those of runs that cannot be counted."""
        found = staged(self.asked, self._params)

        def bind(place: int) -> Task | None:
            if not found.stages[place].runs:  # those that are tried here may be left out
                return None
            one = found.queries[place]
            return self._task_of(one.ceql, one.values, self._over.schema, self._order_by)

        places, _ = bound_stages(found.stages, bind)
        return found.at(places)

    def way(self) -> tuple[_BacktestData, str, dict[str, Any]]:
        """How the events are read, for further queries whose parameters have values."""
        return self._over, self._gpu, {**self._keywords, "order_by": self._order_by, "ties": self._ties}

    def tasks_over(self, schema: pa.Schema, order_by: Any) -> list[Task]:
        """The queries over data of a schema in an order."""
        found = []
        for one in self.asked:
            with in_query(one.name):
                found.append(self._task_of(one.ceql, one.values, schema, order_by))
        return found

    def _task_of(self, query: Query, values: Mapping[str, Any], schema: pa.Schema, order_by: Any) -> Task:
        own = {**self._keywords, "params": values_for(query, self._params, values), "gpu": self._gpu}
        return task_of(query, schema, "count", order_by=order_by, orders=self._over.orders, **own)

    def _planned(self, schema: pa.Schema, order_by: Any) -> Planned:
        """How the queries of outcomes are planned for data of a schema in an order."""
        return lambda query, values: self._task_of(query, values, schema, order_by).query

    def again(
        self, task: BacktestTask, numbers: Sequence[int], schema: pa.Schema, order_by: Any
    ) -> BacktestTask:
        """A task for another schema and order of the data."""
        listed = None if task.asked != LISTED else self._columns_of(task.listed)
        made = self.task(numbers, self.tasks_over(schema, order_by), listed)
        if ROW in schema.names:
            made = replace(made, event_id=ROW)  # the number of the event in all files
        if task.outcomes is None or self._outcomes is None:
            return made
        return self._outcomes.task(made, self._planned(schema, order_by))

    def task(
        self, numbers: Sequence[int], tasks: Sequence[Task], listed: ListedColumns | None = None
    ) -> BacktestTask:
        """Some queries as one task, which sums up what they find, or lists their matches."""
        members = [tasks[number] for number in numbers]
        queries = [one.query.query for one in members]
        kinds = {one.window.kind for one in queries if one.window is not None}
        alike = len(kinds) == 1 and (len(members) == 1 or not any(one.looks_ahead for one in queries))
        cut = alike and all(one.cuttable for one in members)
        lead = max(members, key=_reached) if cut else members[0]
        columns = [name for one in members for name in one.columns]
        ties = tuple(dict.fromkeys(name for name in columns if name not in lead.query.options.order_by))
        given = {field.name: getattr(lead, field.name) for field in fields(Task)}
        result = self._result() if listed is None else listed.result
        # The value of an outcome may be that of any event that is tied with the end of a match.
        tied = self._outcomes is not None or any(self._tied[number] for number in numbers)
        given |= {"ties": ties, "result": result, "parted": self._parted, "cut": cut}
        given["tie_rule"] = self._ties if tied else ANY
        if listed is not None:
            given |= {"asked": LISTED, "listed": listed.wanted}
            # The places of events are then counted from the first one, whatever the cuts.
            given["product"] = "hits" if listed.wanted.starts else lead.product
        return BacktestTask(**given, members=tuple(members), numbers=tuple(numbers))

    def found(
        self,
        told: Callable[[_BacktestTasks, BacktestTask], Iterator[DataFrame]],
        listed: ListedKinds = NOTHING,
        funnel: pa.Table | None = None,
    ) -> Backtest:
        """The result; `told` returns the DataFrames of a task, `funnel` is the funnel of the queries."""
        groups = _groups(self._tasks)
        frames = [frame for group in groups for frame in told(self, self.task(group, self._tasks))]
        names, values = [one.name for one in self.asked], [one.values for one in self.asked]
        tables, schema, notes = [self._collected(frames)], self._schema, Notes()
        hits = sum(tables[0].column("hits").to_pylist())
        if any(listed):
            tables = self._with_listed(tables[0], self._columns_of(listed), told, notes)
            schema = tables[0].schema.remove(0)
        outcome = None if self._outcomes is None else self._told_of(self._outcomes, told, hits)
        made = combined(tables, names, values, schema, self._each)
        seconds = time.perf_counter() - self._begun_at
        told_how = f"over {self._over.told} in {seconds:.3g} s, on Spark"
        how = about(self.asked, told_how, self._parted.buckets)
        return Backtest(made, notes.texts, (len(names), len(frames)), how, outcome, funnel)

    def _told_of(
        self,
        outcomes: SparkOutcomes,
        told: Callable[[_BacktestTasks, BacktestTask], Iterator[DataFrame]],
        hits: int,
    ) -> BacktestOutcomes:
        """What outcomes are, of all queries, which have so many hits."""
        groups: dict[Any, list[int]] = {}
        for number, one in enumerate(self._tasks):
            groups.setdefault(self._partitions[number] if one.keyed else None, []).append(number)
        parts = (self.task(group, self._tasks) for group in groups.values())
        tasks = outcomes.tasks(parts, self._planned(self._over.schema, self._order_by), hits)
        return outcomes.told([frame for task in tasks for frame in told(self, task)])

    def _result(self) -> pa.Schema:
        """The columns that tasks give: those of the result under names of their own, matches as text."""
        kinds = [pa.string() if field.name == MATCHES else spark_type(field.type) for field in self._schema]
        columns = [pa.field(f"c{place}", kind) for place, kind in enumerate(kinds)]
        return pa.schema([pa.field(QUERY, pa.int64(), nullable=False), *columns])

    def _columns_of(self, listed: ListedKinds) -> ListedColumns:
        """The columns for which matches are listed."""
        given = list(self._result())[: 1 + len(self._parted.names)]
        return ListedColumns(listed, self._parted, self._schema, given)

    def _with_listed(
        self,
        found: pa.Table,
        columns: ListedColumns,
        told: Callable[[_BacktestTasks, BacktestTask], Iterator[DataFrame]],
        notes: Notes,
    ) -> list[pa.Table]:
        """What was found, a table for each query, with the columns that are made of their matches."""
        numbers = found.column(QUERY).to_numpy()
        own = {number: found.filter(pa.array(numbers == number)) for number in np.unique(numbers).tolist()}
        what = columns.wanted.told
        fit = [
            number for number, table in own.items() if not too_many(self.asked[number], table, what, notes)
        ]
        groups = [[number for number in group if number in fit] for group in _groups(self._tasks)]
        frames = [
            frame for group in groups if group for frame in told(self, self.task(group, self._tasks, columns))
        ]
        summed = columns.summed(frames) if frames else None
        tables = [
            columns.without(table)
            if summed is None or number not in fit
            else columns.added_to(table, summed, number)
            for number, table in own.items()
        ]
        return tables or [columns.without(found)]

    def _collected(self, frames: Sequence[DataFrame]) -> pa.Table:
        """The sums of what all tasks gave, in the columns of the result."""
        import pyspark.sql.functions as sf

        whole = reduce(lambda one, other: one.unionByName(other), frames)
        count = len(self._parted.names)
        keys = [QUERY, *(f"c{place}" for place in range(count))]
        hits, matches, first, last = (f"c{count + place}" for place in range(4))
        # A sum of 76 digits fits no number of Spark: its parts are added up, from the last digits on.
        whole_number = sf.lpad(sf.col(matches), DECIMAL_DIGITS, "0")
        parts = [f"part{place}" for place in range(DECIMAL_DIGITS // PART)]
        exact = [
            sf.sum(sf.substring(whole_number, 1 + place * PART, PART).cast(f"decimal({PART},0)")).alias(name)
            for place, name in enumerate(parts)
        ]
        sums = [sf.sum(hits).alias(hits), *exact, sf.min(first).alias(first)]
        rows = whole.groupBy(*keys).agg(*sums, sf.max(last).alias(last)).orderBy(*keys)
        table = rows.toArrow()
        columns = [table.column(QUERY).cast(pa.int64())]
        for place, field in enumerate(self._schema):
            if field.name == MATCHES:
                own = zip(*(table.column(name).to_pylist() for name in parts), strict=True)
                columns.append(exact_column(np.array([_joined(one) for one in own], object)))
            else:
                columns.append(pc.cast(table.column(f"c{place}"), field.type))
        return pa.table(columns, [QUERY, *self._schema.names])


def _joined(parts: Iterable[Any]) -> int:
    """A number of its parts of `PART` digits, the first digits first."""
    return reduce(lambda number, part: number * 10**PART + int(part), parts, 0)


def _groups(tasks: Sequence[Task]) -> list[list[int]]:
    """The numbers of the queries that go through the events together."""
    found: dict[Any, list[int]] = {}
    for number, task in enumerate(tasks):
        query = task.query.query
        place: Any = None
        if task.keyed:
            place = query.reading.partition
        elif task.cuttable and query.window is not None:
            place = number if query.looks_ahead else query.window.kind
        found.setdefault(place, []).append(number)
    return list(found.values())


def _reached(task: Task) -> int | float:
    """How far back the ends of a query reach."""
    query = task.query.query
    assert query.window is not None
    return query.window.size if query.reached is None else query.reached


def _readings(task: BacktestTask) -> list[BacktestTask]:
    """The same queries as tasks for which one reading of the events is enough."""
    alone = [place for place, one in enumerate(task.members) if one.query.query.hidden]
    if not alone or len(task.members) == 1 or task.outcomes is not None:
        return [task]
    together = [place for place in range(len(task.members)) if place not in alone]
    found = []
    for places in ([together] if together else []) + [[place] for place in alone]:
        members = tuple(task.members[place] for place in places)
        found.append(replace(task, members=members, numbers=tuple(task.numbers[place] for place in places)))
    return found

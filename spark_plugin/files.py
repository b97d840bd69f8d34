"""Queries over Parquet files: Spark distributes paths and row groups, and the workers read the files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from cer_gpu.spark import lake, layout, settings
from cer_gpu.spark.binding import task_of
from cer_gpu.spark.cuts import earlier, later
from cer_gpu.spark.expressions import in_tasks
from cer_gpu.spark.file_worker import FileReader, FileWorker, Share
from cer_gpu.spark.operators import operator_keywords, parallel_tasks, with_numbers
from cer_gpu.spark.routes import Size, route_of
from cer_gpu.spark.segments import ROW
from cer_gpu.spark.task import RestoredTimes
from cer_gpu.spark.ties import refuse_ties
from cer_gpu.spark.worker import Job, Worker

from cer_gpu.caller_warnings import warn
from cer_gpu.engine.read.sources.categories import Orders
from cer_gpu.engine.read.sources.files import FileRows, unify
from cer_gpu.engine.read.sources.open_file import OpenFile
from cer_gpu.engine.run.options import spelled
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from cer_gpu.spark.lake import Paths
    from cer_gpu.spark.task import Task
    from pyspark.sql import DataFrame, SparkSession

    from cer_gpu.api import Query


@spelled(operator_keywords, omit=("rows", "ties"))
def run_files(
    paths: Paths, query: Query | str, spark: SparkSession | None = None, **keywords: Any
) -> DataFrame:
    """Find the matches of a query in Parquet files, which the workers read themselves.

    A row costs several times as much in `run`, where it passes through the JVM. The order of the rows is that
    of the files, as for `Query.run`: a position is the number of a row in all files, counted from 0.

    Parameters
    ----------
    paths : str, path, or sequence of them
        Files, folders or patterns such as `day-*.parquet`. They are local paths that all workers see, or URIs
        of any filesystem that pyarrow opens. Names of folders such as `day=2024-01-31` become columns.
    query : Query or str
        From `cer_gpu.compile`, or its text.
    order_by : str or sequence of str, default None
        The time column, then the columns that break ties. Without it, the order of the rows is the order of
        the events.
    event_id : str, default None
        The column whose values are returned in place of positions.
    spark : SparkSession, optional
        By default the active one.
    **keywords
        `order_unit`, `type_column`, `stream_column`, `limit`, `memory`, `params`, `engine`, `until`,
        `nan_is_null`: as for `run`.

    Returns
    -------
    DataFrame
        Lazy, with the columns of `Matches.to_arrow`. Only the footers of the files are read at once, on the
        driver.

    Raises
    ------
    QueryError
        When the query does not fit the files.
    DataError
        When there are no files, or they do not fit together: the message names the file.

    Examples
    --------
    >>> cer_spark.run_files("s3://lake/trades/", "SELECT * WHERE Buy ; Sell WITHIN 1 HOUR", order_by="ts")
    """
    limit = keywords.get("limit")
    found = _product(paths, query, "run", spark, keywords)
    return found if limit is None else found.limit(limit)


@spelled(operator_keywords, omit=("rows", "limit", "ties"))
def counts_files(
    paths: Paths, query: Query | str, spark: SparkSession | None = None, **keywords: Any
) -> DataFrame:
    """Count the matches that end at each event: columns as in `counts`, keywords as in `run_files`."""
    return _product(paths, query, "counts", spark, keywords)


@spelled(operator_keywords, omit=("rows", "limit", "ties"))
def hits_files(
    paths: Paths, query: Query | str, spark: SparkSession | None = None, **keywords: Any
) -> DataFrame:
    """Find the events at which matches end: columns as in `hits`, keywords as in `run_files`."""
    return _product(paths, query, "hits", spark, keywords)


@spelled(operator_keywords, omit=("rows", "limit", "ties"))
def count_files(
    paths: Paths, query: Query | str, spark: SparkSession | None = None, **keywords: Any
) -> DataFrame:
    """Count the matches: one row with the column `count`; keywords as in `run_files`."""
    return _product(paths, query, "count", spark, keywords)


STREAMED = 4
"""How many times as many events a task gets when it reads files as when rows are shuffled to it: it holds one
row group at a time, and starting it and reading the events before its own cost the same."""


@dataclass(frozen=True, slots=True)
class Lake:
    """Files whose footers have been read.

    Attributes
    ----------
    files : tuple of OpenFile
    groups : tuple of Group
        In the order of the rows.
    schema : pyarrow.Schema
        What the files share.
    layout : Layout or None
        How `prepare` wrote them.
    orders : mapping of str to CategoryOrder
        The columns that are stored as dictionaries of texts, with the order of their categories.
    """

    files: tuple[OpenFile, ...]
    groups: tuple[lake.Group, ...]
    schema: pa.Schema
    layout: layout.Layout | None
    orders: Orders

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(group.rows for group in self.groups)


def opened_lake(paths: Paths, time: str | None) -> Lake:
    """Find files and read their footers.

    Raises
    ------
    DataError
        When there are none, or they do not fit together.
    """
    found = lake.footers(lake.places(paths), time)
    files = tuple(footer.opened for footer in found)
    schema = unify(files)
    groups = tuple(
        lake.in_unit(group, footer.opened.schema.field(time).type, schema.field(time).type)
        if time in schema.names
        else group
        for footer in found
        for group in footer.groups
    )
    written = layout.read_layout(paths) if layout.written_once([each.file.path for each in files]) else None
    return Lake(files, groups, schema, written, FileRows(files, schema).orders)


def lake_of(
    paths: Paths, spark: SparkSession | None, keywords: Mapping[str, Any]
) -> tuple[SparkSession, Lake, str]:
    """The session of an operator over files (None: the active one), the files, and `settings.GPU` there."""
    from pyspark.sql import SparkSession

    session = spark or SparkSession.getActiveSession()
    if session is None:
        raise DataError("there is no Spark session yet: make one, or name it with spark=")
    refuse_ties(keywords)
    order = keywords.get("order_by")
    names = (order,) if isinstance(order, str) else tuple(order or ())
    return session, opened_lake(paths, names[0] if names else None), settings.value(session, settings.GPU)


def _product(
    paths: Paths, query: Query | str, product: str, spark: SparkSession | None, keywords: dict[str, Any]
) -> DataFrame:
    spark, found, gpu = lake_of(paths, spark, keywords)
    task = task_of(query, found.schema, product, ordered=True, gpu=gpu, orders=found.orders, **keywords)
    rest = {name: value for name, value in keywords.items() if name not in ("order_by", "event_id")}

    def shuffled(schema: pa.Schema, order_by: list[str]) -> Task:
        event_id = task.event_id or ROW
        own = task_of(
            query, schema, product, order_by=order_by, event_id=event_id, gpu=gpu, orders=found.orders, **rest
        )
        return own.giving(task)

    return with_numbers(told_by_tasks(spark, found, task, shuffled), product)


def told_by_tasks(
    spark: SparkSession,
    found: Lake,
    task: Task,
    shuffled: Callable[[pa.Schema, list[str]], Task],
    job: type[Job] = Job,
) -> DataFrame:
    """The results of the tasks over some files.

    Parameters
    ----------
    spark : SparkSession
    found : Lake
    task : Task
    shuffled : callable
        Makes the task for a schema and an order, if rows are sent to other tasks with their numbers.
    job : type of Job
        What does the task.
    """
    size = _size(spark, found)
    shares = shares_of(found, task, _larger(size))
    if shares is None:
        return _shuffled(spark, found, task, size, shuffled, job)
    worker = FileWorker(task.dumped(), found.schema, shares, job)
    return in_tasks(spark.range(0, len(shares), 1, len(shares)), worker, task.result)


def task_reads_files(spark: SparkSession, found: Lake, task: Task) -> bool:
    """Whether tasks read all rows that they need, so that none are sent to another task."""
    return shares_of(found, task, _larger(_size(spark, found))) is not None


def _size(spark: SparkSession, found: Lake) -> Size:
    return Size(found.rows, settings.value(spark, settings.ROWS_PER_TASK), parallel_tasks(spark))


def _larger(size: Size) -> Size:
    """The size with which tasks that read files are dealt out."""
    return replace(size, rows_per_task=STREAMED * size.rows_per_task)


def shares_of(found: Lake, task: Task, size: Size) -> list[Share] | None:
    """The rows that each task reads; None if rows have to be sent to other tasks.

    Files that `prepare` wrote hold their keys whole. Files in the order of time are cut between row groups,
    where the query has a window: each task reads the row groups before its own that a window reaches. Files
    whose footers do not say that they are in order are sorted, however few rows they have.
    """
    if not found.rows:
        return [Share((), 0, 0)]
    prepared = found.layout is not None and task.keyed and found.layout.serves(task)
    if prepared:
        return list(_by_file(found, size))
    time, window = bool(task.query.options.order_by), task.query.query.window
    keyed = bool(task.query.query.reading.partition)
    ordered = not time or lake.in_order(found.groups)
    if task.cuttable and window is not None and ordered:
        plan, groups = task.query.query, found.groups
        if window.kind == "time":
            reached, sight = plan.reached or 0, plan.sight or 0
            behind = _until(groups, sight) if plan.looks_ahead else None
            return _cut(found, size, lambda at: _reached(groups, at, reached), behind)
        if not keyed:
            return _cut(found, size, lambda at: _counted(groups, at, int(window.size)))
    if not ordered or (task.keyed and size.partitions > 1):
        return None
    if size.partitions > 1:
        warn(f"one task reads all files, since {task.uncut}")
    return [_share(found, 0, 0, len(found.groups))]


def _cut(found: Lake, size: Size, first: Any, behind: Any = None) -> list[Share]:
    """Row groups dealt out in order, each share with those before it that its ends reach.

    `first` gives the first of these; `behind` the one behind the last that its events look ahead to.
    """
    done = np.cumsum([group.rows for group in found.groups])
    shares = done[-1] * np.arange(1, size.partitions) / size.partitions
    bounds = [0, *(np.unique(np.searchsorted(done, shares, side="left") + 1)).tolist(), len(done)]
    bounds = sorted({bound for bound in bounds if bound <= len(done)})
    return [
        _share(found, first(low), low, high, None if behind is None else behind(high))
        for low, high in pairwise(bounds)
    ]


def _until(groups: Sequence[lake.Group], sight: float) -> Callable[[int], int]:
    """A function that gives for a row group the first one from it on of which no event before it is in sight.

    Parameters
    ----------
    groups : sequence of Group
        In the order of time.
    sight : int or float
        How far ahead events look.
    """

    def behind(at: int) -> int:
        most = [group.most for group in groups[:at] if group.rows and group.most is not None]
        edge = later(np.array(most[-1:]), sight)
        while at < len(groups) and (groups[at].least is None or not len(edge) or groups[at].least <= edge[0]):
            at += 1
        return at

    return behind


def _reached(groups: Sequence[lake.Group], at: int, size: float) -> int:
    """The first row group that a window which ends in row group `at` or later reaches."""
    rows = [number for number in range(at, len(groups)) if groups[number].rows]
    if not rows:
        return at
    least = groups[rows[0]].least
    assert least is not None
    edge = earlier(np.array([least]), size)[0]
    while at > 0 and (groups[at - 1].most is None or groups[at - 1].most >= edge):
        at -= 1
    return at


def _counted(groups: Sequence[lake.Group], at: int, size: int) -> int:
    """The same for a window that counts events."""
    while at > 0 and size > 0:
        at -= 1
        size -= groups[at].rows
    return at


def _share(found: Lake, first: int, low: int, high: int, behind: int | None = None) -> Share:
    """The row groups `first <= g < behind`, of which those from `low` on are its own, up to `high`."""
    groups = found.groups
    behind = high if behind is None else behind
    parts = tuple(lake.files_of(found.files, groups[first:behind]))
    before, halo, ahead = (
        sum(group.rows for group in some) for some in (groups[:first], groups[first:low], groups[high:behind])
    )
    return Share(parts, before, halo, ahead)


def _by_file(found: Lake, size: Size) -> Iterator[Share]:
    """Files dealt out whole, those of one writing task together: a key may go on in the next of them."""
    assert found.layout is not None
    starts = [
        number
        for number, group in enumerate(found.groups)
        if number == 0 or _writer(found, group) != _writer(found, found.groups[number - 1])
    ]
    rows, low = 0, 0
    wanted = -(-found.rows // size.partitions)
    for start, stop in zip(starts, [*starts[1:], len(found.groups)]):
        rows += sum(group.rows for group in found.groups[start:stop])
        if rows >= wanted or stop == len(found.groups):
            yield _share(found, low, low, stop)
            rows, low = 0, stop


def _writer(found: Lake, group: lake.Group) -> str:
    return layout.writer_of(found.files[group.file].file.path)


def _shuffled(
    spark: SparkSession,
    found: Lake,
    task: Task,
    size: Size,
    shuffled: Callable[[pa.Schema, list[str]], Task],
    job: type[Job],
) -> DataFrame:
    """The workers read the files, and what is left of the rows goes on by the route of DataFrames."""
    schema = found.schema.append(pa.field(ROW, pa.int64(), nullable=False))
    own = shuffled(schema, [*task.query.options.order_by, ROW])
    parts = [_share(found, low, low, high) for low, high in _even(found, size)]
    reader = FileReader(own.dumped(), found.schema, parts)
    read = in_tasks(spark.range(0, len(parts), 1, len(parts)), reader, reader.given)
    route = route_of(read, own, size)
    worker = RestoredTimes(Worker(own.dumped(), route.segments, route.streamed, job), reader.times)
    return in_tasks(route.frame, worker, own.result)


def _even(found: Lake, size: Size) -> Iterator[tuple[int, int]]:
    """Ranges of row groups with about as many rows, as many as there are tasks."""
    wanted = -(-found.rows // size.partitions)
    rows, low = 0, 0
    for number, group in enumerate(found.groups):
        rows += group.rows
        if rows >= wanted or number == len(found.groups) - 1:
            yield low, number + 1
            rows, low = 0, number + 1

"""The operators `run`, `count`, `counts` and `hits`: from a DataFrame of events to one of matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cer_gpu.spark import settings
from cer_gpu.spark.binding import arrow_schema, compiled, task_of
from cer_gpu.spark.expressions import column, in_tasks
from cer_gpu.spark.jvm import estimated_rows, is_connect
from cer_gpu.spark.routes import FrameRoute, Size, route_of
from cer_gpu.spark.task import DIGITS, WARN
from cer_gpu.spark.tie_reports import TieReports
from cer_gpu.spark.worker import Worker

from cer_gpu.engine.run.options import spelled
from cer_gpu.plan.planning.explain import WIDTH

if TYPE_CHECKING:
    from cer_gpu.spark.task import Task
    from pyspark.sql import DataFrame, SparkSession

    from cer_gpu.api import Query


def operator_keywords(
    order_by: str | Sequence[str] | None = None,
    order_unit: str | None = None,
    type_column: str | None = "type",
    stream_column: str | None = None,
    event_id: str | None = None,
    limit: int | None = None,
    memory: int | None = None,
    params: Mapping[str, Any] | None = None,
    engine: str = "auto",
    until: Any = None,
    nan_is_null: bool | None = None,
    ties: str = WARN,
    rows: int | None = None,
) -> None:
    """The keywords of every operator."""


@spelled(operator_keywords)
def run(df: DataFrame, query: Query | str, **keywords: Any) -> DataFrame:
    """Find the matches of a query in a DataFrame: one row for each.

    Parameters
    ----------
    df : DataFrame
        The events. Only the columns that the query reads are used.
    query : Query or str
        From `cer_gpu.compile`, or its text.
    order_by : str or sequence of str
        The time column, then the columns that break ties. Ties that are left are broken by all columns that
        the query reads, so that the result does not depend on how rows were shuffled.
    event_id : str, default None
        The column whose values are returned in place of positions (`start`, `end`, and the lists of the
        variables). Without it, a position is the place of the event in its partition, counted from 0 in the
        order of `order_by`; without PARTITION BY, it is the place among all events.
    order_unit : str, default None
        The unit of a plain-number time column: "s", "ms", "us" or "ns".
    type_column : str or None, default "type"
        The column of the event type; None if no column tells it, as for `Query.run`.
    stream_column : str, default None
        The column of the stream that an event belongs to, for `S>T` and FROM.
    limit : int, default None
        At most so many matches.
    memory : int, default None
        Bytes that a task may keep for events that later matches may still use.
    params : mapping of str to object, default None
        The values of the query's parameters, by their names without `$`, in place of those that
        `cer_gpu.compile` was given.
    engine : str, default "auto"
        The engine, as for `Query.run`.
    until : str, datetime or number, default None
        The time up to which the events are known, as for `Query.run`.
    nan_is_null : bool, default None
        True: a NaN is a missing value. By default it is a number, as in Spark.
    ties : {"warn", "error", "any"}, default "warn"
        What to do about rows whose `order_by` (and PARTITION BY) is equal, if the result depends on their
        order, which a shuffle loses: warn, once a query, when tasks have found such rows (under Spark Connect
        before anything runs); raise a `DataError` in the task that finds them; or take any order. Rows that
        are alike in all columns that the query reads do not count.
    rows : int, default None
        About how many rows `df` has. Without it, rows are counted first if Spark does not know their number.

    Returns
    -------
    DataFrame
        Lazy; its columns are those of `Matches.to_arrow` and are known before anything runs. Rows come in no
        particular order. For a query without PARTITION BY, small jobs run at once: they find the times at
        which the events are cut into segments for the tasks. Columns whose names differ only in case, such as
        those of a type `A` and a variable `a`, need `spark.sql.caseSensitive=true` to be selected by name or
        written.

    Raises
    ------
    QueryError
        When the query does not fit the DataFrame.
    DataError
        When a column is missing. With `ties="error"`, while the result is read, when rows tie.

    Examples
    --------
    >>> cer_spark.run(df, "SELECT * WHERE Buy ; Sell PARTITION BY symbol", order_by="ts", event_id="id")
    """
    limit = keywords.get("limit")
    found = _product(df, query, "run", keywords)
    return found if limit is None else found.limit(limit)


@spelled(operator_keywords, omit=("limit",))
def counts(df: DataFrame, query: Query | str, **keywords: Any) -> DataFrame:
    """Count the matches that end at each event; keywords as for `run`, without `limit`.

    Returns
    -------
    DataFrame
        One row for each event at which a match ends: `position` (or the value of `event_id`, if it is
        given), the columns of PARTITION BY, `time`, and `count`, an exact decimal of 38 digits.
    """
    return _product(df, query, "counts", keywords)


@spelled(operator_keywords, omit=("limit",))
def hits(df: DataFrame, query: Query | str, **keywords: Any) -> DataFrame:
    """Find the events at which at least one match ends; keywords as for `run`, without `limit`.

    Returns
    -------
    DataFrame
        `position`, the columns of PARTITION BY, `time`, and `latest_start`, the latest start of the matches
        that end there. With `event_id`, its values stand in place of both positions.
    """
    return _product(df, query, "hits", keywords)


@spelled(operator_keywords, omit=("limit",))
def count(df: DataFrame, query: Query | str, **keywords: Any) -> DataFrame:
    """Count the matches, without listing them; keywords as for `run`, without `limit`.

    Returns
    -------
    DataFrame
        One row, one column: `count`, a decimal of 38 digits.
    """
    return _product(df, query, "count", keywords)


@spelled(operator_keywords, omit=("limit",))
def explain(df: DataFrame, query: Query | str, verbose: bool = False, **keywords: Any) -> str:
    """Explain how a query is evaluated over a DataFrame; keywords as for `run`, and `verbose` as elsewhere.

    Returns
    -------
    str
        The text of `Query.explain`, then how the rows get to the tasks.
    """
    whole = compiled(query)
    task, route = _routed(df, whole, "run", keywords)
    options = task.query.options
    told = whole.explain(
        events=task.query.schema.empty_table(),
        verbose=verbose,
        order_by=options.order_by,
        order_unit=options.order_unit,
        type_column=options.type_column,
        stream_column=options.stream_column,
        params=options.params,
        device="cpu",
    )
    # The device is chosen in every task.
    kept = [line for line in told.splitlines() if not line.startswith("device")]
    return "\n".join([*kept, f"{'spark':<{WIDTH}}{route.reason}", ""])


def with_numbers(frame: DataFrame, product: str) -> DataFrame:
    """The results of tasks with counts as numbers; for product "count" one row with their sum."""
    import pyspark.sql.functions as sf

    if product not in ("count", "counts"):
        return frame
    kind = f"decimal({DIGITS},0)"
    exact = frame.withColumn("count", column("count").cast(kind))
    # Where Spark sees that there are no events, no task is asked. (A sum that is too large may be null.)
    total = sf.when(sf.count("count") == 0, sf.lit(0)).otherwise(sf.sum("count")).cast(kind)
    return exact.agg(total.alias("count")) if product == "count" else exact


def _product(df: DataFrame, query: Query | str, product: str, keywords: dict[str, Any]) -> DataFrame:
    task, route = _routed(df, query, product, keywords)
    ties = TieReports(df.sparkSession).of(task)
    worker = Worker(task.dumped(), route.segments, route.streamed, ties=ties)
    return with_numbers(in_tasks(route.frame, worker, task.result), product)


def _routed(
    df: DataFrame, query: Query | str, product: str, keywords: dict[str, Any]
) -> tuple[Task, FrameRoute]:
    gpu = settings.value(df.sparkSession, settings.GPU)
    rows = keywords.pop("rows", None)
    task = task_of(query, arrow_schema(df.schema), product, gpu=gpu, **{"ties": WARN} | keywords)
    return task, route_of(df, task, size_of(df, rows))


def size_of(df: DataFrame, rows: int | None) -> Size:
    """The size of the data, and how many tasks run at once.

    Parameters
    ----------
    df : DataFrame
    rows : int or None
        About how many rows it has, if the caller knows.
    """
    spark = df.sparkSession
    if rows is None:
        rows = estimated_rows(df)
    if rows is None:
        rows = df.count()
    return Size(rows, settings.value(spark, settings.ROWS_PER_TASK), parallel_tasks(spark))


def parallel_tasks(spark: SparkSession) -> int:
    """How many tasks run at once: as many as there are GPUs, if tasks use them, or else cores."""
    import pyspark.sql.functions as sf

    gpus, executors = (spark.conf.get(key, "") for key in (settings.EXECUTOR_GPUS.key, _EXECUTORS))
    if gpus and executors:
        return max(1, int(gpus) * int(executors))
    told = spark.conf.get("spark.default.parallelism", "")
    if told:
        return max(1, int(told))
    if not is_connect(spark):
        return max(1, int(spark.sparkContext.defaultParallelism))
    # What Spark Connect has no word for, a range shows: it has a partition for each task that can run.
    counted = spark.range(1 << 16).select(sf.spark_partition_id().alias("p")).agg(sf.max("p"))
    return int(counted.collect()[0][0]) + 1


_EXECUTORS = "spark.executor.instances"

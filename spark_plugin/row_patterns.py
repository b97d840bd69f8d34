"""SQL's row pattern recognition on Spark, which has none of its own: `match_recognize`.

The rows of a clause without PARTITION BY are cut by time, where it has a WITHIN.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark import cuts
from cer_gpu.spark.binding import arrow_schema, spark_type
from cer_gpu.spark.expressions import column, in_tasks, literal, number_of_segment, quoted, rank, unified
from cer_gpu.spark.jvm import estimated_rows
from cer_gpu.spark.operators import size_of
from cer_gpu.spark.routes import Size, measured
from cer_gpu.spark.row_pattern_worker import (
    EXITS,
    ExitWorker,
    RowPatternSegment,
    RowPatternTask,
    RowPatternWorker,
)
from cer_gpu.spark.segments import SEGMENT, numbers_apart

from cer_gpu.caller_warnings import warn
from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.rows.match_finder import span_in
from cer_gpu.errors import DataError, Diagnostic, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.columns import resolved
from cer_gpu.patterns.conditions import columns_of, leaves, numbers_conditions, reach
from cer_gpu.patterns.tree import MatchNumber, RowPatternClause, RowsPerMatch, SkipMode
from cer_gpu.printable_text import names_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cer_gpu.patterns.sql_language import SqlLanguage


OWN_SQL = ("spark", "databricks")
"""Dialects that Spark reads itself."""

READERS = {".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".orc": "orc"}
"""Suffixes of files with the format of Spark; others are Parquet."""


def match_recognize(
    sql: str,
    /,
    spark: SparkSession | None = None,
    *,
    dialect: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Run a SELECT with MATCH_RECOGNIZE over the tables and views of a session.

    It needs sqlglot on the driver: the extra `sql`. Spark SQL runs subqueries and the SELECT
    around. Each MATCH_RECOGNIZE reads a table or a view, ``parquet.`path` ``, a file such as
    'trades.parquet', or a subquery; its partitions are spread over tasks by a shuffle. Without PARTITION BY
    rows are cut by time where WITHIN bounds matches, for which some jobs run at once; otherwise one task has
    all rows.

    Parameters
    ----------
    sql : str
    spark : SparkSession, optional
        Also one of Spark Connect; by default the active session.
    dialect : str, optional
        The SQL that the text is written in, as for `cer_gpu.match_recognize`; by default that of Spark.
    params : mapping of str to object, optional
        The values of parameters, `$name`, by their names.

    Returns
    -------
    DataFrame
        Lazy; its columns are known before anything runs. Rows come in no particular order, unless ORDER BY
        stands around. Rows of a partition that tie in the order of the clause are put in the order of the
        other columns that it reads, since a shuffle loses the order that they had.

    Raises
    ------
    QueryError
        When the statement is wrong, or does not fit the tables.
    DataError
        When a column has a type that cannot be read. While the result is read, as for
        `cer_gpu.match_recognize`.

    Examples
    --------
    >>> cer_spark.match_recognize('''SELECT symbol, COUNT(*) FROM trades MATCH_RECOGNIZE (
    ...     PARTITION BY symbol ORDER BY ts
    ...     PATTERN (start down+ up+)
    ...     DEFINE down AS price < PREV(price), up AS price > PREV(price)) GROUP BY symbol''')
    """
    from pyspark.sql import SparkSession

    from cer_gpu.patterns.sql_language import language_of
    from cer_gpu.patterns.statement import read_statement

    session = spark or SparkSession.getActiveSession()
    if session is None:
        raise DataError("no session of Spark is active: pass one, match_recognize(sql, spark)")
    written = dialect or OWN_SQL[0]
    statement = read_statement(sql, written, params)
    ran = SessionSql(session, language_of(written, sql))
    for name, clause in zip(statement.tables, statement.clauses, strict=True):
        ran.frames[name] = matched(ran.source(clause), clause, sql)
    return ran.query(statement.outer)


def matched(frame: DataFrame, clause: RowPatternClause, text: str) -> DataFrame:
    """The rows of a clause over a frame.

    Parameters
    ----------
    frame : DataFrame
    clause : RowPatternClause
        Its columns are those of the text.
    text : str
        The statement, for messages.
    """
    if frame.isStreaming:
        raise DataError(
            "match_recognize runs over rows that are there: for a streaming DataFrame use "
            "cer_spark.stream(df, sql, late='30 s')"
        )
    found = bound_clause(frame, clause, text)
    task, result = found.task, found.result
    cut = None if task.partition_by else _cut(found.rows, found.clause, task)
    if cut is not None:
        return in_tasks(cut.frame, RowPatternWorker(task, result, cut.segments), result)
    return in_tasks(_spread(found.rows, task), RowPatternWorker(task, result), result)


class BoundClause(NamedTuple):
    """A clause on a frame.

    Attributes
    ----------
    clause : RowPatternClause
        Its columns are those of the frame.
    task : RowPatternTask
    result : pyarrow.Schema
        The columns of the answer in types that Spark has.
    rows : DataFrame
        The columns of the frame that the clause reads.
    """

    clause: RowPatternClause
    task: RowPatternTask
    result: pa.Schema
    rows: DataFrame


def bound_clause(frame: DataFrame, clause: RowPatternClause, text: str) -> BoundClause:
    """A clause on a frame; parameters as of `matched`.

    Raises
    ------
    QueryError
        When it does not fit the frame.
    DataError
        When a column has a type that cannot be read.
    """
    schema = _shown_in(arrow_schema(frame.schema), frame.sparkSession)
    clause = resolved(clause, frame.columns, text)
    missing = set(frame.columns) - set(schema.names)
    if clause.rows is RowsPerMatch.ONE:
        missing &= set(columns_of(clause))
    if missing:
        raise DataError(
            f"columns of these types cannot be read: {names_text(sorted(missing))}. Leave them out, or CAST "
            "them, in a subquery: FROM (SELECT ... FROM t) MATCH_RECOGNIZE (...)"
        )
    answer = RowPatternAnswer(clause, schema, text)
    read = pa.schema([schema.field(name) for name in answer.columns])
    result = _in_spark(answer.schema, clause, text)
    keys = tuple(dict.fromkeys(clause.partition_by))
    order = tuple(key.column for key in clause.order_by)
    rows = frame.select(*map(column, read.names))
    if not read.names:
        import pyspark.sql.functions as sf

        read = pa.schema([pa.field("row", pa.int32())])  # rows without columns do not get to a task
        rows = frame.select(sf.lit(0).alias("row"))
    numbered = any(
        isinstance(leaf, MatchNumber) for one in clause.measures for leaf in leaves(one.expression)
    )
    return BoundClause(clause, RowPatternTask(answer, read, keys, order, numbered), result, rows)


class SessionSql:
    """Runs the SQL of a statement in a session; what clauses give has names there.

    Parameters
    ----------
    spark : SparkSession
    language : SqlLanguage
        Of the statement.
    """

    def __init__(self, spark: SparkSession, language: SqlLanguage) -> None:
        self._spark = spark
        self._language = language
        self.frames: dict[str, Any] = {}

    def source(self, clause: RowPatternClause) -> DataFrame:
        """What a clause reads."""
        if clause.kind == "query" or clause.source in self.frames:
            return self.query(clause.source if clause.kind == "query" else f"SELECT * FROM {clause.source}")
        if clause.kind == "file":
            suffix = os.path.splitext(clause.source)[1].lower()
            reader = self._spark.read.format(READERS.get(suffix, "parquet"))
            return reader.options(header=True, inferSchema=True).load(clause.source)
        kind, _, path = clause.source.partition(".")
        parts = [kind, path] if "/" in path else clause.source.split(".")  # of parquet.`/folder/file.parquet`
        return self._spark.table(quoted(parts))

    def query(self, text: str) -> DataFrame:
        """The rows of a SELECT; of clauses so far by their names."""
        if self._language.name not in OWN_SQL:
            text = str(self._language.statement(text).sql(dialect="spark"))
        if not self.frames:
            return self._spark.sql(text)
        names = "|".join(self.frames)
        braced = re.sub(rf"\b({names})\b", r"{\1}", text.replace("{", "{{").replace("}", "}}"))
        return self._spark.sql(braced, **self.frames)


def _cut(rows: DataFrame, clause: RowPatternClause, task: RowPatternTask) -> CutRows | None:
    """Rows without a partition key, cut by time; None if one task has them."""
    why = uncut_reason(clause)
    if why:
        warn(f"one task runs all rows of a MATCH_RECOGNIZE, since it {why}")
        return None
    size = size_of(rows, None)
    return cut_rows(rows, clause, task, size) if size.partitions > 1 else None


def _spread(rows: DataFrame, task: RowPatternTask) -> DataFrame:
    """Rows by partitions of their clause; nulls are a partition."""
    if not task.partition_by:
        return rows.repartition(1)
    parts = [unified(column(name), task.read.field(name).type) for name in task.partition_by]
    known = estimated_rows(rows)
    if known is None:  # to count them may take as long as to match them
        return rows.repartition(*parts)
    return rows.repartition(size_of(rows, known).partitions, *parts)


def _shown_in(schema: pa.Schema, spark: SparkSession) -> pa.Schema:
    """Times with the zone of the session, which hours and days are taken in."""
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    try:
        pc.hour(pa.scalar(0, pa.timestamp("us", zone)))
    except pa.ArrowInvalid:  # as Java alone writes zones
        return schema
    kinds = [
        pa.timestamp("us", zone) if pa.types.is_timestamp(field.type) and field.type.tz else field.type
        for field in schema
    ]
    return pa.schema([field.with_type(kind) for field, kind in zip(schema, kinds)])


def _in_spark(schema: pa.Schema, clause: RowPatternClause, text: str) -> pa.Schema:
    """The columns of an answer in types that Spark has."""
    from pyspark.errors import PySparkTypeError

    places = {measure.name: measure.at for measure in clause.measures}
    fields = []
    for field in schema:
        try:
            fields.append(pa.field(field.name, spark_type(field.type)))
        except PySparkTypeError:
            what = f"`{field.name}` is {field.type}, a type that Spark does not have"
            hint = "CAST it to a decimal with fewer digits, or to DOUBLE"
            raise QueryError(
                [Diagnostic("CER117", what, places.get(field.name), hints=(hint,))], text
            ) from None
    return pa.schema(fields)


@dataclass(frozen=True, slots=True)
class CutRows:
    """Rows, each once for each segment that needs it.

    Attributes
    ----------
    frame : DataFrame
        With a column `SEGMENT`; a segment lies in one partition.
    segments : mapping of int to RowPatternSegment
    """

    frame: DataFrame
    segments: Mapping[int, RowPatternSegment]


def uncut_reason(clause: RowPatternClause) -> str:
    """Why the rows of a clause cannot be cut by time; empty if they can."""
    if clause.within is None:
        return "has neither PARTITION BY nor WITHIN"
    if clause.order_by[0].descending:
        return "has no PARTITION BY, and a time that descends"
    if numbers_conditions(clause):
        return "has no PARTITION BY, and MATCH_NUMBER() in a condition"
    if clause.rows is RowsPerMatch.ALL_WITH_UNMATCHED and clause.skip.mode is SkipMode.TO_NEXT_ROW:
        return "has no PARTITION BY, and rows that no match has, where matches overlap"
    return ""


def cut_rows(rows: DataFrame, clause: RowPatternClause, task: RowPatternTask, size: Size) -> CutRows | None:
    """Cut rows into segments of about equal size; None if it is not worth it.

    A segment has the matches that start in it. It also gets the rows that these may reach: those of one
    span of WITHIN behind it, and as many on both sides as PREV and NEXT go. One job measures how the times
    are spread, another counts rows between times; where matches do not start at every row a third follows
    them, to find where each segment is entered.

    Parameters
    ----------
    rows : DataFrame
    clause : RowPatternClause
        One without an `uncut_reason`.
    task : RowPatternTask
    size : Size
    """
    import pyspark.sql.functions as sf

    time = clause.order_by[0].column
    kind = task.read.field(time).type
    assert clause.within is not None
    span = span_in(clause.within, kind)
    marked = rows.withColumn(cuts.STREAM, sf.lit(0).cast("int"))
    # A row without a time is an error where it is matched.
    times = marked.where(column(time).isNotNull()).select(cuts.STREAM, column(time))
    parts = measured(times, cuts.TimeSketch(time)).get(0)
    if parts is None:
        return None
    spread = cuts.distribution(parts)
    wanted = max(-(-spread.rows // size.rows_per_task), size.partitions)
    edges = spread.bounds(wanted)
    edges = cuts.worth_cutting(edges, cuts.earlier(edges, span), spread)
    if not len(edges):
        return None
    lasting = cuts.later(edges, span)
    cells = np.union1d(np.union1d(edges, lasting), spread.bounds(cuts.FINE * (len(edges) + 1)))
    counts = np.sum([one for _, one in measured(times, cuts.Histogram(time, {0: cells}))[0]], axis=0)
    # At least one row, so that a segment does not begin or end where the rows do.
    before, behind = (max(rows_away, 1) for rows_away in reach(clause))
    halos = cuts.by_count(cells, counts, edges, before)
    ends = cuts.by_count_behind(cells, counts, lasting, behind)
    numbers = numbers_apart(len(edges) + 1, len(edges) + 1)
    first = rank(column(time), [literal(end.item(), kind) for end in ends])
    last = rank(column(time), [literal(halo.item(), kind) for halo in halos])
    which = number_of_segment(numbers, first, last)
    frame = marked.withColumn(SEGMENT, sf.explode(which)).drop(cuts.STREAM)
    frame = frame.repartition(len(numbers), column(SEGMENT))
    bounds: list[int | None] = [None, *edges.tolist(), None]
    segments = {
        number: RowPatternSegment(begin, end) for number, begin, end in zip(numbers, bounds, bounds[1:])
    }
    if clause.skip.mode is not SkipMode.TO_NEXT_ROW or task.numbers_matches:
        segments = _entered(frame, task, segments, span)
    return CutRows(frame, segments)


def _entered(
    frame: DataFrame, task: RowPatternTask, segments: dict[int, RowPatternSegment], span: int
) -> dict[int, RowPatternSegment]:
    """The segments with the row at which each is entered, and the matches before it: a job."""
    found: dict[int, tuple[Any, ...]] = {}
    for number, rows, exits, matches in in_tasks(frame, ExitWorker(task, segments, span), EXITS).collect():
        found[number] = rows, exits, matches
    entry, before = 0, 0
    made = {}
    for number, segment in segments.items():
        made[number] = segment._replace(entry=entry, before=before)
        rows, exits, matches = found.get(number, (0, (), ()))
        if entry < len(exits):
            entry, before = exits[entry], before + matches[entry]
        else:  # no match starts here
            entry = max(entry - rows, 0)
    return made

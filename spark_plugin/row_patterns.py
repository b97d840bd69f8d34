"""SQL's row pattern recognition on Spark, which has none of its own: `match_recognize`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark.binding import arrow_schema, spark_type
from cer_gpu.spark.expressions import column, in_tasks, quoted, unified
from cer_gpu.spark.jvm import estimated_rows
from cer_gpu.spark.operators import size_of
from cer_gpu.spark.row_pattern_cuts import CutRows, cut_rows, uncut_reason
from cer_gpu.spark.row_pattern_worker import RowPatternTask, RowPatternWorker

from cer_gpu.caller_warnings import warn
from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.errors import DataError, Diagnostic, QueryError
from cer_gpu.patterns.columns import resolved
from cer_gpu.patterns.conditions import columns_of, leaves
from cer_gpu.patterns.tree import MatchNumber, RowPatternClause, RowsPerMatch
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

"""MATCH_RECOGNIZE on Structured Streaming: `live_rows`."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cer_gpu.spark.expressions import column, in_tasks, unified
from cer_gpu.spark.row_pattern_keeper import LiveRowPattern, RowPatternKeeper
from cer_gpu.spark.row_patterns import OWN_SQL, SessionSql, bound_clause
from cer_gpu.spark.stream_task import BUCKET, PACKED_SCHEMA, BlobReader, BucketFiller
from cer_gpu.spark.watermark import MOMENT, event_time, observed

from cer_gpu.engine.rows.row_pattern_stream import check_live
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.patterns.tree import RowPatternStatement
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KEYWORDS = frozenset(["order_by", "late", "on_late", "params", "buckets", "what"])
"""The keywords of `stream` that a statement takes."""


def live_rows(frame: DataFrame, sql: str, keywords: Mapping[str, Any], buckets: int, late: int) -> DataFrame:
    """The rows of a SELECT with MATCH_RECOGNIZE over a streaming DataFrame.

    Parameters
    ----------
    frame : DataFrame
        Streaming; the table that the statement names, whatever its name is.
    sql : str
        In Spark's dialect.
    keywords : mapping of str to object
        Those of `stream`.
    buckets : int
        How many states share the partitions.
    late : int
        By how many milliseconds rows may be out of order.

    Raises
    ------
    QueryError
        When the statement is wrong, does not fit the frame, or its matches are not decided by time.
    TypeError
        For a keyword that a statement does not take.
    """
    import pyspark.sql.functions as sf
    from cer_gpu.spark.blob_keeper import ANSWERS

    from cer_gpu.patterns.sql_language import language_of
    from cer_gpu.patterns.statement import read_statement

    for name in keywords:
        if name not in KEYWORDS:
            raise TypeError(
                f"there is no keyword {brief(name)} for a stream of MATCH_RECOGNIZE: leave it out"
            )
    statement = read_statement(sql, OWN_SQL[0], keywords.get("params"))
    _check_one(statement)
    found = bound_clause(frame, statement.clauses[0], sql)
    check_live(found.clause, sql)
    task, schema = found.task, found.task.read
    time = task.order_by[0]
    moment = event_time(column(time), schema.field(time).type, None)
    rows = found.rows.withColumn(MOMENT, moment).withWatermark(MOMENT, f"{late} milliseconds")
    keys = [unified(column(name), schema.field(name).type) for name in task.partition_by]
    bucket: Column = sf.pmod(sf.xxhash64(*keys), sf.lit(buckets)) if keys else sf.lit(0)
    rows = rows.withColumn(BUCKET, bucket.cast("int")).drop(MOMENT)
    about = f"{' '.join(sql.split())} {sorted((keywords.get('params') or {}).items())} {buckets} {schema}"
    on_late = keywords.get("on_late", "drop")
    live = LiveRowPattern(found.clause, task, found.result, about, uuid4().hex, on_late)
    groups = in_tasks(rows, BucketFiller(), PACKED_SCHEMA).groupBy(BUCKET)
    kept = groups.transformWithState(RowPatternKeeper(pickle.dumps(live)), ANSWERS, "Append", "EventTime")
    ran = SessionSql(frame.sparkSession, language_of(OWN_SQL[0], sql))
    ran.frames[statement.tables[0]] = in_tasks(observed(kept), BlobReader(found.result), found.result)
    return ran.query(statement.outer)


def _check_one(statement: RowPatternStatement) -> None:
    """Check that a statement reads one table by one MATCH_RECOGNIZE."""
    clauses = statement.clauses
    if len(clauses) == 1 and clauses[0].kind == "table":
        return
    what = "a stream is the one table of one MATCH_RECOGNIZE"
    hint = "FROM trades MATCH_RECOGNIZE (...); make what a subquery does a part of the streaming DataFrame"
    raise QueryError([Diagnostic("CER117", what, clauses[0].span, hints=(hint,))], statement.text)

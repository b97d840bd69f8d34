"""One engine and one question, in a process of its own.

`python -m bench.rivals.one ENGINE NUMBER FILE RUNS` loads a Parquet file, asks the question of this number
once to warm up and RUNS times more, and prints `{"number": ..., "seconds": [...], "load": ..., "peak": ...}`:
the count, the seconds of each run, those of starting and loading, and the most bytes of resident memory. An
engine that cannot be had, or asked, prints `{"cannot": WHY}`. `command:PROGRAM` is a program of a user.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.rivals.asked import Answer, CannotError, Program, open_command, open_esper, open_flink
from bench.rivals.frames import open_pandas, open_polars
from bench.rivals.questions import Many, Neighbours, Ours, Question, workloads

Count = Callable[[Question], int]


def open_ours(path: str) -> Count:
    """Load a file into an Arrow table; gives the function that answers a question."""
    import pyarrow.parquet as pq

    import cer_gpu as cer

    events = pq.read_table(path)
    plain = events.drop_columns("type")

    def count(question: Question) -> int:
        if isinstance(question, Many):
            template = question.questions[0].ceql().replace(str(question.questions[0].above), "$above")
            variants = cer.sweep(template, above=[one.above for one in question.questions])
            return int(cer.backtest(variants, events, order_by="ts").to_pandas()["matches"].sum())
        alike = isinstance(question, Neighbours) and " FROM E " in question.ceql()
        return int(cer.compile(question.ceql()).count(plain if alike else events, order_by="ts"))

    return count


def open_duckdb(path: str) -> Count:
    """Load a file into a table of DuckDB, in the order of time; as `open_ours`."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE raw AS SELECT * FROM read_parquet(?)", [path])
    connection.execute("CREATE TYPE event_type AS ENUM (SELECT DISTINCT type FROM raw ORDER BY type)")
    connection.execute(
        "CREATE TABLE events AS SELECT ts, type::event_type::VARCHAR AS type, key, price FROM raw ORDER BY ts"
    )

    def count(question: Question) -> int:
        if isinstance(question, Many):
            return sum(map(count, question.questions))
        assert not isinstance(question, Ours)
        row = connection.execute(question.sql("duckdb")).fetchone()
        return int(row[0]) if row is not None else 0

    return count


def open_chdb(path: str) -> Count:
    """Load a file into a table of chdb, sorted by key and time; as `open_ours`."""
    from chdb.session import Session

    session = Session()
    session.query("DROP TABLE IF EXISTS events")  # one process has one engine, whatever its sessions
    session.query(
        "CREATE TABLE events (ts Int64, type LowCardinality(String), key Int64, price Float64) "
        "ENGINE = MergeTree ORDER BY (key, ts)"
    )
    session.query(f"INSERT INTO events SELECT ts, toString(type), key, price FROM file('{path}', Parquet)")
    session.query("OPTIMIZE TABLE events FINAL")

    def count(question: Question) -> int:
        if isinstance(question, Many):
            return sum(map(count, question.questions))
        assert not isinstance(question, Ours)
        return int(str(session.query(question.sql("chdb"), "TSV")).split()[0])

    return count


def open_spark(path: str) -> Count:
    """Load a file into memory of Spark, in the order of time; as `open_ours`."""
    from pyspark.sql import SparkSession

    local = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    spark = (
        local.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    )
    events = spark.read.parquet(path).repartition(4).cache()
    events.count()
    events.createOrReplaceTempView("events")

    def count(question: Question) -> int:
        if isinstance(question, Many):
            return sum(map(count, question.questions))
        assert not isinstance(question, Ours)
        return int(spark.sql(question.sql("spark-sql")).collect()[0][0])

    return count


OPENERS: dict[str, Callable[[str], Count | Program]] = {
    "cer-gpu": open_ours,
    "duckdb": open_duckdb,
    "chdb": open_chdb,
    "polars": open_polars,
    "pandas": open_pandas,
    "spark-sql": open_spark,
    "esper": open_esper,
    "flink-cep": open_flink,
}


def main(engine: str, number: str, path: str, runs: str) -> None:
    """Measure one question in this process."""
    try:
        said = _measured(engine, workloads()[int(number)].question, path, int(runs))
    except CannotError as error:
        said = {"cannot": str(error)}
    sys.stdout.write(json.dumps(said) + "\n")


def _measured(engine: str, question: Question, path: str, runs: int) -> dict[str, Any]:
    kind, _, program = engine.partition(":")
    begin = time.perf_counter()
    count = open_command(program, path) if kind == "command" else OPENERS[engine](path)
    load = time.perf_counter() - begin
    counted = _timed(count, question).number
    answers = [_timed(count, question) for _ in range(runs)]
    for answer in answers:
        if answer.number != counted:
            raise ValueError(f"{engine} says {counted} and then {answer.number}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if isinstance(count, Program):
        peak = count.peak()
        count.close()
    return {"number": counted, "seconds": [one.seconds for one in answers], "load": load, "peak": peak}


def _timed(count: Count | Program, question: Question) -> Answer:
    if isinstance(count, Program):
        return count(question)
    begin = time.perf_counter()
    number = count(question)
    return Answer(number, time.perf_counter() - begin)


if __name__ == "__main__":
    main(*sys.argv[1:])

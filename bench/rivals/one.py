"""One engine, in a process of its own.

`python -m bench.rivals.one ENGINE` reads a line `[ASKED, FILE, RUNS]` for each question: ASKED is the number
of a workload, or the text that `bench.rivals.brought` or `bench.rivals.plain.engines` writes. It loads the
Parquet file and prints `{"load": SECONDS}`, the time of starting and loading. Then it asks the question, once
to warm up and RUNS times more, or only once if that takes more than `LONG` seconds. Queries are compiled and
statements prepared the first time: ours, and those of DuckDB, Esper, Siddhi and Flink. It prints `{"number":
..., "sums": [...], "seconds": [...], "processor": [...], "peak": ...}`: the count, the sums of the columns of
an answer that is listed, the seconds and the processor seconds of each run, and the most bytes of resident
memory. For an engine that cannot be had, or cannot answer, it prints `{"cannot": WHY}`. `command:PROGRAM` is
a program of the user.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from bench.fresh import peak_bytes
from bench.rivals.asked import Answer, CannotError, Program, below, high_water, open_command
from bench.rivals.brought import events_of, read
from bench.rivals.frames import open_pandas, open_polars
from bench.rivals.jvm import open_esper, open_flink, open_siddhi
from bench.rivals.plain import engines as plain
from bench.rivals.prepared import prepared
from bench.rivals.questions import Joined, Many, Neighbours, Ours, Question
from bench.rivals.workloads import workloads
from bench.sizes import Brought

LONG = 5.0
"""Where the first run takes as many seconds, it is the one that counts: there is little in it to warm up."""

Count = Callable[[Question], int]


def open_ours(path: str) -> Count:
    """Load a file into an Arrow table; gives the function that answers a question."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    import cer_gpu as cer

    events = pq.read_table(path, read_dictionary=["type"])  # as the rivals' own types for few texts
    plain = events.drop_columns("type")
    last = int(pc.max(events["ts"]).as_py() or 0)

    @cache
    def compiled(question: Question) -> Any:
        if isinstance(question, Many):
            template = question.questions[0].ceql().replace(str(question.questions[0].above), "$above")
            return cer.sweep(template, above=[one.above for one in question.questions])
        return cer.compile(question.ceql())

    def count(question: Question) -> int:
        if isinstance(question, Many):
            found = cer.backtest(compiled(question), events, order_by="ts")
            return int(found.to_pandas()["matches"].sum())
        if isinstance(question, Joined) and question.batches > 1:
            return _viewed(events, question, last)
        alike = isinstance(question, Neighbours) and " FROM E " in question.ceql()
        return int(compiled(question).count(plain if alike else events, order_by="ts"))

    return count


def open_brought(brought: Brought) -> Count:
    """Load a folder of the user; the query is counted as it is written."""
    import cer_gpu as cer

    events, query = events_of(brought), cer.compile(brought.query)

    def count(question: Question) -> int:
        del question  # in the words of rivals
        return int(query.count(events, order_by=brought.order_by, type_column=brought.type_column))

    return count


def _viewed(events: Any, question: Joined, last: int) -> int:
    """The counts of a view after each batch, added up."""
    import numpy as np
    import pyarrow as pa

    import cer_gpu as cer

    view, total, begin = cer.maintain(question.ceql()), 0, 0
    kinds = events["type"].unify_dictionaries().combine_chunks()
    code = {name: number for number, name in enumerate(kinds.dictionary.to_pylist())}
    kind, times, keys = kinds.indices.to_numpy(), events["ts"].to_numpy(), events["key"].to_numpy()
    for bound in question.bounds(last):
        upto = int(np.searchsorted(times, bound, side="right"))
        own, some = kind[begin:upto], keys[begin:upto]
        rows = {name: some[own == code.get(name, -1)] for name in question.relations}
        view.update({name: pa.table({"key": found}) for name, found in rows.items()})
        total, begin = total + view.count(), upto
    return total


def open_duckdb(path: str) -> Count:
    """Load a file into a table of DuckDB, in the order of time; as `open_ours`."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE raw AS SELECT * FROM read_parquet(?)", [path])
    connection.execute("CREATE TYPE event_type AS ENUM (SELECT DISTINCT type FROM raw ORDER BY type)")
    connection.execute(
        "CREATE TABLE events AS SELECT * REPLACE (type::event_type::VARCHAR AS type) FROM raw ORDER BY ts"
    )

    statement = prepared(connection)

    def asked(text: str) -> int:
        [[number]] = connection.execute(statement(text)).fetchall()
        return int(number or 0)

    return in_sql("duckdb", asked)


def in_sql(engine: str, asked: Callable[[str], int]) -> Count:
    """A function that answers a question with an engine's SQL: one statement, or one for each query or batch.

    Parameters
    ----------
    engine : str
    asked : callable
        Gives the number that a statement returns.
    """
    last: list[int] = []

    def count(question: Question) -> int:
        if isinstance(question, Many):
            return sum(map(count, question.questions))
        assert not isinstance(question, Ours)
        if isinstance(question, Joined) and question.batches > 1:
            if not last:
                last.append(asked("SELECT max(ts) FROM events"))
            return sum(asked(question.sql(engine, bound)) for bound in question.bounds(last[0]))
        return asked(question.sql(engine))

    return count


def open_chdb(path: str) -> Count:
    """Load a file into a table of chdb, sorted by key and time; as `open_ours`."""
    import pyarrow.parquet as pq
    from chdb.session import Session

    session, placed = Session(), "place" in pq.read_schema(path).names
    session.query("DROP TABLE IF EXISTS events")  # one process has one engine, whatever its sessions
    session.query(
        "CREATE TABLE events (ts Int64, type LowCardinality(String), key Int64, price Float64"
        f"{', place Int64' * placed}) ENGINE = MergeTree ORDER BY (key, ts)"
    )
    columns = "ts, toString(type), key, price" + ", place" * placed
    session.query(f"INSERT INTO events SELECT {columns} FROM file('{path}', Parquet)")
    session.query("OPTIMIZE TABLE events FINAL")

    return in_sql("chdb", lambda text: int(str(session.query(text, "TSV")).split()[0]))


def open_spark(path: str) -> Count:
    """Load a file into memory of Spark, in the order of time; as `open_ours`."""
    from pyspark.sql import SparkSession

    local = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    spark = (
        local.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    )
    spark.catalog.clearCache()  # the events of the question before
    events = spark.read.parquet(path).repartition(4).cache()
    events.count()
    events.createOrReplaceTempView("events")

    # A frame that is asked again would find what its shuffles have kept: each run has its own.
    return in_sql("spark-sql", lambda text: int(spark.sql(text).collect()[0][0] or 0))


OPENERS: dict[str, Callable[[str], Count | Program]] = {
    "cer-gpu": open_ours,
    "duckdb": open_duckdb,
    "chdb": open_chdb,
    "polars": open_polars,
    "pandas": open_pandas,
    "spark-sql": open_spark,
    "esper": open_esper,
    "flink-cep": open_flink,
    "siddhi": open_siddhi,
}


def main(engine: str) -> None:
    """Answer the questions of the standard input."""
    for line in sys.stdin:
        asked, path, runs = json.loads(line)
        for said in answered(engine, asked, path, runs):
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


def answered(engine: str, asked: str, path: str, runs: int) -> Iterator[dict[str, Any]]:
    """What is printed of one question."""
    _forget_peaks()
    try:
        begin = time.perf_counter()
        count, question = _opened(engine, asked, path)
        yield {"load": time.perf_counter() - begin}
        yield _measured(engine, count, question, runs)
    except CannotError as error:
        yield {"cannot": str(error)}


def _opened(engine: str, asked: str, path: str) -> tuple[Any, Question | plain.PlainForm]:
    """Load a file into an engine: what answers, and what it is asked."""
    if asked.startswith(plain.MARK):
        return plain.opened(engine, path), plain.read(asked)
    opener = OPENERS.get(engine)
    if asked.isdecimal():
        question = workloads()[int(asked)].question
    else:
        brought, question = read(asked)
        opener = opener if engine != "cer-gpu" else lambda path: open_brought(brought)
    return open_command(engine.partition(":")[2], path) if opener is None else opener(path), question


def _measured(engine: str, count: Any, question: Question | plain.PlainForm, runs: int) -> dict[str, Any]:
    first = _timed(count, question)
    answers = [first] if first.seconds > LONG else [_timed(count, question) for _ in range(runs)]
    for answer in answers:
        if (answer.number, answer.sums) != (first.number, first.sums):
            raise ValueError(f"{engine} says {first.number} and then {answer.number}")
    if isinstance(count, Program):
        peak = count.peak()
        count.close()
    else:
        peak = peak_bytes() + sum(map(high_water, below(os.getpid())))
    return {
        "number": first.number,
        "sums": first.sums,
        "seconds": [one.seconds for one in answers],
        "processor": [one.processor for one in answers],
        "peak": peak,
    }


def _forget_peaks() -> None:
    # A process that has answered other questions before has another peak for this one.
    for process in (os.getpid(), *below(os.getpid())):
        with suppress(OSError):  # where there is no /proc, or it may not be written
            Path(f"/proc/{process}/clear_refs").write_text("5")


def _timed(count: Any, question: Question | plain.PlainForm) -> Answer:
    if isinstance(count, Program):
        return count(question)
    begin, used = time.perf_counter(), time.process_time()
    found = count(question)
    seconds, processor = time.perf_counter() - begin, time.process_time() - used
    number, sums = question.digest(found) if isinstance(question, plain.PlainForm) else (found, ())
    return Answer(number, seconds, processor, sums)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""One engine and one question, in a process of its own.

`python -m bench.rivals.one ENGINE NUMBER FILE RUNS` loads a Parquet file, asks the question of this number
once to warm up and RUNS times more, and prints `{"number": ..., "seconds": [...], "load": ..., "peak": ...}`:
the count, the seconds of each run, those of loading, and the most bytes of resident memory.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

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


OPENERS: dict[str, Callable[[str], Count]] = {
    "cer-gpu": open_ours,
    "duckdb": open_duckdb,
    "chdb": open_chdb,
    "polars": open_polars,
    "pandas": open_pandas,
}


def main(engine: str, number: str, path: str, runs: str) -> None:
    """Measure one question in this process."""
    question = workloads()[int(number)].question
    begin = time.perf_counter()
    count = OPENERS[engine](path)
    load = time.perf_counter() - begin
    counted = count(question)
    seconds = []
    for _ in range(int(runs)):
        begin = time.perf_counter()
        again = count(question)
        seconds.append(time.perf_counter() - begin)
        if again != counted:
            raise ValueError(f"{engine} says {counted} and then {again}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(json.dumps({"number": counted, "seconds": seconds, "load": load, "peak": peak}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The same answers listed by SQL: self-joins of DuckDB and chdb, in as many forms as help them.

`python -m bench.join_rivals ENGINE FORM JOIN WITHIN FILE RUNS SECONDS` loads a Parquet file of events
(relation, x, y, pos: as `rows_for_sql` makes them) into tables of the engine, one for each relation; lists
the answers once to compare them, then RUNS times more, or until SECONDS have passed, and prints
`{"number": ..., "checksum": ..., "seconds": [...]}`. Loading is not timed, and neither is the comparison.
DuckDB gives Arrow record batches, each dropped when the next is asked for, as ours are; chdb fills one buffer
in Arrow's format, which is not parsed while the time is taken.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from bench.joined import FEW, JOINS, Join, Listed, listed

ROWS = 122_880
"""Rows of a record batch of DuckDB: as many as in its row groups."""
SPAN = 1 << 28
"""Above every position and window: in key * SPAN + pos no window holds two keys."""
COLUMNS = "one.pos AS p0, two.pos AS p1, three.pos AS p2"
PLAIN, FILTERED, RANGES, HASHED, BUCKETED = "join", "filtered", "ranges", "hash", "bucketed"
ARROW = " SETTINGS output_format_arrow_compression_method = 'none'"

Read: TypeAlias = Callable[[str], Iterable[pa.RecordBatch]]
Drain: TypeAlias = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the engines write differently: the integer quotient, and a row for each member of a list."""

    quotient: str
    unnest: str


DUCKDB, CHDB = Dialect("({} // {})", "unnest"), Dialect("intDiv({}, {})", "arrayJoin")


def bounds(join: Join, within: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """The first and the last position that the second event may have, given the first; and the third."""
    if join.ascending:
        return ("one.pos + 1", f"one.pos + {within}"), ("two.pos + 1", f"one.pos + {within}")
    low, high = "greatest(one.pos, two.pos)", "least(one.pos, two.pos)"
    return (f"one.pos - {within}", f"one.pos + {within}"), (f"{low} - {within}", f"{high} + {within}")


def near(join: Join, within: int) -> tuple[str, str]:
    """The window as conditions."""
    (low, high), (low_too, high_too) = bounds(join, within)
    return (
        f"two.pos >= {low} AND two.pos <= {high}",
        f"three.pos >= {low_too} AND three.pos <= {high_too}",
    )


def equal(join: Join) -> tuple[str, str]:
    """The equalities as conditions."""
    return (
        " AND ".join(f"one.{key} = two.{key}" for key in join.first),
        " AND ".join(f"two.{key} = three.{key}" for key in join.second),
    )


def plain(join: Join, within: int) -> str:
    """The plain form: equal keys, and the positions in a window."""
    (same, same_too), (close, close_too) = equal(join), near(join, within)
    return (
        f"SELECT {COLUMNS} FROM r0 AS one JOIN r1 AS two ON {same} AND {close} "
        f"JOIN r2 AS three ON {same_too} AND {close_too}"
    )


def filtered(join: Join, within: int) -> str:
    """Joined by the keys alone, then filtered by the window."""
    same, same_too = equal(join)
    return (
        f"SELECT {COLUMNS} FROM r0 AS one JOIN r1 AS two ON {same} JOIN r2 AS three ON {same_too} "
        f"WHERE {' AND '.join(near(join, within))}"
    )


def ranges(join: Join, within: int) -> str:
    """Only inequalities, on key and position as one number: DuckDB then joins by ranges, not by hash."""

    def base(keys: tuple[str, ...]) -> str:
        key = f"x::BIGINT * {FEW} + y" if len(keys) > 1 else f"{keys[0]}::BIGINT"
        return f"({key}) * {SPAN}"

    first, second = base(join.first), base(join.second)
    (low, high), (low_too, high_too) = bounds(join, within)
    return (
        f"WITH one AS (SELECT pos, {first} AS base FROM r0), "
        f"two AS (SELECT pos, {first} + pos AS at, {second} AS base FROM r1), "
        f"three AS (SELECT pos, {second} + pos AS at FROM r2) "
        f"SELECT {COLUMNS} FROM one JOIN two ON two.at >= one.base + {low} AND two.at <= one.base + {high} "
        f"JOIN three ON three.at >= two.base + {low_too} AND three.at <= two.base + {high_too}"
    )


def bucketed(join: Join, within: int, dialect: Dialect) -> str:
    """Positions cut into buckets as wide as the window: joined by hash on the keys and the bucket.

    The first relation, and then the pairs, are entered in each bucket that their window reaches into.
    """
    (same, same_too), (close, close_too) = equal(join), near(join, within)

    def bucket(position: str) -> str:
        # One more, so that no number is below zero.
        return dialect.quotient.format(f"({position} + {within})", within)

    def buckets(low: str, high: str) -> str:
        return f"{dialect.unnest}(range({bucket(low)}, {bucket(high)} + 1))"

    (low, high), (low_too, high_too) = bounds(join, within)
    keys = ", ".join(f"two.{key} AS {key}" for key in join.second)
    # The pairs are called as their events are: `one.pos`, `two.pos` are columns of them.
    renamed = [text.replace("one.", "pair.one_").replace("two.", "pair.two_") for text in (low_too, high_too)]
    condition = close_too.replace("one.", "pair.one_").replace("two.", "pair.two_")
    equalities = same_too.replace("two.", "pair.")
    return (
        f"WITH ones AS (SELECT x, y, pos, {buckets(low, high)} AS bucket FROM r0 AS one), "
        f"twos AS (SELECT x, y, pos, {bucket('pos')} AS bucket FROM r1), "
        f"threes AS (SELECT x, y, pos, {bucket('pos')} AS bucket FROM r2), "
        f"pairs AS (SELECT {keys}, one.pos AS one_pos, two.pos AS two_pos FROM ones AS one JOIN twos AS two "
        f"ON {same} AND one.bucket = two.bucket WHERE {close}), "
        f"spread AS (SELECT {', '.join(join.second)}, one_pos, two_pos, {buckets(*renamed)} AS bucket "
        f"FROM pairs AS pair) "
        f"SELECT pair.one_pos AS p0, pair.two_pos AS p1, three.pos AS p2 FROM spread AS pair "
        f"JOIN threes AS three ON {equalities} AND pair.bucket = three.bucket WHERE {condition}"
    )


FORMS: dict[str, dict[str, Callable[[Join, int], str]]] = {
    "duckdb": {
        PLAIN: plain,
        RANGES: ranges,
        BUCKETED: lambda join, within: bucketed(join, within, DUCKDB),
    },
    "chdb": {
        PLAIN: plain,
        FILTERED: filtered,
        HASHED: plain,
        BUCKETED: lambda join, within: bucketed(join, within, CHDB),
    },
}


def open_duckdb(path: str, join: Join, form: str) -> tuple[Read, Drain]:
    """Load a file into DuckDB.

    Returns
    -------
    read : function from a query to the record batches of its answers
    drain : function that runs a query and drops the record batches
    """
    import duckdb

    connection = duckdb.connect()
    for place in range(len(join.relations)):
        connection.execute(
            f"CREATE TABLE r{place} AS SELECT x, y, pos FROM read_parquet(?) WHERE relation = ? ORDER BY pos",
            [path, place],
        )

    def read(text: str) -> Iterable[pa.RecordBatch]:
        return connection.execute(text).to_arrow_reader(ROWS)

    return read, lambda text: sum(batch.num_rows for batch in read(text))


def open_chdb(path: str, join: Join, form: str) -> tuple[Read, Drain]:
    """Load a file into chdb, sorted by key; as `open_duckdb`."""
    from chdb.session import Session

    session = Session()
    if form == HASHED:
        session.query("SET join_algorithm = 'hash'")
    for place in range(len(join.relations)):
        keys = join.first if place < 2 else join.second
        session.query(
            f"CREATE TABLE r{place} (x Int32, y Int32, pos Int32) ENGINE = MergeTree "
            f"ORDER BY ({', '.join(keys)}, pos)"
        )
        session.query(
            f"INSERT INTO r{place} SELECT x, y, pos FROM file('{path}', Parquet) WHERE relation = {place} "
            "SETTINGS use_structure_from_insertion_table_in_table_functions = 0"
        )
        session.query(f"OPTIMIZE TABLE r{place} FINAL")

    def read(text: str) -> Iterable[pa.RecordBatch]:
        return pa.ipc.open_stream(session.query(text + ARROW, "ArrowStream").bytes())

    return read, lambda text: session.query(text + ARROW, "ArrowStream")


OPENERS = {"duckdb": open_duckdb, "chdb": open_chdb}


def main(engine: str, form: str, name: str, within: str, path: str, runs: str, patience: str) -> None:
    """Measure one form in this process."""
    join = JOINS[name]
    read, drain = OPENERS[engine](path, join, form)
    text = FORMS[engine][form](join, int(within))
    started = time.perf_counter()
    found = Listed()
    for batch in read(text):
        found += listed(tuple(batch.column(f"p{place}").to_numpy() for place in range(3)))
    seconds: list[float] = []
    while len(seconds) < int(runs):
        begin = time.perf_counter()
        drain(text)
        end = time.perf_counter()
        seconds.append(end - begin)
        if end - started + seconds[-1] > float(patience):
            break
    record = {"number": found.number, "checksum": found.checksum, "seconds": seconds}
    sys.stdout.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

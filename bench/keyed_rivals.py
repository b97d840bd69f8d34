"""The same matches counted by SQL: self-joins of DuckDB and chdb, in all forms that may be fast.

`python -m bench.keyed_rivals ENGINE FORM WITHIN FILE RUNS` loads a Parquet file of events (type, key, ts)
into an in-memory table of the engine, in the types that suit it best, runs the query once to warm up and RUNS
times more, and prints `{"number": ..., "seconds": [...]}`. Loading is not timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench.counted_rival import number_of_chdb, number_of_duckdb, print_counted

TYPE_NAMES = ", ".join(f"'{name}'" for name in "ABCDEFGHIJ")
SPAN = 1 << 32
"""Above every time and window: in key * SPAN + ts no window holds two keys."""

JOIN = """
SELECT count(*) FROM events a JOIN events b ON a.key = b.key AND b.ts > a.ts AND b.ts <= a.ts + {w}
JOIN events c ON c.key = b.key AND c.ts > b.ts AND c.ts <= a.ts + {w}
WHERE a.type = 'A' AND b.type = 'B' AND c.type = 'C'
"""
SPLIT = "WITH " + ", ".join(
    f"{name} AS {{m}} (SELECT key, ts FROM events WHERE type = '{name.upper()}')" for name in "abc"
)
STAGED = (
    SPLIT
    + """
SELECT count(*) FROM a JOIN b ON a.key = b.key AND b.ts > a.ts AND b.ts <= a.ts + {w}
JOIN c ON c.key = b.key AND c.ts > b.ts AND c.ts <= a.ts + {w}
"""
)
FILTERED = (
    SPLIT
    + """
SELECT count(*) FROM a JOIN b ON a.key = b.key JOIN c ON c.key = b.key
WHERE b.ts > a.ts AND b.ts <= a.ts + {w} AND c.ts > b.ts AND c.ts <= a.ts + {w}
"""
)
# Buckets as wide as the window: what a window from `a` holds is in a's bucket or in the next.
BUCKETS = """
WITH a AS (SELECT key, ts, {buckets} AS bucket FROM events {unnested} WHERE type = 'A'),
b AS (SELECT key, ts, {div} AS bucket FROM events WHERE type = 'B'),
c AS (SELECT key, ts, {div} AS bucket FROM events WHERE type = 'C'),
ab AS (SELECT a.key AS key, a.ts AS first, b.ts AS ts FROM a JOIN b
  ON a.key = b.key AND a.bucket = b.bucket AND b.ts > a.ts AND b.ts <= a.ts + {w}),
abx AS (SELECT key, first, ts, {buckets_ab} AS bucket FROM ab {unnested_ab})
SELECT count(*) FROM abx JOIN c
  ON abx.key = c.key AND abx.bucket = c.bucket AND c.ts > abx.ts AND c.ts <= abx.first + {w}
"""
DUCKDB_BUCKETS = {
    "buckets": "unnest([ts // {w}, ts // {w} + 1])",
    "unnested": "",
    "div": "ts // {w}",
    "buckets_ab": "unnest([first // {w}, first // {w} + 1])",
    "unnested_ab": "",
}
CHDB_BUCKETS = {
    "buckets": "x",
    "unnested": "ARRAY JOIN [intDiv(ts, {w}), intDiv(ts, {w}) + 1] AS x",
    "div": "intDiv(ts, {w})",
    "buckets_ab": "x",
    "unnested_ab": "ARRAY JOIN [intDiv(first, {w}), intDiv(first, {w}) + 1] AS x",
}
# Only inequalities: DuckDB then joins by ranges (IEJoin or piecewise merge join) instead of by hash.
RANGES = """
WITH a AS (SELECT key * {span} + ts AS k FROM events WHERE type = 'A'),
b AS (SELECT key * {span} + ts AS k FROM events WHERE type = 'B'),
c AS (SELECT key * {span} + ts AS k FROM events WHERE type = 'C')
SELECT count(*) FROM a JOIN b ON b.k > a.k AND b.k <= a.k + {w} JOIN c ON c.k > b.k AND c.k <= a.k + {w}
"""
# No self-join: prefix sums by window functions, a formula for this one pattern. Shown beside the joins.
WINDOWS = """
WITH t AS (
  SELECT key, ts, type, sum({is_a}) OVER (PARTITION BY key ORDER BY ts ROWS UNBOUNDED PRECEDING) AS earlier
  FROM events WHERE type IN ('A', 'B', 'C')),
u AS (
  SELECT type, earlier - sum({is_a}) OVER r AS low, sum({is_b} * earlier) OVER r AS s, sum({is_b}) OVER r AS n
  FROM t WINDOW r AS (PARTITION BY key ORDER BY ts RANGE BETWEEN {w} PRECEDING AND CURRENT ROW))
SELECT sum(s - n * low) FROM u WHERE type = 'C'
"""
DUCKDB_FLAGS = {"is_a": "(type = 'A')::BIGINT", "is_b": "(type = 'B')::BIGINT"}
CHDB_FLAGS = {"is_a": "toInt64(type = 'A')", "is_b": "toInt64(type = 'B')"}

BUCKETED = "bucketed"
"""The form that cuts time into buckets by hand, so that buckets can be joined by hash."""
NO_JOIN = "windows"
"""The form that is not a self-join."""
NUMBERED = "windows over numbered rows"
"""The same for a window that counts events: the query numbers the rows of each key itself."""


def _bucketed(parts: dict[str, str]) -> str:
    return BUCKETS.format(w="{w}", **parts)


def _flagged(flags: dict[str, str]) -> str:
    return WINDOWS.format(w="{w}", **flags)


FORMS: dict[str, dict[str, str]] = {
    "duckdb": {
        "join": JOIN,
        "staged": STAGED.replace("{m}", "MATERIALIZED"),
        "ranges": RANGES,
        BUCKETED: _bucketed(DUCKDB_BUCKETS),
        NO_JOIN: _flagged(DUCKDB_FLAGS),
    },
    "chdb": {
        "staged": STAGED.replace("{m}", ""),
        "filtered": FILTERED.replace("{m}", ""),
        "hash": STAGED.replace("{m}", "") + " SETTINGS join_algorithm = 'hash'",
        BUCKETED: _bucketed(CHDB_BUCKETS),
        NO_JOIN: _flagged(CHDB_FLAGS),
    },
}


OF_EVENTS: dict[str, dict[str, str]] = {
    "duckdb": {
        NUMBERED: _flagged(DUCKDB_FLAGS).replace(
            "FROM events WHERE",
            "FROM (SELECT key, type, row_number() OVER (PARTITION BY key ORDER BY ts) AS ts FROM events) "
            "WHERE",
        )
    }
}
"""Forms for a window that counts the events of a key."""


def query_text(engine: str, form: str, within: int) -> str:
    """The SQL of a form for a window."""
    forms = FORMS[engine] | OF_EVENTS.get(engine, {})
    return forms[form].replace("{span}", str(SPAN)).replace("{w}", str(within))


def open_duckdb(path: str) -> Callable[[str], int]:
    """Load a file into DuckDB; gives the function that runs a query with one number as answer."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"CREATE TYPE event_type AS ENUM ({TYPE_NAMES})")
    connection.execute(
        "CREATE TABLE events AS "
        "SELECT type::VARCHAR::event_type AS type, key, ts FROM read_parquet(?) ORDER BY ts",
        [path],
    )

    return number_of_duckdb(connection)


def open_chdb(path: str) -> Callable[[str], int]:
    """Load a file into chdb, sorted by key and time; gives the function that runs a query."""
    from chdb.session import Session

    session = Session()
    codes = ", ".join(f"'{name}' = {code}" for code, name in enumerate("ABCDEFGHIJ"))
    session.query(
        f"CREATE TABLE events (type Enum8({codes}), key Int64, ts Int64) "
        "ENGINE = MergeTree ORDER BY (key, ts)"
    )
    session.query(f"INSERT INTO events SELECT toString(type), key, ts FROM file('{path}', Parquet)")
    session.query("OPTIMIZE TABLE events FINAL")

    return number_of_chdb(session)


OPENERS = {"duckdb": open_duckdb, "chdb": open_chdb}


def main(engine: str, form: str, within: str, path: str, runs: str) -> None:
    """Measure one form in this process."""
    run = OPENERS[engine](path)
    text = query_text(engine, form, int(within))
    print_counted(engine, lambda: run(text), int(runs))


if __name__ == "__main__":
    main(*sys.argv[1:])

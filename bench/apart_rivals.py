"""The same matches counted by SQL and by Polars: self-joins that compare the first event with the third.

`python -m bench.apart_rivals ENGINE FORM WITHIN FILE RUNS` loads a Parquet file of events (type, key, place,
price) into an in-memory table of the engine, runs the query once to warm up and RUNS times more, and prints
`{"number": ..., "seconds": [...]}`. Loading is not timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench.counted_rival import number_of_chdb, number_of_duckdb, print_counted

SPAN = 1 << 32
"""Above every place and window: in key * SPAN + place no window holds two keys."""

SPLIT = "WITH " + ", ".join(
    f"{name} AS {{m}} (SELECT key, place, price FROM events WHERE type = '{name.upper()}')" for name in "abc"
)

JOINED = """
SELECT count(*) FROM a JOIN b ON a.key = b.key AND b.place > a.place AND b.place <= a.place + {w}
JOIN c ON c.key = b.key AND c.place > b.place AND c.place <= a.place + {w} AND c.price > a.price
"""

FILTERED = """
SELECT count(*) FROM a JOIN b ON a.key = b.key JOIN c ON c.key = b.key
WHERE b.place > a.place AND b.place <= a.place + {w} AND c.place > b.place AND c.place <= a.place + {w}
AND c.price > a.price
"""

# Only inequalities: DuckDB then joins by ranges (IEJoin or piecewise merge join) instead of by hash.
RANGES = """
WITH a AS (SELECT key * {span} + place AS k, price FROM events WHERE type = 'A'),
b AS (SELECT key * {span} + place AS k FROM events WHERE type = 'B'),
c AS (SELECT key * {span} + place AS k, price FROM events WHERE type = 'C')
SELECT count(*) FROM a JOIN b ON b.k > a.k AND b.k <= a.k + {w}
JOIN c ON c.k > b.k AND c.k <= a.k + {w} AND c.price > a.price
"""

# Buckets as wide as the window: what a window from `a` holds is in a's bucket or in the next.
BUCKETS = """
WITH a AS (SELECT key, place, price, {buckets} AS bucket FROM events {unnested} WHERE type = 'A'),
b AS (SELECT key, place, {div} AS bucket FROM events WHERE type = 'B'),
c AS (SELECT key, place, price, {div} AS bucket FROM events WHERE type = 'C'),
ab AS (SELECT a.key AS key, a.place AS first, a.price AS price, b.place AS place FROM a JOIN b
  ON a.key = b.key AND a.bucket = b.bucket AND b.place > a.place AND b.place <= a.place + {w}),
abx AS (SELECT key, first, place, price, {buckets_ab} AS bucket FROM ab {unnested_ab})
SELECT count(*) FROM abx JOIN c ON abx.key = c.key AND abx.bucket = c.bucket
  AND c.place > abx.place AND c.place <= abx.first + {w} AND c.price > abx.price
"""

DUCKDB_BUCKETS = {
    "buckets": "unnest([place // {w}, place // {w} + 1])",
    "unnested": "",
    "div": "place // {w}",
    "buckets_ab": "unnest([first // {w}, first // {w} + 1])",
    "unnested_ab": "",
}

CHDB_BUCKETS = {
    "buckets": "x",
    "unnested": "ARRAY JOIN [intDiv(place, {w}), intDiv(place, {w}) + 1] AS x",
    "div": "intDiv(place, {w})",
    "buckets_ab": "x",
    "unnested_ab": "ARRAY JOIN [intDiv(first, {w}), intDiv(first, {w}) + 1] AS x",
}

BUCKETED = "bucketed"
"""The form that cuts places into buckets by hand, so that buckets can be joined by hash."""

FORMS: dict[str, dict[str, str]] = {
    "duckdb": {
        "staged": (SPLIT + JOINED).replace("{m}", "MATERIALIZED"),
        "ranges": RANGES,
        BUCKETED: BUCKETS.format(w="{w}", **DUCKDB_BUCKETS),
    },
    "chdb": {
        "staged": (SPLIT + JOINED).replace("{m}", ""),
        "filtered": (SPLIT + FILTERED).replace("{m}", ""),
        BUCKETED: BUCKETS.format(w="{w}", **CHDB_BUCKETS),
    },
    "polars": {"ranges": ""},
}


def open_duckdb(path: str) -> Callable[[str], int]:
    """Load a file into DuckDB; gives the function that runs a query with one number as answer."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TYPE event_type AS ENUM ('A', 'B', 'C')")
    connection.execute(
        "CREATE TABLE events AS SELECT type::VARCHAR::event_type AS type, key::BIGINT AS key, place, price "
        "FROM read_parquet(?) ORDER BY place",
        [path],
    )

    return number_of_duckdb(connection)


def open_chdb(path: str) -> Callable[[str], int]:
    """Load a file into chdb, sorted by key and place; gives the function that runs a query."""
    from chdb.session import Session

    session = Session()
    session.query(
        "CREATE TABLE events (type Enum8('A' = 0, 'B' = 1, 'C' = 2), key Int64, place Int64, price Float64) "
        "ENGINE = MergeTree ORDER BY (key, place)"
    )
    session.query(f"INSERT INTO events SELECT toString(type), key, place, price FROM file('{path}', Parquet)")
    session.query("OPTIMIZE TABLE events FINAL")

    return number_of_chdb(session)


def open_polars(path: str) -> Callable[[str], int]:
    """Load a file into Polars; gives the function that joins by ranges, for a window written as a number."""
    import polars
    from polars import col

    whole = polars.read_parquet(path).with_columns(
        (col("key").cast(polars.Int64) * SPAN + col("place")).alias("k")
    )
    a, b, c = (whole.filter(col("type") == name).select("k", "price") for name in "ABC")

    def run(text: str) -> int:
        within = int(text)
        first = a.rename({"k": "first", "price": "low"}).with_columns((col("first") + within).alias("until"))
        pairs = first.lazy().join_where(
            b.lazy().select("k"), col("k") > col("first"), col("k") <= col("until")
        )
        triples = pairs.join_where(
            c.lazy().rename({"k": "third"}), col("third") > col("k"), col("third") <= col("until"),
            col("price") > col("low"),
        )  # fmt: skip
        return int(triples.select(polars.len()).collect().item())

    return run


OPENERS = {"duckdb": open_duckdb, "chdb": open_chdb, "polars": open_polars}


def main(engine: str, form: str, within: str, path: str, runs: str) -> None:
    """Measure one form in this process."""
    run = OPENERS[engine](path)
    text = FORMS[engine][form].replace("{span}", str(SPAN)).replace("{w}", within) or within
    print_counted(engine, lambda: run(text), int(runs))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Sessions by the window functions of DuckDB and Polars: the same questions, on tables in memory."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

SESSIONS = """
WITH gaps AS (SELECT key, ts, ts - lag(ts) OVER (PARTITION BY key ORDER BY ts) AS gap FROM clicks),
numbered AS (SELECT key, ts, sum(CASE WHEN gap IS NULL OR gap > {gap} THEN 1 ELSE 0 END)
  OVER (PARTITION BY key ORDER BY ts ROWS UNBOUNDED PRECEDING) AS session FROM gaps),
sessions AS (SELECT key, session, min(ts) AS first, max(ts) AS last, count(*) AS clicks
  FROM numbered GROUP BY key, session)
"""


def duckdb_rival(clicks: pa.Table, gap: int, counted: bool) -> Callable[[], int]:
    """The question in DuckDB: how many runs of neighbouring clicks, or how many sessions are listed."""
    import duckdb

    connection = duckdb.connect()
    connection.register("given", clicks)
    connection.execute("CREATE TABLE clicks AS SELECT * FROM given")
    text = SESSIONS.format(gap=gap)
    if counted:
        summed = text + "SELECT sum(clicks * (clicks + 1) // 2) FROM sessions"

        def count() -> int:
            return int(connection.sql(summed).fetchall()[0][0])

        return count

    def listed() -> int:
        found: pa.Table = connection.sql(text + "SELECT * FROM sessions").to_arrow_table()
        return len(found)

    return listed


def polars_rival(clicks: pa.Table, gap: int, counted: bool) -> Callable[[], int]:
    """The question in Polars."""
    import polars

    frame = polars.DataFrame(clicks)
    begins = (polars.col("ts").diff().over("key") > gap).fill_null(True)
    sessions = (
        frame.lazy()
        .with_columns(begins.cast(polars.Int32).cum_sum().over("key").alias("session"))
        .group_by("key", "session")
        .agg(
            polars.col("ts").min().alias("first"),
            polars.col("ts").max().alias("last"),
            polars.len().cast(polars.Int64).alias("clicks"),
        )
    )
    if counted:
        runs = polars.col("clicks") * (polars.col("clicks") + 1) // 2
        return lambda: int(sessions.select(runs.sum()).collect().item())
    return lambda: sessions.collect().height

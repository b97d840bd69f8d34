"""Sessions by the window functions of DuckDB and Polars: the same questions, on tables in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pyarrow as pa

Asked = Literal["runs", "sizes", "positions"]
"""How many runs of neighbouring clicks there are; each session with its size; or with a list of its rows."""

SESSIONS = """
WITH gaps AS (SELECT row, key, ts, ts - lag(ts) OVER (PARTITION BY key ORDER BY ts) AS gap FROM clicks),
numbered AS (SELECT row, key, ts, sum(CASE WHEN gap IS NULL OR gap > {gap} THEN 1 ELSE 0 END)
  OVER (PARTITION BY key ORDER BY ts ROWS UNBOUNDED PRECEDING) AS session FROM gaps),
sessions AS (SELECT key, session, min(ts) AS first, max(ts) AS last, {clicks} AS clicks
  FROM numbered GROUP BY key, session)
"""


def duckdb_rival(clicks: pa.Table, gap: int, asked: Asked) -> Callable[[], int]:
    """The question in DuckDB: the number of runs, or of sessions that are listed."""
    import duckdb

    connection = duckdb.connect()
    connection.register("given", clicks.append_column("row", pa.array(np.arange(len(clicks)))))
    connection.execute("CREATE TABLE clicks AS SELECT * FROM given")
    within = "list(row ORDER BY ts)" if asked == "positions" else "count(*)"
    text = SESSIONS.format(gap=gap, clicks=within)
    if asked == "runs":
        summed = text + "SELECT sum(clicks * (clicks + 1) // 2) FROM sessions"

        def count() -> int:
            return int(connection.sql(summed).fetchall()[0][0])

        return count

    def listed() -> int:
        found: pa.Table = connection.sql(text + "SELECT * FROM sessions").to_arrow_table()
        return len(found)

    return listed


def polars_rival(clicks: pa.Table, gap: int, asked: Asked) -> Callable[[], int]:
    """The question in Polars."""
    import polars

    frame = polars.DataFrame(clicks)
    begins = (polars.col("ts").diff().over("key") > gap).fill_null(True)
    number = polars.len().cast(polars.Int64)
    rows = frame.lazy().with_row_index("row") if asked == "positions" else frame.lazy()
    sessions = (
        rows.with_columns(begins.cast(polars.Int32).cum_sum().over("key").alias("session"))
        .group_by("key", "session")
        .agg(
            polars.col("ts").min().alias("first"),
            polars.col("ts").max().alias("last"),
            (polars.col("row") if asked == "positions" else number).alias("clicks"),
        )
    )
    if asked == "runs":
        runs = polars.col("clicks") * (polars.col("clicks") + 1) // 2
        return lambda: int(sessions.select(runs.sum()).collect().item())
    return lambda: sessions.collect().height

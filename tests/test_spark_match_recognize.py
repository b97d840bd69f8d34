"""`cer_spark.match_recognize`: rows are those of `cer.match_recognize`, however they lie in Spark."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spark_sessions
from random_row_patterns import SCHEMA, ClauseDraft, random_rows

import cer_gpu as cer
from cer_gpu.patterns.tree import SortKey

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

from row_pattern_sql import clause_sql

pytestmark = spark_sessions.GROUP

V_SHAPE = """SELECT * FROM {} MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY ts
    MEASURES FIRST(down.price) AS top, LAST(up.price) AS high, MATCH_NUMBER() AS n, COUNT(*) AS days
    PATTERN (start down+ up+) DEFINE down AS price < PREV(price), up AS price > PREV(price)
) AS m"""


def trades(rows: int = 3_000, symbols: int = 20) -> pa.Table:
    """Prices of some symbols, one of which is null; no two rows have the same time."""
    rng = np.random.default_rng(rows)
    keys = rng.integers(0, symbols, rows)
    return pa.table(
        {
            "symbol": pa.array([None if key == 7 else f"s{key}" for key in keys.tolist()]),
            "ts": pa.array(rng.permutation(rows) * 1_000_000, pa.timestamp("us", "UTC")),
            "price": rng.integers(0, 50, rows),
            "a.b": rng.random(rows),
            "none": pa.array([f"{key}" for key in keys.tolist()]),
        }
    )


@pytest.fixture(scope="module")
def matched(spark: Any) -> Any:
    """A function that gives the rows of a statement on Spark, over tables by their names."""
    from cer_gpu import spark as cer_spark

    def ask(sql: str, parts: int = 3, **tables: pa.Table) -> pa.Table:
        given = {name: tables.pop(name) for name in ("dialect", "params") if name in tables}
        for name, table in tables.items():
            spark.createDataFrame(table).repartition(parts).createOrReplaceTempView(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cer_spark.match_recognize(sql, spark, **given).toArrow()

    return ask


def listed(table: pa.Table) -> list[str]:
    """Rows as texts, sorted; all NaN are alike, and so are the two zeros."""
    rows = [{name: 0.0 if value == 0 else value for name, value in row.items()} for row in table.to_pylist()]
    return sorted(map(repr, rows))


def test_rows_are_those_of_one_machine(matched: Any) -> None:
    table = trades()
    sql = V_SHAPE.format("trades")
    expected = cer.match_recognize(sql, trades=table).to_arrow()
    found = matched(sql, trades=table)
    assert found.schema.names == expected.schema.names
    assert len(expected) > 300
    assert listed(found) == listed(expected)


@pytest.mark.parametrize("rows", ["ALL ROWS PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"])
def test_all_rows_have_all_columns(matched: Any, rows: str) -> None:
    table = trades(300)
    sql = V_SHAPE.format("trades").replace("PATTERN", f"{rows} PATTERN")
    expected = cer.match_recognize(sql, trades=table).to_arrow()
    found = matched(sql, trades=table)
    assert found.schema.names == expected.schema.names
    assert listed(found) == listed(expected)


@pytest.mark.draws("seed", 24)
def test_random_clauses(matched: Any, seed: int) -> None:
    rng = Random(f"spark {seed}")
    table = pa.Table.from_pylist(random_rows(rng, 30), SCHEMA)
    # No rows tie: their order is lost by a shuffle.
    seconds = np.cumsum(rng.choices((1, 2, 5), k=len(table)))
    times = pa.array(seconds * 1_000_000, pa.timestamp("us", "UTC"))
    table = table.set_column(1, "t", times)
    sql = clause_sql(ClauseDraft(rng).clause())
    source = re.match(r"SELECT \* FROM (\w+)", sql)
    assert source is not None
    try:
        expected = cer.match_recognize(sql, dialect="duckdb", **{source[1]: table}).to_arrow()
    except (cer.QueryError, cer.DataError) as error:
        with pytest.raises(Exception, match=re.escape(str(error).split("\n")[0][-60:])):
            matched(sql, **{source[1]: table, "dialect": "duckdb"})
        return
    found = matched(sql, **{source[1]: table, "dialect": "duckdb"})
    assert listed(found) == listed(expected), sql


def test_tables_views_files_and_subqueries(matched: Any, spark: Any, tmp_path: Path) -> None:
    table = trades(500)
    path = tmp_path / "some trades.parquet"
    pq.write_table(table, path)
    expected = listed(matched(V_SHAPE.format("trades"), trades=table))
    assert len(expected) > 40
    for source in (
        f"'{path}'",
        f"parquet.`{path}`",
        "TRADES",
        "(SELECT * FROM trades)",
        "(SELECT symbol, ts, price FROM trades WHERE price >= 0) t",
        "(SELECT *, '{braces}' AS c FROM trades)",
    ):
        assert listed(matched(V_SHAPE.format(source))) == expected, source
    later = spark.table("trades").where("ts >= TIMESTAMP '1970-01-01 00:04:00Z'")
    later.createOrReplaceTempView("later")
    assert listed(matched(V_SHAPE.format("later"))) != expected


def test_the_select_around_and_several_clauses(matched: Any) -> None:
    table = trades(500)
    inner = V_SHAPE.format("trades").replace("*", "symbol, high, days", 1)
    sums = f"SELECT symbol, COUNT(*) AS n, MAX(high) AS most FROM ({inner}) GROUP BY symbol ORDER BY symbol"
    around = matched(sums, trades=table)
    assert around.to_pylist() == sorted(
        cer.match_recognize(sums, trades=table).to_arrow().to_pylist(),
        key=lambda row: (row["symbol"] is not None, row["symbol"]),
    )
    nested = f"""SELECT * FROM ({inner}) MATCH_RECOGNIZE (
        PARTITION BY symbol ORDER BY high, days MEASURES COUNT(*) AS n, LAST(high) AS l
        PATTERN (x+) DEFINE x AS high > 10)"""
    assert listed(matched(nested, trades=table)) == listed(
        cer.match_recognize(nested, trades=table).to_arrow()
    )
    other = V_SHAPE.format("trades").replace("down+", "down").replace("AS m", "AS o")
    joined = f"""SELECT m.symbol, m.n, o.high FROM ({V_SHAPE.format("trades")}) m
        JOIN ({other}) o ON m.symbol = o.symbol AND m.n = o.n"""
    assert listed(matched(joined, trades=table)) == listed(
        cer.match_recognize(joined, trades=table).to_arrow()
    )


def test_parameters_and_dialects(matched: Any) -> None:
    table = trades(500)
    sql = V_SHAPE.format("trades").replace("price > PREV(price)", "price > PREV(price) + $least")
    expected = cer.match_recognize(sql, params={"least": 5}, trades=table).to_arrow()
    assert listed(matched(sql, trades=table, params={"least": 5})) == listed(expected)
    quoted = sql.replace("price < PREV", '"price" < PREV').replace("SELECT *", "SELECT symbol || '!' AS s")
    assert matched(quoted, params={"least": 5}, dialect="snowflake").num_rows == len(expected)


def test_one_task_without_a_key(spark: Any) -> None:
    from cer_gpu import spark as cer_spark

    table = trades(300)
    spark.createDataFrame(table).createOrReplaceTempView("trades")
    sql = V_SHAPE.format("trades").replace("PARTITION BY symbol", "")
    with pytest.warns(UserWarning, match="one task runs all rows of a MATCH_RECOGNIZE"):
        found = cer_spark.match_recognize(sql, spark)
    assert listed(found.toArrow()) == listed(cer.match_recognize(sql, trades=table).to_arrow())
    counted = "SELECT * FROM trades MATCH_RECOGNIZE (MEASURES COUNT(*) AS n PATTERN (a{7}))"
    with pytest.warns(UserWarning, match="one task runs all rows"):
        assert cer_spark.match_recognize(counted, spark).count() == 300 // 7


@pytest.fixture
def small_tasks(spark: Any) -> Iterator[None]:
    """Few rows are enough for several tasks."""
    spark.conf.set("spark.cer.rowsPerTask", "12")
    yield
    spark.conf.unset("spark.cer.rowsPerTask")


@pytest.mark.usefixtures("small_tasks")
def test_rows_without_a_key_are_cut_by_time(spark: Any) -> None:
    from cer_gpu import spark as cer_spark

    spark.conf.set("spark.cer.rowsPerTask", "100")
    table = trades(1_000)
    spark.createDataFrame(table).repartition(3).createOrReplaceTempView("trades")
    body = """ORDER BY ts
        MEASURES FIRST(down.price) AS top, PREV(FIRST(ts), 2) AS before, NEXT(LAST(ts), 3) AS n,
        MATCH_NUMBER() AS number {} PATTERN (start down+ up+) WITHIN INTERVAL '9' SECOND
        DEFINE down AS price < PREV(price), up AS price > PREV(price){}"""
    for rows in (
        "AFTER MATCH SKIP PAST LAST ROW",
        "AFTER MATCH SKIP TO NEXT ROW",
        "AFTER MATCH SKIP TO LAST up",
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
    ):
        for also in ("", " AND COUNT(*) < 5"):
            sql = f"SELECT * FROM trades MATCH_RECOGNIZE ({body.format(rows, also)})"
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)
                frame = cer_spark.match_recognize(sql, spark)
            assert "generate" in plan_of(frame).lower()  # each row for each segment that needs it
            expected = cer.match_recognize(sql, trades=table).to_arrow()
            assert len(expected) > 100
            assert listed(frame.toArrow()) == listed(expected), sql


@pytest.mark.draws("seed", 12)
@pytest.mark.usefixtures("small_tasks")
def test_random_clauses_are_cut_by_time(spark: Any, seed: int) -> None:
    from cer_gpu import spark as cer_spark

    rng = Random(f"cut {seed}")
    table = pa.Table.from_pylist(random_rows(rng, 90), SCHEMA)
    while len(table) < 45:
        table = pa.Table.from_pylist(random_rows(rng, 90), SCHEMA)
    seconds = np.cumsum(rng.choices((1, 2, 5), k=len(table)))
    table = table.set_column(1, "t", pa.array(seconds * 1_000_000, pa.timestamp("us", "UTC")))
    spark.createDataFrame(table).repartition(2).createOrReplaceTempView("t")
    for _ in range(5):
        clause = ClauseDraft(rng).clause()
        clause = replace(
            clause, partition_by=(), order_by=(SortKey("t"),), within=timedelta(seconds=rng.choice((2, 5, 9)))
        )
        sql = clause_sql(clause).replace("SELECT * FROM trades", "SELECT * FROM t", 1)
        try:
            expected = cer.match_recognize(sql, dialect="duckdb", t=table).to_arrow()
        except (cer.QueryError, cer.DataError, cer.LimitError):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cer_spark.match_recognize(sql, spark, dialect="duckdb").toArrow()
        assert listed(found) == listed(expected), sql


@pytest.mark.parametrize(
    ("clause", "why"),
    [
        ("ORDER BY ts MEASURES COUNT(*) AS n PATTERN (a b)", "neither PARTITION BY nor WITHIN"),
        (
            "ORDER BY ts DESC MEASURES COUNT(*) AS n PATTERN (a b) WITHIN INTERVAL '5' SECOND",
            "a time that descends",
        ),
        (
            "ORDER BY ts MEASURES COUNT(*) AS n PATTERN (a b) WITHIN INTERVAL '5' SECOND "
            "DEFINE a AS MATCH_NUMBER() < 9",
            r"MATCH_NUMBER\(\) in a condition",
        ),
        (
            "ORDER BY ts ALL ROWS PER MATCH WITH UNMATCHED ROWS AFTER MATCH SKIP TO NEXT ROW "
            "PATTERN (a b) WITHIN INTERVAL '5' SECOND",
            "rows that no match has",
        ),
    ],
)
def test_what_cannot_be_cut_is_told(spark: Any, clause: str, why: str) -> None:
    from cer_gpu import spark as cer_spark

    table = trades(100)
    spark.createDataFrame(table).createOrReplaceTempView("trades")
    sql = f"SELECT * FROM trades MATCH_RECOGNIZE ({clause})"
    with pytest.warns(UserWarning, match=f"one task runs all rows of a MATCH_RECOGNIZE, since it .*{why}"):
        found = cer_spark.match_recognize(sql, spark)
    assert listed(found.toArrow()) == listed(cer.match_recognize(sql, trades=table).to_arrow())


def plan_of(frame: Any) -> str:
    """The plan that Spark makes of a frame."""
    return str(frame._jdf.queryExecution().optimizedPlan().toString())


def test_rows_that_tie_are_ordered_by_their_other_columns(matched: Any) -> None:
    table = pa.table({"k": [1] * 50, "t": [n // 5 for n in range(50)], "v": list(range(49, -1, -1))})
    sql = """SELECT * FROM ties MATCH_RECOGNIZE (PARTITION BY k ORDER BY t
        MEASURES FIRST(v) AS f, LAST(v) AS l PATTERN (a b+) DEFINE b AS v > PREV(v))"""
    expected = listed(
        cer.match_recognize(sql, ties=table.sort_by([("t", "ascending"), ("v", "ascending")])).to_arrow()
    )
    assert len(expected) == 10
    for parts in (1, 2, 5):
        assert listed(matched(sql, parts, ties=table)) == expected


def test_times_are_taken_in_the_zone_of_the_session(matched: Any, spark: Any) -> None:
    table = trades(200)
    sql = """SELECT h FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts
        MEASURES EXTRACT(HOUR FROM a.ts) AS h, a.ts AS t PATTERN (a)
        DEFINE a AS ts < TIMESTAMP '1970-01-01 02:00:20') ORDER BY t"""
    zone = spark.conf.get("spark.sql.session.timeZone")
    try:
        for name, hour, rows in (("Europe/Berlin", 1, 200), ("Asia/Tokyo", 9, 0), ("UTC", 0, 200)):
            spark.conf.set("spark.sql.session.timeZone", name)
            found = matched(sql, trades=table)["h"].to_pylist()
            assert (found[:1], len(found)) == ([hour][: bool(rows)], rows), name
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


def test_groups_of_partitions_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, without Spark."""
    from cer_gpu.spark import row_pattern_worker as worker

    from cer_gpu.engine.rows import table_parts
    from cer_gpu.engine.rows.answers import RowPatternAnswer
    from cer_gpu.patterns.columns import resolved
    from cer_gpu.patterns.statement import read_statement

    table = trades(20_000, 50)
    sql = V_SHAPE.format("trades")
    clause = resolved(read_statement(sql).clauses[0], table.schema.names, sql)
    answer = RowPatternAnswer(clause, table.schema, sql)
    read = pa.schema([table.schema.field(name) for name in answer.columns])
    task = worker.RowPatternTask(answer, read, ("symbol",), ("ts",))
    run = worker.RowPatternWorker(task, answer.schema)
    expected = listed(cer.match_recognize(sql, trades=table).to_arrow())
    monkeypatch.setattr(table_parts, "BATCH", 1 << 10)
    monkeypatch.setattr(worker, "free_memory", lambda: 800_000 * worker.usable_cores())
    batches = list(run(table.select(read.names).to_batches(1_000)))
    assert len(batches) > 1
    assert listed(pa.Table.from_batches(batches)) == expected


def test_a_task_imports_nothing_that_reads_sql(matched: Any, spark: Any) -> None:
    matched(V_SHAPE.format("trades"), 1, trades=trades(50))

    def imported(_: Any) -> Any:
        yield pa.RecordBatch.from_pydict({"name": sorted(sys.modules)})

    names = spark.range(1).repartition(1).mapInArrow(imported, "name string").toArrow()["name"].to_pylist()
    assert "cer_gpu.engine.rows.answers" in names
    for name in ("sqlglot", "duckdb", "lark", "cer_gpu.patterns.statement", "cer_gpu.patterns.sql_language"):
        assert name not in names


def test_what_is_wrong_is_said_before_anything_runs(spark: Any) -> None:
    from cer_gpu import spark as cer_spark

    spark.createDataFrame(trades(50)).createOrReplaceTempView("trades")
    with pytest.raises(cer.QueryError, match="there is no column `prize`"):
        cer_spark.match_recognize(V_SHAPE.format("trades").replace("down.price", "down.prize"), spark)
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        cer_spark.match_recognize(V_SHAPE.format("nowhere"), spark)
    spark.sql("SELECT 1 AS i, INTERVAL '1' MONTH AS m").createOrReplaceTempView("odd")
    every = "SELECT * FROM odd MATCH_RECOGNIZE (PARTITION BY i ALL ROWS PER MATCH PATTERN (a))"
    with pytest.raises(cer.DataError, match="columns of these types cannot be read: `m`"):
        cer_spark.match_recognize(every, spark)
    assert cer_spark.match_recognize(every.replace("ALL ROWS", "ONE ROW"), spark).columns == ["i"]


def test_spark_connect(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from cer_gpu import spark as cer_spark

    # What a process that speaks to a server alone has: PySpark's functions then make columns for it.
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    table = trades(300)
    connect.createDataFrame(table).createOrReplaceTempView("connected")
    sql = f"SELECT symbol, COUNT(*) AS n FROM ({V_SHAPE.format('connected')}) GROUP BY symbol"
    expected = cer.match_recognize(sql, connected=table).to_arrow()
    assert listed(cer_spark.match_recognize(sql, connect).toArrow()) == listed(expected)

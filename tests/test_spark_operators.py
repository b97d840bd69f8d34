"""The operators on a Spark session: every route gives what the local engine gives."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spark_sessions
from cer_gpu.spark import routes
from cer_gpu.spark.binding import task_of
from cer_gpu.spark.segments import numbers_apart, partition_of
from generate import stream, stream_to_table, unary_query
from spark_tasks import ROW, numbered, shuffled, wanted

import cer_gpu as cer
from cer_gpu import spark as cer_spark
from cer_gpu.errors import CerError, DataError, QueryError
from cer_gpu.language.printer import to_text

pytestmark = spark_sessions.GROUP

EVENTS = 3000
OPTIONS: dict[str, Any] = {"order_by": ("ts", ROW)}


def history(seed: int = 1, n: int = EVENTS) -> pa.Table:
    """Events of three types and of 12 keys, one of which has half of them, in the order of time."""
    rng = np.random.default_rng(seed)
    key = np.where(rng.random(n) < 0.5, 0, rng.integers(0, 12, n))
    return pa.table(
        {
            "type": pa.array(rng.choice(list("ABC"), n)),
            "ts": pa.array(np.sort(rng.integers(0, 10**9, n)), pa.timestamp("us", "UTC")),
            "price": rng.integers(0, 100, n).astype(float),
            "k": pa.array([None if value == 11 else f"key {value}" for value in key.tolist()]),
            ROW: np.arange(n),
        }
    )


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return history()


@pytest.fixture(scope="module")
def frame(spark: Any, table: pa.Table) -> Any:
    """The history with its rows in any order, over several partitions."""
    return spark.createDataFrame(shuffled(table, Random(1))).repartition(4).cache()


ROUTES = {
    "keyed": (
        "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 80] PARTITION BY [k] WITHIN 5 EVENTS",
        "cut by time into",
    ),
    "keyed by time": (
        "SELECT a, b[price] WHERE A AS a ; B AS b FILTER a[price > 80] PARTITION BY [k] WITHIN 5 SECONDS",
        "cut by time into",
    ),
    "keyed, no window": (
        "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 96] AND b[price > 96] PARTITION BY [k]",
        "sorted by Spark and streamed",
    ),
    "time window": (
        "SELECT * FROM S WHERE A AS a ; (B AS b)+ FILTER a[price > 90] AND b[price > 80] WITHIN 2 SECONDS",
        "each also reads one window before it",
    ),
    "count window": (
        "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 90] WITHIN 9 EVENTS",
        "each also reads one window before it",
    ),
    "join": (
        "Q(k) <- A(k=k), B(k=k), C(k=k) WITHIN 9 EVENTS",
        "each also reads one window before it",
    ),
    "lookups": (
        "Q(k) <- A(k=k, price=p), B(k=k, price=q), q > 1.5 * p WITHIN 9 EVENTS",
        "each also reads one window before it",
    ),
    "whole": (
        "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 98] AND b[price > 97]",
        "one task, since the query has neither",
    ),
}


def collected(frame: Any) -> pa.Table:
    """The rows of a DataFrame as Arrow."""
    return frame.toArrow()


def same_times(table: pa.Table) -> pa.Table:
    """With times as plain moments, since Spark shows the zone of its session."""
    columns = [
        column.cast(pa.timestamp("us")) if pa.types.is_timestamp(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=[f"{number} {name}" for number, name in enumerate(table.schema.names)])


def rows_of(table: pa.Table) -> list[str]:
    """The rows of an answer in no order."""
    found = same_times(table)
    return wanted(found, found.schema.names)


@pytest.mark.parametrize("name", ROUTES)
def test_every_route_gives_what_the_engine_gives(
    frame: Any, table: pa.Table, small_tasks: None, name: str
) -> None:
    text, told = ROUTES[name]
    query = cer.compile(text)
    assert told in cer_spark.explain(frame, query, order_by="ts", event_id=ROW, rows=EVENTS)
    local = query.run(table, order_by="ts").to_arrow()
    assert len(local) > 20
    found = collected(cer_spark.run(frame, query, order_by="ts", event_id=ROW, rows=EVENTS))
    assert found.schema.names == local.schema.names
    assert rows_of(found) == rows_of(local)
    hits = collected(cer_spark.hits(frame, query, order_by="ts", event_id=ROW, rows=EVENTS))
    assert rows_of(hits) == rows_of(query.hits(table, order_by="ts"))
    assert int(cer_spark.count(frame, query, order_by="ts", rows=EVENTS).first()["count"]) == len(local)


@pytest.mark.parametrize("name", ["keyed", "time window", "count window"])
def test_positions_are_places_wherever_a_stream_is_cut(
    frame: Any, table: pa.Table, small_tasks: None, name: str
) -> None:
    query = cer.compile(ROUTES[name][0])
    counts = collected(cer_spark.counts(frame, query, order_by="ts", rows=EVENTS)).to_pylist()
    places: dict[Any, int] = {}
    place_of = []
    keyed = name == "keyed"
    for key in table.column("k").to_pylist():
        place_of.append((key if keyed else None, places.get(key if keyed else None, 0)))
        places[key if keyed else None] = place_of[-1][1] + 1
    expected = {
        place_of[row["position"]]: row["count"] for row in query.counts(table, order_by="ts").to_pylist()
    }
    assert {(row.get("k"), row["position"]): int(row["count"]) for row in counts} == expected


@pytest.mark.draws("seed", 8)
def test_random_queries(spark: Any, small_tasks: None, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    monkeypatch.setattr(routes, "SMALL", 8)
    spark.conf.set("spark.cer.rowsPerTask", "12")
    events = numbered(stream_to_table(stream(rng, 40)))
    while True:
        try:
            query = cer.compile(to_text(unary_query(rng, atoms=3)))
            task = task_of(query, events.schema, "run", **OPTIONS, stream_column="stream")
        except CerError:
            continue
        if (task.keyed, task.cuttable) == [(True, False), (False, True), (True, True), (False, True)][
            seed % 4
        ]:
            break
    frame = spark.createDataFrame(plain(shuffled(events, rng)))
    found = cer_spark.run(frame, query, **OPTIONS, stream_column="stream", event_id=ROW, rows=len(events))
    local = query.run(events, **OPTIONS, stream_column="stream").to_arrow()
    assert rows_of(collected(found)) == rows_of(local), query.text


def plain(table: pa.Table) -> pa.Table:
    """A table in types that Spark has."""
    from cer_gpu.spark.arrow_types import plain_type

    return table.cast(pa.schema([(field.name, plain_type(field.type)) for field in table.schema]))


# -------------------------------------------------------------------------------- the form of a result


def test_the_schema_is_known_before_anything_runs(spark: Any) -> None:
    frame = spark.createDataFrame([], "type string, ts timestamp_ntz, price double, k int, d date")
    query = "SELECT a, b[price, d] WHERE A AS a ; B AS b PARTITION BY [k] WITHIN 5 MINUTES"
    found = cer_spark.run(frame, query, order_by="ts", rows=0)
    assert found.schema.simpleString() == (
        "struct<start:bigint,end:bigint,k:int,start_time:timestamp_ntz,end_time:timestamp_ntz,a:array<bigint>,"
        "b:array<bigint>,b[price, d]:array<struct<price:double,d:date>>>"
    )
    assert found.collect() == []
    named = cer_spark.run(frame.withColumnRenamed("d", "id"), query.replace(", d", ""), order_by="ts",
                          event_id="id", rows=0)  # fmt: skip
    assert named.schema["start"].dataType.simpleString() == "date"
    counted = cer_spark.count(frame, query, order_by="ts", rows=0)
    assert counted.schema.simpleString() == "struct<count:decimal(38,0)>"
    assert [row["count"] for row in counted.collect()] == [0]


def test_a_frame_that_spark_knows_to_be_empty_has_a_count(spark: Any) -> None:
    frame = spark.createDataFrame([], "type string, ts int").repartition(3)
    counted = cer_spark.count(frame, "SELECT * WHERE A ; B WITHIN 3 EVENTS", order_by="ts", rows=0)
    assert [row["count"] for row in counted.collect()] == [0]


def test_tie_breakers_without_a_value_come_last_on_every_route(spark: Any, small_tasks: None) -> None:
    rows = [("AB"[number % 2], number // 40, None if number % 3 == 0 else number, 1) for number in range(200)]
    frame = spark.createDataFrame(rows, "type string, ts int, tie int, k int")
    query = "SELECT * WHERE A ; B PARTITION BY [k]"
    spark.conf.set("spark.cer.rowsPerTask", "50")
    found = []
    for told, events in (("streamed", 200), ("sorted in the worker", 50)):
        options: dict[str, Any] = {"order_by": ["ts", "tie"], "rows": events}
        assert told in cer_spark.explain(frame, query, **options)
        found.append(rows_of(collected(cer_spark.counts(frame, query, **options))))
    assert found[0] == found[1]


def test_events_of_no_use_are_not_shuffled(frame: Any) -> None:
    query = "SELECT * WHERE A ; B PARTITION BY [k] WITHIN 5 SECONDS"
    for given, filtered in (({"event_id": ROW}, True), ({}, False)):
        found = cer_spark.run(frame, query, order_by="ts", rows=EVENTS, **given)
        plan = found._jdf.queryExecution().optimizedPlan().toString()
        assert ("type#" in plan and " IN (A,B)" in plan) is filtered


def test_limit_is_a_cap_on_complex_events(frame: Any) -> None:
    query = ROUTES["keyed"][0]
    assert cer_spark.run(frame, query, order_by="ts", rows=EVENTS, limit=7).count() == 7


def test_columns_may_have_any_name(spark: Any) -> None:
    rows = [("A", 1, 5, "x"), ("B", 2, 6, "x"), ("B", 3, 6, "y")]
    frame = spark.createDataFrame(rows, "`the type` string, `t.s` int, `a``b` int, `key.1` string")
    query = "SELECT * WHERE A AS x ; B AS y PARTITION BY [`key.1`]"
    found = cer_spark.run(frame, query, order_by="t.s", type_column="the type", event_id="a`b")
    assert [tuple(row)[:3] for row in found.collect()] == [(5, 6, "x")]


# --------------------------------------------------------------------------------------------- refusals


def test_an_error_in_the_query_is_raised_before_a_job_starts(spark: Any, frame: Any) -> None:
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("wrong", "a wrong query")
    try:
        with pytest.raises(QueryError, match="prize"):
            cer_spark.run(frame, "SELECT * WHERE A AS a FILTER a[prize > 3]", order_by="ts")
        with pytest.raises(DataError, match="name the time column"):
            cer_spark.run(frame, "SELECT * WHERE A ; B WITHIN 5 SECONDS")
        assert list(tracker.getJobIdsForGroup("wrong")) == []
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def test_an_error_in_the_data_names_the_key(spark: Any) -> None:
    from pyspark.errors import PythonException

    frame = spark.createDataFrame([("A", 1, "north"), ("B", None, "south")], "type string, ts int, k string")
    found = cer_spark.run(frame, "SELECT * WHERE A ; B PARTITION BY [k]", order_by="ts")
    with pytest.raises(PythonException, match="k='south'"):
        found.collect()


def test_a_gpu_that_is_required_and_not_there_is_an_error(spark: Any, frame: Any) -> None:
    from pyspark.errors import PythonException

    spark.conf.set("spark.cer.gpu", "required")
    try:
        with pytest.raises(PythonException, match=r"spark\.cer\.gpu=required, and the task has no GPU"):
            cer_spark.count(frame, ROUTES["keyed"][0], order_by="ts", rows=EVENTS).collect()
    finally:
        spark.conf.unset("spark.cer.gpu")


def test_a_stream_that_runs_in_one_task_is_told(frame: Any, small_tasks: None) -> None:
    with pytest.warns(UserWarning, match="one task runs the whole stream"):
        cer_spark.run(frame, ROUTES["whole"][0], order_by="ts", rows=EVENTS)


# ------------------------------------------------------------------------------------- where rows go


def test_spark_puts_numbers_where_its_hash_was_reckoned_to_put_them(spark: Any) -> None:
    import pyspark.sql.functions as sf

    numbers = numbers_apart(11, 5)
    assert sorted(partition_of(number, 5) for number in numbers) == sorted(number % 5 for number in range(11))
    frame = spark.createDataFrame([(number,) for number in [*numbers, -3, 2**31 - 1]], "n int")
    placed = frame.repartition(5, "n").select("n", sf.spark_partition_id().alias("p")).collect()
    assert {row["n"]: row["p"] for row in placed} == {
        number: partition_of(number, 5) for number in [*numbers, -3, 2**31 - 1]
    }


def test_types_that_are_whole_numbers(spark: Any, table: pa.Table) -> None:
    numbers = pa.array(
        [{"A": 4624, "B": 4625, "C": 1}[name] for name in table["type"].to_pylist()], pa.int32()
    )
    table = table.set_column(0, "event_id", numbers)
    query = cer.compile(
        "SELECT * FROM S WHERE `4624` AS a ; `4625` AS b FILTER a[price > 80] PARTITION BY [k]"
    )
    options = {"order_by": "ts", "type_column": "event_id"}
    found = cer_spark.count(spark.createDataFrame(table), query, **options).collect()
    assert found[0][0] == query.count(table, **options) > 0


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM S WHERE (A AS a FILTER a[price > PREV(price)]) ; B AS b WITHIN 5 EVENTS",
        "SELECT * FROM S WHERE A AS a : B AS b FILTER b[price > PREV(price, 2)] PARTITION BY [k] "
        "WITHIN 5 EVENTS",
        "SELECT * FROM S WHERE A AS a ; B AS b FILTER b[ABS(price - PREV(price)) > 30 AND LOWER(k) LIKE '1'] "
        "PARTITION BY [k] WITHIN 90 SECONDS",
    ],
)
def test_prev_on_spark(spark: Any, frame: Any, table: pa.Table, text: str, tmp_path: Path) -> None:
    query = cer.compile(text)
    wanted = query.count(table, **OPTIONS)
    assert cer_spark.count(frame, query, **OPTIONS).collect()[0][0] == wanted > 10
    for part in range(3):
        pq.write_table(table.slice(1000 * part, 1000), tmp_path / f"{part}.parquet", row_group_size=100)
    assert cer_spark.count_files(str(tmp_path), query, order_by="ts").collect()[0][0] == wanted


def test_measures_and_whole_events(frame: Any, table: pa.Table, small_tasks: None) -> None:
    """Durations, times, texts and numbers through Spark, and answers that measures alone tell apart."""
    what = "COUNT(a) AS n, DURATION AS held, LAST(a.ts) AS last, FIRST(a.k) AS key, AVG(a.price) / 2 AS half"
    where = "FROM S WHERE A+ AS a ; B AS b PARTITION BY k WITHIN 6 EVENTS"
    for text in (f"SELECT a, b[*], {what} {where}", f"SELECT NONE, {what} {where}"):
        query = cer.compile(text)
        local = query.run(table, order_by="ts").to_arrow()
        assert len(local) > 20
        found = collected(cer_spark.run(frame, query, order_by="ts", event_id=ROW, rows=EVENTS))
        assert found.schema.names == local.schema.names
        assert rows_of(found.cast(local.schema)) == rows_of(local)
        assert int(cer_spark.count(frame, query, order_by="ts", rows=EVENTS).first()["count"]) == len(local)


def test_parameters(frame: Any, table: pa.Table, small_tasks: None, tmp_path: Path) -> None:
    """By keys, cut by time, and from files; values of `compile` stand for those that a call leaves out."""
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=300)
    for key in ("PARTITION BY [k] ", ""):
        text = f"SELECT * FROM S WHERE A {{$n}} AS a ; B AS b FILTER a[price > $low] {key}WITHIN $span"
        query = cer.compile(text, params={"low": 70, "n": 2})
        found = set()
        for params in ({"span": "2 min"}, {"span": "1 min", "low": 60, "n": 1}):
            wanted = query.count(table, params=params, **OPTIONS)
            assert cer_spark.count(frame, query, params=params, **OPTIONS).collect()[0][0] == wanted > 10
            filed = cer_spark.count_files(str(tmp_path), query, order_by="ts", params=params)
            assert filed.collect()[0][0] == wanted
            found.add(wanted)
        assert len(found) == 2
    with pytest.raises(QueryError, match="the parameter `\\$span` has no value"):
        cer_spark.count(frame, query, **OPTIONS)
    assert "params" in cer_spark.explain(frame, query, params={"span": "1 min"}, **OPTIONS)


def test_without_a_type_column_all_events_are_of_the_type_in_from(spark: Any, tmp_path: Path) -> None:
    table = history(n=200)
    frame = spark.createDataFrame(table)
    text = (
        "SELECT a[type], b FROM Trades WHERE Trades AS a ; Trades AS b FILTER a[type = 'A'] WITHIN 2 EVENTS"
    )
    query, ask = cer.compile(text), {**OPTIONS, "type_column": None}
    wanted = query.run(table, order_by="ts", type_column=None, event_id=ROW).to_arrow()
    assert len(wanted)
    assert rows_of(collected(cer_spark.run(frame, query, event_id=ROW, **ask))) == rows_of(wanted)
    assert int(cer_spark.count(frame, query, **ask).collect()[0][0]) == len(wanted)
    assert cer_spark.counts(frame, query, **ask).count() == len(
        query.counts(table, order_by="ts", type_column=None)
    )
    assert cer_spark.hits(frame, query, **ask).count() == len(
        query.hits(table, order_by="ts", type_column=None)
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    files = cer_spark.run_files(
        str(tmp_path), query, order_by="ts", event_id=ROW, type_column=None, spark=spark
    )
    assert rows_of(collected(files)) == rows_of(wanted)
    (row,) = cer_spark.backtest(frame, {"q": query}, **ask).to_arrow().to_pylist()
    assert row["matches"] == len(wanted)


NAN_QUERIES = (
    "SELECT a[price], b WHERE A AS a ; B AS b FILTER a[price IS NULL] AND b[NOT (price > 40)] "
    "PARTITION BY k WITHIN 5 SECONDS",
    "SELECT a, b WHERE A AS a ; B AS b FILTER a[price IS NULL] AND b[price != 3] WITHIN 1 SECOND",
    "SELECT a, b WHERE A AS a ; B AS b PARTITION BY price WITHIN 3 SECONDS",
)


@pytest.mark.parametrize("text", NAN_QUERIES)
def test_nan_is_a_missing_value_where_it_is_said(
    spark: Any, small_tasks: None, tmp_path: Path, text: str
) -> None:
    table = history(3, 900)
    price = [
        None if value < 5 else float("nan") if value < 20 else value for value in table["price"].to_pylist()
    ]
    table = table.set_column(2, "price", pa.array(price, pa.float64()))
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=150)
    frame = spark.read.parquet(str(tmp_path / "events.parquet")).repartition(3)
    query = cer.compile(text)
    found = {}
    for given in (True, False, None):
        asked: dict[str, Any] = {"order_by": "ts", "event_id": ROW, "nan_is_null": given}
        local = query.run(table, **asked).to_arrow()
        found[given] = rows_of(local)
        assert rows_of(collected(cer_spark.run(frame, query, **asked))) == found[given]
        files = cer_spark.run_files(str(tmp_path), query, spark=spark, **asked)
        assert rows_of(collected(files)) == found[given]
        told = cer_spark.backtest(frame, {"q": query}, order_by="ts", nan_is_null=given).to_arrow()
        assert told["matches"].to_pylist() == [len(local)]
    assert found[True] != found[False] == found[None]

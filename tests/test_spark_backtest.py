"""Backtests on Spark: the rows are those of the local backtest, whatever way the events take to the tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import spark_sessions
from outcome_tables import assert_same_outcomes
from spark_tasks import ROW, shuffled
from test_spark_operators import history

import cer_gpu as cer
from cer_gpu import spark as cer_spark
from cer_gpu.errors import DataError, QueryError

pytestmark = spark_sessions.GROUP

KEYED = cer.sweep(
    "SELECT * WHERE (A AS a FILTER a[price > $p]) ; B ; C PARTITION BY [k] WITHIN $w",
    p=[10, 50, 90],
    w=["1 s", "5 s", "20 s"],
)

QUERIES: dict[str, Any] = {
    "swept": KEYED,
    "near": "SELECT * WHERE A ; (B AS b FILTER b[price < 20]) WITHIN 4 EVENTS",
    "soon": "SELECT * WHERE (A AS a FILTER a[price > 60]) ; B : C WITHIN 10 SECONDS",
    "later": "SELECT * WHERE A ; (C AS c FILTER c[price > 95]) WITHIN 15 SECONDS",
    "silent": "SELECT * WHERE (A AS a FILTER a[price > 97]) NOT FOLLOWED BY [<= 9 s] B PARTITION BY k",
    "dearer": "SELECT * WHERE A AS a ; B AS b FILTER b.price > a.price + 60 PARTITION BY [k] WITHIN 1 SECOND",
    "best": "SELECT MAX * WHERE A+ ; (B AS b FILTER b[price > 90]) PARTITION BY [k] WITHIN 3 SECONDS",
    "first": "SELECT * WHERE (A AS a FILTER a[price > 98]) CONSUME BY ANY",
    "seldom": "SELECT * WHERE (A AS a FILTER a[price > 60]) ; B PARTITION BY k WITHIN 1 s SUPPRESS FOR 3 s",
    "once": "SELECT * WHERE (A AS a FILTER a[price > 60]) ; B WITHIN 1 SECOND SUPPRESS FOR 500 ms",
    "none": "SELECT * WHERE Z ; A WITHIN 1 HOUR",
}
"""Keyed and not, cut by time, by events and not at all, read together and one by one."""

OPTIONS: dict[str, Any] = {"order_by": ["ts", ROW]}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return history(n=2000)


@pytest.fixture(scope="module")
def frame(spark: Any, table: pa.Table) -> Any:
    """The history with its rows in any order, over several partitions."""
    from random import Random

    return spark.createDataFrame(shuffled(table, Random(1))).repartition(3).cache()


@pytest.fixture
def small_tasks(spark: Any) -> Iterator[None]:
    """Tasks of a few hundred rows, so that keys are cut."""
    spark.conf.set("spark.cer.rowsPerTask", "400")
    yield
    spark.conf.unset("spark.cer.rowsPerTask")


def rows_of(found: cer.Backtest) -> list[dict[str, Any]]:
    """The rows of a result, those of a query in any order."""
    return sorted(found.to_arrow().to_pylist(), key=repr)


def check(found: cer.Backtest, queries: Any, table: pa.Table, by: Any = None) -> None:
    """Assert that rows are those of the local backtest."""
    expected = cer.backtest(queries, table, by, **OPTIONS, device="cpu")
    assert found.to_arrow().schema.names == expected.to_arrow().schema.names
    assert rows_of(found) == rows_of(expected)


@pytest.mark.usefixtures("small_tasks")
def test_all_kinds_of_queries(frame: Any, table: pa.Table) -> None:
    found = cer_spark.backtest(frame, QUERIES, **OPTIONS, rows=len(table))
    check(found, QUERIES, table)
    assert sum(row["hits"] > 0 for row in found.to_arrow().to_pylist()) > len(KEYED)


@pytest.mark.parametrize("by", ["5 min", ["2 min", "k"]])
def test_rows_by_bucket_and_key(frame: Any, table: pa.Table, by: Any) -> None:
    check(cer_spark.backtest(frame, KEYED, by, **OPTIONS, rows=len(table)), KEYED, table, by)


def test_files(spark: Any, table: pa.Table, tmp_path: Path) -> None:
    for number in range(4):
        pq.write_table(
            table.slice(500 * number, 500), tmp_path / f"part {number}.parquet", row_group_size=100
        )
    spark.conf.set("spark.cer.rowsPerTask", "100")
    try:
        found = cer_spark.backtest_files(str(tmp_path), QUERIES, spark=spark, **OPTIONS)
        parted = cer_spark.backtest_files(str(tmp_path), KEYED, ["2 min", "k"], spark=spark, **OPTIONS)
    finally:
        spark.conf.unset("spark.cer.rowsPerTask")
    check(found, QUERIES, table)
    check(parted, KEYED, table, ["2 min", "k"])


STEPS = {"several": "A ; B {2} ; (C ; A) AS x", "beside": "A ; (B : C) AS x"}
"""Patterns with steps of several events."""


def test_funnels(spark: Any, frame: Any, table: pa.Table, tmp_path: Path) -> None:
    queries = {name: QUERIES[name] for name in ("swept", "soon", "dearer")}
    queries |= {
        name: f"SELECT * WHERE {text} PARTITION BY [k] WITHIN 3 SECONDS" for name, text in STEPS.items()
    }
    expected = cer.backtest(queries, table, funnel=True, **OPTIONS, device="cpu")
    assert None not in expected.funnel.filter(pc.field("step") > 1)["died"].to_pylist()
    found = cer_spark.backtest(frame, queries, "5 min", funnel=True, **OPTIONS, rows=len(table))
    assert found.funnel == expected.funnel
    assert sum(found.funnel["hits"].to_pylist()) > 0
    check(found, queries, table, "5 min")
    pq.write_table(table, tmp_path / "all.parquet")
    given = {"params": {"p": 20}, "spark": spark, **OPTIONS}
    text = "SELECT * WHERE (A AS a FILTER a[price > $p]) ; B PARTITION BY [k] WITHIN 5 SECONDS"
    found = cer_spark.backtest_files(
        str(tmp_path), {"q": text, "rule": "Q() <- A(), B() WITHIN 2 SECONDS"}, funnel=True, **given
    )
    assert found.funnel == cer.backtest({"q": text}, table, funnel=True, params={"p": 20}, **OPTIONS).funnel


DURATIONS = ("swept", "near", "soon", "silent", "dearer", "best", "first", "none")


def with_durations(found: cer.Backtest, queries: Any, table: pa.Table, by: Any = None) -> None:
    """Assert that rows and durations are those of the local backtest."""
    expected = cer.backtest(queries, table, by, durations=True, **OPTIONS, device="cpu")
    assert found.to_arrow().schema == expected.to_arrow().schema
    assert rows_of(found) == rows_of(expected)
    assert sum(row["duration_p95"] is not None for row in expected.to_arrow().to_pylist()) > 2


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.large
@pytest.mark.parametrize("by", [None, ["2 min", "k"]])
def test_durations(
    by: Any, spark: Any, frame: Any, table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = {name: QUERIES[name] for name in DURATIONS} if by is None else KEYED
    found = cer_spark.backtest(frame, queries, by, durations=True, **OPTIONS, rows=len(table))
    with_durations(found, queries, table, by)
    for number in range(4):
        pq.write_table(table.slice(500 * number, 500), tmp_path / f"{number}.parquet", row_group_size=100)
    found = cer_spark.backtest_files(str(tmp_path), queries, by, durations=True, spark=spark, **OPTIONS)
    with_durations(found, queries, table, by)
    monkeypatch.setattr("cer_gpu.backtesting.listed_columns.MOST", 0)
    with pytest.warns(UserWarning, match="matches: durations are computed"):
        few = cer_spark.backtest(frame, {"soon": QUERIES["soon"]}, durations=True, **OPTIONS, rows=len(table))
    assert few.to_arrow().to_pylist()[0]["duration_median"] is None
    assert few.notes


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize(
    ("durations", "by"),
    [
        pytest.param(False, None, marks=pytest.mark.large),
        pytest.param(False, ["2 min", "k"], marks=pytest.mark.large),
        pytest.param(True, None, marks=pytest.mark.large),
        (True, ["2 min", "k"]),
    ],
)
def test_starts(by: Any, durations: bool, spark: Any, frame: Any, table: pa.Table, tmp_path: Path) -> None:
    queries = {name: QUERIES[name] for name in DURATIONS} if by is None else KEYED
    given: dict[str, Any] = {"starts": True, "durations": durations, **OPTIONS}
    expected = cer.backtest(queries, table, by, **given, device="cpu").to_arrow()
    found = cer_spark.backtest(frame, queries, by, **given, rows=len(table)).to_arrow()
    assert found.schema == expected.schema
    assert sorted(found.to_pylist(), key=repr) == sorted(expected.to_pylist(), key=repr)
    for number in range(4):
        pq.write_table(table.slice(500 * number, 500), tmp_path / f"{number}.parquet", row_group_size=100)
    found = cer_spark.backtest_files(str(tmp_path), queries, by, spark=spark, **given).to_arrow()
    assert sorted(found.to_pylist(), key=repr) == sorted(expected.to_pylist(), key=repr)
    assert sum(row["starts"] not in (0, row["hits"], row["matches"]) for row in expected.to_pylist()) > 2


@pytest.mark.large
def test_starts_over_cuts_are_counted_once(spark: Any, frame: Any, table: pa.Table) -> None:
    """Windows reach over the cuts of keys and of the whole stream, and so over several tasks."""
    queries = {
        "keyed": "SELECT * WHERE (A AS a FILTER a[price > 30]) ; B PARTITION BY [k] WITHIN 30 SECONDS",
        "cut": "SELECT * WHERE (A AS a FILTER a[price > 90]) ; B WITHIN 20 SECONDS",
        "events": "SELECT * WHERE (A AS a FILTER a[price > 90]) ; B WITHIN 60 EVENTS",
    }
    spark.conf.set("spark.cer.rowsPerTask", "100")
    try:
        found = cer_spark.backtest(frame, queries, starts=True, **OPTIONS, rows=len(table))
    finally:
        spark.conf.unset("spark.cer.rowsPerTask")
    expected = cer.backtest(queries, table, starts=True, **OPTIONS, device="cpu")
    assert rows_of(found) == rows_of(expected)


def test_starts_where_rows_are_shuffled(spark: Any, table: pa.Table, tmp_path: Path) -> None:
    mixed = table.take(pa.array(np.random.default_rng(3).permutation(len(table))))
    pq.write_table(mixed, tmp_path / "mixed.parquet", row_group_size=300)
    given: dict[str, Any] = {"starts": True, "outcomes": {"now": "price"}}
    found = cer_spark.backtest_files(str(tmp_path), KEYED, spark=spark, **given, **OPTIONS)
    expected = cer.backtest(KEYED, table, **given, **OPTIONS, device="cpu")
    assert rows_of(found) == rows_of(expected)
    same_hits(found, expected, positions=False)


@pytest.mark.large
def test_durations_of_keys_too_long_for_a_task(spark: Any, table: pa.Table) -> None:
    queries = {
        "all": "SELECT LAST * WHERE A ; (B AS b FILTER b[price > 60]) PARTITION BY k",
        "next": "SELECT NEXT * WHERE A ; (C AS c FILTER c[price > 60]) PARTITION BY k",
    }
    spark.conf.set("spark.cer.rowsPerTask", "50")
    try:
        frame = spark.createDataFrame(table)
        found = cer_spark.backtest(frame, queries, durations=True, **OPTIONS, rows=len(table))
    finally:
        spark.conf.unset("spark.cer.rowsPerTask")
    expected = cer.backtest(queries, table, durations=True, **OPTIONS, device="cpu")
    assert rows_of(found) == rows_of(expected)


OUTCOMES = {
    "now": "price",
    "later": "AFTER 5 s (price) - LAST(a.price)",
    "third": "AFTER 3 EVENTS (price) / price - 1",
    "high": "MAX WITHIN 4 s (price)",
    "wait": "TIME TO (C AS c FILTER c[price > 70])",
}

HAPPENED: dict[str, Any] = {
    "swept": KEYED,
    "soon": QUERIES["soon"],
    "best": "SELECT MAX * WHERE (A AS a)+ ; (B AS b FILTER b[price > 90]) PARTITION BY [k] WITHIN 3 SECONDS",
    "dear": "SELECT * WHERE A AS a FILTER a[price > 90] PARTITION BY k CONSUME BY ANY",
    "none": "SELECT * WHERE (Z AS a) ; A WITHIN 1 HOUR",
}
"""Keyed and not, and with a key by which events cannot be dealt out."""


def same_hits(found: cer.Backtest, expected: cer.Backtest, positions: bool) -> None:
    """Assert that the outcomes at single hits are those of another result; of files the events, too."""
    own, right = found.outcome_hits, expected.outcome_hits
    assert own.schema.names == right.schema.names
    if not positions:
        own, right = (one.drop_columns(["position"]) for one in (own, right))
        assert sorted(own.to_pylist(), key=repr) == sorted(right.to_pylist(), key=repr)
    assert not positions or own.to_pylist() == right.to_pylist()
    assert len(right) > 100


def with_outcomes(
    found: cer.Backtest, queries: Any, table: pa.Table, split: Any, positions: bool = False
) -> None:
    """Assert that rows and outcomes are those of the local backtest."""
    expected = cer.backtest(queries, table, outcomes=OUTCOMES, split=split, **OPTIONS, device="cpu")
    assert rows_of(found) == rows_of(expected)
    same_hits(found, expected, positions)
    assert_same_outcomes(found.outcomes, expected.outcomes)
    rows = expected.outcomes.to_pylist()
    assert sum(row["n"] > 5 for row in rows) > len(rows) // 2
    assert {row["sample"] for row in rows} == ({"all"} if split is None else {"all", "before", "after"})
    assert len({row["base_mean"] for row in rows}) > 4


def keyless(table: pa.Table) -> pa.Table:
    """The same events, some without a key and some without a price."""
    rng = np.random.default_rng(4)
    for name, share in (("k", 0.1), ("price", 0.05)):
        column = pa.compute.if_else(pa.array(rng.random(len(table)) < share), None, table[name])
        table = table.set_column(table.schema.names.index(name), name, column)
    return table


@pytest.mark.usefixtures("small_tasks")
def test_outcomes(spark: Any, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table = keyless(table)
    split = table["ts"][len(table) // 2].as_py()
    frame = spark.createDataFrame(table).repartition(3)
    found = cer_spark.backtest(frame, HAPPENED, outcomes=OUTCOMES, split=split, **OPTIONS, rows=len(table))
    with_outcomes(found, HAPPENED, table, split)
    monkeypatch.setattr("cer_gpu.spark.outcomes.KEPT", 100)
    few = cer_spark.backtest(frame, HAPPENED, outcomes=OUTCOMES, split=split, **OPTIONS, rows=len(table))
    assert_same_outcomes(few.outcomes, found.outcomes)
    with pytest.raises(cer.errors.LimitError, match="there are more than"):
        print(few.outcome_hits)


@pytest.mark.large
@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize("split", ["1970-01-01 00:07:00", None])
def test_outcomes_of_files(split: str | None, spark: Any, table: pa.Table, tmp_path: Path) -> None:
    table = keyless(table)
    for number in range(4):
        pq.write_table(table.slice(500 * number, 500), tmp_path / f"{number}.parquet", row_group_size=100)
    given = {"outcomes": OUTCOMES, "split": split, "spark": spark, **OPTIONS}
    with_outcomes(cer_spark.backtest_files(str(tmp_path), HAPPENED, **given), HAPPENED, table, split)


def test_a_split_is_on_the_clock_of_the_session(spark: Any, table: pa.Table, frame: Any) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        given = {"outcomes": {"now": "price"}, "split": "1970-01-01 05:37:00"}
        found = cer_spark.backtest(frame, KEYED, **given, **OPTIONS, rows=len(table)).outcomes
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    expected = cer.backtest(KEYED, table, **given | {"split": "1970-01-01 00:07:00"}, **OPTIONS).outcomes
    assert_same_outcomes(found, expected)
    assert min(row["base_n"] for row in found.to_pylist() if row["n"]) > 100


def test_outcomes_of_keys_too_long_for_a_task(spark: Any, table: pa.Table) -> None:
    queries = {"swept": KEYED, "best": HAPPENED["best"]}
    spark.conf.set("spark.cer.rowsPerTask", "50")
    try:
        frame = spark.createDataFrame(table)
        found = cer_spark.backtest(frame, queries, outcomes=OUTCOMES, **OPTIONS, rows=len(table))
    finally:
        spark.conf.unset("spark.cer.rowsPerTask")
    with_outcomes(found, queries, table, None)


def test_outcomes_that_do_not_fit_are_named_before_a_task_starts(frame: Any, table: pa.Table) -> None:
    for text, said in {
        "AFTER 5 (price)": "5 has no unit",
        "AFTER 5 s (type)": "an outcome needs numbers",
        "cost": "cost",
        "UPPER(price)": "an outcome can have numbers",
    }.items():
        with pytest.raises((ValueError, DataError), match=said):
            cer_spark.backtest(frame, KEYED, outcomes={"o": text}, **OPTIONS)
    with pytest.raises(ValueError, match="pass outcomes too"):
        cer_spark.backtest(frame, KEYED, split="2024-01-01", **OPTIONS)
    rule = {"rule": "Q() <- A(), B() WITHIN 2 SECONDS"}
    with pytest.raises(ValueError, match="reads the variable `a`, and the query 'rule' is a rule"):
        cer_spark.backtest(frame, rule, outcomes={"o": "LAST(a.price)"}, **OPTIONS)


def test_files_out_of_order_are_shuffled(spark: Any, table: pa.Table, tmp_path: Path) -> None:
    mixed = table.take(pa.array(np.random.default_rng(3).permutation(len(table))))
    pq.write_table(mixed, tmp_path / "mixed.parquet", row_group_size=300)
    found = cer_spark.backtest_files(str(tmp_path), KEYED, spark=spark, **OPTIONS)
    check(found, KEYED, table)


def test_buckets_are_those_of_the_sessions_zone(spark: Any, table: pa.Table, frame: Any) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        found = cer_spark.backtest(frame, KEYED, "1 h", **OPTIONS, rows=len(table)).to_arrow()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert found.schema.field("bucket").type == pa.timestamp("us", "Asia/Kolkata")
    shown = table.set_column(1, "ts", table["ts"].cast(pa.timestamp("us", "Asia/Kolkata")))
    expected = cer.backtest(KEYED, shown, "1 h", **OPTIONS, device="cpu").to_arrow()
    assert found.to_pylist() == expected.to_pylist()
    assert {row["bucket"].minute for row in found.to_pylist()} == {30} or len(found)


def test_numbers_past_64_bits(spark: Any) -> None:
    count = 300
    table = pa.table({"type": ["A"] * count, "ts": np.arange(count)})
    queries = ["SELECT * WHERE A+ WITHIN 200 EVENTS"]
    found = cer_spark.backtest(spark.createDataFrame(table.slice(0, 90)), queries, order_by="ts")
    expected = cer.backtest(queries, table.slice(0, 90), order_by="ts", device="cpu")
    assert found.to_arrow().to_pylist() == expected.to_arrow().to_pylist()
    assert found.to_arrow()["matches"][0].as_py() > 1 << 64


@pytest.mark.large
@pytest.mark.usefixtures("small_tasks")
def test_funnels_past_the_digits_of_a_number_of_spark(spark: Any, tmp_path: Path) -> None:
    """Numbers of several tasks, each past 38 digits, are added up exactly."""
    count = 1000
    columns = {"type": ["A", "A", "A", "B"] * (count // 4), "k": np.arange(count) // 4 % 4}
    table = pa.table({**columns, "ts": np.arange(count), "x": np.arange(count) % 7})
    queries = {"many": "SELECT * WHERE (A AS a FILTER a[x > 1]) + ; B PARTITION BY k"}
    given: dict[str, Any] = {"order_by": "ts", "funnel": True}
    expected = cer.backtest(queries, table, by="k", **given, device="cpu")
    assert min(expected.to_arrow()["matches"].to_pylist()) > 10**38
    assert min(expected.funnel["matches"].to_pylist()) > 10**38
    pq.write_table(table, tmp_path / "events.parquet")
    for found in (
        cer_spark.backtest(spark.createDataFrame(table), queries, by="k", **given, rows=count),
        cer_spark.backtest_files(str(tmp_path), queries, by="k", **given, spark=spark),
    ):
        assert found.to_arrow().to_pylist() == expected.to_arrow().to_pylist()
        assert found.funnel.to_pylist() == expected.funnel.to_pylist()


def test_parameters_for_all_queries(frame: Any, table: pa.Table) -> None:
    queries = {name: f"SELECT * WHERE {name} AS a FILTER a[price > $p]" for name in "AB"}
    found = cer_spark.backtest(frame, queries, params={"p": 90}, **OPTIONS, rows=len(table))
    expected = cer.backtest(queries, table, params={"p": 90}, **OPTIONS, device="cpu")
    assert rows_of(found) == rows_of(expected)
    with pytest.raises(ValueError, match="no query has the parameter `\\$q`"):
        cer_spark.backtest(frame, queries, params={"q": 90}, **OPTIONS)


def test_what_is_wrong_is_said(spark: Any, frame: Any, tmp_path: Path, table: pa.Table) -> None:
    with pytest.raises(ValueError, match="there is no query"):
        cer_spark.backtest(frame, {}, **OPTIONS)
    with pytest.raises(QueryError) as error:
        cer_spark.backtest(frame, {"mine": "SELECT * WHERE A AS a FILTER a[cost > 3]"}, **OPTIONS)
    assert "in the query 'mine'" in error.value.__notes__
    with pytest.raises(DataError, match="order_by"):
        cer_spark.backtest(frame, ["SELECT * WHERE A"])
    pq.write_table(table, tmp_path / "events.parquet")
    with pytest.raises(DataError, match="order_by"):
        cer_spark.backtest_files(str(tmp_path), ["SELECT * WHERE A"], spark=spark)


def test_a_report_of_it(frame: Any, table: pa.Table, tmp_path: Path) -> None:
    found = cer_spark.backtest(frame, KEYED, "2 min", **OPTIONS, rows=len(table))
    found.report(str(tmp_path / "page.html"))
    assert "on Spark" in (tmp_path / "page.html").read_text()

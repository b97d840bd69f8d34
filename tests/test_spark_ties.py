"""Rows whose times tie on Spark: a query that depends on their order says so, or stops, as it is asked."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spark_sessions
from cer_gpu.spark.binding import task_of
from spark_tasks import ROW

from cer_gpu import spark as cer_spark
from cer_gpu.errors import DataError

pytestmark = spark_sessions.GROUP

N = 3000
TIED = "SELECT * WHERE A AS a ; B AS b FILTER a[price > 90] AND b[price > 90] WITHIN 3 SECONDS"
SAME = "the same `ts` as another row"
REMEDY = "order_by=['ts', tie]"


def history(tied: int) -> pa.Table:
    """Events with times of their own, but for the first `tied` pairs of them."""
    rng = np.random.default_rng(3)
    ts = 1000 * np.arange(N) + rng.integers(0, 900, N)
    ts[1 : 2 * tied : 2] = ts[0 : 2 * tied : 2]
    return pa.table(
        {
            "type": pa.array(rng.choice(list("AB"), N)),
            "ts": pa.array(ts, pa.timestamp("us", "UTC")),
            "price": rng.integers(0, 100, N).astype(float),
            "k": pa.array([f"key {value}" for value in rng.integers(0, 1, N)]),
            ROW: np.arange(N),
        }
    )


@pytest.fixture(scope="module")
def tied(spark: Any) -> Any:
    """A DataFrame with 20 rows that tie."""
    return spark.createDataFrame(history(10)).repartition(4).cache()


@pytest.fixture(scope="module")
def untied(spark: Any) -> Any:
    return spark.createDataFrame(history(0)).repartition(4).cache()


def told(action: Callable[[], Any]) -> list[warnings.WarningMessage]:
    """What a program is warned of about ties."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        action()
    return [one for one in found if "as another row" in str(one.message)]


WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "one task": (TIED, {}),
    "keyed": (f"{TIED.replace(' WITHIN', ' PARTITION BY k WITHIN')}", {}),
    "cut": (TIED, {"rows": N}),
    "hot key": (f"{TIED.replace(' WITHIN', ' PARTITION BY k WITHIN')}", {"rows": N}),
    "streamed": (TIED.replace(" WITHIN 3 SECONDS", " PARTITION BY k"), {"rows": N}),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_program_is_warned_once_of_rows_that_tie_and_at_its_line(
    tied: Any, untied: Any, request: pytest.FixtureRequest, way: str
) -> None:
    text, options = WAYS[way]
    if options:
        request.getfixturevalue("small_tasks")
    line = inspect.currentframe()
    assert line is not None

    def twice() -> None:
        frame = cer_spark.hits(tied, text, order_by="ts", event_id=ROW, **options)
        frame.collect()
        frame.collect()

    (found,) = told(twice)
    message = str(found.message)
    assert message.startswith("at least ")
    # Small tasks share the rows that tie; what one of them has found is told.
    assert 2 <= int(message.split()[2]) <= 20
    assert way in ("cut", "streamed") or message.startswith("at least 20 rows have ")
    assert REMEDY in message
    assert "ties='any'" in message
    assert ("`k` and `ts`" if "PARTITION" in text else SAME) in message
    assert found.filename == __file__
    assert not told(lambda: cer_spark.hits(untied, text, order_by="ts", event_id=ROW, **options).collect())


OPERATORS: dict[str, Callable[..., Any]] = {
    "run": lambda df, **keywords: cer_spark.run(df, TIED, event_id=ROW, **keywords).collect(),
    "count": lambda df, **keywords: cer_spark.count(df, TIED, **keywords).collect(),
    "counts": lambda df, **keywords: cer_spark.counts(df, TIED, **keywords).collect(),
    "hits": lambda df, **keywords: cer_spark.hits(df, TIED, **keywords).collect(),
    "backtest": lambda df, **keywords: cer_spark.backtest(df, {"q": TIED, "r": TIED + " "}, **keywords),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_the_keyword(tied: Any, name: str) -> None:
    operator = OPERATORS[name]
    assert "ties" in inspect.signature(getattr(cer_spark, name)).parameters
    assert len(told(lambda: operator(tied, order_by="ts"))) == 1
    assert not told(lambda: operator(tied, order_by="ts", ties="any"))
    assert not told(lambda: operator(tied, order_by=["ts", ROW], ties="error"))
    with pytest.raises(
        Exception, match=r"20 rows of a task have the same `ts` as another row \(.*ts="
    ) as error:
        operator(tied, order_by="ts", ties="error")
    assert "DataError" in str(error.value)
    assert REMEDY in str(error.value)
    with pytest.raises(ValueError, match="ties must be one of 'warn', 'error', 'any', not 'no'"):
        operator(tied, order_by="ts", ties="no")


def test_outcomes_of_a_query_that_is_indifferent_depend_on_ties(tied: Any) -> None:
    text = {"q": "SELECT * WHERE A AS a FILTER a[price > 90] WITHIN 3 SECONDS"}
    assert not told(lambda: cer_spark.backtest(tied, text, order_by="ts"))

    def outcomes() -> None:
        cer_spark.backtest(tied, text, order_by="ts", outcomes={"next": "AFTER 1 EVENTS (price) - price"})

    assert len(told(outcomes)) == 1


def test_a_query_that_is_indifferent_says_nothing(tied: Any) -> None:
    text = "SELECT * WHERE A ;[> 0 s] B WITHIN 1 ms"
    ask: dict[str, Any] = {"order_by": "ts", "ties": "error"}
    assert not told(lambda: cer_spark.run(tied, text, event_id=ROW, **ask).collect())
    assert not told(lambda: cer_spark.count(tied, text, **ask).collect())
    # A position is the place among all rows, also among those that tie.
    assert told(lambda: cer_spark.run(tied, text, order_by="ts").collect())


def test_rows_that_are_alike_to_the_query_do_not_tie(spark: Any) -> None:
    rows = [("A", 1, 1, 5), ("A", 1, 2, 5), ("B", 2, 3, 5)]
    frame = spark.createDataFrame(rows, "type string, ts int, id int, price int")
    ask: dict[str, Any] = {"order_by": "ts", "order_unit": "s"}
    assert not told(lambda: cer_spark.count(frame, "SELECT * WHERE A ; B", **ask).collect())
    assert told(lambda: cer_spark.run(frame, "SELECT * WHERE A ; B", event_id="id", **ask).collect())


def test_sql_warns_once_of_each_query(spark: Any, tied: Any) -> None:
    cer_spark.register(spark, "tie_match")
    tied.createOrReplaceTempView("tied_rows")

    def ask(text: str, more: str = "") -> None:
        spark.sql(
            f"SELECT * FROM tie_match(TABLE(tied_rows), '{text}', order_by => 'ts', "
            f"event_id => '{ROW}', single_partition => true{more})"
        ).collect()

    def asked() -> None:
        ask(TIED)
        ask(TIED)
        ask("SELECT * WHERE A : B")
        ask(TIED, ", ties => 'any'")

    found = [str(one.message) for one in told(asked)]
    assert len(found) == 2
    assert all(SAME in text for text in found)
    with pytest.raises(Exception, match="20 rows of a task have the same"):
        ask(TIED, ", ties => 'error'")


def test_connect_warns_before_it_runs(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # PySpark's functions then make columns for it.
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    frame = connect.createDataFrame(history(10).to_pandas())
    (found,) = told(lambda: cer_spark.run(frame, TIED, order_by="ts", event_id=ROW))
    assert "some rows may have" in str(found.message)
    assert "ties='error' stops" in str(found.message)
    assert not told(lambda: cer_spark.run(frame, TIED, order_by="ts", event_id=ROW, ties="any"))
    with pytest.raises(Exception, match="20 rows of a task have the same"):
        cer_spark.count(frame, TIED, order_by="ts", ties="error").collect()


def test_warnings_that_are_errors_do_not_stop_the_driver(
    tied: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cer_spark.count(tied, TIED, order_by="ts").collect()
    assert found == cer_spark.count(tied, TIED, order_by="ts", ties="any").collect()
    assert SAME in capfd.readouterr().err


def test_files_keep_the_order_of_their_rows(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(history(10), path)
    assert not told(lambda: cer_spark.run_files(str(path), TIED, order_by="ts").collect())
    assert "ties" not in inspect.signature(cer_spark.run_files).parameters
    with pytest.raises(TypeError, match="tied rows keep the order of the files"):
        cer_spark.run_files(str(path), TIED, order_by="ts", ties="any")
    with pytest.raises(TypeError, match="tied rows keep the order of the files"):
        cer_spark.backtest_files(str(path), {"q": TIED}, order_by="ts", ties="any")


def test_the_error_is_a_data_error_of_the_task() -> None:
    from cer_gpu.spark.worker import Worker

    table = history(2)
    task = task_of(TIED, table.schema, "count", order_by="ts", ties="error")
    batches = table.select(task.columns).to_batches()
    with pytest.raises(DataError, match="4 rows of a task have the same `ts`"):
        list(Worker(task.dumped())(batches))
    with pytest.raises(DataError, match=r"rows? (of a task have|has) the same `ts`"):
        list(Worker(task.dumped(), streamed=True)(batches))

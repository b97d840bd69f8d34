"""What the RAPIDS Accelerator says of our plans, in its mode that needs neither a GPU nor a driver.

Not part of the usual run, since its jar is about 1 GB: `make test-rapids` fetches it and names it in
`RAPIDS_JAR`.
"""

import os
import re
import warnings

import pytest
import spark_sessions
from cer_gpu.spark import count, counts, hits, jvm, run, settings
from cer_gpu.spark.checks import check
from pyspark.sql import SparkSession

pytestmark = [pytest.mark.rapids, spark_sessions.GROUP]

KEYED = "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 10] PARTITION BY [k] WITHIN 5 MINUTES"
UNBOUNDED = "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 10] PARTITION BY [k]"
WINDOWED = "SELECT * FROM S WHERE A AS a ; B AS b FILTER a[price > 10] WITHIN 5 MINUTES"
ROWS = 2000
TIME = {"order_by": "ts", "order_unit": "s"}


@pytest.fixture(scope="module")
def rapids(tmp_path_factory):
    """A session that explains for RAPIDS. The jar is on the class path: `spark.jars` would copy it."""
    from cer_gpu.spark.java import require_java

    require_java()
    jar = os.environ["RAPIDS_JAR"]
    session = (
        spark_sessions.local_builder()
        .config(
            map={
                settings.DRIVER_CLASS_PATH.key: jar,
                settings.PLUGINS.key: settings.RAPIDS_PLUGIN,
                settings.RAPIDS_MODE.key: "explainOnly",
                "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
            }
        )
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def trades(rapids, tmp_path_factory) -> SparkSession:
    path = str(tmp_path_factory.mktemp("lake") / "trades")
    columns = [
        "IF(id % 3 = 0, 'A', 'B') AS type",
        "id AS ts",
        "CAST(id % 90 AS double) AS price",
        "CAST(id % 7 AS string) AS k",
    ]
    rapids.range(ROWS).selectExpr(*columns).write.parquet(path)
    return rapids.read.parquet(path)


def operators(explained):
    """The operators of a plan and where each would run: [("SortExec", "will run on GPU"), ...]."""
    found = re.findall(r"^\s*([*!@#]?)Exec <(\w+)> (.*)$", explained, re.MULTILINE)
    assert found, explained
    return [(name, place) for _, name, place in found]


def assert_on_gpu(frame, *names):
    explained = jvm.rapids_explain(frame)
    told = operators(explained)
    assert {name for name, _ in told} >= set(names), explained
    for name, place in told:
        wanted = "will partially run on GPU" if name == "MapInArrowExec" else "will run on GPU"
        assert place.startswith(wanted), explained
    assert check_of_plan(frame) == []


def check_of_plan(frame):
    rows = check(frame.sparkSession, frame, ask_executors=False).collect()
    return [row["reason"] for row in rows if row["what"] == "plan"]


def test_the_accelerator_is_the_one_that_the_settings_name(rapids):
    assert jvm.rapids_version(rapids) == settings.RAPIDS_VERSION
    assert jvm.rapids_knows(rapids)
    reasons = [row["reason"] for row in check(rapids, ask_executors=False).collect()]
    assert reasons == ["spark.rapids.sql.mode=explainOnly"]


@pytest.mark.parametrize("ask", [run, hits, count, counts])
def test_a_keyed_query(trades, ask):
    frame = ask(trades.where("price < 80"), KEYED, rows=ROWS, **TIME)
    assert_on_gpu(frame, "FileSourceScanExec", "FilterExec", "ShuffleExchangeExec", "MapInArrowExec")


def test_a_keyed_query_that_is_streamed(trades, rapids):
    rapids.conf.set(settings.ROWS_PER_TASK.key, "100")
    try:
        frame = run(trades, UNBOUNDED, rows=ROWS, **TIME)
    finally:
        rapids.conf.unset(settings.ROWS_PER_TASK.key)
    assert_on_gpu(frame, "FileSourceScanExec", "ShuffleExchangeExec", "SortExec", "MapInArrowExec")


@pytest.mark.parametrize("rows_per_task", ["100", "4000000"])
def test_a_query_without_keys(trades, rapids, rows_per_task):
    rapids.conf.set(settings.ROWS_PER_TASK.key, rows_per_task)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            frame = run(trades, WINDOWED, rows=ROWS, **TIME)
    finally:
        rapids.conf.unset(settings.ROWS_PER_TASK.key)
    assert_on_gpu(frame, "FileSourceScanExec", "ShuffleExchangeExec", "MapInArrowExec")


def test_what_stays_on_the_cpu_is_told(trades):
    frame = trades.rdd.toDF(trades.schema).repartition(2, "k")
    assert any("RDDScanExec" in reason for reason in check_of_plan(frame)), jvm.rapids_explain(frame)

"""The Spark session that tests share: two threads in this process, no web page, few shuffle partitions.

A file of Spark tests asks for the fixture `spark`, or `connect` for Spark Connect, and says
`pytestmark = spark_sessions.GROUP`, so that one worker process of a parallel run holds the only JVM.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

GROUP = pytest.mark.xdist_group("spark")
"""All tests with this mark run in one worker process."""

APPLICATION = pytest.mark.xdist_group("application")
"""Besides `GROUP`: tests that start Spark in a process of its own run in another worker, one after another.

They take four minutes, in which the first worker answers what is asked of its session.
"""

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of the JVMs of tests: they live shortly, and their code is not worth being optimised."""

LOCAL = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.executor.extraJavaOptions": SHORT_LIVED,
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings under which a session is small, quiet, and needs no name service."""


def local_builder(master: str = "local[2]") -> Any:
    """A builder of a session with the settings of `LOCAL`, not yet started."""
    from pyspark.sql import SparkSession

    # Otherwise workers run the first `python3` of the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # The driver's Java otherwise finds its address by the host's name, which a container may not resolve.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return SparkSession.builder.master(master).appName("cer-gpu tests").config(map=LOCAL)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One `local[2]` session for all tests of this process."""
    from cer_gpu.spark.java import require_java

    require_java()
    folder = tmp_path_factory.mktemp("spark")
    session = (
        local_builder()
        .config("spark.local.dir", str(folder))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def short_lived_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines on the JVM that a test starts do not optimise their code either."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", SHORT_LIVED)


@pytest.fixture(scope="session")
def connect(spark: Any) -> Any:
    """A session of Spark Connect, whose server runs in the JVM of `spark`: no second JVM is started."""
    from pyspark.sql.connect.session import SparkSession

    service = spark._jvm.org.apache.spark.sql.connect.service
    service.SparkConnectService.start(spark.sparkContext._jsc.sc())
    # A method of the Scala object that its class in Java does not show.
    port = getattr(service, "SparkConnectService$").__getattr__("MODULE$").localPort()
    return SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()


@pytest.fixture
def small_tasks(spark: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tasks of a few hundred events, so that a small history is cut."""
    monkeypatch.setattr("cer_gpu.spark.routes.SMALL", 200)
    spark.conf.set("spark.cer.rowsPerTask", "500")
    yield
    spark.conf.unset("spark.cer.rowsPerTask")

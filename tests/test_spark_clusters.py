"""The operators where tasks are far away: a cluster with the plugin, whose tasks die, and Spark Connect."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import spark_cluster_app
import spark_sessions
from cer_gpu.spark import routes
from cer_gpu.spark.build_plugin import build_plugin
from cer_gpu.spark.gpu import device_of_task, number_of
from test_spark_operators import history, rows_of

import cer_gpu as cer
from cer_gpu import spark as cer_spark
from cer_gpu.engine.run import device_choice
from cer_gpu.errors import DeviceError, QueryError

pytestmark = spark_sessions.GROUP


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("lake")
    table = history(seed=5)
    for number in range(3):
        path = folder / f"{number}.parquet"
        pq.write_table(table.slice(number * 1000, 1000), path, row_group_size=250)
    return str(folder)


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_plugin(tmp_path_factory.mktemp("plugin"))


def application(plugin: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the application in a process of its own."""
    path = Path(spark_cluster_app.__file__)
    return subprocess.run(
        [sys.executable, str(path), str(plugin), str(folder), *arguments],
        env=os.environ | {"PYTHONPATH": str(path.parent)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=folder,
    )


@pytest.fixture(scope="module")
def told(
    plugin: Path, lake: str, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> tuple[Path, str]:
    """What the application has written, and what it printed: the tests of it share one run."""
    folder = tmp_path_factory.mktemp("cluster")
    done = application(plugin, folder, lake, *["--all"] * pytestconfig.getoption("--all"))
    assert done.returncode == 0, done.stderr[-4000:]
    return folder, done.stdout


@pytest.mark.large
@spark_sessions.APPLICATION
def test_metrics_and_gpus_of_tasks(told: tuple[Path, str]) -> None:
    folder, printed = told
    assert json.loads(printed.splitlines()[-1]) == [{"gpu": 5, "sent": True, "mode": "0o600"}] * 2
    values = {"events": "1000", "hits": "3", "tasks": "1", "device": "cuda:5", "eventsPerBusySecond": "2000"}
    for executor in (0, 1):
        for metric, value in values.items():
            (path,) = folder.glob(f"metrics/*.{executor}.plugin.org.cergpu.spark.CerPlugin.{metric}.csv")
            last = path.read_text().splitlines()[-1].split(",")[1]
            assert last.removesuffix(".0") == value, metric


@pytest.mark.large
@spark_sessions.APPLICATION
def test_tasks_and_executors_that_die_change_nothing(told: tuple[Path, str], lake: str) -> None:
    folder, _ = told
    for name, query in spark_cluster_app.QUERIES.items():
        local = cer.compile(query).run(lake, order_by="ts").to_arrow()
        found = pq.read_table(folder / f"{name}.parquet")
        assert len(found) > 20
        assert rows_of(found) == rows_of(local.cast(found.schema)), name
    sweep = cer.sweep(spark_cluster_app.TEMPLATE, **spark_cluster_app.SWEPT)
    made = cer.backtest(sweep, lake, **spark_cluster_app.BACKTEST, order_by="ts", device="cpu")
    assert sum(row["n"] > 20 for row in made.outcomes.to_pylist()) > 4
    assert len(made.to_arrow()) > 100
    for name in ("backtest", "backtest of files"):
        assert rows_of(pq.read_table(folder / f"{name}.parquet")) == rows_of(made.to_arrow())
        assert pq.read_table(folder / f"{name}, outcomes.parquet").to_pylist() == made.outcomes.to_pylist()
        hits = [pq.read_table(folder / f"{name}, hits.parquet"), made.outcome_hits]
        one, other = (rows_of(table.drop_columns(["position"])) for table in hits)
        assert one == other
    died = {path.name for path in folder.glob("*-died-*")}
    assert died == {f"{job}-died-{partition}" for job in spark_cluster_app.JOBS for partition in (0, 1)}


@pytest.mark.large
@spark_sessions.APPLICATION
def test_another_version_ends_the_job(plugin: Path, tmp_path: Path) -> None:
    done = application(plugin, tmp_path, "--version", "99.0")
    assert done.returncode != 0
    message = "has cer-gpu .* in .*; the driver has 99.0: install cer-gpu==99.0 for it"
    wanted = rf"Job 0 cancelled cer-gpu: executor \d+ on \S+ {message}"
    assert re.search(wanted, done.stderr), done.stderr[-3000:]


@spark_sessions.APPLICATION
def test_the_jar_is_the_same_each_time(plugin: Path, tmp_path: Path) -> None:
    again = build_plugin(tmp_path / "made")
    assert again.name == plugin.name
    assert again.read_bytes() == plugin.read_bytes()
    with zipfile.ZipFile(again) as archive:
        assert "org/cergpu/spark/CerPlugin.class" in archive.namelist()
        assert b"Implementation-Version: " in archive.read("META-INF/MANIFEST.MF")


def test_spark_connect(connect: Any, lake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a process that speaks to a server alone has: PySpark's functions then make columns for it.
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    monkeypatch.setattr(routes, "SMALL", 200)
    connect.conf.set("spark.cer.rowsPerTask", "500")
    frame = connect.read.parquet(lake)
    for text in (spark_cluster_app.KEYED, spark_cluster_app.TIMED):
        query = cer.compile(text)
        local = query.run(lake, order_by="ts").to_arrow()
        found = cer_spark.run(frame, query, order_by="ts", event_id="row").toArrow()
        assert rows_of(found) == rows_of(local.cast(found.schema))
        assert int(cer_spark.count(frame, query, order_by="ts").collect()[0]["count"]) == len(local)
        there = cer_spark.run_files(lake, query, order_by="ts", event_id="row", spark=connect).toArrow()
        assert rows_of(there) == rows_of(local.cast(there.schema))
    with pytest.raises(QueryError, match="prize"):
        cer_spark.run(frame, "SELECT * WHERE A AS a FILTER a[prize > 3]", order_by="ts")


# -------------------------------------------------------------------------------- the GPU of a task


@pytest.mark.parametrize(
    ("visible", "addresses", "partition", "count", "expected"),
    [
        (None, ["3"], 0, 8, 3),  # what Spark gave the task
        (None, [], 5, 2, 1),  # local mode: by the number of the partition
        ("", [], 5, 4, 1),
        ("6", ["6"], 3, 1, 0),  # the executor sees one GPU, whatever its address
        ("4,6", ["6"], 3, 2, 1),
        ("4,6", ["1"], 3, 2, 1),  # addresses of another kind: by the number of the partition
        ("GPU-1f,GPU-2e", ["GPU-2e"], 0, 2, 1),
    ],
)
def test_the_number_of_a_tasks_gpu(
    visible: str | None, addresses: list[str], partition: int, count: int, expected: int
) -> None:
    assert number_of(visible, addresses, partition, count) == expected


def test_a_gpu_that_the_process_does_not_see_is_an_error() -> None:
    for address in ("8", "GPU-1f"):
        with pytest.raises(DeviceError, match="discovery script"):
            number_of(None, [address], 0, 8)


class Context:
    """What a task knows of itself."""

    def __init__(self, partition: int, gpus: list[str] | None = None) -> None:
        self._partition = partition
        self._gpus = gpus

    def partitionId(self) -> int:  # noqa: N802
        return self._partition

    def resources(self) -> dict[str, Any]:
        from pyspark.resource import ResourceInformation

        return {} if self._gpus is None else {"gpu": ResourceInformation("gpu", self._gpus)}


def test_the_gpu_is_resolved_in_every_task(monkeypatch: pytest.MonkeyPatch) -> None:
    from cer_gpu.engine import devices

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(devices, "usable_devices", lambda: (2, "two devices"))
    monkeypatch.setattr(devices, "no_driver", lambda: None)
    monkeypatch.setattr(device_choice, "why_wrong", lambda number, *engines: None)
    assert device_of_task("auto", Context(0, ["1"])) == ("cuda:1", "")
    assert device_of_task("auto", Context(0, ["0"])) == ("cuda:0", "")  # the same worker, the next task
    assert device_of_task("required", Context(3)) == ("cuda:1", "")
    assert device_of_task("off", Context(3)) == ("cpu", "")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5")
    assert device_of_task("auto", Context(0, ["5"])) == ("cuda:0", "")


def test_a_gpu_that_is_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from cer_gpu.engine import devices

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(devices, "usable_devices", lambda: (2, "two devices"))
    told = "cuda:1 (H200) failed the comparison with the CPU: kernel walk"
    monkeypatch.setattr(device_choice, "why_wrong", lambda number, *engines: told if number == 1 else None)
    assert device_of_task("auto", Context(0, ["1"])) == ("cpu", f"a task runs on the CPU: {told}")
    assert device_of_task("auto", Context(0, ["0"])) == ("cuda:0", "")
    with pytest.raises(DeviceError, match=r"required, and the GPU of the task cannot be used: cuda:1"):
        device_of_task("required", Context(0, ["1"]))


def test_without_a_gpu_the_reason_is_told_or_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from cer_gpu.engine import devices

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(devices, "usable_devices", lambda: (0, "the driver is too old"))
    assert device_of_task("auto", Context(0, ["1"])) == (
        "cpu",
        "a task runs on the CPU: the driver is too old",
    )
    with pytest.raises(DeviceError, match="the driver is too old"):
        device_of_task("required", Context(0, ["1"]))
    monkeypatch.setattr(devices, "no_driver", lambda: "no NVIDIA driver is installed")
    assert device_of_task("auto", Context(0)) == ("cpu", "")  # nobody spoke of GPUs
    with pytest.raises(DeviceError):
        device_of_task("required", Context(0))

"""Lists why a Spark session would not run a query on a GPU: `check`."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from cer_gpu.spark import jvm, settings
from cer_gpu.spark.java import OLDEST, parse_version
from cer_gpu.spark.settings import Setting

from cer_gpu.frozen_dataclass import dataclass

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "what string, reason string, remedy string"
_REPORT = "host string, python string, spark string, cer string, device string, reason string"
_KNOWN_SPARK = ((4, 0), (4, 1))


@dataclass(frozen=True, slots=True, order=True)
class Reason:
    """One thing that keeps work off the GPU.

    Attributes
    ----------
    what : {"versions", "executors", "settings", "rapids", "plan"}
        "executors" and "settings" keep the Python workers off the GPU, "rapids" and "plan" keep Spark's own
        operators off it, "versions" may do either.
    reason : str
        What it is, as one sentence.
    remedy : str
        What to do about it; empty if nothing can be done.
    """

    what: str
    reason: str
    remedy: str


def check(spark: SparkSession, df: DataFrame | None = None, *, ask_executors: bool = True) -> DataFrame:
    """List what keeps a session, or the plan of a DataFrame, off the GPU.

    Under Spark Connect, the class path of the driver and the plan of RAPIDS cannot be seen; everything else
    is checked.

    Parameters
    ----------
    spark : SparkSession
    df : DataFrame, optional
        A DataFrame whose plan is checked as well: which operators the RAPIDS Accelerator would leave on the
        CPU.
    ask_executors : bool, default True
        Whether to run a small job whose tasks report their versions and devices.

    Returns
    -------
    DataFrame
        One row for each reason, with the string columns `what` ("versions", "executors", "settings", "rapids"
        or "plan"), `reason` and `remedy` (what to do about it). No row means that nothing was found.

    Raises
    ------
    SettingError
        When a key of cer-gpu has a value that it cannot have.

    Examples
    --------
    >>> cer_spark.check(spark).show(truncate=False)
    """
    reasons = [*versions(spark), *wishes(spark), *rapids(spark)]
    if ask_executors:
        reasons += executors(spark)
    if df is not None:
        reasons += plan(df)
    rows = [astuple(reason) for reason in dict.fromkeys(reasons)]
    return spark.createDataFrame(rows, SCHEMA)


def versions(spark: SparkSession) -> Iterator[Reason]:
    """Versions that do not fit each other: of pyspark, Spark, Java."""
    import pyspark

    ours, theirs = pyspark.__version__, spark.version
    if ours.split(".")[:2] != theirs.split(".")[:2]:
        yield Reason(
            "versions",
            f"pyspark is {ours} and the cluster's Spark is {theirs}",
            f"install pyspark=={theirs.split('-')[0]} here",
        )
    if tuple(int(part) for part in theirs.split(".")[:2]) not in _KNOWN_SPARK:
        yield Reason("versions", f"cer-gpu is tested with Spark 4.0 and 4.1, and this is {theirs}", "")
    java = jvm.java_of(spark)
    if java is not None and (parse_version(java) or 0) < OLDEST:
        yield Reason("versions", f"the driver's Java is {java}", f"run Spark on Java {OLDEST} or 21")


def wishes(spark: SparkSession) -> Iterator[Reason]:
    """Settings that keep the Python workers off the GPU."""
    if settings.value(spark, settings.GPU) == "off":
        yield Reason("settings", f"{settings.GPU.key}=off", f"set {settings.GPU.key} to auto or required")
    master = _told(spark, "spark.master")
    if not master or master == "local" or master.startswith("local["):
        return
    for setting, example in ((settings.EXECUTOR_GPUS, "1"), (settings.TASK_GPUS, "0.25")):
        if settings.value(spark, setting) in (None, "0"):
            yield Reason(
                "settings",
                f"{setting.key} is not set: Spark gives tasks no GPU",
                f"set {setting.key}={example} where the application is started, "
                'or configure(..., gpu="required")',
            )
    if master.startswith(("yarn", "k8s:")) and settings.value(spark, settings.DISCOVERY) is None:
        yield Reason(
            "settings",
            f"{settings.DISCOVERY.key} is not set: executors cannot tell which GPUs they have",
            f"set {settings.DISCOVERY.key} to the path of a discovery script on the executors' machines",
        )
    if master.startswith("k8s:") and settings.value(spark, settings.VENDOR) is None:
        yield Reason(
            "settings",
            f"{settings.VENDOR.key} is not set: Kubernetes is not asked for GPUs",
            f"set {settings.VENDOR.key}=nvidia.com",
        )


def rapids(spark: SparkSession) -> Iterator[Reason]:
    """What keeps Spark's own operators (scan, filter, exchange, sort) off the GPU."""
    jar_is_there = jvm.has_class(spark, settings.RAPIDS_PLUGIN)
    enabled = settings.RAPIDS_PLUGIN in (settings.value(spark, settings.PLUGINS) or "")
    if jar_is_there is False:
        yield Reason(
            "rapids",
            "the jar of the RAPIDS Accelerator is not on the driver's class path",
            f"start the application with --packages {settings.RAPIDS_PACKAGE}, or name a jar with --jars",
        )
    elif jar_is_there and not jvm.rapids_knows(spark):
        yield Reason(
            "rapids",
            f"RAPIDS Accelerator {jvm.rapids_version(spark)} was not built for Spark {spark.version}",
            f"take {settings.RAPIDS_PACKAGE}, or a Spark that this one was built for",
        )
    if not enabled:
        yield Reason(
            "rapids",
            f"{settings.PLUGINS.key} does not name {settings.RAPIDS_PLUGIN}",
            f"start the application with {settings.PLUGINS.key}={settings.RAPIDS_PLUGIN}",
        )
        return
    yield from _rapids_settings(spark)


def _rapids_settings(spark: SparkSession) -> Iterator[Reason]:
    if _told(spark, settings.RAPIDS_ENABLED).lower() == "false":
        yield _wrong(settings.RAPIDS_ENABLED, "false", "true")
    if _told(spark, settings.RAPIDS_MODE).lower() == "explainonly":
        yield _wrong(settings.RAPIDS_MODE, "explainOnly", "executeOnGPU, when the application is started")
    if _told(spark, settings.RAPIDS_PYTHON).lower() != "true":
        return
    daemon = _told(spark, settings.PYTHON_DAEMON)
    if daemon and not daemon.startswith("rapids."):
        yield _wrong(
            settings.PYTHON_DAEMON, daemon, f"rapids.daemon, or {settings.RAPIDS_PYTHON.key} to false"
        )
    if _told(spark, settings.RAPIDS_PYTHON_POOL).lower() != "false":
        yield Reason(
            "rapids",
            f"{settings.RAPIDS_PYTHON_POOL.key} is not false: RAPIDS takes half of the GPU's free memory for "
            "Python workers, and imports rmm for it",
            f"set {settings.RAPIDS_PYTHON_POOL.key}=false",
        )


def executors(spark: SparkSession) -> list[Reason]:
    """Reasons from the tasks of a small job: versions that differ from the driver's, and missing GPUs."""
    from cer_gpu import __version__

    try:
        reports = spark.range(0, 64, 1, 4).mapInArrow(report, _REPORT).distinct().collect()
    except Exception as error:
        return [Reason("executors", f"a task that asks for the device failed: {_gist(error)}", _INSTALL)]
    found = []
    for told in reports:
        if told["cer"] != __version__:
            found.append(
                Reason(
                    "executors",
                    f"{told['host']} has cer-gpu {told['cer']}, the driver {__version__}",
                    _INSTALL,
                )
            )
        if told["python"].rpartition(".")[0] != platform.python_version().rpartition(".")[0]:
            found.append(
                Reason(
                    "executors",
                    f"{told['host']} runs Python {told['python']}, the driver {platform.python_version()}",
                    "set PYSPARK_PYTHON to the same version everywhere",
                )
            )
        if told["device"] == "cpu":
            found.append(
                Reason("executors", f"{told['host']} runs tasks on the CPU: {told['reason']}", _DRIVER)
            )
    return found


_INSTALL = "install cer-gpu in the driver's version, with the extra `cuda`, in the Python of the executors"
_DRIVER = "run on machines with a GPU, its driver, and cer-gpu with the extra `cuda`"


def report(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Report on a worker, from inside a task: one row."""
    import pyarrow as pa
    import pyspark
    from cer_gpu.spark.gpu import device_of_task
    from pyspark import TaskContext

    from cer_gpu import __version__
    from cer_gpu.engine.devices import no_driver

    for _ in batches:
        # Read to the end: Spark may take a worker that leaves rows for one that failed.
        pass
    device, reason = device_of_task("auto", TaskContext.get())
    told = {
        "host": platform.node(),
        "python": platform.python_version(),
        "spark": pyspark.__version__,
        "cer": __version__,
        "device": "cpu" if device == "cpu" else "gpu",
        "reason": reason.rpartition("CPU: ")[2] or (no_driver() or "") if device == "cpu" else "",
    }
    yield pa.RecordBatch.from_pylist([told])


def plan(df: DataFrame) -> list[Reason]:
    """The operators of a plan that the RAPIDS Accelerator would leave on the CPU; empty without RAPIDS."""
    explained = jvm.rapids_explain(df)
    lines = [] if explained is None else [line.strip() for line in explained.splitlines()]
    return [Reason("plan", line.lstrip("! "), "") for line in lines if line.startswith("!")]


def _wrong(setting: Setting, value: str, wanted: str) -> Reason:
    return Reason("rapids", f"{setting.key}={value}", f"set it to {wanted}")


def _told(spark: SparkSession, setting: Setting | str) -> str:
    key, default = (setting, None) if isinstance(setting, str) else (setting.key, setting.default)
    return spark.conf.get(key, default) or ""


def _gist(error: Any) -> str:
    """The last line of an error that says something: of a worker's traceback, the exception itself."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    errors = [line for line in lines if "Error: " in line and not line.startswith("at ")]
    return (errors or lines or [type(error).__name__])[-1]

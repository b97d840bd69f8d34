"""Every configuration key that this package reads or sets, in one table that the documentation shows.

`python -m cer_gpu.spark.settings` prints it; `docs/howto/spark-settings.md` is what it printed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from cer_gpu.spark.gpu import GPU_MODES

from cer_gpu.errors import CerError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RAPIDS_VERSION = "26.08.1"
"""The RAPIDS Accelerator whose plans were looked at."""

RAPIDS_PACKAGE = f"com.nvidia:rapids-4-spark_2.13:{RAPIDS_VERSION}"
RAPIDS_PLUGIN = "com.nvidia.spark.SQLPlugin"
CER_PLUGIN = "org.cergpu.spark.CerPlugin"


class SettingError(CerError):
    """A configuration key has a wrong value."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One configuration key.

    Attributes
    ----------
    owner : {"cer-gpu", "Spark", "RAPIDS"}
        Who defines the key.
    key : str
    kind : str
        The type of its value, as the documentation names it.
    default : str or None
        The value if it is not set: the default of its owner. None: no value.
    applies : {"runtime", "startup"}
        "runtime": read at each call, and `spark.conf.set` changes it, under Spark Connect too; "startup":
        read when the application starts.
    meaning : str
        One sentence or two, in Markdown without `|`.
    parse : callable
        Turns text into a value; raises ValueError.
    """

    owner: Literal["cer-gpu", "Spark", "RAPIDS"]
    key: str
    kind: str
    default: str | None
    applies: Literal["runtime", "startup"]
    meaning: str
    parse: Callable[[str], Any] = str


def _gpu(text: str) -> str:
    if text not in GPU_MODES:
        raise ValueError(f"one of {', '.join(GPU_MODES)}")
    return text


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or int(text) == 0:
        raise ValueError("a whole number above 0")
    return int(text)


_own = partial(Setting, "cer-gpu")
_spark = partial(Setting, "Spark")
_rapids = partial(Setting, "RAPIDS")

GPU = _own(
    "spark.cer.gpu",
    "auto, required, off",
    "auto",
    "runtime",
    "Where tasks run: `auto` takes a GPU where the task has one and falls back to the CPU with the reason in "
    "the log; `required` fails where there is none; `off` never looks for one.",
    _gpu,
)
ROWS_PER_TASK = _own(
    "spark.cer.rowsPerTask",
    "integer",
    "4000000",
    "runtime",
    "About how many events a task gets: the number of tasks is that of the events divided by it.",
    _positive,
)
VERSION = _own(
    "spark.cer.version",
    "text",
    None,
    "startup",
    "The version of cer-gpu that every executor must have; the JVM plugin compares it when one starts.",
)
ARROW_RECORDS = _spark(
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "integer",
    "10000",
    "runtime",
    "Rows of a batch between the JVM and Python; 0 means no limit.",
)
ARROW_BYTES = _spark(
    "spark.sql.execution.arrow.maxBytesPerBatch",
    "bytes",
    None,
    "runtime",
    "Bytes of such a batch, so that wide rows do not make it huge (Spark 4.0 does not know this key).",
)
EXECUTOR_GPUS = _spark(
    "spark.executor.resource.gpu.amount",
    "integer",
    None,
    "startup",
    "GPUs of an executor; the RAPIDS Accelerator wants exactly 1.",
)
TASK_GPUS = _spark(
    "spark.task.resource.gpu.amount",
    "number",
    None,
    "startup",
    "The share of a GPU that a task takes: 0.25 lets four tasks of an executor use it at once.",
)
DISCOVERY = _spark(
    "spark.executor.resource.gpu.discoveryScript",
    "path",
    None,
    "startup",
    "A program on the executors' machines that prints which GPUs there are; the one of this package asks "
    "`nvidia-smi`.",
)
FILES = _spark(
    "spark.files",
    "paths, comma-separated",
    None,
    "startup",
    "Files that are copied to the executors; on YARN `configure` adds the discovery script.",
)
VENDOR = _spark(
    "spark.executor.resource.gpu.vendor",
    "text",
    None,
    "startup",
    "The vendor of the GPUs: with `nvidia.com` Kubernetes is asked for `nvidia.com/gpu`.",
)
PLUGINS = _spark(
    "spark.plugins",
    "class names, comma-separated",
    None,
    "startup",
    f"`{RAPIDS_PLUGIN}` puts Spark's own operators on the GPU; `{CER_PLUGIN}` checks versions and publishes "
    "metrics.",
)
PACKAGES = _spark(
    "spark.jars.packages",
    "Maven coordinates, comma-separated",
    None,
    "startup",
    "Where the RAPIDS Accelerator comes from if no jar was named. It is about 1 GB: name a jar that is "
    "already on the machines where you can.",
)
JARS = _spark(
    "spark.jars", "paths, comma-separated", None, "startup", "Jars for the driver and the executors."
)
DRIVER_CLASS_PATH = _spark(
    "spark.driver.extraClassPath",
    "paths",
    None,
    "startup",
    "Further places of the jar of a plugin.",
)
RAPIDS_ENABLED = _rapids(
    "spark.rapids.sql.enabled", "boolean", "true", "runtime", "Whether the RAPIDS Accelerator changes plans."
)
RAPIDS_MODE = _rapids(
    "spark.rapids.sql.mode",
    "executeOnGPU, explainOnly",
    "executeOnGPU",
    "startup",
    "`explainOnly` says what would run on a GPU and needs none.",
)
RAPIDS_MEMORY = _rapids(
    "spark.rapids.memory.gpu.allocFraction",
    "number",
    "1",
    "startup",
    "The share of the GPU's memory that the executor's JVM takes at its start; the rest is left to Python.",
)
RAPIDS_MOST_MEMORY = _rapids(
    "spark.rapids.memory.gpu.maxAllocFraction",
    "number",
    "1.0",
    "startup",
    "The largest share that the JVM ever takes.",
)
RAPIDS_LEAST_MEMORY = _rapids(
    "spark.rapids.memory.gpu.minAllocFraction",
    "number",
    "0.25",
    "startup",
    "The smallest share with which the JVM starts.",
)
RAPIDS_PINNED = _rapids(
    "spark.rapids.memory.pinnedPool.size",
    "bytes",
    "0",
    "startup",
    "Page-locked host memory for copies from and to the GPU.",
)
RAPIDS_PYTHON = _rapids(
    "spark.rapids.sql.python.gpu.enabled",
    "boolean",
    "false",
    "runtime",
    "Lets RAPIDS start the Python workers with its own daemon and choose their GPU. It is not needed: tasks "
    "find their GPU by themselves.",
)
RAPIDS_PYTHON_POOL = _rapids(
    "spark.rapids.python.memory.gpu.pooling.enabled",
    "boolean",
    None,
    "runtime",
    "Whether that daemon takes half of the free memory of the GPU for a pool, which needs the Python package "
    "`rmm`.",
)
PYTHON_DAEMON = _spark(
    "spark.python.daemon.module",
    "module",
    None,
    "startup",
    "`rapids.daemon` serves the two keys above; it is in the RAPIDS jar, which `PYTHONPATH` must name.",
)

SETTINGS = tuple(one for one in list(globals().values()) if isinstance(one, Setting))
"""All of them, in the order of the documentation."""


def value(spark: SparkSession, setting: Setting) -> Any:
    """The value of a key in a session; works under Spark Connect.

    Returns
    -------
    object
        Of the type that `setting.parse` returns; None if the key is not set and has no default.

    Raises
    ------
    SettingError
        When the text is not a value of this key.
    """
    return parsed(setting, spark.conf.get(setting.key, setting.default))


def parsed(setting: Setting, text: str | None) -> Any:
    """A value from its text; None stays None.

    Raises
    ------
    SettingError
        When the text is not a value of this key.
    """
    if text is None:
        return None
    try:
        return setting.parse(text)
    except ValueError as error:
        raise SettingError(f"{setting.key}={brief(text)}: it must be {error}") from None


def rendered() -> str:
    """The table of all keys, in Markdown."""
    lines = ["| Key | Type | Default | Of | Read at | Meaning |", "| --- | --- | --- | --- | --- | --- |"]
    for setting in SETTINGS:
        default = "" if setting.default is None else f"`{setting.default}`"
        lines.append(
            f"| `{setting.key}` | {setting.kind} | {default} | {setting.owner} | {setting.applies} "
            f"| {setting.meaning} |"
        )
    return "\n".join(lines) + "\n"


PREFACE = """# Configuration keys

Printed by `python -m cer_gpu.spark.settings`. `configure` sets the keys of Spark and RAPIDS that are not
set yet; the operators read the keys of cer-gpu.

"""


if __name__ == "__main__":
    sys.stdout.write(PREFACE + rendered())

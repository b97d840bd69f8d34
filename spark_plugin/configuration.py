"""Sets the keys that a session needs before it starts, except those that a user has set in any place."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cer_gpu.spark import settings
from cer_gpu.spark.java import require_java
from cer_gpu.spark.settings import Setting

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


DISCOVERY_SCRIPT = Path(__file__).with_name("discover_gpus.sh")
"""Prints the GPUs of a machine in the form that Spark asks for."""

_ARROW = {settings.ARROW_RECORDS: "65536", settings.ARROW_BYTES: str(64 << 20)}
_PYTHON = "PYSPARK_PYTHON"


@dataclass(slots=True)
class _Plan:
    """The keys to set, in order, and the messages to print."""

    values: dict[Setting, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def configure(
    builder: SparkSession.Builder | None = None,
    gpu: Literal["auto", "required", "off"] = "auto",
    rapids: Literal["auto"] | bool = "auto",
    *,
    plugin: str | os.PathLike[str] | None = None,
    discovery_script: str | None = None,
    task_gpus: float | None = None,
) -> SparkSession.Builder:
    """Set the configuration keys that a session needs, and print each on a line to standard error.

    A key that is set already keeps its value, whether it was set on the builder, in `PYSPARK_SUBMIT_ARGS`, in
    `spark-defaults.conf`, by spark-submit, or in an application that runs already. If the application runs
    already, or under Spark Connect, only keys that are read at run time are set; a line lists the others,
    which have to be set where the application is started.

    `gpu="auto"` expects a GPU if the settings ask for one (`spark.executor.resource.gpu.amount`). In local
    mode it also expects one if the NVIDIA driver shows a GPU on this machine and `CUDA_VISIBLE_DEVICES` does
    not hide it. Spark's driver cannot see the other machines of a cluster: for YARN, Kubernetes and a
    standalone cluster pass `gpu="required"`, or set that key. Without a GPU, only the sizes of Arrow batches
    are set.

    Parameters
    ----------
    builder : SparkSession.Builder, optional
        By default `SparkSession.builder`; of the classic or the Connect kind.
    gpu : {"auto", "required", "off"}, default "auto"
        "required" asks the cluster manager for GPUs, and tasks fail without one; "off" never looks for one.
    rapids : "auto" or bool, default "auto"
        Whether the RAPIDS Accelerator runs Spark's own operators on the GPU. "auto": if a GPU is expected and
        the settings already name the jar or the plugin of RAPIDS. True: always; if no jar is named, Spark
        fetches it (about 1 GB).
    plugin : path, optional
        The jar that `python -m cer_gpu.spark.build_plugin` made. It checks versions and shows metrics.
    discovery_script : str, optional
        The path, on the executors' hosts, of the script that tells Spark which GPUs they have. By
        default it is the script of this package: YARN ships it along; an image for Kubernetes has it if
        cer-gpu is installed there in the same place.
    task_gpus : float, optional
        The share of a GPU that a task takes; by default 1 divided by `spark.executor.cores`, or 0.25 if that
        key is not set.

    Returns
    -------
    SparkSession.Builder
        The one that was given, or a new one.

    Raises
    ------
    SettingError
        When `gpu` or `rapids` has another value.
    JavaError
        When the session would start in this process, and there is no Java for it.

    Examples
    --------
    >>> spark = cer_spark.configure().getOrCreate()
    """
    if builder is None:
        from pyspark.sql import SparkSession

        return configure(
            SparkSession.builder,
            gpu,
            rapids,
            plugin=plugin,
            discovery_script=discovery_script,
            task_gpus=task_gpus,
        )
    settings.parsed(settings.GPU, gpu)
    if rapids not in ("auto", True, False):
        raise settings.SettingError(f"rapids={brief(rapids)}: give 'auto', True or False")
    known = given(builder)
    if not (known.running or known.connect or "PYSPARK_GATEWAY_PORT" in os.environ):
        require_java()
    plan = _Plan(dict(_ARROW))
    if gpu != "auto":
        plan.values[settings.GPU] = gpu
    why = gpu_expected(known) if gpu == "auto" else gpu == "required" and "it is required"
    if gpu != "off":
        none = "no GPU is expected: only the sizes of Arrow batches are set"
        plan.notes.append(f"GPU: {why}" if why else none)
    if why:
        _plan_gpu(plan, known, discovery_script, task_gpus)
    if rapids is True or (rapids == "auto" and why and rapids_named(known)):
        _plan_rapids(plan, known)
    if plugin is not None:
        _plan_plugin(plan, str(plugin))
    _apply(builder, plan, known)
    return builder


def gpu_expected(known: UserSettings, environment: Mapping[str, str] = os.environ) -> str | None:
    """Why a GPU is expected, as a clause; None if none is.

    Parameters
    ----------
    known : Given
    environment : mapping of str to str
    """
    amount = known.get(settings.EXECUTOR_GPUS.key)
    if amount not in ("", "0"):
        return f"{settings.EXECUTOR_GPUS.key}={amount}"
    if not _is_local(known) or environment.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1"):
        return None
    devices = driver_devices()
    return f"the NVIDIA driver shows {len(devices)} on this machine" if devices else None


def driver_devices(root: Path = Path("/")) -> list[str]:
    """The GPUs that the NVIDIA driver shows in the file system, without starting CUDA."""
    listed = sorted(path.name for path in root.glob("proc/driver/nvidia/gpus/*"))
    return listed or sorted(path.name for path in root.glob("dev/dxg"))


def rapids_named(known: UserSettings) -> bool:
    """Whether the settings name the RAPIDS Accelerator: its plugin, its package or its jar."""
    return settings.RAPIDS_PLUGIN in known.get(settings.PLUGINS.key) or _rapids_jar_named(known)


def _rapids_jar_named(known: UserSettings) -> bool:
    keys = (settings.PACKAGES, settings.JARS, settings.DRIVER_CLASS_PATH)
    return any("rapids-4-spark" in known.get(key.key) for key in keys)


def _is_local(known: UserSettings) -> bool:
    return known.master == "local" or known.master.startswith("local[")


def _plan_gpu(plan: _Plan, known: UserSettings, script: str | None, share: float | None) -> None:
    if _is_local(known):
        # Spark hands out no resources in local mode: a task takes a GPU by the number of its partition.
        return
    cores = known.get("spark.executor.cores")
    if share is None:
        share = 1 / int(cores) if cores.isdecimal() and int(cores) else 0.25
    plan.values[settings.EXECUTOR_GPUS] = "1"
    # Cut, not rounded: Spark gives out floor(1 / share) shares of a GPU.
    plan.values[settings.TASK_GPUS] = f"{int(share * 10_000) / 10_000:g}"
    if known.master.startswith("k8s:"):
        plan.values[settings.VENDOR] = "nvidia.com"
        plan.values[settings.DISCOVERY] = script or str(DISCOVERY_SCRIPT)
    elif known.master.startswith("yarn"):
        if script is None and settings.DISCOVERY.key not in known.values:
            plan.values[settings.FILES] = str(DISCOVERY_SCRIPT)
        plan.values[settings.DISCOVERY] = script or f"./{DISCOVERY_SCRIPT.name}"
    elif script:
        plan.values[settings.DISCOVERY] = script


def _plan_rapids(plan: _Plan, known: UserSettings) -> None:
    plan.values[settings.PLUGINS] = settings.RAPIDS_PLUGIN
    if not _rapids_jar_named(known) and settings.RAPIDS_PLUGIN not in known.get(settings.PLUGINS.key):
        plan.values[settings.PACKAGES] = settings.RAPIDS_PACKAGE
    # The other half of the memory of the GPU is for the kernels, which run in the Python workers.
    plan.values[settings.RAPIDS_MEMORY] = "0.5"
    plan.values[settings.RAPIDS_MOST_MEMORY] = "0.5"
    plan.values[settings.RAPIDS_LEAST_MEMORY] = "0.1"
    plan.values[settings.RAPIDS_PINNED] = "2g"
    plan.values[settings.RAPIDS_PYTHON_POOL] = "false"


def _plan_plugin(plan: _Plan, jar: str) -> None:
    from cer_gpu import __version__

    plugins = plan.values.get(settings.PLUGINS)
    plan.values[settings.PLUGINS] = ",".join(filter(None, [plugins, settings.CER_PLUGIN]))
    plan.values[settings.JARS] = jar
    plan.values[settings.VERSION] = __version__


def _apply(builder: SparkSession.Builder, plan: _Plan, known: UserSettings) -> None:
    for setting, text in plan.values.items():
        if setting.key in known.values:
            place = f"set in {known.places[setting.key]}"
            kept = known.values[setting.key]
            lacking = [part for part in text.split(",") if setting in _LISTS and part not in kept]
            more = f"; add {','.join(lacking)} to it" if lacking else ""
            plan.notes.append(f"{setting.key}={kept} is kept ({place}){more}")
        elif setting.applies == "startup" and (known.running or known.connect):
            which = (
                "server of Spark Connect is started"
                if known.connect
                else "application is started: it runs already"
            )
            plan.notes.append(f"{setting.key}={text} has to be set where the {which}")
        else:
            builder.config(setting.key, text)
            plan.notes.append(f"{setting.key}={text}")
    if _is_local(known) and not (known.running or known.connect or _PYTHON in os.environ):
        # Otherwise the workers run the first `python3` of the path, which may be another one than this.
        os.environ[_PYTHON] = sys.executable
        plan.notes.append(f"{_PYTHON}={sys.executable} in the environment")
    sys.stderr.writelines(f"cer-gpu: {note}\n" for note in plan.notes)


_LISTS = (settings.PLUGINS, settings.JARS, settings.PACKAGES, settings.FILES)
"""Keys whose value is a list, in which more than one can have a part."""


_FLAGS = {
    "--master": "spark.master",
    "--jars": "spark.jars",
    "--packages": "spark.jars.packages",
    "--files": "spark.files",
    "--driver-class-path": "spark.driver.extraClassPath",
    "--executor-cores": "spark.executor.cores",
    "--remote": "spark.remote",
}
"""The options of spark-submit that have a name of their own, for keys that matter here."""


@dataclass(frozen=True, slots=True)
class UserSettings:
    """The keys that are set, and where.

    Attributes
    ----------
    values : dict of str to str
    places : dict of str to str
        For each key of `values`, where it was set, in words.
    running : bool
        Whether the application runs already: keys that are read at its start come too late.
    connect : bool
        Whether the session will use a server that runs elsewhere, by Spark Connect.
    """

    values: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    running: bool = False
    connect: bool = False

    def get(self, key: str) -> str:
        """The value of a key; an empty text if it is not set."""
        return self.values.get(key, "")

    @property
    def master(self) -> str:
        """The URL of the cluster manager; `local[*]` if it is not set."""
        return self.get("spark.master") or "local[*]"


def given(builder: Any, environment: Mapping[str, str] = os.environ) -> UserSettings:
    """Read what is set, the weakest source first.

    Sources: `spark-defaults.conf`, `PYSPARK_SUBMIT_ARGS`, the environment (`MASTER`, `SPARK_REMOTE`), what
    spark-submit told the JVM that started this process, the options of the builder, and the configuration
    of an application that runs already. Nothing is started.

    Parameters
    ----------
    builder : SparkSession.Builder
        A classic one, or one of Spark Connect.
    environment : mapping of str to str

    Returns
    -------
    Given
    """
    values: dict[str, str] = {}
    places: dict[str, str] = {}
    active = _active_application()
    for place, found in (
        ("spark-defaults.conf", defaults_file(environment)),
        ("PYSPARK_SUBMIT_ARGS", dict(submit_arguments(environment.get("PYSPARK_SUBMIT_ARGS", "")))),
        ("the environment", _from_environment(environment)),
        ("spark-submit", _from_gateway(environment)),
        ("the builder", {key: str(option) for key, option in getattr(builder, "_options", {}).items()}),
        ("the running application", active or {}),
    ):
        for key, text in found.items():
            values[key], places[key] = text, place
    return UserSettings(values, places, active is not None, _is_connect(builder, values))


def defaults_file(environment: Mapping[str, str]) -> dict[str, str]:
    """The keys of `spark-defaults.conf` in `SPARK_CONF_DIR`, or in `conf` of `SPARK_HOME`."""
    folder = environment.get("SPARK_CONF_DIR")
    if not folder and environment.get("SPARK_HOME"):
        folder = str(Path(environment["SPARK_HOME"]) / "conf")
    return properties(Path(folder) / "spark-defaults.conf") if folder else {}


def properties(path: Path) -> dict[str, str]:
    """The keys of a properties file of Spark; none if it cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (re.match(r"\s*([^#!\s=:][^\s=:]*)\s*[=:\s]\s*(.*?)\s*$", line) for line in lines)
    return {pair.group(1): pair.group(2) for pair in pairs if pair}


def submit_arguments(text: str) -> Iterator[tuple[str, str]]:
    """The keys and values among the options of spark-submit.

    >>> dict(submit_arguments("--master yarn --conf spark.a=1 --jars x.jar pyspark-shell"))
    {'spark.master': 'yarn', 'spark.a': '1', 'spark.jars': 'x.jar'}
    """
    words = iter(shlex.split(text))
    for word in words:
        flag, joined, rest = word.partition("=")
        if flag not in _FLAGS and flag not in ("--conf", "-c", "--properties-file"):
            continue
        argument = rest if joined else next(words, "")
        if flag == "--properties-file":
            yield from properties(Path(argument)).items()
        elif flag in _FLAGS:
            yield _FLAGS[flag], argument
        else:
            key, _, told = argument.partition("=")
            yield key, told


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    named = {"spark.master": environment.get("MASTER"), "spark.remote": environment.get("SPARK_REMOTE")}
    return {key: text for key, text in named.items() if text}


def _from_gateway(environment: Mapping[str, str]) -> dict[str, str]:
    """The configuration of a JVM that is there before this process; it started it, and has read all files."""
    if "PYSPARK_GATEWAY_PORT" not in environment:
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def _active_application() -> dict[str, str] | None:
    from pyspark.util import is_remote_only

    if is_remote_only():
        return None
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    return None if context is None else dict(context.getConf().getAll())


def _is_connect(builder: Any, values: Mapping[str, str]) -> bool:
    # `local` as a remote starts a server in this machine, which gets the options of the builder.
    remote = values.get("spark.remote", "")
    return remote.startswith("sc:") or (
        not remote and type(builder).__module__.startswith("pyspark.sql.connect")
    )

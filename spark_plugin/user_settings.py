"""Finds the keys that a user has already set, in any place, for a session that is about to start."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from cer_gpu.frozen_dataclass import dataclass

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

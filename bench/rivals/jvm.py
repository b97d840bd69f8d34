"""Engines on the JVM: jars that Maven fetches or that are inside a wheel, and drivers that javac compiles."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from bench.rivals.asked import CannotError, Program
from bench.rivals.questions import Question
from bench.rivals.words import calls, epl, siddhi

DRIVERS = Path(__file__).resolve().parent / "drivers"

KEPT = Path.home() / ".cache" / "cer-gpu-bench"
"""Where jars are kept: those from Maven, and those from the wheel of Flink."""

ESPER = "9.0.0"

SIDDHI = "5.1.30"

FETCHED = {
    "esper": [f"com.espertech:esper-compiler:{ESPER}", f"com.espertech:esper-runtime:{ESPER}"],
    # What Siddhi's own list names in a repository of its makers is taken from where it comes from.
    "siddhi": [
        *(
            f"io.siddhi:siddhi-{part}:{SIDDHI}:alone"
            for part in ("core", "query-api", "query-compiler", "annotations")
        ),
        "com.lmax:disruptor:3.4.4",
        "org.osgi:org.osgi.core:6.0.0",
        "org.antlr:antlr4-runtime:4.11.1",
        "org.quartz-scheduler:quartz:2.3.2",
        "io.dropwizard.metrics:metrics-core:3.1.0",
        "com.google.code.gson:gson:2.10.1",
        "com.google.guava:guava:33.5.0-jre",
        "com.jayway.jsonpath:json-path:2.4.0",
        "org.apache.logging.log4j:log4j-core:2.22.1",
        "org.slf4j:slf4j-api:2.0.11",
    ],
}
"""What Maven fetches: group, artifact and version; `alone` without what it depends on."""

VERSIONS = {"esper": ESPER, "siddhi": SIDDHI}

FLINK = ("flink-dist-", "flink-cep-", "log4j-")

FLINK_JARS = {
    "flink-cep": FLINK,
    "flink-live": (*FLINK, "flink-connector-files-"),
    "flink-sql": (*FLINK, "flink-table-"),
}
"""What an engine needs of the wheel of Flink: its jars whose names begin so."""

UNPACKED = tuple({name: None for names in FLINK_JARS.values() for name in names})

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>bench</groupId><artifactId>rivals</artifactId><version>1</version><dependencies>
{}
</dependencies></project>
"""

ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"

OPENED = ("java.base/java.util", "java.base/java.lang", "java.base/java.time")


def open_esper(path: str) -> Program:
    """Load a file into Esper's process."""
    return _on_the_jvm("esper", path, epl)


def open_siddhi(path: str) -> Program:
    """Load a file into Siddhi's process."""
    return _on_the_jvm("siddhi", path, siddhi)


def open_flink(path: str) -> Program:
    """Load a file into Flink's process."""
    return _on_the_jvm("flink-cep", path, calls)


def open_live_flink(path: str, folder: str, first: int, pause: int, late: int) -> Program:
    """Load a file into the process of a job of Flink that keeps checkpoints and writes its matches.

    Parameters
    ----------
    path : str
        Events, in Parquet.
    folder : str
        Where checkpoints and matches are written.
    first : int
        The number of the event with which the clock starts.
    pause : int
        Milliseconds between checkpoints.
    late : int
        Milliseconds by which events may be out of order.
    """
    return _on_the_jvm("flink-live", path, calls, folder, str(first), str(pause), str(late))


DRIVEN = {"esper": "EsperDriver", "siddhi": "SiddhiDriver", "flink-cep": "FlinkDriver"}

MAIN = {
    **{engine: (name,) for engine, name in DRIVEN.items()},
    "flink-live": ("FlinkDriver", "FlinkLiveDriver"),
}
"""The classes of an engine; the last one is started."""


def is_kept(engine: str) -> bool:
    """Whether the jars of an engine have been fetched, and there is a JDK."""
    if engine.startswith("flink-"):
        kept = _all_unpacked()
    else:
        kept = (KEPT / f"{engine}-{VERSIONS[engine]}" / "jars").exists()
    return kept and shutil.which("javac") is not None


def jars_of(engine: str) -> list[str]:
    """The jars of an engine, which are fetched once."""
    if not engine.startswith("flink-"):
        return _fetched(engine)
    return [str(jar) for jar in _flink_jars() if jar.name.startswith(FLINK_JARS[engine])]


def _all_unpacked() -> bool:
    names = [jar.name for jar in (KEPT / "flink").glob("*.jar")]
    return all(any(name.startswith(first) for name in names) for first in UNPACKED)


def compiled(sources: Iterable[Path], jars: list[str]) -> Path:
    """The folder with the classes of some sources, which are compiled once."""
    sources = list(sources)
    marked = hashlib.sha256("".join([*(one.read_text() for one in sources), *jars]).encode()).hexdigest()
    folder = KEPT / "classes" / marked[:16]
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        command = ["javac", "-proc:none", "-d", str(made), "-cp", ":".join(jars), *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(made)
            raise CannotError(f"javac: {done.stderr.strip()[-300:]}")
        try:
            made.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(made)
    return folder


def started(name: str, folder: Path, jars: list[str], *arguments: str) -> list[str]:
    """The command that runs a class."""
    opened = [f"--add-opens={package}=ALL-UNNAMED" for package in OPENED]
    return ["java", *opened, "-Xmx8g", "-cp", ":".join([str(folder), *jars]), name, *arguments]


def _on_the_jvm(engine: str, path: str, worded: Callable[[Question], str], *arguments: str) -> Program:
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    names, jars = ["Event", "Driver", *MAIN[engine]], jars_of(engine)
    classes = compiled((DRIVERS / f"{one}.java" for one in names), jars)
    with tempfile.TemporaryDirectory(prefix="cer-gpu-rivals-") as folder:
        events = pq.read_table(path, columns=["ts", "type", "key", "price"])
        csv.write_csv(events, f"{folder}/events.csv", csv.WriteOptions(quoting_style="none"))
        return Program(started(names[-1], classes, jars, f"{folder}/events.csv", *arguments), worded)


@cache
def _fetched(engine: str) -> list[str]:
    if shutil.which("mvn") is None or shutil.which("javac") is None:
        raise CannotError("Maven and a JDK are not installed")
    folder = KEPT / f"{engine}-{VERSIONS[engine]}"
    listed = folder / "jars"
    if not listed.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(POM.format("\n".join(map(_dependency, FETCHED[engine]))))
        asked = ["mvn", "--batch-mode", "--quiet", "dependency:build-classpath"]
        asked.append(f"-Dmdep.outputFile={listed}")
        done = subprocess.run(asked, cwd=folder, capture_output=True, check=False)
        if done.returncode or not listed.is_file():
            raise CannotError(f"Maven could not fetch {engine} {VERSIONS[engine]}")
    return listed.read_text().strip().split(":")


def _dependency(named: str) -> str:
    group, artifact, version, *alone = named.split(":")
    text = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
    return f"<dependency>{text}{ALONE if alone else ''}</dependency>"


@cache
def _flink_jars() -> list[Path]:
    if shutil.which("javac") is None:
        raise CannotError("a JDK is not installed")
    folder = KEPT / "flink"
    if not _all_unpacked():
        wheels = KEPT / "wheels"
        asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(wheels)]
        got = subprocess.run([*asked, "apache-flink-libraries"], capture_output=True, check=False)
        found = sorted(wheels.glob("apache_flink_libraries-*.whl"))
        if got.returncode or not found:
            raise CannotError("the wheel apache-flink-libraries cannot be had")
        unpacked = Path(tempfile.mkdtemp(dir=KEPT))
        with zipfile.ZipFile(found[-1]) as wheel:
            for name in wheel.namelist():
                if name.startswith("pyflink/lib/") and name.rpartition("/")[2].startswith(UNPACKED):
                    (unpacked / name.rpartition("/")[2]).write_bytes(wheel.read(name))
        shutil.rmtree(folder, ignore_errors=True)  # an earlier one, with fewer jars
        unpacked.rename(folder)  # whole, or not at all
        shutil.rmtree(wheels)
    return sorted(folder.glob("*.jar"))


def version_of(engine: str) -> str:
    """The version of an engine, as it is fetched or installed."""
    if engine in VERSIONS:
        return VERSIONS[engine]
    if engine.startswith("flink-"):
        name = next(KEPT.glob("flink/flink-cep-*.jar"), None)
        return "" if name is None else name.stem.rpartition("-")[2]
    if engine.startswith("command"):
        return ""
    from importlib.metadata import version

    name = {"spark-sql": "pyspark"}.get(engine, engine)
    return version(name) if find_spec(name.replace("-", "_")) is not None else ""

"""Programs that are asked: engines on the JVM, by small drivers, and whatever `--command` names.

A program is started with a file of events as its last argument; once it has read them it writes `ready`. For
each question it then reads a line and writes `answer NUMBER SECONDS`, from loaded events to the number, or
`cannot WHY`. Other lines of it are left out. Engines on the JVM read CSV, a command Parquet.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench.rivals.questions import DAY, GAP, REACH, Many, Neighbours, Ours, Question, Sequence

DRIVERS = Path(__file__).resolve().parent / "drivers"

KEPT = Path.home() / ".cache" / "cer-gpu-bench"
"""Where jars are kept: what Maven fetched, and what was taken out of the wheel of Flink."""

ESPER = "9.0.0"

FLINK = ("flink-dist-", "flink-cep-", "log4j-")

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>bench</groupId><artifactId>rivals</artifactId><version>1</version><dependencies>
<dependency><groupId>com.espertech</groupId><artifactId>esper-compiler</artifactId><version>{0}</version></dependency>
<dependency><groupId>com.espertech</groupId><artifactId>esper-runtime</artifactId><version>{0}</version></dependency>
</dependencies></project>
"""

OPENED = ("java.base/java.util", "java.base/java.lang", "java.base/java.time")


class CannotError(Exception):
    """A program cannot be had, or cannot be asked; why."""


class Answer(NamedTuple):
    """What a program says: the number of matches, and the seconds that it needed for them."""

    number: int
    seconds: float


class Program:
    """A program that runs and answers questions.

    Parameters
    ----------
    command : sequence of str
        With the file of events.
    worded : callable
        Gives the line of a question.
    """

    def __init__(self, command: list[str], worded: Callable[[Question], str]) -> None:
        self._worded = worded
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._said("ready")

    def __call__(self, question: Question) -> Answer:
        """Ask a question."""
        assert self._process.stdin is not None
        self._process.stdin.write(self._worded(question) + "\n")
        self._process.stdin.flush()
        number, seconds = self._said("answer").split()
        return Answer(int(number), float(seconds))

    def peak(self) -> int:
        """The most bytes of resident memory of the process so far."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def close(self) -> None:
        """End the program."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def _said(self, word: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            first, _, rest = line.strip().partition(" ")
            if first == word:
                return rest
            if first == "cannot":
                raise CannotError(rest)
        raise CannotError(f"it ended with status {self._process.wait(60)} before it said {word!r}")


def open_esper(path: str) -> Program:
    """Load a file into Esper's process."""
    return _on_the_jvm("EsperDriver", _esper_jars(), path, epl)


def open_flink(path: str) -> Program:
    """Load a file into Flink's process."""
    return _on_the_jvm("FlinkDriver", _flink_jars(), path, calls)


def open_command(command: str, path: str) -> Program:
    """Start a program that a user brings; each question is a line of JSON: its CEQL and its SQL."""
    return Program([*shlex.split(command), path], worded)


def worded(question: Question) -> str:
    """A question as JSON: `ceql`, and `sql` for DuckDB where there is one; lists for many."""
    if isinstance(question, Many):
        return json.dumps(
            {
                "ceql": [one.ceql() for one in question.questions],
                "sql": [one.sql("duckdb") for one in question.questions],
            }
        )
    sql = None if isinstance(question, Ours) else question.sql("duckdb")
    return json.dumps({"ceql": question.ceql(), "sql": sql})


def epl(question: Question) -> str:
    """A question as statements of Esper; a tab parts them. Times are milliseconds of its clock."""
    if isinstance(question, Many):
        return "\t".join(map(epl, question.questions))
    if isinstance(question, Neighbours):
        return f"select 1 as one from {_beside_epl(question.frame)}"
    assert isinstance(question, Sequence)
    text = ""
    for k, step in enumerate(question.steps):
        kinds = ", ".join(f"'{kind}'" for kind in step.split("|"))
        meets = [f"type in ({kinds})"]
        meets += ["key = s0.key"] * (question.keyed and k > 0)
        meets += [f"price > s{low}.price" for low, high in question.rises if high == k]
        meets += [f"price > {question.above}"] if k == 0 and question.above is not None else []
        text += " -> " * (k > 1) + f"every s{k}=E({' and '.join(meets)})" + " -> (" * (k == 0)
    unless = f" and not E(type = '{question.unless}')" if question.unless else ""
    # Times are whole: what lies apart less than one more millisecond lies apart so many at most.
    return f"select 1 as one from pattern [{text}{unless}) where timer:within({question.within + 1} msec)]"


def _beside_epl(frame: str) -> str:
    if frame in ("silent", "sessions"):
        reach = (REACH if frame == "silent" else GAP) + 1
        return f"pattern [every e=E -> (timer:interval({reach} msec) and not E(key = e.key))]"
    if frame == "rises":
        steps = "ABCD"
        meets = [f"{b} as {b}.price > {a}.price" for a, b in pairwise(steps)]
    else:
        steps = "ABCDEF"
        kinds = ["Arrival", "Departure"] * 3
        meets = [f"{a} as {a}.type = '{kind}' and {a}.price >= 30" for a, kind in zip(steps, kinds)]
        meets[-1] += f" and F.ts - A.ts <= {DAY}"
    return (
        "E match_recognize (partition by key measures A.ts as ts all matches after match skip to next row "
        f"pattern ({' '.join(steps)}) define {', '.join(meets)})"
    )


def calls(question: Question) -> str:
    """A question as the calls that make a pattern of Flink; its driver says how they are written."""
    if isinstance(question, Many):
        raise CannotError("a job of Flink CEP finds one pattern")
    if isinstance(question, Neighbours):
        return {
            "rises": "begin(*) next(*,rises:0) next(*,rises:1) next(*,rises:2) keyed",
            "late": " next".join(
                ("begin", *(f"({kind},least:30)" for kind in ["Arrival", "Departure"] * 3))
            ).replace("begin next", "begin", 1)
            + f" within:{DAY} keyed",
            "silent": f"begin(*) not(*) within:{REACH} keyed",
            "sessions": f"begin(*) not(*) within:{GAP} keyed",
        }[question.frame]
    assert isinstance(question, Sequence)
    words = []
    for k, step in enumerate(question.steps):
        if k == len(question.steps) - 1 and question.unless:
            words.append(f"not({question.unless})")
        rises = "".join(f",rises:{low}" for low, high in question.rises if high == k)
        above = f",above:{question.above}" if k == 0 and question.above is not None else ""
        words.append(f"{'any' if k else 'begin'}({step}{rises}{above})")
    return " ".join([*words, f"within:{question.within}", "keyed" if question.keyed else "whole"])


def _on_the_jvm(name: str, jars: list[str], path: str, worded: Callable[[Question], str]) -> Program:
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    folder = Path(tempfile.mkdtemp(prefix="cer-gpu-rivals-"))
    where = ":".join([str(folder), *jars])
    sources = [str(DRIVERS / f"{one}.java") for one in ("Event", "Driver", name)]
    made = subprocess.run(
        ["javac", "-proc:none", "-d", str(folder), "-cp", where, *sources],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise CannotError(f"javac: {made.stderr.strip()[-300:]}")
    events = pq.read_table(path, columns=["ts", "type", "key", "price"])
    csv.write_csv(events, folder / "events.csv", csv.WriteOptions(quoting_style="none"))
    opened = [f"--add-opens={package}=ALL-UNNAMED" for package in OPENED]
    command = ["java", *opened, "-Xmx8g", "-cp", where, name, str(folder / "events.csv")]
    program = Program(command, worded)
    shutil.rmtree(folder, ignore_errors=True)
    return program


@cache
def _esper_jars() -> list[str]:
    if shutil.which("mvn") is None or shutil.which("javac") is None:
        raise CannotError("Maven and a JDK are not installed")
    folder = KEPT / f"esper-{ESPER}"
    listed = folder / "jars"
    if not listed.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(POM.format(ESPER))
        asked = [
            "mvn",
            "--batch-mode",
            "--quiet",
            "dependency:build-classpath",
            f"-Dmdep.outputFile={listed}",
        ]
        if (
            subprocess.run(asked, cwd=folder, capture_output=True, check=False).returncode
            or not listed.is_file()
        ):
            raise CannotError(f"Maven could not fetch Esper {ESPER}")
    return listed.read_text().strip().split(":")


@cache
def _flink_jars() -> list[str]:
    if shutil.which("javac") is None:
        raise CannotError("a JDK is not installed")
    folder = KEPT / "flink"
    if not list(folder.glob("flink-cep-*.jar")):
        wheels = KEPT / "wheels"
        asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(wheels)]
        got = subprocess.run([*asked, "apache-flink-libraries"], capture_output=True, check=False)
        found = sorted(wheels.glob("apache_flink_libraries-*.whl"))
        if got.returncode or not found:
            raise CannotError("the wheel apache-flink-libraries cannot be had")
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(found[-1]) as wheel:
            for name in wheel.namelist():
                if name.startswith("pyflink/lib/") and name.rpartition("/")[2].startswith(FLINK):
                    (folder / name.rpartition("/")[2]).write_bytes(wheel.read(name))
        shutil.rmtree(wheels)
    return [str(jar) for jar in sorted(folder.glob("*.jar"))]


def version_of(engine: str) -> str:
    """The version of an engine, as it is fetched or installed."""
    if engine == "esper":
        return ESPER
    if engine == "flink-cep":
        name = next(KEPT.glob("flink/flink-cep-*.jar"), None)
        return "" if name is None else name.stem.rpartition("-")[2]
    if engine.startswith("command"):
        return ""
    from importlib.metadata import version

    name = {"spark-sql": "pyspark"}.get(engine, engine)
    return version(name) if find_spec(name.replace("-", "_")) is not None else ""

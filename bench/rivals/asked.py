"""Programs that are asked: engines on the JVM (`bench.rivals.jvm`), and whatever `--command` names.

A program is started with a file of events as its last argument; when it has read them it writes `ready`. Then
it reads a line for each question and writes `answer NUMBER SECONDS`, the time from loaded events to the
number, or `cannot WHY`. Its other lines are ignored. Engines on the JVM read CSV, a command reads Parquet.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.rivals.questions import Many, Ours, Question


class CannotError(Exception):
    """A program cannot be had, or cannot answer; the message says why."""


class Answer(NamedTuple):
    """The answer of a program.

    Attributes
    ----------
    number : int
        Matches, or rows.
    seconds : float
        By the clock.
    processor : float or None
        Processor seconds; None for another process.
    sums : tuple of int
        Sums of the columns of an answer that is listed.
    """

    number: int
    seconds: float
    processor: float | None = None
    sums: tuple[int, ...] = ()


class Program:
    """A program that runs and answers questions.

    Parameters
    ----------
    command : sequence of str
        The command, with the file of events.
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
        return high_water(self._process.pid)

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


def high_water(process: int) -> int:
    """The most bytes of resident memory of a process so far."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def below(process: int) -> list[int]:
    """The living processes below a process: those that it, or one of these, has started, as Spark's JVM."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            found += [child, *below(child)]
    return found


def open_command(command: str, path: str) -> Program:
    """Start a program of the user; each question is a line of JSON: its CEQL and its SQL."""
    return Program([*shlex.split(command), path], worded)


def worded(question: Question) -> str:
    """A question as JSON: `ceql`, and `sql` for DuckDB if there is one; lists if there are several."""
    if isinstance(question, Many):
        return json.dumps(
            {
                "ceql": [one.ceql() for one in question.questions],
                "sql": [one.sql("duckdb") for one in question.questions],
            }
        )
    sql = None if isinstance(question, Ours) else question.sql("duckdb")
    return json.dumps({"ceql": question.ceql(), "sql": sql})

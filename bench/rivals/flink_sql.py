"""Flink SQL in a process of its own, in a cluster inside it: statements over a table in memory."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.csv as csv

from bench.rivals.asked import CannotError
from bench.rivals.jvm import DRIVERS, compiled, jars_of, started
from bench.rivals.lines import ProcessLines
from bench.trades import Found

Mode = Literal["streaming", "batch"]

FlinkRow: TypeAlias = tuple[str, ...]
"""The values of a row as Java writes them, times in milliseconds."""

STARTING = 300.0
"""Seconds that it may take to start, and to load a table."""

PLANNING = 60.0
"""Seconds that it may take to plan a statement, and to start the job."""


class FlinkAnswer(NamedTuple):
    """What a statement gives.

    Attributes
    ----------
    found : Found
    seconds : float
        From the first row that is read to the end of the job.
    processor : float
        Seconds of the processor meanwhile, of all threads.
    """

    found: Found
    seconds: float
    processor: float


class FlinkSql:
    """A process that runs statements of Flink SQL over the table `trades`.

    Raises
    ------
    CannotError
        If there is no JDK, or the jars of Flink cannot be had.
    """

    def __init__(self) -> None:
        jars = jars_of("flink-sql")
        classes = compiled([DRIVERS / "FlinkSqlDriver.java"], jars)
        self._process = subprocess.Popen(
            started("FlinkSqlDriver", classes, jars),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._listed: list[list[FlinkRow] | str] = []
        self._lines = ProcessLines(self._process)

    def load(self, table: pa.Table) -> None:
        """Read a table into memory; numbers are BIGINT or DOUBLE, times TIMESTAMP(3) by which rows ascend."""
        names, columns = [], []
        for name, column in zip(table.column_names, table.columns, strict=True):
            kind = "text"
            if pa.types.is_timestamp(column.type):
                kind, column = "time", column.cast(pa.timestamp("ms")).cast(pa.int64())
            elif pa.types.is_floating(column.type):
                kind = "double"
            elif pa.types.is_integer(column.type):
                kind = "long"
            names.append(f"{name}:{kind}")
            columns.append(column)
        with tempfile.TemporaryDirectory(prefix="cer-gpu-flink-") as folder:
            path = Path(folder) / "table.csv"
            csv.write_csv(pa.table(columns, names), path, csv.WriteOptions(quoting_style="none"))
            self._lines.ask(f"load {path}")
            self._said("ready", STARTING)

    def run(self, sql: str, mode: Mode, patience: float, parallelism: int | None = None) -> FlinkAnswer:
        """Run a statement.

        Raises
        ------
        CannotError
            If Flink refuses or fails; the message is its own.
        TimeoutError
            After `patience` seconds, and those of planning; the process is of no use then.
        """
        self._lines.ask(f"{mode} {parallelism or os.cpu_count()} {' '.join(sql.split())}")
        number, checksum, *times = self._said("answer", patience + PLANNING).split()
        return FlinkAnswer(Found(int(number), int(checksum)), *map(float, times))

    def rows(self, statements: Sequence[str], mode: Mode, patience: float) -> list[list[FlinkRow] | str]:
        """Run statements in one job: for each its rows, or why Flink refuses it.

        Raises
        ------
        CannotError
            If the job fails, because of any of the statements.
        TimeoutError
            After `patience` seconds, and those of planning; the process is of no use then.
        """
        lines = "\n".join(" ".join(sql.split()) for sql in statements)
        self._lines.ask(f"rows {len(statements)} {mode} 1 {lines}")
        self._listed = [[] for _ in statements]
        self._said("answer", patience + PLANNING)
        return self._listed

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _said(self, word: str, patience: float) -> str:
        while True:
            line = self._lines.next(patience)
            if line is None:
                raise CannotError(f"Flink ended with status {self._process.wait()}")
            if line.startswith("row\t"):
                number, *values = line.split("\t")[1:]
                rows = self._listed[int(number)]
                assert isinstance(rows, list)
                rows.append(tuple(values))
            first, _, rest = line.partition(" ")
            if first == "refused":
                number, _, why = rest.partition(" ")
                self._listed[int(number)] = why
            if first == word:
                return rest
            if first == "cannot":
                raise CannotError(rest)

"""The file of `cer watch`: what was read, the snapshot of the stream, and what it found, in one transaction.

A step takes a file, or lines of standard input. What it found is stored with the state after it, and only
then written to the output, whose length before is stored, too. Once it is written this is noted. If the
process is killed before, the next one cuts the output to that length, and writes what the step found again.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any

from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.whole_file import STANDARD_OUTPUT, named

_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS stream (
    one INTEGER PRIMARY KEY CHECK (one = 1), snapshot BLOB, schema BLOB, header BLOB, lines INTEGER,
    written INTEGER, found BLOB, ended INTEGER
);
"""

VERSION = "1"
"""Of the tables."""

_REASONS = {
    sqlite3.SQLITE_BUSY: "another cer watch has it open: end that one, or name another file with --state",
    sqlite3.SQLITE_NOTADB: "it is not a file of cer watch: name another file with --state",
}
"""What to do about an error of the database."""


@dataclass(frozen=True, slots=True)
class WatchStep:
    """The state after a step.

    Attributes
    ----------
    snapshot : bytes or None
        Of the stream; None before anything was pushed.
    schema : bytes or None
        The columns that are read, with their types, once these are known: an Arrow schema.
    header : bytes or None
        The first line of standard input in CSV.
    lines : int
        Lines of standard input that were taken.
    written : int
        How many bytes the output had before this step.
    found : bytes
        What this step writes.
    ended : bool
        Whether the stream is over.
    """

    snapshot: bytes | None = None
    schema: bytes | None = None
    header: bytes | None = None
    lines: int = 0
    written: int = 0
    found: bytes = b""
    ended: bool = False


class WatchState:
    """The state file of `cer watch`, which one process has at a time.

    Parameters
    ----------
    path : str
    about : dict of str to str
        What the state belongs to: the source and the output.
    output : str or None
        The file that is written to; None: standard output, which cannot be cut.

    Raises
    ------
    DataError
        When another process has the file, it is no state, or it belongs to something else.
    """

    def __init__(self, path: str, about: dict[str, str], output: str | None) -> None:
        self.path, self._output = path, output
        with named(path):
            self._base = sqlite3.connect(path, isolation_level=None, timeout=0)
        try:
            self._base.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._base.execute("PRAGMA synchronous = FULL")
            self._base.execute("BEGIN EXCLUSIVE")
            for statement in _TABLES.split(";\n"):
                self._base.execute(statement)
            self._check({"version of the file": VERSION, **about})
            there = 0 if output is None or not os.path.exists(output) else os.path.getsize(output)
            first = "INSERT OR IGNORE INTO stream VALUES (1, NULL, NULL, NULL, 0, ?, x'', 0)"
            self._base.execute(first, (there,))
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            self._base.close()
            reason = _REASONS.get(getattr(error, "sqlite_errorcode", 0), str(error))
            raise DataError(f"the state in {path} cannot be used: {reason}") from None
        except BaseException:
            self._base.close()
            raise
        _, snapshot, schema, header, lines, written, found, ended = self._base.execute(
            "SELECT * FROM stream"
        ).fetchone()
        self.step = WatchStep(snapshot, schema, header, lines, written, found, bool(ended))
        self._sink: Any = None

    def _check(self, about: dict[str, str]) -> None:
        there = dict(self._base.execute("SELECT name, value FROM about"))
        for name, value in about.items():
            if there.get(name, value) != value:
                raise DataError(
                    f"the state in {self.path} has another {name}: {there[name]}, and now it is {value}: "
                    "use the first one, or name another file with --state, for which all rows are read again"
                )
            self._base.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, value))

    def open_output(self) -> None:
        """Open the output, and bring it to what the last step made of it.

        Raises
        ------
        DataError
            When it has become shorter than what was written.
        """
        if self._output is None:
            self._sink = sys.stdout.buffer
        else:
            with named(self._output):
                self._sink = open(self._output, "ab")  # noqa: SIM115 - it is open as long as the state is
                there = os.path.getsize(self._output)
                if there < self.step.written:
                    raise DataError(
                        f"{self._output} has {there:,} bytes, and {self.step.written:,} were written to it: "
                        "restore it, or start again with another --state"
                    )
                self._sink.truncate(self.step.written)
        self._write()

    def has(self, name: str) -> bool:
        """Whether a file was taken."""
        return self._base.execute("SELECT 1 FROM files WHERE name = ?", (name,)).fetchone() is not None

    def take(self, step: WatchStep, file: str | None = None) -> None:
        """Store what a step makes of the state, and write what it found.

        Parameters
        ----------
        step : WatchStep
        file : str, optional
            The file that it has taken.
        """
        self._store(step, file)
        self._write()

    def _store(self, step: WatchStep, file: str | None = None) -> None:
        row = (step.snapshot, step.schema, step.header, step.lines, step.written, step.found, int(step.ended))
        try:
            self._base.execute("BEGIN EXCLUSIVE")
            if file is not None:
                self._base.execute("INSERT INTO files VALUES (?)", (file,))
            self._base.execute(
                "UPDATE stream SET snapshot = ?, schema = ?, header = ?, lines = ?, written = ?, found = ?, "
                "ended = ?",
                row,
            )
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._base.execute("ROLLBACK")
            raise DataError(f"the state in {self.path} cannot be written: {error}") from error
        self.step = step

    def _write(self) -> None:
        """Write what the last step found, and note that it is written."""
        found = self.step.found
        if not found:
            return
        with named(self._output or STANDARD_OUTPUT):
            self._sink.write(found)
            self._sink.flush()
            if self._output is not None:
                os.fsync(self._sink.fileno())
        self._store(replace(self.step, found=b"", written=self.step.written + len(found)))

    def close(self) -> None:
        """Let go of the files."""
        self._base.close()
        if self._output is not None and self._sink is not None:
            self._sink.close()

    def __enter__(self) -> WatchState:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

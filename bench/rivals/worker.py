"""Processes that load events and ask an engine (`bench.rivals.one`), with a limit of time for each answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.fresh import ROOT, ChildError
from bench.rivals.lines import ProcessLines

LOADING = 300.0
"""Seconds that an engine may take to start and to load events."""


class Worker:
    """A process that asks one engine.

    Parameters
    ----------
    engine : str
        A name of `bench.rivals.one.OPENERS`, or `command:PROGRAM`.
    """

    def __init__(self, engine: str) -> None:
        self.engine = engine
        # The modules are compiled once, as where a package is installed, whatever the caller's settings.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (`close` closes it)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.rivals.one", engine],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            start_new_session=True,  # with what it starts, as a JVM, it is one group that is stopped together
        )
        self._lines = ProcessLines(self._process)

    def ask(self, asked: object, path: Path, runs: int, patience: float) -> dict[str, Any]:
        """Load a file and ask a question, as `bench.rivals.one` describes.

        Parameters
        ----------
        asked : object
            The number of a workload, or what `bench.rivals.brought` or `bench.rivals.plain.engines` writes.
        path : Path
            A Parquet file.
        runs : int
            Runs that are timed.
        patience : float
            Seconds that all runs may take together. To start and to load has a limit of its own, `LOADING`.

        Raises
        ------
        TimeoutError
            After `patience` seconds; the process can only be closed then.
        ChildError
            If the process fails; likewise.
        """
        self._lines.ask(json.dumps([str(asked), str(path), runs]))
        said = self._said(LOADING)
        return said if "cannot" in said else said | self._said(patience)

    def close(self) -> None:
        """End the process, and what it has started."""
        with suppress(ProcessLookupError):  # it has ended, and whatever it started
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._complaints.close()

    def _said(self, patience: float) -> dict[str, Any]:
        while True:
            line = self._lines.next(patience)
            if line is None:
                status = self._process.wait()
                self._complaints.seek(0)
                said = self._complaints.read().decode(errors="replace").strip()
                raise ChildError(said[-2000:] or f"exit status {status}")
            if line.startswith("{"):  # engines print, too
                return json.loads(line)


class Workers:
    """A process for each question; of engines that take long to start, one for all questions.

    Parameters
    ----------
    kept : collection of str
        The engines of one process.
    """

    def __init__(self, *kept: str) -> None:
        self._kept = kept
        self._living: dict[str, Worker] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *about: object) -> None:
        for worker in self._living.values():
            worker.close()

    def ask(self, engine: str, asked: object, path: Path, runs: int, patience: float) -> dict[str, Any]:
        """Ask an engine, as `Worker.ask`."""
        worker = self._living.pop(engine, None) or Worker(engine)
        said = None
        try:
            said = worker.ask(asked, path, runs, patience)
        finally:
            if said is not None and engine in self._kept:
                self._living[engine] = worker
            else:
                worker.close()
        return said

"""A process that is asked by lines, and answers by lines: `ProcessLines`."""

from __future__ import annotations

import queue
import subprocess
import threading


class ProcessLines:
    """The lines that a process reads and writes.

    Parameters
    ----------
    process : Popen
        With pipes of text as its standard input and output.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._written: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, line: str) -> None:
        """Give the process a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def next(self, patience: float) -> str | None:
        """The next line that the process writes; None once it has ended.

        Raises
        ------
        TimeoutError
            After `patience` seconds.
        """
        try:
            return self._written.get(timeout=patience)
        except queue.Empty:
            raise TimeoutError(f"more than {patience:g} s") from None

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._written.put(line.rstrip("\n"))
        self._written.put(None)

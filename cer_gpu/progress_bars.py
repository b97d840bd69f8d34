"""Bars of progress where there is no terminal: in a notebook, and as lines in a log."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any

from cer_gpu.notebook import displayed

NOTEBOOK_S, LINE_S = 0.25, 5.0
"""Seconds between two changes of a bar in a notebook, and between two lines."""


class ProgressLines:
    """Prints how far tasks are on standard error, a line for each at most every few seconds."""

    every = LINE_S

    def __init__(self) -> None:
        self._tasks: dict[int, tuple[str, int, int | None]] = {}
        self._shown = -float("inf")

    def add_task(self, description: str, total: int | None = None, completed: int = 0) -> int:
        """Begin to show a task; returns its number."""
        number = max(self._tasks, default=0) + 1
        self._tasks[number] = description, completed, total
        return number

    def update(self, number: int, completed: int | None = None, total: int | None = None) -> None:
        """Show how far a task is; None leaves a figure as it is."""
        description, before, whole = self._tasks[number]
        done = before if completed is None else completed
        self._tasks[number] = description, done, whole if total is None else total
        if time.monotonic() - self._shown >= self.every:
            self._shown = time.monotonic()
            self._show()

    def remove_task(self, number: int) -> None:
        """Show a task no more."""
        del self._tasks[number]

    def stop(self) -> None:
        """Show nothing more."""

    def _show(self) -> None:
        print("; ".join(map(_told, self._tasks.values())), file=sys.stderr, flush=True)


class NotebookBar(ProgressLines):
    """Shows how far tasks are below the cell of a notebook that runs; it goes when they are done."""

    every = NOTEBOOK_S

    def __init__(self) -> None:
        super().__init__()
        self._place: Any = None

    def _show(self) -> None:
        page = "".join(map(_bar, self._tasks.values()))
        if self._place is None:
            self._place = displayed(page)
        else:
            self._place.update(page)

    def stop(self) -> None:
        """Remove the bar."""
        if self._place is not None:
            self._place.update("")


def _told(task: tuple[str, int, int | None]) -> str:
    description, done, total = task
    of = f" of {total:,} ({100 * done / total:.0f} %)" if total else ""
    return f"{description}: {done:,}{of}"


def _bar(task: tuple[str, int, int | None]) -> str:
    _, done, total = task
    value = f" value='{done}' max='{total}'" if total else ""
    return f"<div><progress{value} style='width: 20em'></progress> {escape(_told(task))}</div>"

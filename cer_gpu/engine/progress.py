"""Progress of long work: on standard error, on a terminal only, and only once it has taken a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Any, Protocol, TypeVar

Batch = TypeVar("Batch", bound=Sized)

PATIENCE = 1.5
"""Seconds before anything is shown."""


class Watch(Protocol):
    """Passes batches on, noting how many events they hold: `Progress.watch`."""

    def __call__(self, batches: Iterable[Batch], /) -> Iterator[Batch]: ...


class Progress:
    """Shows how many events have been read.

    Parameters
    ----------
    total : int or None
        How many there are, where that is known.
    """

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def advance(self, rows: int) -> None:
        """Note that so many more events have been read."""
        self._done += rows
        if not self._shown or time.monotonic() - self._began < PATIENCE:
            return
        if self._bar is None:
            self._bar, self._task = _start(self._total)
        self._bar.update(self._task, completed=self._done)

    def watch(self, batches: Iterable[Batch], /) -> Iterator[Batch]:
        """Pass batches on, noting how many events they hold once they have been dealt with."""
        for batch in batches:
            yield batch
            self.advance(len(batch))

    def close(self) -> None:
        """Take the display away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _start(total: int | None) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("events"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    return bar, bar.add_task("events", total=total)

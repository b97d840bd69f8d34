"""Progress of long work: on standard error, on a terminal only, and only once it has taken a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from threading import local
from typing import Any, Protocol, TypeVar

Batch = TypeVar("Batch", bound=Sized)
Item = TypeVar("Item")

PATIENCE = 1.0
"""Seconds before anything is shown."""


class Watch(Protocol):
    """Passes batches on, noting how many events they hold: `Progress.watch`."""

    def __call__(self, batches: Iterable[Batch], /) -> Iterator[Batch]: ...


class Progress:
    """Shows how many events a run has read, and how far it is with what it makes of them.

    Parameters
    ----------
    total : int or None
        How many events there are, where that is known.
    """

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._read = 0
        self._began = time.monotonic()
        self._bar: Any = None
        self._events: Any = None
        self._task: Any = None
        self._phase = ""
        self._phase_began = self._began
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def advance(self, rows: int) -> None:
        """Note that so many more events have been read."""
        self._read += rows
        self.show("", 0, None)

    def show(self, phase: str, done: int, total: int | None) -> None:
        """Note that a phase has come so far, of so much where that is known."""
        if not self._shown:
            return
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._phase_began = phase, now
            if self._task is not None:
                self._bar.remove_task(self._task)
                self._task = None
        if now - self._began < PATIENCE:
            return
        if self._bar is None:
            self._bar = _bar()
            self._events = self._bar.add_task("events read", total=self._total)
        self._bar.update(self._events, completed=self._read)
        if phase and now - self._phase_began >= PATIENCE:
            if self._task is None:
                self._task = self._bar.add_task(phase)
            self._bar.update(self._task, completed=done, total=total)

    def watch(self, batches: Iterable[Batch], /) -> Iterator[Batch]:
        """Pass batches on, noting how many events they hold once they have been dealt with."""
        for batch in batches:
            yield batch
            self.advance(len(batch))

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass items on, and show meanwhile what this thread does to make them."""
        making = iter(items)
        before: Progress | None
        try:
            while True:
                # Only while an item is made: between two of them the thread may do something else.
                before, _own.progress = _own.progress, self
                try:
                    item = next(making, _NOTHING)
                finally:
                    _own.progress = before
                if item is _NOTHING:
                    return
                yield item  # type: ignore[misc]
        finally:
            self.close()

    def close(self) -> None:
        """Take the display away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None


def show(phase: str, done: int, total: int | None) -> None:
    """Note how far a phase has come, of the run that this thread works for.

    Parameters
    ----------
    phase : str
        What is done, as a user reads it: `counting`.
    done : int
    total : int or None
        None where it is not known.
    """
    if _own.progress is not None:
        _own.progress.show(phase, done, total)


class _ThreadProgress(local):
    """What a thread knows of the run that it works for."""

    progress: Progress | None = None


_own = _ThreadProgress()
_NOTHING = object()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    return bar

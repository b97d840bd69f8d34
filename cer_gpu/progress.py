"""Progress of long work: on a terminal or in a notebook, and only once it has taken a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from threading import Event, RLock, Thread, local
from typing import Any, Protocol, TypeVar

from cer_gpu.notebook import shell

Batch = TypeVar("Batch", bound=Sized)
Item = TypeVar("Item")

PATIENCE = 1.0
"""Seconds before anything is shown."""

STEP_S = 0.01
"""Seconds between two looks at a run that is shown at once."""


class Watch(Protocol):
    """Passes batches on, noting how many events they hold: `Progress.watch`."""

    def __call__(self, batches: Iterable[Batch], /) -> Iterator[Batch]: ...


class Progress:
    """Shows how many events a run has read, and how far its present phase (such as counting) has come.

    It appears once the run has taken a while, also during work that reports no progress, such as opening a
    large file.

    Parameters
    ----------
    total : int or None
        How many events there are, where that is known.
    kept : bool, optional
        Whether it stays on the terminal when a run is over, while its results are used: see `shown_together`.
    """

    def __init__(self, total: int | None, kept: bool = False) -> None:
        self._total = total
        self._kept = kept
        self._read = 0
        self._began = time.monotonic()
        self._bar: Any = None
        self._events: Any = None
        self._task: Any = None
        self._phase = ""
        self._phase_began = self._began
        self._making = kept
        self._lock = RLock()
        self._over = Event()
        self._shown = is_shown()
        if self._shown:
            Thread(target=self._appear, name="cer-gpu progress", daemon=True).start()

    @property
    def stays(self) -> bool:
        """Whether it stays on the terminal when a run is over."""
        return self._kept

    def of(self, total: int | None) -> Progress:
        """The display for a run over `total` events."""
        with self._lock:
            self._total, self._read = total, 0
            if self._bar is not None:
                self._bar.update(self._events, total=total, completed=0)
        return self

    def advance(self, rows: int) -> None:
        """Count `rows` more events as read."""
        self._read += rows
        self.show("", 0, None)

    def show(self, phase: str, done: int, total: int | None) -> None:
        """Show that `done` of `total` (None: unknown) of a phase is done."""
        if not self._shown:
            return
        now = time.monotonic()
        with self._lock:
            if phase != self._phase:
                self._phase, self._phase_began = phase, now
                if self._task is not None:
                    self._bar.remove_task(self._task)
                    self._task = None
            if now - self._began < PATIENCE or self._over.is_set():
                return
            self._open()
            self._bar.update(self._events, completed=self._read)
            if phase and now - self._phase_began >= PATIENCE:
                if self._task is None:
                    self._task = self._bar.add_task(phase)
                self._bar.update(self._task, completed=done, total=total)

    def _appear(self) -> None:
        """Show it after a while, unless nothing is being made then."""
        while not self._over.wait(PATIENCE or STEP_S):
            with self._lock:
                if self._making and not self._over.is_set():
                    self._open()
                    return

    def _open(self) -> None:
        if self._bar is None:
            self._bar = _bar()
            self._events = self._bar.add_task("events read", total=self._total, completed=self._read)

    def watch(self, batches: Iterable[Batch], /) -> Iterator[Batch]:
        """Pass batches on, and count the events of each as read when the next one is asked for."""
        for batch in batches:
            yield batch
            self.advance(len(batch))

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass items on, and show the progress of this thread while it makes each of them."""
        making = iter(items)
        before: Progress | None
        try:
            while True:
                # Only while an item is made: between two of them the thread may do something else.
                before, _own.progress, self._making = _own.progress, self, True
                try:
                    item = next(making, _NOTHING)
                finally:
                    _own.progress, self._making = before, self._kept
                if item is _NOTHING:
                    return
                yield item  # type: ignore[misc]
        finally:
            if not self._kept:
                self.close()

    def close(self) -> None:
        """Remove the display."""
        self._over.set()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = self._task = None


class shown_together:  # noqa: N801
    """A `with` block that shows the progress of its runs and of what is done with their results.

    A run alone shows nothing between two of its results, such as the writing of a batch, nor after the last
    one; inside this block that work is shown too. A block inside another belongs to the outer one.
    """

    def __enter__(self) -> None:
        self._outer = _own.progress
        if self._outer is None:
            _own.progress = Progress(None, kept=True)

    def __exit__(self, *error: object) -> None:
        if self._outer is None and _own.progress is not None:
            own, _own.progress = _own.progress, None
            own.close()


@contextmanager
def showing(wanted: bool | None) -> Iterator[None]:
    """A `with` block that shows progress or not, whatever there is to show it on; None: see `is_shown`."""
    before, _own.wanted = _own.wanted, wanted
    try:
        yield
    finally:
        _own.wanted = before


def is_shown() -> bool:
    """Whether progress is shown: on a terminal and in a notebook, unless a block says otherwise."""
    if _own.wanted is not None:
        return _own.wanted
    terminal = sys.stderr is not None and sys.stderr.isatty()
    return terminal or ("IPython" in sys.modules and shell() is not None)


def begun(total: int | None) -> Progress:
    """The display of a run over `total` events (None: unknown).

    Inside `shown_together` it is the display of the block. Otherwise call its `over`, which closes it.
    """
    own = _own.progress
    return own.of(total) if own is not None and own.stays else Progress(total)


def show(phase: str, done: int, total: int | None) -> None:
    """Show how far a phase of the run that this thread works for has come.

    Parameters
    ----------
    phase : str
        The work that is shown, such as `counting`.
    done : int
    total : int or None
        None when it is unknown.
    """
    if _own.progress is not None:
        _own.progress.show(phase, done, total)


class _ThreadProgress(local):
    """The display of the run that a thread works for, and whether anything is to be displayed."""

    progress: Progress | None = None
    wanted: bool | None = None


_own = _ThreadProgress()
_NOTHING = object()


def _bar() -> Any:
    if sys.stderr is None or not sys.stderr.isatty():
        from cer_gpu.progress_bars import NotebookBar, ProgressLines

        return ProgressLines() if shell() is None else NotebookBar()
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

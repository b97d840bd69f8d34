"""Reads the relevant events of a stream a part before they are used: `EarlyReader`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import NamedTuple

from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import Workers


class ReadMark(NamedTuple):
    """How far a stream has been read.

    Attributes
    ----------
    rows : int
    greatest, floor : int or float or None
        As for `OrderCheck`; None if rows have no times.
    """

    rows: int
    greatest: int | float | None
    floor: int | float | None


class EarlyReader:
    """Lets another thread read the next part of a stream while the caller uses the one before.

    Parameters
    ----------
    parts : iterator of EventArrays
    mark : callable
        Says how far the stream has been read.

    Attributes
    ----------
    mark : ReadMark
        As of the last part that the caller was given.
    reading : Lock
        Held while a part is read.
    """

    def __init__(self, parts: Iterator[EventArrays], mark: Callable[[], ReadMark]) -> None:
        self._parts, self._mark_now = parts, mark
        self.mark = mark()
        self.reading = Lock()
        self._counting = Lock()
        self._begun = self._given = 0
        self._over = False

    def read(self, workers: Workers) -> Iterator[EventArrays]:
        """The parts, of which one is read while the caller uses the one before."""
        for found in workers.early(self._marked()):
            if found is not None:
                self._given += 1
                part, self.mark = found
                yield part
        self.mark = self._mark_now()

    def ends(self) -> bool:
        """Read nothing ahead from now on; whether the caller has been given all parts that were read."""
        with self._counting:
            self._over = True
            return self._begun == self._given

    def _marked(self) -> Iterator[tuple[EventArrays, ReadMark] | None]:
        while True:
            with self._counting:
                waits = self._over
                self._begun += not waits
            if waits:
                yield None  # made while the caller uses a part: what follows is read once it asks for more
                with self._counting:
                    self._begun += 1
            with self.reading:
                part = next(self._parts, None)
                mark = self._mark_now()
            if part is None:
                with self._counting:
                    self._begun -= 1
                return
            yield part, mark

"""The threads of the process, in which kernels run without the interpreter's lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import count
from queue import SimpleQueue
from threading import Event, Lock, Thread, local
from typing import Any, TypeVar

import numpy as np

from cer_gpu import progress
from cer_gpu.compiling.loader import HaltedError, words
from cer_gpu.cores import usable_cores
from cer_gpu.engine.kept_pages import keep_pages

Item = TypeVar("Item")
Result = TypeVar("Result")

FEW = 1 << 13
"""Up to this many events are run by the caller itself: handing them to another thread would take longer."""

QUICK = 8
"""If the time for an event has a bound, 2^QUICK times as many events count as few."""

STEP_S = 0.2
"""Seconds between two checks of the threads' progress."""

_NO_MORE = object()

NAME = "cer-gpu"
"""The beginning of the names of our threads."""


class Workers:
    """Runs a function on many items in threads of the process.

    The threads are shared: they are started when they are first needed, as many as some run may use, and wait
    for work until the process ends. The caller waits and does no work itself, so that Ctrl-C, which Python
    hands to the main thread only, takes effect at once: the threads are told to end, kernels check that every
    some thousand events, and nothing keeps running.

    Parameters
    ----------
    threads : int, optional
        How many work at a time; by default as many as there are cores that the process may use.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or usable_cores()
        keep_pages()

    def map(
        self, phase: str, function: Callable[[Item], Result], items: Iterable[Item], events: int = 0
    ) -> list[Result]:
        """The results of a function, in the order of the items.

        Parameters
        ----------
        phase : str
            The name of the work beside the progress bar: `counting`.
        function : callable
        items : iterable
        events : int, optional
            How many events the items hold, if the time for an event has no bound. The caller runs a single
            item with few events itself.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, after all threads have ended their work.
        """
        work = list(items)
        if not work or (len(work) == 1 and events <= FEW):
            return [function(item) for item in work]
        if _own.inside:
            # Part of other work: waiting would take the place of a thread that works.
            turn = _Turn(function, work, words.halt, words.purpose)
            _pool.invite(turn, min(self.threads, len(work)) - 1)
            turn.join()
            return turn.wait()
        turn = _Turn(function, work, np.zeros(1, np.uint8), words.purpose)
        try:
            _pool.invite(turn, min(self.threads, len(work)))
            return turn.wait(lambda done: progress.show(phase, done, len(work)))
        except BaseException:
            turn.end()
            raise

    def ahead(self, phase: str, items: Iterable[Item]) -> Iterator[Item]:
        """The same items, each made in a thread of the process, one after another.

        Parameters
        ----------
        phase : str
            As for `map`.
        items : iterable
        """
        making = iter(items)
        while (item := self.map(phase, lambda _: next(making, _NO_MORE), [None], FEW + 1)[0]) is not _NO_MORE:
            yield item  # type: ignore[misc]

    def behind(
        self, phase: str, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        """The results of a function; another thread computes each while the caller makes the next item.

        The function may keep something from item to item: it never runs for two items at a time.

        Parameters
        ----------
        phase, function, items
            As for `map`.
        """
        if _own.inside or self.threads == 1:
            yield from map(function, items)
            return
        before: _Turn | None = None
        try:
            for done, item in enumerate(items):
                found = [] if before is None else before.wait()
                before = self._sent(function, item)
                progress.show(phase, done, None)
                yield from found
            found = [] if before is None else before.wait()
            before = None
            yield from found
        finally:
            if before is not None:
                before.end()

    def abreast(
        self,
        phase: str,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        at_once: Callable[[Item], bool],
    ) -> Iterator[Result]:
        """The results of a function, in order; threads compute some while the caller makes and uses others.

        At most two items for each thread are under way or wait to be taken, so that memory is bounded.

        Parameters
        ----------
        phase, function, items
            As for `map`.
        at_once : callable
            Whether an item's result is not to wait until the next item is made, which may take long.
        """
        if _own.inside:
            yield from map(function, items)
            return
        under_way: deque[_Turn] = deque()
        try:
            for done, item in enumerate(items):
                under_way.append(self._sent(function, item, self.threads))
                kept = 0 if at_once(item) else 2 * self.threads - 1
                while len(under_way) > kept:
                    yield from under_way.popleft().wait()
                progress.show(phase, done, None)
            while under_way:
                yield from under_way.popleft().wait()
        finally:
            for turn in under_way:
                turn.end()

    def early(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items; while the caller uses one, another thread makes the next.

        What goes wrong in making an item is raised once that item is asked for. A thread of the pool makes
        the item that it needs itself if no other thread has begun to: all may need one at the same time.

        Parameters
        ----------
        items : iterable
        """
        if self.threads == 1:
            yield from items
            return
        making = iter(items)
        item: Any = next(making, _NO_MORE)
        coming: _Turn | None = None
        try:
            while item is not _NO_MORE:
                coming = self._sent(lambda _: next(making, _NO_MORE), None, 1 + _own.inside)
                yield item
                if _own.inside:
                    coming.join()
                (item,) = coming.wait()
                coming = None
        finally:
            if coming is not None:
                coming.end()
            # A turn that no thread has taken yet holds it, and what it was made of would go on.
            if isinstance(making, Generator):
                making.close()

    def _sent(self, function: Callable[[Item], Result], item: Item, threads: int = 1) -> _Turn:
        """A turn of one item that one of at least so many threads has been asked to take."""
        turn = _Turn(function, [item], np.zeros(1, np.uint8), words.purpose)
        _pool.invite(turn, 1, threads)
        return turn


class _Turn:
    """One call of `map`: its items, and the threads that have joined in.

    Parameters
    ----------
    function : callable
    work : list
    halt : ndarray, shape (1,), uint8
        The byte that tells kernels to end.
    purpose : object
        What tells, as text, what the run is for.
    """

    def __init__(
        self, function: Callable[[Any], Any], work: list[Any], halt: np.ndarray, purpose: object
    ) -> None:
        self._function = function
        self._work = work
        self._halt = halt
        self._purpose = purpose
        self._following = count()
        self._results: list[Any] = [None] * len(work)
        self._failed: BaseException | None = None
        self._lock = Lock()
        self._done = 0
        self._joined = 0
        self._left = Event()

    def join(self) -> None:
        """Take items until none is left; one that fails is the last of all."""
        with self._lock:
            self._joined += 1
        before = words.halt
        words.halt_with(self._halt)
        words.purpose = self._purpose
        try:
            while not self._halt[0] and (index := next(self._following)) < len(self._work):
                self._results[index] = self._function(self._work[index])
                with self._lock:
                    self._done += 1
        except BaseException as error:
            with self._lock:
                # Those that end because another has failed say nothing about why.
                if self._failed is None or isinstance(self._failed, HaltedError):
                    self._failed = error
            self._halt[0] = 1
        finally:
            words.halt_with(before)
        with self._lock:
            self._joined -= 1
            if not self._joined:  # whoever joins later finds nothing to do
                self._left.set()

    def wait(self, meanwhile: Callable[[int], None] | None = None) -> list[Any]:
        """The results, once all items are done.

        Parameters
        ----------
        meanwhile : callable, optional
            Called from time to time with the number of items that are done.
        """
        while not self._left.wait(STEP_S):
            if meanwhile is not None:
                meanwhile(self._done)
        if self._failed is not None:
            raise self._failed
        return self._results

    def end(self) -> None:
        """Tell all threads to end, and wait until they have."""
        self._halt[0] = 1
        with self._lock:
            if not self._joined:
                return
            self._left.clear()
        self._left.wait()


class _Pool:
    """The threads of the process, which wait for turns to join."""

    def __init__(self) -> None:
        self._turns: SimpleQueue[_Turn] = SimpleQueue()
        self._threads = 0
        self._lock = Lock()

    def invite(self, turn: _Turn, threads: int, there: int = 0) -> None:
        """Let `threads` threads join a turn, as soon as they are free; at least `there` exist then."""
        with self._lock:
            while self._threads < max(threads, there):
                Thread(target=self._work, name=f"{NAME}-{self._threads}", daemon=True).start()
                self._threads += 1
        for _ in range(threads):
            self._turns.put(turn)

    def _work(self) -> None:
        _own.inside = True
        while True:
            # No name holds a turn, with its results, while the thread waits for another.
            self._turns.get().join()


class _ThreadState(local):
    """What a thread knows of itself."""

    inside = False
    """Whether it is one of the pool's."""


_own = _ThreadState()
_pool = _Pool()


def _forget() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    # A forked process has the thread that forked, and none of the pool's.
    os.register_at_fork(after_in_child=_forget)

"""A pool of threads for kernels that release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Lock
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def usable_cores() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Runs a function on many items, in as many threads as there are cores to use, the caller's among them.

    The threads are started when they are first needed and end with the object.

    Kernels are single-threaded and release the lock; the pool is the only parallelism, so that a run may
    itself be one of many (in a Spark task, say) without nested thread pools.

    Parameters
    ----------
    threads : int, optional
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or usable_cores()
        self._pool: ThreadPoolExecutor | None = None
        self._starting = Lock()
        self._compiled: set[str] = set()

    def map(self, kind: str, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The results of a function, in the order of the items.

        The first item of each `kind` of work runs alone, so that its kernels are compiled, or loaded from
        the disk, by one thread while no other waits for the same.
        """
        work = list(items)
        done = []
        if work and kind not in self._compiled:
            done.append(function(work.pop(0)))
            self._compiled.add(kind)
        if self.threads == 1 or len(work) <= 1:
            return done + [function(item) for item in work]
        return done + self._shared(function, work)

    def _shared(self, function: Callable[[Item], Result], work: list[Item]) -> list[Result]:
        """Each thread takes the next item until none is left: one task for a thread, not for an item."""
        results: list[Any] = [None] * len(work)
        following = count()

        def take() -> None:
            while (index := next(following)) < len(work):
                try:
                    results[index] = function(work[index])
                except BaseException:
                    for _ in work:  # leave nothing for the other threads
                        next(following)
                    raise

        with self._starting:  # a query may be run from several threads
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="cer-gpu")
        others = [self._pool.submit(take) for _ in range(min(self.threads, len(work)) - 1)]
        take()
        for other in others:
            # What has not begun has nothing left to do; after a fork the pool has no threads to begin it.
            if not other.cancel():
                other.result()
        return results

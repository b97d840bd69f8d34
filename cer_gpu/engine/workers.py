"""A pool of threads for kernels that release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers:
    """Runs a function on many items, in as many threads as there are cores to use.

    Kernels are single-threaded and release the lock; the pool is the only parallelism, so that a run may
    itself be one of many (in a Spark task, say) without nested thread pools.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = (
            threads or len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else (threads or os.cpu_count() or 1)
        )
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The results of a function, in the order of the items."""
        work: Sequence[Item] = list(items)
        if len(work) <= 1 or self.threads == 1:
            return [function(item) for item in work]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="cer-gpu")
        return list(self._pool.map(function, work))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

"""In a worker: what the stateful operators of live queries have in common: `BlobKeeper`.

A bucket gets its rows as bytes of Arrow, and gives answers as such.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pickle import loads
from typing import Any, Generic, TypeVar

import pyarrow as pa
from cer_gpu.spark.stream_task import from_blob
from cer_gpu.spark.worker_reuse import settle_task
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

ANSWERS = (
    "answers binary, events bigint, matches bigint, late bigint, waiting bigint, open bigint, bytes bigint"
)
"""What the operator gives for a bucket: answers as bytes, and what `stream_metrics` shows."""

_ROW = Row(*(one.partition(" ")[0] for one in ANSWERS.split(", ")))

LiveTask = TypeVar("LiveTask")
"""What workers have to know."""


class BlobKeeper(StatefulProcessor, Generic[LiveTask]):
    """Keeps the state of each bucket between micro-batches.

    Parameters
    ----------
    dumped : bytes
        A pickled task, which a worker reads once.
    """

    def __init__(self, dumped: bytes) -> None:
        self._dumped = dumped

    def init(self, handle: Any) -> None:
        """See `StatefulProcessor.init`."""
        self._handle = handle
        self._task: LiveTask | None = None

    @property
    def task(self) -> LiveTask:
        """What workers have to know."""
        if self._task is None:
            self._task = loads(self._dumped)
        return self._task

    def close(self) -> None:
        """See `StatefulProcessor.close`."""
        settle_task()

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Take the rows of a bucket."""
        tables = [from_blob(row["rows"]) for row in rows if row["rows"]]
        yield from self._went_on(key[0], tables, timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Take it that time has passed."""
        yield from self._went_on(key[0], [], timerValues.getCurrentWatermarkInMs())

    @abstractmethod
    def _went_on(self, bucket: int, tables: list[pa.Table], watermark: int) -> Iterator[Any]:
        """Take rows, advance to the watermark in milliseconds, and give what that decides."""


def answer_rows(metrics: tuple[int, ...], blobs: Iterable[bytes]) -> Iterator[Any]:
    """The rows of `ANSWERS` of a bucket: what `stream_metrics` shows, then its answers."""
    yield _ROW(None, *metrics)
    for blob in blobs:
        yield _ROW(blob, *[0] * len(metrics))

"""In a worker: a stream for each bucket of keys, which Spark keeps as a snapshot and what was pushed since.

A micro-batch gives a bucket its new rows, as bytes of Arrow, and the watermark. Both are added to the state,
and the snapshot is replaced once as many bytes have been added as it has itself: what a micro-batch writes
does not grow with the window. A process that has left the stream in memory takes what it has missed; another
one begins with the snapshot.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pickle import loads
from typing import Any, Generic, NamedTuple, Protocol, TypeVar
from uuid import uuid4

import pyarrow as pa
from cer_gpu.spark.stream_task import from_blob, to_blob
from cer_gpu.spark.worker_reuse import settle_task
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

ANSWERS = (
    "answers binary, events bigint, matches bigint, late bigint, waiting bigint, open bigint, bytes bigint"
)
"""What the operator gives for a bucket: answers as bytes, and what `stream_metrics` shows."""

_ROW = Row(*(one.partition(" ")[0] for one in ANSWERS.split(", ")))

LEAST = 1 << 16
"""Bytes that may be added to a snapshot, however small it is."""

OVERHEAD = 1 << 10
"""Bytes that each addition counts as, also without rows: it takes time to go through many of them."""


class NumberedTask(Protocol):
    """What workers have to know of a stream.

    Attributes
    ----------
    number : str
        What tells this stream from others of the same process.
    """

    @property
    def number(self) -> str: ...


LiveTask = TypeVar("LiveTask", bound=NumberedTask)

LiveStream = TypeVar("LiveStream")


class StreamPush(NamedTuple):
    """What a stream has made of new rows.

    Attributes
    ----------
    answers : object
        Matches, which need not be listed.
    events : int
        How many rows it has taken.
    late : int
        How many it has left out.
    """

    answers: Any
    events: int
    late: int


@dataclass(slots=True)
class KeptStream(Generic[LiveStream]):
    """The stream of a bucket in a worker process, and what there is of it in the state.

    Attributes
    ----------
    stream : object
    mark : str
        That of the last micro-batch that it has taken.
    stored : int
        Bytes of the snapshot.
    additions : int
        Micro-batches since.
    added : int
        Bytes of these.
    """

    stream: LiveStream
    mark: str
    stored: int
    additions: int = 0
    added: int = 0


_kept: dict[tuple[str, int], KeptStream[Any]] = {}
"""In a worker process, the streams of the buckets that it has seen last."""


class BlobKeeper(StatefulProcessor, Generic[LiveTask, LiveStream]):
    """Keeps the stream of each bucket between micro-batches.

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
        self._marks = handle.getValueState("mark", "mark string, watermark bigint")
        self._states = handle.getValueState("state", "state binary")
        self._additions = handle.getMapState(
            "additions", "number bigint", "before string, mark string, watermark bigint, rows binary"
        )

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
        """Tell the stream of a bucket that time has passed, if it does not know."""
        watermark = timerValues.getCurrentWatermarkInMs()
        if self._marks.get()[1] < watermark:
            yield from self._went_on(key[0], [], watermark)

    def _went_on(self, bucket: int, tables: list[pa.Table], watermark: int) -> Iterator[Any]:
        """Take rows, advance to the watermark in milliseconds, and give what that decides."""
        if not self._marks.exists():
            self._begin()
        mark, told = self._marks.get()
        kept = self._stream(bucket, mark)
        passed = watermark if watermark > max(told, 0) else None
        rows = self.joined(tables) if tables else None
        pushed = self.push(kept.stream, passed, rows)
        matches, blobs = 0, []
        for blob, number in self.listed(pushed.answers):
            blobs.append(blob)
            matches += number
        self._store(kept, passed, rows)
        self._marks.update((kept.mark, max(told, watermark)))
        _kept[self.task.number, bucket] = kept
        waiting, is_open, waits = self.open(kept.stream)
        if waits:  # what waits for time to pass is looked at when it has
            self._handle.registerTimer(max(told, watermark, 0) + 1)
        done = pushed.events, matches, pushed.late
        yield _ROW(None, *done, waiting, is_open, kept.stored + kept.added)
        for blob in blobs:
            yield _ROW(blob, *[0] * 6)

    def _begin(self) -> None:
        """Keep the state of a bucket that has had no rows."""
        self._states.update((self.first(),))
        self._marks.update((uuid4().hex, 0))

    def _store(self, kept: KeptStream[LiveStream], watermark: int | None, rows: pa.Table | None) -> None:
        """Add to the state what a stream has taken, or replace its snapshot."""
        before, kept.mark = kept.mark, uuid4().hex
        blob = b"" if rows is None else to_blob(rows)
        kept.added += len(blob) + OVERHEAD
        if kept.added <= max(kept.stored, LEAST):
            self._additions.updateValue((kept.additions,), (before, kept.mark, watermark, blob))
            kept.additions += 1
            return
        state = self.stored(kept.stream)
        self._states.update((state,))
        if kept.additions:
            self._additions.clear()
        kept.stored, kept.additions, kept.added = len(state), 0, 0

    def _stream(self, bucket: int, mark: str) -> KeptStream[LiveStream]:
        """The stream of a bucket as it was at a mark."""
        known = _kept.pop((self.task.number, bucket), None)
        if known is None or not self._caught_up(known, mark):
            state = self._states.get()[0]
            first = self._addition(0)
            known = KeptStream(self.restored(state), mark if first is None else first[0], len(state))
            self._caught_up(known, mark)
        return known

    def _addition(self, number: int) -> tuple[Any, ...] | None:
        """An addition to the snapshot; None behind the last one, of which Spark would warn."""
        key = (number,)
        return self._additions.getValue(key) if self._additions.containsKey(key) else None

    def _caught_up(self, kept: KeptStream[LiveStream], mark: str) -> bool:
        """Give a stream what was added to the state after its mark; False if it is not on the way there."""
        while kept.mark != mark:
            added = self._addition(kept.additions)
            if added is None or added[0] != kept.mark:  # a micro-batch was repeated, or a snapshot missed
                return False
            _, kept.mark, watermark, blob = added
            self.push(kept.stream, watermark, from_blob(blob) if blob else None)
            kept.additions += 1
            kept.added += len(blob) + OVERHEAD
        return True

    @abstractmethod
    def first(self) -> bytes:
        """The state of a bucket that has had no rows."""

    @abstractmethod
    def restored(self, state: bytes) -> LiveStream:
        """A stream from its state.

        Raises
        ------
        DataError
            For the state of another stream.
        """

    @abstractmethod
    def stored(self, stream: LiveStream) -> bytes:
        """The state of a stream."""

    @abstractmethod
    def joined(self, tables: list[pa.Table]) -> pa.Table:
        """The rows of some tasks as one table."""

    @abstractmethod
    def push(self, stream: LiveStream, watermark: int | None, rows: pa.Table | None) -> StreamPush:
        """Advance a stream to a watermark in milliseconds, then push rows: those before it are too late.

        The same rows in another order have to give the same: a micro-batch may be repeated.
        """

    @abstractmethod
    def listed(self, answers: Any) -> Iterator[tuple[bytes, int]]:
        """Answers as bytes, and how many matches these are of."""

    @abstractmethod
    def open(self, stream: LiveStream) -> tuple[int, int, bool]:
        """How many rows wait, how many later matches may need, and whether time may decide something."""

"""In a worker: the stream of a bucket of keys, which Spark keeps as a snapshot and what was pushed since.

A micro-batch gives a bucket its new rows, which wait until the watermark has passed them (`late`), and the
watermark, which is `Stream.advance`. Both are added to the state, and the snapshot is replaced once as many
bytes have been added as it has itself: what a micro-batch writes does not grow with the window. A process
that has left the stream in memory takes what it has missed; another one begins with the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark.arrow_types import halving, shown, shown_as
from cer_gpu.spark.blob_keeper import BlobKeeper, answer_rows
from cer_gpu.spark.stream_task import StreamTask, from_blob, moment_of, to_blob
from cer_gpu.spark.worker import Job, counts_column

from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.stream import Stream
from cer_gpu.errors import DataError

FOREVER = "100000 days"
"""How long rows wait: the watermark alone says when one is known to be in order."""

LEAST = 1 << 16
"""Bytes that may be added to a snapshot, however small it is."""

OVERHEAD = 1 << 10
"""Bytes that each addition counts as, also without rows: it takes time to go through many of them."""


@dataclass(slots=True)
class KeptStream:
    """The stream of a bucket in a worker process, and what there is of it in the state.

    Attributes
    ----------
    stream : Stream
    mark : str
        That of the last micro-batch that it has taken.
    stored : int
        Bytes of the snapshot.
    additions : int
        Micro-batches since.
    added : int
        Bytes of these.
    """

    stream: Stream
    mark: str
    stored: int
    additions: int = 0
    added: int = 0


_kept: dict[tuple[str, int], KeptStream] = {}
"""In a worker process, the streams of the buckets that it has seen last."""


class BucketKeeper(BlobKeeper[StreamTask]):
    """Keeps the streams of buckets."""

    def init(self, handle: Any) -> None:
        """See `StatefulProcessor.init`."""
        super().init(handle)
        self._marks = handle.getValueState("mark", "mark string, watermark bigint")
        self._states = handle.getValueState("state", "state binary")
        self._additions = handle.getMapState(
            "additions", "number bigint", "before string, mark string, watermark bigint, rows binary"
        )

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: N802, N803
        """Keep the first state of a bucket."""
        mark = uuid4().hex
        self._states.update((initialState["state"],))
        self._marks.update((mark, 0))
        self._handle.registerTimer(1)  # what history has left open may be decided by time alone

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Tell the stream of a bucket that time has passed, if it does not know."""
        if self._marks.get()[1] < timerValues.getCurrentWatermarkInMs():
            yield from super().handleExpiredTimer(key, timerValues, expiredTimerInfo)

    def _went_on(self, bucket: int, tables: list[pa.Table], watermark: int) -> Iterator[Any]:
        live = self.task
        if not self._marks.exists():
            raise DataError(
                "the checkpoint has no state for some keys, so it is of a stream with fewer buckets: start "
                "with another checkpointLocation, or with the buckets= that it was started with"
            )
        mark, told = self._marks.get()
        kept = self._stream(live, bucket, mark)
        stream = kept.stream
        before = stream.metrics
        passed = watermark if watermark > max(told, 0) else None
        rows = in_order(tables, live) if tables else None
        matches, blobs = 0, []
        for one in took(stream, passed, rows, live):
            for answers, number in _listed(live, one):
                blobs.append(answers)
                matches += number
        self._store(kept, passed, rows)
        self._marks.update((kept.mark, max(told, watermark)))
        _kept[live.number, bucket] = kept
        if stream.metrics.events:  # what waits for time to pass is looked at when it has
            self._handle.registerTimer(max(told, watermark, 0) + 1)
        now = stream.metrics
        done = now.events - before.events, matches, now.late - before.late
        yield from answer_rows((*done, now.waiting, now.open_events, kept.stored + kept.added), blobs)

    def _store(self, kept: KeptStream, watermark: int | None, rows: pa.Table | None) -> None:
        """Add to the state what a stream has taken, or replace its snapshot."""
        before, kept.mark = kept.mark, uuid4().hex
        blob = b"" if rows is None else to_blob(rows)
        kept.added += len(blob) + OVERHEAD
        if kept.added <= max(kept.stored, LEAST):
            self._additions.updateValue((kept.additions,), (before, kept.mark, watermark, blob))
            kept.additions += 1
            return
        state = kept.stream.snapshot()
        self._states.update((state,))
        if kept.additions:
            self._additions.clear()
        kept.stored, kept.additions, kept.added = len(state), 0, 0

    def _stream(self, live: StreamTask, bucket: int, mark: str) -> KeptStream:
        """The stream of a bucket as it was at a mark."""
        known = _kept.pop((live.number, bucket), None)
        if known is None or not self._caught_up(known, mark):
            state = self._states.get()[0]
            first = self._addition(0)
            known = KeptStream(restored(live, state), mark if first is None else first[0], len(state))
            self._caught_up(known, mark)
        return known

    def _addition(self, number: int) -> tuple[Any, ...] | None:
        """An addition to the snapshot; None behind the last one, of which Spark would warn."""
        key = (number,)
        return self._additions.getValue(key) if self._additions.containsKey(key) else None

    def _caught_up(self, kept: KeptStream, mark: str) -> bool:
        """Give a stream what was added to the state after its mark; False if it is not on the way there."""
        while kept.mark != mark:
            added = self._addition(kept.additions)
            if added is None or added[0] != kept.mark:  # a micro-batch was repeated, or a snapshot missed
                return False
            _, kept.mark, watermark, blob = added
            took(kept.stream, watermark, from_blob(blob) if blob else None, self.task)
            kept.additions += 1
            kept.added += len(blob) + OVERHEAD
        return True


def took(stream: Stream, watermark: int | None, rows: pa.Table | None, live: StreamTask) -> list[Matches]:
    """Advance a stream to a watermark in milliseconds, and push rows; gives the matches of both."""
    found = []
    if watermark is not None:  # first, so that rows before it are known to be too late
        query = live.task.query
        kind = query.schema.field(query.options.order_by[0]).type
        found.append(stream.advance(moment_of(1000 * watermark, kind, query.options.order_unit)))
    if rows is not None:
        found.append(stream.push(rows))
    return [one for one in found if one is not None]


def restored(live: StreamTask, state: bytes) -> Stream:
    """A stream from its snapshot.

    Raises
    ------
    DataError
        For a state of another query, other keywords or another version.
    """
    job, query = Job(live.task), live.task.query

    def bind(given: Any) -> BoundQuery:
        source = job.source_of(given, query.options.stream_column, query.columns)
        return job.bound(query, source, job.device, 0, False, None)

    waiting = replace(query.options, late=FOREVER, on_late=live.on_late)
    try:
        return Stream(bind, live.about, state, waiting)
    except DataError as error:
        raise DataError(
            f"the checkpoint of this stream cannot be continued: {error}. Start with another "
            "checkpointLocation, or with the query that it was started with"
        ) from None


def in_order(tables: list[pa.Table], live: StreamTask) -> pa.Table:
    """Rows in an order that does not depend on the shuffle: a micro-batch that is repeated gives the same."""
    rows = pa.concat_tables(tables)
    names = [*live.task.query.options.order_by, *live.task.ties]
    keys = [(name, "ascending") for name in names if not pa.types.is_nested(rows.schema.field(name).type)]
    return rows.take(pc.sort_indices(rows, sort_keys=keys)).combine_chunks()


def _listed(live: StreamTask, matches: Matches) -> Iterator[tuple[bytes, int]]:
    """Matches, or what is asked of them, as bytes; and how many matches these are of."""
    task = live.task
    if task.product == "run":
        for batch in matches.batches(keep=False):
            for part in halving(batch, lambda given: shown(given.columns, task.result)):
                yield to_blob(part), len(part)
        return
    found = matches.to_arrow()
    if len(found):
        yield to_blob(_ends(found, live)), len(found)


def _ends(found: pa.Table, live: StreamTask) -> pa.RecordBatch:
    """The ends of matches, which come in the order of their ends, then of their starts."""
    form = live.task.query.result
    keys = [found.column(2 + number) for number in range(len(form.partition))]
    end, time = found.column(1), found.column(form.times[1])
    last = np.zeros(len(found), bool)
    for column in (end, time, *keys):
        one = column.combine_chunks()
        change = pc.not_equal(one.slice(1), one.slice(0, len(one) - 1))
        last[:-1] |= pc.fill_null(change, False).to_numpy(zero_copy_only=False)
    last[-1] = True
    at = np.flatnonzero(last)
    rows = pa.array(at)
    taken = [column.take(rows).combine_chunks() for column in (end, *keys, time)]
    *fields, value = live.task.result
    columns = [shown_as(column, field.type) for column, field in zip(taken, fields, strict=True)]
    if live.task.product == "hits":
        columns.append(shown_as(found.column(0).take(rows).combine_chunks(), value.type))
    else:
        columns.append(counts_column(np.diff(at, prepend=-1).tolist()))
    return pa.RecordBatch.from_arrays(columns, schema=live.task.result)

"""In a worker: the stream of a bucket of keys, of a query: `BucketKeeper`.

Rows wait until the watermark has passed them (`late`), and the watermark is `Stream.advance`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark.arrow_types import halving, shown, shown_as
from cer_gpu.spark.blob_keeper import BlobKeeper, StreamPush
from cer_gpu.spark.stream_task import StreamTask, moment_of, to_blob
from cer_gpu.spark.worker import Job, counts_column

from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.stream import Stream
from cer_gpu.errors import DataError

FOREVER = "100000 days"
"""How long rows wait: the watermark alone says when one is known to be in order."""


class BucketKeeper(BlobKeeper[StreamTask, Stream]):
    """Keeps the streams of buckets. All of them are given a first state, from a history or an empty one."""

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: N802, N803
        """Keep the first state of a bucket."""
        self._states.update((initialState["state"],))
        self._marks.update((uuid4().hex, 0))
        self._handle.registerTimer(1)  # what history has left open may be decided by time alone

    def first(self) -> bytes:
        """There is none: a bucket without a state is of a changed stream."""
        raise DataError(
            "the checkpoint has no state for some keys, so it is of a stream with fewer buckets: start "
            "with another checkpointLocation, or with the buckets= that it was started with"
        )

    def restored(self, state: bytes) -> Stream:
        """A stream from its snapshot."""
        return restored(self.task, state)

    def stored(self, stream: Stream) -> bytes:
        """The snapshot of a stream."""
        return stream.snapshot()

    def joined(self, tables: list[pa.Table]) -> pa.Table:
        """Rows in their order."""
        return in_order(tables, self.task)

    def push(self, stream: Stream, watermark: int | None, rows: pa.Table | None) -> StreamPush:
        """See `BlobKeeper.push`."""
        before, found = stream.metrics, []
        if watermark is not None:
            query = self.task.task.query
            kind = query.schema.field(query.options.order_by[0]).type
            found.append(stream.advance(moment_of(1000 * watermark, kind, query.options.order_unit)))
        if rows is not None:
            found.append(stream.push(rows))
        now = stream.metrics
        answers = [one for one in found if one is not None]
        return StreamPush(answers, now.events - before.events, now.late - before.late)

    def listed(self, answers: list[Matches]) -> Iterator[tuple[bytes, int]]:
        """See `BlobKeeper.listed`."""
        for one in answers:
            yield from _listed(self.task, one)

    def open(self, stream: Stream) -> tuple[int, int, bool]:
        """See `BlobKeeper.open`."""
        now = stream.metrics
        return now.waiting, now.open_events, now.events > 0


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

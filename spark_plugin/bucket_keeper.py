"""In a worker: the stream of a bucket of keys, whose snapshot is the state that Spark keeps.

A micro-batch gives a bucket its new rows, which wait until the watermark has passed them (`late`), and the
watermark, which is `Stream.advance`. A bucket whose stream this process has left in memory goes on with it;
otherwise it is restored from the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pickle import loads
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cer_gpu.spark.arrow_types import halving, shown_as
from cer_gpu.spark.stream_task import StreamTask, from_blob, moment_of, to_blob
from cer_gpu.spark.worker import Job, counts_column
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.stream import Stream
from cer_gpu.errors import DataError

FOREVER = "100000 days"
"""How long rows wait: the watermark alone says when one is known to be in order."""

ANSWERS = (
    "answers binary, events bigint, matches bigint, late bigint, waiting bigint, open bigint, bytes bigint"
)
"""What the operator gives for a bucket: answers as bytes, and what `stream_metrics` shows."""

_ROW = Row(*(one.partition(" ")[0] for one in ANSWERS.split(", ")))

_kept: dict[tuple[str, int], tuple[str, Stream]] = {}
"""In a worker process, the streams of the buckets that it has seen last, with the mark of their snapshot."""


class BucketKeeper(StatefulProcessor):
    """Keeps the streams of buckets.

    Parameters
    ----------
    dumped : bytes
        A pickled `StreamTask`.
    """

    def __init__(self, dumped: bytes) -> None:
        self._dumped = dumped

    def init(self, handle: Any) -> None:
        """See `StatefulProcessor.init`."""
        self._handle = handle
        self._marks = handle.getValueState("mark", "mark string, watermark bigint")
        self._states = handle.getValueState("state", "state binary")
        self._live: StreamTask | None = None

    def close(self) -> None:
        """See `StatefulProcessor.close`."""

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: N802, N803
        """Keep the first state of a bucket."""
        mark = uuid4().hex
        self._states.update((initialState["state"],))
        self._marks.update((mark, 0))
        self._handle.registerTimer(1)  # what history has left open may be decided by time alone

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Take the rows of a bucket."""
        watermark = timerValues.getCurrentWatermarkInMs()
        yield from self._went_on(key[0], [row["rows"] for row in rows], watermark)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Tell the stream of a bucket that time has passed."""
        watermark = timerValues.getCurrentWatermarkInMs()
        if self._marks.get()[1] < watermark:
            yield from self._went_on(key[0], [], watermark)

    def _went_on(self, bucket: int, blobs: Iterable[bytes], watermark: int) -> Iterator[Any]:
        """Push rows, and advance to the watermark; gives what that decides."""
        if self._live is None:
            self._live = loads(self._dumped)
        live = self._live
        if not self._marks.exists():
            raise DataError(
                "the checkpoint has no state for some keys, so it is of a stream with fewer buckets: start "
                "with another checkpointLocation, or with the buckets= that it was started with"
            )
        mark, told = self._marks.get()
        stream = self._stream(live, bucket, mark)
        given = [from_blob(blob) for blob in blobs if blob]
        before = stream.metrics
        found: list[Matches | None] = []
        if watermark > max(told, 0):  # first, so that rows before it are known to be too late
            query = live.task.query
            kind = query.schema.field(query.options.order_by[0]).type
            found.append(stream.advance(moment_of(1000 * watermark, kind, query.options.order_unit)))
        if given:
            found.append(pushed_in_order(stream, given, live))
        matches, blobs = 0, []
        for one in found:
            for answers, number in [] if one is None else _listed(live, one):
                blobs.append(answers)
                matches += number
        state, mark = stream.snapshot(), uuid4().hex
        self._states.update((state,))
        self._marks.update((mark, max(told, watermark)))
        _kept[live.number, bucket] = mark, stream
        if stream.metrics.events:  # what waits for time to pass is looked at when it has
            self._handle.registerTimer(max(told, watermark, 0) + 1)
        now = stream.metrics
        done = now.events - before.events, matches, now.late - before.late
        yield _ROW(None, *done, now.waiting, now.open_events, len(state))
        for answers in blobs:
            yield _ROW(answers, 0, 0, 0, 0, 0, 0)

    def _stream(self, live: StreamTask, bucket: int, mark: str) -> Stream:
        """The stream of a bucket: from memory if this process wrote its snapshot, else restored from it."""
        known = _kept.pop((live.number, bucket), None)
        if known is not None and known[0] == mark:
            return known[1]
        return restored(live, self._states.get()[0])


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


def pushed_in_order(stream: Stream, tables: list[pa.Table], live: StreamTask) -> Matches:
    """Push rows in an order that does not depend on the shuffle: a batch that is repeated gives the same."""
    rows = pa.concat_tables(tables)
    names = [*live.task.query.options.order_by, *live.task.ties]
    keys = [(name, "ascending") for name in names if not pa.types.is_nested(rows.schema.field(name).type)]
    return stream.push(rows.take(pc.sort_indices(rows, sort_keys=keys)))


def _listed(live: StreamTask, matches: Matches) -> Iterator[tuple[bytes, int]]:
    """Matches, or what is asked of them, as bytes; and how many matches these are of."""
    task = live.task
    if task.product == "run":
        for batch in matches.batches(keep=False):
            for part in halving(batch, lambda given: _shown(given.columns, task.result)):
                yield to_blob(part), len(part)
        return
    found = matches.to_arrow()
    if len(found):
        yield to_blob(_ends(found, live)), len(found)


def _shown(columns: list[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Columns in the types of Spark."""
    shown = [shown_as(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(shown, schema=schema)


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
    shown = [column.take(rows).combine_chunks() for column in (end, *keys, time)]
    *fields, value = live.task.result
    columns = [shown_as(column, field.type) for column, field in zip(shown, fields, strict=True)]
    if live.task.product == "hits":
        columns.append(shown_as(found.column(0).take(rows).combine_chunks(), value.type))
    else:
        columns.append(counts_column(np.diff(at, prepend=-1).tolist()))
    return pa.RecordBatch.from_arrays(columns, schema=live.task.result)

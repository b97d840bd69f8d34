"""In a worker: the rows of a live MATCH_RECOGNIZE that a bucket of partitions keeps, which are its state."""

from __future__ import annotations

from collections.abc import Iterator
from pickle import loads
from typing import Any

import pyarrow as pa
from cer_gpu.spark.arrow_types import halving, shown_as
from cer_gpu.spark.bucket_keeper import ANSWERS
from cer_gpu.spark.row_pattern_worker import RowPatternTask
from cer_gpu.spark.stream_task import from_blob, to_blob
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

from cer_gpu.engine.rows.row_pattern_stream import RowPatternState, RowPatternStream
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.tree import RowPatternClause

_ROW = Row(*(one.partition(" ")[0] for one in ANSWERS.split(", ")))


@dataclass(frozen=True, slots=True)
class LiveRowPattern:
    """What the workers of a live MATCH_RECOGNIZE have to know; picklable.

    Attributes
    ----------
    clause : RowPatternClause
    task : RowPatternTask
    result : pyarrow.Schema
        The columns of the answer in types that Spark has.
    about : str
        What identifies the statement: a checkpoint fits only the same.
    on_late : {"drop", "error"}
    """

    clause: RowPatternClause
    task: RowPatternTask
    result: pa.Schema
    about: str
    on_late: str


class RowPatternKeeper(StatefulProcessor):
    """Keeps the rows of buckets.

    Parameters
    ----------
    dumped : bytes
        A pickled `LiveRowPattern`.
    """

    def __init__(self, dumped: bytes) -> None:
        self._dumped = dumped

    def init(self, handle: Any) -> None:
        """See `StatefulProcessor.init`."""
        self._handle = handle
        self._states = handle.getValueState("state", "about string, moment bigint, rows binary")
        self._live: LiveRowPattern | None = None

    def close(self) -> None:
        """See `StatefulProcessor.close`."""

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Take the rows of a bucket."""
        watermark = timerValues.getCurrentWatermarkInMs()
        yield from self._went_on([from_blob(row["rows"]) for row in rows], watermark)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Take it that time has passed."""
        yield from self._went_on([], timerValues.getCurrentWatermarkInMs())

    def _went_on(self, tables: list[pa.Table], watermark: int) -> Iterator[Any]:
        if self._live is None:
            self._live = loads(self._dumped)
        live = self._live
        stream = self._stream(live)
        moment = moment_in(live.task.read.field(live.task.order_by[0]).type, max(watermark, 0))
        found: list[pa.RecordBatch] = []
        if stream.held.moment is None or moment > stream.held.moment:  # first: rows before it are too late
            found += stream.advance(moment, Workers(1))
        late = events = 0
        for table in tables:
            rows = pa.Table.from_arrays(
                [
                    shown_as(values.combine_chunks(), field.type)
                    for values, field in zip(table.columns, live.task.read, strict=True)
                ],
                schema=live.task.read,
            )
            events += len(rows)
            late += stream.push(rows)
        if late and live.on_late == "error":
            raise DataError(
                f"{late:,} rows are older than the watermark: raise late, or leave on_late='error' out"
            )
        state = to_blob(stream.held.rows.combine_chunks())
        self._states.update((live.about, stream.held.moment, state))
        waiting = stream.waiting
        if waiting:
            self._handle.registerTimer(max(watermark, 0) + 1)
        matches, blobs = 0, []
        for batch in found:
            for part in halving(batch, lambda given: _shown(given, live.result)):
                matches += part.num_rows
                blobs.append(to_blob(part))
        yield _ROW(None, events - late, matches, late, waiting, len(stream.held.rows), len(state))
        for blob in blobs:
            yield _ROW(blob, 0, 0, 0, 0, 0, 0)

    def _stream(self, live: LiveRowPattern) -> RowPatternStream:
        held = None
        if self._states.exists():
            about, moment, rows = self._states.get()
            if about != live.about:
                raise DataError(
                    "the checkpoint of this stream cannot be continued: it is of another statement. Start "
                    "with another checkpointLocation, or with the statement that it was started with"
                )
            held = RowPatternState(from_blob(rows), moment)
        task = live.task
        return RowPatternStream(live.clause, task.answer, task.in_order, task.read, held)


def moment_in(kind: pa.DataType, milliseconds: int) -> int:
    """A time as a number in the unit of a column of times."""
    if pa.types.is_date32(kind):
        return -(-milliseconds // 86_400_000)
    return milliseconds * {"s": 1, "ms": 1, "us": 1_000, "ns": 1_000_000}[kind.unit]


def _shown(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch in the types of Spark."""
    columns = [shown_as(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)

"""In a worker: the rows of a live MATCH_RECOGNIZE that a bucket of partitions keeps, which are its state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from cer_gpu.spark.arrow_types import halving, shown
from cer_gpu.spark.blob_keeper import BlobKeeper, answer_rows
from cer_gpu.spark.row_pattern_worker import RowPatternTask
from cer_gpu.spark.stream_task import PER_SECOND, from_blob, to_blob

from cer_gpu.engine.rows.row_pattern_stream import RowPatternState, RowPatternStream
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.tree import RowPatternClause


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


class RowPatternKeeper(BlobKeeper[LiveRowPattern]):
    """Keeps the rows of buckets."""

    def init(self, handle: Any) -> None:
        """See `StatefulProcessor.init`."""
        super().init(handle)
        self._states = handle.getValueState("state", "about string, moment bigint, rows binary")

    def _went_on(self, bucket: int, tables: list[pa.Table], watermark: int) -> Iterator[Any]:
        live = self.task
        stream = self._stream(live)
        moment = moment_in(live.task.read.field(live.task.order_by[0]).type, max(watermark, 0))
        found: list[pa.RecordBatch] = []
        if stream.held.moment is None or moment > stream.held.moment:  # first: rows before it are too late
            found += stream.advance(moment, Workers(1))
        late = events = 0
        for table in tables:
            columns = (column.combine_chunks() for column in table.columns)
            rows = pa.Table.from_batches([shown(columns, live.task.read)])
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
            for part in halving(batch, lambda given: shown(given.columns, live.result)):
                matches += part.num_rows
                blobs.append(to_blob(part))
        done = events - late, matches, late
        yield from answer_rows((*done, waiting, len(stream.held.rows), len(state)), blobs)

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
    return -(-milliseconds * PER_SECOND[kind.unit] // 1_000)

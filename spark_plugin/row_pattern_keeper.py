"""In a worker: the rows of a live MATCH_RECOGNIZE that a bucket of partitions keeps, which are its state."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from cer_gpu.spark.arrow_types import halving, shown
from cer_gpu.spark.blob_keeper import BlobKeeper, StreamPush
from cer_gpu.spark.row_pattern_worker import RowPatternTask
from cer_gpu.spark.stream_task import PER_SECOND, to_blob

from cer_gpu.engine.rows.row_pattern_stream import RowPatternState, RowPatternStream
from cer_gpu.engine.run.snapshot import StoredState, from_bytes, to_bytes
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
    number : str
        What tells this stream from others of the same process.
    on_late : {"drop", "error"}
    """

    clause: RowPatternClause
    task: RowPatternTask
    result: pa.Schema
    about: str
    number: str
    on_late: str


class RowPatternKeeper(BlobKeeper[LiveRowPattern, RowPatternStream]):
    """Keeps the rows of buckets."""

    def first(self) -> bytes:
        """No rows, and no time that has passed."""
        return to_bytes(StoredState({"statement": self.task.about}, None))

    def restored(self, state: bytes) -> RowPatternStream:
        """See `BlobKeeper.restored`."""
        about, held = from_bytes(state)
        if about["statement"] != self.task.about:
            raise DataError(
                "the checkpoint of this stream cannot be continued: it is of another statement. Start "
                "with another checkpointLocation, or with the statement that it was started with"
            )
        task, kept = self.task.task, None if held is None else RowPatternState(held["rows"], held["moment"])
        return RowPatternStream(self.task.clause, task.answer, task.in_order, task.read, kept)

    def stored(self, stream: RowPatternStream) -> bytes:
        """See `BlobKeeper.stored`."""
        held = {"rows": stream.held.rows, "moment": stream.held.moment}
        return to_bytes(StoredState({"statement": self.task.about}, held))

    def joined(self, tables: list[pa.Table]) -> pa.Table:
        """Rows in the types of the statement; it orders them itself."""
        read = self.task.task.read
        return pa.Table.from_batches(
            [shown([column.combine_chunks() for column in table.columns], read) for table in tables]
        )

    def push(self, stream: RowPatternStream, watermark: int | None, rows: pa.Table | None) -> StreamPush:
        """See `BlobKeeper.push`.

        Raises
        ------
        DataError
            For rows that are too late, where they are to be an error.
        """
        live, found = self.task, list[pa.RecordBatch]()
        if watermark is not None:
            moment = moment_in(live.task.read.field(live.task.order_by[0]).type, watermark)
            found += stream.advance(moment, Workers(1))
        late = 0 if rows is None else stream.push(rows)
        if late and live.on_late == "error":
            raise DataError(
                f"{late:,} rows are older than the watermark: raise late, or leave on_late='error' out"
            )
        return StreamPush(found, (0 if rows is None else len(rows)) - late, late)

    def listed(self, answers: list[pa.RecordBatch]) -> Iterator[tuple[bytes, int]]:
        """See `BlobKeeper.listed`."""
        for batch in answers:
            for part in halving(batch, lambda given: shown(given.columns, self.task.result)):
                yield to_blob(part), part.num_rows

    def open(self, stream: RowPatternStream) -> tuple[int, int, bool]:
        """See `BlobKeeper.open`."""
        waiting = stream.waiting
        return waiting, len(stream.held.rows), waiting > 0


def moment_in(kind: pa.DataType, milliseconds: int) -> int:
    """A time as a number in the unit of a column of times."""
    if pa.types.is_date32(kind):
        return -(-milliseconds // 86_400_000)
    return -(-milliseconds * PER_SECOND[kind.unit] // 1_000)

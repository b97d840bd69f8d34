"""In a worker: rows of a micro-batch on their way to the stream of a query, and its answers on their way out.

Spark gives rows to a stateful operator one by one, or as pandas DataFrames, which know fewer types than
Arrow. So rows travel as bytes of Arrow, all of a bucket together: the operator gets one row for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa
from cer_gpu.spark.segments import OWN
from cer_gpu.spark.task import Task
from cer_gpu.spark.worker_reuse import settle_task

from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass

BUCKET = f"{OWN}bucket"
"""The column of the bucket of a row: the keys of a bucket share a stream."""

PACKED_SCHEMA = pa.schema(
    [pa.field(BUCKET, pa.int32(), nullable=False), pa.field("rows", pa.binary(), nullable=False)]
)
"""The rows of a bucket, as bytes."""

ROWS = 1 << 18
"""Rows that are collected before they are dealt to buckets."""

PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class StreamTask:
    """What the workers of a live query have to know; picklable.

    Attributes
    ----------
    task : Task
    about : dict
        What identifies the stream: a checkpoint fits only the same.
    number : str
        What tells this stream from others of the same process.
    on_late : {"error", "drop"}
    buckets : int
        How many streams share the keys.
    """

    task: Task
    about: dict[str, Any]
    number: str
    on_late: str
    buckets: int


def to_blob(rows: pa.Table | pa.RecordBatch) -> bytes:
    """Rows as bytes of Arrow's stream format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write(rows)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def from_blob(blob: bytes) -> pa.Table:
    """The rows that `to_blob` has written."""
    return pa.ipc.open_stream(pa.py_buffer(blob)).read_all()


class BucketFiller:
    """A function for `mapInArrow`: rows with their bucket become bytes, one row for each bucket."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        count = 0
        for batch in batches:
            if batch.num_rows:
                held.append(batch)
                count += batch.num_rows
            if count >= ROWS:
                yield _packed(pa.Table.from_batches(held))
                held, count = [], 0
        if count:
            yield _packed(pa.Table.from_batches(held))
        settle_task()


def _packed(table: pa.Table) -> pa.RecordBatch:
    bucket = table.column(BUCKET).to_numpy()
    order = np.argsort(bucket, kind="stable")
    which, first = np.unique(bucket[order], return_index=True)
    rows = table.drop_columns([BUCKET]).take(pa.array(order)).combine_chunks()
    ends = [*first[1:].tolist(), len(order)]
    blobs = [to_blob(rows.slice(start, end - start)) for start, end in zip(first.tolist(), ends)]
    columns = [pa.array(which, pa.int32()), pa.array(blobs, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, schema=PACKED_SCHEMA)


def moment_of(time: int, kind: pa.DataType, unit: str | None) -> Any:
    """A time as one of the order column, not before it.

    Parameters
    ----------
    time : int
        In microseconds since 1970.
    kind : DataType
        The type of the order column.
    unit : str or None
        The unit of plain numbers.
    """
    if pa.types.is_temporal(kind):
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)
        return moment if pa.types.is_timestamp(kind) and kind.tz else moment.replace(tzinfo=None)
    exact_number = Fraction(time * PER_SECOND[unit or "us"], 1_000_000)
    return float(exact_number) if pa.types.is_floating(kind) else ceil(exact_number)


class BlobReader:
    """A function for `mapInArrow`: bytes of Arrow become rows again.

    Parameters
    ----------
    schema : pyarrow.Schema
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for blob in batch.column("answers"):
                if blob.is_valid:
                    for found in from_blob(blob.as_py()).to_batches():
                        if not found.schema.equals(self._schema):
                            raise DataError(f"the result has the columns {found.schema}, not {self._schema}")
                        yield found
        settle_task()

"""Arrow types that Spark has, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from cer_gpu.errors import LimitError

_SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""The least type of Spark with the values of each unsigned one; the engine takes 64 bits as signed, too."""


def plain_type(arrow: pa.DataType) -> pa.DataType:
    """The type without dictionaries and unsigned integers, with times in microseconds, Spark's only unit."""
    if pa.types.is_dictionary(arrow):
        return plain_type(arrow.value_type)
    if arrow in _SIGNED:
        return _SIGNED[arrow]
    if pa.types.is_date(arrow):
        return pa.date32()
    if pa.types.is_time(arrow):
        return pa.time64("us")
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us", arrow.tz)
    if pa.types.is_duration(arrow):
        return pa.duration("us")
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(plain_type(arrow.value_type)))
    if pa.types.is_struct(arrow):
        return pa.struct([member.with_type(plain_type(member.type)) for member in arrow])
    return pa.string() if pa.types.is_null(arrow) else arrow


def halving(
    batch: pa.RecordBatch, given: Callable[[pa.RecordBatch], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Convert a batch; halve it as long as the texts of a column take more than Spark's 2 GiB.

    Parameters
    ----------
    batch : RecordBatch
    given : callable
        Makes a batch in the types of Spark.

    Raises
    ------
    LimitError
        When one row has that much text.
    """
    try:
        yield given(batch)
        return
    except pa.ArrowInvalid as error:
        if len(batch) < 2:
            raise LimitError(f"one row of the result does not fit a column on Spark: {error}") from error
    middle = len(batch) // 2
    for part in (batch.slice(0, middle), batch.slice(middle)):
        yield from halving(part, given)


def shown_as(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A column in Spark's type for it; times are cut to microseconds."""
    if column.type == kind:
        return column
    return pc.cast(column, options=pc.CastOptions(kind, allow_time_truncate=True))


def shown(columns: Iterable[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Columns as a batch in Spark's types for them."""
    arrays = [shown_as(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)

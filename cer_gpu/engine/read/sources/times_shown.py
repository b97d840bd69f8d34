"""The order of rows in messages: times as times, and the columns that break ties."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

from cer_gpu.json_text import time_text


def order_shown(batch: pa.RecordBatch, row: int, order_by: Sequence[str]) -> str:
    """The order of a row, for messages: its time, and the values that break ties."""
    return ", ".join(_scalar_shown(batch.column(name)[row]) for name in order_by)


def time_shown(value: int | float | str | None, arrow: pa.DataType) -> str:
    """A number of a time column as a readable time, for messages."""
    if isinstance(value, int) and pa.types.is_temporal(arrow):
        whole = pa.int32() if arrow.bit_width == 32 else pa.int64()
        return _scalar_shown(pa.scalar(value, whole).cast(arrow))
    if isinstance(value, int) and pa.types.is_uint64(arrow):
        value += 1 << 63  # it was turned into an int64
    return str(value)


def _scalar_shown(value: pa.Scalar) -> str:
    if not value.is_valid:
        return "null"
    if pa.types.is_timestamp(value.type):
        text = time_text(pa.array([value], value.type))[0].as_py()
        return re.sub(r"(\.\d*?)0+(?!\d)", lambda found: found[1].rstrip("."), str(text).replace("T", " "))
    return str(value.as_py())

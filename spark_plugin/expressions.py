"""Spark columns that compute what the engine computes for a row: its key, its time, its segments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from cer_gpu.spark.binding import arrow_schema, spark_schema
from cer_gpu.spark.task import RenamedColumns

from cer_gpu.engine.read.keys import common_type
from cer_gpu.engine.read.sources.fields import path_to
from cer_gpu.engine.run.portable_query import PortableQuery

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def column(name: str) -> Column:
    """A column by its name, whatever characters it has."""
    import pyspark.sql.functions as sf

    return sf.col(quoted([name]))


def selected(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """The columns of a frame with some names; `payload.price` may be a field of a column of structs."""
    if set(names) <= set(frame.columns):
        return frame.select(*map(column, names))
    import pyspark.sql.functions as sf

    schema = arrow_schema(frame.schema)
    paths = [path_to(name, schema) or (name,) for name in names]
    return frame.select(*(sf.col(quoted(path)).alias(name) for name, path in zip(names, paths, strict=True)))


def quoted(path: Sequence[str]) -> str:
    """A column, or a field in one, as Spark's SQL has it."""
    return ".".join("`" + name.replace("`", "``") + "`" for name in path)


def in_tasks(frame: DataFrame, function: Any, result: pa.Schema) -> DataFrame:
    """Apply a function to the batches of each partition of a frame.

    `DataFrame.mapInArrow` looks columns up by name and interprets dots and backticks in names, so such
    columns are renamed on the way.
    """
    names = frame.columns
    if any(set(name) & set(".`") for name in names):
        function = RenamedColumns(function, names)
        frame = frame.toDF(*(f"c{number}" for number in range(len(names))))
    return frame.mapInArrow(function, spark_schema(result))


def key_expressions(query: PortableQuery) -> list[Column]:
    """The parts of the key of a row, null if it has none; rows of one key have equal parts."""
    import pyspark.sql.functions as sf

    found = []
    for part in query.query.reading.partition:
        kinds = [query.schema.field(name).type for name in part]
        columns = [column(name) for name in part]
        key = columns[0] if len(columns) == 1 else sf.coalesce(*columns)
        found.append(unified(key, common_type(kinds)))
    return found


def unified(key: Column, kind: pa.DataType | None) -> Column:
    """A part of a key: of floats all NaN are one, and so are the two zeros."""
    import pyspark.sql.functions as sf

    if kind is None or not pa.types.is_floating(kind):
        return key
    return sf.when(sf.isnan(key), sf.lit(float("nan"))).otherwise(key + sf.lit(0.0))


def literal(value: float, kind: pa.DataType) -> Column | bool:
    """A time from the number that Arrow stores for it; True and False if it is before or after all times.

    Parameters
    ----------
    value : int or float
    kind : DataType
        The type of the time column.
    """
    import pyspark.sql.functions as sf

    if pa.types.is_floating(kind):
        return sf.lit(float(value))
    value = int(value)
    if pa.types.is_integer(kind):
        return sf.lit(value)
    if pa.types.is_date32(kind):
        return True if value <= -(1 << 31) else sf.date_from_unix_date(sf.lit(value))
    try:
        delta = timedelta(microseconds=value)
        moment = EPOCH + delta
    except OverflowError:
        return value < 0
    if pa.types.is_duration(kind):
        return sf.lit(delta)
    text = moment.strftime("%Y-%m-%d %H:%M:%S.%f").rjust(26, "0")
    if kind.tz is None:
        return sf.lit(text).cast("timestamp_ntz")
    return sf.lit(text + "+00:00").cast("timestamp")


def rank(time: Column, bounds: Sequence[Column | bool]) -> Column:
    """How many of some ascending bounds are at or before the time of a row.

    Parameters
    ----------
    time : Column
    bounds : sequence of Column or bool
        A bound that is True is before every time.
    """
    import pyspark.sql.functions as sf

    always = sum(bound is True for bound in bounds)
    cuts = [bound for bound in bounds if not isinstance(bound, bool)]

    def tree(low: int, high: int) -> Column:
        """By halves: a chain of comparisons would be as deep as there are segments."""
        if low == high:
            return sf.lit(always + low)
        middle = (low + high) // 2
        return sf.when(time >= cuts[middle], tree(middle + 1, high)).otherwise(tree(low, middle))

    return tree(0, len(cuts))


def number_of_segment(numbers: Sequence[int], first: Column, last: Column) -> Column:
    """The numbers of the segments from `first` to `last`, as an array."""
    import pyspark.sql.functions as sf

    every: Any = sf.array(*(sf.lit(number) for number in numbers))
    return sf.slice(every, first + sf.lit(1), last - first + sf.lit(1))

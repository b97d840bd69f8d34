"""The times that watermarks of live queries are made of, and what their progress says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from cer_gpu.spark.segments import OWN
from cer_gpu.spark.stream_task import PER_SECOND

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOMENT = f"{OWN}moment"
"""The column of the time that watermarks are made of."""

OBSERVED = "cer_stream"
"""The name of the metrics in the progress of a streaming query."""


def event_time(time: Column, kind: pa.DataType, unit: str | None) -> Column:
    """A time as the timestamp that watermarks need, not after it.

    Parameters
    ----------
    time : Column
    kind : DataType
    unit : str or None
        The unit of plain numbers.
    """
    import pyspark.sql.functions as sf

    if pa.types.is_date(kind):
        return sf.timestamp_seconds(sf.unix_date(time).cast("bigint") * sf.lit(86_400))
    if pa.types.is_timestamp(kind):
        if kind.tz is not None:
            return time
        since = time - sf.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        parts = {"DAY": 86_400_000_000, "HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000}
        each = [sf.extract(sf.lit(part), since).cast("decimal(20,6)") * size for part, size in parts.items()]
        return sf.timestamp_micros(sum(each[1:], each[0]).cast("bigint"))
    per_second = PER_SECOND[unit or "us"]
    if pa.types.is_floating(kind):  # which is not exact: a microsecond is to spare
        return sf.timestamp_micros(sf.floor(time * sf.lit(1e6 / per_second)) - sf.lit(1))
    if per_second <= 1_000_000:
        return sf.timestamp_micros(time.cast("bigint") * sf.lit(1_000_000 // per_second))
    exact_number = time.cast("decimal(20,0)") / sf.lit(per_second // 1_000_000)
    return sf.timestamp_micros(sf.floor(exact_number).cast("bigint"))


def observed(found: DataFrame) -> DataFrame:
    """What the operator gives, with its metrics noted in the progress of the query."""
    import pyspark.sql.functions as sf

    names = [name for name in found.columns if name != "answers"]
    return found.observe(OBSERVED, *(sf.coalesce(sf.sum(name), sf.lit(0)).alias(name) for name in names))

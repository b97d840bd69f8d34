"""What a live query has done in its last micro-batch, from the progress that Spark reports."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from cer_gpu.spark.watermark import OBSERVED

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.streaming.listener import StreamingQueryProgress


class LiveMetrics(NamedTuple):
    """A micro-batch of a live query.

    Attributes
    ----------
    batch : int
        Its number.
    events : int
        Rows that the query uses.
    matches : int
        Matches that were found.
    late : int
        Rows that came too late, and were left out.
    waiting : int
        Rows that wait for the watermark.
    open : int
        Events that are kept since a later match may need them.
    bytes : int
        The state of the buckets that had rows or waited for time.
    lag : float or None
        By how many seconds the watermark was behind the latest time of the micro-batch; None without rows.
    seconds : float
        How long the micro-batch took.
    """

    batch: int
    events: int
    matches: int
    late: int
    waiting: int
    open: int
    bytes: int
    lag: float | None
    seconds: float


def stream_metrics(query: StreamingQuery | StreamingQueryProgress | Mapping[str, Any]) -> LiveMetrics | None:
    """What a live query did in its last micro-batch.

    Parameters
    ----------
    query : StreamingQuery or StreamingQueryProgress
        What `start()` returned; or the progress that a `StreamingQueryListener` is given
        (`event.progress`).

    Returns
    -------
    LiveMetrics or None
        None before the first micro-batch, and for a query without `cer_spark.stream`.

    Examples
    --------
    >>> class Lines(StreamingQueryListener):
    ...     def onQueryProgress(self, event):
    ...         print(cer_spark.stream_metrics(event.progress))
    """
    progress: Any = getattr(query, "lastProgress", query)
    if progress is None:
        return None
    if isinstance(progress, Mapping):
        observed, event_time = progress.get("observedMetrics"), progress.get("eventTime")
        batch, durations = progress["batchId"], progress["durationMs"]
    else:
        observed, event_time = progress.observedMetrics, progress.eventTime
        batch, durations = progress.batchId, progress.durationMs
    found = (observed or {}).get(OBSERVED)
    if found is None:
        return None
    known = found.asDict() if hasattr(found, "asDict") else dict(found)
    times = event_time or {}
    lag = None
    if "max" in times and "watermark" in times:
        lag = (_moment(times["max"]) - _moment(times["watermark"])).total_seconds()
    return LiveMetrics(batch, **known, lag=lag, seconds=durations.get("triggerExecution", 0) / 1000)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))

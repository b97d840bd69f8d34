"""Hits over time as a chart draws them: a bucket without hits is 0, not a slope between its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.buckets import Buckets
from cer_gpu.backtesting.table import moments_of

MOST_BUCKETS = 1000
"""Of more buckets than these, those without hits have rows only beside those with hits: same line."""


def over_time(
    labels: Sequence[str], table: pa.Table, cut: Buckets, shown: Sequence[str]
) -> list[dict[str, Any]]:
    """Hits and matches of some variants in the buckets of a result, ascending.

    Buckets in which a variant has no hits have rows, too, from the first to the last bucket of the result.

    Parameters
    ----------
    labels : sequence of str
        The variant of each row.
    table : pyarrow.Table
        Has the columns `bucket`, `hits` and `matches`.
    cut : Buckets
        How time was cut.
    shown : sequence of str
        The variants.
    """
    if not len(table):
        return []
    begins = _numbers(table.column("bucket"))
    found: dict[str, dict[Any, tuple[int, float]]] = {label: {} for label in shown}
    columns = begins.tolist(), table.column("hits").to_pylist(), table.column("matches").to_pylist()
    for label, begin, hits, matches in zip(labels, *columns):
        if label in found:
            before = found[label].get(begin, (0, 0.0))
            found[label][begin] = (before[0] + hits, before[1] + float(matches))
    low, high = begins.min(), begins.max()
    every = _all_between(cut, low, high)
    rows = []
    for label, own in found.items():
        for begin in every or _beside(cut, np.array([*own], begins.dtype), low, high):
            own.setdefault(begin, (0, 0.0))
        at = np.array(sorted(own), begins.dtype)
        for begin, moment in zip(at.tolist(), _shown(cut, at)):
            hits, matches = own[begin]
            rows.append({"variant": label, "hits": hits, "matches": matches, "bucket": moment})
    return rows


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    """Where buckets begin, as `Buckets` has it: int64 or float64."""
    if not pa.types.is_temporal(column.type):
        column = column.cast(pa.int64() if pa.types.is_integer(column.type) else pa.float64())
    found = moments_of(pa.concat_arrays(column.chunks))
    return found if found.dtype.kind == "f" else found.astype(np.int64)


def _all_between(cut: Buckets, low: Any, high: Any) -> list[Any]:
    """All buckets from one to another; none if there are too many."""
    found = np.array([low])
    every = [low.item()]
    while every[-1] < high:
        if len(every) == MOST_BUCKETS:
            return []
        found = cut.after(found)
        every.append(found[0].item())
    return every


def _beside(cut: Buckets, begins: np.ndarray, low: Any, high: Any) -> list[Any]:
    """The buckets next to some, and the first and the last one, of those between the two."""
    found = np.concatenate([cut.before(begins), cut.after(begins), [low, high]]).astype(begins.dtype)
    inside: list[Any] = found[(found >= low) & (found <= high)].tolist()
    return inside


def _shown(cut: Buckets, begins: np.ndarray) -> list[Any]:
    """Times as Vega-Lite reads them, on the clock of their time zone; durations in seconds."""
    if not pa.types.is_temporal(cut.kind):
        found: list[Any] = begins.tolist()
        return found
    return list(map(_moment, cut.column(begins).to_pylist()))


def _moment(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, date):  # without a clock it would be midnight in Greenwich
        return f"{value.isoformat()}T00:00:00"
    return f"1970-01-01T{value.isoformat()}" if isinstance(value, time) else str(value)

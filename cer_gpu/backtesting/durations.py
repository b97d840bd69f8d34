"""How long matches last: the median and the 95th percentile of each row of a backtest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.parted import Parted
from cer_gpu.backtesting.table import moments_of, placed
from cer_gpu.engine.run.bound import BoundQuery

MOST = 1 << 26
"""Of a query with more matches than these no durations are worked out: they would take minutes."""

WAITING = 1 << 20
"""Rows of durations that are not summed up yet, at most."""

QUANTILES = {"duration_median": 0.5, "duration_p95": 0.95}

_DATES = {pa.date32(): "s", pa.date64(): "ms"}

_DAY = 86_400

_TOOK, _MANY = "duration", "number"


def with_durations(found: pa.Table, bound: BoundQuery | None, parted: Parted, timed: bool) -> pa.Table:
    """What was found of one query, with columns for its durations.

    Parameters
    ----------
    found : pyarrow.Table
        A row for each bucket and key, ascending by them.
    bound : BoundQuery or None
        The query; None where it has too many matches, and the columns are null.
    parted : Parted
    timed : bool
        Whether the run has an order; else durations are numbers of events.
    """
    keys = parted.names
    moment = found.schema.field("first").type
    kind = duration_type(moment if timed else None)
    if bound is None or not len(found):
        columns = [pa.nulls(len(found), kind) for _ in QUANTILES]
    else:
        columns = _quantiles(_summed(_durations(bound, parted, timed), keys), keys, kind)
    for name, column in zip(QUANTILES, columns):
        found = found.append_column(name, column)
    return found


def duration_type(moment: pa.DataType | None) -> pa.DataType:
    """The type of durations: of times of this type; None for numbers of events."""
    if moment is not None and pa.types.is_temporal(moment):
        return pa.duration(_DATES.get(moment) or moment.unit)
    return pa.float64()


def _durations(bound: BoundQuery, parted: Parted, timed: bool) -> Iterator[pa.Table]:
    """For some complex events after others how long they last, with their buckets and keys."""
    for batch in bound.matches().batches():
        ends = batch.column("end_time" if timed else "end")
        took = moments_of(ends) - moments_of(batch.column("start_time" if timed else "start"))
        if pa.types.is_date32(ends.type):
            took = took.astype(np.int64) * _DAY
        arrays = placed(batch, parted, timed)
        one = pa.array(np.ones(len(took), np.int64))
        yield pa.table([*arrays, pa.array(took), one], [*parted.names, _TOOK, _MANY])


def _summed(parts: Iterator[pa.Table], keys: list[str]) -> pa.Table:
    """How many complex events have each bucket, key and duration, ascending."""
    kept: list[pa.Table] = []
    waiting = 0

    def settled() -> pa.Table:
        whole = pa.concat_tables(kept)
        found = whole.group_by([*keys, _TOOK], use_threads=False).aggregate([(_MANY, "sum")])
        return found.rename_columns([*keys, _TOOK, _MANY])

    for part in parts:
        kept.append(part)
        waiting += len(part)
        if waiting > max(WAITING, 2 * len(kept[0])):
            kept, waiting = [settled()], 0
    found = settled()
    return found.sort_by([(name, "ascending") for name in [*keys, _TOOK]])


def _quantiles(summed: pa.Table, keys: list[str], kind: pa.DataType) -> list[pa.Array]:
    """The quantiles of each bucket and key, linear between the two nearest durations, as pandas has them."""
    took, many = summed.column(_TOOK).to_numpy(), summed.column(_MANY).to_numpy()
    rows = summed.select(keys).to_pylist() if keys else [{}] * len(summed)
    begin = [row for row in range(len(rows)) if not row or rows[row] != rows[row - 1]]
    found: dict[str, list[float]] = {name: [] for name in QUANTILES}
    for low, high in zip(begin, [*begin[1:], len(rows)]):
        behind = np.cumsum(many[low:high])
        for name, share in QUANTILES.items():
            place = share * (int(behind[-1]) - 1)
            below, above = (
                float(took[low + np.searchsorted(behind, at, side="right")])
                for at in (np.floor(place), np.ceil(place))
            )
            found[name].append(below + (above - below) * (place - np.floor(place)))
    if pa.types.is_floating(kind):
        return [pa.array(values, kind) for values in found.values()]
    return [pa.array(np.rint(values).astype(np.int64)).cast(kind) for values in found.values()]

"""At how many events matches begin: the signals of "signal, then what followed", whatever their matches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.parted import Parted
from cer_gpu.backtesting.table import placed
from cer_gpu.engine.run.bound import BoundQuery

STARTS = "starts"

WAITING = 1 << 20
"""Starts that are not made one of each yet, at most."""


def with_starts(found: pa.Table, bound: BoundQuery | None, parted: Parted, timed: bool) -> pa.Table:
    """What was found of one query, with the number of events at which the matches of each row begin.

    Parameters
    ----------
    found : pyarrow.Table
        A row for each bucket and key, ascending by them.
    bound : BoundQuery or None
        The query; None where it has too many matches, and the column is null.
    parted : Parted
        Buckets are those of the ends.
    timed : bool
        Whether the run has an order.
    """
    if bound is None or not len(found):
        return found.append_column(STARTS, pa.nulls(len(found), pa.int64()))
    keys = parted.names
    alike = _distinct(_starts(bound, parted, timed), [*keys, STARTS])
    counts = alike.group_by(keys, use_threads=False).aggregate([(STARTS, "count")])
    if keys:
        counts = counts.sort_by([(name, "ascending") for name in keys])
    return found.append_column(STARTS, counts.column(f"{STARTS}_count").combine_chunks())


def _starts(bound: BoundQuery, parted: Parted, timed: bool) -> Iterator[pa.Table]:
    """For some complex events after others where they begin, with their buckets and keys."""
    for batch in bound.matches().batches():
        arrays = placed(batch, parted, timed)
        yield pa.table([*arrays, batch.column("start")], [*parted.names, STARTS])


def _distinct(parts: Iterator[pa.Table], names: list[str]) -> pa.Table:
    """The different rows of some tables."""
    kept: list[pa.Table] = []
    waiting = 0
    for part in parts:
        kept.append(_once(part, names))
        waiting += len(kept[-1])
        if waiting > max(WAITING, 2 * len(kept[0])):
            kept, waiting = [_once(pa.concat_tables(kept), names)], 0
    return _once(pa.concat_tables(kept), names)


def _once(table: pa.Table, names: list[str]) -> pa.Table:
    if len(names) == 1:  # as numbers, which takes less than a table of hashes
        return pa.table([np.unique(table.column(0).to_numpy())], names)
    return table.group_by(names, use_threads=False).aggregate([])

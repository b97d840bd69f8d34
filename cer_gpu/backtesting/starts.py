"""Counts the events at which matches begin, such as signals that something followed: each signal once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.row_groups import STARTS

WAITING = 1 << 20
"""Starts that are not made one of each yet, at most."""


class DistinctStarts:
    """The different events at which matches begin, for each bucket and key.

    Parameters
    ----------
    keys : sequence of str
        The columns by which rows are parted; buckets are those of the ends.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)
        self._kept: list[pa.Table] = []
        self._waiting = 0

    def add(self, matches: pa.RecordBatch, placed: list[Any], first: int = 0) -> None:
        """Take some matches, with the columns by which rows are parted.

        Parameters
        ----------
        matches : RecordBatch
        placed : list of Array
        first : int, optional
            The number of the event from which their positions count.
        """
        begin = matches.column("start")
        begin = pa.array(begin.to_numpy() + first) if first else begin
        self.take(pa.table([*placed, begin], [*self._keys, STARTS]))

    @property
    def empty(self) -> bool:
        """Whether no match begins anywhere so far."""
        return not any(map(len, self._kept))

    def take(self, part: pa.Table) -> None:
        """Add rows that were made elsewhere; `part` has the columns of `table`."""
        self._kept.append(_once(part))
        self._waiting += len(self._kept[-1])
        if self._waiting > max(WAITING, 2 * len(self._kept[0])):
            self._kept, self._waiting = [self.table()], 0

    def table(self) -> pa.Table:
        """A row for each bucket, key and event at which a match begins."""
        return _once(pa.concat_tables(self._kept))

    def added_to(self, found: pa.Table) -> pa.Table:
        """The rows of `found` (one for each bucket and key, ascending) with the number of such events."""
        keys = self._keys
        counts = self.table().group_by(keys, use_threads=False).aggregate([(STARTS, "count")])
        if keys:
            counts = counts.sort_by([(name, "ascending") for name in keys])
        return found.append_column(STARTS, counts.column(f"{STARTS}_count").combine_chunks())


def without_starts(found: pa.Table) -> pa.Table:
    """The rows of `found` with null `starts`."""
    return found.append_column(STARTS, pa.nulls(len(found), pa.int64()))


def _once(table: pa.Table) -> pa.Table:
    if table.num_columns == 1:  # as numbers, which takes less than a table of hashes
        return pa.table([np.unique(table.column(0).to_numpy())], table.schema.names)
    return table.group_by(table.schema.names, use_threads=False).aggregate([])

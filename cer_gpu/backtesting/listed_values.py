"""What the matches of a backtest are listed for: how long they last, and at how many events they begin.

Tasks on Spark import it, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.row_groups import MANY, STARTS, TOOK, RowGroups
from cer_gpu.backtesting.table import moment_columns, moments_of

WAITING = 1 << 20
"""Rows of durations or starts that are not summed up yet, at most."""

QUANTILES = {"duration_median": 0.5, "duration_p95": 0.95}

_DATES = {pa.date32(): "s", pa.date64(): "ms"}

_DAY = 86_400


class ListedKinds(NamedTuple):
    """What matches are listed for."""

    starts: bool
    durations: bool

    @property
    def told(self) -> str:
        """The columns, in words."""
        return " and ".join(name for name, wanted in self._asdict().items() if wanted)

    def without(self, found: pa.Table, kind: pa.DataType) -> pa.Table:
        """The rows of `found` with nulls in these columns; `kind` is the type of durations."""
        if self.starts:
            found = found.append_column(STARTS, pa.nulls(len(found), pa.int64()))
        nulls = [pa.nulls(len(found), kind) for _ in QUANTILES]
        return _with_columns(found, nulls) if self.durations else found


NOTHING = ListedKinds(starts=False, durations=False)


def duration_type(moment: pa.DataType | None) -> pa.DataType:
    """The type of durations: of times of this type; None for numbers of events."""
    if moment is not None and pa.types.is_temporal(moment):
        return pa.duration(_DATES.get(moment) or moment.unit)
    return pa.float64()


class _KeptTables(ABC):
    """Tables that are summed up once there are many rows."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)
        self._kept: list[pa.Table] = []
        self._waiting = 0

    @property
    def empty(self) -> bool:
        """Whether there are no matches so far."""
        return not any(map(len, self._kept))

    def take(self, part: pa.Table) -> None:
        """Add rows that were made elsewhere; `part` has the columns of `table`."""
        self._kept.append(part)
        self._waiting += len(part)
        if self._waiting > max(WAITING, 2 * len(self._kept[0])):
            self._kept, self._waiting = [self._settled()], 0

    @abstractmethod
    def _settled(self) -> pa.Table:
        """All rows, summed up."""


class DurationSums(_KeptTables):
    """How many matches have each duration, for each bucket and key.

    Parameters
    ----------
    parted : Parted
        Without an order of the run durations are numbers of events.
    """

    def __init__(self, parted: RowGroups) -> None:
        super().__init__(parted.names)
        self._timed = parted.timed

    def add(self, matches: pa.RecordBatch, placed: list[Any], parts: int) -> None:
        """Count matches, whose keys have so many parts; `placed` has their buckets and keys."""
        starts, ends = moment_columns(matches, parts, self._timed)
        took = moments_of(ends) - moments_of(starts)
        if pa.types.is_date32(ends.type):
            took = took.astype(np.int64) * _DAY
        one = pa.array(np.ones(len(took), np.int64))
        self.take(pa.table([*placed, pa.array(took), one], [*self._keys, TOOK, MANY]))

    def table(self) -> pa.Table:
        """A row for each bucket, key and duration, ascending: the duration, and how many there are."""
        return self._settled().sort_by([(name, "ascending") for name in [*self._keys, TOOK]])

    def added_to(self, found: pa.Table, kind: pa.DataType) -> pa.Table:
        """The rows of `found` (one for each bucket and key, ascending) with columns for the durations.

        Parameters
        ----------
        found : pyarrow.Table
        kind : pyarrow.DataType
            The type of these columns: see `duration_type`.
        """
        return _with_columns(found, _quantiles(self.table(), self._keys, kind))

    def _settled(self) -> pa.Table:
        names = [*self._keys, TOOK]
        found = pa.concat_tables(self._kept).group_by(names, use_threads=False).aggregate([(MANY, "sum")])
        return found.rename_columns([*names, MANY])


class DistinctStarts(_KeptTables):
    """The different events at which matches begin, for each bucket and key.

    Parameters
    ----------
    keys : sequence of str
        The columns by which rows are parted; buckets are those of the ends.
    """

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

    def take(self, part: pa.Table) -> None:
        """Add rows that were made elsewhere; `part` has the columns of `table`."""
        super().take(_once(part))

    def table(self) -> pa.Table:
        """A row for each bucket, key and event at which a match begins."""
        return self._settled()

    def _settled(self) -> pa.Table:
        return _once(pa.concat_tables(self._kept))

    def added_to(self, found: pa.Table) -> pa.Table:
        """The rows of `found` (one for each bucket and key, ascending) with the number of such events."""
        keys = self._keys
        counts = self.table().group_by(keys, use_threads=False).aggregate([(STARTS, "count")])
        if keys:
            counts = counts.sort_by([(name, "ascending") for name in keys])
        return found.append_column(STARTS, counts.column(f"{STARTS}_count").combine_chunks())


def _with_columns(found: pa.Table, columns: list[pa.Array]) -> pa.Table:
    for name, column in zip(QUANTILES, columns):
        found = found.append_column(name, column)
    return found


def _quantiles(summed: pa.Table, keys: list[str], kind: pa.DataType) -> list[pa.Array]:
    """The quantiles of each bucket and key, linear between the two nearest durations, as pandas has them."""
    took, many = summed.column(TOOK).to_numpy(), summed.column(MANY).to_numpy()
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


def _once(table: pa.Table) -> pa.Table:
    if table.num_columns == 1:  # as numbers, which takes less than a table of hashes
        return pa.table([np.unique(table.column(0).to_numpy())], table.schema.names)
    return table.group_by(table.schema.names, use_threads=False).aggregate([])

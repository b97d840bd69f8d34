"""The base of outcomes with the values of its keys, so that it goes on with events of other files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.outcomes.time_blocks import BaseSums, BlockSums, block_sums, joined
from cer_gpu.engine.answers.future_values import EventColumns
from cer_gpu.frozen_dataclass import dataclass

KEY, MOMENT, BLOCK, SUM = "key {}", "moment", "block", "sum {}"
"""The columns of keys, of when hits happened, and of the sums of a key and block."""


@dataclass(frozen=True, slots=True)
class KeyedSums:
    """The values of an outcome at events, summed up by key and block: `BaseSums` as a table.

    Attributes
    ----------
    level : int
    table : pyarrow.Table
        One row for each key and block.
    """

    level: int
    table: pa.Table

    @classmethod
    def of(cls, base: BaseSums, lanes: np.ndarray, keys: Sequence[pa.ChunkedArray]) -> KeyedSums:
        """The sums of events, whose lanes and keys are given."""
        numbers, first = np.unique(lanes, return_index=True)
        at = pa.array(first[np.searchsorted(numbers, base.lane)])
        columns = {KEY.format(place): key.take(at) for place, key in enumerate(keys)}
        return cls(base.level, pa.table(columns | _columns(base)))

    def with_base(self, other: KeyedSums, level: int) -> KeyedSums:
        """The sums of the events of both, by blocks of a level that neither exceeds."""
        whole = pa.concat_tables([self.table, other.table], promote_options="permissive")
        lanes, many = _lanes(whole), len(self.table)
        both = self._sums(self.table, lanes[:many]), other._sums(other.table, lanes[many:])
        added = joined(*both, level)
        return KeyedSums.of(added, lanes, [whole.column(name) for name in _keys(whole)])

    def sums(self, hits: pa.Table, values: np.ndarray) -> BlockSums:
        """The sums of hits, given their table with keys and moments, and their values."""
        own = self.table.select([*_keys(self.table), BLOCK])
        # With a column in any case, as without keys a table has no length.
        placed = hits.select(_keys(hits)).append_column(BLOCK, pa.nulls(len(hits), pa.int64()))
        whole = pa.concat_tables([own, placed], promote_options="permissive")
        lanes, many = _lanes(whole), len(self.table)
        moments = hits.column(MOMENT).to_numpy()
        return block_sums(values, lanes[many:], moments, self._sums(self.table, lanes[:many]))

    def _sums(self, table: pa.Table, lanes: np.ndarray) -> BaseSums:
        names = [name for name in table.schema.names if name.startswith(SUM.format(""))]
        sums = np.stack([table.column(name).to_numpy() for name in names], axis=1)
        return BaseSums(self.level, lanes, table.column(BLOCK).to_numpy(), sums)


def _columns(base: BaseSums) -> dict[str, pa.Array]:
    sums = {SUM.format(place): pa.array(column) for place, column in enumerate(base.sums.T)}
    return {BLOCK: pa.array(base.block), **sums}


def _keys(table: pa.Table) -> list[str]:
    """The columns of keys."""
    return [name for name in table.schema.names if name.startswith(KEY.format(""))]


def _lanes(table: pa.Table) -> np.ndarray:
    """The numbers of the keys of a table."""
    return EventColumns.of(table, ()).lanes([[name] for name in _keys(table)])

"""What a run can read ahead of a source that can be read again: earlier rows, and the least time to come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.source import Source

BATCH = 1 << 20
"""Rows that are read at a time."""

BLOCK = 1 << 16
"""Rows of which the least time is remembered."""


class SourceLookahead:
    """Looks ahead in a source that gives the same rows each time it is read: tables, files and datasets.

    Parameters
    ----------
    source : Source
    keys : sequence of str
        The columns that give the partition of a row, and its place among rows of the same time.
    time : str

    Attributes
    ----------
    ordered : bool
        Whether the rows are in the order of time because they were brought into it.
    """

    def __init__(self, source: Source, keys: Sequence[str], time: str) -> None:
        self._source = source
        self.ordered = source.ordered
        self._columns = list(dict.fromkeys([*keys, time]))
        self._time = time
        self._least: np.ndarray | None = None

    @property
    def looked(self) -> bool:
        """Whether the times of all rows have been read."""
        return self._least is not None

    def before(self, rows: int) -> Iterator[pa.RecordBatch]:
        """The first rows again, with the columns of keys and of time."""
        for batch in self._source.batches(self._columns, BATCH):
            if rows <= 0:
                return
            yield batch.slice(0, rows)
            rows -= len(batch)

    def least_from(self, row: int) -> int | float | None:
        """A lower bound of the times from this row on: the least of them, or of a block with some more.

        The first call reads the times of all rows. None: there are no such rows.
        """
        if self._least is None:
            self._least = self._least_of_blocks()
        block = row // BLOCK
        return None if block >= len(self._least) else self._least[block].item()

    def _least_of_blocks(self) -> np.ndarray:
        """For each block the least time in it and in all that follow."""
        least: list[np.generic] = []
        held, rows = None, 0
        for batch in self._source.batches([self._time], BATCH):
            times = columns.turned(columns.numbers(batch.column(0), self._time)).data
            start = 0
            while start < len(times):
                stop = min(len(times), start + BLOCK - rows % BLOCK)
                # Integers are never NaN, and to look for it takes some time.
                least_of = np.fmin if times.dtype.kind == "f" else np.minimum
                low = least_of.reduce(times[start:stop])
                held = low if held is None else least_of(held, low)
                rows += stop - start
                start = stop
                if rows % BLOCK == 0:
                    least.append(held)
                    held = None
        if held is not None:
            least.append(held)
        return np.fmin.accumulate(np.array(least)[::-1])[::-1] if least else np.empty(0)

"""Looks up the times of ends in the batches that have been read, so that events need not keep their times."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.columns import single
from cer_gpu.frozen_dataclass import dataclass

SPARSE = 8
"""If a batch has more rows than this many times its relevant events, only the times of these are kept."""


@dataclass(frozen=True, slots=True)
class _BatchTimes:
    """The times of a batch: of all its rows, or of the events at some positions of the stream."""

    first: int
    column: pa.Array
    positions: np.ndarray | None

    def at(self, positions: np.ndarray) -> pa.Array:
        if self.positions is None:
            return _taken(self.column, positions - self.first)
        return _taken(self.column, np.searchsorted(self.positions, positions))


class StreamTimes:
    """The times of the relevant events of the last chunk, and of those that are in no chunk yet.

    An end is a new event of its chunk. So once the times of a chunk's ends have been looked up, those of all
    batches before its last event are dropped. Further batches may be noted meanwhile, by another thread.

    Parameters
    ----------
    name : str
        The time column.
    kind : pyarrow.DataType
        The type of the times in the data.
    """

    def __init__(self, name: str, kind: pa.DataType) -> None:
        self._name, self._kind = name, kind
        self._batches: list[_BatchTimes] = []

    def note(self, batch: pa.RecordBatch, relevant: list[tuple[np.ndarray, np.ndarray]], before: int) -> None:
        """Remember the times of the next batch.

        Parameters
        ----------
        batch : RecordBatch
        relevant : list of (positions, symbols)
            As from `Classifier.relevant`.
        before : int
            How many rows of the stream come before it.
        """
        column, positions = single(batch.column(self._name)), None
        if SPARSE * sum(len(where) for where, _ in relevant) < len(batch):
            positions = np.concatenate([np.empty(0, np.int64), *(where for where, _ in relevant)])
            column = _taken(column, positions - before)
        self._batches.append(_BatchTimes(before, column, positions))

    def at(self, positions: np.ndarray, last: int) -> pa.Array:
        """The times of ends of a chunk, in the type of the column.

        Parameters
        ----------
        positions : ndarray, shape (n,), int64
            Ascending.
        last : int
            The position of the last event of the chunk: no later chunk has an end before it.
        """
        batches = list(self._batches)
        edges = np.searchsorted(positions, [batch.first for batch in batches]).tolist()
        found = [
            batch.at(positions[low:high])
            for batch, low, high in zip(batches, edges, [*edges[1:], len(positions)], strict=True)
            if low < high
        ]
        del self._batches[: sum(batch.first <= last for batch in batches[1:])]
        times = found[0] if len(found) == 1 else pa.concat_arrays(found or [pa.nulls(0, self._kind)])
        return times if times.type == self._kind else times.cast(self._kind)


def _taken(column: pa.Array, rows: np.ndarray) -> pa.Array:
    """Some rows of a column: numbers of 32 and 64 bits by NumPy, which takes a fifth of Arrow's time."""
    kind = column.type
    plain = pa.types.is_temporal(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not plain or kind.bit_width not in (32, 64) or column.null_count:
        return column.take(pa.array(rows))
    values = np.frombuffer(column.buffers()[1], f"i{kind.bit_width // 8}")[column.offset :]
    return pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(values[rows])])

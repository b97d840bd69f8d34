"""The index of a pandas DataFrame, whose labels results show beside the rows: `FrameIndex`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import roomy


class FrameIndex:
    """The labels of the rows of a DataFrame, a column for each level of its index.

    Parameters
    ----------
    index : pandas.Index

    Attributes
    ----------
    names : tuple of str
        As `reset_index` names them: `index`, or `level_0`, ... of several levels, where they have no name.
    """

    def __init__(self, index: Any) -> None:
        self._index = index
        several = index.nlevels > 1
        self.names = tuple(
            str(name) if name is not None else f"level_{level}" if several else "index"
            for level, name in enumerate(index.names)
        )
        self._columns: list[pa.Array] | None = None

    @staticmethod
    def of(frame: Any) -> FrameIndex | None:
        """The index of a frame; None where it says no more than the numbers of the rows, from 0."""
        index = frame.index
        plain = type(index).__name__ == "RangeIndex" and index.name is None
        return None if plain and index.start == 0 and index.step == 1 else FrameIndex(index)

    @property
    def columns(self) -> list[pa.Array]:
        """The labels of all rows, level by level; labels of several types as text."""
        if self._columns is None:
            levels = [self._index.get_level_values(level) for level in range(self._index.nlevels)]
            self._columns = [_as_arrow(level) for level in levels]
        return self._columns

    def fields(self) -> list[pa.Field]:
        """The columns of the labels."""
        return [pa.field(name, column.type) for name, column in zip(self.names, self.columns, strict=True)]

    def labels(self, rows: np.ndarray, without: np.ndarray | None = None) -> list[pa.Array]:
        """The labels of some rows, level by level; null where `without` is true.

        Parameters
        ----------
        rows : ndarray, shape (n,), int64
            Rows of the frame.
        without : ndarray, shape (n,), bool, or None
        """
        taken = pa.array(rows, mask=without)
        return [column.take(taken) for column in self.columns]


def _as_arrow(level: Any) -> pa.Array:
    try:
        column = pa.Array.from_pandas(level)
    except (pa.ArrowException, ValueError, TypeError):
        column = pa.array([None if label is None else str(label) for label in level], pa.string())
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.cast(roomy(column.type))

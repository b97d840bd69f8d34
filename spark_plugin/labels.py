"""In a worker: the values that results have in place of positions, since rows have no numbers on Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from cer_gpu.spark.arrow_types import shown_as

from cer_gpu.engine.read.sources.arrow_types import convert, roomy


class Labels:
    """The values that stand for the positions of a run: ids of events, or their places in their partition.

    A run reads keys one after another. A place counts from the first event of the key.

    Parameters
    ----------
    offset : int
        The place of the first event of the run, if another task has the events before it.
    """

    def __init__(self, offset: int = 0) -> None:
        self._offset = offset
        self._begins: list[np.ndarray] = [np.zeros(1, np.int64)]
        self._ids: list[pa.Array] = []

    def add(self, begins: np.ndarray, ids: pa.Array | None) -> None:
        """Add the next events of the run.

        Parameters
        ----------
        begins : ndarray, shape (keys,), int64
            The positions at which keys begin, ascending, after those of the events before.
        ids : Array or None
            The ids of the events, one for each.
        """
        if len(begins):
            self._begins.append(begins)
        if ids is not None:
            self._ids.append(convert(ids, roomy(ids.type), "the ids of events"))

    def of(self, positions: pa.Array, kind: pa.DataType) -> pa.Array:
        """The values that stand for some positions.

        Parameters
        ----------
        positions : Array of int64, or of lists of them
        kind : DataType
            The type of the result, or of the members of its lists.
        """
        if pa.types.is_list(positions.type):
            values = self.of(positions.values, kind.value_type)
            return pa.ListArray.from_arrays(positions.offsets, values, type=kind)
        if self._ids:
            taken = (self._ids[0] if len(self._ids) == 1 else pa.chunked_array(self._ids)).take(positions)
            taken = taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken
            return shown_as(taken, kind)
        at = positions.to_numpy(zero_copy_only=False)
        begins = _one(self._begins)
        return pa.array(at - begins[np.searchsorted(begins, at, side="right") - 1] + self._offset)


def _one(parts: list[np.ndarray]) -> np.ndarray:
    """Arrays as one, which takes their place in the list."""
    if len(parts) > 1:
        parts[:] = [np.concatenate(parts)]
    return parts[0]

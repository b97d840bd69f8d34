"""Partitions: every key of PARTITION BY becomes a lane, a small number that stays the same for the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.keys import PartEncoder
from cer_gpu.kernels.lanes import cpu as kernels


class LaneEncoder:
    """Gives every key a lane.

    Parameters
    ----------
    partition : tuple of tuple of str
        The parts of the key; of a part's alternatives the first that is not null counts.
    schema : pyarrow.Schema
        Of the data.
    """

    def __init__(self, partition: tuple[tuple[str, ...], ...], schema: pa.Schema) -> None:
        self._parts = [PartEncoder(part, schema) for part in partition]
        self._lanes: dict[tuple[int, ...], int] = {}
        self._codes: list[tuple[int, ...]] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts in results: their first alternative."""
        return tuple(part.names[0] for part in self._parts)

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """The types of the parts."""
        return tuple(part.kind for part in self._parts)

    @property
    def count(self) -> int:
        """How many lanes there are by now."""
        return len(self._parts[0].values) if len(self._parts) == 1 else len(self._codes)

    def key(self, lane: int) -> tuple[Any, ...]:
        """The key of a lane."""
        return tuple(column[0].as_py() for column in self.key_columns(np.array([lane])))

    def key_columns(self, lanes: np.ndarray) -> list[pa.Array]:
        """For each part of the key the column of its values, for an array of lanes."""
        if len(self._parts) == 1:
            return [self._parts[0].column(lanes)]
        used, inverse = np.unique(lanes, return_inverse=True)
        codes = np.array([self._codes[lane] for lane in used.tolist()], np.int64)
        codes = codes.reshape(-1, len(self._parts))[inverse]
        return [part.column(codes[:, number]) for number, part in enumerate(self._parts)]

    def encode(self, batch: pa.RecordBatch, rows: np.ndarray) -> np.ndarray:
        """The lanes of some rows; -1 for an event without a whole key.

        Returns
        -------
        ndarray, shape (m,), int32
        """
        codes = [part.encode(batch, rows) for part in self._parts]
        if len(codes) == 1:
            return codes[0]
        whole = np.stack(codes, axis=1)
        present, inverse = np.unique(whole, axis=0, return_inverse=True)
        lane_of = np.array([self._lane(tuple(row)) for row in present.tolist()], np.int32)
        return lane_of[inverse.reshape(-1)]

    def _lane(self, codes: tuple[int, ...]) -> int:
        if min(codes) < 0:
            return -1
        lane = self._lanes.get(codes)
        if lane is None:
            lane = self._lanes[codes] = len(self._codes)
            self._codes.append(codes)
        return lane


def order_by_lane(lanes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The order of events that puts those of each lane together, and keeps their order in it.

    Parameters
    ----------
    lanes : ndarray, shape (n,), int32
        All at least 0.
    count : int
        How many lanes there are.

    Returns
    -------
    order : ndarray, shape (n,), int64
        The index of each event that comes next.
    starts : ndarray, shape (count + 1,), int64
        Where each lane begins, and n.
    """
    starts = np.zeros(count + 1, np.int64)
    place = np.empty(len(lanes), np.int32)
    kernels.group(lanes, starts, place)
    order = np.empty(len(lanes), np.int64)
    kernels.scatter(np.arange(len(lanes)), place, order)
    return order, starts


def grown(values: np.ndarray, count: int, fill: int = 0) -> np.ndarray:
    """What is kept for each lane, with entries for at least `count` lanes, the new ones filled.

    Parameters
    ----------
    values : ndarray, shape (lanes, ...)
    """
    if len(values) >= count:
        return values
    more = max(count, 2 * len(values)) - len(values)
    return np.concatenate([values, np.full((more, *values.shape[1:]), fill, values.dtype)])

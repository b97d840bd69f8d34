"""Partitions: every key of PARTITION BY becomes a lane, a small number."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.keys import Keys, Part, Words, kept
from cer_gpu.kernels.lanes import cpu as kernels

SPARSE = 4
"""With so many times as many lanes as events, most lanes have none: it is then the events that are sorted."""


class LaneState(Protocol):
    """What somebody keeps for each lane."""

    def held(self) -> np.ndarray:
        """The lanes whose state is not that of a lane that nothing was seen of, shape (k,), int64."""
        ...

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget the other lanes.

        Parameters
        ----------
        used, numbers : ndarray, shape (k,), int64
            The lanes that are kept, those of `held` among them, and their new numbers.
        count : int
            How many lanes there are from now on.
        """
        ...

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """What is kept for some lanes, by name: an entry for each."""
        ...

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Continue with what `rows` returned: lanes have other numbers now, and there are `count` of them."""
        ...


class LaneEncoder:
    """Gives every key a lane, in the order of first sight.

    Parameters
    ----------
    partition : tuple of tuple of str
        The parts of the key; of a part's alternatives the first that is not null counts.
    schema : pyarrow.Schema
        Of the data.

    Attributes
    ----------
    keys : Keys
        What the lanes by now stand for. `forget` puts another in its place: who still has lanes from before
        then holds on to the one that they were given by.
    """

    def __init__(self, partition: tuple[tuple[str, ...], ...], schema: pa.Schema) -> None:
        self.keys = Keys([Part(names, schema) for names in partition])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts in results: their first alternative."""
        return tuple(part.names[0] for part in self.keys.parts)

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """The types of the parts."""
        return tuple(part.kind for part in self.keys.parts)

    @property
    def count(self) -> int:
        """How many lanes there are by now."""
        return self.keys.count

    def key(self, lane: int) -> tuple[Any, ...]:
        """The key of a lane."""
        return tuple(column[0].as_py() for column in self.key_columns(np.array([lane])))

    def key_columns(self, lanes: np.ndarray) -> list[pa.Array]:
        """For each part of the key the column of its values, for an array of lanes."""
        return self.keys.columns(lanes)

    def encode(
        self, batch: pa.RecordBatch, rows: np.ndarray | None = None, inside: np.ndarray | None = None
    ) -> np.ndarray:
        """The lanes of some rows; -1 for an event without a whole key.

        Parameters
        ----------
        batch : RecordBatch
        rows : ndarray, shape (m,), int64, or None
            None: all.
        inside : ndarray, shape (m,), bool, or None
            Which of them may have a lane; None: all.

        Returns
        -------
        ndarray, shape (m,), int32
        """
        return self.keys.encode(self._words(batch, rows, inside))

    def counted(
        self, batch: pa.RecordBatch, inside: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The lanes of all rows, and how many rows of its lane came before each, shape (n,), int64."""
        return self.keys.counted(self._words(batch, None, inside))

    def forget(self, used: np.ndarray) -> np.ndarray:
        """Forget all lanes but some: they are numbered anew.

        Parameters
        ----------
        used : ndarray, shape (k,), int64
            The lanes to keep, ascending.

        Returns
        -------
        ndarray, shape (k,), int64
            The new number of each.
        """
        ((self.keys, numbers),) = kept([self.keys], [used])
        return numbers

    def _words(
        self, batch: pa.RecordBatch, rows: np.ndarray | None, inside: np.ndarray | None
    ) -> list[Words]:
        found = [part.words(batch, rows) for part in self.keys.parts]
        if inside is None or inside.all():
            return found
        first = found[0]
        valid = inside.view(np.uint8) if not len(first.valid) else first.valid & inside
        return [Words(np.where(inside, first.data, -1), valid), *found[1:]]


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


def present(lanes: np.ndarray, count: int) -> np.ndarray:
    """The lanes that occur, ascending.

    Parameters
    ----------
    lanes : ndarray, shape (n,), int32
        All at least 0.
    count : int
        How many lanes there are.

    Returns
    -------
    ndarray, shape (k,), int64
    """
    if count > SPARSE * len(lanes):
        return np.unique(lanes).astype(np.int64)
    there = np.zeros(count, np.uint8)
    kernels.mark(lanes, there)
    return np.flatnonzero(there)


def grown(values: np.ndarray, count: int, fill: Any = 0) -> np.ndarray:
    """What is kept for each lane, with entries for at least `count` lanes, the new ones filled.

    Parameters
    ----------
    values : ndarray, shape (lanes, ...)
    """
    if len(values) >= count:
        return values
    more = max(count, 2 * len(values)) - len(values)
    return np.concatenate([values, np.full((more, *values.shape[1:]), fill, values.dtype)])


def at(values: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """What is kept for some lanes; 0 for those that nothing was kept for yet.

    Parameters
    ----------
    values : ndarray, shape (lanes, ...)
    lanes : ndarray, shape (k,), int64
    """
    return grown(values, int(lanes.max(initial=-1)) + 1)[lanes]


def moved(values: np.ndarray, used: np.ndarray, numbers: np.ndarray, count: int, fill: Any = 0) -> np.ndarray:
    """What is kept for each lane, once all lanes but some are forgotten.

    Parameters
    ----------
    values : ndarray, shape (lanes, ...)
    used, numbers : ndarray, shape (k,), int64
        The lanes that are kept, and their new numbers.
    count : int
        How many lanes there are from now on; those that are none of these are filled.
    """
    out = np.full((count, *values.shape[1:]), fill, values.dtype)
    known = used < len(values)
    out[numbers[known]] = values[used[known]]
    return out

"""Partitions: every key of PARTITION BY becomes a lane, a small number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.keys import Keys, Part, kept
from cer_gpu.engine.read.sources.arrow_types import decoded
from cer_gpu.engine.read.sources.columns import Values, same_memory, single
from cer_gpu.kernels.lanes import cpu as kernels
from cer_gpu.lazy_modules import compute as pc

SPARSE = 4
"""With this many times as many lanes as events, most lanes have none, and the events are sorted instead."""


class LaneState(Protocol):
    """State that is kept for each lane."""

    def held(self) -> np.ndarray:
        """The lanes whose state is not that of a new lane, shape (k,), int64."""
        ...

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but some.

        Parameters
        ----------
        used, numbers : ndarray, shape (k,), int64
            The lanes that are kept, which include those of `held`, and their new numbers.
        count : int
            How many lanes there are from then on.
        """
        ...

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """The state of some lanes, by name: an entry for each lane."""
        ...

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Restore the state that `rows` returned, for lanes with new numbers; there are `count` lanes."""
        ...


class HeldLanes:
    """The part of a `LaneState` of which no lane that it holds is put on disk, so that nothing is stored."""

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """Nothing: all lanes that are held stay in memory."""
        return {}

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Do nothing: `rows` keeps nothing."""


class LaneEncoder:
    """Gives every key a lane, in the order of first sight.

    Parameters
    ----------
    partition : tuple of tuple of str
        The parts of the key; of a part's alternatives the first one that is not null counts.
    schema : pyarrow.Schema
        Of the data.

    Attributes
    ----------
    keys : Keys
        The keys of the lanes. `forget` replaces it: whoever keeps lanes from before then has to keep the
        `Keys` that they came from.
    """

    def __init__(self, partition: tuple[tuple[str, ...], ...], schema: pa.Schema) -> None:
        self.keys = Keys([Part(names, schema) for names in partition])
        self._noted: _BatchLanes | None = None

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
        """How many lanes there are so far."""
        return self.keys.count

    def key(self, lane: int) -> tuple[Any, ...]:
        """The key of a lane."""
        return tuple(column[0].as_py() for column in self.keys.columns(np.array([lane])))

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
        noted, self._noted = self._noted, None
        if noted is not None and inside is None and noted.of(self._columns(batch)):
            return noted.lanes if rows is None else noted.lanes[rows]
        return self.keys.encode(self._words(batch, rows, inside))

    def noted(self, batch: pa.RecordBatch) -> np.ndarray:
        """The lanes of all rows, which the next call of `encode` gives again if it is for the same rows."""
        self._noted = _BatchLanes(self._columns(batch), self.keys.encode(self._words(batch, None, None)))
        return self._noted.lanes

    def _columns(self, batch: pa.RecordBatch) -> tuple[pa.Array, ...]:
        names = dict.fromkeys(name for part in self.keys.parts for name in part.names)
        return tuple(map(batch.column, names))

    def counted(
        self, batch: pa.RecordBatch, inside: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The lanes of all rows, and how many rows of its lane came before each, shape (n,), int64."""
        return self.keys.counted(self._words(batch, None, inside))

    def forget(self, used: np.ndarray) -> np.ndarray:
        """Forget all lanes but some, and renumber these.

        Parameters
        ----------
        used : ndarray, shape (k,), int64
            The lanes to keep, ascending.

        Returns
        -------
        ndarray, shape (k,), int64
            The new number of each.
        """
        self._noted = None
        ((self.keys, numbers),) = kept([self.keys], [used])
        return numbers

    def _words(
        self, batch: pa.RecordBatch, rows: np.ndarray | None, inside: np.ndarray | None
    ) -> list[Values]:
        found = [part.words(batch, rows) for part in self.keys.parts]
        if inside is None or inside.all():
            return found
        first = found[0]
        valid = inside.view(np.uint8) if not len(first.valid) else first.valid & inside
        return [Values(np.where(inside, first.data, -1), valid), *found[1:]]


class _BatchLanes(NamedTuple):
    """The lanes of a batch, and the columns of its keys."""

    columns: tuple[pa.Array, ...]
    lanes: np.ndarray

    def of(self, columns: tuple[pa.Array, ...]) -> bool:
        """Whether they are the lanes of some columns, which lie in the same memory."""
        return all(map(same_memory, self.columns, columns))


def of_streams(batch: pa.RecordBatch, column: str, streams: Sequence[str]) -> np.ndarray:
    """Which rows are of some streams, by the column that names the stream of each: shape (n,), bool."""
    texts = decoded(single(batch.column(column)))
    return pc.is_in(texts, pa.array(list(streams), texts.type)).to_numpy(zero_copy_only=False)


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
    """An array kept for each lane, with entries for at least `count` lanes; new entries are `fill`.

    Parameters
    ----------
    values : ndarray, shape (lanes, ...)
    """
    if len(values) >= count:
        return values
    more = max(count, 2 * len(values)) - len(values)
    return np.concatenate([values, np.full((more, *values.shape[1:]), fill, values.dtype)])


def at(values: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """The entries of some lanes; 0 for lanes that the array has no entry for yet.

    Parameters
    ----------
    values : ndarray, shape (lanes, ...)
    lanes : ndarray, shape (k,), int64
    """
    return grown(values, int(lanes.max(initial=-1)) + 1)[lanes]


def moved(values: np.ndarray, used: np.ndarray, numbers: np.ndarray, count: int, fill: Any = 0) -> np.ndarray:
    """An array kept for each lane, after all lanes but some were forgotten.

    Parameters
    ----------
    values : ndarray, shape (lanes, ...)
    used, numbers : ndarray, shape (k,), int64
        The lanes that are kept, and their new numbers.
    count : int
        How many lanes there are from then on; entries of other lanes are `fill`.
    """
    out = np.full((count, *values.shape[1:]), fill, values.dtype)
    known = used < len(values)
    out[numbers[known]] = values[used[known]]
    return out

"""What a machine keeps from push to push of a stream: named arrays that grow, shrink, and are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cer_gpu.frozen_dataclass import dataclass

ROOM = 1 << 10
"""Rows that there is room for at first."""

NONE_GIVEN: Mapping[str, int] = {}

PUSH = ("root", "end", "scratch")
"""The axes of what one push finds and needs: it is neither stored nor counted."""

Record = TypeVar("Record", bound=tuple[Any, ...])

Moved = np.ndarray | Callable[[np.ndarray], np.ndarray]
"""The new numbers of rows by their old ones, or what gives them for some rows."""

Names = str | tuple[str | None, ...] | None


@dataclass(frozen=True, slots=True)
class Column:
    """An array that a machine keeps.

    Attributes
    ----------
    axis : str
        What has a row: "lane", "event", "entry", "node", ...
    dtype : dtype
    width : tuple of int
        The shape of a row.
    of : str, tuple of str, or None
        Its values are numbers of rows, and have others after a drop: the key of `maps` in `OpenState.keep`. A
        tuple has a key for each column of a matrix. None: its values stay.
    fill : int or None
        What new rows hold; None: rows are written before they are read.
    """

    axis: str
    dtype: Any = np.int64
    width: tuple[int, ...] = ()
    of: Names = None
    fill: int | None = None

    def rows(self, count: int) -> np.ndarray:
        """New rows."""
        shape = count, *self.width
        return np.empty(shape, self.dtype) if self.fill is None else np.full(shape, self.fill, self.dtype)

    def renumber(self, values: np.ndarray, maps: Mapping[str, Moved]) -> None:
        """Give the values of some rows the numbers that they have now."""
        if isinstance(self.of, str):
            if self.of in maps:
                values[:] = moved(maps[self.of], values)
            return
        for at, name in enumerate(self.of or ()):
            if name is not None and name in maps:
                values[:, at] = moved(maps[name], values[:, at])


class AxisRows(NamedTuple):
    """The rows of an axis that are kept.

    Attributes
    ----------
    old, new : ndarray, shape (k,), int64, or slice
        Their numbers before and after.
    total : int
        How many rows there are then.
    """

    old: np.ndarray | slice
    new: np.ndarray | slice
    total: int


def in_order(old: np.ndarray) -> AxisRows:
    """Rows that are numbered in their order."""
    return AxisRows(old, slice(0, len(old)), len(old))


class OpenState:
    """The arrays of a machine on a stream.

    What a push has given stays as it is: arrays are copied when they grow, and when rows are dropped.

    Parameters
    ----------
    progress : ndarray, shape (words,), int64
        What the kernel counts; stored with the arrays.
    words : mapping
        The word of `progress` that says how many rows of an axis are in use. Where it is not given, all are.
    columns : mapping
        The columns of each named tuple of arrays that kernels read, by its fields.
    most : mapping, optional
        How many rows of an axis one event may add.
    """

    def __init__(
        self,
        progress: np.ndarray,
        words: Mapping[str, int],
        columns: Mapping[type, Mapping[str, Column]],
        most: Mapping[str, int] = NONE_GIVEN,
    ) -> None:
        self._most = most
        self.progress = progress
        self._words = words
        self._columns = {(kind, name): one for kind, some in columns.items() for name, one in some.items()}
        self._room = {column.axis: 0 for column in self._columns.values()}
        self._arrays = {key: column.rows(0) for key, column in self._columns.items()}
        self._read: dict[type, Any] = {}
        for axis in words:
            self.reach(axis, self._ample(axis, 0))

    def read(self, kind: type[Record], **others: Any) -> Record:
        """A named tuple of arrays, with room for more rows; `others`: fields that are no columns of it."""
        found = self._read.get(kind)
        if found is None:
            own = {name: array for (of, name), array in self._arrays.items() if of is kind}
            found = self._read[kind] = kind(**own, **others)
        return found

    def array(self, kind: type, name: str) -> np.ndarray:
        """The rows of a column that are in use; also to be written."""
        return self._arrays[kind, name][: self.used(self._columns[kind, name].axis)]

    def used(self, axis: str) -> int:
        """How many rows of an axis are in use."""
        return int(self.progress[self._words[axis]]) if axis in self._words else self._room[axis]

    def room(self, axis: str) -> int:
        """How many rows of an axis there is room for."""
        return self._room[axis]

    def replace(self, kind: type, name: str, array: np.ndarray) -> None:
        """Replace a column that is alone on its axis."""
        self._read.clear()
        self._arrays[kind, name] = array
        self._room[self._columns[kind, name].axis] = len(array)

    def follow(
        self, stops: Iterable[int], step: Callable[[int], int], full: Callable[[int], str | None]
    ) -> None:
        """Call a kernel up to each stop, with more room whenever some axis is full.

        Parameters
        ----------
        stops : iterable of int
        step : callable
            Given a stop, calls the kernel, and gives its status; 0: done.
        full : callable
            The axis that a status says is full; None if it has made room itself.
        """
        for stop in stops:
            while status := step(stop):
                axis = full(status)
                if axis is not None:
                    self.reach(axis, 2 * self._room[axis])

    def reach(self, axis: str, rows: int) -> None:
        """Make room for at least so many rows, and for twice as many as before if there is not enough."""
        before = self._room[axis]
        if rows <= before:
            return
        used = self.used(axis)
        self._room[axis] = room = max(rows, 2 * before)
        self._replace(axis, lambda column, array: _extended(column, array[:used], room))

    def keep(self, kept: Mapping[str, AxisRows], maps: Mapping[str, Moved]) -> None:
        """Keep some rows alone.

        Parameters
        ----------
        kept : mapping
            The rows of each axis that are kept. All of others are.
        maps : mapping
            The new numbers of rows by their old ones, or what gives them; -1 for -1. A key for each that
            columns name.
        """
        for axis, room in self._room.items():
            used = self.used(axis)
            if axis not in kept:
                self._replace(axis, partial(_renumbered, used=used, maps=maps))
            elif room:
                rows = kept[axis]
                if isinstance(rows.old, np.ndarray) and isinstance(rows.new, np.ndarray):
                    there = rows.old < used
                    rows = rows._replace(old=rows.old[there], new=rows.new[there])
                # As many rows are appended until the next drop: they need not make room again.
                self._room[axis] = room = max(self._ample(axis, rows.total), used)
                self._replace(axis, partial(_moved, rows=rows, room=room, maps=maps))
        for axis, rows in kept.items():
            if axis in self._words:
                self.progress[self._words[axis]] = rows.total

    @property
    def nbytes(self) -> int:
        """Bytes that the rows in use take."""
        return sum(self.used(axis) * self._row_bytes(axis) for axis in self._room if axis not in PUSH)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        stored = {
            f"{kind.__name__} {name}": self.array(kind, name)
            for (kind, name), column in self._columns.items()
            if column.axis not in PUSH
        }
        return stored | {"progress": self.progress}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        self.progress[:] = arrays["progress"]
        self.progress[[self._words[axis] for axis in PUSH if axis in self._words]] = 0
        self._read.clear()
        for (kind, name), column in self._columns.items():
            if column.axis not in PUSH:
                rows = arrays[f"{kind.__name__} {name}"]
                room = self._ample(column.axis, len(rows))
                self._room[column.axis] = room
                self._arrays[kind, name] = _extended(column, rows, room)

    def _ample(self, axis: str, rows: int) -> int:
        """The room for so many rows, and for more if more are appended."""
        return max(2 * (rows + self._most.get(axis, 0)), ROOM) if axis in self._words else rows

    def _row_bytes(self, axis: str) -> int:
        rows = (column.rows(1) for column in self._columns.values() if column.axis == axis)
        return sum(row.nbytes for row in rows)

    def _replace(self, axis: str, made: Callable[[Column, np.ndarray], np.ndarray]) -> None:
        self._read.clear()
        for key, column in self._columns.items():
            if column.axis == axis:
                self._arrays[key] = made(column, self._arrays[key])


def moved(numbers: Moved, rows: np.ndarray) -> np.ndarray:
    """The new numbers of some rows."""
    return numbers(rows) if callable(numbers) else numbers.take(rows)


def numbered(rows: np.ndarray, count: int) -> np.ndarray:
    """The new numbers of `count` rows of which some are kept, in order; -1 for the others, and for -1."""
    place = np.full(count + 1, -1, np.int64)
    place[rows] = np.arange(len(rows))
    return place


def past(place: np.ndarray) -> np.ndarray:
    """The new numbers of bounds that are one past a row, from those of the rows; -1 for -1."""
    return np.concatenate([[0], place[:-1] + 1, [-1]])


def bounds_of(keeps: np.ndarray) -> np.ndarray:
    """The new numbers of bounds between rows of which some are kept: how many are kept before each."""
    return np.append(0, np.cumsum(keeps))


def first_left(place: np.ndarray, kept: np.ndarray, group_of: Callable[[np.ndarray], np.ndarray]) -> Moved:
    """What gives the new number of a row, or of the first row of its group that is kept; -1 if none is.

    Parameters
    ----------
    place : ndarray, shape (rows + 1,), int64
        As `numbered` gives it.
    kept : ndarray, shape (k,), int64
        The rows that are kept, ascending.
    group_of : callable
        The groups of some rows: numbers from 0 on.
    """
    groups = group_of(kept)
    first = np.full(int(groups.max(initial=-1)) + 2, -1, np.int64)
    first[groups[::-1]] = place[kept[::-1]]

    def left_of(rows: np.ndarray) -> np.ndarray:
        flat = rows.ravel()
        left = place.take(flat)
        # Few rows name one that is dropped: only their groups are looked up.
        gone = np.flatnonzero((left < 0) & (flat >= 0))
        left[gone] = first.take(np.minimum(group_of(flat[gone]), len(first) - 1))
        return left.reshape(rows.shape)

    return left_of


def next_left(place: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The new numbers of rows, or of the first one that is kept behind them in a list; -1 if none is.

    Parameters
    ----------
    place : ndarray, shape (rows + 1,), int64
        As `numbered` gives it.
    after : ndarray, shape (rows,), integer
        The next row of the list of each, -1 for none.
    """
    stays = np.append(place[:-1] >= 0, True)
    at = np.where(stays, np.arange(len(place)), np.append(after, -1))
    while not stays[at].all():
        at = np.where(stays[at], at, at[at])  # each turn skips twice as many rows
    return place[at]


def _extended(column: Column, rows: np.ndarray, room: int) -> np.ndarray:
    more = column.rows(room)
    more[: len(rows)] = rows
    return more


def _renumbered(column: Column, array: np.ndarray, used: int, maps: Mapping[str, Moved]) -> np.ndarray:
    column.renumber(array[:used], maps)
    return array


def _moved(
    column: Column, array: np.ndarray, rows: AxisRows, room: int, maps: Mapping[str, Moved]
) -> np.ndarray:
    kept = column.rows(room)
    values = array[rows.old] if isinstance(rows.old, slice) else array.take(rows.old, axis=0)
    if isinstance(rows.new, slice):
        kept[rows.new] = values
        column.renumber(kept[rows.new], maps)
    else:
        column.renumber(values, maps)
        kept[rows.new] = values
    return kept

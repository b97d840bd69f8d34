"""Partitions that memory has no room for: rows in temporary Arrow files, found again by a hash of their key.

The files have no name: they vanish with the process, however it ends, or when they are no longer used. In
memory there is one byte for each partition. A large index, of 16 bytes for each partition, is in a file too;
both are mapped, so that the system takes back memory that is not used.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.enumeration.blocks import ranges
from cer_gpu.errors import LimitError
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.whole_file import TEMPORARY, temporary_folder

ROWS = 1 << 14
"""Partitions that are copied at a time when files are rewritten."""

MAPPED = 1 << 16
"""From this many entries on, a level of the index is a file."""

MOST_FILES = 256
"""With more files, the smaller half of them is joined."""

SPARSE = 4
"""A file of which less than this share is left is rewritten."""

_ROW = 32
"""Bits of a place that give the row in its file."""

_OWN = ("hash", "begin", "size")
"""The columns that are added to those of partitions."""


class SpilledLanes(NamedTuple):
    """Some partitions with their events.

    Attributes
    ----------
    hashes : ndarray, shape (k,), uint64
        The hashes of their keys: two partitions seldom have the same.
    lanes : pyarrow.Table
        A row for each partition.
    events : pyarrow.Table
        The events of the first partition, then those of the second, and so on.
    sizes : ndarray, shape (k,), int64
        How many events each partition has.
    """

    hashes: np.ndarray
    lanes: pa.Table
    events: pa.Table
    sizes: np.ndarray


class SpilledPartitions:
    """Partitions with their events on disk: each is written once, and taken once, by its key."""

    def __init__(self) -> None:
        self._files: dict[int, _File] = {}
        self._made = 0
        # Hashes, ascending, and places: of each level at most half as many as of the one before.
        self._levels: list[tuple[np.ndarray, np.ndarray]] = []

    def __len__(self) -> int:
        return sum(file.left for file in self._files.values())

    @property
    def nbytes(self) -> int:
        """Bytes that they take in memory."""
        return sum(file.taken.nbytes for file in self._files.values())

    def put(self, parts: Iterable[SpilledLanes]) -> None:
        """Write partitions that are not on disk yet.

        Raises
        ------
        LimitError
            If there is no room on the disk.
        """
        self._put_alike(parts)
        if len(self._files) > MOST_FILES:
            by_size = sorted(self._files, key=lambda number: self._files[number].left)
            self._rewrite(by_size[: MOST_FILES // 2])

    def _put_alike(self, parts: Iterable[SpilledLanes]) -> None:
        """Write partitions, those that come together and have the same columns to one file."""
        for _, alike in groupby(parts, key=lambda part: (part.lanes.schema, part.events.schema)):
            self._put(alike)

    def _put(self, parts: Iterable[SpilledLanes]) -> None:
        """Write partitions with the same columns to one file."""
        lanes, events, hashes, begin = _Writer(), _Writer(), [], 0
        for part in parts:
            begins = begin + np.cumsum(part.sizes) - part.sizes
            begin += int(part.sizes.sum())
            own = zip(_OWN, (part.hashes, begins, part.sizes), strict=True)
            table = part.lanes
            for name, values in own:
                table = table.append_column(name, pa.array(values))
            lanes.write(table)
            events.write(part.events)
            hashes.append(part.hashes)
        found = np.concatenate(hashes)
        number = self._made
        self._made += 1
        self._files[number] = _File(lanes.finished(), events.finished(), np.zeros(len(found), bool))
        order = np.argsort(found)
        self._levels.append((found[order], (number << _ROW) + order))
        while len(self._levels) > 1 and 2 * len(self._levels[-1][0]) > len(self._levels[-2][0]):
            self._levels[-2:] = [self._merged(*self._levels[-2:])]

    def take(
        self, hashes: np.ndarray, keys: Sequence[tuple[str, np.ndarray | pa.Array]]
    ) -> list[tuple[np.ndarray, SpilledLanes]]:
        """Take those of some partitions that are on disk.

        Parameters
        ----------
        hashes : ndarray, shape (n,), uint64
        keys : sequence of (str, ndarray or pyarrow.Array)
            The columns of `SpilledLanes.lanes` that identify partitions, and their values, n each.

        Returns
        -------
        list of (ndarray, SpilledLanes)
            Their numbers among the n, and what was written.
        """
        if not self._files:
            return []
        asked, places = self._find(hashes)
        found = []
        for number in np.unique(places >> _ROW).tolist():
            file = self._files[number]
            own = np.flatnonzero(places >> _ROW == number)
            rows, which = places[own] & ((1 << _ROW) - 1), asked[own]
            order = ascending(rows)
            rows, which = rows[order], which[order]
            same = _same(file.lanes.take(rows), keys, which)
            if same.any():
                found.append((which[same], file.part(rows[same])))
                file.taken[rows[same]] = True
                self._tidy(number)
        return found

    def parts(self) -> Iterator[SpilledLanes]:
        """All partitions that are on disk."""
        for file in self._files.values():
            yield from file.remaining()

    def _find(self, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of some hashes occur, and where: partitions that may be those, and have not been taken."""
        asked, places = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        order = np.argsort(hashes)  # so that a search begins where the one before it ended
        ascending = hashes[order]
        for own, where in self._levels:
            low = np.searchsorted(own, ascending)
            some = np.flatnonzero(own[np.minimum(low, len(own) - 1)] == ascending)
            low = low[some]
            size = np.searchsorted(own, ascending[some], "right") - low
            asked.append(np.repeat(order[some], size))
            places.append(where[ranges(low, size)])
        there = np.concatenate(places)
        left = self._is_left(there)
        return np.concatenate(asked)[left], there[left]

    def _is_left(self, places: np.ndarray) -> np.ndarray:
        """Which places hold a partition that has not been taken, shape (n,), bool."""
        left = np.zeros(len(places), bool)
        for number in np.unique(places >> _ROW).tolist():
            if number in self._files:
                own = places >> _ROW == number
                left[own] = ~self._files[number].taken[places[own] & ((1 << _ROW) - 1)]
        return left

    def _merged(
        self, left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Two levels as one, without what has been taken."""
        hashes, places = [], []
        steps = 1 + (len(left[0]) + len(right[0])) // MAPPED
        bounds = (np.arange(1, steps) * (float(1 << 64) / steps)).astype(np.uint64)
        cuts = [[0, *np.searchsorted(own, bounds).tolist(), len(own)] for own, _ in (left, right)]
        for step in range(steps):
            both = [
                (own[cut[step] : cut[step + 1]], where[cut[step] : cut[step + 1]])
                for (own, where), cut in zip((left, right), cuts, strict=True)
            ]
            own, where = (np.concatenate(each) for each in zip(*both, strict=True))
            there = self._is_left(where)
            own, where = own[there], where[there]
            order = ascending(own)
            hashes.append(own[order])
            places.append(where[order])
        return _stored(hashes, np.dtype(np.uint64)), _stored(places, np.dtype(np.int64))

    def _tidy(self, number: int) -> None:
        """Free the room of what has been taken of a file, once it is most of it."""
        file = self._files[number]
        if not file.left:
            del self._files[number]
        elif SPARSE * file.left < len(file.taken):
            self._rewrite([number])

    def _rewrite(self, numbers: list[int]) -> None:
        """Put what is left of some files into one, for each kind of columns."""
        files = [self._files.pop(number) for number in numbers]
        files.sort(key=lambda file: str((file.lanes.schema, file.events.schema)))
        self._put_alike(part for file in files for part in file.remaining())


class _Rows:
    """Rows in a mapped file.

    Parameters
    ----------
    reader : pyarrow.ipc.RecordBatchFileReader
    """

    def __init__(self, reader: Any) -> None:
        self.schema = reader.schema
        self._batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        self._first = np.cumsum([0, *map(len, self._batches)])

    def take(self, rows: np.ndarray) -> pa.Table:
        """Some rows, copied; ascending, shape (n,), int64."""
        cuts = np.searchsorted(rows, self._first)
        taken = []
        for number, batch in enumerate(self._batches):
            own = rows[cuts[number] : cuts[number + 1]]
            if len(own):
                taken.append(batch.take(pa.array(own - self._first[number])))
        return pa.Table.from_batches(taken, self.schema)


@dataclass(slots=True)
class _File:
    """Partitions that were written together.

    Attributes
    ----------
    lanes, events : _Rows
    taken : ndarray, shape (k,), bool
    """

    lanes: _Rows
    events: _Rows
    taken: np.ndarray

    @property
    def left(self) -> int:
        """How many partitions have not been taken."""
        return len(self.taken) - int(np.count_nonzero(self.taken))

    def part(self, rows: np.ndarray) -> SpilledLanes:
        """Some of the partitions, by ascending rows."""
        lanes = self.lanes.take(rows)
        hashes, begin, sizes = (lanes.column(name).to_numpy() for name in _OWN)
        return SpilledLanes(
            hashes, lanes.drop_columns(list(_OWN)), self.events.take(ranges(begin, sizes)), sizes
        )

    def remaining(self) -> Iterator[SpilledLanes]:
        """All that have not been taken, some at a time."""
        rows = np.flatnonzero(~self.taken)
        for start in range(0, len(rows), ROWS):
            yield self.part(rows[start : start + ROWS])


class _Writer:
    """Writes tables of one schema to a temporary file without a name."""

    def __init__(self) -> None:
        self._file: Any = None
        self._writer: Any = None

    def write(self, table: pa.Table) -> None:
        with on_disk():
            if self._writer is None:
                self._file = nameless_file()
                self._writer = pa.ipc.new_file(self._file, table.schema)
            self._writer.write_table(table.combine_chunks(), max_chunksize=MAPPED)

    def finished(self) -> _Rows:
        """What was written, once all is."""
        with on_disk():
            self._writer.close()
            return _Rows(pa.ipc.open_file(pa.py_buffer(_mapped(self._file))))


@contextmanager
def on_disk() -> Iterator[None]:
    """What the disk refuses is an error that says what to do."""
    try:
        yield
    except OSError as error:
        raise LimitError(
            "the partitions that memory has no room for cannot be stored in "
            f"{temporary_folder()}: {error.strerror or error}; allow more memory (memory=), {TEMPORARY}"
        ) from error


def nameless_file() -> Any:
    """A file that nobody else can open, and that is gone once it is closed and no longer mapped."""
    return tempfile.TemporaryFile(prefix="cer-gpu-")


def _mapped(file: Any) -> mmap.mmap:
    """A file as memory, closed."""
    file.flush()
    with file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _stored(parts: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    """Arrays one after another, in a file where they are long."""
    if sum(map(len, parts)) < MAPPED:
        return np.concatenate([np.empty(0, dtype), *parts])
    with on_disk():
        file = nameless_file()
        for part in parts:
            file.write(np.ascontiguousarray(part).data)
        return np.frombuffer(_mapped(file), dtype)


def _same(
    lanes: pa.Table, keys: Sequence[tuple[str, np.ndarray | pa.Array]], which: np.ndarray
) -> np.ndarray:
    """Which rows have the keys that are asked for, shape (n,), bool."""
    same = np.ones(len(which), bool)
    for name, values in keys:
        column = lanes.column(name)
        if isinstance(values, np.ndarray):
            same &= column.to_numpy() == values[which]
        else:
            equal = pc.equal(column, values.take(pa.array(which)))
            same &= equal.to_numpy()
    return same

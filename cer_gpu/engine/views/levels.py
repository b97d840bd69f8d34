"""A multiset of rows as sorted runs that are merged as they grow: `Levels`.

A row is in one run at most. Its multiplicity changes there; when it falls to 0 the row stays until its run
is merged, or until half of a run is such rows. A new row begins a run of its own, and a run is merged with
the one before while that is not `RATIO` times as long. So n rows are in O(log n) runs, and each is copied
O(log n) times.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cer_gpu.errors import LimitError
from cer_gpu.kernels.views import cpu
from cer_gpu.kernels.views.contract import CountedRows

RATIO = 4
"""A run is at least so many times as long as the next."""

MOST = float(2**62)
"""Multiplicities stay below."""


class Levels:
    """A multiset of rows of whole numbers.

    Parameters
    ----------
    width : int
        Values in a row.

    Attributes
    ----------
    runs : list of CountedRows
        The longest first. Other code reads them, and changes nothing in them.
    total : int
        The sum of all multiplicities.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.runs: list[CountedRows] = []
        self.total = 0
        self._empty: list[int] = []

    def __len__(self) -> int:
        """The number of different rows."""
        return sum(len(run.counts) for run in self.runs) - sum(self._empty)

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take."""
        return sum(run.keys.nbytes + run.counts.nbytes + run.sums.nbytes for run in self.runs)

    def counts_of(self, keys: np.ndarray) -> np.ndarray:
        """The multiplicity of each row of `keys` int64 [m, width]: int64 [m]."""
        found = np.zeros(len(keys), np.int64)
        for run, places in self._places(keys):
            there = places >= 0
            found[there] = run.counts[places[there]]
        return found

    def add(self, keys: np.ndarray, amounts: np.ndarray) -> None:
        """Change multiplicities.

        Parameters
        ----------
        keys : ndarray of int64, shape (m, width)
            Different rows, in order.
        amounts : ndarray of int64, shape (m,)
            What is added to the multiplicity of each: none may fall below 0.
        """
        self.total += int(amounts.sum())
        new = amounts != 0
        for number, (run, places) in enumerate(self._places(keys)):
            self._empty[number] += cpu.add(run, places, amounts)
            new &= places < 0
        if new.all():
            self._append(keys, amounts)
        elif new.any():
            self._append(keys[new], amounts[new])
        self._settle()

    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """All rows in order, int64 [n, width], and their multiplicities, int64 [n]."""
        while len(self.runs) > 1:
            self._merge_last()
        if not self.runs:
            return np.empty((0, self.width), np.int64), np.empty(0, np.int64)
        if self._empty[0]:
            self._shrink(0)
        return self.runs[0].keys, self.runs[0].counts

    def _places(self, keys: np.ndarray) -> Iterator[tuple[CountedRows, np.ndarray]]:
        keys = np.ascontiguousarray(keys)
        for run in self.runs:
            places = np.empty(len(keys), np.int64)
            cpu.find(run.keys, keys, places)
            yield run, places

    def _append(self, keys: np.ndarray, counts: np.ndarray) -> None:
        self.runs.append(rows_of(np.ascontiguousarray(keys), counts.copy()))
        self._empty.append(0)

    def _settle(self) -> None:
        for number in reversed(range(len(self.runs))):
            if 2 * self._empty[number] > len(self.runs[number].counts):
                self._shrink(number)
        while len(self.runs) > 1 and len(self.runs[-2].counts) < RATIO * len(self.runs[-1].counts):
            self._merge_last()

    def _shrink(self, number: int) -> None:
        run = self.runs[number]
        kept = run.counts != 0
        self.runs[number] = rows_of(run.keys[kept], run.counts[kept])
        self._empty[number] = 0
        if not kept.any():
            del self.runs[number], self._empty[number]

    def _merge_last(self) -> None:
        one, other = self.runs[-2:]
        size = len(one.counts) + len(other.counts)
        keys, counts = np.empty((size, self.width), np.int64), np.empty(size, np.int64)
        made = cpu.merge(one, other, keys, counts)
        del self.runs[-2:], self._empty[-2:]
        if made:
            self._append(keys[:made], counts[:made])


def rows_of(keys: np.ndarray, counts: np.ndarray) -> CountedRows:
    """Rows that are in order, with the sums of their multiplicities."""
    sums = np.empty(len(counts) + 1, np.int64)
    made = CountedRows(np.ascontiguousarray(keys), np.ascontiguousarray(counts), sums)
    cpu.sum_up(made.counts, made.sums)
    return made


def collapsed(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different ones of some rows, in order, with the sums of their multiplicities; sums of 0 stay.

    Parameters
    ----------
    keys : ndarray of int64, shape (m, width)
    counts : ndarray of int64, shape (m,)
    """
    if len(counts) < 2:
        return keys, counts
    if not keys.shape[1]:
        return keys[:1], counts.sum(keepdims=True)
    packed = _packed(keys)
    first = np.empty(len(counts), bool)
    first[0] = True
    if packed is None:
        order = np.lexsort(keys.T[::-1])
        keys, counts = keys[order], counts[order]
        (keys[1:] != keys[:-1]).any(axis=1, out=first[1:])
    else:
        if not (packed[1:] >= packed[:-1]).all():
            order = np.argsort(packed)
            keys, counts, packed = keys[order], counts[order], packed[order]
        np.not_equal(packed[1:], packed[:-1], out=first[1:])
    if first.all():
        return keys, counts
    return keys[first], np.add.reduceat(counts, np.flatnonzero(first))


def _packed(keys: np.ndarray) -> np.ndarray | None:
    """Rows as one number each, in their order; None where their values are too far apart for an int64.

    Rows are sorted several times as fast by one number as by several columns.
    """
    if keys.shape[1] == 1:
        return keys[:, 0]
    low, high = keys.min(axis=0).tolist(), keys.max(axis=0).tolist()
    room = 1
    for least, most in zip(low, high):
        room *= most - least + 1
    if room > MOST:
        return None
    found = keys[:, 0] - low[0]
    for column in range(1, keys.shape[1]):
        found *= high[column] - low[column] + 1
        found += keys[:, column] - low[column]
    return found


def product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The products of multiplicities.

    Raises
    ------
    LimitError
        One is too large for an int64.
    """
    found = one * other
    if len(found) and np.abs(one.astype(np.float64) * other).max() > MOST:
        raise LimitError("a multiplicity in the view is above 2^62, and cannot be kept")
    return found

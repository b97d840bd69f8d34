"""A multiset of rows as sorted runs that are merged as they grow: `Levels`.

A row is in at most one run. Its multiplicity changes there; when it becomes 0 the row stays until its run is
merged, or until half of a run is such rows. A few new rows are put into the last run, of at most `ROOM` rows,
and many begin a run of their own. A run is merged with the run before it as long as that is not `RATIO` times
as long. So n rows are in O(log n) runs, and each is copied O(log n) times. Long runs of small values
are kept in fewer bytes (`narrowed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np

from cer_gpu.engine.views.runs import (
    LEAST_NARROW,
    MOST_COUNT,
    is_narrow,
    narrowed,
    of_one_form,
    places_of,
    wide,
    widened,
)
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import LimitError
from cer_gpu.kernels.views import cpu_levels, cpu_search
from cer_gpu.kernels.views.contract import DIFFERENT, CountedRows, sums_of

RATIO = 4
"""A run is at least this many times as long as the next."""

ROOM = 1 << 10
"""Rows that the last run has room for: few rows are put into it in place."""

LEAST_ROOM = 8

LEAST_UNITED = 1 << 15
"""The least number of rows that a thread merges."""

SORTED = 1 << 11
"""From this many rows on, rows are sorted digit by digit."""

MARKED = 1 << 12
"""From so many rows on, rows are marked."""

MANY = 64
"""A batch that is one of so many parts of all rows, or more, is sought and not marked."""

SAMPLE = 1 << 6
"""About as many rows of a batch are looked at first: where most may be there, all are sought."""

LEAST_MARKS = 8
"""There are at least this many marks for each row: one absent row in eight may be sought in vain."""

MOST = float(2**62)
"""Multiplicities stay below this number."""


class Levels:
    """A multiset of rows of whole numbers.

    Parameters
    ----------
    width : int
        Values in a row.
    summed : bool, optional
        Whether sums of multiplicities over ranges of rows are needed.

    Attributes
    ----------
    runs : list of CountedRows
        The longest first, some of them narrow. Other code reads them, but changes nothing in them.
    total : int
        The sum of all multiplicities.
    """

    def __init__(self, width: int, summed: bool = True) -> None:
        self.width = width
        self.runs: list[CountedRows] = []
        self.total = 0
        self._summed = summed
        self._empty: list[int] = []
        self._marks = np.zeros(0, np.uint8)
        self._most = 0
        """No multiplicity in a narrow run is greater; 0 while there is none."""
        self._room: CountedRows | None = None
        """The array that the last run is the beginning of, if rows can be put into it."""

    def __len__(self) -> int:
        """The number of different rows."""
        return sum(len(run.counts) for run in self.runs) - sum(self._empty)

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take."""
        free = 0
        if self._room is not None:
            free = (len(self._room.counts) - len(self.runs[-1].counts)) * 8 * (self.width + 1)
        return free + self._marks.nbytes + sum(array.nbytes for run in self.runs for array in run)

    @property
    def whole(self) -> bool:
        """Whether no row has the multiplicity 0."""
        return not any(self._empty)

    @property
    def single(self) -> bool:
        """Whether every row has the multiplicity 1."""
        return self.whole and self.total == len(self)

    def counts_of(self, keys: np.ndarray) -> np.ndarray:
        """The multiplicity of each row of `keys` int64 [m, width]: int64 [m]."""
        keys = np.ascontiguousarray(keys)
        found = np.zeros(len(keys), np.int64)
        for run in self.runs:
            places = places_of(run, keys)
            there = places >= 0
            if there.all():
                return wide(run.counts.take(places)) if len(keys) else found
            found[there] = run.counts[places[there]]
        return found

    def several(self, most: int) -> CountedRows | None:
        """The rows that are there more than once, in order, without sums; None for more than `most`."""
        found = []
        for run in self.runs:
            places = np.flatnonzero(run.counts > 1)
            most -= len(places)
            if most < 0:
                return None
            found.append((wide(run.keys.take(places, axis=0)), wide(run.counts.take(places))))
        keys, counts = (np.concatenate(arrays) for arrays in zip(*found))
        return rows_of(*(collapsed(keys, counts) if len(found) > 1 else (keys, counts)), summed=False)

    def still(self) -> Levels:
        """The same rows in runs that stay as they are where these are merged; `add` may change both."""
        found = Levels(self.width, self._summed)
        found.runs, found._empty, found.total = list(self.runs), list(self._empty), self.total
        return found

    def add(self, keys: np.ndarray, amounts: np.ndarray) -> None:
        """Change multiplicities.

        Parameters
        ----------
        keys : ndarray of int64, shape (m, width)
            Different rows, in order.
        amounts : ndarray of int64, shape (m,)
            How much the multiplicity of each grows: none may fall below 0.
        """
        self.total += int(amounts.sum())
        if self._most and len(amounts):
            self._make_room(max(int(amounts.max()), -int(amounts.min())))
        new = (amounts != 0).view(np.uint8)
        keys, amounts = np.ascontiguousarray(keys), np.ascontiguousarray(amounts)
        renewed = False
        known = self._known(keys, new)
        for number, run in enumerate(self.runs):
            if number and number == len(self.runs) - 1 and self._merges(run, new):
                left = chosen(keys, amounts, new.view(bool))
                if known is None and len(self._marks):
                    self._noted(left[0])
                self._renew(run, rows_of(*left, summed=False))
                renewed = True
            elif known is None:
                self._empty[number] += int(cpu_levels.put(run, keys, amounts, new))
            elif len(known):
                found = np.ones(len(known), np.uint8)
                self._empty[number] += int(cpu_levels.put(run, keys[known], amounts[known], found))
                new[known[found == 0]] = 0
                known = known[found != 0]
        if not renewed:
            left = chosen(keys, amounts, new.view(bool))
            if known is None and len(self._marks):
                self._noted(left[0])
            self._append(*left)
        self._settle()

    def _known(self, keys: np.ndarray, new: np.ndarray) -> np.ndarray | None:
        """Which of the changed rows may be there, int64 [n]; None if that is not known of any.

        Rows are marked from now on (`contract.mark_of`), where there are many and a batch has few. Nearly all
        rows that are inserted are not there, and are not sought in each run.
        """
        rows = sum(len(run.counts) for run in self.runs) + len(new)
        if rows < MARKED or MANY * len(new) > rows:
            self._marks = np.zeros(0, np.uint8)
            return None
        if rows > 8 * len(self._marks) // LEAST_MARKS:
            marks = np.zeros(1 << (LEAST_MARKS * rows // 8).bit_length(), np.uint8)
            for run in self.runs:
                every = np.ones(len(run.counts), np.uint8)
                cpu_levels.noted(run.keys, every, marks, every.copy())
            self._marks = marks
        found = np.empty(len(new), np.uint8)
        step = max(1, len(new) // SAMPLE)
        some = keys[::step]
        if step > 1 and 2 * self._noted(some) > len(some):
            return None
        many = cpu_levels.noted(keys, new, self._marks, found)
        return np.flatnonzero(found) if 2 * many < len(new) else None

    def _noted(self, keys: np.ndarray) -> int:
        """Mark rows; gives how many may have been marked before."""
        keys = np.ascontiguousarray(keys)
        every = np.ones(len(keys), np.uint8)
        return int(cpu_levels.noted(keys, every, self._marks, every.copy()))

    def _merges(self, run: CountedRows, new: np.ndarray) -> bool:
        """Whether the last run is merged with what is new at once: it would be right after."""
        if self._room is not None:
            return False
        many = np.count_nonzero(new)
        return bool(many > ROOM // 2 and len(run.counts) < RATIO * many)

    def _renew(self, run: CountedRows, new: CountedRows) -> None:
        size = len(run.counts) + len(new.counts)
        made, counts = np.empty((size, self.width), np.int64), np.empty(size, np.int64)
        rows = cpu_levels.merge(run, new, made, counts)
        del self.runs[-1], self._empty[-1]
        if 2 * rows < size:
            made, counts = made[:rows].copy(), counts[:rows].copy()
        if rows:
            self._begin(made[:rows], counts[:rows])

    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """All rows in order, int64 [n, width], and their multiplicities, int64 [n]."""
        self._close()
        while len(self.runs) > 1:
            self._merge_last()
        if not self.runs:
            return np.empty((0, self.width), np.int64), np.empty(0, np.int64)
        if self._empty[0]:
            self._shrink(0)
        if not self.runs:
            return np.empty((0, self.width), np.int64), np.empty(0, np.int64)
        return wide(self.runs[0].keys), wide(self.runs[0].counts)

    def _append(self, keys: np.ndarray, counts: np.ndarray) -> None:
        rows = len(counts)
        if not rows:
            return
        if rows > ROOM // 2:
            self._close()
            self._begin(keys, counts.copy())
            return
        size = 0 if self._room is None else len(self.runs[-1].counts)
        if self._room is not None and size + rows > ROOM:
            self._close()
            size = 0
        if self._room is None:
            self.runs.append(rows_of(keys[:0], counts[:0], self._summed))
            self._empty.append(0)
        now = size + rows
        if self._room is None or len(self._room.counts) < now:
            most = min(ROOM, max(LEAST_ROOM, 2 * now))
            none = np.empty(0, np.int64)
            made = CountedRows(np.empty((most, self.width), np.int64), np.empty(most, np.int64), none)
            made.keys[:size], made.counts[:size] = self.runs[-1].keys, self.runs[-1].counts
            self._room = made
        room = self._room
        cpu_levels.insert(room.keys, room.counts, size, keys, counts)
        self.runs[-1] = rows_of(room.keys[:now], room.counts[:now], self._summed)

    def _begin(self, keys: np.ndarray, counts: np.ndarray) -> None:
        self.runs.append(self._placed(rows_of(keys, counts, self._summed)))
        self._empty.append(0)

    def _placed(self, run: CountedRows) -> CountedRows:
        """A run that no rows are put into any more, in the fewest bytes."""
        if not is_narrow(run):
            found = narrowed(run) if len(run.counts) >= LEAST_NARROW else None
            if found is None:
                return run
            run = found
        self._most = MOST_COUNT
        return run

    def _make_room(self, amount: int) -> None:
        """Make runs wide whose multiplicities may not fit once they grow by an amount."""
        self._most += amount
        if self._most <= MOST_COUNT:
            return
        self._most = 0
        for number, run in enumerate(self.runs):
            if is_narrow(run):
                most = int(run.counts.max()) + amount
                if most > MOST_COUNT:
                    self.runs[number] = widened(run)
                else:
                    self._most = max(self._most, most)

    def _close(self) -> None:
        """Put no more rows into the last run."""
        if self._room is not None:
            run, self._room = self.runs[-1], None
            self.runs[-1] = self._placed(CountedRows(run.keys.copy(), run.counts.copy(), run.sums.copy()))

    def _settle(self) -> None:
        for number in reversed(range(len(self.runs))):
            if 2 * self._empty[number] > len(self.runs[number].counts):
                self._shrink(number)
        closed = len(self.runs) - (self._room is not None)
        while closed > 1 and len(self.runs[closed - 2].counts) < RATIO * len(self.runs[closed - 1].counts):
            self._merge_last(closed)
            closed = len(self.runs) - (self._room is not None)

    def _shrink(self, number: int) -> None:
        if self._room is not None and number == len(self.runs) - 1:
            self._close()
        run = self.runs[number]
        kept = run.counts != 0
        left = rows_of(run.keys[kept], run.counts[kept], self._summed) if kept.any() else None
        self._empty[number] = 0
        if left is not None:
            self.runs[number] = left
        else:
            del self.runs[number], self._empty[number]

    def _merge_last(self, end: int | None = None) -> None:
        """Make one of the last two runs before `end`."""
        end = len(self.runs) if end is None else end
        one, other = of_one_form(*self.runs[end - 2 : end])
        size = len(one.counts) + len(other.counts)
        keys, counts = np.empty((size, self.width), one.keys.dtype), np.empty(size, one.counts.dtype)
        made = cpu_levels.merge(one, other, keys, counts)
        if 2 * made < size:
            keys, counts = keys[:made].copy(), counts[:made].copy()
        keys, counts = keys[:made], counts[:made]
        self.runs[end - 2 : end] = [self._placed(rows_of(keys, counts, self._summed))] if made else []
        self._empty[end - 2 : end] = [0] if made else []


def rows_of(keys: np.ndarray, counts: np.ndarray, summed: bool = True) -> CountedRows:
    """Rows that are in order, with the sums of their multiplicities if these are needed."""
    sums = np.empty(sums_of(len(counts)) if summed else 0, np.int64)
    made = CountedRows(np.ascontiguousarray(keys), np.ascontiguousarray(counts), sums)
    if summed:
        cpu_levels.sum_up(made.counts, made.sums)
    return made


def collapsed(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make equal rows one, in order, with the sums of their multiplicities; sums of 0 stay.

    Parameters
    ----------
    keys : ndarray of int64, shape (m, width)
    counts : ndarray of int64, shape (m,)
    """
    if len(counts) < 2:
        return keys, counts
    if not keys.shape[1]:
        return keys[:1], counts.sum(keepdims=True)
    keys, counts = np.ascontiguousarray(keys), np.ascontiguousarray(counts)
    order = cpu_levels.ascending(keys)
    if order == DIFFERENT:
        return keys, counts
    if not order:
        places = _order(keys)
        keys, counts = keys.take(places, axis=0), counts.take(places)
    made_keys, made = np.empty_like(keys), np.empty_like(counts)
    size = cpu_levels.collapse(keys, counts, made_keys, made)
    return made_keys[:size], made[:size]


def united(one: CountedRows, other: CountedRows, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Merge the rows of both, in order, with equal rows as one, in some threads; sums of 0 stay."""
    long, short = (one, other) if len(one.counts) >= len(other.counts) else (other, one)
    threads = min(threads, max(1, (len(long.counts) + len(short.counts)) // LEAST_UNITED))
    if threads < 2:
        return _united((one, other))
    # Each thread takes the rows between two rows of the longer one.
    ends = np.arange(threads + 1) * len(long.counts) // threads
    places = np.append(first_from(short.keys, long.keys[ends[:-1]], long.keys.shape[1]), len(short.counts))
    places[0] = 0
    parts = [
        tuple(
            CountedRows(rows.keys[low:high], rows.counts[low:high], rows.sums[:0])
            for rows, (low, high) in ((long, own), (short, beside))
        )
        for own, beside in zip(pairwise(ends.tolist()), pairwise(places.tolist()))
    ]
    made = Workers().map("updating", _united, parts)
    return np.concatenate([keys for keys, _ in made]), np.concatenate([counts for _, counts in made])


def chosen(keys: np.ndarray, counts: np.ndarray, taken: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that are taken, and their counts: `taken` bool [m]."""
    many = np.count_nonzero(taken)
    if many == len(counts):
        return keys, counts
    made_keys, made = np.empty((many, keys.shape[1]), np.int64), np.empty(many, np.int64)
    cpu_levels.chosen(keys, counts, taken.view(np.uint8), made_keys, made)
    return made_keys, made


def _united(pair: Sequence[CountedRows]) -> tuple[np.ndarray, np.ndarray]:
    one, other = pair
    size = len(one.counts) + len(other.counts)
    keys, counts = np.empty((size, one.keys.shape[1]), np.int64), np.empty(size, np.int64)
    made = cpu_levels.unite(one, other, keys, counts)
    return keys[:made], counts[:made]


def first_from(keys: np.ndarray, probes: np.ndarray, width: int) -> np.ndarray:
    """The first row of `keys` that is not before each of `probes`, by their first values: int64 [m]."""
    ranges = np.empty((len(probes), 2), np.int64)
    cpu_search.bounds(keys, probes, width, -1, ranges)
    return ranges[:, 0]


def _order(keys: np.ndarray) -> np.ndarray:
    """The places of rows in their order; by one number for each row, where it fits."""
    rows, width = keys.shape
    low, high = np.empty(width, np.int64), np.empty(width, np.int64)
    cpu_levels.spans(keys, low, high)
    room = [most - least + 1 for least, most in zip(low.tolist(), high.tolist())]
    total = prod(room)
    if total > MOST:
        return np.lexsort(keys.T[::-1])
    packed = np.empty(rows, np.int64)
    cpu_levels.pack(keys, low, np.array(room, np.int64), packed)
    if rows < SORTED:
        return np.argsort(packed)
    scratch = np.empty((3, rows), np.int64)
    bits = (total - 1).bit_length()
    cpu_levels.sort(packed, bits, np.empty(2048, np.int64), scratch[0], scratch[1], scratch[2])
    return scratch[1]


def product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The products of multiplicities.

    Raises
    ------
    LimitError
        If one is too large for an int64.
    """
    made = np.empty(len(one), np.int64)
    if not cpu_levels.multiply(np.ascontiguousarray(one), np.ascontiguousarray(other), made):
        raise too_many()
    return made


def too_many() -> LimitError:
    """The error for a multiplicity that does not fit."""
    return LimitError("a multiplicity in the view is above 2^62, and cannot be kept")

"""The answers of rules as they are listed from the events of each lane: in the order of the stream.

The arrays are those of `cer_gpu.kernels.joins.cpu_lanes`. This module calls the kernels and gives them room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from cer_gpu.enumeration.blocks import TupleBlock, in_parts
from cer_gpu.enumeration.products import BULK_ROWS
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.joins import cpu_lanes as kernel
from cer_gpu.kernels.joins.contract import COMPARED, DEALT, FEW, LaneAtoms
from cer_gpu.kernels.joins.lane_answers import CopiedAnswers, LaneEnds, LaneScratch
from cer_gpu.kernels.windows.contract import MeasuredWindow

Range: TypeAlias = tuple[int, int]
"""The first of some events or rows, and the one after the last."""

Buckets: TypeAlias = list[Range]
"""Some buckets, each with its first row and the one after its last."""

Map: TypeAlias = Callable[[Callable[[Any], Any], list[Any]], list[Any]]
"""Calls a function for each item of a list, in threads."""

BUCKET = 1 << 14
"""About how many events a bucket of lanes has: its rows are in a cache while they are sorted."""

MOST = 8
"""There are at most 2 ** MOST buckets: each is written to in turn as events are dealt."""

ROWS_OF_EVENT = 2
"""How many answers of each event there is room for at first; room that is full is doubled."""

SOME = 64
"""How many answers, and rows to make those of an end from, there is room for in any case."""


def bits_of_bucket(events: int) -> int:
    """How many lower bits of a lane are its bucket."""
    return min(max((events // BUCKET).bit_length() - 1, 0), MOST)


def ranges_of(events: int, threads: int) -> list[Range]:
    """Events 0 .. events - 1, a part for each thread; no part is empty."""
    edges = [events * number // threads for number in range(threads + 1)]
    return [one for one in pairwise(edges) if one[0] < one[1]]


def shares_of(buckets: Buckets, threads: int) -> list[Buckets]:
    """The buckets of each thread; none gets no bucket."""
    count = min(threads, len(buckets))
    return [buckets[number::count] for number in range(count)]


def passes_of(lanes: np.ndarray, shift: int) -> int:
    """How many digits of lanes tell those of a bucket apart, at least 1."""
    digits = (int(lanes.max(initial=0)) >> shift).bit_length()
    return max(-(-digits // kernel.DIGIT), 1)


@dataclass(frozen=True, slots=True)
class LaneRows:
    """The events of a chunk, lane by lane.

    Attributes
    ----------
    rows : ndarray, shape (n, columns), int32
        For each event its number, tag and slots, as `cer_gpu.kernels.joins.contract` says.
    rank : ndarray, shape (n,), int32
        The row of each event at which answers may end; else -1.
    least : ndarray, shape (n,), int32
        The least event that the window of each admits.
    """

    rows: np.ndarray
    rank: np.ndarray
    least: np.ndarray

    @classmethod
    def of(
        cls,
        tables: LaneAtoms,
        symbols: np.ndarray,
        lanes: np.ndarray,
        slots: np.ndarray,
        window: MeasuredWindow,
        threads: int,
        share: Map,
    ) -> LaneRows:
        """Put the events of each lane next to each other, in the order of the stream.

        Parameters
        ----------
        tables : LaneAtoms
        symbols : ndarray, shape (n,), uint8 or uint16
        lanes : ndarray, shape (n,), int32
            At least 0.
        slots : ndarray, shape (columns, n), int32
        window : MeasuredWindow
            With keys.
        threads : int
        share : callable
            As `Map`.
        """
        n, shift, slots = len(symbols), bits_of_bucket(len(symbols)), np.ascontiguousarray(slots)
        lanes, ranges = np.ascontiguousarray(lanes), ranges_of(n, threads)
        counts = np.zeros((max(len(ranges), 1), 1 << shift), np.int64)
        one, other = np.empty((2, n, DEALT + tables.column.shape[1]), np.int32)
        columns = COMPARED + tables.column.shape[1]
        found = cls(np.empty((n, columns), np.int32), np.full(n, -1, np.int32), np.empty(n, np.int32))

        def tally(number: int) -> None:
            kernel.admitted(window, *ranges[number], found.least)
            kernel.tally(tables, symbols, lanes, *ranges[number], counts[number])

        def deal(number: int) -> None:
            own = ranges[number]
            kernel.deal(tables, symbols, lanes, slots, found.least, *own, next_row[number], one)

        numbers = list(range(len(ranges)))
        share(tally, numbers)
        first = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
        next_row = first[:-1] + np.cumsum(counts, axis=0) - counts
        share(deal, numbers)
        passes = passes_of(lanes, shift)

        def sort(some: Buckets) -> None:
            counter = np.empty((1 << kernel.DIGIT) + 1, np.int64)
            latest = np.empty(len(tables.place), np.int32)
            for begin, stop in some:
                kernel.group(one, other, begin, stop, shift, passes, counter)
                kernel.reach(other if passes % 2 else one, begin, stop, latest, found.rows, found.rank)

        share(sort, shares_of(list(pairwise(first.tolist())), threads))
        return found


@dataclass(frozen=True, slots=True)
class LanePart:
    """The answers at the ends of a part of a chunk: the ends in the order of the stream.

    Attributes
    ----------
    end : ndarray, shape (ends,), int64
        Where answers end.
    latest, lowest : ndarray, shape (ends,), int64
        The latest start of one, and the least event that the window admits.
    first, count : ndarray, shape (ends,), int64
        The first answer, and how many there are.
    event : ndarray, shape (room, atoms), int32
    """

    end: np.ndarray
    latest: np.ndarray
    lowest: np.ndarray
    first: np.ndarray
    count: np.ndarray
    event: np.ndarray

    def block(self, ends: np.ndarray, taken: np.ndarray, hits: np.ndarray) -> TupleBlock:
        """The first `taken` answers of some ends, which are called `hits`: all int64, shape (n,)."""
        total = int(taken.sum())
        block = CopiedAnswers(
            *np.empty((2, total), np.int64), np.empty((total, self.event.shape[1]), np.int64)
        )
        kernel.copied(self.first[ends], taken, hits, self.event, block)
        return TupleBlock(*block)


def listed(tables: LaneAtoms, rows: LaneRows, bounds: tuple[int, int]) -> LanePart | int:
    """The answers of the events bounds[0] .. bounds[1] - 1; else the status of the kernel.

    That is `TOO_SLOW`, or `ROWS_FULL` where there are more than `FEW` answers for each event.

    Parameters
    ----------
    tables : LaneAtoms
    rows : LaneRows
    bounds : tuple of int
    """
    reported, atoms = bounds[1] - bounds[0], len(tables.place)
    most = FEW * max(reported, 1)
    room, width = min(ROWS_OF_EVENT * reported + SOME, most), SOME
    # What is never written takes no memory.
    ends = [np.empty(reported, np.int64) for _ in range(3)]
    begin = np.zeros(reported + 1, np.int64)
    found = LaneEnds(*ends, begin, np.empty((room, atoms), np.int32), np.empty(room, np.int32))
    scratch = _scratch(atoms, width)
    progress = np.zeros(kernel.WORDS, np.int64)
    progress[kernel.AT] = bounds[0]
    edges = np.array(bounds, np.int64)
    while True:
        status = kernel.expand(tables, rows.rows, rows.rank, rows.least, edges, scratch, found, progress)
        if status == kernel.DONE:
            break
        if status == kernel.CHOICE_FULL:
            width *= 4
            scratch = _scratch(atoms, width)
        elif status == kernel.ROWS_FULL and room < most:
            done, room = int(progress[kernel.ROWS]), min(2 * room, most)
            event, start = np.empty((room, atoms), np.int32), np.empty(room, np.int32)
            event[:done], start[:done] = found.event[:done], found.start[:done]
            found = found._replace(event=event, start=start)
        else:
            return int(status)
    n, m = int(progress[kernel.ENDS]), int(progress[kernel.ROWS])
    end, latest, lowest = (one[:n] for one in ends)
    first, count = begin[:n], np.diff(begin[: n + 1])
    return LanePart(end, latest, lowest, first, count, found.event[:m])


class LaneAnswers:
    """The answers of some ends of a chunk, listed by several threads; an `Answers`.

    Parameters
    ----------
    parts : sequence of LanePart
        One after another in the stream.
    ends : ndarray, shape (ends,), int64
        The numbers of the ends among those of all parts.

    Attributes
    ----------
    count : ndarray, shape (ends,), int64
        How many answers each end has.
    """

    sharing: Literal["ends"] = "ends"

    def __init__(self, parts: Sequence[LanePart], ends: np.ndarray) -> None:
        self._parts = parts
        self._ends = ends
        self._base = np.cumsum([0, *(len(part.end) for part in parts)])
        self.count = np.concatenate([part.count for part in parts])[ends]

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps it takes to list the first `limit` answers of each end, shape (ends,)."""
        return self.count if limit is None else np.minimum(self.count, limit)

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[TupleBlock]:
        """The answers of some ends, as `Answers.blocks`, each end's in canonical order."""
        taken = self.work(limit)[order]
        number = np.searchsorted(self._base, self._ends[order], side="right") - 1
        rows = BULK_ROWS if size is None else min(size, BULK_ROWS)
        edges = [0, *(np.flatnonzero(number[1:] != number[:-1]) + 1).tolist(), len(order)]
        for first, last in pairwise(edges):
            for done, stop, total in in_parts(taken[first:last], rows):
                if total:
                    part, own = int(number[first]), order[first + done : first + stop]
                    ends = self._ends[own] - self._base[part]
                    yield self._parts[part].block(ends, taken[first + done : first + stop], own)


def _scratch(atoms: int, width: int) -> LaneScratch:
    numbers = (np.empty(atoms, np.int64) for _ in range(5))
    return LaneScratch(np.empty(width, np.int32), np.empty((atoms, width), np.int32), *numbers)

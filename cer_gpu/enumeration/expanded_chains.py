"""The answers of chains of three steps, listed by two joins of sorted rows.

The arrays are those of `cer_gpu.kernels.joins.cpu_chains`. This module calls the kernels and gives them room.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np

from cer_gpu.enumeration import expanded_lanes as shared
from cer_gpu.enumeration.blocks import PathBlock
from cer_gpu.enumeration.expanded_lanes import Buckets, Map, bits_of_bucket, passes_of
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.joins import cpu_chains as kernel
from cer_gpu.kernels.joins.chains import (
    LONG_ROW,
    ROW,
    ChainAnswers,
    ChainEntries,
    ChainEvents,
)
from cer_gpu.kernels.joins.contract import FEW, PASSED, ChainSteps, PlacedEnds
from cer_gpu.kernels.joins.cpu_lanes import (
    DIGIT,
    DONE,
    ENDS,
    FREE,
    ROWS,
    ROWS_FULL,
    TOO_SLOW,
    WORDS,
    admitted,
)
from cer_gpu.kernels.joins.cpu_triples import in_order, sort
from cer_gpu.kernels.windows.contract import MeasuredWindow

APART = 16
"""Each thread has a row for events of no bucket, so far from that of another that no cache line has both."""

Range: TypeAlias = tuple[int, int]
"""The first of some events, and the one after the last."""


@dataclass(frozen=True, slots=True)
class ChainPart:
    """The answers at the ends of a part of a chunk: the ends in the order of the stream; an `AnswerPart`.

    Attributes
    ----------
    end, latest, lowest, first, count : ndarray, shape (ends,), int64
        As in `PlacedEnds`, whose `number` is `count`.
    pair : ndarray, shape (room,), uint64
        As in `ChainAnswers`.
    label : ndarray, shape (3,), int32
    """

    end: np.ndarray
    latest: np.ndarray
    lowest: np.ndarray
    first: np.ndarray
    count: np.ndarray
    pair: np.ndarray
    label: np.ndarray

    def block(self, ends: np.ndarray, taken: np.ndarray, hits: np.ndarray) -> PathBlock:
        """The first `taken` answers of some ends, which are called `hits`: all int64, shape (n,)."""
        total = int(taken.sum())
        hit, column = np.empty(total, np.int64), np.empty((len(self.label), total), np.int64)
        kernel.copied(self.first[ends], taken, hits, self.end[ends], self.pair, hit, column)
        return PathBlock(hit, column, self.label)


class ChainRows:
    """The events of a chunk, and which firsts each second has in its window.

    Parameters
    ----------
    steps : ChainSteps
    symbols : ndarray, shape (n,), uint8 or uint16
    slots : ndarray, shape (columns, n), int32
    window : MeasuredWindow
        With keys.
    report : int
        No answers are made that end before this event.
    threads : int
    share : callable
        As `Map`.
    """

    def __init__(
        self,
        steps: ChainSteps,
        symbols: np.ndarray,
        slots: np.ndarray,
        window: MeasuredWindow,
        report: int,
        threads: int,
        share: Map,
    ) -> None:
        n = len(symbols)
        self._steps, self._report, self._threads, self._share = steps, report, threads, share
        arrays = (np.empty(n, np.int32) for _ in range(4))
        self._events = ChainEvents(symbols, np.ascontiguousarray(slots), *arrays)
        edges = [n * number // threads for number in range(threads + 1)]
        self._ranges = [one for one in pairwise(edges) if one[0] < one[1]]
        self._shift = bits_of_bucket(n)
        self._passes = passes_of(slots, self._shift)
        self._place = np.empty(n, np.int32)
        self._events.latest.fill(-1)
        share(lambda own: admitted(window, *own, self._events.least), self._ranges)
        rows, buckets = self._dealt(0, ROW)
        self._firsts = np.empty(len(rows), np.int32)
        share(lambda some: self._joined(rows, some), self._shares(buckets))

    def listed(self, bounds: list[Range]) -> list[ChainPart] | None:
        """The answers at the events in some bounds, which follow each other; None: another form is better.

        It is where more than `PASSED` seconds for each event and answer lead to no answer, or where there are
        more answers than `FEW` for each event.

        Parameters
        ----------
        bounds : list of (int, int)
        """
        rows, buckets = self._dealt(1, LONG_ROW)
        shares = self._shares(buckets)
        count = max(len(shares), 1)
        new = max((bounds[-1][1] - self._report) // count, 1)
        most = min(FEW * new, np.iinfo(np.int32).max // count)
        room = min(shared.ROWS_OF_EVENT * new + shared.SOME, most)
        of_row = np.empty((len(rows), 3), np.int32)
        of_row[buckets[-1][1] if buckets else 0 :] = 0  # those of events that have no row
        while True:
            # What is never written takes no memory.
            found = ChainAnswers(of_row, np.empty(count * room, np.uint64))
            given = [(some, number * room, room) for number, some in enumerate(shares)]

            def made(one: tuple[Buckets, int, int], found: ChainAnswers = found) -> int:
                return self._made(rows, one, new, found)

            statuses = self._share(made, given)
            if TOO_SLOW in statuses or (ROWS_FULL in statuses and room == most):
                return None
            if ROWS_FULL not in statuses:
                break
            room = min(2 * room, most)
        parts: list[ChainPart] = self._share(lambda edges: self._part(edges, found), bounds)
        return parts

    def _dealt(self, stage: int, width: int) -> tuple[np.ndarray, Buckets]:
        """The rows of a stage by bucket, then some that are of none; and the buckets that have some."""
        code, second = self._steps.code[stage], stage == 1
        counts = np.empty((len(self._ranges), (1 << self._shift) + 1), np.int64)

        def tally(number: int) -> None:
            own = self._ranges[number]
            kernel.tally(code, self._events, second, *own, self._report, counts[number])

        numbers = list(range(len(self._ranges)))
        self._share(tally, numbers)
        first = np.concatenate([[0], np.cumsum(counts[:, :-1].sum(axis=0))])
        next_row = first + np.cumsum(counts, axis=0) - counts
        next_row[:, -1] = first[-1] + APART * np.arange(len(counts))
        rows = np.empty((int(first[-1]) + APART * len(counts), width), np.int32)

        def deal(number: int) -> None:
            own = self._ranges[number]
            kernel.deal(code, self._events, second, *own, self._report, next_row[number], rows, self._place)

        self._share(deal, numbers)
        return rows, [both for both in pairwise(first.tolist()) if both[0] < both[1]]

    def _shares(self, buckets: Buckets) -> list[Buckets]:
        """The buckets of each thread."""
        count = min(self._threads, len(buckets))
        return [buckets[number::count] for number in range(count)]

    def _joined(self, rows: np.ndarray, buckets: Buckets) -> None:
        """Join the firsts and the seconds of some buckets."""
        ordered = _SortedRows(rows, buckets, self._shift, self._passes)
        for begin, stop in buckets:
            kernel.join_firsts(rows, ordered(begin, stop), begin, self._firsts, self._events)

    def _made(self, rows: np.ndarray, given: tuple[Buckets, int, int], new: int, found: ChainAnswers) -> int:
        """Make the answers of some buckets, from a row on, with so much room; the status of the kernel."""
        buckets, first, room = given
        ordered = _SortedRows(rows, buckets, self._shift, self._passes)
        entries = ChainEntries(*np.empty((4, ordered.widest), np.int32))
        progress = np.zeros(WORDS, np.int64)
        progress[ROWS] = first
        budget = np.array([PASSED * (new - first) + FREE, PASSED, first + room], np.int64)
        for begin, stop in buckets:
            status = kernel.join_thirds(
                rows, ordered(begin, stop), self._firsts, entries, found, progress, budget
            )
            if status != DONE:
                return int(status)
        return int(DONE)

    def _part(self, bounds: Range, found: ChainAnswers) -> ChainPart:
        """The ends among some events."""
        ends = PlacedEnds(*(np.empty(bounds[1] - bounds[0] + 1, np.int64) for _ in range(5)))
        progress = np.zeros(WORDS, np.int64)
        edges = np.array(bounds, np.int64)
        in_order(self._place, found.of_row, self._events.least, edges, ends, progress)
        n = int(progress[ENDS])
        end, latest, lowest, first, count = (one[:n] for one in ends)
        return ChainPart(end, latest, lowest, first, count, found.pair, self._steps.label)


class _SortedRows:
    """Sorts the rows of buckets by slot, one bucket after another, in the same scratch.

    Parameters
    ----------
    rows : ndarray, shape (m, columns), int32
    buckets : list of (int, int)
    shift : int
        The lower bits of a slot, which its bucket has in common.
    passes : int
        So many digits tell the slots of a bucket apart.

    Attributes
    ----------
    widest : int
        How many rows the largest bucket has.
    """

    def __init__(self, rows: np.ndarray, buckets: Buckets, shift: int, passes: int) -> None:
        self._rows, self._shift, self._passes = rows, shift, passes
        self.widest = max((stop - begin for begin, stop in buckets), default=0)
        self._counter = np.empty((1 << DIGIT) + 1, np.int64)
        self._one, self._other = np.empty((2, self.widest), np.int32)

    def __call__(self, begin: int, stop: int) -> np.ndarray:
        """The numbers of the rows begin .. stop - 1, shape (stop - begin,), int32: until the next call."""
        sort(self._rows, begin, stop, self._shift, self._passes, self._counter, self._one, self._other)
        return (self._other if self._passes % 2 else self._one)[: stop - begin]

"""The answers of chains of three steps, listed by two joins of sorted rows.

The arrays are those of `cer_gpu.kernels.joins.cpu_chains`. This module calls the kernels and gives them room.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from cer_gpu.enumeration.blocks import PathBlock
from cer_gpu.enumeration.expanded_lanes import (
    ROWS_OF_EVENT,
    SOME,
    Buckets,
    Map,
    Range,
    bits_of_bucket,
    passes_of,
    ranges_of,
    shares_of,
)
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.joins import cpu_chains as kernel
from cer_gpu.kernels.joins.chains import LONG_ROW, ROW, ChainAnswers, ChainEntries, ChainEvents
from cer_gpu.kernels.joins.contract import FEW, PASSED, ChainSteps
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
from cer_gpu.kernels.joins.lane_answers import PlacedEnds
from cer_gpu.kernels.windows.contract import MeasuredWindow

APART = 16
"""Each thread has a row for events of no bucket, so far from that of another that no cache line has both."""


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
        self._ranges = ranges_of(n, threads)
        self._shift = bits_of_bucket(n)
        self._passes = passes_of(slots, self._shift)
        self._place = np.empty(n, np.int32)
        self._events.latest.fill(-1)
        share(lambda own: admitted(window, *own, self._events.least), self._ranges)
        rows, buckets = self._dealt(0, ROW)
        self._firsts = np.empty(len(rows), np.int32)
        share(lambda some: self._joined(rows, some), shares_of(buckets, self._threads))

    def listed(self, bounds: list[Range]) -> list[ChainPart] | None:
        """The answers at the events in some bounds, which follow each other; None: another form is better.

        It is where more than `PASSED` seconds for each event and answer lead to no answer, or where there are
        more answers than `FEW` for each event.

        Parameters
        ----------
        bounds : list of (int, int)
        """
        rows, buckets = self._dealt(1, LONG_ROW)
        of_row = np.empty((len(rows), 3), np.int32)
        of_row[buckets[-1][1] if buckets else 0 :] = 0  # those of events that have no row

        def room_for(answers: int) -> ChainAnswers:
            return ChainAnswers(of_row, np.empty(answers, np.uint64))

        def made(some: Buckets, first: int, room: int, new: int, found: ChainAnswers) -> int:
            return self._made(rows, some, first, room, new, found)

        shares, reported = shares_of(buckets, self._threads), bounds[-1][1] - self._report
        found = in_enough_room(shares, reported, FEW, room_for, made, self._share)
        if found is None:
            return None
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

    def _joined(self, rows: np.ndarray, buckets: Buckets) -> None:
        """Join the firsts and the seconds of some buckets."""
        ordered = BucketOrder(rows, buckets, self._shift, self._passes)
        for begin, stop in buckets:
            kernel.join_firsts(rows, ordered(begin, stop), begin, self._firsts, self._events)

    def _made(
        self, rows: np.ndarray, buckets: Buckets, first: int, room: int, new: int, found: ChainAnswers
    ) -> int:
        """Make the answers of some buckets, from a row on, with so much room; the status of the kernel."""
        ordered = BucketOrder(rows, buckets, self._shift, self._passes)
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
        end, latest, lowest, first, count = ends_among(bounds, self._place, found.of_row, self._events.least)
        return ChainPart(end, latest, lowest, first, count, found.pair, self._steps.label)


def in_enough_room(
    shares: list[Buckets],
    reported: int,
    few: int,
    room_for: Callable[[int], ChainAnswers],
    made: Callable[[Buckets, int, int, int, ChainAnswers], int],
    share: Map,
) -> ChainAnswers | None:
    """What is made of the buckets of all threads, each in as much room; None: another form is better.

    Room that is full is doubled, up to `few` answers for each event. It is another form, too, that is better
    where a kernel gives `TOO_SLOW`.

    Parameters
    ----------
    shares : list of Buckets
        One for each thread.
    reported : int
        How many events answers may end at.
    few : int
    room_for : callable
        Gives arrays for so many answers.
    made : callable
        Given a share, the row from which on its answers are made, their room, how many events of the share
        answers may end at, and the arrays: the kernel's status.
    share : callable
        As `Map`.
    """
    count = max(len(shares), 1)
    new = max(reported // count, 1)
    most = min(few * new, np.iinfo(np.int32).max // count)
    room = min(ROWS_OF_EVENT * new + SOME, most)
    while True:
        # What is never written takes no memory.
        found = room_for(count * room)

        def own(number: int, found: ChainAnswers = found, room: int = room) -> int:
            return made(shares[number], number * room, room, new, found)

        statuses = share(own, list(range(len(shares))))
        if TOO_SLOW in statuses or (ROWS_FULL in statuses and room == most):
            return None
        if ROWS_FULL not in statuses:
            return found
        room = min(2 * room, most)


def ends_among(bounds: Range, place: np.ndarray, of_row: np.ndarray, least: np.ndarray) -> PlacedEnds:
    """The ends among some events, in their order, of answers that were made bucket by bucket.

    Parameters
    ----------
    bounds : (int, int)
    place, of_row, least : ndarray
        As `cpu_chains.in_order` reads them.
    """
    ends = PlacedEnds(*(np.empty(bounds[1] - bounds[0] + 1, np.int64) for _ in range(5)))
    progress = np.zeros(WORDS, np.int64)
    kernel.in_order(place, of_row, least, np.array(bounds, np.int64), ends, progress)
    return PlacedEnds(*(one[: int(progress[ENDS])] for one in ends))


class BucketOrder:
    """Sorts the rows of buckets by lane or slot, one bucket after another, in the same scratch.

    Parameters
    ----------
    rows : ndarray, shape (m, columns), int32
    buckets : list of (int, int)
    shift : int
        The lower bits of a lane, which its bucket has in common.
    passes : int
        So many digits tell the lanes of a bucket apart.

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
        kernel.sort(self._rows, begin, stop, self._shift, self._passes, self._counter, self._one, self._other)
        return (self._other if self._passes % 2 else self._one)[: stop - begin]

"""The complex events in the persistent structure of an automaton with one clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cer_gpu.enumeration.blocks import BULK_COUNT, some_of
from cer_gpu.enumeration.clock_enumeration import SpanEvents, timed_ordered_blocks
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.arena.contract import DONE, HIT_TOO_LARGE, MISMATCH
from cer_gpu.kernels.clock import cpu_walk as walks
from cer_gpu.kernels.clock.contract import ClockTables
from cer_gpu.kernels.forest.contract import (
    Block,
    BulkScratch,
    CountedHits,
    ForestNodes,
    Roots,
    SortScratch,
    UnsortedAnswers,
    WalkStack,
)
from cer_gpu.kernels.streams.contract import StreamEnds

STACK = 1 << 12
"""Room for the nodes that a walk still has to visit, at first."""

MOST_SORTED = 1 << 23
"""An end with more complex events has them found one by one."""

MOST_COUNTED = 1 << 62
"""More complex events of one end than a walk can count."""


class Ending(NamedTuple):
    """The complex events that end at some events.

    Attributes
    ----------
    roots : Roots
    ends : StreamEnds
        `latest` is an upper bound of the latest start, and exact where the structure is `exact`.
    """

    roots: Roots
    ends: StreamEnds


class TimedAnswers(Structure):
    """The complex events at some ends, in the structure of an automaton with one clock as it was then.

    Parameters
    ----------
    tables : ClockTables
    arena : ndarray, shape (capacity, COLUMNS), int64
        Nodes that are added later change nothing.
    ending : Ending
        The ends.
    events : SpanEvents
        The events that the complex events consist of.
    number : ndarray, shape (events,), int64, optional
        The numbers that these have in blocks, if they have others there.
    """

    fill = staticmethod(walks.fill)

    def __init__(
        self,
        tables: ClockTables,
        arena: np.ndarray,
        ending: Ending,
        events: SpanEvents,
        number: np.ndarray | None = None,
    ) -> None:
        self.clocked = tables
        self.arena = arena
        self.roots = ending.roots
        self.symbols = events.symbols
        self.n_nodes = len(arena)
        self._events = events
        self._ending = ending
        self._number = number
        ends, counts = ending.ends, counted(arena, ending)
        self.hits = CountedHits(np.array([0, len(ends.event)], np.int64), ends.event, ends.lowest, counts)

    def blocks(
        self, order: np.ndarray | None = None, limit: int | None = None, size: int | None = None
    ) -> Iterator[Block]:
        """The complex events of some ends; as `Structure.blocks`."""
        number = self._number
        for block in super().blocks(order, limit, size):
            if number is not None:
                block = block._replace(start=number[block.start], event=number[block.event])
            yield block

    def ordered(self, hit: int, limit: int | None, size: int) -> Iterator[Block]:
        """The complex events of one end that has many, in canonical order; as `Structure.ordered`.

        If memory allows it, they are found and sorted at once; otherwise they are found one by one.
        """
        if limit is None or limit > BULK_COUNT:
            # All are walked through anyway: a table of what each node stands for takes far longer.
            number = counted(self.arena, some_ends(self._ending, np.array([hit])), MOST_SORTED)[0]
            if number <= MOST_SORTED:
                yield from self._sorted(hit, int(number), limit, size)
                return
        lowest, end = int(self.hits.lowest[hit]), int(self.hits.event[hit])
        span = self._events.span(lowest, end, self.clocked.sense)
        yield from timed_ordered_blocks(self.clocked, span, hit, limit, size)

    def _sorted(self, hit: int, number: int, limit: int | None, size: int) -> Iterator[Block]:
        """The `number` complex events of one end, found and sorted at once."""
        counts = np.full(hit + 1, number, np.int64)
        wanted = number if limit is None else min(number, limit)
        order, stack, marks = np.array([hit], np.int64), 1 << 16, 4 * number
        status = HIT_TOO_LARGE
        while status != DONE:
            found = UnsortedAnswers(
                *(np.empty(number, np.int32) for _ in range(3)),
                *(np.empty(marks, np.int32) for _ in range(2)),
            )
            pending, path = np.empty((3, stack), np.int64), np.empty((2, stack), np.int64)
            sorting = SortScratch(*np.empty((2, number), np.int32), np.zeros(256, np.int64))
            block = Block(
                *np.empty((2, wanted), np.int64), np.empty(wanted + 1, np.int64), np.empty(marks, np.int64),
                np.empty(marks, np.int32),
            )  # fmt: skip
            progress = np.zeros(3, np.int64)
            status = walks.fill(
                ForestNodes(self.arena, self.roots), self.hits._replace(counts=counts), order, wanted,
                BulkScratch(found, WalkStack(pending, path), sorting), block, progress,
            )  # fmt: skip
            if status == MISMATCH:
                raise self.mismatch(hit)
            marks, stack = 2 * marks, 2 * stack
        n_marks = int(progress[2])
        yield from _shares(block._replace(event=block.event[:n_marks], label=block.label[:n_marks]), size)


def counted(arena: np.ndarray, ending: Ending, most: int = BULK_COUNT) -> np.ndarray:
    """Count the complex events of each end, up to `most`: `most` + 1 stands for more; shape (ends,)."""
    counts, stack = np.empty(len(ending.ends.event), np.int64), STACK
    while True:
        walks.count_up_to(
            arena, ending.roots, ending.ends.lowest, most, counts, np.empty((2, stack), np.int64)
        )
        if (counts >= 0).all():
            return counts
        stack *= 4


def _shares(block: Block, size: int) -> Iterator[Block]:
    for low in range(0, len(block.start), size):
        yield block.part(low, min(low + size, len(block.start)))


def latest_starts(arena: np.ndarray, ending: Ending) -> np.ndarray:
    """The latest start of the complex events of each end, shape (ends,), int64."""
    found, stack = np.empty(len(ending.ends.event), np.int64), STACK
    while True:
        scratch = np.empty((2, stack), np.int64)
        walks.latest_starts(arena, ending.roots, ending.ends.lowest, found, scratch)
        if (found > -2).all():
            return found
        stack *= 4


def some_ends(ending: Ending, which: np.ndarray) -> Ending:
    """Some of the ends, by their numbers."""
    roots = some_of(ending.roots, which)
    return Ending(roots, StreamEnds(*(each[which] for each in ending.ends)))

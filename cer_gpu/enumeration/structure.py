"""The persistent structure of the complex events of many hits, and their bulk enumeration.

`build` makes the nodes of segments that have hits, in one flat arena. The nodes then do not change, so the
hits can be enumerated in any order and by any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from cer_gpu.enumeration.blocks import BULK_COUNT, BULK_MARKS, longer
from cer_gpu.enumeration.ordered_enumeration import ordered_blocks
from cer_gpu.kernels.arena.contract import HIT_TOO_LARGE, MISMATCH
from cer_gpu.kernels.forest import cpu_enumerate as paths
from cer_gpu.kernels.forest import cpu_nodes as nodes
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
from cer_gpu.kernels.runs.contract import SegmentHits, TransitionTables

MARKS = 64
"""There is room for this many marks of each complex event of a block, where those of one hit have more."""

MOST_MARKS = 1 << 23
"""A hit whose complex events have more marks in all has them found one by one in order."""

NODES_OF_HIT = 8
"""Room for this many nodes for each hit at first: patterns of a few steps have half as many."""

BLOCK = 1 << 17
"""About how many complex events a block has, unless the caller wants another size."""


class Structure:
    """The nodes of segments and the roots of their hits, from the last `build`.

    Parameters
    ----------
    tables : TransitionTables

    Attributes
    ----------
    arena : ndarray, shape (capacity, 4), int64
        The nodes (`cer_gpu.kernels.forest.cpu_nodes`); the first `n_nodes` rows are in use.
    n_nodes : int
    roots : Roots
    hits : CountedHits
    symbols : ndarray, shape (events,)
        The symbols that the hits' events index.
    """

    sharing: Literal["ends"] = "ends"

    fill = staticmethod(paths.fill)
    """Writes the complex events of hits into a block."""

    def __init__(self, tables: TransitionTables) -> None:
        self.tables = tables
        self.arena = np.empty((1024, 4), dtype=np.int64)
        self.symbols = np.zeros(0, dtype=np.uint8)
        self.n_nodes = 0
        self.roots = empty_roots(0, 0)
        self.hits = CountedHits(*(np.zeros(size, dtype=np.int64) for size in (1, 0, 0, 0)))

    @property
    def count(self) -> np.ndarray:
        """How many complex events each hit has, shape (hits,)."""
        return self.hits.counts

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing the first `limit` complex events of each hit takes: shape (hits,)."""
        return self.count if limit is None else np.minimum(self.count, limit)

    def build(
        self,
        symbols: np.ndarray,
        begin: np.ndarray,
        stop: np.ndarray,
        hits: CountedHits,
    ) -> None:
        """Build the nodes of segments and the roots of their hits; they replace those of the last `build`.

        Parameters
        ----------
        symbols : ndarray, shape (events,), uint8 or uint16
        begin, stop : ndarray, shape (segments,), int64
            Events begin .. stop - 1 of each segment are run.
        hits : CountedHits
        """
        n_slots = 2 * self.tables.n_live + 2
        slots = np.zeros((n_slots, nodes.ITEM + self.tables.n_live + 2), dtype=np.int64)
        states = np.zeros((nodes.ROWS, n_slots), dtype=np.int64)
        progress = np.zeros(nodes.WORDS, dtype=np.int64)
        n_hits = hits.event.size
        ends = SegmentHits(hits.first, hits.event, hits.lowest)
        roots = empty_roots(n_hits, n_hits + int(np.diff(self.tables.first).max(initial=0)))
        if len(self.arena) < NODES_OF_HIT * n_hits:
            # Memory that is not written costs nothing; a full arena has to be copied.
            self.arena = np.empty((NODES_OF_HIT * n_hits, self.arena.shape[1]), dtype=np.int64)
        status = nodes.ARENA_FULL
        while status != nodes.DONE:
            status = nodes.build(
                self.tables,
                symbols,
                begin,
                stop,
                ends,
                self.arena,
                roots,
                slots,
                states,
                progress,
            )
            if status == nodes.ARENA_FULL:
                self.arena = longer(self.arena)
            elif status == nodes.ROOTS_FULL:
                roots = Roots(roots.first, longer(roots.label), longer(roots.node))
        self.n_nodes = int(progress[nodes.NODES])
        self.roots = roots
        self.hits = hits
        self.symbols = symbols

    def blocks(
        self, order: np.ndarray | None = None, limit: int | None = None, size: int | None = None
    ) -> Iterator[Block]:
        """The complex events of the last build's hits, each hit's in canonical order.

        Parameters
        ----------
        order : ndarray, shape (m,), int64, optional
            The hits to enumerate, in this order; by default all of them, by number.
        limit : int, optional
            The most complex events of each hit: the first in canonical order (start, marked events, labels).
        size : int, optional
            The most complex events in a block, and the most of one hit that are found and sorted at once;
            `BLOCK` if None.

        Yields
        ------
        Block
            No block is empty, and none is overwritten later.

        Raises
        ------
        RuntimeError
            If the structure has not as many complex events as were counted for a hit.
        """
        hits = self.hits
        size = BLOCK if size is None else max(size, 1)
        if order is None:
            order = np.arange(hits.event.size, dtype=np.int64)
        most = 2**62 if limit is None else limit
        count = hits.counts
        if count.dtype == object:
            count = np.minimum(count, 2**62).astype(np.int64)
        largest = min(int(count[order].max(initial=0)), bulk_count(limit), size)
        counted = hits._replace(counts=count)
        scratch, larger = _scratch(largest), 0
        progress = np.zeros(3, dtype=np.int64)
        total = float(np.minimum(count[order], most).astype(np.float64).sum())
        while progress[0] < order.size:
            capacity = max(int(min(size, total)), largest)
            block = _block(capacity, max(8 * capacity, scratch.found.event.size))
            progress[1:] = 0
            status = self.fill(
                ForestNodes(self.arena, self.roots), counted, order, most, scratch, block, progress
            )
            n, n_marks = int(progress[1]), int(progress[2])
            if n:
                total -= n
                yield Block(
                    block.hit[:n],
                    block.start[:n],
                    block.first[: n + 1],
                    block.event[:n_marks],
                    block.label[:n_marks],
                )
            if status == HIT_TOO_LARGE:
                hit = int(order[progress[0]])
                if count[hit] <= largest and scratch.found.event.size < min(MOST_MARKS, MARKS * size):
                    # Not many complex events, but long ones.
                    larger += 1
                    scratch = _scratch(largest, larger)
                    continue
                progress[0] += 1
                total -= min(float(count[hit]), most)
                yield from self.ordered(hit, limit, size)
            elif status == MISMATCH:
                raise self.mismatch(int(order[progress[0]]))

    def ordered(self, hit: int, limit: int | None, size: int) -> Iterator[Block]:
        """The complex events of one hit, found one by one in canonical order; parameters as for `blocks`."""
        lowest, end = int(self.hits.lowest[hit]), int(self.hits.event[hit])
        return ordered_blocks(self.tables, self.symbols, hit, lowest, end, limit=limit, size=size)

    def mismatch(self, hit: int) -> RuntimeError:
        """The error for a hit whose nodes and count do not agree."""
        return RuntimeError(
            f"the structure does not hold the {self.hits.counts[hit]} matches counted at event "
            f"{self.hits.event[hit]}"
        )


def bulk_count(limit: int | None) -> int:
    """The most complex events of a hit that are found and sorted, if the first `limit` are wanted."""
    return BULK_COUNT if limit is None else min(BULK_COUNT, max(4096, 4 * limit))


def joined(structures: Sequence[Structure]) -> Structure:
    """Join the nodes and the hits of several structures, numbered one structure after another.

    For the structures of units that several threads built over the same symbols.
    """
    if len(structures) == 1:
        return structures[0]
    whole = Structure(structures[0].tables)
    base = np.cumsum([0, *(one.n_nodes for one in structures)])
    whole.arena = np.concatenate([one.arena[: one.n_nodes] for one in structures])
    for low, high in pairwise(base[1:].tolist()):
        rows = whole.arena[low:high]
        label = rows[:, nodes.LABEL].copy()  # contiguous, as it is read twice
        # Every row is added to, 0 where the number is none of a node: that takes less than to choose rows.
        rows[:, nodes.LEFT] += low * (label != nodes.BOTTOM)
        rows[:, nodes.RIGHT] += low * (label == nodes.UNION)
    whole.n_nodes = int(base[-1])
    used = [int(one.roots.first[-1]) for one in structures]
    root_base = np.cumsum([0, *used])
    whole.roots = Roots(
        np.concatenate(
            [*(one.roots.first[:-1] + k for one, k in zip(structures, root_base)), root_base[-1:]]
        ),
        np.concatenate([one.roots.label[:n] for one, n in zip(structures, used)]),
        np.concatenate([one.roots.node[:n] + k for one, n, k in zip(structures, used, base)]),
    )
    hit_base = np.cumsum([0, *(one.hits.event.size for one in structures)])
    whole.hits = CountedHits(
        np.concatenate([*(one.hits.first[:-1] + k for one, k in zip(structures, hit_base)), hit_base[-1:]]),
        np.concatenate([one.hits.event for one in structures]),
        np.concatenate([one.hits.lowest for one in structures]),
        np.concatenate([one.hits.counts for one in structures]),
    )
    whole.symbols = structures[0].symbols
    return whole


def empty_roots(n_hits: int, capacity: int) -> Roots:
    """Room for `capacity` roots of `n_hits` hits."""
    return Roots(
        np.zeros(n_hits + 1, dtype=np.int64),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int64),
    )


def _scratch(count: int, larger: int = 0) -> BulkScratch:
    """Scratch for hits with `count` complex events, for longer ones with each step of `larger`."""
    n_marks = min(BULK_MARKS, max(64 * count, 4096)) << 2 * larger
    stack = 4096 << 2 * larger
    found = UnsortedAnswers(
        *(np.empty(count, dtype=np.int32) for _ in range(3)),
        *(np.empty(n_marks, dtype=np.int32) for _ in range(2)),
    )
    # The third row of `pending` is for automata with a clock.
    pending, path = np.empty((3, 4 * stack), dtype=np.int64), np.empty((2, stack), dtype=np.int64)
    order, spare = (np.empty(count, dtype=np.int32) for _ in range(2))
    sorting = SortScratch(order, spare, np.zeros(256, dtype=np.int64))
    return BulkScratch(found, WalkStack(pending, path), sorting)


def _block(count: int, n_marks: int) -> Block:
    return Block(
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.int64),
        np.empty(count + 1, dtype=np.int64),
        np.empty(n_marks, dtype=np.int64),
        np.empty(n_marks, dtype=np.int32),
    )

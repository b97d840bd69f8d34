"""The persistent structure of joins on the host: built for the hits of a chunk, counted and enumerated.

The arrays are those of `cer_gpu.kernels.joins`. This module calls its kernels, makes room for their results,
and cuts the answers into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.blocks import AnswerBlock, TupleBlock, gathered, in_parts, longer, numbers_joined
from cer_gpu.enumeration.rows import FoundRows, found_rows
from cer_gpu.errors import LimitError
from cer_gpu.kernels.forest.contract import Block, CountedHits
from cer_gpu.kernels.joins import cpu_counts as join_counts
from cer_gpu.kernels.joins import cpu_enumerate as join_answers
from cer_gpu.kernels.joins import cpu_nodes as join_nodes
from cer_gpu.kernels.joins import cpu_order as join_order
from cer_gpu.kernels.joins.contract import (
    COLUMNS,
    FEW,
    AnswerScratch,
    ChosenRows,
    JoinTables,
    KeyedEvents,
    NodeWeights,
    ProductNodes,
)
from cer_gpu.kernels.joins.cpu_build import build
from cer_gpu.kernels.loop.nodes import LINKS
from cer_gpu.kernels.runs.contract import SegmentHits

BULK_ROWS = 1 << 20
"""About the most answers of a block: enough that they are found at neighbouring nodes."""

MOST_ROWS = 1 << 26
"""The most answers of one end that can be listed: they are sorted before the first is given."""

MOST_NODES = 1 << 30
"""An array of nodes or links with more rows is not doubled any more: rows are numbered in 32 bits."""

Share: TypeAlias = Callable[[str, Callable[[Any], Any], Iterable[Any]], list[Any]]
"""Calls a function for many items: `Workers.map`, or `one_by_one`."""


def one_by_one(phase: str, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """The results of a function for each item, computed by one thread."""
    return [function(item) for item in items]


class ListedUnit(Protocol):
    """The answers of some segments of a chunk, in whatever structure holds them.

    Attributes
    ----------
    hits : CountedHits
        `counts` is 2^62 where the number does not fit.
    rows : FoundRows or None
        All answers of all hits, if they have been found already.
    """

    hits: CountedHits
    rows: FoundRows | None

    def found(self, label_atoms: np.ndarray, hits: np.ndarray, room: int) -> FoundRows | None:
        """The answers of some hits, in the order in which they are found; None for more than `room`."""

    def exact_counts(self) -> np.ndarray:
        """How many answers each hit has, as Python integers if some numbers do not fit."""


class Products:
    """The structure of some segments of a chunk: nodes, and the roots of their hits.

    Parameters
    ----------
    tables : JoinTables
    capacity : int, optional
        Room for this many nodes at first; a full array is enlarged.

    Attributes
    ----------
    arena : ndarray, shape (nodes, 8), int32
    children : ndarray, shape (links,), int32
    root_first : ndarray, shape (hits + 1,), int64
    root_node : ndarray, shape (roots,), int32
    hits : CountedHits
        `count` is 2^62 where the number does not fit.
    rows : FoundRows or None
        All answers of all hits, if they are wanted and few; then the nodes are gone.
    """

    def __init__(self, tables: JoinTables, capacity: int | None = None) -> None:
        self.tables = tables
        self._capacity = capacity
        self.arena = np.empty((0, join_nodes.COLUMNS), np.int32)
        self.children = np.empty(0, np.int32)
        self.root_first = np.zeros(1, np.int64)
        self.root_node = np.empty(0, np.int32)
        self.hits = CountedHits(np.zeros(1, np.int64), *(np.empty(0, np.int64) for _ in range(3)))
        self.rows: FoundRows | None = None

    def build(
        self,
        events: KeyedEvents,
        begin: np.ndarray,
        stop: np.ndarray,
        first: np.ndarray,
        event: np.ndarray,
        lowest: np.ndarray,
        label_atoms: np.ndarray | None = None,
    ) -> None:
        """Build the nodes of segments for their hits, and count or list the answers of the hits.

        Parameters
        ----------
        events : KeyedEvents
        begin, stop : ndarray, shape (segments,), int64
        first : ndarray, shape (segments + 1,), int64
            The hits of segment g are first[g] .. first[g + 1] - 1.
        event, lowest : ndarray, shape (hits,), int64
            The event of each hit, and its least admissible start, which does not decrease in a segment.
        label_atoms : ndarray, shape (labels, atoms), uint8, optional
            As for `JoinAnswers`; if given, few answers are listed at once.

        Raises
        ------
        LimitError
            If there are more nodes than can be numbered.
        """
        tables, capacity = self.tables, self._capacity
        total = int((stop - begin).sum())
        capacity = 2 * total if capacity is None else capacity
        room = ProductNodes(
            np.empty((capacity, COLUMNS), np.int32),
            np.empty(capacity // 2, np.int32),
            np.zeros(len(event) + 1, np.int64),
            np.empty(capacity // 4, np.int32),
        )

        def enlarged(nodes: ProductNodes, lacks: int, most: int) -> ProductNodes:
            if max(len(nodes.arena), len(nodes.children)) > MOST_NODES:
                raise LimitError(
                    f"the matches of a join of {total:,} events take more than {MOST_NODES:,} nodes: narrow "
                    "the window or the filters"
                )
            if lacks == join_nodes.NODES:
                return nodes._replace(arena=longer(nodes.arena, most))
            if lacks == LINKS:
                return nodes._replace(children=longer(nodes.children, most))
            return nodes._replace(root_node=longer(nodes.root_node, most))

        made = build(tables, events, begin, SegmentHits(first, event, lowest), room, enlarged)
        self.arena, self.children, self.root_first, self.root_node = made
        self.hits = CountedHits(first, event, lowest, lowest)
        if label_atoms is not None:
            self.rows = self.found(label_atoms, np.arange(len(event)), FEW * len(event))
        if self.rows is None:
            self.hits = CountedHits(first, event, lowest, self._counts(lowest))
        else:
            self.hits = CountedHits(first, event, lowest, np.diff(self.rows.begin))
            self.arena, self.children = np.empty_like(self.arena[:0]), np.empty_like(self.children[:0])
            self.root_first, self.root_node = (
                np.zeros_like(self.root_first),
                np.empty_like(self.root_node[:0]),
            )

    def found(self, label_atoms: np.ndarray, hits: np.ndarray, room: int) -> FoundRows | None:
        """The answers of some hits, in the order in which they are found.

        Parameters
        ----------
        label_atoms : ndarray, shape (labels, atoms), uint8
            As for `JoinAnswers`.
        hits : ndarray, shape (n,), int64
            Numbers of hits; the result numbers them by their place in this array.
        room : int
            The result is None if there are more answers than this.
        """
        atoms = label_atoms.shape[1]
        nodes = ProductNodes(self.arena, self.children, self.root_first, self.root_node)

        def scratch(depth: int) -> AnswerScratch:
            return AnswerScratch(
                label_atoms,
                np.empty(64 * depth, np.int32),
                np.empty((depth, join_answers.CHOICE), np.int32),
                np.empty((64 * depth, 2), np.int32),
                np.empty(max(atoms, 1), np.int32),
            )

        return found_rows(join_answers.fill, nodes, hits, self.hits.lowest, room, scratch, atoms)

    def exact_counts(self) -> np.ndarray:
        """How many answers each hit has, as Python integers if some numbers do not fit."""
        large = np.flatnonzero(self.hits.counts >= join_counts.LARGEST)
        if not len(large):
            return self.hits.counts
        counts = self.hits.counts.astype(object)
        for hit in large.tolist():
            roots = self.root_node[self.root_first[hit] : self.root_first[hit + 1]]
            lowest = int(self.hits.lowest[hit])
            counts[hit] = join_counts.count_exactly(self.arena, self.children, roots, lowest)
        return counts

    def _counts(self, lowest: np.ndarray) -> np.ndarray:
        nodes = len(self.arena)
        # A copied node refers to the same children as its original, so links are counted by node.
        links = int(self.arena[:, join_nodes.CHILDREN].sum())
        weights = NodeWeights(
            total=np.empty(nodes, np.int64),
            earliest=np.empty(nodes, np.int32),
            jump=np.empty(nodes, np.int32),
            memo_hit=np.full(nodes, -1, np.int32),
            memo=np.empty(nodes, np.int64),
            stack=np.empty(2 * nodes + links + 1, np.int32),
        )
        join_counts.weigh(self.arena, self.children, weights)
        count = np.empty(len(lowest), np.int64)
        join_counts.count_hits(
            self.arena, self.children, weights, self.root_first, self.root_node, lowest, count
        )
        return count


class JoinAnswers:
    """The answers of a chunk, in the structures of its units.

    Parameters
    ----------
    units : sequence of ListedUnit
        Each numbers its events from 0 on.
    lows : sequence of int
        For each unit, the event of the chunk that is its event 0.
    label_atoms : ndarray, shape (labels, atoms), uint8
        1 where a label fills an atom of the rule; without atoms the answers are marks.
    window : AttributeWindow or None
        A window that is no interval of events: answers are checked against it when they are listed.
    share : callable
        Shares the units out to threads.

    Attributes
    ----------
    event : ndarray, shape (hits,), int64
        The event at which the answers of each hit end.
    count : ndarray, shape (hits,), int64
        How many answers each hit has, 2^62 where the number does not fit.
    """

    sharing: Literal["blocks"] = "blocks"

    def __init__(
        self,
        units: Sequence[ListedUnit],
        lows: Sequence[int],
        label_atoms: np.ndarray,
        window: AttributeWindow | None = None,
        share: Share = one_by_one,
    ) -> None:
        self._units = units
        self._share = share
        self._lows = lows
        self._label_atoms = label_atoms
        self._window = window
        self._base = np.cumsum([0, *(len(unit.hits.event) for unit in units)])
        self.event = np.concatenate([unit.hits.event + low for unit, low in zip(units, lows, strict=True)])
        self.count = self._listed = np.concatenate([unit.hits.counts for unit in units])
        if window is not None:
            found = [block.hit for block in self.blocks(np.arange(len(self.event)))]
            self.count = np.bincount(
                np.concatenate([np.empty(0, np.int64), *found]), minlength=len(self.event)
            )

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing the first `limit` answers of each hit takes, shape (hits,)."""
        return self.count if limit is None else np.minimum(self.count, limit)

    def exact_counts(self) -> np.ndarray:
        """How many answers each hit has, as Python integers if some numbers do not fit."""
        if self._window is not None:
            return self.count
        return numbers_joined([unit.exact_counts() for unit in self._units])

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[AnswerBlock]:
        """The answers of some hits, hit after hit in the given order, each hit's in canonical order.

        Canonical order is by start, then by the positions of the atoms, or by the marked events and labels.

        Parameters
        ----------
        order : ndarray, shape (hits,), int64
            Numbers of hits.
        limit : int, optional
            The most answers of each hit: the first ones.
        size : int, optional
            About how many answers a block has; `BULK_ROWS` if None.

        Raises
        ------
        LimitError
            If a hit has more answers than can be sorted.
        """
        counts = self._listed[order]
        rows = BULK_ROWS if size is None else min(size, BULK_ROWS)
        for done, stop, _ in in_parts(np.minimum(counts, MOST_ROWS + 1), rows):
            most = int(counts[done:stop].max())
            if most > MOST_ROWS:
                raise LimitError(
                    f"{most:,} matches end at one event, and at most {MOST_ROWS:,} can be listed: ask for "
                    "count or hits, or narrow the window"
                )
            block = self._block(order[done:stop], counts[done:stop], limit)
            if len(block.hit):
                yield block

    def _block(self, hits: np.ndarray, counts: np.ndarray, limit: int | None) -> AnswerBlock:
        if self._window is not None:
            return self._admitted(self._arranged(hits, counts), self._window, limit)
        return self._arranged(hits, counts if limit is None else np.minimum(counts, limit))

    def _arranged(self, hits: np.ndarray, taken: np.ndarray) -> AnswerBlock:
        """The first `taken` answers of each hit, found in the order in which the nodes lie in memory."""
        atoms = self._label_atoms.shape[1]
        rows = int(taken.sum())
        row, wanted = np.empty(len(self.event), np.int64), np.zeros(len(self.event), np.int64)
        hit = np.empty(rows, np.int64)
        join_order.reserve(hits, taken, row, wanted, hit)
        in_memory = np.flatnonzero(wanted)
        cuts = np.searchsorted(in_memory, self._base)
        start = np.empty(rows, np.int64)
        first = np.zeros(0 if atoms else rows + 1, np.int64)
        event, label = np.empty(rows * atoms, np.int64), np.empty(0, np.int32)

        def place(found: ChosenRows) -> None:
            join_order.arrange(found, atoms, first, start, event, label)

        def find(number: int) -> ChosenRows | None:
            mine = in_memory[cuts[number] : cuts[number + 1]]
            found = self._chosen(number, mine, row[mine], wanted[mine])
            if atoms:
                place(found)
                return None
            join_order.lengths(found, first)
            return found

        chosen = self._share("listing", find, np.flatnonzero(np.diff(cuts)).tolist())
        if atoms:
            return TupleBlock(hit, start, event.reshape(-1, atoms))
        # Where the marks of each belong is known only now.
        np.cumsum(first, out=first)
        event, label = np.empty(int(first[-1]), np.int64), np.empty(int(first[-1]), np.int32)
        self._share("listing", place, chosen)
        return Block(hit, start, first, event, label)

    def _admitted(self, block: AnswerBlock, window: AttributeWindow, limit: int | None) -> AnswerBlock:
        """The answers that a window admits, at most `limit` of each hit."""
        chosen = np.flatnonzero(window.keeps(block.start, self.event[block.hit]))
        if limit is not None:
            chosen = chosen[_rank(block.hit[chosen]) < limit]
        if isinstance(block, TupleBlock):
            return TupleBlock(block.hit[chosen], block.start[chosen], block.event[chosen])
        return gathered(block, chosen)

    def _chosen(self, number: int, hits: np.ndarray, row: np.ndarray, taken: np.ndarray) -> ChosenRows:
        """The answers of some hits of one unit, in the order in which they are found."""
        unit = self._units[number]
        local = hits - self._base[number]
        if unit.rows is not None:
            found, begin = unit.rows, unit.rows.begin[local]
        else:
            listed = int(self._listed[hits].sum())
            listing = unit.found(self._label_atoms, local, listed)
            if listing is None or int(listing.begin[-1]) != listed:
                raise RuntimeError(f"the structure does not hold {listed} matches, as many as were counted")
            found, begin = listing, listing.begin[:-1]
        return ChosenRows(found.rows, found.order, begin, row, taken, self._lows[number])


def _rank(groups: np.ndarray) -> np.ndarray:
    """The place of each row in its group; the rows of a group are neighbours."""
    new = np.ones(len(groups), bool)
    new[1:] = groups[1:] != groups[:-1]
    begin = np.flatnonzero(new)
    return np.arange(len(groups)) - np.repeat(begin, np.diff(np.append(begin, len(groups))))

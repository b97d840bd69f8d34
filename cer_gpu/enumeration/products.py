"""The persistent structure of joins on the host: built for the hits of a chunk, counted, enumerated.

The arrays are `cer_gpu.kernels.gather_nodes`; this is what calls its kernels, gives them room, and cuts the
answers into blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cer_gpu.enumeration.ordered import AttributeWindow
from cer_gpu.enumeration.structure import Hits
from cer_gpu.errors import LimitError
from cer_gpu.kernels import gather_counts, gather_nodes, gather_paths
from cer_gpu.kernels.gather_tables import GatherTables
from cer_gpu.kernels.paths import Block

BULK_ROWS = 1 << 16
"""Answers of a block, about."""

MOST_ROWS = 1 << 26
"""Answers that one end may have to be listed: they are sorted before the first is given."""


@dataclass(frozen=True, slots=True)
class KeyedEvents:
    """What the kernels read of the events of a chunk.

    Attributes
    ----------
    symbols : ndarray, shape (n,), uint8 or uint16
    slots : ndarray, shape (columns, n), int32
    places : ndarray, shape (n,) or (0,), int64
    offset : ndarray, shape (entries + 1,), int64
        Where each entry of the look-up table begins, and its size.
    """

    symbols: np.ndarray
    slots: np.ndarray
    places: np.ndarray
    offset: np.ndarray


class RuleBlock(NamedTuple):
    """Answers of a rule.

    Attributes
    ----------
    hit : ndarray, shape (n,), int64
        The number of the hit at which each ends.
    start : ndarray, shape (n,), int64
    event : ndarray, shape (n, atoms), int64
    """

    hit: np.ndarray
    start: np.ndarray
    event: np.ndarray


class Products:
    """The structure of some segments of a chunk.

    Parameters
    ----------
    tables : GatherTables
    label_atoms : ndarray, shape (labels, atoms), uint8
        Which atoms of a rule a label fills; without atoms answers are marks.
    window : AttributeWindow or None
        What answers are held against when they are listed, where it is no interval of events.
    """

    def __init__(
        self, tables: GatherTables, label_atoms: np.ndarray, window: AttributeWindow | None = None
    ) -> None:
        self.tables = tables
        self.label_atoms = label_atoms
        self.window = window
        self._held = np.empty(0, np.int64)
        self.arena = np.empty((0, gather_nodes.COLUMNS), np.int64)
        self.children = np.empty(0, np.int64)
        self.root_first = np.zeros(1, np.int64)
        self.root_node = np.empty(0, np.int64)
        self.n_nodes = 0
        self.hits = Hits(np.zeros(1, np.int64), *(np.empty(0, np.int64) for _ in range(3)))

    def build(
        self, events: KeyedEvents, begin: np.ndarray, stop: np.ndarray, first: np.ndarray, event: np.ndarray,
        lowest: np.ndarray,
    ) -> None:  # fmt: skip
        """Build the nodes of segments, for their hits, and count the answers of these.

        Parameters
        ----------
        events : KeyedEvents
        begin, stop : ndarray, shape (segments,), int64
        first : ndarray, shape (segments + 1,), int64
            The hits of segment g are first[g] .. first[g + 1] - 1.
        event, lowest : ndarray, shape (hits,), int64
            Where each ends, and the least admissible start.
        """
        tables = self.tables
        total = int((stop - begin).sum())
        arena = np.empty((2 * total + 4096, gather_nodes.COLUMNS), np.int64)
        children = np.empty(total + 1024, np.int64)
        root_node = np.empty(len(event) + 1024, np.int64)
        root_first = np.zeros(len(event) + 1, np.int64)
        table = np.full(int(events.offset[-1]), -1, np.int64)
        fired = np.empty((tables.n_fired, 2), np.int64)
        progress = np.zeros(gather_nodes.WORDS, np.int64)
        path = np.empty((gather_nodes.PATH, 2), np.int64)
        room = np.array([tables.n_fired, tables.n_reads, tables.n_stores], np.int64)
        while True:
            status = gather_nodes.build(
                *tables, events.offset, events.symbols, events.slots, events.places, begin, stop, first,
                event, lowest, table, arena, children, root_first, root_node, fired, path, room, progress,
            )  # fmt: skip
            if status == gather_nodes.DONE:
                break
            if status == gather_nodes.ARENA_FULL:
                arena = _longer(arena, int(progress[gather_nodes.NEEDED]))
            elif status == gather_nodes.CHILDREN_FULL:
                children = _longer(children, int(room[1]))
            else:
                root_node = _longer(root_node, int(room[0]))
        self.n_nodes = int(progress[gather_nodes.NODES])
        self.arena, self.children = arena[: self.n_nodes], children[: int(progress[gather_nodes.LINKS])]
        self.root_first, self.root_node = root_first, root_node
        self.hits = Hits(first, event, lowest, np.zeros(len(event), np.int64))

    def shift(self, low: int) -> None:
        """Number all events from `low` on: they were those of a piece of a chunk."""
        self.arena[:, gather_nodes.EVENT] += low
        self.arena[:, gather_nodes.LATEST] += low
        self.hits = replace(self.hits, event=self.hits.event + low, lowest=self.hits.lowest + low)

    def count(self) -> None:
        """Find how many answers each hit has."""
        self._held = self._counts(self.hits.lowest)
        counts = self._held
        if self.window is not None:
            rows = [np.empty(0, np.int64), *(block.hit for block in self.blocks(np.arange(len(counts))))]
            counts = np.bincount(np.concatenate(rows), minlength=len(counts))
        self.hits = replace(self.hits, count=counts)

    def exact_counts(self) -> np.ndarray:
        """How many answers each hit has, as Python integers where some do not fit."""
        large = np.flatnonzero(self.hits.count >= gather_counts.LARGEST)
        if not len(large) or self.window is not None:
            return self.hits.count
        counts = self.hits.count.astype(object)
        for hit in large.tolist():
            counts[hit] = gather_counts.count_exactly(
                self.arena, self.children, self.root_node[self.root_first[hit] : self.root_first[hit + 1]],
                int(self.hits.lowest[hit]),
            )  # fmt: skip
        return counts

    def _counts(self, lowest: np.ndarray) -> np.ndarray:
        total = np.empty(self.n_nodes, np.int64)
        earliest = np.empty(self.n_nodes, np.int64)
        gather_counts.weigh(self.arena, self.children, total, earliest)
        memo_hit = np.full(self.n_nodes, -1, np.int64)
        memo = np.empty(self.n_nodes, np.int64)
        stack = np.empty(3 * self.n_nodes + len(self.children) + 1, np.int64)
        count = np.empty(len(lowest), np.int64)
        gather_counts.count_hits(
            self.arena, self.children, total, earliest, memo_hit, memo, stack, self.root_first,
            self.root_node, lowest, count,
        )  # fmt: skip
        return count

    def blocks(self, order: np.ndarray, limit: int | None = None) -> Iterator[Block | RuleBlock]:
        """The answers of some hits, hit after hit in the given order, each hit's in canonical order.

        That is by start, then by the positions of the atoms; of marks, by events and then labels.

        Parameters
        ----------
        order : ndarray, shape (hits,), int64
            Numbers of hits.
        limit : int, optional
            The first so many of each hit only.

        Raises
        ------
        LimitError
            For a hit with more answers than can be sorted.
        """
        counts = self._held[order]
        if len(counts) and counts.max() > MOST_ROWS:
            raise LimitError(
                f"{int(counts.max()):,} answers end at one event, and {MOST_ROWS:,} can be listed: ask for "
                "count or hits, or narrow the window"
            )
        done = 0
        while done < len(order):
            sums = np.cumsum(counts[done:])
            stop = done + max(int(np.searchsorted(sums, BULK_ROWS, side="right")), 1)
            yield from self._block(order[done:stop], int(sums[stop - done - 1]), limit)
            done = stop

    def _block(self, hits: np.ndarray, rows: int, limit: int | None) -> Iterator[Block | RuleBlock]:
        atoms = self.label_atoms.shape[1]
        marks = rows * atoms if atoms else 4 * rows + 64
        depth = 64
        progress = np.zeros(3, np.int64)
        out_first = np.zeros(rows + 1, np.int64)
        event = np.empty(marks, np.int64)
        label = np.empty(0 if atoms else marks, np.int32)
        start, row_hit = np.empty(rows, np.int64), np.empty(rows, np.int64)
        places, spare = np.empty(rows, np.int64), np.empty(rows, np.int64)
        while True:
            status = gather_paths.fill(
                self.arena, self.children, hits, self.root_first, self.root_node, self.hits.lowest,
                self.label_atoms, out_first, event, label, start, places, spare,
                np.empty(64 * depth, np.int64), np.empty((depth, gather_paths.CHOICE), np.int64),
                np.empty((64 * depth, 2), np.int64), row_hit, progress,
            )  # fmt: skip
            if status == gather_paths.DONE:
                break
            if status == gather_paths.STACK_FULL:
                depth *= 2
            elif status == gather_paths.MARKS_FULL:
                event, label = _longer(event, len(event)), _longer(label, len(label))
            else:
                raise RuntimeError("the structure holds more answers than were counted")
        n = int(progress[1])
        if n != rows:
            raise RuntimeError(f"the structure holds {n} answers, and {rows} were counted")
        chosen = places[:n]
        if self.window is not None:
            chosen = chosen[self.window.keeps(start[chosen], self.hits.event[row_hit[chosen]])]
        if limit is not None:
            chosen = chosen[_rank(row_hit[chosen]) < limit]
        if not len(chosen):
            return
        if atoms:
            yield RuleBlock(row_hit[chosen], start[chosen], event[: n * atoms].reshape(n, atoms)[chosen])
            return
        length = np.diff(out_first)[chosen]
        first = np.concatenate([[0], np.cumsum(length)])
        taken = np.repeat(out_first[chosen] - first[:-1], length) + np.arange(first[-1])
        yield Block(row_hit[chosen], start[chosen], first, event[taken], label[taken])


def joined(parts: Sequence[Products]) -> Products:
    """One structure with the nodes and the hits of several, in their order."""
    if len(parts) == 1:
        return parts[0]
    whole = Products(parts[0].tables, parts[0].label_atoms, parts[0].window)
    base = np.cumsum([0, *(part.n_nodes for part in parts)])
    links = np.cumsum([0, *(len(part.children) for part in parts)])
    whole.arena = np.concatenate([part.arena for part in parts])
    for part, low, link in zip(parts, base, links):
        rows = whole.arena[low : low + part.n_nodes]
        rows[:, gather_nodes.CHILD] += link
        for side in (gather_nodes.LEFT, gather_nodes.RIGHT):
            rows[rows[:, side] >= 0, side] += low
    whole.children = np.concatenate([part.children + low for part, low in zip(parts, base)])
    whole.n_nodes = int(base[-1])
    roots = np.cumsum([0, *(int(part.root_first[-1]) for part in parts)])
    whole.root_node = np.concatenate(
        [part.root_node[: part.root_first[-1]] + low for part, low in zip(parts, base)]
    )
    whole.root_first = np.concatenate(
        [*(part.root_first[:-1] + low for part, low in zip(parts, roots)), roots[-1:]]
    )
    hits = np.cumsum([0, *(len(part.hits.event) for part in parts)])
    whole.hits = Hits(
        np.concatenate([*(part.hits.first[:-1] + low for part, low in zip(parts, hits)), hits[-1:]]),
        *(
            np.concatenate([getattr(part.hits, name) for part in parts])
            for name in ("event", "lowest", "count")
        ),
    )
    return whole


def _rank(groups: np.ndarray) -> np.ndarray:
    """The place of each row in its group; the rows of a group are neighbours."""
    new = np.ones(len(groups), bool)
    new[1:] = groups[1:] != groups[:-1]
    begin = np.flatnonzero(new)
    return np.arange(len(groups)) - np.repeat(begin, np.diff(np.append(begin, len(groups))))


def _longer(array: np.ndarray, more: int) -> np.ndarray:
    """A copy with at least `more` further rows, and twice as many."""
    longer = np.empty((max(2 * len(array), len(array) + more), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer

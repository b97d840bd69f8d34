"""The answers of joins as they are expanded from groups: found end after end, and put into blocks.

The arrays are those of `cer_gpu.kernels.joins.cpu_expansion`. This module calls the kernel and gives it room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from cer_gpu.enumeration.blocks import AnswerBlock, TupleBlock, grown, in_parts, longer
from cer_gpu.enumeration.products import BULK_ROWS
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.arena.contract import AnswerRows
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.joins import cpu_expansion as kernel
from cer_gpu.kernels.joins import cpu_order as join_order
from cer_gpu.kernels.joins.contract import (
    FEW,
    PARTS,
    PASSED,
    ChosenRows,
    ExpandedEnds,
    FilledAtoms,
    GroupStacks,
    JoinGroups,
    JoinTables,
    SlottedEvents,
)
from cer_gpu.kernels.windows.contract import MeasuredWindow

ROWS_OF_EVENT = 2
"""How many answers of each event there is room for at first; room that is full is doubled."""

AT_ONCE = 4
"""How many cells of each event there is room for, and for as much of what they have gathered."""

SOME = 64
"""How many cells there is room for in any case, and at first for choices made one after another."""


@dataclass(frozen=True, slots=True)
class ExpandedSegment:
    """The answers of a segment, in the order of its ends, or of some buckets of keys, one after another.

    Attributes
    ----------
    event, start, lowest : ndarray, shape (ends,), int64
        Where answers end, the latest start of one, and the least event that the window admits: of a bucket,
        the least of its own events.
    begin : ndarray, shape (ends + 1,), int64
        End e has the answers begin[e] .. begin[e + 1] - 1.
    rows : AnswerRows
    order : ndarray, shape (rows,), int32
        The answers of each end in canonical order.
    low : int
        The event of the chunk that is the event 0 here.
    """

    event: np.ndarray
    start: np.ndarray
    lowest: np.ndarray
    begin: np.ndarray
    rows: AnswerRows
    order: np.ndarray
    low: int


def grouped_slots(tables: JoinTables, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Where the table has the groups of each entry, so that those of one slot are neighbours.

    Parameters
    ----------
    tables : JoinTables
    counts : ndarray, shape (spaces,), int64
        How many slots there are in each space.

    Returns
    -------
    offset, stride : ndarray, shape (entries,), int64
    groups : int
        How many there are.
    """
    space = tables.entry_space
    offset, stride = np.zeros(len(space), np.int64), np.zeros(len(space), np.int64)
    groups = 0
    for number, count in enumerate(counts.tolist()):
        own = np.flatnonzero(space == number)
        offset[own] = groups + np.arange(len(own))
        stride[own] = len(own)
        groups += count * len(own)
    alone = np.flatnonzero(space < 0)
    offset[alone] = groups + np.arange(len(alone))
    return offset, stride, groups + len(alone)


@dataclass(frozen=True, slots=True)
class ListedSegment:
    """Events whose answers are listed in one pass: a segment, or those of one bucket of keys.

    Attributes
    ----------
    events : SlottedEvents
    window : MeasuredWindow
    bounds : tuple of int
        It runs from the first event on, reports the ends from the second on, and stops before the third.
    groups : int
        How many groups there are.
    index : ndarray, shape (n,), int64, or None
        The number of each event in the chunk, ascending; None where they are those of a segment.
    """

    events: SlottedEvents
    window: MeasuredWindow
    bounds: tuple[int, int, int]
    groups: int
    index: np.ndarray | None = None


class Expansion:
    """The answers of some listings, expanded one listing after another into the same arrays.

    Parameters
    ----------
    tables : JoinTables
        Without `entry_next`.
    label_atoms : ndarray, shape (labels, atoms), uint8
        1 where a label fills an atom of the rule; without atoms the answers are marks.
    longest : int
        The events of the longest listing.
    reported : int
        The events of all listings that may be ends.
    """

    def __init__(self, tables: JoinTables, label_atoms: np.ndarray, longest: int, reported: int) -> None:
        self._tables = tables
        atoms = label_atoms.shape[1]
        each = np.diff(tables.read_first)[tables.transition] + 2
        sums = np.concatenate([[0], np.cumsum(each)])
        self._made = np.array([tables.n_stores, int(np.diff(sums[tables.first]).max(initial=0))], np.int64)
        # What is never written takes no memory.
        self._cell, self._link = (
            np.empty((longest * min(int(most), AT_ONCE) + int(most), *shape), np.int32)
            for most, shape in zip(self._made, ((PARTS,), ()), strict=True)
        )
        self._ends = [np.empty(reported, np.int64) for _ in range(3)]
        self._begin = np.zeros(reported + 1, np.int64)
        self._most = FEW * max(reported, 1)
        self._depth = SOME
        room = min(ROWS_OF_EVENT * reported + SOME, self._most)
        marks = room * atoms if atoms else 4 * room + SOME
        event, label = np.empty(marks, np.int32), np.empty(0 if atoms else marks, np.int32)
        start, self._order, self._spare = (np.empty(room, np.int32) for _ in range(3))
        self._rows = AnswerRows(np.zeros(room + 1, np.int64), event, label, start)
        self._fired = np.empty((tables.n_fired, 3), np.int64)
        only = np.where(label_atoms.sum(axis=1) == 1, label_atoms.argmax(axis=1) if atoms else 0, -1)
        self._labels = FilledAtoms(label_atoms, only.astype(np.int32))
        self._stacks = _stacks(self._depth, atoms)
        self._progress = np.zeros(kernel.WORDS, np.int64)

    def add(self, part: ListedSegment) -> bool:
        """List the answers of the next listing; False where the structure is the better form.

        That is where there are more than `FEW` for each event, which are better not held at once, or where
        too many runs are looked at that lead to none (`PASSED` of the kernel).
        """
        progress = self._progress
        progress[[kernel.AT, kernel.LOW]] = part.bounds[0]
        progress[[kernel.CELLS, kernel.LINKS]] = 0
        before = progress.copy()
        table = np.full((part.groups, 2), -1, np.int32)
        bounds = np.array(part.bounds, np.int64)
        while True:
            found = self._ended()
            held = JoinGroups(table, self._cell, self._link, self._made)
            status = kernel.expand(
                self._tables, part.events, part.window, bounds, held, self._fired, self._labels, found,
                self._stacks, progress,
            )  # fmt: skip
            if status == kernel.DONE:
                break
            if status == kernel.TOO_SLOW or not self._made_room(status):
                return False
        if part.index is not None:
            kernel.renamed(found, part.index, before, progress)
        progress[kernel.STEPS] -= PASSED * (part.bounds[2] - part.bounds[0])
        return True

    def expanded(self, low: int = 0) -> ExpandedSegment:
        """What was listed; `low` as in `ExpandedSegment`."""
        n, m = int(self._progress[kernel.ENDS]), int(self._progress[kernel.ROWS])
        event, start, lowest = (one[:n] for one in self._ends)
        return ExpandedSegment(event, start, lowest, self._begin[: n + 1], self._rows, self._order[:m], low)

    def _ended(self) -> ExpandedEnds:
        return ExpandedEnds(*self._ends, self._begin, self._rows, self._order, self._spare)

    def _made_room(self, status: int) -> bool:
        """Enlarge the array that is full; False where there are too many answers."""
        atoms = self._labels.atoms.shape[1]
        rows = self._rows
        if status == kernel.STACK_FULL:
            self._depth *= 2
            self._stacks = _stacks(self._depth, atoms)
        elif status == kernel.CELLS_FULL:
            self._cell = longer(self._cell, int(self._made[0]))
        elif status == kernel.LINKS_FULL:
            self._link = longer(self._link, int(self._made[1]))
        elif status == kernel.MARKS_FULL:
            event, label = (longer(one, self._depth) for one in (rows.event, rows.label))
            self._rows = rows._replace(event=event, label=label)
        else:
            room = len(self._order)
            if room >= self._most:
                return False
            more = min(2 * room, self._most) - room
            first, start = grown(rows.first, more), grown(rows.start, more)
            self._order, self._spare = grown(self._order, more), grown(self._spare, more)
            event = grown(rows.event, more * atoms) if atoms else rows.event
            self._rows = rows._replace(first=first, event=event, start=start)
        return True


class ExpandedAnswers:
    """The answers of some ends of a chunk, expanded by several threads; an `Answers`.

    Parameters
    ----------
    parts : sequence of Expanded
    ends : ndarray, shape (ends,), int64
        The numbers of the ends among those of all parts, one part after another.
    atoms : int
        The atoms of a rule; 0 where the answers are marks.

    Attributes
    ----------
    count : ndarray, shape (ends,), int64
        How many answers each end has.
    """

    sharing: Literal["ends"] = "ends"

    def __init__(self, parts: Sequence[ExpandedSegment], ends: np.ndarray, atoms: int) -> None:
        self._parts = parts
        self._ends = ends
        self._atoms = atoms
        self._base = np.cumsum([0, *(len(part.event) for part in parts)])
        self.count = np.concatenate([np.diff(part.begin) for part in parts])[ends]

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps it takes to list the first `limit` answers of each end, shape (ends,)."""
        return self.count if limit is None else np.minimum(self.count, limit)

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[AnswerBlock]:
        """The answers of some ends, as `Answers.blocks`, each end's in canonical order."""
        taken = self.work(limit)[order]
        rows = BULK_ROWS if size is None else min(size, BULK_ROWS)
        for done, stop, total in in_parts(taken, rows):
            if total:
                yield self._block(order[done:stop], taken[done:stop], total)

    def _block(self, hits: np.ndarray, taken: np.ndarray, rows: int) -> AnswerBlock:
        """The first `taken` answers of each end, `rows` in all."""
        atoms = self._atoms
        hit = np.repeat(hits, taken)
        start = np.empty(rows, np.int64)
        first = np.zeros(0 if atoms else rows + 1, np.int64)
        event, label = np.empty(rows * atoms, np.int64), np.empty(0, np.int32)
        chosen = list(self._chosen(self._ends[hits], np.cumsum(taken) - taken, taken))
        if not atoms:
            for found in chosen:
                join_order.lengths(found, first)
            np.cumsum(first, out=first)
            event, label = np.empty(int(first[-1]), np.int64), np.empty(int(first[-1]), np.int32)
        for found in chosen:
            join_order.arrange(found, atoms, first, start, event, label)
        if atoms:
            return TupleBlock(hit, start, event.reshape(-1, atoms))
        return Block(hit, start, first, event, label)

    def _chosen(self, ends: np.ndarray, row: np.ndarray, taken: np.ndarray) -> Iterator[ChosenRows]:
        """The answers of some ends, part by part, and where they belong."""
        for number, part in enumerate(self._parts):
            low, high = int(self._base[number]), int(self._base[number + 1])
            mine = np.flatnonzero((ends >= low) & (ends < high))
            if len(mine):
                own = slice(None) if len(mine) == len(ends) else mine
                begin = part.begin[ends[own] - low]
                yield ChosenRows(part.rows, part.order, begin, row[own], taken[own], part.low)


def _stacks(depth: int, atoms: int) -> GroupStacks:
    return GroupStacks(
        np.empty((depth, kernel.CHOICE), np.int32),
        np.empty((8 * depth, 2), np.int32),
        np.empty(max(atoms, 1), np.int32),
    )

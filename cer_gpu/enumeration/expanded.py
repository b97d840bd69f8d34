"""The answers of joins as they are expanded from groups: found end after end, and put into blocks.

The arrays are those of `cer_gpu.kernels.joins.cpu_listed`. This module calls the kernel and gives it room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from cer_gpu.enumeration.blocks import AnswerBlock, TupleBlock
from cer_gpu.enumeration.products import BULK_ROWS
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.joins import cpu_listed as kernel
from cer_gpu.kernels.joins import cpu_order as join_order
from cer_gpu.kernels.joins.contract import (
    FEW,
    PARTS,
    AnswerRows,
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
"""There is room for so many answers of each event at first; what is full is doubled."""

AT_ONCE = 4
"""There is room for so many cells of each event, and as much of what they have gathered."""

SOME = 64
"""And for so many in any case; choices that can be made one after another at first."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """The answers of a segment, in the order of its ends.

    Attributes
    ----------
    event, start, lowest : ndarray, shape (ends,), int64
        Where answers end, the latest start of one, and the least event that the window admits.
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


def expanded(
    tables: JoinTables,
    events: SlottedEvents,
    window: MeasuredWindow,
    bounds: tuple[int, int, int],
    groups: int,
    label_atoms: np.ndarray,
    low: int = 0,
) -> Expanded | None:
    """The answers of a segment; None where the structure is the better form.

    That is where there are more than `FEW` for each event, which are better not held at once, or where too
    many runs are looked at that lead to none (`PASSED` of the kernel).

    Parameters
    ----------
    tables : JoinTables
        Without `entry_next`.
    events : SlottedEvents
    window : MeasuredWindow
    bounds : tuple of int
        It runs from the first event on, reports the ends from the second on, and stops before the third.
    groups : int
        How many groups there are.
    label_atoms : ndarray, shape (labels, atoms), uint8
        1 where a label fills an atom of the rule; without atoms the answers are marks.
    low : int, optional
        As in `Expanded`.
    """
    begin, report, stop = bounds
    count, atoms = stop - begin, label_atoms.shape[1]
    each = np.diff(tables.read_first)[tables.transition] + 2
    sums = np.concatenate([[0], np.cumsum(each)])
    made = np.array([tables.n_stores, int(np.diff(sums[tables.first]).max(initial=0))], np.int64)
    table = np.full((groups, 2), -1, np.int32)
    # What is never written takes no memory.
    cell, link = (
        np.empty((count * min(int(most), AT_ONCE) + int(most), *shape), np.int32)
        for most, shape in zip(made, ((PARTS,), ()), strict=True)
    )
    ends = [np.empty(stop - report, np.int64) for _ in range(3)]
    first_row = np.zeros(stop - report + 1, np.int64)
    most = FEW * max(stop - report, 1)
    room, depth = min(ROWS_OF_EVENT * (stop - report) + SOME, most), SOME
    marks = room * atoms if atoms else 4 * room + SOME
    first = np.zeros(room + 1, np.int64)
    event, label = np.empty(marks, np.int32), np.empty(0 if atoms else marks, np.int32)
    start, order, spare = (np.empty(room, np.int32) for _ in range(3))
    fired = np.empty((tables.n_fired, 3), np.int64)
    only = np.where(label_atoms.sum(axis=1) == 1, label_atoms.argmax(axis=1) if atoms else 0, -1)
    labels = FilledAtoms(label_atoms, only.astype(np.int32))
    stacks = _stacks(depth, atoms)
    progress = np.zeros(kernel.WORDS, np.int64)
    progress[[kernel.AT, kernel.LOW]] = begin
    while True:
        rows = AnswerRows(first, event, label, start)
        found = ExpandedEnds(*ends, first_row, rows, order, spare)
        held = JoinGroups(table, cell, link, made)
        status = kernel.expand(
            tables, events, window, np.array(bounds, np.int64), held, fired, labels, found, stacks,
            progress,
        )  # fmt: skip
        if status == kernel.DONE:
            n, m = int(progress[kernel.ENDS]), int(progress[kernel.ROWS])
            event_, start_, lowest = (one[:n] for one in ends)
            return Expanded(event_, start_, lowest, first_row[: n + 1], rows, order[:m], low)
        if status == kernel.TOO_SLOW:
            return None
        if status == kernel.STACK_FULL:
            depth *= 2
            stacks = _stacks(depth, atoms)
        elif status == kernel.CELLS_FULL:
            cell = _longer(cell, int(made[0]))
        elif status == kernel.LINKS_FULL:
            link = _longer(link, int(made[1]))
        elif status == kernel.MARKS_FULL:
            event, label = _longer(event, depth), _longer(label, depth)
        else:
            if room >= most:
                return None
            more = min(2 * room, most) - room
            room += more
            first, start, order, spare = (_grown(one, more) for one in (first, start, order, spare))
            if atoms:
                event = _grown(event, more * atoms)


class ExpandedAnswers:
    """The answers of some ends of a chunk, expanded by several threads; an `Answers`.

    Parameters
    ----------
    parts : sequence of Expanded
        One after another in the order of their ends.
    ends : ndarray, shape (ends,), int64
        The numbers of the ends among those of all parts.
    atoms : int
        The atoms of a rule; 0 where the answers are marks.

    Attributes
    ----------
    count : ndarray, shape (ends,), int64
        How many answers each end has.
    """

    sharing: Literal["ends"] = "ends"

    def __init__(self, parts: Sequence[Expanded], ends: np.ndarray, atoms: int) -> None:
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
        sums = np.cumsum(taken)
        rows = BULK_ROWS if size is None else min(size, BULK_ROWS)
        done = 0
        while done < len(order):
            before = int(sums[done - 1]) if done else 0
            stop = max(int(np.searchsorted(sums, before + rows, side="right")), done + 1)
            if sums[stop - 1] > before:
                yield self._block(order[done:stop], taken[done:stop], sums[done:stop] - before)
            done = stop

    def _block(self, hits: np.ndarray, taken: np.ndarray, sums: np.ndarray) -> AnswerBlock:
        """The first `taken` answers of each end; `sums` are the sums of `taken`."""
        atoms, rows = self._atoms, int(sums[-1])
        hit = np.repeat(hits, taken)
        start = np.empty(rows, np.int64)
        first = np.zeros(0 if atoms else rows + 1, np.int64)
        event, label = np.empty(rows * atoms, np.int64), np.empty(0, np.int32)
        chosen = list(self._chosen(self._ends[hits], sums - taken, taken))
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


def _longer(array: np.ndarray, more: int) -> np.ndarray:
    """A copy with at least `more` further rows, and twice as many."""
    return _grown(array, max(len(array), more))


def _grown(array: np.ndarray, more: int) -> np.ndarray:
    """A copy with `more` further rows."""
    longer = np.empty((len(array) + more, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer

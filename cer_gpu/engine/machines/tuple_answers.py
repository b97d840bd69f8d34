"""The answers of a rule at some ends of a chunk: few answers are kept, many are found again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol

import numpy as np

from cer_gpu.engine.machines.lookups import PartialAnswers, TupleEnds
from cer_gpu.enumeration.blocks import TupleBlock, in_parts
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass

FEW = 1 << 20
"""The most answers of a chunk that are kept when they are found."""

BULK_ROWS = 1 << 20
"""About how many answers are looked up in one go."""

MOST_ROWS = 1 << 26
"""The most answers at one event that are listed, because they have to be sorted."""


class TupleFinder(Protocol):
    """What finds the answers of a rule among the events of a chunk."""

    @property
    def atoms(self) -> int:
        """How many atoms the rule has."""

    def listed(self, event: np.ndarray, low: np.ndarray) -> Iterator[PartialAnswers]:
        """The answers that end at some events, block by block, in any order.

        Parameters
        ----------
        event, low : ndarray, shape (ends,), int64
            The events, and the least event that each admits.
        """

    def tally(self, event: np.ndarray, low: np.ndarray) -> TupleEnds:
        """How many answers end at some events; parameters as for `listed`."""


@dataclass(frozen=True, slots=True)
class FoundTuples:
    """All answers of a chunk, sorted by (end, start, events).

    Attributes
    ----------
    tally : TupleEnds
        How many answers end at each event at which some end.
    first : ndarray, shape (ends + 1,), int64
        Where the answers of each end begin.
    event : ndarray, shape (answers, atoms), int64
    """

    tally: TupleEnds
    first: np.ndarray
    event: np.ndarray

    @classmethod
    def within(cls, finder: TupleFinder, event: np.ndarray, low: np.ndarray) -> FoundTuples | None:
        """The answers that end at some events; None where there are more than `FEW`.

        Parameters
        ----------
        finder : TupleFinder
        event, low : ndarray, shape (ends,), int64
            As for `TupleFinder.listed`.
        """
        blocks, count = [], 0
        for block in finder.listed(event, low):
            blocks.append(block)
            count += len(block)
            if count > FEW:
                return None
        rows = together(blocks, finder.atoms)
        start = rows.event.min(axis=1) if len(rows) else rows.end
        order = np.lexsort((*rows.event.T[::-1], start, rows.end))
        number = np.bincount(rows.end, minlength=len(event)).astype(np.int64)
        latest = np.full(len(event), -1, np.int64)
        np.maximum.at(latest, rows.end, start)
        tally = TupleEnds(event, low, number, latest)
        return cls(tally, np.append(0, np.cumsum(number)), rows.event[order])

    def of(self, ends: np.ndarray) -> PartialAnswers:
        """The answers that end at some events of the tally, in the order of `ends`, numbered by it."""
        which = np.searchsorted(self.tally.event, ends)
        length = self.tally.number[which]
        before = np.cumsum(length) - length
        rows = np.repeat(self.first[which] - before, length) + np.arange(int(length.sum()))
        end = np.repeat(np.arange(len(ends)), length)
        return PartialAnswers(end, end, self.event[rows])


class TupleAnswers:
    """The answers of a rule at some ends; an `Answers`.

    Parameters
    ----------
    finder : TupleFinder
    tally : TupleEnds
        How many answers end at each.
    found : FoundTuples or None
        The answers of the chunk, if they are kept.
    """

    sharing: Literal["blocks"] = "blocks"

    def __init__(self, finder: TupleFinder, tally: TupleEnds, found: FoundTuples | None) -> None:
        self._finder = finder
        self._tally = tally
        self._found = found

    @property
    def count(self) -> np.ndarray:
        """How many answers each end has, shape (ends,), int64, or object past 2^62."""
        return self._tally.number

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing the first `limit` answers of each end takes: shape (ends,)."""
        return self.count

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[TupleBlock]:
        """The answers of some ends, as `Answers.blocks`; those of an end by (start, events).

        Raises
        ------
        LimitError
            If an end has more answers than can be sorted.
        """
        for ends in ends_in_parts(self.count, order, size):
            event, low = self._tally.event[ends], self._tally.low[ends]
            if self._found is not None:
                rows = self._found.of(event)
            else:
                rows = together(list(self._finder.listed(event, low)), self._finder.atoms)
            block = in_order(ends, rows, limit)
            if len(block.hit):
                yield block


def ends_in_parts(count: np.ndarray, order: np.ndarray, size: int | None) -> Iterator[np.ndarray]:
    """Ends in parts whose answers are looked up in one go, about `size` of them.

    Parameters
    ----------
    count : ndarray, shape (ends,), int64 or object
        How many answers each end has.
    order : ndarray, shape (m,), int64
        Numbers of ends.
    size : int or None

    Raises
    ------
    LimitError
        If an end has more answers than can be sorted.
    """
    counts = np.minimum(count[order], MOST_ROWS + 1).astype(np.int64)
    for done, stop, _ in in_parts(counts, BULK_ROWS if size is None else min(size, BULK_ROWS)):
        if counts[done:stop].max() > MOST_ROWS:
            raise LimitError(
                f"more than {MOST_ROWS:,} matches end at one event, and no more can be listed: "
                "ask for count or hits, or narrow the window"
            )
        yield order[done:stop]


def in_order(ends: np.ndarray, rows: PartialAnswers, limit: int | None) -> TupleBlock:
    """The answers of some ends by (end, start, events).

    Parameters
    ----------
    ends : ndarray, shape (m,), int64
        Their numbers.
    rows : Partial
        With the place of its end among these for each answer.
    limit : int or None
        The most answers of each end.
    """
    start = rows.event.min(axis=1) if len(rows) else rows.end
    order = np.lexsort((*rows.event.T[::-1], start, rows.end))
    if limit is not None:
        end = rows.end[order]
        place = np.arange(len(end)) - np.searchsorted(end, end, side="left")
        order = order[place < limit]
    return TupleBlock(ends[rows.end[order]], start[order], rows.event[order])


def together(blocks: list[PartialAnswers], atoms: int) -> PartialAnswers:
    """Several blocks as one."""
    none = np.empty(0, np.int64)
    return PartialAnswers(
        np.concatenate([none, *(block.end for block in blocks)]),
        np.concatenate([none, *(block.low for block in blocks)]),
        np.concatenate([np.empty((0, atoms), np.int64), *(block.event for block in blocks)]),
    )

"""Blocks of complex events: how they are cut, joined and rearranged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple, TypeAlias

import numpy as np

from cer_gpu.kernels.forest.contract import Block, Roots
from cer_gpu.kernels.lists import cpu as kernels

BULK_COUNT = 1 << 16
"""A hit with more complex events has them found one by one in order; those of other hits are sorted."""

BULK_MARKS = 1 << 20
"""The marks of all complex events of a hit that there is room for at first, at most."""


class TupleBlock(NamedTuple):
    """Answers of a rule.

    Attributes
    ----------
    hit : ndarray, shape (n,), int64
        The number of the hit at which each answer ends.
    start : ndarray, shape (n,), int64
    event : ndarray, shape (n, atoms), int64
    """

    hit: np.ndarray
    start: np.ndarray
    event: np.ndarray

    def part(self, low: int, high: int) -> TupleBlock:
        """The answers `low .. high - 1`, without a copy."""
        return TupleBlock(self.hit[low:high], self.start[low:high], self.event[low:high])


class PathBlock(NamedTuple):
    """Complex events of one chain of steps: what `Block` has, with the events of each step in a column.

    Attributes
    ----------
    hit : ndarray, shape (n,), int64
        The number of the hit at which each complex event ends.
    column : ndarray, shape (steps, n), int64
        The events of each step, ascending in each complex event; the first is its start.
    labels : ndarray, shape (steps,), int32
        Those of each step; 0: its events are not marked.
    """

    hit: np.ndarray
    column: np.ndarray
    labels: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """As that of `Block`."""
        return self.column[0]

    @property
    def first(self) -> np.ndarray:
        """As that of `Block`."""
        return np.arange(len(self.hit) + 1) * np.count_nonzero(self.labels)

    @property
    def event(self) -> np.ndarray:
        """As that of `Block`."""
        return self.column[self.labels > 0].T.reshape(-1)

    @property
    def label(self) -> np.ndarray:
        """As that of `Block`."""
        return np.tile(self.labels[self.labels > 0], len(self.hit))

    def single_steps(self, has: np.ndarray) -> list[int] | None:
        """The step that each variable marks; None where one marks several, or none.

        Parameters
        ----------
        has : ndarray, shape (labels, variables), uint8
            Which variables each label marks.
        """
        own = has[self.labels] != 0
        return np.argmax(own, axis=0).tolist() if (own.sum(axis=0) == 1).all() else None

    def part(self, low: int, high: int) -> PathBlock:
        """The complex events `low .. high - 1`, which are not copied."""
        return PathBlock(self.hit[low:high], self.column[:, low:high], self.labels)


MarkBlock: TypeAlias = Block | PathBlock
"""Complex events with marks."""

AnswerBlock: TypeAlias = MarkBlock | TupleBlock
"""Complex events with marks, or answers of a rule; a run has only one of the two."""


def gathered(block: Block, rows: np.ndarray) -> Block:
    """Some complex events of a block, shape (rows,), in the order given."""
    length = np.diff(block.first)[rows]
    marks = ranges(block.first[rows], length)
    return Block(
        block.hit[rows],
        block.start[rows],
        np.append(0, np.cumsum(length)),
        block.event[marks],
        block.label[marks],
    )


def in_blocks(
    found: Iterable[tuple[int, Sequence[int], Sequence[int]]], hit: int, limit: int | None, size: int
) -> Iterator[Block]:
    """The first complex events of a hit, given by start, marked events and labels; at most `size` a block."""
    found = islice(found, limit)
    while True:
        rows, first = [], [0]
        for row in found:
            rows.append(row)
            first.append(first[-1] + len(row[1]))
            if len(rows) == size or first[-1] >= BULK_MARKS:
                break
        if not rows:
            return
        start, events, labels = (list(each) for each in zip(*rows, strict=True))
        yield Block(
            np.full(len(rows), hit, np.int64),
            np.array(start, np.int64),
            np.array(first, np.int64),
            np.array([*chain.from_iterable(events)], np.int64),
            np.array([*chain.from_iterable(labels)], np.int32),
        )


def ranges(first: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The numbers `first[g] .. first[g] + length[g] - 1` of all g, one after another."""
    found = np.empty(int(length.sum()), np.int64)
    kernels.ranges(first, length, found)
    return found


def in_parts(counts: np.ndarray, size: int, most: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Ranges of ends with about `size` complex events together, and with one end at least, at most `most`.

    Parameters
    ----------
    counts : ndarray, shape (ends,), int64
        How many complex events each end has.
    size : int
    most : int, optional

    Yields
    ------
    tuple of int
        The first end, one past the last, and how many complex events they have.
    """
    sums = np.cumsum(counts)
    done = 0
    while done < len(counts):
        before = int(sums[done - 1]) if done else 0
        stop = max(int(np.searchsorted(sums, before + size, side="right")), done + 1)
        if most is not None:
            stop = min(stop, done + max(most, 1))
        yield done, stop, int(sums[stop - 1]) - before
        done = stop


def numbers_joined(numbers: Sequence[np.ndarray]) -> np.ndarray:
    """Join several arrays of counts; the result has Python integers if one of them has."""
    if any(number.dtype == object for number in numbers):
        numbers = [number.astype(object) for number in numbers]
    return np.concatenate(numbers)


def grown(array: np.ndarray, more: int) -> np.ndarray:
    """A copy with `more` further rows."""
    found = np.empty((len(array) + more, *array.shape[1:]), array.dtype)
    found[: len(array)] = array
    return found


def longer(array: np.ndarray, more: int = 0) -> np.ndarray:
    """A copy with at least `more` further rows, and twice as many."""
    return grown(array, max(len(array), more))


def some_of(roots: Roots, which: np.ndarray) -> Roots:
    """The roots of some hits, by their numbers."""
    length = np.diff(roots.first)[which]
    chosen = ranges(roots.first[which], length)
    return Roots(np.append(0, np.cumsum(length)), roots.label[chosen], roots.node[chosen])

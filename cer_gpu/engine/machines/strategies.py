"""The strategy of SELECT where a window or CONSUME BY says which complex events it may choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from typing import TypeAlias

import numpy as np

from cer_gpu.engine.machines.by_start import OrderedAnswers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.machine import Sharing
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration import structure
from cer_gpu.errors import LimitError
from cer_gpu.kernels.best import cpu as best
from cer_gpu.kernels.counts.cpu import counts
from cer_gpu.kernels.forest.contract import Block, CountedHits
from cer_gpu.kernels.monitor.cpu import rename
from cer_gpu.kernels.runs.programs import backward_program, forward_program
from cer_gpu.plan.automaton import Choice

PIECES = 1 << 18
"""Events of the pieces that are run at a time, about."""

MARKS = 1 << 20
"""Marks in a block, about."""

MARKS_OF_ONE = 8
"""The same for a complex event, where fewer are found in one go."""

LISTED = 10_000_000
"""Complex events of one end at most that are compared one by one."""


class Single:
    """The one complex event that NEXT or LAST leaves at each hit, where its marked events name it.

    Parameters
    ----------
    found : best.Paths
        The hits in the order of `end`.
    end : ndarray, shape (hits,), int64
    shown : ndarray, shape (labels,), int32
        What each label becomes once the SELECT list has dropped marks; 0 for no mark.
    """

    sharing: Sharing = "ends"

    def __init__(self, found: best.Paths, end: np.ndarray, shown: np.ndarray) -> None:
        self._found = found
        self._end = end
        self._shown = shown
        self.count = np.ones(len(end), np.int64)

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some hits; as `Answers.blocks`."""
        if limit == 0:
            return
        length = best.lengths(self._found, order, self._shown)
        for part in parts_of(length, MARKS if size is None else min(MARKS, MARKS_OF_ONE * size)):
            first, event, label = best.marks(self._found, self._end, order[part], self._shown, length[part])
            yield Block(order[part], self._found.start[order[part]], first, event, label)


class Pieces:
    """What a strategy leaves at each hit, found by running the events that the hit may begin at anew.

    The events from the least start of a hit to its end are a stream of their own, on which the automaton of
    what the strategy leaves runs; its other ends are not looked at. So a hit costs as many steps as there are
    relevant events in its window.

    Parameters
    ----------
    choice : Choice
        With tables.
    chunk : Chunk
        Its window admits an interval of starts.
    hits : Ends
    workers : Workers
        Count, several pieces at a time.
    """

    sharing: Sharing = "ends"

    def __init__(self, choice: Choice, chunk: Chunk, hits: Ends, workers: Workers) -> None:
        assert choice.tables is not None
        assert choice.monitor is not None
        self._monitor = choice.monitor
        self._tables = choice.tables
        self._programs = forward_program(self._tables), backward_program(self._tables)
        self._symbols = chunk.events.symbols
        self._hits = hits
        self.count = self._counts(workers)

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some hits, each hit's in canonical order; as `Answers.blocks`."""
        for part in self._groups(order):
            pieces = _Gathered(self._hits, part)
            symbols = self._renamed(pieces)
            built = structure.Structure(self._tables)
            built.build(symbols, pieces.begin, pieces.stop, CountedHits(*pieces.ends, self.count[part]))
            for block in built.blocks(None, limit, size):
                yield block._replace(
                    hit=part[block.hit], start=pieces.event[block.start], event=pieces.event[block.event]
                )

    def _counts(self, workers: Workers) -> np.ndarray:
        """How many complex events each hit has, shape (hits,), int64 or object."""

        def counted(part: np.ndarray) -> np.ndarray:
            pieces = _Gathered(self._hits, part)
            symbols = self._renamed(pieces)
            return counts(self._tables, *self._programs, symbols, *pieces.ends, True)

        events = int((self._hits.event - self._hits.lowest + 1).sum())
        groups = self._groups(np.arange(len(self._hits)))
        number = [np.empty(0, np.int64), *workers.map("choosing", counted, groups, events)]
        exact = object if any(one.dtype == object for one in number) else np.int64
        return np.concatenate([one.astype(exact) for one in number])

    def _renamed(self, pieces: _Gathered) -> np.ndarray:
        read = self._symbols[pieces.event]
        state = np.zeros(len(pieces.begin), np.int32)
        return rename(self._monitor.follow, self._monitor.symbol, read, pieces.piece, state)

    def _groups(self, order: np.ndarray) -> Iterator[np.ndarray]:
        """Hits with about `PIECES` events in their pieces."""
        for part in parts_of(self._hits.event[order] - self._hits.lowest[order] + 1, PIECES):
            yield order[part]


class _Gathered:
    """The events of the pieces of some hits, one piece after another.

    Attributes
    ----------
    event : ndarray, shape (m,), int64
        Which event of the chunk each is.
    piece : ndarray, shape (m,), int32
    begin, stop : ndarray, shape (pieces,), int64
        The events of each piece among them.
    """

    def __init__(self, hits: Ends, part: np.ndarray) -> None:
        lowest = hits.lowest[part]
        length = hits.event[part] - lowest + 1
        self.stop = np.cumsum(length)
        self.begin = self.stop - length
        self.piece = np.repeat(np.arange(len(part), dtype=np.int32), length)
        self.event = np.arange(len(self.piece)) + np.repeat(lowest - self.begin, length)

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The hits of the pieces, one each: `first`, `event` and `lowest` as the kernels read them."""
        return np.arange(len(self.begin) + 1), self.stop - 1, self.begin


class Listed:
    """What a strategy leaves at each hit, chosen among all complex events that end there, one by one.

    For a window that no interval of starts describes (over another attribute, where it goes down): a hit
    costs as many steps as it has complex events before the choice.

    Parameters
    ----------
    choice : Choice
    every : OrderedAnswers
        All complex events of the hits.

    Raises
    ------
    LimitError
        If a hit has more than `LISTED`.
    """

    sharing: Sharing = "ends"

    def __init__(self, choice: Choice, every: OrderedAnswers) -> None:
        most = max(every.count.tolist(), default=0)
        if most > LISTED:
            raise LimitError(
                f"the strategy `{choice.strategy}` chooses among {_round(most)} complex events of one end, "
                f"but compares at most {LISTED:,} where the attribute of WITHIN is null or falls in a lane: "
                "make the window smaller or the pattern more specific, or ask for hits"
            )
        self._shown = choice.shown
        self._best = BEST[choice.strategy]
        hits = np.arange(len(every.count))
        self._answers = [self._chosen(every.blocks(hits[hit : hit + 1])) for hit in hits.tolist()]
        self.count = np.array([len(answers) for answers in self._answers], np.int64)

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some hits, each hit's in canonical order; as `Answers.blocks`."""
        rows = [(hit, answer) for hit in order.tolist() for answer in self._answers[hit][:limit]]
        if rows:
            marks = [len(events) for _, (_, events, _) in rows]
            yield Block(
                np.array([hit for hit, _ in rows], np.int64),
                np.array([start for _, (start, _, _) in rows], np.int64),
                np.concatenate([[0], np.cumsum(marks)]).astype(np.int64),
                np.array([event for _, (_, events, _) in rows for event in events], np.int64),
                np.array([label for _, (_, _, labels) in rows for label in labels], np.int32),
            )

    def _chosen(self, blocks: Iterator[Block]) -> list[Answer]:
        """The complex events that are left of a hit's, without what the SELECT list drops, in order."""
        by_marks: dict[Marked, list[Answer]] = {}
        for block in blocks:
            starts, first = block.start.tolist(), block.first.tolist()
            event, label = block.event.tolist(), block.label.tolist()
            for start, (low, high) in zip(starts, pairwise(first), strict=True):
                marked = tuple(event[low:high])
                by_marks.setdefault(marked, []).append((start, marked, tuple(label[low:high])))
            # What is not best here is not best among more.
            by_marks = {marked: by_marks[marked] for marked in self._best(list(by_marks))}
        return sorted({self._projected(answer) for answers in by_marks.values() for answer in answers})

    def _projected(self, answer: Answer) -> Answer:
        start, events, labels = answer
        marks = [(event, int(self._shown[label])) for event, label in zip(events, labels, strict=True)]
        marks = [(event, label) for event, label in marks if label]
        return start, tuple(event for event, _ in marks), tuple(label for _, label in marks)


Answer: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...]]
"""A complex event: its start, the marked events and their labels."""

Marked: TypeAlias = tuple[int, ...]


def _next(found: list[Marked]) -> list[Marked]:
    # The smaller event where two differ first; and what goes on where the other stops.
    return [max(found, key=lambda marked: tuple(-event for event in marked))]


def _last(found: list[Marked]) -> list[Marked]:
    return [max(found, key=lambda marked: marked[::-1])]


def _max(found: list[Marked]) -> list[Marked]:
    kept: list[Marked] = []
    larger: list[frozenset[int]] = []
    for _, alike in groupby(sorted(found, key=len, reverse=True), key=len):
        maximal = [marked for marked in alike if not any(other.issuperset(marked) for other in larger)]
        kept += maximal
        larger += map(frozenset, maximal)
    return kept


BEST: dict[str, Callable[[list[Marked]], list[Marked]]] = {"NEXT": _next, "LAST": _last, "MAX": _max}
"""Which of the sets of marked events of one end each strategy leaves."""


def _round(number: int) -> str:
    return f"{number:,}" if number < 1 << 62 else "more than 2^62"


def parts_of(work: np.ndarray, size: int) -> Iterator[slice]:
    """Ranges of items with about `size` work each."""
    if len(work):
        running = np.cumsum(work)
        edges = {0, len(work), *(np.searchsorted(running, np.arange(size, running[-1], size)) + 1).tolist()}
        yield from (slice(low, high) for low, high in pairwise(sorted(edges)))

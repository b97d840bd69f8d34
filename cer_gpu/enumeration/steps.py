"""The structure of steps on the host: the complex events of ends, counted and listed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.blocks import MarkBlock, PathBlock, gathered, in_parts, ranges
from cer_gpu.errors import LimitError
from cer_gpu.kernels.arena.contract import BLOCK_FULL, DEPTH_FULL, DONE, MISMATCH
from cer_gpu.kernels.forest.contract import Block, CountedHits
from cer_gpu.kernels.loop.contract import LARGEST, StepNodes
from cer_gpu.kernels.steps import cpu_paths, cpu_walk
from cer_gpu.kernels.steps.contract import FoundPaths
from cer_gpu.kernels.steps.cpu_walk import paths_for

BLOCK = 1 << 17
"""About how many complex events a block has, unless the caller wants another size."""

ENTRIES = 1 << 10
"""How many entries of the complex events of an end there is room for at first."""

MOST_ROWS = 1 << 26
"""The most complex events of one end that can be listed: they are found before the first is given."""


class StepEnds(NamedTuple):
    """Ends of steps, with the nodes that lead to them.

    Attributes
    ----------
    nodes : StepNodes
        Their roots are those of the ends.
    event, lowest : ndarray, shape (ends,), int64
        The event of each end, and its least admissible start.
    labels : ndarray, shape (steps,), int32, or None
        What `cpu_paths.path_labels` gives for the automaton.
    """

    nodes: StepNodes
    event: np.ndarray
    lowest: np.ndarray
    labels: np.ndarray | None = None


class StepAnswers:
    """The complex events at some ends; `Answers`.

    Parameters
    ----------
    ends : StepEnds
    number : ndarray, shape (ends,), int64 or object
        How many complex events each end has.
    window : AttributeWindow or None
        A window that is no interval of events: complex events are checked against it when they are listed.

    Attributes
    ----------
    count : ndarray, shape (ends,), int64
        How many complex events each end has, `LARGEST` if the number does not fit.
    """

    sharing: Literal["ends"] = "ends"

    def __init__(self, ends: StepEnds, number: np.ndarray, window: AttributeWindow | None = None) -> None:
        self._nodes, self._window, self._exact = ends.nodes, window, number
        self._labels = ends.labels if window is None else None
        self.count = np.minimum(number, LARGEST).astype(np.int64)
        first = np.array([0, len(ends.event)], np.int64)
        self._hits = CountedHits(first, ends.event, ends.lowest, self.count)
        if window is not None:
            left = [block.hit for block in self.blocks(np.arange(len(ends.event)))]
            hit = np.concatenate([np.empty(0, np.int64), *left])
            self._exact = self.count = np.bincount(hit, minlength=len(ends.event))

    def exact_counts(self) -> np.ndarray:
        """How many complex events each end has, as Python integers if some numbers do not fit."""
        return self._exact

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing the first `limit` of each end takes: all are found, but of chains."""
        counts = self._hits.counts
        return counts if self._labels is None or limit is None else np.minimum(counts, limit)

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[MarkBlock]:
        """The complex events of some ends, end after end in the given order; as `Answers.blocks`.

        Raises
        ------
        LimitError
            If an end has more complex events than can be sorted.
        """
        if self._labels is not None:
            yield from self._paths(order, self._labels, LARGEST if limit is None else limit, size)
            return
        size = BLOCK if size is None else max(size, 1)
        found, checked = paths_for(0, 0, 64), self._window is not None
        counts = self._hits.counts[order]
        most = LARGEST if limit is None or checked else limit
        for done, stop, rows in in_parts(np.minimum(counts, min(most, MOST_ROWS + 1)), size):
            largest = int(counts[done:stop].max())
            _refuse_many(largest)
            if largest > len(found.entry):
                found = paths_for(
                    max(largest, 2 * len(found.entry)), len(found.node_entry), len(found.frames)
                )
            block, found = self._block(order[done:stop], rows, most, found)
            if self._window is not None:
                block = self._admitted(block, self._window, limit)
            if len(block.hit):
                yield block

    def _paths(
        self, order: np.ndarray, labels: np.ndarray, most: int, size: int | None
    ) -> Iterator[PathBlock]:
        """The complex events of some ends, at most `most` of each, for chains whose events have labels."""
        wanted = np.minimum(self._hits.counts[order], most)
        size = BLOCK if size is None else max(size, 1)
        room = cpu_paths.path_room(len(labels), ENTRIES)
        for done, stop, rows in in_parts(np.minimum(wanted, MOST_ROWS + 1), size):
            _refuse_many(int(wanted[done:stop].max()))
            block = PathBlock(np.empty(rows, np.int64), np.empty((len(labels), rows), np.int64), labels)
            own, progress = order[done:stop], np.zeros(2, np.int64)
            while True:
                status = cpu_paths.fill(
                    self._nodes, self._hits, own, most, room, block.hit, block.column, progress
                )
                if status == cpu_paths.DONE:
                    break
                if status == cpu_paths.MISMATCH:
                    raise self._mismatch(int(own[progress[0]]))
                room = cpu_paths.path_room(len(labels), 4 * len(room.entry))
            if rows:
                yield block

    def _block(self, order: np.ndarray, rows: int, most: int, found: FoundPaths) -> tuple[Block, FoundPaths]:
        """The `rows` complex events of some ends, and the scratch, which may have grown."""
        progress, marks = np.zeros(3, np.int64), 4 * rows + 64
        block = Block(
            *np.empty((2, rows), np.int64), np.empty(rows + 1, np.int64), np.empty(marks, np.int64),
            np.empty(marks, np.int32),
        )  # fmt: skip
        while True:
            status = cpu_walk.fill(self._nodes, self._hits, order, most, found, block, progress)
            if status == DONE:
                used = int(progress[2])
                return block._replace(event=block.event[:used], label=block.label[:used]), found
            if status == BLOCK_FULL:
                event, label = (np.append(old, np.empty_like(old)) for old in (block.event, block.label))
                block = block._replace(event=event, label=label)
            elif status == MISMATCH:
                raise self._mismatch(int(order[progress[0]]))
            else:
                deeper = 1 + (status == DEPTH_FULL)
                nodes = max(64, len(found.node_entry)) * (3 - deeper)
                found = paths_for(len(found.entry), nodes, deeper * len(found.frames))

    def _mismatch(self, hit: int) -> RuntimeError:
        return RuntimeError(
            f"the structure does not hold the {self.count[hit]} matches that were counted at event "
            f"{self._hits.event[hit]}"
        )

    def _admitted(self, block: Block, window: AttributeWindow, limit: int | None) -> Block:
        """The complex events that a window admits, at most `limit` of each end."""
        chosen = np.flatnonzero(window.keeps(block.start, self._hits.event[block.hit]))
        if limit is not None:
            own = np.diff(np.flatnonzero(np.diff(block.hit[chosen], prepend=-1, append=-1)))
            chosen = chosen[ranges(np.zeros(len(own), np.int64), own) < limit]
        return gathered(block, chosen)


def _refuse_many(largest: int) -> None:
    if largest > MOST_ROWS:
        raise LimitError(
            f"{largest:,} matches end at one event, and at most {MOST_ROWS:,} can be listed: "
            "ask for count or hits, or narrow the window"
        )

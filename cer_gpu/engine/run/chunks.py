"""A run: batches in, chunks out, with the tail that the window needs carried between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.batches import Lister
from cer_gpu.engine.machines.chunk import Chunk, make_chunk
from cer_gpu.engine.machines.machine import MachineRunner
from cer_gpu.engine.read.events import Relevant, joined
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import LimitError
from cer_gpu.plan.compiled import CompiledQuery

CHUNK = 1 << 20
"""Relevant events that are gathered before a chunk is run."""

BYTES_OF_EVENT = 512
"""What a relevant event takes while its chunk is run and enumerated, about."""

CARRIED = 1 << 17
"""The same where registers are carried: less, for their counts may have thousands of digits."""


@dataclass(frozen=True, slots=True)
class Run:
    """The parts of a run in progress."""

    query: CompiledQuery
    workers: Workers
    intake: Intake
    runner: MachineRunner
    chunker: Chunker
    lister: Lister

    @property
    def memory(self) -> int | None:
        """Bytes that the run may take."""
        return self.lister.memory

    def relevant(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Relevant]:
        """The relevant events of a stream, as the machine reads them."""
        for part in self.intake(batches):
            yield self.runner.read(part, self.intake.lane_count)

    def chunks(self, batches: Iterator[pa.RecordBatch], halo: int = 0) -> Iterator[Chunk]:
        """The chunks of a stream; each must be run before the next is asked for.

        Parameters
        ----------
        batches : iterator of RecordBatch
        halo : int, optional
            So many events are read for what ends after them: their own ends are in no chunk.
        """
        relevant = self.relevant(batches)
        return self.chunker.chunks(relevant if not halo else self._after(relevant, halo))

    def _after(self, relevant: Iterator[Relevant], halo: int) -> Iterator[Relevant]:
        before: list[Relevant] = []
        for part in relevant:
            at = int(np.searchsorted(part.positions, halo))
            if at:
                before.append(part if at == len(part) else part.take(np.arange(at)))
            if at < len(part):
                if before:
                    self.chunker.resume(joined(before))
                    before = []
                yield part.slice(at)


class Chunker:
    """Cuts the relevant events of a run into chunks, with the tail that the window needs.

    A chunk is run when it has as many new events as the tail has old ones (and `CHUNK` at least), so that
    running the tail again costs a constant factor, whatever the window.

    Parameters
    ----------
    query : CompiledQuery
    intake : Intake
    runner : MachineRunner
        What the chunks are for.
    workers : Workers
    carries : bool
        Whether the runner carries registers, so that no tail is needed.
    memory : int or None
        Bytes that the tail may take at most.
    """

    def __init__(
        self,
        query: CompiledQuery,
        intake: Intake,
        runner: MachineRunner,
        workers: Workers,
        carries: bool,
        memory: int | None,
    ) -> None:
        self._query = query
        self._intake = intake
        self._runner = runner
        self._workers = workers
        self._carries = carries
        self._memory = memory
        least = CHUNK * runner.chunks
        self._least = least if memory is None else min(least, memory // BYTES_OF_EVENT)
        self._tail: Relevant | None = None
        self._last: Chunk | None = None

    def chunks(self, relevant: Iterable[Relevant]) -> Iterator[Chunk]:
        """The chunks of a stream of relevant events; each must be run before the next is asked for."""
        waiting: list[Relevant] = []
        count = 0
        for part in relevant:
            self._settle()
            if len(part):
                waiting.append(part)
                count += len(part)
            if count >= (CARRIED if self._carries else max(self._least, len(self._tail or ()))):
                yield self.chunk(joined(waiting))
                waiting, count = [], 0
        if waiting:
            yield self.chunk(joined(waiting))

    def chunk(self, new: Relevant) -> Chunk:
        """The next events of the stream with those that the window still needs."""
        self._settle()
        if not self._carries:
            self._tail, new = self._intake.forget(self._tail, new)
        query = self._query
        chunk = make_chunk(
            query.window, query.traits.ranks, self._tail, new, self._intake.lane_count, self._workers
        )
        self._last = chunk
        return chunk

    def resume(self, tail: Relevant | None) -> None:
        """Go on where another has run the stream so far, and left these events inside the window."""
        self._tail, self._last = tail, None

    def _settle(self) -> None:
        """Cut the tail out of the last chunk: only once it is known that more events follow."""
        if self._last is not None:
            self._tail = None if self._carries else self._kept(self._last)
            self._last = None

    def _kept(self, chunk: Chunk) -> Relevant | None:
        """The events of a chunk that a complex event that ends later may still contain."""
        events = chunk.events
        if not len(events.lanes):
            kept = events.slice(self._first_kept(chunk))
        else:
            kept = events.take(np.flatnonzero(self._keeps(chunk)))
        self._check_memory(kept)
        return kept if len(kept) else None

    def _first_needed(self, chunk: Chunk) -> np.ndarray | None:
        """For each lane of a chunk the first event that is kept for later ones; None: all are."""
        window = self._query.window
        if window is None:
            return None
        if window.kind == "attribute":
            # It may still fall, and then admits whatever is open.
            return self._runner.needed(chunk)
        # What the last event does not admit, no later one does.
        return chunk.admitted_by_last(window)

    def _first_kept(self, chunk: Chunk) -> int:
        """Without lanes what is kept is the end of the chunk: where it begins."""
        events, needed = chunk.events, self._first_needed(chunk)
        low = 0
        if needed is not None and len(needed):
            low = int(needed[-1])
        if self._query.consume != "NONE":
            floor = self._runner.consumption.floor
            low = max(low, int(np.searchsorted(events.positions, floor, side="right")))
        return low

    def _keeps(self, chunk: Chunk) -> np.ndarray:
        """Which events are kept, with lanes: of each lane the end, too."""
        events, window, needed = chunk.events, self._query.window, self._first_needed(chunk)
        keep = np.ones(len(events), bool)
        if window is not None and needed is not None and len(needed):
            keep = ~_covered(len(events), chunk.lanes.begin, needed)
            shared = window.kind == "events" and not self._query.reading.partition
            if shared or (window.kind == "time" and self._intake.in_order):
                # What the window measures ascends over all lanes: the stream has moved on for each of them.
                keep &= events.measured.max() - events.measured <= window.size
        if self._query.consume == "ANY":
            keep &= events.positions > self._runner.consumption.floor
        elif self._query.consume == "PARTITION":
            floors = grown(self._runner.consumption.floors, int(events.lanes.max(initial=-1)) + 1, -1)
            keep &= events.positions > floors[events.lanes]
        return keep

    def _check_memory(self, kept: Relevant) -> None:
        size = len(kept) * (kept.symbols.itemsize + 8 + 4 * bool(len(kept.lanes)) + 8 * bool(len(kept.keys)))
        if kept.payload is not None:
            size += kept.payload.nbytes
        if self._memory is not None and size > self._memory:
            raise LimitError(
                f"{len(kept):,} events may still be part of a complex event, since {self._why_kept()}: they "
                f"take {size:,} bytes, and memory={self._memory:,} was allowed: "
                "narrow WITHIN or the filters, or allow more"
            )

    def _why_kept(self) -> str:
        window = self._query.window
        if window is None:
            return "the query has no window"
        if window.kind != "attribute":
            return "the query has a window that long"
        name = window.attribute
        return f"`{name}` may fall into the window of those before (order_by={name!r} says that it does not)"


def _covered(count: int, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Which of `count` events lie in one of the ranges begin .. end - 1, which do not overlap."""
    steps = np.zeros(count + 1, np.int64)
    np.add.at(steps, begin, 1)
    np.add.at(steps, end, -1)
    return np.cumsum(steps[:-1]) > 0

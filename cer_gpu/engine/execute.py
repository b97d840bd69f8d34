"""The CPU backend: hits and counts of chunks, with what is carried from chunk to chunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cer_gpu.engine.chunk import Chunk, Segments
from cer_gpu.engine.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import LimitError
from cer_gpu.kernels import consume
from cer_gpu.kernels.counts import counts, forward_counts
from cer_gpu.kernels.counts_by_start import counts_by_start
from cer_gpu.kernels.hits import hits
from cer_gpu.kernels.tables import RunTables, backward_program, forward_program, hits_program
from cer_gpu.plan.compiled import CompiledQuery

Result = TypeVar("Result")

COUNT_BITS = 1 << 16
"""Bits of the number of partial matches at most."""


@dataclass(frozen=True, slots=True)
class Hits:
    """The ends of a chunk that are reported, ascending by event (so lane by lane).

    Attributes
    ----------
    event : ndarray, shape (h,), int64
        Indices in the chunk.
    latest : ndarray, shape (h,), int64
        Stream position of the latest start of a complex event that ends there.
    lowest : ndarray, shape (h,), int64
        The least event that may start one: the window's, raised by what CONSUME BY has dropped.
    """

    event: np.ndarray
    latest: np.ndarray
    lowest: np.ndarray

    def __len__(self) -> int:
        return len(self.event)


HITS = ("event", "latest", "lowest")


class Executor:
    """Runs the tables of a query over chunks on the CPU.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    carries : bool
        For a query without a window and without CONSUME BY: the chunks hold new events only, and what the
        partial matches before them amount to is carried in registers.
    """

    def __init__(self, query: CompiledQuery, workers: Workers, carries: bool) -> None:
        found = query.tables
        self.tables = RunTables(found.first, found.source, found.label, found.target, found.accepting)
        self._query = query
        self._workers = workers
        self._carries = carries
        self._hits_program = hits_program(self.tables)
        self._forward = forward_program(self.tables)
        self._backward = backward_program(self.tables)
        self._registers = np.empty((0, self.tables.n_live), np.int64)
        self._vectors = np.empty((0, self.tables.n_live), np.int64)
        self.floor = -1
        """The last position that was reported, for CONSUME BY ANY."""
        self.floors = np.empty(0, np.int64)
        """The last position that was reported in each lane, for CONSUME BY PARTITION."""

    def hits(self, chunk: Chunk, bounded: bool = True) -> Hits:
        """The ends of a chunk that are reported; unless `bounded`, `lowest` may be left empty."""
        if not len(chunk.segments) or self._query.limit == 0:
            none = np.empty(0, np.int64)
            return Hits(none, none, none)
        bounded = bounded or self._query.consume != "NONE"
        found = self._monotone_hits(chunk, bounded) if chunk.monotone else self._hits_by_start(chunk)
        return found if self._query.consume == "NONE" else self._consumed(chunk, found)

    def count_hits(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk that are reported and how many complex events end at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (h,), int64
            Ascending.
        number : ndarray, shape (h,), int64, or object past 2^62
        """
        if not len(chunk.segments) or self._query.limit == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        if not chunk.monotone:
            return self._count_by_start(chunk, self.hits(chunk))
        if self._carries:
            return self._count_carried(chunk)
        found = self.hits(chunk) if self._query.consume != "NONE" else None

        def run(segments: Segments) -> tuple[np.ndarray, np.ndarray]:
            if found is None:
                event, _ = self._hits_in(chunk, segments)
                first = _first(segments, event)
                lowest = chunk.lowest_starts(segments, first, event, self._query.window)
            else:
                first, event, lowest = self.hits_of(segments, found)
            return event, self._counts(chunk, first, event, lowest, exact=True)

        return _joined(self._over_units("counts", chunk.segments, run))

    def _count_carried(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        self._registers = grown(self._registers, chunk.lanes.count, -1)
        self._vectors = grown(self._vectors, chunk.lanes.count)

        def run(segments: Segments) -> tuple[np.ndarray, np.ndarray, Segments, np.ndarray]:
            event, _ = self._hits_in(chunk, segments)
            number, after = forward_counts(
                self.tables,
                self._forward,
                chunk.events.symbols,
                segments.begin,
                segments.stop,
                _first(segments, event),
                event,
                self._vectors[segments.lane],
            )
            return event, number, segments, after

        parts = self._over_units("carried counts", chunk.segments, run)
        for _, _, segments, after in parts:
            # Not by the threads: large numbers put another array in place of the one that all share.
            self._store_vectors(segments.lane, after)
        return _joined([(event, number) for event, number, _, _ in parts])

    def bounded_counts(
        self, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray
    ) -> np.ndarray:
        """The counts of some hits as int64, 2^62 for all hits of a segment where one exceeds it."""
        return self._counts(chunk, first, event, lowest, exact=False)

    def _counts(
        self, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray, exact: bool
    ) -> np.ndarray:
        symbols = chunk.events.symbols
        return counts(self.tables, self._forward, self._backward, symbols, first, event, lowest, exact)

    def _count_by_start(self, chunk: Chunk, found: Hits) -> tuple[np.ndarray, np.ndarray]:
        lowest = np.zeros(len(chunk.events), np.int64)
        lowest[found.event] = found.lowest
        event, _, number = self._by_start(chunk, lowest)
        return found.event, number[np.searchsorted(event, found.event)]

    # --------------------------------------------------------------------------------------- hits

    def _over_units(self, kind: str, segments: Segments, run: Callable[[Segments], Result]) -> list[Result]:
        return self._workers.map(
            kind, lambda unit: run(segments.part(*unit)), segments.units(self._workers.threads)
        )

    def _monotone_hits(self, chunk: Chunk, bounded: bool) -> Hits:
        if self._carries:
            self._registers = grown(self._registers, chunk.lanes.count, -1)

        def run(segments: Segments) -> Hits:
            event, latest = self._hits_in(chunk, segments)
            if not self._carries:
                latest = chunk.events.positions[latest]
            if not bounded:
                return Hits(event, latest, event[:0])
            first = _first(segments, event)
            return Hits(event, latest, chunk.lowest_starts(segments, first, event, self._query.window))

        parts = self._over_units("hits", chunk.segments, run)
        return Hits(*(np.concatenate([getattr(part, name) for part in parts]) for name in HITS))

    def _hits_in(self, chunk: Chunk, segments: Segments) -> tuple[np.ndarray, np.ndarray]:
        """The ends in some segments and the latest start of each: an event, or carried a stream position."""
        events, window = chunk.events, self._query.window
        none = np.empty(0, np.int64)
        if self._carries:
            registers = self._registers[segments.lane]
        else:
            registers = np.full((len(segments), self.tables.n_live), -1, np.int64)
        found = hits(
            self._hits_program,
            events.symbols,
            # Carried registers hold stream positions, since the events of earlier chunks are gone.
            events.positions if self._carries else none,
            events.measured if window is not None else none,
            window.size if window is not None else 0,
            segments.begin,
            segments.report,
            segments.stop,
            registers,
        )
        if self._carries:
            self._registers[segments.lane] = registers
        return found

    def _hits_by_start(self, chunk: Chunk) -> Hits:
        event, starts, _ = self._by_start(chunk, np.zeros(len(chunk.events), np.int64))
        lowest = chunk.lowest_starts(chunk.lanes, _first(chunk.lanes, event), event, self._query.window)
        return Hits(event, chunk.events.positions[starts], lowest)

    def _by_start(self, chunk: Chunk, lowest: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Hits with their latest admissible start (an event) and their counts, for any window."""
        events = chunk.events
        keyed = events.keyed if len(events.keyed) else np.ones(len(events), np.uint8)
        assert self._query.window is not None
        size = self._query.window.size

        def run(segments: Segments) -> tuple[np.ndarray, ...]:
            return counts_by_start(
                self.tables,
                self._forward,
                events.symbols,
                events.keys,
                keyed,
                size,
                lowest,
                segments.begin,
                segments.report,
                segments.stop,
            )[1]

        parts = self._over_units("by start", chunk.segments, run)
        event, starts, number = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return event, starts, number

    def hits_of(self, segments: Segments, found: Hits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The hits that some segments report: where each segment's begin, their events and lowest starts."""
        low, high = np.searchsorted(found.event, [segments.report[0], segments.stop[-1]])
        event = found.event[low:high]
        return _first(segments, event), event, found.lowest[low:high]

    def _store_vectors(self, lanes: np.ndarray, vectors: np.ndarray) -> None:
        if vectors.dtype == object and max(int(value).bit_length() for value in vectors.flat) > COUNT_BITS:
            raise LimitError(
                f"more than 2^{COUNT_BITS:,} partial matches are open: the number of complex events has no "
                "practical meaning; give the query a WITHIN, or ask for hits"
            )
        if vectors.dtype == object and self._vectors.dtype != object:
            self._vectors = self._vectors.astype(object)
        self._vectors[lanes] = vectors

    # ------------------------------------------------------------------------------------ consume

    def _consumed(self, chunk: Chunk, found: Hits) -> Hits:
        """The hits that are left when every report drops the partial matches before it."""
        positions = chunk.events.positions[found.event]
        order = np.argsort(positions, kind="stable")
        keep = np.empty(len(found), np.uint8)
        floors = np.empty(len(found), np.int64)
        by_partition = self._query.consume == "PARTITION" and len(chunk.events.lanes) > 0
        if by_partition:
            lanes = chunk.events.lanes[found.event].astype(np.int64)
            self.floors = grown(self.floors, chunk.lanes.count, -1)
            consume.consume_partition(
                positions[order], found.latest[order], lanes[order], self.floors, keep, floors
            )
        else:
            self.floor = consume.consume_any(positions[order], found.latest[order], self.floor, keep, floors)
        before = np.empty_like(floors)
        before[order] = floors
        kept = np.empty(len(found), bool)
        kept[order] = keep != 0
        lowest = np.maximum(found.lowest, _after(chunk, found.event, before))
        return Hits(found.event[kept], found.latest[kept], lowest[kept])


def _joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Events and counts one after another; one large count makes all of them Python integers."""
    numbers = [number for _, number in parts]
    if any(number.dtype == object for number in numbers):
        numbers = [number.astype(object) for number in numbers]
    return np.concatenate([event for event, _ in parts]), np.concatenate(numbers)


def _first(segments: Segments, event: np.ndarray) -> np.ndarray:
    """Where the hits of each segment begin among ascending ones, and their number."""
    return np.append(np.searchsorted(event, segments.report), len(event))


def _after(chunk: Chunk, event: np.ndarray, floors: np.ndarray) -> np.ndarray:
    """For each hit the first event of its lane that comes after a stream position."""
    positions, lanes = chunk.events.positions, chunk.events.lanes
    if not len(event):
        return event
    if not len(lanes):
        return np.searchsorted(positions, floors, side="right")
    # Events ascend by (lane, position): one search over both, packed into one number.
    least = int(positions.min()) - 1
    width = int(positions.max()) - least + 1
    packed = lanes.astype(np.int64) * width + (positions - least)
    wanted = lanes[event].astype(np.int64) * width + np.maximum(floors - least, 0)
    return np.searchsorted(packed, wanted, side="right")

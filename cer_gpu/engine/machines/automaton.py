"""The CPU backend: hits and counts of chunks, with what is carried from chunk to chunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from cer_gpu.engine.machines.automaton_stream import AutomatonRuns
from cer_gpu.engine.machines.by_start import OrderedAnswers
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.consume import Consumption
from cer_gpu.engine.machines.ends import Ends, ends_of, first_ends, no_ends
from cer_gpu.engine.machines.ends import joined as ends_joined
from cer_gpu.engine.machines.machine import Answers
from cer_gpu.engine.machines.prefix import Prefixes
from cer_gpu.engine.machines.strategies import Listed, Pieces, Single
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration import structure
from cer_gpu.enumeration.blocks import numbers_joined
from cer_gpu.enumeration.structure import Structure
from cer_gpu.errors import LimitError
from cer_gpu.kernels.best import cpu as best
from cer_gpu.kernels.counts.cpu import counts, forward_counts
from cer_gpu.kernels.counts_by_start.cpu import counts_by_start
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.hits.cpu import hits
from cer_gpu.kernels.runs.programs import backward_program, forward_program, hits_program
from cer_gpu.plan.automaton import AutomatonMachine, Choice
from cer_gpu.plan.compiled import CompiledQuery

Result = TypeVar("Result")

COUNT_BITS = 1 << 16
"""Bits of the number of partial matches at most."""


class AutomatonRunner:
    """Runs a deterministic complex event automaton over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    carries : bool
        For a query without a window and without CONSUME BY: the chunks hold new events only, and what the
        partial matches before them amount to is carried in registers.
    """

    chunks = 1
    """How many times `cer_gpu.engine.run.chunks.CHUNK` events it is given at a time."""

    def __init__(self, query: CompiledQuery, workers: Workers, carries: bool) -> None:
        machine = query.machine
        assert isinstance(machine, AutomatonMachine)
        self.tables = machine.tables
        self._choice = machine.choice
        self._prefixes = None if machine.monitor is None else Prefixes(query, machine.tables, machine.monitor)
        self._query = query
        self._workers = workers
        self._carries = carries
        self._hits_program = hits_program(self.tables)
        self._forward = forward_program(self.tables)
        self._backward = backward_program(self.tables)
        self._registers = np.empty((0, self.tables.n_live), np.int64)
        self._vectors = np.empty((0, self.tables.n_live), np.int64)
        self.consumption = Consumption(query)

    def read(self, events: Relevant, lane_count: int) -> Relevant:
        """New events, with the symbols that the monitor of the prefix gives them."""
        return events if self._prefixes is None else self._prefixes(events, lane_count)

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk that are reported; unless `bounded`, `lowest` may be left empty."""
        if not len(chunk.segments) or self._query.limit == 0:
            return no_ends()
        bounded = bounded or self._query.consume != "NONE"
        found = self._monotone_hits(chunk, bounded) if chunk.monotone else self._hits_by_start(chunk)
        return self.consumption.left(chunk, found)

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk that are reported and how many complex events end at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (h,), int64
            Ascending.
        number : ndarray, shape (h,), int64, or object past 2^62
        """
        if not len(chunk.segments) or self._query.limit == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        if self._choice is not None:
            ends = self.ends(chunk)
            if chunk.monotone and self._choice.single:
                return ends.event, np.ones(len(ends), np.int64)
            return ends.event, self._chosen(chunk, ends, self._choice).count
        if not chunk.monotone:
            return self._count_by_start(chunk, self.ends(chunk))
        if self._carries:
            return self._count_carried(chunk)
        found = self.ends(chunk) if self._query.consume != "NONE" else None

        def run(segments: Segments) -> tuple[np.ndarray, np.ndarray]:
            if found is None:
                event, _ = self._hits_in(chunk, segments)
                first = first_ends(segments, event)
                lowest = chunk.lowest_starts(segments, first, event, self._query.window)
            else:
                first, event, lowest = ends_of(segments, found)
            return event, self._counts_at(chunk, first, event, lowest, exact=True)

        return _joined(self._over_units("counting", chunk.segments, run))

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
                first_ends(segments, event),
                event,
                self._vectors[segments.lane],
            )
            return event, number, segments, after

        parts = self._over_units("counting", chunk.segments, run)
        for _, _, segments, after in parts:
            # Not by the threads: large numbers put another array in place of the one that all share.
            self._store_vectors(segments.lane, after)
        return _joined([(event, number) for event, number, _, _ in parts])

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends of a chunk."""
        if self._choice is not None:
            return self._chosen(chunk, ends, self._choice)
        if not chunk.monotone:
            return self._by_start_answers(chunk, ends)
        return self.structure(chunk, ends)

    def open_runs(self) -> AutomatonRuns | None:
        """What of a stream is kept between pushes; None for a choice, and where no interval of starts is."""
        window = self._query.window
        if self._choice is not None or (window is not None and window.kind == "attribute"):
            return None
        return AutomatonRuns(self.tables, self._query.consume)

    def _chosen(self, chunk: Chunk, ends: Ends, choice: Choice) -> Single | Pieces | Listed:
        """What the strategy of SELECT leaves of the complex events at each end."""
        if chunk.monotone:
            if choice.single:
                return self._single(chunk, ends, choice)
            return Pieces(choice, chunk, ends, self._workers)
        return Listed(choice, self._by_start_answers(chunk, ends))

    def _single(self, chunk: Chunk, ends: Ends, choice: Choice) -> Single:
        latest = choice.strategy == "LAST"

        def run(unit: tuple[int, int]) -> best.Paths:
            own = ends_of(chunk.segments.part(*unit), ends)
            return best.best(self.tables, chunk.events.symbols, *own, latest)

        units = chunk.segments.units(self._workers.threads)
        parts = self._workers.map("choosing", run, units, chunk.segments.events)
        return Single(best.joined(parts), ends.event, choice.shown)

    def _by_start_answers(self, chunk: Chunk, ends: Ends) -> OrderedAnswers:
        """The complex events of ends, each on its own: for a window that is no interval of starts."""
        assert self._query.window is not None
        _, count = self._count_by_start(chunk, ends)
        return OrderedAnswers(self.tables, chunk, ends, count, self._query.window.size)

    def structure(self, chunk: Chunk, found: Ends) -> Structure:
        """The persistent structure of a chunk's hits, built by several threads."""

        def build(unit: tuple[int, int]) -> Structure:
            segments = chunk.segments.part(*unit)
            part = Structure(self.tables)
            first, event, lowest = ends_of(segments, found)
            # 2^62 for all hits of a segment where one exceeds it
            count = self._counts_at(chunk, first, event, lowest, exact=False)
            ends = CountedHits(first, event, lowest, count)
            part.build(chunk.events.symbols, segments.begin, segments.stop, ends)
            return part

        units = chunk.segments.units(self._workers.threads)
        return structure.joined(self._workers.map("building", build, units, chunk.segments.events))

    def _counts_at(
        self, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray, exact: bool
    ) -> np.ndarray:
        symbols = chunk.events.symbols
        return counts(self.tables, self._forward, self._backward, symbols, first, event, lowest, exact)

    def _count_by_start(self, chunk: Chunk, found: Ends) -> tuple[np.ndarray, np.ndarray]:
        lowest = np.zeros(len(chunk.events), np.int64)
        lowest[found.event] = found.lowest
        event, _, number = self._by_start(chunk, lowest)
        return found.event, number[np.searchsorted(event, found.event)]

    # --------------------------------------------------------------------------------------- hits

    def _over_units(self, phase: str, segments: Segments, run: Callable[[Segments], Result]) -> list[Result]:
        units = segments.units(self._workers.threads)
        return self._workers.map(phase, lambda unit: run(segments.part(*unit)), units, segments.events)

    def _monotone_hits(self, chunk: Chunk, bounded: bool) -> Ends:
        if self._carries:
            self._registers = grown(self._registers, chunk.lanes.count, -1)

        def run(segments: Segments) -> Ends:
            event, latest = self._hits_in(chunk, segments)
            if not self._carries:
                latest = chunk.events.positions[latest]
            if not bounded:
                return Ends(event, latest, event[:0])
            first = first_ends(segments, event)
            return Ends(event, latest, chunk.lowest_starts(segments, first, event, self._query.window))

        return ends_joined(self._over_units("finding ends", chunk.segments, run))

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

    def _hits_by_start(self, chunk: Chunk) -> Ends:
        event, starts, _ = self._by_start(chunk, np.zeros(len(chunk.events), np.int64))
        lowest = chunk.lowest_starts(chunk.lanes, first_ends(chunk.lanes, event), event, self._query.window)
        return Ends(event, chunk.events.positions[starts], lowest)

    def _by_start(self, chunk: Chunk, lowest: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Hits with their latest admissible start (an event) and their counts, for any window."""
        events, keyed = chunk.events, chunk.events.all_keyed
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

        parts = self._over_units("counting", chunk.segments, run)
        event, starts, number = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return event, starts, number

    def _store_vectors(self, lanes: np.ndarray, vectors: np.ndarray) -> None:
        check_open(vectors)
        if vectors.dtype == object and self._vectors.dtype != object:
            self._vectors = self._vectors.astype(object)
        self._vectors[lanes] = vectors


def check_open(vectors: np.ndarray) -> None:
    """Raise `LimitError` where the numbers of open partial matches have no practical meaning."""
    if vectors.dtype == object and max(int(value).bit_length() for value in vectors.flat) > COUNT_BITS:
        raise LimitError(
            f"more than 2^{COUNT_BITS:,} partial matches are open: the number of complex events has no "
            "practical meaning; give the query a WITHIN, or ask for hits"
        )


def _joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Events and counts one after another."""
    return np.concatenate([event for event, _ in parts]), numbers_joined([number for _, number in parts])


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> AutomatonRunner:
    """What runs the automaton of a query on the CPU; parameters as in `runner_of`."""
    return AutomatonRunner(query, workers, carries)

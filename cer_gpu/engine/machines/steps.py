"""The CPU backend of timed patterns: hits, counts and complex events of chunks, unit by unit."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, counts_joined, counts_sorted, first_ends
from cer_gpu.engine.machines.unit_runner import ChunkUnit, RunnerDevices, UnitsRunner
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import numbers_joined
from cer_gpu.enumeration.sessions import GreatestSets, OrderedSets
from cer_gpu.enumeration.steps import StepAnswers, StepEnds
from cer_gpu.kernels.loop.contract import FoundEnds, StepNodes
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.steps import cpu_counts, cpu_hits, cpu_nodes, cpu_sessions
from cer_gpu.kernels.steps.contract import (
    Sessions,
    ShortTables,
    StepEvents,
    ending_symbols,
    lone_ends,
    short_tables,
)
from cer_gpu.kernels.steps.cpu_paths import path_labels
from cer_gpu.kernels.steps.cpu_sessions import OrderedSessions
from cer_gpu.kernels.steps.cpu_short_chains import MOST_EVENTS
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.step_machine import StepMachine

if TYPE_CHECKING:
    from cer_gpu.engine.machines.steps_stream import StepRuns


class StepRunner(UnitsRunner):
    """Runs a deterministic automaton of steps over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    devices : RunnerDevices or None

    Attributes
    ----------
    tables : StepTables
    """

    def __init__(
        self, query: CompiledQuery, workers: Workers, devices: RunnerDevices[StepRunner] | None = None
    ) -> None:
        super().__init__(query, workers, devices)
        machine = query.machine
        assert isinstance(machine, StepMachine)
        self.tables = machine.tables
        self._machine = machine
        self._span = machine.span
        self._lone = lone_ends(machine.tables)
        self._sessions, self._reach = machine.sessions, machine.reach
        self._followed: tuple[Chunk, OrderedSessions] | None = None
        self._ending = ending_symbols(machine.tables)
        self._labels = path_labels(machine.tables)
        bounded = query.window is not None and query.consume == "NONE" and query.limit != 0
        single = self._sessions is not None or self._lone is not None
        self._few_steps = short_tables(machine.tables) if bounded and not single else None

    def _counted_ends(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        if chunk.held:
            return None
        if self._all_count:
            there = None if self._devices is None else self._devices.counted_ends(self, chunk)
            return self._every_counted(chunk) if there is None else counts_sorted(*there)
        if self._few_steps is not None and self._devices is None:
            longest = (chunk.segments.stop - chunk.segments.begin).max()
            if 0 < longest <= MOST_EVENTS:
                return self._counted_candidates(chunk, self._few_steps)
        return None

    def _counts(self, chunk: Chunk, found: Ends) -> np.ndarray:
        if self._sessions is not None:
            return np.ones(len(found), np.int64)
        if chunk.held:
            return self._listed(chunk, found).exact_counts()
        return super()._counts(chunk, found)

    def needed(self, chunk: Chunk) -> np.ndarray:
        """As `MachineRunner.needed`: where the last events begin that follow one another within `reach`.

        For a chunk that is `in_order`: the events of the last session of each lane, ascending.
        """
        sessions, lanes = self._reach, chunk.lanes
        if chunk.in_order:
            return cpu_sessions.last_sessions(self._in_order(chunk))
        if sessions is None:
            return lanes.begin
        begins = np.empty(len(chunk.events), np.int64)
        times, places = self._timed(chunk.events)
        cpu_sessions.session_begins(sessions, times, places, lanes.begin, lanes.stop, begins)
        return begins[lanes.stop - 1]

    def _in_order(self, chunk: Chunk) -> OrderedSessions:
        """The sessions of a chunk that is `in_order`, followed once."""
        assert self._sessions is not None
        assert self._lone is not None
        if self._followed is not None and self._followed[0] is chunk:
            return self._followed[1]
        times, places = self._timed(chunk.events)
        found = cpu_sessions.ordered_sessions(
            self._sessions, self._lone, chunk.events.symbols, chunk.events.lanes, times, places,
            int(chunk.lanes.report[0]),
        )  # fmt: skip
        self._followed = chunk, found
        return found

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends of a chunk."""
        if self._sessions is not None and chunk.in_order:
            return OrderedSets(ends.event, self._in_order(chunk), self._sessions.label)
        if self._sessions is not None:
            return self._greatest(chunk, ends, self._sessions)
        return self._listed(chunk, ends)

    def open_runs(self) -> StepRuns | None:
        """The runs that a stream keeps; None if the query consumes and its window is no interval."""
        query = self._query
        if query.pushes_run_again:
            return None
        from cer_gpu.engine.machines.steps_stream import StepRuns  # only streams need it

        size = query.window.size if query.window is not None and query.filters_answers else None
        return StepRuns(self._machine, query.consume, size)

    def _greatest(self, chunk: Chunk, ends: Ends, sessions: Sessions) -> GreatestSets:
        """The complex event with all events of the session of each end, from the lowest start on."""
        begins = np.empty(len(chunk.events), np.int64)

        def begin(part: Segments) -> None:
            times, places = self._timed(chunk.events)
            cpu_sessions.session_begins(sessions, times, places, part.begin, part.stop, begins)

        self._workers.map("following sessions", begin, chunk.lanes.units(self._workers.threads), len(begins))
        return GreatestSets(ends.event, np.maximum(begins[ends.event], ends.lowest), sessions.label)

    def _listed(self, chunk: Chunk, ends: Ends) -> StepAnswers:
        """The complex events at some ends of a chunk, found by several threads."""

        def build(unit: ChunkUnit) -> tuple[StepNodes, np.ndarray, int]:
            given, hits = (unit.events, unit.measured, unit.size, unit.segments), unit.hits(ends)
            nodes = cpu_nodes.build(self.tables, *given, hits)
            return nodes, cpu_counts.counts(self.tables, unit.events, unit.segments, hits, nodes), unit.low

        units = self._each("finding matches", chunk, build)
        nodes = cpu_nodes.joined([nodes for nodes, _, _ in units], [low for _, _, low in units])
        number = numbers_joined([number for _, number, _ in units])
        return StepAnswers(
            StepEnds(nodes, ends.event, ends.lowest, self._labels), number, self._window(chunk)
        )

    def counts_here(self, chunk: Chunk, found: Ends) -> np.ndarray:
        """How many complex events end at each of some ends, counted by several threads of the CPU."""

        def count(unit: ChunkUnit) -> np.ndarray:
            return cpu_counts.counts(self.tables, unit.events, unit.segments, unit.hits(found))

        return numbers_joined(self._each("counting", chunk, count))

    def _counted_candidates(self, chunk: Chunk, few: ShortTables) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk and their numbers, where these take constant time for each event.

        So every event with a symbol that may end a complex event is counted, and which of them are ends is
        known by then: they are not looked for before.
        """

        def count(unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
            event = cpu_sessions.lone(self._ending, unit.events.symbols, unit.segments)
            first = first_ends(unit.whole, event + unit.low)
            lowest = chunk.lowest_starts(unit.whole, first, event + unit.low, self._query.window) - unit.low
            hits = SegmentHits(first, event, lowest)
            number = cpu_counts.counts(self.tables, unit.events, unit.segments, hits, few=few)
            some = np.flatnonzero(number)
            return event[some] + unit.low, number[some]

        return counts_joined(self._each("counting", chunk, count))

    @property
    def _all_count(self) -> bool:
        """Whether every complex event of the pattern counts: none is consumed, and WITHIN leaves none out."""
        query = self._query
        return query.consume == "NONE" and self._sessions is None and (query.window is None or self.spans)

    @property
    def spans(self) -> bool:
        """Whether no complex event of the pattern lasts longer than the window."""
        window, span = self._query.window, self._span
        return window is not None and window.kind == "time" and span is not None and span <= window.size

    def _every_counted(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk and their numbers, where every complex event counts."""
        segments = chunk.segments
        units = segments.units(self._workers.threads)
        reported = list(accumulate((int((one.stop - one.report).sum()) for one in units), initial=0))
        out = FoundEnds(*np.empty((2, reported[-1]), np.int64))

        def count(number: int) -> tuple[np.ndarray, np.ndarray]:
            unit, own = self.unit(chunk, units[number]), slice(*reported[number : number + 2])
            room = FoundEnds(out.event[own], out.start[own])
            event, found = cpu_counts.counted_ends(self.tables, unit.events, unit.segments, room)
            event += unit.low
            return event, found

        parts = self._workers.map("counting", count, range(len(units)), segments.events)
        if sum(len(event) for event, _ in parts) == len(out.event) and _fit(parts):
            # Every event is an end, and its number is where it belongs.
            return counts_sorted(out.event, out.start)
        return counts_joined(parts)

    # ------------------------------------------------------------------------------------- events

    def _read(self, events: EventArrays, low: int, high: int) -> StepEvents:
        times, places = (values[low:high] for values in self._timed(events))
        return StepEvents(events.symbols[low:high], times, places)

    def timed(self, chunk: Chunk) -> StepEvents:
        """The events of a chunk, as kernels read them."""
        return StepEvents(chunk.events.symbols, *self._timed(chunk.events))

    def _timed(self, events: EventArrays) -> tuple[np.ndarray, np.ndarray]:
        """The times of events, as kernels subtract them, and their places."""
        times = events.times if len(events.times) else events.keys
        if not self.tables.view_timed.any():
            times = times[:0]
        return times.view(self.tables.view_low.dtype), events.places

    def hits(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """As `UnitsRunner.hits`."""
        if chunk.in_order:
            event = self._in_order(chunk).event
            return Ends(event, chunk.events.positions[event], event)
        return super().hits(chunk, bounded)

    def _found(self, unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
        if self._lone is not None:
            event = cpu_sessions.lone(self._lone, unit.events.symbols, unit.segments)
            return event, event
        # A window that leaves nothing out need not be checked.
        keys, size = (unit.measured[:0], 0) if self.spans else (unit.measured, unit.size)
        return cpu_hits.hits(self.tables, unit.events, keys, size, unit.segments)


def _fit(parts: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether all numbers are 64-bit integers."""
    return all(number.dtype == np.int64 for _, number in parts)


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> StepRunner:
    """The runner of a timed pattern on the CPU; it carries nothing."""
    return StepRunner(query, workers)

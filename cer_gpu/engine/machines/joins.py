"""The CPU backend of joins: hits, counts and the structure of chunks, unit by unit."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cer_gpu.engine.machines.by_units import UnitsRunner
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, counts_joined, ends_of, first_ends
from cer_gpu.engine.machines.ends import joined as ends_joined
from cer_gpu.engine.machines.found import Answers
from cer_gpu.engine.machines.joins_stream import JoinRuns
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.products import JoinAnswers, Products
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.joins import cpu_hits as join_hits
from cer_gpu.kernels.joins.contract import KeyedEvents, offsets
from cer_gpu.kernels.joins.cpu_slots import EMPTY, localise, localise_near
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.join_tables import JoinMachine


@dataclass(frozen=True, slots=True)
class JoinUnit:
    """Neighbouring segments of a chunk that one thread runs, with their events numbered from 0 on.

    Attributes
    ----------
    segments : Segments
    events : KeyedEvents
    measured : ndarray, shape (n,) or (0,), int64 or float64
        What the window measures; empty without a window.
    low : int
        The number of the first event in the chunk.
    """

    segments: Segments
    events: KeyedEvents
    measured: np.ndarray
    low: int


class JoinDevices(Protocol):
    """Runs a join on devices, where that is faster and there is memory for it.

    Every function gets the runner on the CPU, whose functions `..._here` do the same, and a chunk.

    Attributes
    ----------
    chunks : int
        How many ordinary chunks (`cer_gpu.engine.run.chunks.CHUNK` events each) make a chunk for it.
    """

    chunks: int

    def hits(self, runner: JoinRunner, chunk: Chunk) -> Ends | None:
        """As `JoinRunner.hits_here`; None where the CPU has to do it."""
        ...

    def counts(self, runner: JoinRunner, chunk: Chunk, ends: Ends) -> np.ndarray | None:
        """As `JoinRunner.counts_here`; None where the CPU has to do it."""
        ...


class JoinRunner(UnitsRunner):
    """Runs a parallelized complex event automaton over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    devices : JoinDevices or None
        Finds ends and counts on devices; None for the CPU.

    Attributes
    ----------
    tables : JoinTables
    columns_of : list of list of int
        For each space of keys, the columns of slots that are in it.
    """

    def __init__(self, query: CompiledQuery, workers: Workers, devices: JoinDevices | None = None) -> None:
        super().__init__(query, workers)
        machine = query.machine
        assert isinstance(machine, JoinMachine)
        self.tables = machine.tables
        self.columns_of = [list(columns) for columns in machine.space_columns]
        self._label_atoms = machine.label_atoms
        self._devices = devices
        self.chunks = 1 if devices is None else devices.chunks

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk that are reported and how many answers end at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (h,), int64
            Ascending.
        number : ndarray, shape (h,), int64, or object past 2^62
        """
        query = self._query
        every = query.window is None and query.consume == "NONE" and query.limit != 0
        if every and self._devices is None and not chunk.held:
            return self._counted_ends(chunk)
        found = self.ends(chunk)
        if not len(found):
            return found.event, found.event
        return found.event, self._exact_counts(chunk, found)

    def _counted_ends(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk and their numbers, where every answer counts."""

        def count(numbers: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            unit, whole = self._unit(chunk, numbers), chunk.segments.part(*numbers)
            bounds = unit.segments.begin, unit.segments.report, unit.segments.stop
            event, number = join_hits.counted_ends(self.tables, unit.events, *bounds)
            event += unit.low
            if not (number < 0).any():
                return event, number
            large = np.flatnonzero(number < 0)
            lowest = whole.begin[np.searchsorted(whole.report, event[large], side="right") - 1]
            exact = number.astype(object)
            exact[large] = self.counts_here(chunk, Ends(event[large], event[large], lowest))
            return event, exact

        return counts_joined(self._workers.map("counting", count, self._units(chunk), chunk.segments.events))

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The answers at some ends of a chunk."""
        return self.structure(chunk, ends, listed=True)

    def open_runs(self) -> JoinRuns | None:
        """The runs to keep between pushes; None if the query consumes and its window is no interval."""
        if self._query.pushes_run_again:
            return None
        return JoinRuns(
            self.tables, self.columns_of, self._label_atoms, self._query.consume, self._workers.map,
            self._query.window.size if self._query.window and self._query.filters_answers else None,
        )  # fmt: skip

    def structure(self, chunk: Chunk, found: Ends, listed: bool = False) -> JoinAnswers:
        """The persistent structure of a chunk's hits, built by several threads.

        Parameters
        ----------
        chunk : Chunk
        found : Ends
        listed : bool, optional
            Whether all answers are to be listed.
        """
        label_atoms = self._label_atoms if listed else None

        def build(numbers: tuple[int, int]) -> tuple[Products, int]:
            unit = self._unit(chunk, numbers)
            first, event, lowest = ends_of(chunk.segments.part(*numbers), found)
            built = Products(self.tables)
            begin, stop = unit.segments.begin, unit.segments.stop
            built.build(unit.events, begin, stop, first, event - unit.low, lowest - unit.low, label_atoms)
            return built, unit.low

        units = self._workers.map("finding matches", build, self._units(chunk), chunk.segments.events)
        return JoinAnswers(
            [built for built, _ in units], [low for _, low in units], self._label_atoms, self._window(chunk),
            self._workers.map,
        )  # fmt: skip

    def _exact_counts(self, chunk: Chunk, found: Ends) -> np.ndarray:
        counted = None if self._devices is None else self._devices.counts(self, chunk, found)
        return self.counts_here(chunk, found) if counted is None else counted

    def counts_here(self, chunk: Chunk, found: Ends) -> np.ndarray:
        """How many answers end at each of some ends, counted by the CPU."""
        return self.structure(chunk, found).exact_counts()

    # -------------------------------------------------------------------------------------- units

    def _unit(self, chunk: Chunk, numbers: tuple[int, int]) -> JoinUnit:
        segments = chunk.segments.part(*numbers)
        low, high = int(segments.begin.min()), int(segments.stop.max())
        moved = Segments(segments.begin - low, segments.report - low, segments.stop - low, segments.lane)
        events = chunk.events
        slots = events.slots[:, low:high].copy()
        counts = np.array([self._localised(slots, columns) for columns in self.columns_of], np.int64)
        places = events.places[low:high] if len(events.places) else events.places
        keyed = KeyedEvents(events.symbols[low:high], slots, places, offsets(self.tables.entry_space, counts))
        return JoinUnit(moved, keyed, self.measured(chunk)[low:high], low)

    @staticmethod
    def _localised(slots: np.ndarray, columns: list[int]) -> int:
        """Number the slots of a space again, so that the look-up table is as large as the unit."""
        rows = np.ascontiguousarray(slots[columns])
        least = max(int(rows.min(initial=np.iinfo(np.int32).max)), 0)
        reach = int(rows.max(initial=-1)) + 1 - least
        if reach <= rows.size:
            count = localise_near(rows, least, np.full(max(reach, 0), -1, np.int32))
        else:
            room = 1 << max(rows.size, 8).bit_length() + 1
            count = localise(rows, np.full(room, EMPTY, np.int64), np.empty(room, np.int32))
        slots[columns] = rows
        return int(count)

    def _hits(self, chunk: Chunk, bounded: bool = True) -> Ends:
        found = None if self._devices is None else self._devices.hits(self, chunk)
        return self.hits_here(chunk) if found is None else found

    def hits_here(self, chunk: Chunk) -> Ends:
        """The ends of a chunk, found by the CPU; a window that is no interval is not checked."""
        window = self._query.window

        def run(numbers: tuple[int, int]) -> Ends:
            unit = self._unit(chunk, numbers)
            events, segments = unit.events, unit.segments
            size = 0 if window is None else window.size
            bounds = segments.begin, segments.report, segments.stop
            event, latest = join_hits.hits(self.tables, events, unit.measured, size, *bounds)
            event += unit.low
            whole = chunk.segments.part(*numbers)
            lowest = chunk.lowest_starts(whole, first_ends(whole, event), event, window)
            return Ends(event, chunk.events.positions[latest + unit.low], lowest)

        return ends_joined(self._workers.map("finding hits", run, self._units(chunk), chunk.segments.events))


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> JoinRunner:
    """The runner of a query's join on the CPU; it carries nothing."""
    return JoinRunner(query, workers)

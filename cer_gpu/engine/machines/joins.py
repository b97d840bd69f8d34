"""The CPU backend of joins: hits, counts and the structure of chunks, unit by unit."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends, counts_joined
from cer_gpu.engine.machines.joins_stream import JoinRuns
from cer_gpu.engine.machines.unit_runner import ChunkUnit, RunnerDevices, UnitsRunner
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.products import JoinAnswers, Products
from cer_gpu.kernels.joins import cpu_hits as join_hits
from cer_gpu.kernels.joins.contract import KeyedEvents, offsets
from cer_gpu.kernels.joins.cpu_slots import EMPTY, localise, localise_near
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.join_tables import JoinMachine


class JoinRunner(UnitsRunner):
    """Runs a parallelized complex event automaton over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    devices : RunnerDevices or None

    Attributes
    ----------
    tables : JoinTables
    columns_of : list of list of int
        For each space of keys, the columns of slots that are in it.
    """

    def __init__(
        self, query: CompiledQuery, workers: Workers, devices: RunnerDevices[JoinRunner] | None = None
    ) -> None:
        super().__init__(query, workers, devices)
        machine = query.machine
        assert isinstance(machine, JoinMachine)
        self.tables = machine.tables
        self.columns_of = [list(columns) for columns in machine.space_columns]
        self._label_atoms = machine.label_atoms

    def _counted_ends(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        query = self._query
        if query.window is not None or query.consume != "NONE" or self._devices is not None or chunk.held:
            return None

        def count(unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
            event, number = join_hits.counted_ends(self.tables, unit.events, *unit.segments)
            event += unit.low
            if not (number < 0).any():
                return event, number
            large = np.flatnonzero(number < 0)
            segment = np.searchsorted(unit.whole.report, event[large], side="right") - 1
            exact = number.astype(object)
            exact[large] = self.counts_here(
                chunk, Ends(event[large], event[large], unit.whole.begin[segment])
            )
            return event, exact

        return counts_joined(self._each("counting", chunk, count))

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

        def build(unit: ChunkUnit) -> tuple[Products, int]:
            built, segments = Products(self.tables), unit.segments
            first, event, lowest = unit.hits(found)
            built.build(unit.events, segments.begin, segments.stop, first, event, lowest, label_atoms)
            return built, unit.low

        units = self._each("finding matches", chunk, build)
        return JoinAnswers(
            [built for built, _ in units], [low for _, low in units], self._label_atoms, self._window(chunk),
            self._workers.map,
        )  # fmt: skip

    def counts_here(self, chunk: Chunk, found: Ends) -> np.ndarray:
        """How many answers end at each of some ends, counted by the CPU."""
        return self.structure(chunk, found).exact_counts()

    # -------------------------------------------------------------------------------------- units

    def _found(self, unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
        return join_hits.hits(self.tables, unit.events, unit.measured, unit.size, *unit.segments)

    def _read(self, events: EventArrays, low: int, high: int) -> KeyedEvents:
        slots = events.slots[:, low:high].copy()
        counts = np.array([self._localised(slots, columns) for columns in self.columns_of], np.int64)
        places = events.places[low:high] if len(events.places) else events.places
        return KeyedEvents(events.symbols[low:high], slots, places, offsets(self.tables.entry_space, counts))

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


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> JoinRunner:
    """The runner of a query's join on the CPU; it carries nothing."""
    return JoinRunner(query, workers)

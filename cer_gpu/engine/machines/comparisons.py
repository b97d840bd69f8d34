"""The CPU backend of ordered look-ups: hits, counts and complex events of chunks, unit by unit."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.compared_stream import ComparedRuns
from cer_gpu.engine.machines.ends import Ends, counts_joined
from cer_gpu.engine.machines.labelled_slots import LabelledSlots
from cer_gpu.engine.machines.open_runs import OpenRuns
from cer_gpu.engine.machines.pairs_runner import PairsRunner, segments_of
from cer_gpu.engine.machines.unit_runner import ChunkUnit, RunnerDevices
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.compared_choices import ChosenPositions, MaximalChains
from cer_gpu.enumeration.comparisons import ComparedStructure
from cer_gpu.enumeration.products import JoinAnswers, ListedUnit
from cer_gpu.kernels.comparisons import cpu_counts, cpu_hits
from cer_gpu.kernels.comparisons.contract import countable_by_few, shallow
from cer_gpu.kernels.comparisons.cpu_nested_loop import counted_by_few
from cer_gpu.kernels.comparisons.cpu_shared_view_hits import alike, hits_alike
from cer_gpu.plan.comparisons import ComparedMachine
from cer_gpu.plan.compiled_query import CompiledQuery

NO_ATOMS = np.zeros((0, 0), np.uint8)
"""The labels of a query that is no rule: they fill no atoms."""


class ComparedRunner(PairsRunner):
    """Runs a deterministic automaton of compared steps over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    devices : RunnerDevices or None
    """

    def __init__(
        self, query: CompiledQuery, workers: Workers, devices: RunnerDevices[ComparedRunner] | None = None
    ) -> None:
        machine = query.machine
        assert isinstance(machine, ComparedMachine)
        super().__init__(query, workers, machine.tables, machine.slot_rows, devices)
        self._machine = machine
        self._alike = alike(machine.tables)

    def _counted_ends(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        query, tables = self._query, self._machine.tables
        if query.consume != "NONE" or self._machine.choice is not None:
            return None
        if query.window is None or (shallow(tables) and not chunk.held):
            there = None if self._devices is None else self._devices.counted_ends(self, chunk)
            return self._every_counted(chunk) if there is None else there
        return self._counted_by_few(chunk) if not chunk.held and countable_by_few(tables) else None

    def counts_here(self, chunk: Chunk, found: Ends) -> np.ndarray:
        """How many complex events end at each of some ends."""
        return self._structure(chunk, found, chunk.held).exact_counts()

    def answers(self, chunk: Chunk, ends: Ends) -> JoinAnswers:
        """The complex events at some ends of a chunk."""
        return self._structure(chunk, ends, listed=True)

    def open_runs(self) -> OpenRuns | None:
        """The runs to keep between pushes."""
        if self._query.pushes_run_again:
            return None
        labelled = LabelledSlots(self.values, self._machine.slot_rows) if self.orders_texts else None
        return ComparedRuns(self._query, labelled)

    def _structure(self, chunk: Chunk, found: Ends, listed: bool) -> JoinAnswers:
        """The complex events of a chunk's ends, counted by several threads."""

        choice = self._machine.choice

        def build(unit: ChunkUnit) -> tuple[ListedUnit, int]:
            paired, ends = self.arranged(unit), unit.hits(found)
            if choice is None:
                return ComparedStructure(paired, ends, listed), unit.low
            if choice.climb is None:
                return ChosenPositions(paired, ends, choice), unit.low
            return MaximalChains(paired, ends, choice.climb, listed), unit.low

        units = self._each("finding matches", chunk, build)
        return JoinAnswers(
            [built for built, _ in units], [low for _, low in units], NO_ATOMS, self._window(chunk),
            self._workers.map,
        )  # fmt: skip

    def _every_counted(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk and their numbers, where every complex event counts."""

        def count(unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
            event, number = cpu_counts.counted_ends(*self.arranged(unit).given)
            return event + unit.low, number

        return counts_joined(self._each("counting", chunk, count))

    def _counted_by_few(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        """The same where the window holds few events everywhere; else None."""

        def count(unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray] | None:
            given = unit.events, unit.measured, unit.size, segments_of(unit)
            found = counted_by_few(self._machine.tables, *given)
            return None if found is None else (found[0] + unit.low, found[1])

        parts = self._each("counting", chunk, count)
        there = [part for part in parts if part is not None]
        return counts_joined(there) if len(there) == len(parts) else None

    def _found(self, unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
        given = self.arranged(unit).given
        return cpu_hits.hits(*given) if self._alike is None else hits_alike(*given, self._alike)


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> ComparedRunner:
    """The runner of ordered look-ups on the CPU; it carries nothing."""
    return ComparedRunner(query, workers)

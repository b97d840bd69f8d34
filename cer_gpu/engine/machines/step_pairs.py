"""The CPU backend of chains of which two steps are compared: hits and counts of chunks, unit by unit."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends, counts_joined
from cer_gpu.engine.machines.pairs_runner import PairsRunner, segments_of
from cer_gpu.engine.machines.unit_runner import ChunkUnit, EndsRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import numbers_joined
from cer_gpu.kernels.step_pairs import cpu_counts, cpu_hits
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.step_pairs import StepPairMachine


class StepPairRunner(PairsRunner, EndsRunner):
    """Finds and counts the matches of a chain over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    """

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        machine = query.machine
        assert isinstance(machine, StepPairMachine)
        super().__init__(query, workers, machine.tables, machine.slot_rows)
        self._chain = machine.tables, machine.apart

    def _found(self, unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
        return cpu_hits.hits(*self._chain, unit.events, unit.measured, unit.size, segments_of(unit))

    def _counted_ends(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        if self._query.consume != "NONE":
            return None

        def count(unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
            given = unit.events, unit.measured, unit.size, segments_of(unit)
            event, number = cpu_counts.counted_ends(*self._chain, *given)
            return event + unit.low, number

        return counts_joined(self._each("counting", chunk, count))

    def counts_here(self, chunk: Chunk, found: Ends) -> np.ndarray:
        """How many matches end at each of some ends."""

        def count(unit: ChunkUnit) -> np.ndarray:
            return cpu_counts.counts(*self._chain, unit.events, segments_of(unit), *unit.hits(found))

        return numbers_joined(self._each("counting", chunk, count))


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> StepPairRunner:
    """The runner of a chain on the CPU; it carries nothing."""
    return StepPairRunner(query, workers)

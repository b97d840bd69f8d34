"""The CPU backend of iterations with thresholds: the hits of chunks, unit by unit."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.unit_runner import ChunkUnit, EndsRunner
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.thresholds import cpu_hits
from cer_gpu.kernels.thresholds.contract import CountedEvents
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.threshold_machine import ThresholdMachine


class ThresholdRunner(EndsRunner):
    """Finds where the thresholds of an iteration are met, over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    """

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        machine = query.machine
        assert isinstance(machine, ThresholdMachine)
        super().__init__(query, workers)
        self._thresholds = machine.thresholds

    def _read(self, events: EventArrays, low: int, high: int) -> CountedEvents:
        slots = np.ascontiguousarray(events.slots[:, low:high])
        places = events.places[low:high] if len(events.places) else events.places
        return CountedEvents(events.symbols[low:high], places, slots)

    def _found(self, unit: ChunkUnit) -> tuple[np.ndarray, np.ndarray]:
        return cpu_hits.hits(self._thresholds, unit.events, unit.measured, unit.size, unit.segments)


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> ThresholdRunner:
    """The runner of an iteration on the CPU; it carries nothing."""
    return ThresholdRunner(query, workers)

"""The CPU backend of chains of which two steps are compared: hits and counts of chunks, unit by unit."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.by_pairs import PairsRunner
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends, counts_joined, ends_of, first_ends
from cer_gpu.engine.machines.ends import joined as ends_joined
from cer_gpu.engine.machines.found import Answers
from cer_gpu.engine.machines.open_runs import OpenRuns
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.apart import cpu_counts, cpu_hits
from cer_gpu.plan.apart import ApartMachine
from cer_gpu.plan.compiled import CompiledQuery


class ApartRunner(PairsRunner):
    """Finds and counts the matches of a chain over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    """

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        machine = query.machine
        assert isinstance(machine, ApartMachine)
        super().__init__(query, workers, machine.tables, machine.slot_rows)
        self._machine = machine

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk that are reported and how many complex events end at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (h,), int64
            Ascending.
        number : ndarray, shape (h,), int64, or object past 2^61
        """
        if not len(chunk.segments) or self._query.limit == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        found = None if self._query.consume == "NONE" else self.ends(chunk)
        if found is not None and not len(found):
            return found.event, found.event
        machine = self._machine

        def count(numbers: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            segments, events, measured, size, low = self._parted(chunk, numbers)
            chain = machine.tables, machine.apart, events
            if found is None:
                event, number = cpu_counts.counted_ends(*chain, measured, size, segments)
                return event + low, number
            first, event, lowest = ends_of(chunk.segments.part(*numbers), found)
            return event, cpu_counts.counts(*chain, segments, first, event - low, lowest - low)

        parts = self._workers.map("counting", count, self._units(chunk), chunk.segments.events)
        return counts_joined(parts)

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """Never called: the machine of configurations lists the matches."""
        raise TypeError("a chain whose steps are compared is listed by its configurations")

    def open_runs(self) -> OpenRuns | None:
        """None: the machine of configurations runs streams."""
        return None

    def _hits(self, chunk: Chunk, bounded: bool = True) -> Ends:
        machine = self._machine

        def run(numbers: tuple[int, int]) -> Ends:
            segments, events, measured, size, low = self._parted(chunk, numbers)
            event, latest = cpu_hits.hits(machine.tables, machine.apart, events, measured, size, segments)
            event += low
            lowest = event
            if bounded:
                whole = chunk.segments.part(*numbers)
                lowest = chunk.lowest_starts(whole, first_ends(whole, event), event, self._query.window)
            return Ends(event, chunk.events.positions[latest + low], lowest)

        return ends_joined(self._workers.map("finding hits", run, self._units(chunk), chunk.segments.events))


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> ApartRunner:
    """The runner of a chain on the CPU; it carries nothing."""
    return ApartRunner(query, workers)

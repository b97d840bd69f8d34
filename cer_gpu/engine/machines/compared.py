"""The CPU backend of ordered look-ups: hits, counts and complex events of chunks, unit by unit."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cer_gpu.engine.machines.by_pairs import PairsRunner
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.compared_stream import ComparedRuns
from cer_gpu.engine.machines.ends import Ends, counts_joined, ends_of, first_ends
from cer_gpu.engine.machines.ends import joined as ends_joined
from cer_gpu.engine.machines.labelled import LabelledSlots
from cer_gpu.engine.machines.open_runs import OpenRuns
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.compared import ComparedStructure, ComparedUnit
from cer_gpu.enumeration.compared_choices import ChosenPositions, MaximalChains
from cer_gpu.enumeration.products import JoinAnswers, ListedUnit
from cer_gpu.kernels.compared import cpu_counts, cpu_hits
from cer_gpu.kernels.compared.contract import countable_by_few, shallow
from cer_gpu.kernels.compared.cpu_few import counted_by_few
from cer_gpu.kernels.compared.cpu_hits_alike import alike, hits_alike
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.plan.compared import ComparedMachine
from cer_gpu.plan.compiled import CompiledQuery

NO_ATOMS = np.zeros((0, 0), np.uint8)
"""The labels of a query that is no rule: they fill no atoms."""


class ComparedDevices(Protocol):
    """Runs an automaton of compared steps on devices, where that is faster and there is memory for it.

    Attributes
    ----------
    chunks : int
        As `MachineRunner.chunks`.
    """

    chunks: int

    def hits(self, unit: ComparedUnit) -> tuple[np.ndarray, np.ndarray] | None:
        """As `cpu_hits.hits`; None where the CPU has to find them."""
        ...

    def counted_ends(self, unit: ComparedUnit) -> tuple[np.ndarray, np.ndarray] | None:
        """As `cpu_counts.counted_ends`, -1 for a number that may not fit; None where the CPU has to count."""
        ...


class ComparedRunner(PairsRunner):
    """Runs a deterministic automaton of compared steps over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    devices : ComparedDevices or None
        Finds ends and numbers on devices; None for the CPU.
    """

    def __init__(
        self, query: CompiledQuery, workers: Workers, devices: ComparedDevices | None = None
    ) -> None:
        machine = query.machine
        assert isinstance(machine, ComparedMachine)
        super().__init__(query, workers, machine.tables, machine.slot_rows)
        self._machine = machine
        self._devices = devices
        self.chunks = 1 if devices is None else devices.chunks
        self._alike = alike(machine.tables)

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk that are reported and how many complex events end at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (h,), int64
            Ascending.
        number : ndarray, shape (h,), int64, or object past 2^61
        """
        query = self._query
        plain = query.consume == "NONE" and query.limit != 0 and len(chunk.segments) > 0
        if plain and self._machine.choice is None:
            tables = self._machine.tables
            if query.window is None or (shallow(tables) and not chunk.held):
                return self._counted_ends(chunk)
            if not chunk.held and countable_by_few(tables):
                counted = self._counted_by_few(chunk)
                if counted is not None:
                    return counted
        found = self.ends(chunk)
        if not len(found):
            return found.event, found.event
        return found.event, self._structure(chunk, found, chunk.held).exact_counts()

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

        def build(numbers: tuple[int, int]) -> tuple[ListedUnit, int]:
            unit = self._unit(chunk, numbers)
            first, event, lowest = ends_of(chunk.segments.part(*numbers), found)
            ends = SegmentHits(first, event - unit.low, lowest - unit.low)
            if choice is None:
                return ComparedStructure(unit, ends, listed), unit.low
            if choice.climb is None:
                return ChosenPositions(unit, ends, choice), unit.low
            return MaximalChains(unit, ends, choice.climb, listed), unit.low

        units = self._workers.map("finding matches", build, self._units(chunk), chunk.segments.events)
        return JoinAnswers(
            [built for built, _ in units], [low for _, low in units], NO_ATOMS, self._window(chunk),
            self._workers.map,
        )  # fmt: skip

    def _counted_ends(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk and their numbers, where every complex event counts."""

        def count(numbers: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            unit = self._unit(chunk, numbers)
            parts = unit.tables, unit.events, unit.measured, unit.size, unit.segments, unit.arranged
            there = None if self._devices is None else self._devices.counted_ends(unit)
            if there is None:
                event, number = cpu_counts.counted_ends(*parts)
            else:
                event, number = cpu_counts.exact_ends(*parts[:2], *parts[4:], *there)
            return event + unit.low, number

        parts = self._workers.map("counting", count, self._shared_units(chunk), chunk.segments.events)
        return counts_joined(parts)

    def _counted_by_few(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray] | None:
        """As `_counted_ends`, where the window holds few events everywhere; else None."""

        def count(numbers: tuple[int, int]) -> tuple[np.ndarray, np.ndarray] | None:
            segments, events, measured, size, low = self._parted(chunk, numbers)
            found = counted_by_few(self._machine.tables, events, measured, size, segments)
            return None if found is None else (found[0] + low, found[1])

        parts = self._workers.map("counting", count, self._units(chunk), chunk.segments.events)
        there = [part for part in parts if part is not None]
        return counts_joined(there) if len(there) == len(parts) else None

    # -------------------------------------------------------------------------------------- units

    def _shared_units(self, chunk: Chunk) -> list[tuple[int, int]]:
        """As `_units`; a device runs all segments at a time."""
        whole = self._devices is not None and len(chunk.segments)
        return [(0, len(chunk.segments))] if whole else self._units(chunk)

    def _hits(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk; a window that is no interval is not checked."""

        def run(numbers: tuple[int, int]) -> Ends:
            unit = self._unit(chunk, numbers)
            there = None if self._devices is None else self._devices.hits(unit)
            event, latest = there or self._hits_of(unit)
            event += unit.low
            if not bounded:
                return Ends(event, chunk.events.positions[latest + unit.low], event)
            whole = chunk.segments.part(*numbers)
            lowest = chunk.lowest_starts(whole, first_ends(whole, event), event, self._query.window)
            return Ends(event, chunk.events.positions[latest + unit.low], lowest)

        units = self._shared_units(chunk)
        return ends_joined(self._workers.map("finding hits", run, units, chunk.segments.events))

    def _hits_of(self, unit: ComparedUnit) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a unit and their latest starts."""
        given = unit.tables, unit.events, unit.measured, unit.size, unit.segments, unit.arranged
        return cpu_hits.hits(*given) if self._alike is None else hits_alike(*given, self._alike)


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> ComparedRunner:
    """The runner of ordered look-ups on the CPU; it carries nothing."""
    return ComparedRunner(query, workers)

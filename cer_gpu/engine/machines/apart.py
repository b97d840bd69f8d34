"""The CPU backend of chains of which two steps are compared: hits and counts of chunks, unit by unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.engine.machines.by_units import UnitsRunner
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends, ends_of, first_ends, in_order
from cer_gpu.engine.machines.ends import joined as ends_joined
from cer_gpu.engine.machines.found import Answers
from cer_gpu.engine.machines.open_runs import OpenRuns
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import numbers_joined
from cer_gpu.kernels.apart import cpu_counts, cpu_hits
from cer_gpu.kernels.compared.contract import Arranged, ComparedSegments, PairedEvents
from cer_gpu.kernels.compared.cpu_order import arrange
from cer_gpu.plan.apart import ApartMachine
from cer_gpu.plan.compiled import CompiledQuery


class ApartUnit(NamedTuple):
    """What a thread runs: some segments of a chunk, whose first event is the chunk's event `low`."""

    segments: ComparedSegments
    events: PairedEvents
    arranged: Arranged
    measured: np.ndarray
    size: Any
    low: int


class ApartRunner(UnitsRunner):
    """Finds and counts the matches of a chain over chunks on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers

    Attributes
    ----------
    in_order : callable
        Gives the sides and the words of events, from their rows of slots; set where values are compared.
    """

    in_order: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        machine = query.machine
        assert isinstance(machine, ApartMachine)
        super().__init__(query, workers)
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
            unit = self._unit(chunk, numbers)
            if found is None:
                event, number = cpu_counts.counted_ends(
                    machine.tables, machine.apart, unit.events, unit.measured, unit.size, unit.segments,
                    unit.arranged,
                )  # fmt: skip
                return event + unit.low, number
            first, event, lowest = ends_of(chunk.segments.part(*numbers), found)
            number = cpu_counts.counts(
                machine.tables, machine.apart, unit.events, unit.segments, unit.arranged, first,
                event - unit.low, lowest - unit.low,
            )  # fmt: skip
            return event, number

        parts = self._workers.map("counting", count, self._units(chunk), chunk.segments.events)
        event, number = np.concatenate([event for event, _ in parts]), numbers_joined([n for _, n in parts])
        order = in_order(event)
        return (event, number) if order is None else (event[order], number[order])

    def needed(self, chunk: Chunk) -> np.ndarray:
        """As `MachineRunner.needed`: any event of a lane may be compared with a later one."""
        return chunk.lanes.begin

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """Matches are listed by another machine."""
        raise TypeError("a chain whose steps are compared is listed by its configurations")

    def open_runs(self) -> OpenRuns | None:
        """None: a stream is followed by another machine."""
        return None

    def _hits(self, chunk: Chunk, bounded: bool = True) -> Ends:
        machine = self._machine

        def run(numbers: tuple[int, int]) -> Ends:
            unit = self._unit(chunk, numbers)
            event, latest = cpu_hits.hits(
                machine.tables, machine.apart, unit.events, unit.measured, unit.size, unit.segments,
                unit.arranged,
            )  # fmt: skip
            event += unit.low
            lowest = event
            if bounded:
                whole = chunk.segments.part(*numbers)
                lowest = chunk.lowest_starts(whole, first_ends(whole, event), event, self._query.window)
            return Ends(event, chunk.events.positions[latest + unit.low], lowest)

        return ends_joined(self._workers.map("finding ends", run, self._units(chunk), chunk.segments.events))

    def _unit(self, chunk: Chunk, numbers: tuple[int, int]) -> ApartUnit:
        part = chunk.segments.part(*numbers)
        low, high = int(part.begin.min()), int(part.stop.max())
        events, rows, window = chunk.events, self._machine.slot_rows, self._query.window
        slots = events.slots[:, low:high]
        sides, words = np.empty((0, high - low), np.int32), np.empty((0, high - low), np.int64)
        if len(slots) > rows:
            sides, words = self.in_order(slots[rows:])
        paired = PairedEvents(
            events.symbols[low:high], events.places[:0], np.ascontiguousarray(slots[:rows]), sides, words
        )
        base = np.append(0, np.cumsum(part.stop - part.begin))
        segments = ComparedSegments(part.begin - low, part.report - low, part.stop - low, base)
        arranged = arrange(self._machine.tables, paired, segments)
        measured = chunk.measured[low:high] if window is not None else events.keys[:0]
        return ApartUnit(segments, paired, arranged, measured, 0 if window is None else window.size, low)


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> ApartRunner:
    """The runner of a chain on the CPU; it carries nothing."""
    return ApartRunner(query, workers)

"""Shared by runners that compare steps by the order of values: the units of a chunk, with sorted values."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.engine.machines.unit_runner import ChunkUnit, RunnerDevices, UnitsRunner
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.ordered_values import OrderedValues
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.comparisons import ComparedUnit
from cer_gpu.kernels.comparisons.contract import ComparedSegments, ComparedTables, PairedEvents
from cer_gpu.kernels.comparisons.cpu_order import arrange
from cer_gpu.plan.compiled_query import CompiledQuery


class PairsRunner(UnitsRunner):
    """Runs steps that are compared, unit by unit.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    tables : ComparedTables
    slot_rows : int
        How many rows of slots an event has for equalities; the rows after them are for values.
    devices : RunnerDevices or None

    Attributes
    ----------
    values : OrderedValues
        Gives the sides and the words of events, from their rows of slots; set where values are compared.
    orders_texts : bool
        Whether some of them are numbers of texts, or of what is written as texts; set with `values`.
    """

    values: OrderedValues
    orders_texts = False

    def __init__(
        self,
        query: CompiledQuery,
        workers: Workers,
        tables: ComparedTables,
        slot_rows: int,
        devices: RunnerDevices[Any] | None = None,
    ) -> None:
        super().__init__(query, workers, devices)
        self._tables, self._slot_rows = tables, slot_rows

    def _read(self, events: EventArrays, low: int, high: int) -> PairedEvents:
        """As `UnitsRunner._read`, with the sides and words of what is compared by order, if anything is."""
        slots = events.slots[:, low:high]
        own, rows = np.ascontiguousarray(slots[: self._slot_rows]), slots[self._slot_rows :]
        none = np.empty((0, rows.shape[1]), np.int32), np.empty((0, rows.shape[1]), np.int64)
        ordered = self.values.ordered(rows) if len(rows) else none
        places = events.places[low:high] if len(events.places) else events.places
        return PairedEvents(events.symbols[low:high], places, own, *ordered)

    def arranged(self, unit: ChunkUnit) -> ComparedUnit:
        """A unit whose events are put into the orders."""
        segments = segments_of(unit)
        arranged = arrange(self._tables, unit.events, segments)
        return ComparedUnit(self._tables, segments, unit.events, arranged, unit.measured, unit.size, unit.low)


def segments_of(unit: ChunkUnit) -> ComparedSegments:
    """The segments of a unit, and where the events of each begin among those of all."""
    begin, report, stop = unit.segments
    return ComparedSegments(begin, report, stop, np.append(0, np.cumsum(stop - begin)))

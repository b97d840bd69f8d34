"""Shared by runners that compare steps by the order of values: the units of a chunk, with sorted values."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.by_units import UnitsRunner
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.read.ordered_values import OrderedValues
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.compared import ComparedUnit
from cer_gpu.kernels.compared.contract import ComparedSegments, ComparedTables, PairedEvents
from cer_gpu.kernels.compared.cpu_order import arrange
from cer_gpu.plan.compiled import CompiledQuery


class PairsRunner(UnitsRunner):
    """Runs steps that are compared, unit by unit.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    tables : ComparedTables
    slot_rows : int
        How many rows of slots an event has for equalities; the rows after them are for values.

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
        self, query: CompiledQuery, workers: Workers, tables: ComparedTables, slot_rows: int
    ) -> None:
        super().__init__(query, workers)
        self._tables, self._slot_rows = tables, slot_rows

    def _unit(self, chunk: Chunk, numbers: tuple[int, int]) -> ComparedUnit:
        """Some segments of a chunk, with their events numbered from 0 on, and put into the orders."""
        segments, paired, measured, size, low = self._parted(chunk, numbers)
        arranged = arrange(self._tables, paired, segments)
        return ComparedUnit(self._tables, segments, paired, arranged, measured, size, low)

    def _parted(
        self, chunk: Chunk, numbers: tuple[int, int]
    ) -> tuple[ComparedSegments, PairedEvents, np.ndarray, int | float, int]:
        """Some segments, their events, what the window measures, its size, the first event's number."""
        part = chunk.segments.part(*numbers)
        low, high = int(part.begin.min()), int(part.stop.max())
        events, window = chunk.events, self._query.window
        places = events.places[low:high] if len(events.places) else events.places
        paired = self.paired(events.symbols[low:high], places, events.slots[:, low:high])
        base = np.append(0, np.cumsum(part.stop - part.begin))
        segments = ComparedSegments(part.begin - low, part.report - low, part.stop - low, base)
        return segments, paired, self.measured(chunk)[low:high], 0 if window is None else window.size, low

    def paired(self, symbols: np.ndarray, places: np.ndarray, slots: np.ndarray) -> PairedEvents:
        """Events as kernels read them, with the sides and words of what is compared by order."""
        own, rows = np.ascontiguousarray(slots[: self._slot_rows]), slots[self._slot_rows :]
        return PairedEvents(symbols, places, own, *self._ordered(rows))

    def _ordered(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sides and words of events; none where nothing is compared by order."""
        if not len(rows):
            return np.empty((0, rows.shape[1]), np.int32), np.empty((0, rows.shape[1]), np.int64)
        return self.values.ordered(rows)

"""The CUDA backend of joins: hits and counts of chunks on one device or several.

The CPU builds the structure of joins and enumerates it. It also does what is too little work for a device, or
needs more memory than a device has.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.engine.cuda.machines import units
from cer_gpu.engine.cuda.machines.one_device import EndLists, lists_of, patched
from cer_gpu.engine.cuda.machines.units import UnitsDevices
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, ends_of
from cer_gpu.engine.machines.joins import JoinRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.device.words import copied, to_device
from cer_gpu.kernels.joins import cuda_counts as join_counts
from cer_gpu.kernels.joins import cuda_hits as join_hits
from cer_gpu.kernels.joins import cuda_nodes as join_nodes
from cer_gpu.kernels.joins.contract import offsets
from cer_gpu.kernels.joins.cuda_cells import cells_of, device_join
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled_query import CompiledQuery

COPIES = 2, 16
"""The nodes that a union may make on average: in the first attempt to build a list, and in the second."""


class DeviceKeyedEvents(NamedTuple):
    """The events of a chunk on a device, with their slots, for the kernels of joins."""

    symbols: Any
    slots: Any
    places: Any
    measured: Any


class DevicesJoin(UnitsDevices[DeviceKeyedEvents, JoinRunner]):
    """Finds the ends of a parallelized automaton, and counts its answers, on devices.

    The lists of hits are dealt out as the units are; parameters as for `UnitsDevices`.
    """

    what = "the look-up tables of a join"

    def _copied_tables(self, runner: JoinRunner) -> Any:
        return device_join(runner.tables)

    # --------------------------------------------------------------------------------------- hits

    def hits(self, runner: JoinRunner, chunk: Chunk, bounded: bool) -> Ends | None:
        """As `RunnerDevices.hits`."""
        segments = self._units(chunk)
        if segments is None:
            return None
        cells = self._cells(chunk, segments.begin, segments.stop)
        size = join_hits.bytes_of_hits(self._tables[0], cells, segments.stop - segments.report)

        def run(number: int, low: int, high: int) -> Ends:
            return self._hits_of(number, chunk, segments.part(low, high), cells[low:high])

        parts = self._pool.fitted(chunk, segments.stop - segments.begin, size, run)
        if parts is None:
            return None
        return self._joined(chunk, parts)

    def _hits_of(self, number: int, chunk: Chunk, segments: Segments, cells: np.ndarray) -> Ends:
        """The hits of some units; `latest` are events."""
        there, window = self._pool.copied(number, chunk).there, self._window
        size = window.size if window is not None else 0
        found = join_hits.hits(
            self._tables[number], there.symbols, there.slots, there.places, there.measured, size,
            segments.begin, segments.report, segments.stop, cells, self._lane, self._stream,
        )  # fmt: skip
        return self._ends_of(there, segments, found)

    # ------------------------------------------------------------------------------------- counts

    def counts(self, runner: JoinRunner, chunk: Chunk, ends: Ends) -> np.ndarray | None:
        """As `RunnerDevices.counts`."""
        if chunk.held:
            return None
        lists = self._lists(chunk, ends)
        if len(lists) < units.LEAST:
            return None
        counted = self._counted(chunk, lists, COPIES[0])
        if counted is None:
            return None
        number, status = counted
        full = np.flatnonzero(status == join_counts.FULL)
        again = self._counted(chunk, lists.some(full), COPIES[1]) if len(full) else None
        if again is not None:
            status[full] = again[1]
            number[np.repeat(np.isin(np.arange(len(lists)), full), np.diff(lists.first))] = again[0]
        return patched(
            number, lists.first, status, lambda at: self._by_host(chunk, lists.some(np.array([at])))
        )

    def _counted(self, chunk: Chunk, lists: EndLists, copies: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The counts of lists of hits, and their statuses; None where there is no memory for them."""
        begin, stop = lists.spans()
        cells = self._cells(chunk, begin, stop)
        rooms = join_nodes.rooms_of(self._tables[0], cells, stop - begin, np.diff(lists.first), copies)
        size = join_counts.bytes_of_counts(self._tables[0], rooms)

        def run(number: int, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
            there, part = self._pool.copied(number, chunk).there, lists.some(np.arange(low, high))
            counts, status = join_counts.counts(
                self._tables[number], there.symbols, there.slots, there.places, *part.spans(), part.first,
                part.event, part.lowest, rooms.part(low, high), self._lane,
            )  # fmt: skip
            return counts.copy_to_host(), status.copy_to_host()

        parts = self._pool.fitted(chunk, stop - begin, size, run)
        if parts is None:
            return None
        return np.concatenate([number for number, _ in parts]), np.concatenate(
            [status for _, status in parts]
        )

    def _by_host(self, chunk: Chunk, one: EndLists) -> np.ndarray:
        """The counts of a list on the CPU, in Python integers if they are large."""
        begin, stop = one.spans()
        segment = Segments(begin, one.event[:1], stop, np.zeros(1, np.int64))
        part = replace(chunk, segments=segment)
        return self._runner.counts_here(part, Ends(one.event, one.event, one.lowest))

    @staticmethod
    def _lists(chunk: Chunk, found: Ends) -> EndLists:
        """The hits of a chunk in lists, cut so that at most about half of the work is done twice."""
        first, event, lowest = ends_of(chunk.segments, found)
        return EndLists(np.unique(lists_of(first, event, lowest, len(chunk.events))), event, lowest)

    # ------------------------------------------------------------------------------------- events

    def _cells(self, chunk: Chunk, begin: np.ndarray, stop: np.ndarray) -> np.ndarray:
        slots, runner = chunk.events.slots, self._runner
        most_of = [int(slots[columns].max(initial=-1)) + 1 for columns in runner.columns_of]
        most = int(offsets(runner.tables.entry_space, np.array(most_of, np.int64))[-1])
        return cells_of(self._tables[0], begin, stop, most)

    def _copied_events(self, chunk: Chunk) -> DeviceKeyedEvents:
        """Copy to the current device what a join reads of the events of a chunk."""
        events = chunk.events
        measured, _ = comparable(self._runner.measured(chunk), 0)
        slots = events.slots if events.slots.size else np.zeros((1, 1), np.int32)
        return DeviceKeyedEvents(
            to_device(events.symbols), copied(slots), copied(events.places), copied(measured)
        )


def runner(query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]) -> JoinRunner:
    """The runner of a query's join on devices; it carries nothing."""
    there = DevicesJoin(query.window, devices)
    found = JoinRunner(query, workers, there)
    there.load(found)
    return found

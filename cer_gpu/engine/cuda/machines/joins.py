"""The CUDA backend of joins: hits and counts of chunks on one device or several.

The CPU builds the structure of joins and enumerates it. It also does what is too little work for a device,
and what a device has no memory for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.engine.cuda.machines import units
from cer_gpu.engine.cuda.machines.automaton import DevicesAutomaton
from cer_gpu.engine.cuda.machines.one_device import EndLists, lists_of, patched
from cer_gpu.engine.cuda.pool import DevicePool
from cer_gpu.engine.devices import on
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, ends_of
from cer_gpu.engine.machines.joins import JoinRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied, to_device
from cer_gpu.kernels.joins import cuda_counts as join_counts
from cer_gpu.kernels.joins import cuda_hits as join_hits
from cer_gpu.kernels.joins import cuda_nodes as join_nodes
from cer_gpu.kernels.joins.contract import offsets
from cer_gpu.kernels.joins.cuda_cells import cells_of, device_join
from cer_gpu.kernels.windows import cuda as windows
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled import CompiledQuery, WindowPlan

COPIES = 2, 16
"""A union may make so many nodes on average: in the first attempt to build a list, and in the second."""


class DeviceKeyedEvents(NamedTuple):
    """The events of a chunk on a device, with their slots, for the kernels of joins."""

    symbols: Any
    slots: Any
    places: Any
    measured: Any


class DevicesJoin:
    """Finds the ends of a parallelized automaton, and counts its answers, on devices: `JoinDevices`.

    Each device gets a range of the units of a chunk, or of the lists of its hits, with about as many events
    as every other device. It takes as many at a time as it has memory for the look-up tables of, and half of
    them where that was too many. Where there is no memory for a single one, the CPU runs the chunk, with a
    warning.

    Parameters
    ----------
    window : WindowPlan or None
    devices : tuple of int
        The numbers of the devices, at least one.
    lane, stream : Geometry
        How kernels are launched with one thread for each unit, or for each row.
    """

    chunks = DevicesAutomaton.chunks

    def __init__(
        self,
        window: WindowPlan | None,
        devices: tuple[int, ...],
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        self._window = window
        self._lane, self._stream = lane, stream
        self._joins: list[Any] = []
        self._pool: DevicePool[DeviceKeyedEvents] = DevicePool(
            devices, self._copied_events, "the look-up tables of a join"
        )

    def load(self, runner: JoinRunner) -> None:
        """Copy the tables of a runner's automaton to all devices."""
        self._runner = runner
        for number in self._pool.numbers:
            with on(number):
                self._joins.append(device_join(runner.tables))

    # --------------------------------------------------------------------------------------- hits

    def hits(self, runner: JoinRunner, chunk: Chunk) -> Ends | None:
        """The ends of a chunk; None where the CPU is to find them."""
        segments = units.units_of(self._pool, chunk, self._window, self._stream)
        if segments is None:
            return None
        cells = self._cells(chunk, segments.begin, segments.stop)
        size = join_hits.bytes_of_hits(self._joins[0], cells, segments.stop - segments.report)

        def run(number: int, low: int, high: int) -> Ends:
            return self._ends_of(number, chunk, segments.part(low, high), cells[low:high])

        parts = self._pool.fitted(chunk, segments.stop - segments.begin, size, run)
        if parts is None:
            return None
        event, latest, lowest = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("event", "latest", "lowest")
        )
        return Ends(event, chunk.events.positions[latest], lowest)

    def _ends_of(self, number: int, chunk: Chunk, segments: Segments, cells: np.ndarray) -> Ends:
        """The hits of some units; `latest` are events."""
        there, window = self._pool.copied(number, chunk).there, self._window
        size = window.size if window is not None else 0
        first, event, latest = join_hits.hits(
            self._joins[number], there.symbols, there.slots, there.places, there.measured, size,
            segments.begin, segments.report, segments.stop, cells, self._lane, self._stream,
        )  # fmt: skip
        if window is not None:
            begin = copied(segments.begin)
            lowest = windows.lowest_starts(there.measured, begin, first, event, size, self._stream)
            return Ends(*(part.copy_to_host() for part in (event, latest, lowest)))
        lowest = np.repeat(segments.begin, np.diff(first.copy_to_host()))
        return Ends(event.copy_to_host(), latest.copy_to_host(), lowest)

    # ------------------------------------------------------------------------------------- counts

    def counts(self, runner: JoinRunner, chunk: Chunk, ends: Ends) -> np.ndarray | None:
        """How many answers end at each of some ends; None where the CPU is to count them."""
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
        rooms = join_nodes.rooms_of(self._joins[0], cells, stop - begin, np.diff(lists.first), copies)
        size = join_counts.bytes_of_counts(self._joins[0], rooms)

        def run(number: int, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
            there, part = self._pool.copied(number, chunk).there, lists.some(np.arange(low, high))
            counts, status = join_counts.counts(
                self._joins[number], there.symbols, there.slots, there.places, *part.spans(), part.first,
                part.event, part.lowest, rooms.part(low, high), self._lane, self._stream,
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
        return cells_of(self._joins[0], begin, stop, most)

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

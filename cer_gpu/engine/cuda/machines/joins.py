"""The CUDA backend of joins: hits and counts of chunks on one device or several.

The structure of joins and their enumeration are the CPU's, whose executor this is a kind of; so is what is
not enough work for a device, and what finds no memory there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from cer_gpu.engine.cuda.machines.automaton import dealt
from cer_gpu.engine.cuda.machines.one_device import OneDeviceRunner, lists_of, patched, pieces, spans
from cer_gpu.engine.cuda.memory import free_bytes
from cer_gpu.engine.devices import on, say_no_memory, with_memory
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, ends_of
from cer_gpu.engine.machines.joins import JoinRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.usable import simulated
from cer_gpu.kernels.device.words import copied, to_device
from cer_gpu.kernels.joins import cuda_counts as join_counts
from cer_gpu.kernels.joins import cuda_hits as join_hits
from cer_gpu.kernels.joins import cuda_nodes as join_nodes
from cer_gpu.kernels.joins.contract import offsets
from cer_gpu.kernels.joins.cuda_cells import cells_of, device_join
from cer_gpu.kernels.windows import cuda as windows
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled import CompiledQuery

Result = TypeVar("Result")

PIECE = 256
"""Events of a piece at least: below, what a piece costs to begin shows."""

LEAST = 1 << 10
"""Pieces, or lists of hits, from which a device is asked: fewer threads of it are slower than the CPU's."""

SHARE = 2
"""The part of the free memory that a launch may take: half, the rest is for what is found."""

COPIES = 2, 16
"""Nodes that unions make, on average, at most: in the first attempt to build a list, and in the second."""


@dataclass(frozen=True, slots=True)
class _There:
    """What is read of the events of the chunk `of`, on a device."""

    of: Chunk
    symbols: Any
    slots: Any
    places: Any
    measured: Any


@dataclass(frozen=True, slots=True)
class _Lists:
    """Lists of hits: list g has the hits first[g] .. first[g + 1] - 1, none has no hit."""

    first: np.ndarray
    event: np.ndarray
    lowest: np.ndarray

    def __len__(self) -> int:
        return len(self.first) - 1

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """For each list the first event that it needs, and one past the last."""
        return spans(self.first, self.event, self.lowest)

    def some(self, which: np.ndarray) -> _Lists:
        """Only some of the lists, by their numbers."""
        lengths = np.diff(self.first)[which]
        first = np.append(0, np.cumsum(lengths))
        hits = np.arange(first[-1]) + np.repeat(self.first[which] - first[:-1], lengths)
        return _Lists(first, self.event[hits], self.lowest[hits])


class DevicesJoinRunner(JoinRunner):
    """Runs a parallelized automaton over chunks on devices.

    The pieces of a chunk, and the lists of its hits, are dealt out to the devices in ranges of about as many
    events. A device takes as many at a time as it has memory for the look-up tables of, and half of them
    where that was too many; a chunk of which it cannot take a single one is the CPU's, with a warning.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    devices : tuple of int
        Their numbers, at least one.
    lane, stream : Geometry
        How the kernels are launched that have a piece, or a row, for each thread.
    """

    chunks = OneDeviceRunner.chunks

    def __init__(
        self,
        query: CompiledQuery,
        workers: Workers,
        devices: tuple[int, ...],
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        super().__init__(query, workers)
        self._devices = devices
        self._lane, self._stream = lane, stream
        self._joins = []
        for number in devices:
            with on(number):
                self._joins.append(device_join(self._tables))
        self._there: list[_There | None] = [None] * len(devices)
        # A thread works on one device at a time; the simulator runs one launch at a time.
        self._dealers = Workers(1 if simulated() else len(devices))
        self._warned = False

    def _hits(self, chunk: Chunk) -> Ends:
        found = self._hits_there(chunk)
        return super()._hits(chunk) if found is None else found

    def _exact_counts(self, chunk: Chunk, found: Ends) -> np.ndarray:
        counted = None if chunk.held else self._counts_there(chunk, found)
        return super()._exact_counts(chunk, found) if counted is None else counted

    # --------------------------------------------------------------------------------------- hits

    def _hits_there(self, chunk: Chunk) -> Ends | None:
        """The hits of a chunk; None where they are left to the CPU."""
        segments = self._pieces(chunk)
        if segments is None or len(segments) < LEAST:
            return None
        cells = self._cells(chunk, segments.begin, segments.stop)
        size = join_hits.bytes_of_hits(self._joins[0], cells, segments.stop - segments.report)

        def run(number: int, low: int, high: int) -> Ends:
            return self._ends_of(number, chunk, segments.part(low, high), cells[low:high])

        parts = self._dealt(chunk, segments.stop - segments.begin, size, run)
        if parts is None:
            return None
        event, latest, lowest = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("event", "latest", "lowest")
        )
        return Ends(event, chunk.events.positions[latest], lowest)

    def _ends_of(self, number: int, chunk: Chunk, segments: Segments, cells: np.ndarray) -> Ends:
        """The hits of some pieces; `latest` are events."""
        there, window = self._events(number, chunk), self._query.window
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

    def _pieces(self, chunk: Chunk) -> Segments | None:
        """The segments of a chunk, cut where the window allows it; None: they are too few, or too large."""
        segments, window = chunk.segments, self._query.window
        if len(segments) + int((segments.stop - segments.report).sum()) // PIECE < LEAST:
            return None
        if window is None:
            return segments

        def cut() -> Segments:
            with on(self._devices[0]):
                return pieces(segments, self._events(0, chunk).measured, window.size, self._stream)

        return self._or_none(with_memory(cut))

    # ------------------------------------------------------------------------------------- counts

    def _counts_there(self, chunk: Chunk, found: Ends) -> np.ndarray | None:
        """How many answers end at each hit; None where they are left to the CPU."""
        lists = self._lists(chunk, found)
        if len(lists) < LEAST:
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

    def _counted(self, chunk: Chunk, lists: _Lists, copies: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The counts of lists of hits, and their statuses; None where there is no memory for them."""
        begin, stop = lists.spans()
        cells = self._cells(chunk, begin, stop)
        rooms = join_nodes.rooms_of(self._joins[0], cells, stop - begin, np.diff(lists.first), copies)
        size = join_counts.bytes_of_counts(self._joins[0], rooms)

        def run(number: int, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
            there, part = self._events(number, chunk), lists.some(np.arange(low, high))
            counts, status = join_counts.counts(
                self._joins[number], there.symbols, there.slots, there.places, *part.spans(), part.first,
                part.event, part.lowest, rooms.part(low, high), self._lane, self._stream,
            )  # fmt: skip
            return counts.copy_to_host(), status.copy_to_host()

        parts = self._dealt(chunk, stop - begin, size, run)
        if parts is None:
            return None
        return np.concatenate([number for number, _ in parts]), np.concatenate(
            [status for _, status in parts]
        )

    def _by_host(self, chunk: Chunk, one: _Lists) -> np.ndarray:
        """The counts of a list on the CPU, in Python integers if they are large."""
        begin, stop = one.spans()
        segment = Segments(begin, one.event[:1], stop, np.zeros(1, np.int64))
        part = replace(chunk, segments=segment)
        return super()._exact_counts(part, Ends(one.event, one.event, one.lowest))

    @staticmethod
    def _lists(chunk: Chunk, found: Ends) -> _Lists:
        """The hits of a chunk in lists, so that no more than about half of the work is done twice."""
        first, event, lowest = ends_of(chunk.segments, found)
        return _Lists(np.unique(lists_of(first, event, lowest, len(chunk.events))), event, lowest)

    # --------------------------------------------------------------------------- memory and devices

    def _cells(self, chunk: Chunk, begin: np.ndarray, stop: np.ndarray) -> np.ndarray:
        slots = chunk.events.slots
        counts = np.array([int(slots[columns].max(initial=-1)) + 1 for columns in self._columns_of], np.int64)
        most = int(offsets(self._tables.entry_space, counts)[-1])
        return cells_of(self._joins[0], begin, stop, most)

    def _events(self, number: int, chunk: Chunk) -> _There:
        """The events of a chunk on a device, copied when the chunk is first asked for."""
        there = self._there[number]
        if there is None or there.of is not chunk:
            self._there[number] = None  # its memory is free before more is taken
            events = chunk.events
            measured, _ = comparable(self._measured(chunk), 0)
            slots = events.slots if events.slots.size else np.zeros((1, 1), np.int32)
            there = self._there[number] = _There(
                chunk, to_device(events.symbols), copied(slots), copied(events.places), copied(measured)
            )
        return there

    def _dealt(
        self, chunk: Chunk, work: np.ndarray, size: np.ndarray, run: Callable[[int, int, int], Result]
    ) -> list[Result] | None:
        """Results for ranges of items, in their order; None where a device has no memory for a single one.

        Parameters
        ----------
        work, size : ndarray, shape (items,)
            How much there is to do for each, and the bytes that it takes.
        run : callable
            For the number of a device, the first item and one past the last.
        """
        bounds = dealt(work, len(self._devices))

        def share(number: int) -> list[Result] | None:
            first, last = bounds[number], bounds[number + 1]
            with on(self._devices[number]):
                # what was copied for the chunk is no memory of a launch
                if with_memory(lambda: self._events(number, chunk)) is None:
                    return None
                ranges = [*fitting(size[first:last], free_bytes() // SHARE)][::-1]
                parts = []
                while ranges:
                    low, high = ranges.pop()
                    found = with_memory(lambda: run(number, first + low, first + high))  # noqa: B023
                    if found is not None:
                        parts.append(found)
                    elif high - low > 1:
                        middle = (low + high) // 2
                        ranges += [(middle, high), (low, middle)]
                    else:
                        return None
            return parts

        numbers = [number for number in range(len(self._devices)) if bounds[number] < bounds[number + 1]]
        shares = [share(0)] if numbers == [0] else self._dealers.map("running on devices", share, numbers)
        if self._or_none(None if any(parts is None for parts in shares) else shares) is None:
            return None
        return [part for parts in shares for part in parts or []]

    def _or_none(self, found: Result | None) -> Result | None:
        """What was found on devices; if nothing, since there was no memory, say so and give it back."""
        if found is None:
            self._there = [None] * len(self._devices)
            if not self._warned:
                self._warned = True
                say_no_memory(self._devices[0], "the look-up tables of a join")
        return found


def fitting(size: np.ndarray, room: int) -> Iterator[tuple[int, int]]:
    """Ranges of neighbouring items that take at most so much together; one that takes more is alone.

    Parameters
    ----------
    size : ndarray, shape (items,), int64
    """
    total = np.cumsum(size)
    low = 0
    while low < len(size):
        before = int(total[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(total, before + room, side="right")))
        yield low, high
        low = high


def runner(
    query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]
) -> DevicesJoinRunner:
    """What runs the join of a query on devices; it carries nothing."""
    return DevicesJoinRunner(query, workers, devices)

"""The CUDA backend: hits, counts and complex events of chunks on a device.

What the device has no kernels for (lanes in which the attribute of WITHIN falls, the choice of strategies
that compare complex events) is done by the CPU's runner, of which this is a kind; so is what does not fit
into a kernel (programs with too many registers, sums past 2^62) and what is not enough work for one (the
structure of few windows).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numba import cuda

from cer_gpu.engine.cuda.structure import DeviceStructure
from cer_gpu.engine.devices import on
from cer_gpu.engine.machines.automaton import AutomatonRunner
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, ends_of, first_ends
from cer_gpu.engine.machines.strategies import Single
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.best import cpu as on_cpu_best
from cer_gpu.kernels.best import cuda as best
from cer_gpu.kernels.counts import cpu as on_cpu
from cer_gpu.kernels.counts import cuda as counting
from cer_gpu.kernels.counts import cuda_long as matrices
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry, lane_geometry
from cer_gpu.kernels.device.words import copied, to_device
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.hits import cuda as hitting
from cer_gpu.kernels.hits import cuda_long as flows
from cer_gpu.kernels.windows import cuda as windows
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.automaton import Choice
from cer_gpu.plan.compiled import CompiledQuery

Result = TypeVar("Result")

ROOM = 1 << 18
"""Pieces that are worth making: about as many as the largest device has threads at once."""

PIECE = 256
"""Events of a piece at least: below, what a piece costs to begin shows."""

LIST = 32
"""Hits of a list at least: a chunk has some 100,000, and a device has a thread for each list."""

LISTS = 1 << 10
"""Pieces from which nodes are built on the device: fewer threads of it are slower than the CPU's."""


@dataclass(frozen=True, slots=True)
class _DeviceEvents:
    """The events of a chunk on the device; `of` is the chunk, so that they are copied once."""

    of: Chunk
    symbols: Any
    positions: Any
    measured: Any


class OneDeviceRunner(AutomatonRunner):
    """Runs the tables of a query over chunks on a device.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    carries : bool
        As for `AutomatonRunner`.
    lane, stream : Geometry
        How the kernels are launched that have a segment, or a hit, for each thread.
    """

    chunks = 4
    """A device has a hundred times the threads of a host; more would take gigabytes of the host's memory."""

    def __init__(
        self,
        query: CompiledQuery,
        workers: Workers,
        carries: bool,
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        super().__init__(query, workers, carries)
        self._lane, self._stream = lane, stream
        self._fitting = lane_geometry(self._hits_program.n_registers, lane)
        if self._fitting is not None:
            self._program = hitting.device_program(self._hits_program, self._fitting)
        tiled = lane_geometry(2 * self._hits_program.n_registers, lane)
        self._tiled: tuple[Geometry, hitting.DeviceProgram] | None = None
        if tiled is not None and carries and self.tables.n_live <= flows.MOST_STATES:
            self._tiled = tiled, hitting.device_program(self._hits_program, tiled)
        self._machine = counting.device_tables(self.tables, self._forward, self._backward)
        self._there: _DeviceEvents | None = None
        # the simulator's device has no number
        self._device = int(getattr(cuda.get_current_device(), "id", 0))

    def go_on(self, registers: np.ndarray, vectors: np.ndarray) -> None:
        """Begin with what another has carried of the one lane, shapes (1, n): registers, and open matches."""
        self._registers, self._vectors = registers, vectors

    def _over_units(self, kind: str, segments: Segments, run: Callable[[Segments], Result]) -> list[Result]:
        # One launch takes all segments.
        return [run(segments)] if len(segments) else []

    def _hits_in(self, chunk: Chunk, segments: Segments) -> tuple[np.ndarray, np.ndarray]:
        if self._fitting is None:
            return super()._hits_in(chunk, segments)
        there, window = self._events(chunk), self._query.window
        if self._carries:
            registers = self._registers[segments.lane]
            tiles = self._tiles(segments, ROOM, self._tiled is not None)
            if tiles is not None:
                return self._tiled_hits(there, segments, tiles, registers)
        else:
            if window is not None:
                segments = pieces(segments, there.measured, window.size, self._stream)
            registers = np.full((len(segments), self.tables.n_live), -1, np.int64)
        left = copied(registers)
        none = np.empty(0, np.int64)
        _, event, latest = hitting.hits(
            self._program,
            there.symbols,
            there.positions if self._carries else copied(none),
            there.measured if window is not None else copied(none.view(np.uint64)),
            window.size if window is not None else 0,
            copied(segments.begin),
            copied(segments.report),
            copied(segments.stop),
            left,
            self._fitting,
        )
        if self._carries:
            self._registers[segments.lane] = left.copy_to_host()
        return event.copy_to_host(), latest.copy_to_host()

    def _tiled_hits(
        self, there: _DeviceEvents, segments: Segments, tiles: Segments, registers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        assert self._tiled is not None
        left = copied(registers)
        _, event, latest = flows.tiled_hits(
            self._tiled[1],
            there.symbols,
            there.positions,
            *(copied(part) for part in (tiles.report, tiles.stop, tiles.lane)),
            left,
            self._tiled[0],
        )
        self._registers[segments.lane] = left.copy_to_host()
        return event.copy_to_host(), latest.copy_to_host()

    def _tiles(self, segments: Segments, most: int, possible: bool) -> Segments | None:
        """Segments cut into at most about `most` tiles, in `lane` the number of each one's segment.

        None where it is not possible, or where no segment is long enough.
        """
        if not possible:
            return None
        number = np.arange(len(segments))
        length = max(PIECE, -(-int((segments.stop - segments.report).sum()) // most))
        tiles = cut_evenly(Segments(segments.begin, segments.report, segments.stop, number), length)
        return tiles if len(tiles) > len(segments) else None

    def _counts_at(
        self, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray, exact: bool
    ) -> np.ndarray:
        # Inexact counts are asked for by the threads that build the structure, each for its own segments.
        if not exact or not len(event):
            return super()._counts_at(chunk, first, event, lowest, exact)
        there = self._events(chunk)
        first = lists_of(first, event, lowest, len(chunk.events))
        number, status = counting.counts(
            self._machine, there.symbols, copied(first), copied(event), copied(lowest), self._lane
        )

        def again(piece: int) -> np.ndarray:
            low, high = first[piece], first[piece + 1]
            one = np.array([0, high - low])
            return super(OneDeviceRunner, self)._counts_at(
                chunk, one, event[low:high], lowest[low:high], exact
            )

        return patched(number.copy_to_host(), first, status.copy_to_host(), again)

    def _count_carried(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        segments, events = chunk.segments, chunk.events
        self._registers = grown(self._registers, chunk.lanes.count, -1)
        self._vectors = grown(self._vectors, chunk.lanes.count)
        event, _ = self._hits_in(chunk, segments)
        first, before = first_ends(segments, event), self._vectors[segments.lane]
        large = (before >= 1 << 62).any(axis=1)
        moved = copied(np.where(large[:, None], 0, before).astype(np.int64))
        status = copied(large.astype(np.uint8))
        found = self._forward_counts(chunk, event, moved, status)
        after = moved.copy_to_host()

        def again(segment: int) -> np.ndarray:
            nonlocal after
            low, high = first[segment], first[segment + 1]
            part = slice(segment, segment + 1)
            number, vector = on_cpu.forward_counts(
                self.tables,
                self._forward,
                events.symbols,
                segments.begin[part],
                segments.stop[part],
                np.array([0, high - low]),
                event[low:high],
                before[part],
            )
            after = after.astype(object)
            after[part] = vector
            return number

        number = patched(found.copy_to_host(), first, status.copy_to_host(), again)
        self._store_vectors(segments.lane, after)
        return event, number

    def _forward_counts(self, chunk: Chunk, event: np.ndarray, moved: Any, status: Any) -> Any:
        symbols, segments, n = self._events(chunk).symbols, chunk.segments, self.tables.n_live
        most = min(ROOM, matrices.most_tiles(n))
        tiles = self._tiles(segments, most, n <= matrices.MOST_STATES)
        parts = segments if tiles is None else tiles
        first = copied(first_ends(parts, event))
        bounds = copied(parts.report), copied(parts.stop)
        ends = first, copied(event), moved, status, self._lane
        if tiles is None:
            return counting.forward_counts(self._machine, symbols, *bounds, *ends)
        return matrices.tiled_forward_counts(self._machine, symbols, *bounds, copied(tiles.lane), *ends)

    def structure(self, chunk: Chunk, found: Ends) -> Structure:
        """The persistent structure of a chunk's hits: on the device where it has lists enough to build."""
        lists = self._worthwhile(chunk, chunk.segments, found)
        if lists is None:
            return super().structure(chunk, found)
        return self._structure_of(chunk, *lists)

    def _structure_of(
        self, chunk: Chunk, first: np.ndarray, event: np.ndarray, lowest: np.ndarray
    ) -> DeviceStructure:
        """The structure of lists of hits, on the device."""
        with on(self._device):
            there = self._events(chunk).symbols
            ends = copied(first), copied(event), copied(lowest)
            number, status = counting.counts(self._machine, there, *ends, self._lane)
            wrong = np.repeat(status.copy_to_host(), np.diff(first)) != 0
            count = np.where(wrong, 1 << 62, number.copy_to_host())
            built = DeviceStructure(self.tables, self._machine, self._device, self._lane, self._stream)
            hits = CountedHits(first, event, lowest, count)
            built.build_there(chunk.events.symbols, there, *spans(first, event, lowest), hits)
        return built

    def _single(self, chunk: Chunk, ends: Ends, choice: Choice) -> Single:
        paths = self._paths_in(chunk, chunk.segments, ends, choice)
        return (
            super()._single(chunk, ends, choice) if paths is None else Single(paths, ends.event, choice.shown)
        )

    def _paths_in(
        self, chunk: Chunk, segments: Segments, found: Ends, choice: Choice
    ) -> on_cpu_best.Paths | None:
        """What is left at the ends in some of the segments; None where they are too few for the device."""
        lists = self._worthwhile(chunk, segments, found)
        if lists is None:
            return None
        first, event, lowest = lists
        span = int((event[first[1:] - 1] - lowest[first[:-1]]).max()) + 1
        if best.room_of(self.tables.n_live, span)[1] < LISTS:
            return None
        latest = choice.strategy == "LAST"
        with on(self._device):
            there = self._events(chunk).symbols
            ends = copied(first), copied(event), copied(lowest)
            paths, status = best.best(self._machine, there, *ends, latest, span, self._lane)
            left = on_cpu_best.Paths(*(part.copy_to_host() for part in paths))
        if status.copy_to_host().any():
            raise RuntimeError("no complex event ends at a hit")
        return left

    def _worthwhile(
        self, chunk: Chunk, segments: Segments, found: Ends
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Where the lists of hits begin, their events and lowest starts; None if they are too few."""
        if not len(found) or len(chunk.falling):
            return None
        first, event, lowest = ends_of(segments, found)
        if not len(event):
            return None
        first = np.unique(lists_of(first, event, lowest, len(chunk.events)))
        return (first, event, lowest) if len(first) > LISTS else None

    def _events(self, chunk: Chunk) -> _DeviceEvents:
        """The events of a chunk on the device, copied when the chunk is first asked for."""
        if self._there is None or self._there.of is not chunk:
            self._there = None  # its memory is free before more is taken
            events = chunk.events
            measured, _ = comparable(events.measured, 0)
            self._there = _DeviceEvents(
                chunk, to_device(events.symbols), copied(events.positions), copied(measured)
            )
        return self._there


def lists_of(first: np.ndarray, event: np.ndarray, lowest: np.ndarray, events: int) -> np.ndarray:
    """Lists of hits cut so that no more than about half of the work is done twice.

    Parameters
    ----------
    first : ndarray, shape (lists + 1,), int64
        Where lists begin.
    event, lowest : ndarray, shape (hits,), int64
        The hits, and the earliest start of what ends at each.
    events : int
        How many events there are.
    """
    halo = int((event - lowest).mean() * len(event) / events)
    return finer(first, max(LIST, halo, len(event) // ROOM))


def pieces(segments: Segments, measured: Any, size: float, geometry: Geometry = STREAM) -> Segments:
    """Cut segments into pieces that each begin one window early.

    A piece reports at least as many events as the windows of first ones reach back on average, so that no
    more than about half of the work is done twice.

    Parameters
    ----------
    segments : Segments
        None of them reports nothing.
    measured : device array, shape (events,), uint64 or float64
        What the window measures, made `comparable`.
    size : int or float
    geometry : Geometry
    """
    total = int((segments.stop - segments.report).sum())
    length = max(PIECE, -(-total // ROOM))
    while True:
        cut = cut_evenly(segments, length)
        begin = _begins(segments, cut, measured, size, geometry)
        mean = int((cut.report - begin).mean())
        if mean <= length or len(cut) == len(segments):
            return Segments(begin, cut.report, cut.stop, cut.lane)
        length = 2 * mean


def _begins(segments: Segments, cut: Segments, measured: Any, size: float, geometry: Geometry) -> np.ndarray:
    """For each piece the least event that the window of its first one admits."""
    first = np.append(np.searchsorted(cut.report, segments.report), len(cut)).astype(np.int64)
    there = copied(segments.begin), copied(first), copied(cut.report)
    return windows.lowest_starts(measured, *there, size, geometry).copy_to_host()


def cut_evenly(segments: Segments, length: int) -> Segments:
    """Cut segments into pieces that report `length` events each, the last ones of each segment fewer.

    The pieces begin where their segment begins.
    """
    parts = np.maximum(-(-(segments.stop - segments.report) // length), 1)
    begin, report, stop, lane = (
        np.repeat(column, parts) for column in (segments.begin, segments.report, segments.stop, segments.lane)
    )
    number = np.arange(len(begin)) - np.repeat(np.cumsum(parts) - parts, parts)
    report = report + number * length
    return Segments(begin, report, np.minimum(report + length, stop), lane)


def spans(first: np.ndarray, event: np.ndarray, lowest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each list of hits the first event that it needs, and one past the last."""
    return lowest[first[:-1]], event[first[1:] - 1] + 1


def finer(first: np.ndarray, most: int) -> np.ndarray:
    """Bounds of lists, with more between them, so that none is longer than `most`.

    Parameters
    ----------
    first : ndarray, shape (lists + 1,), int64
        Ascending.
    """
    parts = np.maximum(-(-np.diff(first) // most), 1)
    number = np.arange(int(parts.sum())) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(np.repeat(first[:-1], parts) + number * most, first[-1])


def patched(
    number: np.ndarray, first: np.ndarray, status: np.ndarray, again: Callable[[int], np.ndarray]
) -> np.ndarray:
    """Counts, with those of the lists whose status is not 0 made again, in Python integers if they are."""
    for at in np.flatnonzero(status).tolist():
        exact = again(at)
        if exact.dtype == object and number.dtype != object:
            number = number.astype(object)
        number[first[at] : first[at + 1]] = exact
    return number

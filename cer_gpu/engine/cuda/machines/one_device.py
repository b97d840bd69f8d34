"""One CUDA device: runs the kernels of an automaton over the events of a chunk in its memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.engine.machines.automaton import AutomatonRunner
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.enumeration.blocks import ranges
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.counts import cuda as counting
from cer_gpu.kernels.counts import cuda_ends as ends
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry, lane_geometry
from cer_gpu.kernels.device.words import copied, to_device
from cer_gpu.kernels.hits import cuda as hitting
from cer_gpu.kernels.hits import cuda_long_segments as flows
from cer_gpu.kernels.hits.cuda_blocks import DeviceProgram, device_program
from cer_gpu.kernels.windows import cuda as windows
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled_query import WindowPlan

ROOM = 1 << 18
"""About the most units that are made: as many as the largest device has threads at once."""

LEAST_UNIT = 256
"""The least number of events of a unit; with fewer, the cost of starting a unit would show."""

GUESSED = 1 << 12
"""How many hits are copied together with their number: as fast as the number alone."""

LIST = 32
"""The least number of hits of a list: a chunk has some 100,000, and each list is the work of one thread."""


class DeviceEvents(NamedTuple):
    """The events of a chunk on the device.

    Attributes
    ----------
    symbols : device array, shape (padded events,), uint8 or uint16
    positions : device array, shape (events,), int64
    measured : device array, shape (events,), uint64 or float64
        What the window measures, made `comparable`.
    """

    symbols: Any
    positions: Any
    measured: Any


def copied_events(chunk: Chunk) -> DeviceEvents:
    """Copy to the current device what an automaton reads of the events of a chunk."""
    events = chunk.events
    measured, _ = comparable(events.measured, 0)
    return DeviceEvents(to_device(events.symbols), copied(events.positions), copied(measured))


@dataclass(frozen=True, slots=True)
class EndLists:
    """Lists of ends: list g has the ends first[g] .. first[g + 1] - 1.

    Attributes
    ----------
    first : ndarray, shape (lists + 1,), int64
    event, lowest : ndarray, shape (ends,), int64
        The event of each end, and the earliest start of the complex events that end there.
    """

    first: np.ndarray
    event: np.ndarray
    lowest: np.ndarray

    def __len__(self) -> int:
        return len(self.first) - 1

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """For each list the first event that it needs, and one past the last; no list may be empty."""
        return self.lowest[self.first[:-1]], self.event[self.first[1:] - 1] + 1

    def some(self, which: np.ndarray) -> EndLists:
        """Some of the lists, by their numbers."""
        lengths = np.diff(self.first)[which]
        first = np.append(0, np.cumsum(lengths))
        ends = ranges(self.first[which], lengths)
        return EndLists(first, self.event[ends], self.lowest[ends])

    def part(self, low: int, high: int) -> EndLists:
        """The lists `low .. high - 1`."""
        first = self.first[low : high + 1]
        ends = slice(first[0], first[-1])
        return EndLists(first - first[0], self.event[ends], self.lowest[ends])

    def moved(self, shift: int) -> EndLists:
        """The same lists, with all event numbers greater by `shift`."""
        return EndLists(self.first, self.event + shift, self.lowest + shift)

    def finer(self, events: int) -> EndLists:
        """The same ends in shorter lists; `events` is the number of events in all."""
        return EndLists(lists_of(self.first, self.event, self.lowest, events), self.event, self.lowest)


class OneDevice:
    """The tables of an automaton on the current device, and the calls of its kernels.

    Parameters
    ----------
    runner : AutomatonRunner
        The runner that has the automaton.
    window : WindowPlan or None
    number : int
        The number of the device.
    lane, stream : Geometry
        How kernels are launched with one thread for each segment, or for each hit.
    """

    def __init__(
        self,
        runner: AutomatonRunner,
        window: WindowPlan | None,
        number: int,
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        self._tables, program = runner.tables, runner.program
        self._window = window
        self._lane, self._stream = lane, stream
        self._number = number
        self._fitting = lane_geometry(program.n_registers, lane)
        if self._fitting is not None:
            self._program = device_program(program, self._fitting)
        long = lane_geometry(2 * program.n_registers, lane)
        self._long: tuple[Geometry, DeviceProgram] | None = None
        if long is not None and runner.carries and self._tables.n_live <= flows.MOST_STATES:
            self._long = long, device_program(program, long)
        self._machine = counting.device_tables(*runner.counting)
        fitting = ends.ends_geometry(runner.counted.n_registers, self._tables.n_live, lane)
        self._counting: tuple[DeviceProgram, Geometry] | None = None
        if fitting is not None and runner.carries:
            self._counting = device_program(runner.counted, fitting), fitting

    @property
    def fits(self) -> bool:
        """Whether a thread has enough registers for the program of hits."""
        return self._fitting is not None

    @property
    def counts_carried(self) -> bool:
        """Whether a thread has enough registers for the program that counts without a window."""
        return self._counting is not None

    def hits(self, there: DeviceEvents, segments: Segments) -> tuple[np.ndarray, np.ndarray]:
        """The ends in some segments before which no run is open, and the latest start of each, an event."""
        if self._window is not None:
            segments = cut_early(segments, there.measured, self._window.size, self._stream)
        registers = np.empty((0, self._tables.n_live), np.int64)
        return self._hits(there, segments, registers, False)[:2]

    def carried_hits(
        self, there: DeviceEvents, segments: Segments, registers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ends in some segments that continue from registers, and the latest start of each, a position.

        Returns
        -------
        event, latest : ndarray, shape (ends,), int64
        registers : ndarray, shape (segments, n_live), int64
            The registers after each segment.
        """
        most = min(ROOM, flows.most_units(self._tables.n_live))
        units = self._units(segments, most) if self._long is not None else None
        if self._long is None or units is None:
            return self._hits(there, segments, registers, True)
        left = copied(registers)
        _, found = flows.long_hits(
            self._long[1],
            there.symbols,
            there.positions,
            *(copied(part) for part in (units.report, units.stop, units.lane)),
            left,
            self._long[0],
            self._stream,
        )
        return *fetched(found), left.copy_to_host()

    def _hits(
        self, there: DeviceEvents, segments: Segments, registers: np.ndarray, numbered: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        window, none = self._window, np.empty(0, np.int64)
        assert self._fitting is not None
        left = copied(registers)
        _, found = hitting.hits(
            self._program,
            there.symbols,
            there.positions if numbered else copied(none),
            there.measured if window is not None else copied(none.view(np.uint64)),
            window.size if window is not None else 0,
            copied(segments.begin),
            copied(segments.report),
            copied(segments.stop),
            left,
            self._fitting,
        )
        return *fetched(found), left.copy_to_host() if len(registers) else registers

    def _units(self, segments: Segments, most: int) -> Segments | None:
        """Segments cut into about `most` units at most; `lane` is the number of each unit's segment.

        None if no segment is long enough.
        """
        number = np.arange(len(segments.begin))
        length = max(LEAST_UNIT, -(-int((segments.stop - segments.report).sum()) // most))
        units = cut_evenly(Segments(segments.begin, segments.report, segments.stop, number), length)
        return units if len(units.begin) > len(segments.begin) else None

    def counts(self, there: DeviceEvents, lists: EndLists) -> tuple[np.ndarray, np.ndarray]:
        """How many complex events end at each end of lists, and the status of each list: not 0 if wrong."""
        pairs = copied(np.stack([lists.event, lists.lowest], axis=1))
        number, status = counting.counts(self._machine, there.symbols, copied(lists.first), pairs, self._lane)
        return number.copy_to_host(), status.copy_to_host()

    def counted_ends(
        self, there: DeviceEvents, segments: Segments, before: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The ends in some segments that continue open partial matches, and how many matches end there.

        Parameters
        ----------
        there : DeviceEvents
        segments : Segments
        before : ndarray, shape (segments, n_live), int64 or object
            How many partial matches are open.

        Returns
        -------
        event, number : ndarray, shape (ends,), int64
        after : ndarray, shape (segments, n_live), int64
        status : ndarray, shape (segments,), uint8
            Not 0 where a segment's numbers are too large.
        """
        assert self._counting is not None
        program, fitting = self._counting
        n, units = self._tables.n_live, None
        if n <= ends.MOST_STATES:
            units = self._units(segments, min(ROOM, ends.most_units(n)))
        number = np.arange(len(segments.begin))
        parts = units or Segments(segments.begin, segments.report, segments.stop, number)
        vectors = copied(np.minimum(before, 1 << 62).astype(np.int64))
        bounds = (copied(part) for part in (parts.report, parts.stop, parts.lane))
        found, after, status = ends.counted_ends(
            program, there.symbols, *bounds, vectors, fitting, self._stream
        )
        return *fetched(found), after.copy_to_host(), status.copy_to_host()


def fetched(found: Any) -> tuple[np.ndarray, np.ndarray]:
    """What was wanted of the hits that `cer_gpu.kernels.hits.cuda` has found, on the host."""
    return columns_of(hits_in(found, GUESSED))


def columns_of(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two numbers of each hit in what `hits_in` gives."""
    first, second = np.ascontiguousarray(rows[hitting.HEAD :].T)
    return first, second


def hits_in(found: Any, guess: int, lead: int = 0) -> np.ndarray:
    """What `cer_gpu.kernels.hits.cuda` has found, on the host: one wait if hits are as few as guessed.

    `lead` other rows stand before.
    """
    rows = min(lead + hitting.HEAD + guess, found.shape[0])
    first: np.ndarray = found[:rows].copy_to_host()
    stop = lead + hitting.HEAD + int(first[lead + hitting.TOTAL, 0])
    if stop <= rows:
        return first[:stop]
    return np.concatenate([first, found[rows:stop].copy_to_host()])


def lists_of(first: np.ndarray, event: np.ndarray, lowest: np.ndarray, events: int) -> np.ndarray:
    """Cut lists of hits so that at most about half of the work is done twice.

    Parameters
    ----------
    first : ndarray, shape (lists + 1,), int64
        Where lists begin.
    event, lowest : ndarray, shape (hits,), int64
        The event of each hit, and the earliest start of the complex events that end there.
    events : int
        How many events there are in all.
    """
    halo = int((event - lowest).mean() * len(event) / events)
    return finer(first, max(LIST, halo, len(event) // ROOM))


def cut_early(segments: Segments, measured: Any, size: float, geometry: Geometry = STREAM) -> Segments:
    """Cut segments into units that each begin one window early.

    A unit reports at least as many events as the windows of the units' first events reach back on average, so
    that at most about half of the work is done twice.

    Parameters
    ----------
    segments : Segments
        Each of them reports some events.
    measured : device array, shape (events,), uint64 or float64
        What the window measures, made `comparable`.
    size : int or float
    geometry : Geometry
    """
    total = int((segments.stop - segments.report).sum())
    length = max(LEAST_UNIT, -(-total // ROOM))
    while True:
        cut = cut_evenly(segments, length)
        begin = _begins(segments, cut, measured, size, geometry)
        mean = int((cut.report - begin).mean())
        if mean <= length or len(cut.begin) == len(segments.begin):
            return Segments(begin, cut.report, cut.stop, cut.lane)
        length = 2 * mean


def _begins(segments: Segments, cut: Segments, measured: Any, size: float, geometry: Geometry) -> np.ndarray:
    """For each unit the least event that the window of its first reported event admits."""
    first = np.append(np.searchsorted(cut.report, segments.report), len(cut.begin)).astype(np.int64)
    there = copied(segments.begin), copied(first), copied(cut.report)
    return windows.lowest_starts(measured, *there, size, geometry).copy_to_host()


def cut_evenly(segments: Segments, length: int) -> Segments:
    """Cut segments into units that report `length` events each; the last unit of a segment reports the rest.

    The units begin where their segment begins.
    """
    parts = np.maximum(-(-(segments.stop - segments.report) // length), 1)
    begin, report, stop, lane = (
        np.repeat(column, parts) for column in (segments.begin, segments.report, segments.stop, segments.lane)
    )
    number = np.arange(len(begin)) - np.repeat(np.cumsum(parts) - parts, parts)
    report = report + number * length
    return Segments(begin, report, np.minimum(report + length, stop), lane)


def finer(first: np.ndarray, most: int) -> np.ndarray:
    """Bounds of lists, with further bounds in between so that no list is longer than `most`.

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
    """Counts, in which those of lists whose status is not 0 are replaced by the results of `again`."""
    for at in np.flatnonzero(status).tolist():
        exact = again(at)
        if exact.dtype == object and number.dtype != object:
            number = number.astype(object)
        number[first[at] : first[at + 1]] = exact
    return number

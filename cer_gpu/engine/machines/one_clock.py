"""The CPU backend of automata with one clock: hits, counts and complex events of chunks, and of streams."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.consume import ConsumeRunner, Consumption
from cer_gpu.engine.machines.ends import Ends, in_order, no_ends
from cer_gpu.engine.machines.one_clock_stream import ClockRuns
from cer_gpu.engine.machines.open_runs import FollowedEvents
from cer_gpu.engine.read.events import ALL_KEYED
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import ranges
from cer_gpu.enumeration.clock_enumeration import SpanEvents
from cer_gpu.enumeration.clock_structure import (
    MOST_COUNTED,
    Ending,
    TimedAnswers,
    counted,
    latest_starts,
    some_ends,
)
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEnds, StreamEvents
from cer_gpu.kernels.windows.contract import NO_WINDOW, comparable
from cer_gpu.plan.clock import ClockMachine
from cer_gpu.plan.compiled_query import CompiledQuery


@dataclass(frozen=True, slots=True)
class ClockChunk:
    """A chunk whose runs have been followed.

    Attributes
    ----------
    chunk : Chunk
    event : ndarray, shape (n,), int64
        The events of the chunk that were followed: those of its lanes.
    runs : ClockRuns
    ending : Ending
        The complex events that end at these events, by their numbers in `event`; also before new events.
    events : SpanEvents
    read : StreamEvents
    bounds : LaneBounds
    """

    chunk: Chunk
    event: np.ndarray
    runs: ClockRuns
    ending: Ending
    events: SpanEvents
    read: StreamEvents
    bounds: LaneBounds


class ClockRunner(ConsumeRunner):
    """Runs an automaton with one clock over chunks on the CPU; a `MachineRunner`.

    One thread follows a chunk, in the way that it follows a stream.

    Parameters
    ----------
    query : CompiledQuery

    Attributes
    ----------
    tables : ClockTables
    constants : ndarray, shape (constants,), uint64 or float64
    query : CompiledQuery
    """

    chunks = 1

    def __init__(self, query: CompiledQuery) -> None:
        machine = query.machine
        assert isinstance(machine, ClockMachine)
        self.tables = machine.tables
        self.constants = machine.constants
        self.query = query
        self.consumption = Consumption(query)
        self._last: ClockChunk | None = None

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk that are reported; `lowest` may be empty unless `bounded`."""
        if not len(chunk.lanes.begin) or self.query.limit == 0:
            return no_ends()
        followed = self._followed(chunk)
        ending = followed.ending
        latest = ending.ends.latest
        if not followed.runs.exact:
            latest = latest_starts(followed.runs.arena, ending)
        of = followed.event
        found = Ends(of[ending.ends.event], chunk.events.positions[of[latest]], of[ending.ends.lowest])
        if (order := in_order(found.event)) is not None:
            found = found.some(order)
        return self.consumption.left(chunk, found.some(self._new(chunk, found.event)))

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk that are reported and how many complex events end at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (h,), int64
            Ascending.
        number : ndarray, shape (h,), int64
            By a walk through each: the general machine counts these queries in less time.
        """
        found = self.ends(chunk)
        if not len(found):
            return found.event, found.event
        followed = self._followed(chunk)
        return found.event, counted(followed.runs.arena, self._asked(followed, found), MOST_COUNTED)

    def needed(self, chunk: Chunk) -> np.ndarray:
        """As `MachineRunner.needed`: where the first run that is still open has begun."""
        followed = self._followed(chunk)
        lanes = chunk.lanes
        low = followed.runs.needed(followed.read, followed.bounds)
        last = len(followed.event)
        return np.where(low == last, lanes.stop, followed.event[np.minimum(low, last - 1)])

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends of a chunk."""
        followed = self._followed(chunk)
        own = self._asked(followed, ends)
        return TimedAnswers(self.tables, followed.runs.arena, own, followed.events, followed.event)

    def open_runs(self) -> ClockRuns:
        """The runs that a stream keeps between pushes."""
        query = self.query
        return ClockRuns(self.tables, self.constants, query.consume, query.window is not None)

    def _new(self, chunk: Chunk, event: np.ndarray) -> np.ndarray:
        """Which events, ascending, are not of an earlier chunk."""
        lane = np.searchsorted(chunk.lanes.begin, event, side="right") - 1
        return np.asarray(event >= chunk.lanes.report[lane])

    def _asked(self, followed: ClockChunk, ends: Ends) -> Ending:
        """What ends at some ends of a chunk, with the bounds that these have."""
        event = np.searchsorted(followed.event, ends.event)
        lowest = np.searchsorted(followed.event, ends.lowest)
        own = some_ends(followed.ending, np.searchsorted(followed.ending.ends.event, event))
        return Ending(own.roots, StreamEnds(event, lowest, own.ends.latest))

    def _followed(self, chunk: Chunk) -> ClockChunk:
        """A chunk, followed once."""
        if self._last is not None and self._last.chunk is chunk:
            return self._last
        lanes, events, window = chunk.lanes, chunk.events, self.query.window
        length = lanes.stop - lanes.begin
        event = ranges(lanes.begin, length)
        lane = np.repeat(np.arange(len(lanes.begin), dtype=np.int32), length)
        times = events.moments[event].view(self.constants.dtype)
        measured, size = NO_WINDOW
        if window is not None:
            measured, size = comparable(events.measured[event], window.size)
        count = len(event)
        read = StreamEvents(
            events.symbols[event], lane, measured, np.empty(count, np.int64),
            np.empty((0, count), np.int32), np.empty(0, np.int64),
        )  # fmt: skip
        none = np.full(len(lanes.begin), -1, np.int64)
        bounds = LaneBounds(none, none.copy(), np.cumsum(length) - length, np.zeros(1, np.int64))
        runs = ClockRuns(self.tables, self.constants, "NONE", window is not None)
        ending = runs.follow(FollowedEvents(read, size, bounds, 0, count, ALL_KEYED, times, event[:0]))
        span = SpanEvents(read.symbols, lane, times, self.constants)
        self._last = ClockChunk(chunk, event, runs, ending, span, read, bounds)
        return self._last


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> ClockRunner:
    """The runner of automata with one clock on the CPU; parameters as in `runner_of`."""
    return ClockRunner(query)

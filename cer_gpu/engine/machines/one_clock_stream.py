"""The automaton with one clock on a stream: its open runs and their structure, kept from push to push."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import CONSUMES, Dropped, Following, Pushed
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import grown
from cer_gpu.enumeration.timed import TimedAnswers, TimedStructure, latest_starts, some_ends
from cer_gpu.enumeration.timed_ordered import SpanEvents
from cer_gpu.kernels.clocked import cpu_kept as kept
from cer_gpu.kernels.clocked.contract import ClockedEvents, ClockTables
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents, StreamWindow


class ClockRuns:
    """The open runs of an automaton with one clock; `OpenRuns`.

    Where the intervals bound times from above, the steps that an event costs depend only on the query; where
    they bound them from below, it costs O(log n) for n open runs. A run that no later check can admit is
    dropped, with the events that only it needs, also without a window.

    Parameters
    ----------
    tables : ClockTables
    constants : ndarray, shape (constants,), uint64 or float64
    consume : {"NONE", "ANY", "PARTITION"}
    windowed : bool
        Whether the query has a window.
    """

    def __init__(self, tables: ClockTables, constants: np.ndarray, consume: str, windowed: bool) -> None:
        self._consumes = CONSUMES[consume]
        self._structure = TimedStructure(tables, constants, windowed)
        self._serial = np.empty(0, np.int64)
        self._following = np.empty(0, np.int64)
        self._next = 0
        self._events: StreamEvents | None = None

    def push(self, following: Following) -> Callable[[Relevant], Pushed] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        structure, first, stop = self._structure, following.first, following.stop
        self._serial, self._following = grown(self._serial, stop), grown(self._following, stop, -1)
        self._serial[first:stop] = np.arange(self._next, self._next + stop - first)
        self._next += stop - first
        times = following.times.view(structure.constants.dtype)
        clocked = ClockedEvents(self._serial, times, self._following, structure.constants)
        window = StreamWindow(following.size, self._consumes)
        ending = structure.follow(
            following.events, clocked, following.stops(), stop - first, window, following.bounds
        )
        if not len(ending.ends.event):
            return None
        arena = structure.arena

        def pushed(seen: Relevant) -> Pushed:
            ends = ending.ends
            latest = ends.latest if structure.exact else latest_starts(arena, ending)
            every = Ends(ends.event, seen.positions[latest], ends.lowest)

            def answers(some: Ends) -> TimedAnswers:
                own = some_ends(ending, np.searchsorted(ends.event, some.event))
                constants = structure.constants
                events = SpanEvents(seen.symbols, seen.lanes, seen.moments.view(constants.dtype), constants)
                return TimedAnswers(structure.tables, arena, own, events)

            return Pushed(seen, every, answers)

        return pushed

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """Find what is needed; as `OpenRuns.bound`."""
        low = self._structure.needed(events, self._clocked(), bounds)
        if len(events.measured):
            # A window looks at the first event that it has; one at least stays.
            low = np.minimum(low, np.maximum(bounds.last, 0))
        bounds.low[:] = np.maximum(bounds.low, low)
        self._events = events

    def drop(self, dropped: Dropped) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        assert self._events is not None
        which = np.flatnonzero(dropped.is_open)
        lanes = self._events.lanes
        if len(lanes):
            lanes = dropped.lane_of[lanes[which]].astype(np.int32)
        following, first = np.empty(len(which), np.int64), np.full(dropped.lane_count, -1, np.int64)
        kept.linked(lanes, len(which), following, first)
        self._structure.keep(self._clocked(), dropped.is_open, dropped.place, dropped.lanes, first)
        self._serial, self._following = self._serial[which], following
        self._events = None

    @property
    def nbytes(self) -> int:
        """Bytes that the runs take."""
        return self._structure.nbytes + self._serial.nbytes + self._following.nbytes

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        arrays = self._structure.arrays()
        count = int(arrays["event"][0])
        return {
            **arrays,
            "serial": self._serial[:count],
            "following": self._following[:count],
            "next": np.array([self._next]),
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        self._structure.restore(arrays)
        self._serial, self._following = arrays["serial"].copy(), arrays["following"].copy()
        self._next = int(arrays["next"][0])

    def _clocked(self) -> ClockedEvents:
        """What is known of the events so far, without their times, which the structure has already."""
        constants = self._structure.constants
        return ClockedEvents(self._serial, constants[:0], self._following, constants)

"""The open runs of a machine on a stream: what every machine that keeps them between pushes can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from cer_gpu import progress
from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_state import AxisRows, OpenState, in_order, numbered
from cer_gpu.engine.memory import NO_BOUND, Headroom
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.payload import RowValues, table_of
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.streams.contract import ALL_LANES, NOTHING, OWN_LANE, LaneBounds, StreamEvents

STEP = 1 << 16
"""Events that a machine follows without a stop."""

CONSUMES = {"NONE": NOTHING, "ANY": ALL_LANES, "PARTITION": OWN_LANE}
"""What a reported end consumes, as kernels read it."""


@dataclass(frozen=True, slots=True)
class PushResult:
    """The complex events that end in a push.

    Attributes
    ----------
    events : EventArrays
        Events that contain all those of its complex events.
    ends : Ends
    answers : callable
        Gives the complex events at some of the ends.
    number : ndarray, shape (ends,), int64 or object, or None
        How many complex events end at each; None if they are not counted.
    """

    events: EventArrays
    ends: Ends
    answers: Callable[[Ends], Answers]
    number: np.ndarray | None = None


def stops(first: int, end: int, headroom: Headroom = NO_BOUND) -> Iterator[int]:
    """Where a machine that follows events stops, the end included.

    At each stop the run reacts to Ctrl-C, looks at the free memory, and shows progress.
    """
    for stop in range(first + STEP, end, STEP):
        yield stop
        headroom.check_free()
        progress.show("following partial matches", stop - first, end - first)
    yield end


@dataclass(frozen=True, slots=True)
class FollowedEvents:
    """The events that a machine has to follow, `first` .. `stop - 1`, and what it reads of them.

    Attributes
    ----------
    events : StreamEvents
        With room for more.
    size : number
        The size of the window, of the type of what is measured.
    bounds : LaneBounds
    first, stop : int
    keyed : ndarray, shape (room,) or (0,), uint8
        0 where the key is null or NaN; empty if the machine does not need it.
    times : ndarray, shape (room,) or (0,), int64 or float64
        The time of each event; empty if the machine does not need it.
    positions : ndarray, shape (room,), int64
        The position of each event in the stream.
    payload : pyarrow.Table or None
        The columns that are kept of the new events; None if none are, or `row` has them.
    row : RowValues or None
        The same of a single event.
    numbers : ndarray, shape (stop,), int64, or None
        If these are some events of a stream, from 0 on: their numbers there.
    kept : int
        How many events the stream has then.
    headroom : Headroom
        The memory that the machine may take.
    """

    events: StreamEvents
    size: Any
    bounds: LaneBounds
    first: int
    stop: int
    keyed: np.ndarray
    times: np.ndarray
    positions: np.ndarray
    payload: pa.Table | None = None
    row: RowValues | None = None
    numbers: np.ndarray | None = None
    kept: int = 0
    headroom: Headroom = NO_BOUND

    @property
    def count(self) -> int:
        """How many events the stream has kept by then, the new ones included."""
        return self.stop if self.numbers is None else self.kept

    def some(self, which: np.ndarray) -> FollowedEvents:
        """Some of the new events, by their places among these: all that is followed."""
        place = self.first + which
        symbols, lanes, measured, following, slots, places = self.events
        events = StreamEvents(
            symbols[place], *(each[place] if len(each) else each for each in (lanes, measured)),
            following[:0], slots[:, :0], places[:0],
        )  # fmt: skip
        keyed, times = (each[place] if len(each) else each for each in (self.keyed, self.times))
        rows = self.rows
        return FollowedEvents(
            events, self.size, self.bounds, 0, len(which), keyed, times, self.positions[place],
            None if rows is None else rows.take(which), None, place, self.stop, self.headroom,
        )  # fmt: skip

    @property
    def rows(self) -> pa.Table | None:
        """The columns that are kept of the new events; None if none are."""
        return self.payload if self.row is None else table_of(self.row.schema, [self.row.values])

    def stops(self) -> Iterator[int]:
        """Where to stop, the end included."""
        return stops(self.first, self.stop, self.headroom)


@dataclass(frozen=True, slots=True)
class Renumbering:
    """The new numbers of events, lanes and slots after those that are no longer open were dropped.

    Attributes
    ----------
    is_open : ndarray, shape (events,), uint8
    open_events : ndarray, shape (open,), int64
        The old numbers of the events that are open, ascending.
    lanes : ndarray, shape (lanes, 2), int64
        The old and the new number of each lane that has open events.
    lane_count : int
        How many lanes there are from now on.
    slots : tuple of two ndarray, shape (columns, count), int32
        The slots of the open events, by the old and by the new numbers.
    lane : ndarray, shape (events,), int32
        The old number of the lane of each event.
    """

    is_open: np.ndarray
    open_events: np.ndarray
    lanes: np.ndarray
    lane_count: int
    slots: tuple[np.ndarray, np.ndarray]
    lane: np.ndarray

    @property
    def lane_of(self) -> np.ndarray:
        """The new number of each lane by its old one, -1 without open events: shape (lanes,), int64."""
        old, new = self.lanes.T
        found = np.full(int(old.max(initial=-1)) + 1, -1, np.int64)
        found[old] = new
        return found

    @property
    def event_of(self) -> np.ndarray:
        """The new number of each event by its old one, -1 for one that is dropped and for -1."""
        return numbered(self.open_events, len(self.is_open))

    @property
    def count(self) -> int:
        """How many events are open."""
        return len(self.open_events)

    @property
    def place(self) -> np.ndarray:
        """How many open events come before each: its new number, if it is open."""
        found: np.ndarray = np.cumsum(self.is_open, dtype=np.int64) - self.is_open
        return found

    @property
    def event_rows(self) -> AxisRows:
        """The events that are open, as rows of an `OpenState`."""
        return in_order(self.open_events)

    @property
    def lane_rows(self) -> AxisRows:
        """The lanes that have open events, as rows of an `OpenState`."""
        return AxisRows(self.lanes[:, 0], self.lanes[:, 1], self.lane_count)

    def moved(self, events: np.ndarray) -> np.ndarray:
        """The new numbers of events; an event that is dropped gets that of the next one that is kept."""
        return np.searchsorted(self.open_events, events)


class OpenRuns(Protocol):
    """The open runs of a machine on a stream."""

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the runs over further events.

        Returns
        -------
        callable or None
            Gives what ends there, from all events so far; None if nothing ends.
        """
        ...

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """Set `bounds.low` of each lane to the first event that is needed, if no window has done so."""
        ...

    def drop(self, dropped: Renumbering) -> None:
        """Forget the runs that have begun at events that are no longer open, and renumber the others."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes that the runs take."""
        ...

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        ...

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        ...


class KeptRuns:
    """What all machines have in common whose open runs are an `OpenState`."""

    _state: OpenState

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`: the window and what is consumed bound each lane already."""

    @property
    def nbytes(self) -> int:
        """Bytes that the runs take."""
        return self._state.nbytes

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        return self._state.arrays()

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        self._state.restore(arrays)

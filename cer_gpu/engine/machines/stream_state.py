"""What a stream keeps between pushes: the events that are still open, and the open runs of a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cer_gpu.engine.machines.open_events import OpenEvents
from cer_gpu.engine.machines.open_runs import FollowedEvents, OpenRuns, PushResult, Renumbering
from cer_gpu.engine.memory import Allowance, Headroom, still_needed
from cer_gpu.engine.read.events import EventArrays, relevant_of, state_of
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.read.payload import RowValues
from cer_gpu.kernels.streams import cpu as kernels
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents
from cer_gpu.kernels.windows.contract import NO_WINDOW, comparable
from cer_gpu.plan.compiled_query import CompiledQuery

LEAST = 1 << 13
"""The least number of events that are kept before those that are no longer open are dropped."""


LOOK = 1 << 6
"""Events between two checks of what may be forgotten and of the memory that is taken."""


class StreamState:
    """A machine on a stream: a push costs only what is new.

    Events and runs are appended. Once those that are no longer open may be half of all, they are dropped and
    the others copied, so that on average an event is copied a constant number of times. What a push has given
    stays valid: nothing that it may read is changed.

    Parameters
    ----------
    query : CompiledQuery
    intake : Intake
    runs : OpenRuns
    memory : int or None
        The most bytes that may be kept.
    """

    def __init__(self, query: CompiledQuery, intake: Intake, runs: OpenRuns, memory: int | None) -> None:
        self._query = query
        self._reads_times = "time" in query.traits.columns or query.suppress is not None
        self._intake = intake
        self._runs = runs
        self._allowance = Allowance(memory)
        self._headroom = Headroom(memory, runs)
        self._kept = OpenEvents(query.window is not None, query.filters_answers)
        self._bounds = _bounds(1)
        self._events: StreamEvents | None = None
        self._size: Any = NO_WINDOW.size
        self._full = LEAST
        self._unlooked = 0
        self._reported = -1
        """For CONSUME BY ANY: the last position that was reported."""

    def push(
        self, new: EventArrays, row: RowValues | None = None, later: list[EventArrays] | None = None
    ) -> PushResult | None:
        """Add further events.

        Parameters
        ----------
        new : EventArrays
            In the order of the stream; at least one.
        row : RowValues, optional
            The payload of a single event, if it is not in `new`.
        later : list of EventArrays, optional
            Events that have been read already and are pushed next. If keys are forgotten, they are replaced
            by the same events with their new lanes and slots.

        Raises
        ------
        LimitError
            If what is kept takes more memory than is allowed.
        """
        back = self._returned()
        if back or self._unlooked + len(new) >= LOOK or self._kept.count + len(new) > self._full:
            coming = self._made_room([*back, new, *(later or ())])
            if later:
                coming, later[:] = coming[: -len(later)], coming[-len(later) :]
            *back, new = coming
            for events in back:
                self._follow(events)  # what ends there was reported before they were put on disk
        self._unlooked += len(new)
        found = self._follow(new, row)
        if found is None:
            return None
        pushed = found(self._kept.seen())
        if self._query.consume == "ANY" and len(pushed.ends):
            self._reported = int(pushed.events.positions[pushed.ends.event[-1]])
        return pushed

    def relieve(self, rows: int | None = None) -> None:
        """Forget what is no longer needed, after rows without relevant events.

        Parameters
        ----------
        rows : int, optional
            How many rows; None: so many that it is worth while to look.
        """
        back = self._returned()
        self._unlooked += LOOK if rows is None else rows
        if back or self._unlooked >= LOOK:
            for events in self._made_room(back):
                self._follow(events)

    def _made_room(self, coming: list[EventArrays]) -> list[EventArrays]:
        """Drop what is not needed, if it is much; gives `coming` with lanes and slots as numbered then."""
        self._unlooked = 0
        count = self._kept.count + sum(map(len, coming))
        if count > self._full or self._intake.forgets(count):
            coming = self._drop(coming)
        return self._within_allowance(coming)

    def _follow(
        self, new: EventArrays, row: RowValues | None = None
    ) -> Callable[[EventArrays], PushResult] | None:
        """Follow the runs over further events; gives what ends at them."""
        if not self._kept.room(len(new)):
            self._events = None
        first = self._kept.count
        self._kept.append(new, row)
        if self._events is None:
            self._events = self._laid_out()
        lanes = self._intake.lane_count if len(new.lanes) else 1
        if lanes > len(self._bounds.low):
            each = zip(self._bounds[:3], (-1, -1, 0), strict=True)
            self._bounds = LaneBounds(*(grown(one, lanes, fill) for one, fill in each), self._bounds.all)
        keyed, times = self._kept.array("keyed"), self._kept.array("times")
        if self._reads_times and not len(times):
            times = self._kept.array("keys")  # what the window measures
        positions = self._kept.array("positions")
        events, bounds, stop = self._events, self._bounds, self._kept.count
        return self._runs.push(
            FollowedEvents(
                events,
                self._size,
                bounds,
                first,
                stop,
                keyed,
                times,
                positions,
                new.payload,
                row,
                headroom=self._headroom,
            )
        )

    def _returned(self) -> list[EventArrays]:
        """Events that have come back from disk, without those that a report in another lane has dropped."""
        found = self._intake.returned()
        if self._query.consume == "ANY":
            found = [part.take(np.flatnonzero(part.positions > self._reported)) for part in found]
        return [part for part in found if len(part)]

    def state(self) -> dict[str, Any]:
        """All that is kept, for `cer_gpu.engine.run.snapshot`; what is not needed is dropped first."""
        self._drop([], pressed=True)
        events = None if not self._kept.count else state_of(self._kept.seen())
        bounds = self._bounds
        return {
            "events": events,
            "least": bounds.least,
            "all": bounds.all,
            "reported": self._reported,
            "runs": self._runs.arrays(),
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        least, self._reported = state["least"], state["reported"]
        self._bounds = _bounds(len(least))._replace(least=least, all=state["all"])
        self._runs.restore(state["runs"])
        if state["events"] is not None:
            self._kept.append(relevant_of(state["events"], self._intake.lane_keys))
            self._events = self._laid_out()
            if self._query.window is not None:
                kernels.relink(self._events, self._kept.count, self._bounds)
        self._full = max(LEAST, 2 * self._kept.count)

    @property
    def count(self) -> int:
        """How many events are kept."""
        return self._kept.count

    @property
    def nbytes(self) -> int:
        """About how many bytes are kept."""
        return self._nbytes + self._intake.nbytes

    @property
    def _nbytes(self) -> int:
        """The same without keys."""
        return self._kept.nbytes + self._runs.nbytes

    def _laid_out(self) -> StreamEvents:
        """The events as kernels read them."""
        kept, window = self._kept, self._query.window
        measured, self._size = NO_WINDOW
        if window is not None:
            keys = kept.array("keys")
            measured, self._size = comparable(keys if len(keys) else kept.array("positions"), window.size)
        return StreamEvents(
            kept.array("symbols"), kept.array("lanes"), measured, kept.following, kept.array("slots"),
            kept.array("places"),
        )  # fmt: skip

    # ------------------------------------------------------------------------------------- forgetting

    def _within_allowance(self, new: list[EventArrays]) -> list[EventArrays]:
        """Drop more where too much is kept; as `_drop`."""
        coming = new

        def drop() -> None:
            nonlocal coming
            coming = self._drop(coming, pressed=True)

        def put_away(excess: int) -> None:
            nonlocal coming
            if self._intake.away is not None:
                coming = self._drop(coming, excess=excess)

        self._allowance.keep_to(
            lambda: self.nbytes,
            drop,
            put_away,
            lambda: still_needed(self._kept.count, self._query.window),
        )
        return coming

    def _drop(
        self, new: list[EventArrays], pressed: bool = False, excess: int | None = None
    ) -> list[EventArrays]:
        """Drop what is no longer open; gives new events with lanes and slots as numbered then.

        Parameters
        ----------
        new : list of EventArrays
            Those that have been read since.
        pressed : bool
            Whether also few keys are to be forgotten.
        excess : int, optional
            By how many bytes what is kept is too much: partitions are put on disk, too.
        """
        coming = sum(map(len, new))
        if self._events is None:
            self._full = max(LEAST, 2 * coming)
            away = None if excess is None else self._intake.put_away(None, new, 0, excess)
            return self._intake.forget(new, pressed, away)
        seen = self._kept.seen()
        is_open, away = self._open(new), None
        if excess is not None:
            away = self._intake.put_away(seen.take(np.flatnonzero(is_open)), new, self._nbytes, excess)
            if away is None:
                return new
            is_open &= ~away[seen.lanes]
        which = np.flatnonzero(is_open.view(bool))
        kept = seen.take(which)
        renumbered, *new = self._intake.forget([kept, *new], pressed, away)
        lanes, count = np.zeros((1, 2), np.int64), 1
        if len(seen.lanes):
            new_of = np.full(len(self._bounds.low), -1, np.int64)
            new_of[kept.lanes] = renumbered.lanes
            old = np.flatnonzero(new_of >= 0)
            lanes, count = np.stack([old, new_of[old]], axis=1), self._intake.lane_count
        lane = seen.lanes if len(seen.lanes) else np.zeros(len(seen), np.int32)
        slots = kept.slots, renumbered.slots
        dropped = Renumbering(is_open, which, lanes, count, slots, lane)
        self._runs.drop(dropped)
        self._kept.keep(renumbered)
        bounds = _bounds(count)
        bounds.least[lanes[:, 1]] = dropped.moved(self._bounds.least[lanes[:, 0]])
        bounds.all[:] = dropped.moved(self._bounds.all)
        self._bounds, self._events = bounds, None
        if self._kept.count:
            self._events = self._laid_out()
            if self._query.window is not None:
                kernels.relink(self._events, self._kept.count, bounds)
        self._full = max(LEAST, 2 * (self._kept.count + coming))
        return new

    def _open(self, new: list[EventArrays]) -> np.ndarray:
        events, count = self._events, self._kept.count
        assert events is not None
        self._runs.bound(events, self._bounds)
        is_open = np.empty(count, np.uint8)
        kernels.mark_open(events, count, self._bounds, is_open)
        window = self._query.window
        least = None if window is None else self._intake.least_measured(new)
        if window is not None and least is not None and len(events.lanes):
            # The stream has moved on for all lanes.
            is_open &= self._kept.seen().measured >= least - window.size
        return is_open


def _bounds(lanes: int) -> LaneBounds:
    none = np.full(lanes, -1, np.int64)
    return LaneBounds(none, none.copy(), np.zeros(lanes, np.int64), np.zeros(1, np.int64))

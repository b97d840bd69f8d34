"""What a stream keeps between pushes: the events that are still open, and the open runs of a machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.engine.machines.open_events import OpenEvents
from cer_gpu.engine.machines.open_runs import Dropped, Following, OpenRuns, Pushed
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.lanes import grown
from cer_gpu.errors import LimitError
from cer_gpu.kernels.streams import cpu as kernels
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled import CompiledQuery

LEAST = 1 << 12
"""Events that are kept at least before those that are no longer open are dropped."""


class StreamState:
    """A machine on a stream, whose pushes cost what is new.

    Events and runs are appended. Once those that are no longer open may be half of all, they are dropped and
    the others copied, so that an event is copied a constant number of times on average. What a push has given
    stays valid, since nothing is changed that it may read.

    Parameters
    ----------
    query : CompiledQuery
        Its window admits an interval of starts.
    intake : Intake
    runs : OpenRuns
    memory : int or None
        Bytes that may be kept at most.
    """

    def __init__(self, query: CompiledQuery, intake: Intake, runs: OpenRuns, memory: int | None) -> None:
        self._query = query
        self._intake = intake
        self._runs = runs
        self._memory = memory
        self._kept = OpenEvents(query.window is not None)
        self._bounds = _bounds(1)
        self._events: StreamEvents | None = None
        self._size: Any = np.uint64(0)
        self._full = LEAST

    def push(self, new: Relevant) -> Pushed | None:
        """Take further events in.

        Parameters
        ----------
        new : Relevant
            In the order of the stream; at least one.

        Raises
        ------
        LimitError
            Where what is kept takes more memory than is allowed.
        """
        if self._kept.count + len(new) > self._full:
            new = self._drop(new)
        elif self._memory is not None and self.nbytes > self._memory:
            new = self._drop(new)
            self._check_memory()
        if not self._kept.room(len(new)):
            self._events = None
        first = self._kept.count
        self._kept.append(new)
        if self._events is None:
            self._events = self._laid_out()
        lanes = self._intake.lane_count if len(new.lanes) else 1
        if lanes > len(self._bounds.low):
            each = zip(self._bounds[:3], (-1, -1, 0), strict=True)
            self._bounds = LaneBounds(*(grown(one, lanes, fill) for one, fill in each), self._bounds.all)
        following = Following(self._events, self._size, self._bounds, first, self._kept.count)
        found = self._runs.push(following)
        return None if found is None else found(self._kept.seen())

    @property
    def count(self) -> int:
        """How many events are kept."""
        return self._kept.count

    @property
    def nbytes(self) -> int:
        """Bytes that are kept, about."""
        return self._kept.nbytes + self._runs.nbytes

    def _laid_out(self) -> StreamEvents:
        """The events as kernels read them."""
        kept, window = self._kept, self._query.window
        measured = kept.array("keys")
        if window is not None:
            if not len(measured):
                measured = kept.array("positions")
            measured, self._size = comparable(measured, window.size)
        return StreamEvents(
            kept.array("symbols"), kept.array("lanes"), measured, kept.following, kept.array("slots"),
            kept.array("places"),
        )  # fmt: skip

    # ------------------------------------------------------------------------------------- forgetting

    def _drop(self, new: Relevant) -> Relevant:
        """Drop what is no longer open; new events, with lanes and slots as they are numbered then."""
        if self._events is None:
            self._full = max(LEAST, 2 * len(new))
            return new
        seen = self._kept.seen()
        is_open = self._open()
        place = np.cumsum(is_open, dtype=np.int64) - is_open
        which = np.flatnonzero(is_open)
        kept = seen.take(which)
        renumbered, new = self._intake.forget(kept, new)
        assert renumbered is not None
        lanes, count = np.zeros((1, 2), np.int64), 1
        if len(seen.lanes):
            new_of = np.full(len(self._bounds.low), -1, np.int64)
            new_of[kept.lanes] = renumbered.lanes
            old = np.flatnonzero(new_of >= 0)
            lanes, count = np.stack([old, new_of[old]], axis=1), self._intake.lane_count
        dropped = Dropped(is_open, place, len(which), lanes, count, (kept.slots, renumbered.slots))
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
        self._full = max(LEAST, 2 * (self._kept.count + len(new)))
        return new

    def _open(self) -> np.ndarray:
        events, count = self._events, self._kept.count
        assert events is not None
        is_open = np.empty(count, np.uint8)
        clocked = len(events.lanes) > 0 and ascends(self._query, self._intake)
        now = events.measured[count - 1] if clocked else self._size
        kernels.mark_open(events, count, self._bounds, clocked, now, self._size, is_open)
        return is_open

    def _check_memory(self) -> None:
        assert self._memory is not None
        if self.nbytes <= self._memory:
            return
        window = "has no window" if self._query.window is None else "has a window that long"
        raise LimitError(
            f"{self._kept.count:,} events may still be part of a complex event, since the query {window}: "
            f"they take {self.nbytes:,} bytes, and memory={self._memory:,} was allowed: "
            "narrow WITHIN or the filters, or allow more"
        )


def ascends(query: CompiledQuery, intake: Intake) -> bool:
    """Whether what the window measures ascends over all lanes: the stream moves on for each of them."""
    window = query.window
    return window is not None and not query.reading.partition and (window.kind == "events" or intake.in_order)


def _bounds(lanes: int) -> LaneBounds:
    none = np.full(lanes, -1, np.int64)
    return LaneBounds(none, none.copy(), np.zeros(lanes, np.int64), np.zeros(1, np.int64))

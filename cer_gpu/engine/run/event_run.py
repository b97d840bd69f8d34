"""A run over a source that is followed event by event, as a stream is: no event is run again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.machines.open_runs import PushResult
from cer_gpu.engine.machines.reported_ends import Asked, More, ReportedEnds
from cer_gpu.engine.machines.stream_state import StreamState
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.run.chunks import BYTES_OF_EVENT
from cer_gpu.engine.run.run_parts import Run

AT_ONCE = 1 << 18
"""Events that are followed before what ends at them is listed."""

SOON = 1 << 8
"""The size of the first part if few complex events are wanted; each further part is twice as large. So the
first answers come before most events have been followed. What can no longer end is known only up to the last
event of a part, so parts are large if all complex events are wanted."""


def followed(run: Run, batches: Iterator[pa.RecordBatch], at_once: int | None = None) -> Iterator[PushResult]:
    """What ends in each part of a stream; each has to be listed before the next is asked for.

    Parameters
    ----------
    run : Run
    batches : iterator of RecordBatch
    at_once : int, optional
        Events of the first part; each further part has up to twice as many.
    """
    state = EventRun(run, at_once)
    for part in run.relevant(batches):
        yield from state.pushed(part)


class EventRun:
    """`followed`, part by part, for a caller that has the events.

    Parameters
    ----------
    run : Run
    at_once : int, optional
        As for `followed`.
    """

    def __init__(self, run: Run, at_once: int | None = None) -> None:
        runs = run.runner.open_runs()
        assert runs is not None
        self._state = StreamState(run.query, run.intake, runs, run.memory)
        self._limit, self._halo, self._stop = run.query.limit, run.halo, run.stop
        self._most = AT_ONCE
        if run.memory is not None:
            self._most = min(AT_ONCE, max(run.memory // BYTES_OF_EVENT, SOON))
        self._at_once = self._most if at_once is None else min(at_once, self._most)

    def pushed(self, part: EventArrays) -> Iterator[PushResult]:
        """What ends at the next relevant events; each part has to be listed before the next is asked for."""
        if not len(part) or self._limit == 0:
            self._state.relieve()
            return
        before, new = _parted(part, self._halo, self._stop)
        later = [*self._in_ranges(new)]
        if len(before):
            self._state.push(before, later=later)
        while later:
            found = self._state.push(later.pop(0), later=later)
            if found is not None:
                yield found

    def state(self) -> dict[str, Any]:
        """All that is kept, as `StreamState.state`."""
        return self._state.state()

    def resume(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        self._state.resume(state)

    def _in_ranges(self, events: EventArrays) -> Iterator[EventArrays]:
        """Events in parts."""
        first = 0
        while first < len(events):
            stop = min(first + self._at_once, len(events))
            yield events if stop - first == len(events) else events.take(np.arange(first, stop))
            first, self._at_once = stop, min(2 * self._at_once, self._most)


def _parted(part: EventArrays, halo: int, stop: int | None) -> tuple[EventArrays, EventArrays]:
    """The events of the halo, and the others up to a position."""
    if not halo and stop is None:
        return part.take(np.empty(0, np.int64)), part
    inside = part.positions >= halo
    before = part.take(np.flatnonzero(~inside))
    if stop is not None:
        inside &= part.positions < stop
    return before, part.take(np.flatnonzero(inside))


def reported_in(found: PushResult, asked: Asked, limit: int | None, more: More | None) -> ReportedEnds:
    """The ends of a push, as `cer_gpu.engine.machines.reported_ends.reported` gives them.

    Parameters
    ----------
    found : Pushed
    asked : {"hits", "counts", "count"}
    limit : int or None
        The most complex events of each end that are counted.
    more : callable or None
        Gives further columns.
    """
    value = found.ends.latest if asked == "hits" else found.number
    assert value is not None
    if asked != "hits" and limit is not None:
        value = np.minimum(value, limit)
    if asked == "count":
        return ReportedEnds(np.empty(0, np.int64), value)
    event = found.ends.event
    position = found.events.positions[event]
    return ReportedEnds(position, value, () if more is None else more(found.events, event))

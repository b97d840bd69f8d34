"""Outlooks of a query: looks after and before each event; events are held back until their bits are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import proxy

import numpy as np

from cer_gpu.engine.machines.future_outlook import FutureOutlook
from cer_gpu.engine.machines.next_event_outlook import NextEventOutlook
from cer_gpu.engine.machines.past_outlook import PastOutlook
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.sources.caller_times import after
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import LimitError
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.outlook import Outlook

if TYPE_CHECKING:
    from cer_gpu.engine.machines.pattern_outlook import PastPatternOutlook

LookingStage: TypeAlias = "PastOutlook | FutureOutlook | PastPatternOutlook"
"""What finds the bits of one outlook."""

MANY = 1 << 22
"""From this many held events on, the run spends time to find out whether their reach is over."""

SCANNED = 16
"""For each row that was read, the lanes in which held events are checked for the end of their reach."""

BYTES_OF_EVENT = 128
"""About how many bytes a held event takes."""


class Outlooks:
    """The outlooks of a query, one after the other, over the events of a run.

    Each reads the events in the order of the stream inside every lane, and gives them in this order. So the
    next one reads later what one of them holds back.

    Parameters
    ----------
    query : CompiledQuery
        With outlooks.
    intake : Intake
        Where the events come from.
    at_once : bool
        Whether an event is given as soon as its bit is known, and not only after all events before it in the
        stream: for pushed batches, and where the order of ends does not matter.
    memory : int or None
        Bytes that the run may take.
    workers : Workers
    whole : bool, optional
        Whether the events are all those of a source, with integer times.
    until : int or float, optional
        The time up to which the events are known; None: after the last event nothing comes any more.
    """

    def __init__(
        self,
        query: CompiledQuery,
        intake: Intake,
        at_once: bool,
        memory: int | None,
        workers: Workers,
        whole: bool = False,
        until: int | float | None = None,
    ) -> None:
        in_order = not at_once or query.in_stream_order
        laned = bool(query.reading.partition)
        valued = query.window is not None and query.window.kind == "attribute"
        whole = whole and memory is None and not intake.grouped and len(query.outlooks) == 1
        self.until = until
        self._settles = until is None or all(outlook.doubt is not None for outlook in query.outlooks)
        """Whether bits that are not known at the end are taken for something."""
        self._ends_all = query.in_stream_order
        by_next = whole and query.outlooks[0].by_next and self._settles
        self._next: NextEventOutlook | None = None
        if by_next:
            alone = query.traits.symbols_alone
            self._next = NextEventOutlook(query.outlooks[0], laned, workers, alone)

        def stage(outlook: Outlook) -> LookingStage:
            if outlook.machine is not None:
                from cer_gpu.engine.machines import pattern_outlook as runs  # few queries need it

                if outlook.before:
                    return runs.PastPatternOutlook(outlook, query, laned, workers)
                found = runs.LookedForRuns(outlook, query, laned, workers)
                return FutureOutlook(outlook, laned, in_order, valued, workers, found)
            if outlook.before:
                return PastOutlook(outlook, laned, workers)
            return FutureOutlook(outlook, laned, in_order, valued, workers)

        self._stages = [] if by_next else [stage(outlook) for outlook in query.outlooks]
        self._reads_times = "time" in query.traits.columns
        self._laned = laned
        # `intake` knows who holds events back; a circle would keep both until Python looks for it.
        self._intake: Intake = proxy(intake)
        self._keeps_times = query.keeps_times
        self._memory = memory
        self._many = MANY if memory is None else min(MANY, memory // BYTES_OF_EVENT // 4)
        self._looked = 0

    @property
    def by_next(self) -> bool:
        """Whether the next event of its lane decides each bit, so that few events are held back."""
        return self._next is not None

    @property
    def reads_lanes(self) -> bool:
        """Whether it is looked up how far single lanes have been read."""
        waiting = [stage.measured for stage in self._stages if isinstance(stage, FutureOutlook)]
        return "events" in waiting or ("time" in waiting and not self._intake.shows_time)

    def keep_times(self) -> None:
        """Give events with their times, for the ends that are reported."""
        self._keeps_times = True

    @property
    def states(self) -> list[LookingStage | NextEventOutlook]:
        """The state that is kept for each lane."""
        return [*self._stages, *([] if self._next is None else [self._next])]

    def busy(self) -> list[np.ndarray]:
        """Lanes that have to stay in memory."""
        return [stage.busy() for stage in self.states]

    def __call__(self, events: EventArrays) -> Iterator[EventArrays]:
        """Read further events of the stream.

        Yields
        ------
        EventArrays
            Events with the symbols that the machine reads. Lanes may be renumbered in between.

        Raises
        ------
        LimitError
            If the events that are held back take more memory than is allowed.
        """
        if self._next is not None:
            # Where any distance is in reach, no time ends it.
            endless = self._next.outlook.reach.kind is None
            now = None if endless else self._intake.watermark
            given = self._next.decided(events, self._lane_count, None if now is None else int(now))
            yield from map(self._done, given)
            return
        yield from self._given(events if len(events) else None, 0)
        for number, stage in enumerate(self._stages):
            if isinstance(stage, FutureOutlook) and stage.waits:
                yield from self._given(self._passed(number, stage), number + 1)
        self._within_allowance()

    def rest(self) -> Iterator[EventArrays]:
        """The events that are held back, at the end of the stream."""
        if self._next is not None:
            mark = None if self.until is None else int(after(self.until))
            given = self._next.rest(self._lane_count, mark, self._bit(self._next))
            yield from map(self._done, given)
        for number, stage in enumerate(self._stages):
            if not isinstance(stage, FutureOutlook) or not stage.waits:
                continue
            if self.until is not None:
                yield from self._given(self._over_by(number, stage, self.until, beyond=True), number + 1)
            if self._settles:
                yield from self._given(stage.rest(self._bit(stage)), number + 1)
            elif not self._ends_all:
                yield from self._given(stage.decided(), number + 1)

    def _bit(self, stage: LookingStage | NextEventOutlook) -> int:
        """What a bit is taken for that is not known at the end of the stream."""
        return 0 if self.until is None else stage.outlook.doubt or 0

    def advance(self, time: int | float) -> Iterator[EventArrays]:
        """The events whose reach is over because no event to come is before a time."""
        for number, stage in enumerate(self._stages):
            if isinstance(stage, FutureOutlook) and stage.waits:
                yield from self._given(self._over_by(number, stage, time), number + 1)

    def _given(self, events: EventArrays | None, first: int) -> Iterator[EventArrays]:
        """What the outlooks from one on make of some events."""
        found = None if events is None else self._read(events, first)
        if found is not None:
            yield self._done(found)

    def _over_by(
        self, number: int, stage: FutureOutlook, time: int | float, beyond: bool = False
    ) -> EventArrays | None:
        """Events of an outlook whose reach is over because no event to come is before a time.

        With `beyond` none is at that time, either. If the reach counts events, those that were read decide.
        """
        kind = stage.measured
        if kind is None:
            return None
        lanes = stage.waiting_lanes()
        if beyond and isinstance(time, int):
            time, beyond = after(time), False
        edges: np.ndarray | None = np.full(len(lanes), time)
        if kind == "events":
            beyond, counted = False, self._intake.laned
            edges = self._intake.passed_in(lanes, kind) if counted else np.full(len(lanes), self._intake.rows)
        if edges is None:
            return None
        for one in self._stages[:number]:
            if isinstance(one, FutureOutlook) and one.waits:
                held, beyond = one.waiting(), False  # it is still to come
                least = np.full(self._lane_count, edges.max(initial=0))
                own = held.lanes if self._laned else np.zeros(len(held), np.int64)
                np.minimum.at(least, own, held.times if kind == "time" else held.places)
                edges = np.minimum(edges, least[lanes])
        return stage.passed_in(lanes, edges, beyond)

    @property
    def _lane_count(self) -> int:
        return self._intake.lane_count if self._laned else 1

    def _done(self, events: EventArrays) -> EventArrays:
        times = events.times if self._keeps_times or self._reads_times else events.times[:0]
        return replace(events, lane_keys=self._intake.lane_keys, times=times)

    def _read(self, events: EventArrays | None, first: int) -> EventArrays | None:
        """What the outlooks from one on make of some events."""
        for stage in self._stages[first:]:
            if events is None or not len(events):
                return None
            events = stage(events, self._lane_count)
        return events if events is not None and len(events) else None

    def _passed(self, number: int, stage: FutureOutlook) -> EventArrays | None:
        """Events whose reach is over by the rows that have been read, whether or not these were relevant."""
        intake, kind = self._intake, stage.measured
        found: EventArrays | None = None
        if intake.grouped and (last := intake.last_lane) is not None:
            return stage.over(last, self._bit(stage), self.until) if self._settles else None
        mark: int | float | None = None
        if kind == "events" and not intake.laned:
            mark = intake.rows
        elif kind == "time" and (intake.shows_time or stage.waits > self._many):
            mark = intake.watermark
        if mark is not None and kind is not None:
            # What is held back before it is still to come.
            earlier = [one.least(kind) for one in self._stages[:number] if isinstance(one, FutureOutlook)]
            found = stage.passed(min([mark, *(time for time in earlier if time is not None)]))
        elif kind is not None and not number and SCANNED * (intake.rows - self._looked) >= stage.lanes:
            one = intake.rows - self._looked == 1
            self._looked = intake.rows
            # In other lanes than that of the only new row no time has passed.
            lanes = stage.waiting_lanes(intake.last_lane if one else None)
            now = intake.passed_in(lanes, kind) if len(lanes) else None
            found = None if now is None else stage.passed_in(lanes, now)
        return found

    def waiting(self) -> list[EventArrays]:
        """The events that are held back."""
        found = [stage.waiting() for stage in self._stages if isinstance(stage, FutureOutlook)]
        if self._next is not None and self._next.waits:
            found.append(self._next.waiting())
        return [events for events in found if len(events)]

    @property
    def nbytes(self) -> int:
        """Bytes that the held events take."""
        return sum(stage.nbytes for stage in self.states)

    def _within_allowance(self) -> None:
        if self._memory is None or self.nbytes <= self._memory:
            return
        most = max(self._stages, key=lambda stage: stage.nbytes)
        raise LimitError(
            f"`{most.outlook.written}` keeps {most.nbytes:,} bytes of earlier events or of events that wait "
            f"for later ones, and memory={self._memory:,} is allowed: give it a narrower interval, or allow "
            "more"
        )

    def state(self) -> list[dict[str, Any]]:
        """All that is kept, as `cer_gpu.engine.run.snapshot` stores it."""
        return [stage.state() for stage in self._stages]

    def resume(self, stored: list[dict[str, Any]]) -> None:
        """Continue from what `state` returned."""
        for stage, state in zip(self._stages, stored, strict=True):
            stage.resume(state, self._intake.lane_keys)
        self._looked = self._intake.rows

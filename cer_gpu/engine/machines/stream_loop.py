"""Open runs that a kernel composed from `loop.follow` follows over a stream: `LoopRuns`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from cer_gpu.compiling.kernel import Kernel
from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.first_starts import FirstStarts, RootedEnds
from cer_gpu.engine.machines.open_runs import CONSUMES, FollowedEvents, KeptRuns, PushResult, Renumbering
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.kernels.loop.contract import LoopSegments
from cer_gpu.kernels.loop.follow import FULL, NEXT, WORDS
from cer_gpu.kernels.loop.nodes import CONSUMES as CONSUMED
from cer_gpu.kernels.loop.nodes import HIT, LACKS, ROOTS
from cer_gpu.kernels.loop.run import scratch
from cer_gpu.kernels.streams.contract import NOTHING, LaneBounds, StreamEnds, StreamEvents, StreamWindow

NO_KEYS = np.empty(0, np.int64)
"""What is measured if there is no window."""

AnswersOf = Callable[[EventArrays, AttributeWindow | None, Ends], Answers]
"""Gives the complex events at some ends of a push, from all events so far, and the window to check."""


class LoopRuns(KeptRuns, ABC):
    """The open runs of a machine, followed from push to push: a push is one more segment; `OpenRuns`.

    A family says which kernel runs, what room it gets, what becomes of its rows when events are dropped, and
    how the complex events of ends are listed.

    Where the attribute of a window may fall, nothing leaves the window for good. Runs are then followed as if
    there were no window, all events stay open, and each end finds the first event that it admits.

    Parameters
    ----------
    kernel : Kernel
    tables : NamedTuple of ndarray
        The automaton, as the kernel reads it.
    words : ndarray, int64
        The words of the room.
    consume : {"NONE", "ANY", "PARTITION"}
    size : number or None
        The size of a window over an attribute that may fall, under which nothing is consumed.
    """

    rooted: ClassVar[tuple[type, str]]
    """The nodes of the family, and the column that has the roots of ends."""

    def __init__(self, kernel: Kernel, tables: Any, words: np.ndarray, consume: str, size: Any) -> None:
        self._kernel, self._read_tables, self._progress = kernel, tables, words
        self._consumes = CONSUMES[consume]
        self._size = size
        self._starts = None if size is None else FirstStarts()
        self._entered = scratch(tables)
        self._segment = LoopSegments(*np.zeros((3, 1), np.int64))
        self._loop = np.zeros(WORDS, np.int64)

    # ------------------------------------------------------------------------ what a family says of itself

    def _reach(self, following: FollowedEvents) -> None:
        """Make room for what a push adds for certain, beside its ends."""

    def _events(self, events: StreamEvents, following: FollowedEvents) -> Any:
        """The events as the kernel reads them."""
        return events

    @abstractmethod
    def _room(self, events: StreamEvents, following: FollowedEvents) -> Any:
        """The room of the kernel."""

    @abstractmethod
    def _full(self, status: int, events: StreamEvents, following: FollowedEvents) -> str | None:
        """As `full` of `OpenState.follow`, for the word that counts what the room has no room for."""

    @abstractmethod
    def _latest(self, root: np.ndarray) -> np.ndarray:
        """The latest start of each of some roots."""

    @abstractmethod
    def _answers(self, rooted: RootedEnds) -> AnswersOf:
        """What lists the ends of the push that was followed last."""

    @abstractmethod
    def _forget(self, dropped: Renumbering) -> None:
        """As `OpenRuns.drop`."""

    # ------------------------------------------------------------------------------- what all families do

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        self._state.reach("end", following.stop - following.first + 1)
        self._reach(following)
        self._follow(following, following.first, following.stops())
        admitted = None if self._starts is None else self._starts.of(following)
        found = self.ends
        if not found:
            return None
        ends = StreamEnds(*(each[:found].copy() for each in self._state.read(StreamEnds)))
        root = self._state.array(*self.rooted).copy()
        rooted = RootedEnds(ends, self._state.read(self.rooted[0]).root_first[: found + 1].copy(), root)
        if admitted is not None:
            rooted = rooted.admitted(admitted[ends.event - following.first], self._latest(root))
            if not len(rooted.ends.event):
                return None
        event, lowest, latest = rooted.ends
        answers, size = self._answers(rooted), self._size

        def pushed(seen: EventArrays) -> PushResult:
            window = None if size is None else AttributeWindow(seen.keys, seen.all_keyed, size)
            every = Ends(event, seen.positions[latest], lowest)
            return PushResult(seen, every, partial(answers, seen, window))

        return pushed

    def _follow(self, following: FollowedEvents, first: int, until: Iterable[int]) -> None:
        """Follow the runs over the events from one on, without ends so far, with a stop after some."""
        events, window = following.events, StreamWindow(following.size, self._consumes)
        if self._starts is not None:
            events, window = events._replace(measured=NO_KEYS), StreamWindow(np.uint64(0), NOTHING)
        state, words, segment, loop = self._state, self._progress, self._segment, self._loop
        segment.begin[0] = segment.report[0] = first
        words[HIT] = words[ROOTS] = 0
        words[CONSUMED] = window.consumes
        given = self._events(events, following)

        def step(stop: int) -> int:
            segment.stop[0] = stop
            room = self._room(events, following)
            self._kernel(
                self._read_tables, given, window, segment, room, self._entered, state.read(StreamEnds), loop
            )
            if loop[FULL]:
                return int(words[LACKS])
            segment.begin[0] = stop
            loop[:] = 0
            return 0

        state.follow(until, step, lambda status: self._full(status, events, following))

    @property
    def event(self) -> int:
        """The event for which the room is full."""
        return int(self._loop[NEXT]) - 1

    @property
    def ends(self) -> int:
        """How many ends there are in the events that were followed last."""
        return int(self._progress[HIT])

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`: the window and what is consumed bound each lane already, or nothing does."""
        if self._starts is not None:
            bounds.low[:] = 0

    def drop(self, dropped: Renumbering) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        self._forget(dropped)
        if self._starts is not None:
            self._starts = FirstStarts()

    @property
    def nbytes(self) -> int:
        """Bytes that the runs take."""
        return super().nbytes + (0 if self._starts is None else self._starts.nbytes)

"""The events that the window still reaches, lane by lane: each is kept until its own lane moves on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cer_gpu.engine.read.events import NO_KEYS, EventArrays, joined
from cer_gpu.engine.read.lanes import grown

MOST = 0.75
"""If this share of a level is taken, all of it is: picking events costs more than running a few more."""


@dataclass(slots=True)
class _Level:
    """Tails that were put away at about the same time.

    Attributes
    ----------
    events : EventArrays
        The events of each lane are neighbours.
    lanes, begin : ndarray, shape (k,), int64
        The lanes, and where the events of each begin.
    count : int
        How many of the events have not been taken out yet.
    """

    events: EventArrays
    lanes: np.ndarray
    begin: np.ndarray
    count: int


@dataclass(eq=False)
class Tails:
    """For each lane, the events that its later events may need, in the order of the stream.

    Taking the tails of some lanes costs as many steps as they have events, however many the others have.
    Tails are kept in levels, each with at most half as many events as the one before it, so an event is
    copied at most log(events) times.
    """

    _levels: list[_Level] = field(default_factory=list)
    # For each lane where its tail is, and how many events it has: 0 where there is none.
    _level: np.ndarray = field(default_factory=lambda: NO_KEYS)
    _begin: np.ndarray = field(default_factory=lambda: NO_KEYS)
    _size: np.ndarray = field(default_factory=lambda: NO_KEYS)

    def __len__(self) -> int:
        return sum(level.count for level in self._levels)

    @property
    def nbytes(self) -> int:
        """The bytes that they take."""
        return sum(level.events.nbytes for level in self._levels) + 3 * self._size.nbytes

    @property
    def lanes(self) -> np.ndarray:
        """The lanes that have a tail, ascending, shape (k,), int64."""
        return np.flatnonzero(self._size)

    def size_of(self, lanes: np.ndarray) -> int:
        """How many events the tails of some lanes have; no lane may be given twice."""
        return int(self._size[lanes[lanes < len(self._size)]].sum())

    def put(self, events: EventArrays) -> None:
        """Store the tails of lanes that have none yet.

        Parameters
        ----------
        events : EventArrays
            The events of each lane are neighbours.
        """
        self._push(events)
        while len(self._levels) > 1 and 2 * self._levels[-1].count > self._levels[-2].count:
            parts = [self._left(number) for number in (-2, -1)]
            del self._levels[-2:]
            self._push(joined(parts).slim())

    def take(self, lanes: np.ndarray) -> EventArrays | None:
        """Take out the tails of some lanes, each lane's events together; None if they have none.

        If these are most of a level, the other lanes of that level are taken out with them.

        Parameters
        ----------
        lanes : ndarray, shape (k,), int64
            No lane twice.
        """
        there = lanes[lanes < len(self._size)]
        there = there[self._size[there] > 0]
        parts = []
        for number, level in enumerate(self._levels):
            own = there[self._level[there] == number]
            if len(own) and self._size[own].sum() >= MOST * level.count:
                parts.append(self._left(number))
                level.count = 0
                self._size[level.lanes[self._level[level.lanes] == number]] = 0
            elif len(own):
                parts.append(level.events.take(_ranges(self._begin[own], self._size[own])))
                level.count -= len(parts[-1])
        self._size[there] = 0
        while self._levels and not self._levels[-1].count:
            self._levels.pop()
        return joined(parts) if parts else None

    def everything(self) -> EventArrays | None:
        """All tails, each lane's events together; None if there are none."""
        parts = [self._left(number) for number in range(len(self._levels))]
        parts = [part for part in parts if len(part)]
        return joined(parts) if parts else None

    def reset(self, events: EventArrays | None) -> None:
        """Replace all tails by `events`, each lane's events together."""
        self._levels = []
        self._level = self._begin = self._size = NO_KEYS
        if events is not None:
            self._push(events.slim())

    def _left(self, number: int) -> EventArrays:
        """The events of a level that have not been taken out."""
        level = self._levels[number]
        if level.count == len(level.events):
            return level.events
        number %= len(self._levels)
        there = (self._size[level.lanes] > 0) & (self._level[level.lanes] == number)
        return level.events.take(_ranges(level.begin[there], self._size[level.lanes[there]]))

    def _push(self, events: EventArrays) -> None:
        """Put events on top of the levels."""
        if not len(events):
            return
        begin = np.append(0, np.flatnonzero(events.lanes[1:] != events.lanes[:-1]) + 1)
        lanes = events.lanes[begin].astype(np.int64)
        count = int(lanes.max()) + 1
        self._level, self._begin, self._size = (
            grown(values, count) for values in (self._level, self._begin, self._size)
        )
        self._level[lanes], self._begin[lanes] = len(self._levels), begin
        self._size[lanes] = np.diff(begin, append=len(events))
        self._levels.append(_Level(events, lanes, begin, len(events)))


def _ranges(begin: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The numbers of several ranges one after another, given the first and the size of each; int64."""
    ends = np.cumsum(size)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(begin - (ends - size), size)

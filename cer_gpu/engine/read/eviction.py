"""Forgetting: partitions and compared values that no later event needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

import numpy as np

from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.join_keys import JoinKeys
from cer_gpu.engine.read.lanes import LaneState
from cer_gpu.engine.read.partitions import Partitions
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.plan.compiled_query import CompiledQuery

REMEMBERED = 1 << 20
"""The least number of keys that are remembered before unused ones are forgotten."""

LEAST_REMEMBERED = 1 << 10
"""The same if little memory is allowed."""

BYTES_OF_KEY = 128
"""About the bytes of a key: its place in a table, its words, its count and its last time."""

LEAST_SHARE = 8
"""If less than this share of all keys can be forgotten, it is not worth the cost."""


class EventBuffer(Protocol):
    """Holds back events that have been read: they are still to come."""

    def waiting(self) -> list[EventArrays]:
        """The events that are held back."""
        ...

    def busy(self) -> list[np.ndarray]:
        """Lanes that have to stay in memory."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        ...


class KeptLanes:
    """Keeps lanes in memory whose state is not put on disk; a `EventBuffer`.

    Parameters
    ----------
    states : iterable of LaneState
    """

    nbytes = 0

    def __init__(self, states: Iterable[LaneState]) -> None:
        self._states = tuple(states)

    def waiting(self) -> list[EventArrays]:
        """Nothing: no events are held back."""
        return []

    def busy(self) -> list[np.ndarray]:
        """The lanes whose state is not that of a new lane."""
        return [state.held() for state in self._states]


class WatermarkClock(Protocol):
    """Something that knows how far time has passed."""

    @property
    def watermark(self) -> int | float | None:
        """A time that no later row is before; None if that is not known."""
        ...


class Eviction:
    """Forgets the keys of a run that are no longer needed, or puts partitions on disk for a while.

    Parameters
    ----------
    query : CompiledQuery
    partitions : Partitions or None
    joins : JoinKeys or None
    in_order_of_time : bool
        Whether rows have a time, so that a partition is over only once its time has passed.
    grouped : bool
        Whether a partition is over where another begins.
    memory : int or None
        Bytes that the run may take.
    holding : list of EventBuffer
        Those that hold back events that have been read, so that these are still to come, or lanes.

    Attributes
    ----------
    remembered : int
        The least number of keys that are remembered.
    """

    def __init__(
        self,
        query: CompiledQuery,
        partitions: Partitions | None,
        joins: JoinKeys | None,
        in_order_of_time: bool,
        grouped: bool,
        memory: int | None,
        holding: list[EventBuffer],
    ) -> None:
        self._query = query
        self._partitions = partitions
        self._joins = joins
        self._in_order_of_time = in_order_of_time
        self._grouped = grouped
        self._states: list[LaneState] = []
        self._left = 0
        self._holding = holding
        self.remembered = REMEMBERED
        if memory is not None:
            self.remembered = max(LEAST_REMEMBERED, min(REMEMBERED, memory // BYTES_OF_KEY // 4))

    def follow(self, states: Iterable[LaneState]) -> None:
        """Note the states that are kept for each lane: when lanes are forgotten, these forget them too."""
        self._states += states
        if self._partitions is not None and self._partitions.away is not None:
            self._partitions.away.states = self._states

    def returned(self) -> list[EventArrays]:
        """The events of partitions that were away, and of which a row has come since the last call."""
        away = None if self._partitions is None else self._partitions.away
        if away is None or not away.returned:
            return []
        found, away.returned = away.returned, []
        return found

    def put_away(
        self, kept: EventArrays | None, new: list[EventArrays], nbytes: int, excess: int
    ) -> np.ndarray | None:
        """Write the partitions that had no row for the longest time to disk: `forget` them next.

        Parameters
        ----------
        kept : EventArrays or None
            All events that are kept.
        new : list of EventArrays
            The events that come next, whose partitions stay.
        nbytes : int
            The bytes of all kept events, with what belongs to them.
        excess : int
            By how many bytes too much is kept.

        Returns
        -------
        ndarray, shape (lanes,), bool, or None
            Which partitions these are; None if there are not enough of them.

        Raises
        ------
        LimitError
            If there is no room on the disk.
        """
        partitions = self._partitions
        if partitions is None or partitions.away is None or not partitions.count:
            return None
        count = partitions.count
        size = np.full(count, partitions.nbytes / count)
        recent = partitions.recent()
        if kept is not None and len(kept):
            size += np.bincount(kept.lanes, minlength=count) * (nbytes / len(kept))
        if recent is None:
            recent = np.full(count, -1, np.int64)
            if kept is not None:
                np.maximum.at(recent, kept.lanes, kept.positions)
        free = np.ones(count, bool)
        for part in new:
            free[part.lanes] = False
        for holding in self._holding:
            for busy in holding.busy():
                free[busy] = False
        lanes = np.flatnonzero(free)
        lanes = lanes[ascending(recent[lanes])]
        freed = np.cumsum(size[lanes])
        if not len(freed) or freed[-1] * LEAST_SHARE < excess:
            return None
        # Down to about half of what is kept, so that this is not done for every batch.
        wanted = max(excess, (nbytes + partitions.nbytes) // 2)
        chosen = lanes[: int(np.searchsorted(freed, wanted)) + 1]
        away = np.zeros(count, bool)
        away[chosen] = True
        events = None if kept is None else kept.take(np.flatnonzero(away[kept.lanes]))
        partitions.put_away(np.flatnonzero(away), events)
        return away

    def forget(
        self, marked: WatermarkClock, parts: list[EventArrays], pressed: bool, away: np.ndarray | None
    ) -> list[EventArrays]:
        """Forget the keys that no given event has, once there are many more keys than these events need.

        Parameters
        ----------
        marked : WatermarkClock
            Asked only if there are enough keys.
        parts : list of EventArrays
            All events that are kept, or have been read since.
        pressed : bool
            Whether few keys are worth it too.
        away : ndarray, shape (lanes,), bool, or None
            The result of `put_away`: the partitions to forget; all others are kept.

        Returns
        -------
        list of EventArrays
            The same events with their keys renumbered; the same list if no key was forgotten.
        """
        if self._joins is not None and parts:
            parts = self._without_joined(self._joins, parts)
        if self._partitions is not None and self._partitions.encoder is not None:
            parts = self._without_partitions(self._partitions, marked, parts, pressed, away)
        return parts

    def forgets(self, marked: WatermarkClock, events: int, pressed: bool) -> bool:
        """Whether there are keys to forget, if `events` events are kept or new."""
        joined = self._joins is not None and self._joins.size >= max(self.remembered, 8 * events)
        return joined or self._has_partitions_to_forget(marked, pressed)

    def _without_joined(self, joins: JoinKeys, parts: list[EventArrays]) -> list[EventArrays]:
        """Forget the values that a join compares, but for those of some events."""
        events = sum(map(len, parts))
        if joins.size < max(self.remembered, 8 * events):
            return parts
        traits = self._query.traits
        if joins.has_lanes and ("prefix" in traits.columns or traits.state == "followed"):
            return parts  # there is a state for each lane, also of those without events
        if self._query.outlooks:
            return parts  # events that are held back have values, too
        slots = joins.forget(np.concatenate([part.slots for part in parts], axis=1))
        renewed = np.split(slots, np.cumsum([len(part) for part in parts])[:-1], axis=1)
        return [
            replace(part, slots=own, lanes=joins.lanes(own, part.symbols, part.lanes))
            for part, own in zip(parts, renewed, strict=True)
        ]

    def _has_partitions_to_forget(self, marked: WatermarkClock, pressed: bool) -> bool:
        partitions = self._partitions
        if partitions is None or partitions.encoder is None:
            return False
        if not pressed and partitions.count < max(self.remembered, 2 * self._left):
            return False
        return self._grouped or not self._in_order_of_time or marked.watermark is not None

    def _without_partitions(
        self,
        partitions: Partitions,
        marked: WatermarkClock,
        parts: list[EventArrays],
        pressed: bool,
        away: np.ndarray | None,
    ) -> list[EventArrays]:
        """Forget partitions that have no events, whose state is a new one's and whose time has passed."""
        count = partitions.count
        if away is not None:
            return self._renumbered(partitions, parts, np.flatnonzero(~away))
        if not self._has_partitions_to_forget(marked, pressed):
            return parts
        needed = np.zeros(count, bool)
        for part in parts:
            needed[part.lanes] = True
        for state in self._states:
            needed[state.held()] = True
        if self._grouped:
            needed[partitions.last] = True
        elif self._in_order_of_time:
            needed[partitions.times.since(marked.watermark)] = True
        used = np.flatnonzero(needed)
        self._left = len(used)
        if len(used) > count - count // LEAST_SHARE:
            return parts
        return self._renumbered(partitions, parts, used)

    def _renumbered(
        self, partitions: Partitions, parts: list[EventArrays], used: np.ndarray
    ) -> list[EventArrays]:
        """Forget all partitions but some, among them those of some events."""
        count = partitions.count
        self._left = len(used)
        numbers = partitions.forget(used)
        for state in self._states:
            state.keep(used, numbers, partitions.count)
        assert partitions.encoder is not None
        number = np.full(count, -1, np.int32)
        number[used] = numbers
        keys = partitions.encoder.keys
        return [replace(part, lanes=number[part.lanes], lane_keys=keys) for part in parts]

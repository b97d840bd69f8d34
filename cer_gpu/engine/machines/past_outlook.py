"""What an outlook reads of events, in either direction; and the outlook that looks back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cer_gpu.engine.read.events import NO_LANES, EventArrays, taken
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.lanes import at, grown, moved
from cer_gpu.engine.words import unsigned_of
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.jit import SELDOM
from cer_gpu.kernels.monitor.cpu import rename
from cer_gpu.kernels.outlook import cpu as kernels
from cer_gpu.kernels.outlook.contract import (
    ASKED,
    NOT_KEPT,
    UNASKED,
    BehindLanes,
    KnownEvents,
    OutlookEvents,
    OutlookShare,
    UnripeStarts,
)
from cer_gpu.kernels.outlook.cpu_single_event import look_last
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.outlook import Outlook

LEAST = 1 << 10
"""The least number of starts that there is room for."""

LEAST_SHARE = 1 << 15
"""The least number of events that one thread reads."""

LANES_ALIKE = 6
"""Bits of a lane's number: lanes that agree in all others are read by one thread, so that no two threads
write to one cache line."""

NOT_RENAMED = np.empty(0, np.uint16)

NO_STARTS = np.empty(0, np.int64)


class OutlookReader:
    """The part of an outlook that reads events, in either direction.

    Parameters
    ----------
    outlook : Outlook
    laned : bool
        Whether the query has partitions.
    workers : Workers
    symbols_alone : bool, optional
        Whether only the symbols of what is given are read, in any order.
    """

    def __init__(self, outlook: Outlook, laned: bool, workers: Workers, symbols_alone: bool = False) -> None:
        self.outlook = outlook
        self.laned = laned
        self.workers = workers
        self.symbols_alone = symbols_alone
        self._scratch: list[tuple[np.ndarray, np.ndarray]] = []
        becomes = outlook.becomes
        self.kept = np.where(becomes.any(axis=1), UNASKED, NOT_KEPT).astype(np.uint8)
        self.kept[becomes[:, 0] != becomes[:, 1]] = ASKED
        self.watched = np.zeros(0 if laned else 1, np.int32)
        """The state of the monitor in each lane."""
        self.dtype: np.dtype = np.dtype(np.uint64)
        self.low: Any = np.uint64(0)
        self.high: Any = np.uint64(2**64 - 1)
        self.step: Any = np.uint64(0)
        self._scaled = outlook.reach.kind is None

    def measure(self, events: EventArrays) -> np.ndarray:
        """What the reach measures of events, as kernels read it, shape (n,), uint64 or float64."""
        reach = self.outlook.reach
        if reach.kind is None:
            return np.zeros(len(events), np.uint64)
        values = events.times if reach.kind == "time" else events.places
        if not self._scaled:
            self._scaled = True
            most = 2**64 if values.dtype.kind != "f" else np.inf
            _, self.low = comparable(values[:0], reach.low)
            keys, self.high = comparable(values[:0], most if reach.high is None else reach.high)
            self.dtype = keys.dtype
            counts = reach.kind == "events" and bool(reach.high)
            self.step = self.dtype.type(counts)
        return self.mark(values)

    def mark(self, times: np.ndarray) -> np.ndarray:
        """Times as kernels read them: in the same order, with the same differences."""
        if self.dtype == np.uint64:
            return unsigned_of(times)
        return times.astype(np.float64, copy=False)

    def read(self, events: EventArrays, lane_count: int) -> OutlookEvents:
        """Events as the kernels read them."""
        lanes = events.lanes if self.laned else NO_LANES
        heard, renamed = self.outlook.heard, NOT_RENAMED
        if self.outlook.monitor is not None:
            self.watched = grown(self.watched, lane_count)
            renamed = rename(self.outlook.monitor, heard[events.symbols], lanes, self.watched)
        times = self.measure(events)
        return OutlookEvents(
            events.symbols, heard, renamed, self.kept, lanes, events.positions, times, NO_STARTS
        )

    def threads_for(self, events: int) -> int:
        """How many threads read `events` events: a power of two."""
        return 1 << (max(1, min(self.workers.threads, events // LEAST_SHARE)).bit_length() - 1)

    def shares_of_lanes(self, events: int, lane_count: int, place: int) -> list[OutlookShare]:
        """The shares of some events, if there are lanes."""
        parts = self.threads_for(events)
        shift = min(LANES_ALIKE, (lane_count // (2 * parts)).bit_length() - 1)
        if shift < LANES_ALIKE // 2:
            parts = 1
        whole = self.share(0, events, 0, place)
        return (
            [
                self.share(0, events, part, place)._replace(shift=shift, mask=parts - 1, part=part, row=0)
                for part in range(parts)
            ]
            if parts > 1
            else [whole]
        )

    def share(self, start: int, stop: int, number: int, place: int, carried: bool = False) -> OutlookShare:
        """A share of neighbouring events, for the thread of a number."""
        while len(self._scratch) <= number:
            self._scratch.append((np.empty(SELDOM, np.int64), np.empty(SELDOM, np.int64)))
        return OutlookShare(start, stop, 0, 0, 0, number, place, int(carried), *self._scratch[number])

    def known(self, events: EventArrays, bits: np.ndarray) -> EventArrays | None:
        """Those of some events that do not become neutral, with their new symbols.

        Parameters
        ----------
        events : EventArrays
        bits : ndarray, shape (n,), uint8

        Returns
        -------
        EventArrays or None
            None where all become neutral.
        """
        becomes = self.outlook.becomes
        found = KnownEvents(becomes, np.empty(len(events), becomes.dtype), np.empty(len(events), np.int64))
        count = kernels.become(events.symbols, bits, found)
        if not count:
            return None
        symbols, places = found.symbols[:count], found.places[:count]
        if self.symbols_alone:
            return EventArrays(
                symbols, events.positions if count == len(events) else events.positions[places]
            )
        some = events if count == len(events) else taken(events, places, self.workers)
        return replace(some, symbols=symbols)


class PastOutlook(OutlookReader):
    """An outlook that looks back: the bit of an event is known as soon as it is read.

    Parameters
    ----------
    outlook : Outlook
    laned : bool
        Whether the query has partitions.
    workers : Workers
    """

    def __init__(self, outlook: Outlook, laned: bool, workers: Workers) -> None:
        super().__init__(outlook, laned, workers)
        self._by_last = outlook.by_last
        self._states = outlook.tables.n_live
        self._lanes = self._fresh(1)
        self._starts = self._room(0)
        self._count = 0

    def __call__(self, events: EventArrays, lane_count: int) -> EventArrays | None:
        """Read further events; gives those that are kept, with their new symbols."""
        read = self.read(events, lane_count)
        if self._lanes.latest.dtype != self.dtype:
            self._lanes, self._starts = self._fresh(1), self._room(0)
        self._lanes = self._of(lane_count)
        if self.low != 0 and self._count + len(events) > len(self._starts.times):
            self._make_room(len(events))
        bits = np.empty(len(events), np.uint8)
        if self._by_last:
            look_last(read, self.high, self._lanes, bits)
            return self.known(events, bits)
        shares = self._shares(len(events), lane_count)

        def look(share: OutlookShare) -> int:
            return kernels.look_behind(
                self.outlook.tables, read, self.low, self.high, self._lanes, self._starts, share,
                self._fresh(1), bits,
            )  # fmt: skip

        self._count += self.workers.map("looking behind", look, shares, len(events))[0]
        return self.known(events, bits)

    def _shares(self, events: int, lane_count: int) -> list[OutlookShare]:
        if self.laned:
            return self.shares_of_lanes(events, lane_count, self._count)
        return [self.share(0, events, 0, self._count)]

    def _fresh(self, lanes: int) -> BehindLanes:
        return BehindLanes(
            np.zeros((lanes, self._states), self.dtype),
            np.zeros((lanes, self._states), np.uint8),
            np.full((lanes, self._states), -1, np.int64),
            np.full(lanes, -1, np.int64),
            np.full(lanes, -1, np.int64),
        )

    def _room(self, count: int) -> UnripeStarts:
        return UnripeStarts(
            np.empty(count, self.dtype),
            np.empty(count, np.int64),
            np.empty(count, np.int32),
            np.empty(count, np.int64),
        )

    _FILL = (0, 0, -1, -1, -1)

    def _of(self, count: int) -> BehindLanes:
        """What is kept of each lane, with room for at least `count` lanes."""
        return BehindLanes(*(grown(one, count, fill) for one, fill in zip(self._lanes, self._FILL)))

    def _make_room(self, more: int) -> None:
        """Copy the starts that are not ripe, so that more find room."""
        into = self._room(max(LEAST, 2 * (self._count + more)))
        self._count = kernels.without_ripe(self._lanes, self._starts, into)
        if 2 * (self._count + more) < len(into.times) // 2:
            room = max(LEAST, 2 * (self._count + more))
            into = UnripeStarts(*(one[:room].copy() for one in into))
        self._starts = into

    # ------------------------------------------------------------------------------- lanes, and the state

    def held(self) -> np.ndarray:
        """The lanes in which something lies behind, or is open."""
        lanes = self._lanes
        there = lanes.there.any(axis=1) | (lanes.root >= 0).any(axis=1) | (lanes.head >= 0)
        return np.union1d(np.flatnonzero(there), np.flatnonzero(self.watched))

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        each = zip(self._lanes, self._FILL)
        self._lanes = BehindLanes(*(moved(one, used, numbers, count, fill) for one, fill in each))
        self.watched = moved(self.watched, used, numbers, count)

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """The state of some lanes that are not `busy`."""
        own = self._of(int(lanes.max(initial=-1)) + 1)
        return {
            "latest": own.latest[lanes],
            "there": own.there[lanes],
            "watched": at(self.watched, lanes),
        }

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Restore the state that `rows` returned, for lanes with new numbers."""
        if rows["latest"].dtype != self._lanes.latest.dtype:
            self.dtype = rows["latest"].dtype
            self._lanes, self._starts = self._fresh(1), self._room(0)
        self._lanes = self._of(count)
        self._lanes.latest[lanes], self._lanes.there[lanes] = rows["latest"], rows["there"]
        self.watched = grown(self.watched, count)
        self.watched[lanes] = rows["watched"]

    def busy(self) -> np.ndarray:
        """The lanes that have to stay in memory: those with starts that are not ripe."""
        return np.flatnonzero(self._lanes.head >= 0)

    @property
    def nbytes(self) -> int:
        """The bytes that are kept."""
        return sum(one.nbytes for one in (*self._lanes, *self._starts)) + self.watched.nbytes

    def state(self) -> dict[str, Any]:
        """All that is kept."""
        self._make_room(0)
        starts = {name: one[: self._count].copy() for name, one in self._starts._asdict().items()}
        return {"lanes": self._lanes._asdict(), "starts": starts, "watched": self.watched}

    def resume(self, state: dict[str, Any], lane_keys: Keys | None) -> None:
        """Continue from what `state` returned."""
        self._lanes, self._starts = BehindLanes(**state["lanes"]), UnripeStarts(**state["starts"])
        self._count = len(self._starts.times)
        self.watched = state["watched"]

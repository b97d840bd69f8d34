"""An outlook that looks ahead for a single event: the next such event of the lane decides each bit."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.machines.past_outlook import OutlookReader
from cer_gpu.engine.read.events import EventArrays, joined, taken
from cer_gpu.engine.read.lanes import HeldLanes, grown
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.outlook.contract import NOT_KEPT
from cer_gpu.kernels.outlook.cpu_next_event import UNKNOWN, NextLanes, look_next
from cer_gpu.plan.outlook import Outlook

NOT_KNOWN = np.empty(0, np.uint64)
"""An empty `now`: it is not known before which time no event can come."""

NOTHING = np.empty(0, np.int64)
"""No events."""


class HeldEvents(NamedTuple):
    """Neighbouring events that are held back; only those that the machine may read.

    Attributes
    ----------
    events : EventArrays
    bits : ndarray, shape (n,), uint8
        0, 1 or `UNKNOWN`.
    unknown : ndarray, shape (k,), int64
        The events whose bit is unknown, ascending.
    """

    events: EventArrays
    bits: np.ndarray
    unknown: np.ndarray


class NextEventOutlook(HeldLanes, OutlookReader):
    """An outlook that is decided `by_next`, over events with integer times, given in the order of the stream.

    The events from the first undecided one on are held back. New events are read once there are as many of
    them as undecided events: so each of these is read a few times at most.

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
        super().__init__(outlook, laned, workers, symbols_alone)
        self._held: list[HeldEvents] = []
        self._new: list[EventArrays] = []
        """Events that have not been read."""
        self._turn = 0
        self._nearest = NextLanes(np.zeros(0, np.uint64), np.zeros(0, np.int64))

    @property
    def waits(self) -> int:
        """How many events are held back."""
        return sum(len(part.events) for part in self._held) + sum(map(len, self._new))

    def decided(self, events: EventArrays, lane_count: int, now: int | None) -> list[EventArrays]:
        """Read further events; gives those whose bit is known now, with their new symbols.

        Parameters
        ----------
        events : EventArrays
        lane_count : int
        now : int or None
            No event to come is before this time; None: that is not known.
        """
        self._new.append(events)
        if sum(map(len, self._new)) < sum(len(part.unknown) for part in self._held):
            return []
        return self._decide(lane_count, now)

    def rest(self, lane_count: int, now: int | None = None, bit: int = 0) -> list[EventArrays]:
        """The events that are held back, at the end of the stream: `bit` where the bit is not known.

        `lane_count` and `now` are as for `decided`.
        """
        return self._decide(lane_count, now, bit)

    def _decide(self, lane_count: int, now: int | None, bit: int | None = None) -> list[EventArrays]:
        count = max(lane_count, 1)
        self._nearest = NextLanes(*(grown(one, count) for one in self._nearest))
        self._turn += 1
        mark = NOT_KNOWN if now is None else self.mark(np.array([now]))
        new = [HeldEvents(events, np.empty(len(events), np.uint8), NOTHING) for events in self._new]
        edges = [len(part.events) for part in new]
        for number in reversed(range(len(new))):
            read = self.read(new[number].events, lane_count)
            edges[number] = look_next(read, self.high, mark, self._turn, self._nearest, new[number].bits)
        held = [self._asked_again(part, mark) for part in self._held]
        parts = [*held, *(self._with_unknown(part, edge) for part, edge in zip(new, edges))]
        if bit is not None:
            for part in parts:
                part.bits[part.unknown] = bit
            parts = [part._replace(unknown=NOTHING) for part in parts]
        self._held, self._new = [], []
        if self.symbols_alone:
            alone = map(self._decided_alone, parts)
            return [events for events in alone if events is not None]
        given: list[EventArrays] = []
        for number, part in enumerate(parts):
            stop = 0 if self._held else int(part.unknown[0]) if len(part.unknown) else len(part.events)
            if stop:
                some = part.events if stop == len(part.events) else part.events.first(stop)
                known = self.known(some, part.bits[:stop])
                given += [] if known is None else [known]
            if stop < len(part.events):
                self._held.append(self._kept(part, stop, number >= len(held)))
        # As one: once a part is run, lanes may be renumbered, which the other parts would not know.
        return [joined(given)] if len(given) > 1 else given

    def _decided_alone(self, part: HeldEvents) -> EventArrays | None:
        """The symbols of those of some events that are decided, in any order; the others are held back."""
        events, bits, unknown = part
        symbols = events.symbols
        if len(unknown):
            waiting = events.take(unknown)
            self._held.append(HeldEvents(waiting, bits[unknown], np.arange(len(unknown))))
            symbols, bits = symbols.copy(), bits.copy()
            symbols[unknown] = bits[unknown] = 0
        return self.known(replace(events, symbols=symbols), bits)

    def _asked_again(self, held: HeldEvents, mark: np.ndarray) -> HeldEvents:
        """Events that are held back, those decided that the nearest of the new events decide."""
        if not len(held.unknown):
            return held
        lanes = held.events.lanes[held.unknown] if self.laned else np.zeros(len(held.unknown), np.int32)
        times = self.measure(held.events)[held.unknown]
        there = self._nearest.round[lanes] == self._turn
        held.bits[held.unknown[there]] = self._nearest.time[lanes[there]] - times[there] <= self.high
        if len(mark):
            over = ~there & (mark[0] >= times)
            over[over] = mark[0] - times[over] > self.high
            held.bits[held.unknown[over]] = 0
            there |= over
        return held._replace(unknown=held.unknown[~there])

    @staticmethod
    def _with_unknown(held: HeldEvents, first: int) -> HeldEvents:
        """New events with the list of those that are not decided, of which `first` is the first one."""
        return held._replace(unknown=np.flatnonzero(held.bits[first:] == UNKNOWN) + first)

    def _kept(self, held: HeldEvents, stop: int, new: bool) -> HeldEvents:
        """What is held back of events from one on; of new ones those alone that the machine may read."""
        events, bits, unknown = held
        if not new:
            return held if not stop else HeldEvents(events.slice(stop), bits[stop:], unknown - stop)
        places = np.flatnonzero(self.kept[events.symbols[stop:]] != NOT_KEPT) + stop
        return HeldEvents(taken(events, places, self.workers), bits[places], np.searchsorted(places, unknown))

    # ------------------------------------------------------------------------------------------ lanes

    def waiting(self) -> EventArrays:
        """The events that are held back; there is at least one."""
        return joined(self._events)

    @property
    def _events(self) -> list[EventArrays]:
        return [*(part.events for part in self._held), *self._new]

    def held(self) -> np.ndarray:
        """The lanes of events that are held back, shape (k,), int64."""
        return self.busy()

    def busy(self) -> np.ndarray:
        """The same lanes: they have to stay in memory."""
        if not self.laned or not self.waits:
            return np.empty(0, np.int64)
        return np.unique(self.waiting().lanes).astype(np.int64)

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        if not self.laned or not self.waits:
            return
        most = max(int(events.lanes.max(initial=-1)) for events in self._events)
        number = np.full(max(int(used.max(initial=-1)), most) + 1, -1, np.int32)
        number[used] = numbers
        self._held = [
            part._replace(events=replace(part.events, lanes=number[part.events.lanes])) for part in self._held
        ]
        self._new = [replace(events, lanes=number[events.lanes]) for events in self._new]

    @property
    def nbytes(self) -> int:
        """The bytes that are kept."""
        return sum(events.nbytes for events in self._events) + sum(one.nbytes for one in self._nearest)

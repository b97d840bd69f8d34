"""An outlook that looks ahead for a single event: the first one in reach decides each bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.engine.machines.past_outlook import NO_STARTS, NOT_RENAMED, OutlookReader
from cer_gpu.engine.read.events import NO_LANES, EventArrays, joined, taken
from cer_gpu.engine.read.lanes import HeldLanes, grown
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.outlook.contract import ASKED, OutlookEvents
from cer_gpu.kernels.outlook.cpu_single_event import (
    UNKNOWN,
    LaterLanes,
    NextLanes,
    left_open,
    look_later,
    look_next,
)
from cer_gpu.plan.outlook import Outlook

NOT_KNOWN = np.empty(0, np.uint64)
"""An empty `now`: it is not known before which time no event can come."""

ONE_ASKED, ONE_NOT_HEARD = np.array([ASKED], np.uint8), np.zeros(1, np.uint16)
"""The tables of undecided events, all of one symbol: each asks, and none decides another."""


def log_of(room: int) -> tuple[np.ndarray, ...]:
    """The log of `LaterLanes` with room for some events, and none in it."""
    return np.empty(room, np.uint64), np.empty(room, np.int64), np.zeros(1, np.int64)


class UndecidedEvents(NamedTuple):
    """The events that are held and not decided.

    Attributes
    ----------
    numbers : ndarray, shape (n,), int64
        Their numbers among those that are held, ascending.
    lanes : ndarray, shape (n,) or (0,), int32
        Empty if the query has no partitions.
    times : ndarray, shape (n,), uint64
        As the reach measures them.
    """

    numbers: np.ndarray
    lanes: np.ndarray
    times: np.ndarray

    def some(self, which: np.ndarray) -> UndecidedEvents:
        """Those of them that `which` says."""
        return UndecidedEvents(*(each[which] if len(each) else each for each in self))

    def read(self, symbol: np.dtype) -> OutlookEvents:
        """The same, as the kernel reads them."""
        symbols = np.zeros(len(self.numbers), symbol)
        return OutlookEvents(
            symbols, ONE_NOT_HEARD, NOT_RENAMED, ONE_ASKED, self.lanes, self.numbers, self.times, NO_STARTS
        )


NONE_UNDECIDED = UndecidedEvents(np.empty(0, np.int64), NO_LANES, np.empty(0, np.uint64))


class FreshEvents(NamedTuple):
    """New events, with the bit of each.

    Attributes
    ----------
    events : EventArrays
    read : OutlookEvents
        The same, as kernels read them.
    bits : ndarray, shape (n,), uint8
        0, 1 or `UNKNOWN`.
    """

    events: EventArrays
    read: OutlookEvents
    bits: np.ndarray


class NextEventOutlook(HeldLanes, OutlookReader):
    """An outlook that is decided `by_next`, over events with integer times, given in the order of the stream.

    The events from the first undecided one on are held back. New events are read once there are as many of
    them as undecided events: so each of these is looked at a few times at most.

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
        becomes = outlook.becomes
        self._becomes = np.zeros_like(becomes) if symbols_alone else becomes
        """As `outlook.becomes`; all 0 where decided events need not be held."""
        self._new: list[EventArrays] = []
        """Events that have not been read."""
        self._held: list[EventArrays] = []
        """The events that are held back; only those that the machine may read."""
        self._bits = np.empty(0, np.uint8)
        """Theirs, and room."""
        self._count = 0
        self._undecided = NONE_UNDECIDED
        self._turn = 0
        self._kernel = look_next if outlook.reach.low == 0 else look_later
        self._seen: NextLanes | LaterLanes = NextLanes(np.zeros(0, np.uint64), np.zeros(0, np.int64))
        if outlook.reach.low != 0:
            self._seen = LaterLanes(*np.zeros((3, 0), np.int64), *log_of(0))

    @property
    def waits(self) -> int:
        """How many events are held back."""
        return self._count + sum(map(len, self._new))

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
        if sum(map(len, self._new)) < len(self._undecided.numbers):
            return []
        return self._decide(lane_count, now)

    def rest(self, lane_count: int, now: int | None = None, bit: int = 0) -> list[EventArrays]:
        """The events that are held back, at the end of the stream: `bit` where the bit is not known.

        `lane_count` and `now` are as for `decided`.
        """
        return self._decide(lane_count, now, bit)

    def _decide(self, lane_count: int, now: int | None, bit: int | None = None) -> list[EventArrays]:
        """Read the new events; gives those that are decided, and holds the others."""
        new = [
            FreshEvents(events, self.read(events, lane_count), np.empty(len(events), np.uint8))
            for events in self._new
        ]
        self._new = []
        self._begin_round(max(lane_count, 1), sum(len(one.bits) for one in new))
        mark = NOT_KNOWN if now is None else self.mark(np.array([now]))
        known = self.low, self.high, mark, self._turn, self._seen
        for one in reversed(new):
            self._kernel(one.read, one.bits, *known)
        self._look_again(known)
        if bit is not None:
            self._bits[self._undecided.numbers] = bit
            self._undecided = NONE_UNDECIDED
            for one in new:
                one.bits[one.bits == UNKNOWN] = bit
        given = self._symbols_decided() if self.symbols_alone else self._first_decided()
        for one in new:
            given += self._symbols_of(one) if self.symbols_alone else self._first_of(one)
        # As one: once a part is run, lanes may be renumbered, which the other parts would not know.
        return [joined(given)] if len(given) > 1 and not self.symbols_alone else given

    def _begin_round(self, lanes: int, room: int) -> None:
        """Make ready what is known of so many lanes, for so many new events."""
        self._turn += 1
        if isinstance(self._seen, NextLanes):
            self._seen = NextLanes(*(grown(one, lanes) for one in self._seen))
        else:
            self._seen = LaterLanes(*(grown(one, lanes) for one in self._seen[:3]), *log_of(room))

    def _look_again(self, known: tuple[Any, ...]) -> None:
        """Decide events that are held by the new ones, which have been read in the same round."""
        if not len(self._undecided.numbers):
            return
        bits = np.empty(len(self._undecided.numbers), np.uint8)
        self._kernel(self._undecided.read(self._held[0].symbols.dtype), bits, *known)
        self._bits[self._undecided.numbers] = bits
        self._undecided = self._undecided.some(np.flatnonzero(bits == UNKNOWN))

    def _first_decided(self) -> list[EventArrays]:
        """The events that are held before the first undecided one, with their new symbols."""
        numbers = self._undecided.numbers
        stop, edge = int(numbers[0]) if len(numbers) else self._count, 0
        given: list[EventArrays] = []
        while edge < stop:
            part = self._held[0]
            some = part if edge + len(part) <= stop else part.first(stop - edge)
            given += self._known(some, self._bits[edge : edge + len(some)])
            edge += len(some)
            self._held[:1] = [] if some is part else [part.slice(len(some))]
        self._bits = self._bits[stop:]
        numbers -= stop
        self._count -= stop
        return given

    def _first_of(self, new: FreshEvents) -> list[EventArrays]:
        """As `_first_decided`, of new events behind those that are held; the others are held as well."""
        events, _, bits = new
        waits = np.append(bits, UNKNOWN) == UNKNOWN
        stop = 0 if self._count else int(np.argmax(waits))
        if stop < len(events):
            self._hold(new, stop)
        if not stop:
            return []
        return self._known(events if stop == len(events) else events.first(stop), bits[:stop])

    def _symbols_decided(self) -> list[EventArrays]:
        """The symbols of the events that are held and decided; the others stay."""
        numbers = self._undecided.numbers
        given, waiting, edge = [], [], 0
        for part in self._held:
            low, high = np.searchsorted(numbers, [edge, edge + len(part)])
            bits = self._bits[edge : edge + len(part)]
            if low < high:
                waiting.append(part.take(numbers[low:high] - edge))
            given += self._known_alone(part, bits)
            edge += len(part)
        self._held = [joined(waiting)] if len(waiting) > 1 else waiting
        self._count = len(numbers)
        self._bits[: self._count] = UNKNOWN
        numbers[:] = np.arange(self._count)
        return given

    def _symbols_of(self, new: FreshEvents) -> list[EventArrays]:
        """As `_symbols_decided`, of new events; the others are held as well."""
        if (new.bits == UNKNOWN).any():
            self._hold(new, 0)
        return self._known_alone(new.events, new.bits)

    def _known_alone(self, events: EventArrays, bits: np.ndarray) -> list[EventArrays]:
        """Those of some events that are decided, with their new symbols."""
        waits = bits == UNKNOWN
        if waits.any():
            events = replace(events, symbols=np.where(waits, 0, events.symbols).astype(events.symbols.dtype))
            bits = np.where(waits, np.uint8(0), bits)
        return self._known(events, bits)

    def _known(self, events: EventArrays, bits: np.ndarray) -> list[EventArrays]:
        known = self.known(events, bits)
        return [] if known is None else [known]

    def _hold(self, new: FreshEvents, start: int) -> None:
        """Hold some events from one on: the undecided ones, and those that the machine reads behind them."""
        events, read, bits = new
        places = np.empty(len(events) - start, np.int64)
        places = places[: left_open(events.symbols[start:], bits[start:], self._becomes, places)] + start
        held = bits[places]
        self._make_room(len(held))
        self._bits[self._count : self._count + len(held)] = held
        waits = np.flatnonzero(held == UNKNOWN)
        own = places[waits]
        lanes = read.lanes[own] if self.laned else NO_LANES
        more = UndecidedEvents(waits + self._count, lanes, read.times[own])
        self._undecided = UndecidedEvents(*map(np.concatenate, zip(self._undecided, more, strict=True)))
        self._held.append(taken(events, places, self.workers) if len(places) < len(events) else events)
        self._count += len(held)

    def _make_room(self, events: int) -> None:
        """Make room for the bits of further events."""
        if self._count + events > len(self._bits):
            more = np.empty(2 * (self._count + events), np.uint8)
            more[: self._count] = self._bits[: self._count]
            self._bits = more

    # ------------------------------------------------------------------------------------------ lanes

    def waiting(self) -> EventArrays:
        """The events that are held back; there is at least one."""
        return joined([*self._held, *self._new])

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
        parts = [*self._held, *self._new]
        most = max(int(part.lanes.max(initial=-1)) for part in parts)
        number = np.full(max(int(used.max(initial=-1)), most) + 1, -1, np.int32)
        number[used] = numbers
        self._held, self._new = (
            [replace(part, lanes=number[part.lanes]) for part in some] for some in (self._held, self._new)
        )
        self._undecided = self._undecided._replace(lanes=number[self._undecided.lanes])

    @property
    def nbytes(self) -> int:
        """The bytes that are kept."""
        held = sum(part.nbytes for part in [*self._held, *self._new])
        return held + sum(each.nbytes for each in (self._bits, *self._undecided, *self._seen))

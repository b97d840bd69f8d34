"""An outlook that looks ahead: events wait, lane by lane, until it is known what comes after them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.machines.open_events import OpenEvents
from cer_gpu.engine.machines.past_outlook import OutlookReader
from cer_gpu.engine.read.events import EventArrays, relevant_of, state_of, taken
from cer_gpu.engine.read.keys import Keys
from cer_gpu.engine.read.lanes import at, grown, moved
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.outlook import cpu as kernels
from cer_gpu.kernels.outlook.contract import WAITS, AheadLanes, OutlookEvents, OutlookShare, WaitingEvents
from cer_gpu.kernels.runs.programs import hits_program
from cer_gpu.plan.outlook import Outlook

if TYPE_CHECKING:
    from cer_gpu.engine.machines.pattern_outlook import LookedForRuns

LEAST = 1 << 10
"""The least number of events that there is room for."""

ALONE = 16
"""How many batches one thread reads, once events have waited for longer than a thread's share of a batch."""


class FutureOutlook(OutlookReader):
    """An outlook that looks ahead.

    Events are appended to an arena, and removed once those that have been given may be half of all.

    Without an interval, an event waits until something follows it in its lane, perhaps until the end of the
    stream. With k lanes in which events wait, any method has to keep at least k bits: let two streams leave
    events waiting in different sets of lanes; if the event that decides comes to a lane of one set only,
    their answers differ, so what is kept of the two has to differ too, and there are 2^k sets. To give the
    answers, the positions of the events are needed besides.

    Parameters
    ----------
    outlook : Outlook
    laned : bool
        Whether the query has partitions.
    in_order : bool
        Whether an event is given only after all events before it in the stream.
    valued : bool
        Whether the window measures values that may be null.
    workers : Workers
    found : LookedForRuns, optional
        Follows the pattern, where it has intervals or compares events.
    """

    def __init__(
        self,
        outlook: Outlook,
        laned: bool,
        in_order: bool,
        valued: bool,
        workers: Workers,
        found: LookedForRuns | None = None,
    ) -> None:
        super().__init__(outlook, laned, workers)
        self._found = found
        # The order of the only lane is that of the stream.
        self._in_order = in_order or not laned
        self._valued = valued
        self._program = hits_program(outlook.tables)
        self._lanes = self._fresh(1)
        self._arena = OpenEvents(False, valued)
        self._waiting = self._room(0)
        self._given = 0
        """Before this place of the arena all events have been given."""
        self._oldest = 0
        """Before this place of the arena no event waits."""
        self._open = 0
        self._alone = 0
        """So many times more one thread reads all events of the only lane."""

    @property
    def waits(self) -> int:
        """How many events wait."""
        return self._open

    @property
    def lanes(self) -> int:
        """How many lanes have occurred."""
        return len(self._lanes.head)

    @property
    def measured(self) -> str | None:
        """What the reach measures, if it has an end: "time" or "events"."""
        return None if self.outlook.reach.high is None else self.outlook.reach.kind

    def read(self, events: EventArrays, lane_count: int) -> OutlookEvents:
        """Events as the kernels read them."""
        read = super().read(events, lane_count)
        if self._found is None:
            return read
        return read._replace(latest=self._found.latest(events, lane_count))

    def __call__(self, events: EventArrays, lane_count: int) -> EventArrays | None:
        """Read further events; gives those whose bit is known now, with their new symbols."""
        read = self.read(events, lane_count)
        places = np.empty(len(events), np.int64)
        count = kernels.staying(events.symbols, self.kept, places)
        if self._arena.count + count > len(self._waiting.value) or read.times.dtype != self._times:
            self._make_room(count)
        place = self._arena.count
        if count:
            kept = events if count == len(events) else taken(events, places[:count], self.workers)
            self._arena.append(replace(kept, keyed=kept.all_keyed) if self._valued else kept)
        self._lanes = self._of(lane_count)
        parts = self._look_in_pieces(read, places[:count], place) if self._in_pieces(len(events)) else None
        if parts is None:
            shares = [self.share(0, len(events), 0, place)]
            if self.laned:
                shares = self.shares_of_lanes(len(events), lane_count, place)
            parts = self._look(read, shares, self._lanes, self._open + count)
        decided = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self._open += count - len(decided)
        return self._give(decided)

    def _look(
        self, read: OutlookEvents, shares: list[OutlookShare], lanes: AheadLanes, most: int
    ) -> list[np.ndarray]:
        """Read events, each thread its share; what each has decided, which is so much at most."""

        def look(share: OutlookShare) -> np.ndarray:
            decided = np.empty(most, np.int64)
            found = kernels.look_ahead(
                self._program, read, self.low, self.high, self.step, lanes, self._waiting, share, decided
            )
            return decided[:found]

        events = sum(share.stop - share.start for share in shares)
        return self.workers.map("looking ahead", look, shares, events)

    def _in_pieces(self, events: int) -> bool:
        """Whether several threads read the only lane, each some neighbours."""
        if self.laned or self.threads_for(events) == 1:
            return False
        self._alone = max(self._alone - 1, 0)
        return not self._alone

    def _look_in_pieces(self, read: OutlookEvents, kept: np.ndarray, place: int) -> list[np.ndarray]:
        """Read the events of the only lane, each thread some neighbours.

        A complex event that follows an event begins after it: a thread that begins in the middle decides what
        there is to decide of its own events without those before. What waits at the end of its piece is then
        decided by the events of the next ones, until nothing waits.
        """
        n = len(read.symbols)
        parts = self.threads_for(n)
        edges = [n * part // parts for part in range(parts + 1)]
        first = [place + at for at in np.searchsorted(kept, edges).tolist()]
        lanes = self._fresh(parts)
        for own, whole in zip(lanes, self._lanes):
            own[0] = whole[0]
        shares = [self.share(edges[part], edges[part + 1], part, first[part]) for part in range(parts)]
        most = self._open + len(kept)
        decided = self._look(read, shares, lanes, most)
        far = 0
        for part in range(1, parts):
            if lanes.head[part - 1] < 0:
                continue
            share = shares[part]._replace(row=part - 1, carried=1)
            decided += self._look(read, [share], lanes, most)
            if lanes.head[part - 1] < 0:
                continue
            far += 1
            np.maximum(lanes.registers[part], lanes.registers[part - 1], out=lanes.registers[part])
            if lanes.head[part] < 0:
                lanes.tail[part] = lanes.tail[part - 1]
            else:
                self._waiting.following[lanes.tail[part - 1]] = lanes.head[part]
            lanes.head[part] = lanes.head[part - 1]
        if 2 * far >= parts:
            self._alone = ALONE
        for own, whole in zip(lanes, self._lanes):
            whole[0] = own[-1]
        return decided

    def passed(self, time: int | float) -> EventArrays | None:
        """Events whose reach is over because no event to come is before a time (or place)."""
        decided = np.empty(self._open, np.int64)
        found, self._oldest = kernels.time_passes(
            self.mark(np.array([time]))[0], self.high, self._lanes, self._waiting, self._oldest,
            self._arena.count, decided,
        )  # fmt: skip
        self._open -= found
        return self._give(decided[:found]) if found else None

    def passed_in(self, lanes: np.ndarray, times: np.ndarray, beyond: bool = False) -> EventArrays | None:
        """As `passed`, for some lanes, each with its own time (or place).

        With `beyond` no event to come is at that time, either.
        """
        decided = self._pass_in(lanes, times, beyond)
        return self._give(decided) if len(decided) else None

    def _pass_in(self, lanes: np.ndarray, times: np.ndarray, beyond: bool) -> np.ndarray:
        """Decide the events of `passed_in`; gives their places."""
        decided = np.empty(self._open, np.int64)
        now, high = self.mark(times), self.high
        if beyond and self.dtype.kind == "f":
            high = np.nextafter(high, -np.inf)  # what lies beyond is farther, by however little
        elif beyond:
            now = self.mark(times + 1)
        found = kernels.lanes_pass(lanes, now, high, self._lanes, self._waiting, decided)
        self._open -= found
        return decided[:found]

    def rest(self, bit: int = 0) -> EventArrays | None:
        """The events that wait, at the end of the stream, with a bit."""
        value = self._waiting.value[: self._arena.count]
        decided = np.flatnonzero(value >= WAITS)
        value[decided] = bit
        self._lanes.head[:] = -1
        self._open = 0
        return self._give(decided)

    def decided(self) -> EventArrays | None:
        """The events that do not wait but for those of other lanes, at the end of the stream."""
        if not self._in_order:
            return None
        value = self._waiting.value
        found = np.flatnonzero(value[self._given : self._arena.count] < WAITS) + self._given
        self._in_order = False  # only those that wait are left
        return (
            self.known(taken(self._arena.seen(), found, self.workers), value[found]) if len(found) else None
        )

    def over(self, last: int, bit: int = 0, time: int | float | None = None) -> EventArrays | None:
        """The events that wait in all lanes but one, at the end of those lanes.

        Parameters
        ----------
        last : int
            The one.
        bit : int, optional
            The bit of those that may still be followed.
        time : int or float, optional
            What follows them is after this time.
        """
        passed = np.empty(0, np.int64)
        if time is not None and self.measured == "time":
            waiting = self.waiting_lanes()
            waiting = waiting[waiting != last]
            passed = self._pass_in(waiting, np.full(len(waiting), time), True)
        count = self._arena.count
        lanes, value = self._waiting.lanes[:count], self._waiting.value[:count]
        decided = np.flatnonzero((value >= WAITS) & (lanes != last))
        if not len(decided) and not len(passed):
            return None
        value[decided] = bit
        self._lanes.head[lanes[decided]] = -1
        self._open -= len(decided)
        return self._give(np.concatenate([passed, decided]))

    def waiting_lanes(self, only: int | None = None) -> np.ndarray:
        """The lanes in which events wait, or only one of them if they wait in it, shape (k,), int64."""
        if only is None:
            return np.flatnonzero(self._lanes.head >= 0)
        waits = only < len(self._lanes.head) and self._lanes.head[only] >= 0
        return np.array([only] if waits else [], np.int64)

    def least(self, kind: str) -> int | float | None:
        """The least time, or place, of the events that are held back; None if there are none."""
        found = self.waiting()
        values = found.times if kind == "time" else found.places
        return values.min().item() if len(values) else None

    def waiting(self) -> EventArrays:
        """The events that have not been given."""
        seen = self._arena.seen()
        value = self._waiting.value[: self._arena.count]
        if self._in_order:
            return _range(seen, self._given, self._arena.count)
        return seen.take(np.flatnonzero(value >= WAITS))

    def _give(self, decided: np.ndarray) -> EventArrays | None:
        """The events to give, once some were decided."""
        if not len(decided):
            return None
        value = self._waiting.value
        if not self._in_order:
            order = np.sort(decided)
            return self.known(taken(self._arena.seen(), order, self.workers), value[order])
        first, count = self._given, self._arena.count
        waits = value[first:count] >= WAITS
        stop = first + int(np.argmax(waits)) if self._open and waits.any() else count
        if stop == first:
            return None
        self._given = stop
        return self.known(_range(self._arena.seen(), first, stop), value[first:stop])

    # ----------------------------------------------------------------------------------------- the arena

    @property
    def _times(self) -> np.dtype:
        return self._waiting.times.dtype

    def _fresh(self, lanes: int) -> AheadLanes:
        return AheadLanes(
            np.full(lanes, -1, np.int64),
            np.full(lanes, -1, np.int64),
            np.full((lanes, self._program.n_registers), -1, np.int64),
        )

    def _of(self, count: int) -> AheadLanes:
        """What is kept of each lane, with room for at least `count` lanes."""
        return AheadLanes(*(grown(one, count, -1) for one in self._lanes))

    def _room(self, count: int) -> WaitingEvents:
        return WaitingEvents(
            np.empty(count, np.int64),
            np.empty(count, self.dtype),
            np.empty(count if self.laned else 0, np.int32),
            np.empty(count, np.int64),
            np.empty(count, np.uint8),
        )

    def _make_room(self, more: int) -> None:
        """Drop the events that have been given, so that more find room."""
        count = self._arena.count
        value = self._waiting.value[:count]
        kept = np.arange(self._given, count) if self._in_order else np.flatnonzero(value >= WAITS)
        events = self._arena.seen().take(kept) if count else None
        self._arena = OpenEvents(False, self._valued)
        if events is not None and len(events):
            self._arena.append(events.slim())
        self._put(self._arena.count, value[kept], more)

    def _put(self, count: int, value: np.ndarray, more: int) -> None:
        """Make the queues of the events of the arena, of which these are the values."""
        self._waiting = self._room(max(LEAST, 2 * (count + more)))
        self._given = self._oldest = 0
        self._lanes.head[:] = -1
        if not count:
            return
        events = self._arena.seen()
        self._waiting.positions[:count] = events.positions
        self._waiting.times[:count] = self.measure(events)
        self._waiting.value[:count] = value
        if self.laned:
            self._waiting.lanes[:count] = events.lanes
        kernels.relink(self._waiting, count, self._lanes)

    # ------------------------------------------------------------------------------- lanes, and the state

    def held(self) -> np.ndarray:
        """The lanes that are busy, and those whose monitor has left its first state."""
        return np.union1d(self.busy(), np.flatnonzero(self.watched))

    def busy(self) -> np.ndarray:
        """The lanes of events that have not been given, or where the pattern is open: they stay in memory."""
        waiting = np.unique(self.waiting().lanes).astype(np.int64) if self.laned else np.empty(0, np.int64)
        return waiting if self._found is None else np.union1d(waiting, self._found.runs.held())

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        known = max(len(self._lanes.head), int(used.max(initial=-1)) + 1)
        number = np.full(known, -1, np.int32)
        number[used] = numbers
        self._arena.renumber(number)
        there = self._waiting.lanes[: self._arena.count]
        there[:] = number[there]
        self._lanes = AheadLanes(*(moved(one, used, numbers, count, -1) for one in self._lanes))
        self.watched = moved(self.watched, used, numbers, count)
        if self._found is not None:
            self._found.runs.keep(used, numbers, count)

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """The state of some lanes that are not `busy`: no run in them is of use to later events."""
        return {"watched": at(self.watched, lanes)}

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Restore the state that `rows` returned, for lanes with new numbers."""
        self.watched = grown(self.watched, count)
        self.watched[lanes] = rows["watched"]

    @property
    def nbytes(self) -> int:
        """The bytes that are kept."""
        return (
            self._arena.nbytes
            + sum(one.nbytes for one in (*self._lanes, *self._waiting))
            + self.watched.nbytes
            + (0 if self._found is None else self._found.runs.nbytes)
        )

    def state(self) -> dict[str, Any]:
        """All that is kept."""
        self._make_room(0)
        count = self._arena.count
        state = {
            "events": state_of(self._arena.seen()) if count else None,
            "value": self._waiting.value[:count].copy(),
            "registers": self._lanes.registers,
            "watched": self.watched,
        }
        return state if self._found is None else state | {"runs": self._found.runs.arrays()}

    def resume(self, state: dict[str, Any], lane_keys: Keys | None) -> None:
        """Continue from what `state` returned."""
        self.watched = state["watched"]
        self._lanes = self._fresh(len(state["registers"]))._replace(registers=state["registers"])
        if state["events"] is not None:
            self._arena.append(relevant_of(state["events"], lane_keys))
            self.measure(self._arena.seen())
            self._put(self._arena.count, state["value"], 0)
            self._open = int((state["value"] >= WAITS).sum())
        if self._found is not None:
            self._found.runs.restore(state["runs"])


def _range(events: EventArrays, low: int, high: int) -> EventArrays:
    """Some neighbours among events, not copied."""

    def part(values: np.ndarray) -> np.ndarray:
        return values[..., low:high] if values.size else values

    table: pa.Table | None = None if events.payload is None else events.payload.slice(low, high - low)
    return EventArrays(
        part(events.symbols), part(events.positions), part(events.lanes), part(events.keys),
        part(events.keyed), part(events.places), part(events.slots), table, events.lane_keys,
        part(events.times),
    )  # fmt: skip

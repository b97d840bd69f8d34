"""The chunks of a run: the events that the window still reaches are carried from chunk to chunk."""

from __future__ import annotations

from functools import cached_property
from sys import maxsize

import numpy as np

from cer_gpu.engine.machines.chunk import NO_SEGMENTS, Chunk, chunk_in_order, make_chunk
from cer_gpu.engine.machines.machine import MachineRunner
from cer_gpu.engine.memory import Allowance, still_needed
from cer_gpu.engine.read.events import EventArrays, joined, taken
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.lanes import grown, present
from cer_gpu.engine.read.shared_lanes import SharedLanes
from cer_gpu.engine.run.tails import Tails
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.plan.compiled_query import CompiledQuery

CHUNK = 1 << 20
"""How many relevant events are gathered before a chunk is run."""

CARRIED = 1 << 17
"""The same if registers are carried: fewer events, because their counts may have thousands of digits."""

LESS_OFTEN, LONG = 4, 3
"""A chunk in stream order has so many times as many new events as old ones, at most `LONG * CHUNK`."""

BYTES_OF_EVENT = 512
"""About how many bytes a relevant event takes while its chunk is run and enumerated."""

LEAST_PURGED = 1 << 15
"""From this many kept events on, those whose window is over are searched."""

LEAST_SHARE = 8
"""If less than this share of them can be dropped, it is not worth the cost."""


class Chunker:
    """Cuts the relevant events of a run into chunks, with the tail that the window still reaches.

    A chunk is run when it has as many new events as the tails of their lanes have old ones, and at least
    `CHUNK`. So running tails again costs a constant factor, whatever the window.

    The tail of each lane is kept until the lane itself moves on. It is dropped earlier only if its window is
    known to be over for all later rows (`Intake.watermark`). If that cannot be known, and more is kept than
    `memory` allows, the partitions whose last row is longest ago are put on disk until one of their rows
    comes (`Intake.put_away`).

    Parameters
    ----------
    query : CompiledQuery
    intake : Intake or SharedLanes
    runner : MachineRunner
        The runner of the chunks.
    workers : Workers
    carries : bool
        Whether the runner carries registers, so that no tail is needed.
    memory : int or None
        Bytes that the run may take.
    least : int, optional
        The least number of new events of a chunk; `CHUNK` if None.
    """

    def __init__(
        self,
        query: CompiledQuery,
        intake: Intake | SharedLanes,
        runner: MachineRunner,
        workers: Workers,
        carries: bool,
        memory: int | None,
        least: int | None = None,
    ) -> None:
        self._query = query
        self._intake = intake
        self._runner = runner
        self._workers = workers
        self._carries = carries
        self.carries_ungrouped = carries and runner.ungrouped
        """Whether chunks are in the order of the stream: events are not grouped by lane."""
        self.in_order = False
        """Whether chunks are in the order of the stream, with the events that the runner still needs."""
        self._most_lanes: int = getattr(runner, "most_lanes", maxsize)
        self._memory = memory
        least = (CHUNK if least is None else least) * runner.chunks
        self._least = least if memory is None else min(least, memory // BYTES_OF_EVENT)
        # Where memory is little, it counts more than how often a tail is run again.
        self._most = maxsize if memory is None else 2 * self._least
        self._tail: EventArrays | None = None
        """What is kept without lanes."""
        self._tails = Tails()
        self._touched = np.zeros(0, bool)
        self._purged = LEAST_PURGED
        self._last: Chunk | None = None
        self._waiting: list[EventArrays] = []
        self._again = 0

    @cached_property
    def _allowance(self) -> Allowance:
        return Allowance(self._memory)

    def add(self, part: EventArrays) -> Chunk | None:
        """Add the next relevant events; once there are enough, gives a chunk, which has to be run first."""
        if self._last is not None:
            self._settle([part])
        if self._intake.away is not None:
            self._take_back()
        if len(part):
            self._waiting.append(part)
            if self._tail is not None or len(part.lanes):
                self._again += self._run_again(part)
        else:
            self._waiting = self.relieve(self._waiting)
        enough = CARRIED
        if not self._carries:
            # What is read here and there in a chunk should lie in a cache.
            near = self.in_order and self._query.window is None
            least = min(self._least, CARRIED) if near else self._least
            # What a tail costs once more is worth longer chunks, up to a bound.
            longer = min(LESS_OFTEN * self._again, LONG * least) if self.in_order and not near else 0
            enough = min(max(least, self._again, longer), self._most)
        return self.rest() if sum(map(len, self._waiting)) >= enough else None

    def have_at_least(self, events: int) -> None:
        """Run chunks of at least `events` new events, if that is less than before."""
        self._least = min(self._least, events * self._runner.chunks)

    def rest(self) -> Chunk | None:
        """The events that are in no chunk yet, as a chunk; None if there are none."""
        waiting, self._waiting, self._again = self._waiting, [], 0
        return self.chunk(waiting) if waiting else None

    def chunk(self, new: list[EventArrays]) -> Chunk:
        """The next events of the stream, with those that the window still reaches, as a chunk."""
        new = self.relieve(new)
        self._touched[:] = False
        if self.in_order and self._intake.lane_count > self._most_lanes:
            self._group()
        if self.carries_ungrouped:
            events = joined(new)
            return Chunk(events, events.measured, NO_SEGMENTS, NO_SEGMENTS)
        if self.in_order:
            self._last = chunk_in_order(self._tail, new)
            return self._last
        tail, lanes = self._tail, 1
        if any(len(part.lanes) for part in new):
            lanes = self._intake.lane_count
            if len(self._tails):
                tail = self._tails.take(present(np.concatenate([part.lanes for part in new]), lanes))
        window, ranks = self._query.window, self._query.traits.bound == "ranks"
        self._last = make_chunk(window, ranks, tail, new, lanes, self._workers)
        return self._last

    def relieve(self, new: list[EventArrays]) -> list[EventArrays]:
        """Drop what is no longer needed, if it may be much; gives the new events with renumbered keys.

        Parameters
        ----------
        new : list of EventArrays
            Events that have been read and are in no chunk yet.

        Raises
        ------
        LimitError
            If what is still needed takes more memory than is allowed.
        """
        if self._last is not None:
            self._settle(new)
        if self._tail is None and not self._intake.keeps:
            return new
        self._take_back()
        if len(self._tails) >= 2 * self._purged:
            self._purge(new, pressed=False)
            self._purged = max(LEAST_PURGED, len(self._tails))
        coming = self._forgotten(new)

        def drop() -> None:
            nonlocal coming
            self._purge(coming)
            coming = self._forgotten(coming, pressed=True)

        def put_away(excess: int) -> None:
            nonlocal coming
            coming = self._put_away(coming, excess)

        self._allowance.keep_to(lambda: self._nbytes, drop, put_away, self._what_is_kept)
        return coming

    def _group(self) -> None:
        """Keep events by lane from here on, no longer in the order of the stream."""
        self.in_order = False
        self.resume(self._tail)

    def held(self) -> EventArrays | None:
        """The events that later ones may need; for `resume`."""
        self._settle(self._waiting)
        return self._tails.everything() if len(self._tails) else self._tail

    def resume(self, tail: EventArrays | None) -> None:
        """Continue a stream: `tail` holds the events inside the window that were run elsewhere."""
        self._tail, self._last = tail, None
        if tail is not None and len(tail.lanes) and not self.in_order:
            self._tail = None
            self._tails.reset(tail.take(ascending(tail.lanes)))

    def _run_again(self, new: EventArrays) -> int:
        """How many events of tails are run again with some new ones; lanes met already are not counted."""
        if self._tail is not None and not self._touched.any():
            self._touched = np.ones(1, bool)
            return len(self._tail)
        if not len(new.lanes) or not len(self._tails):
            return 0
        count = self._intake.lane_count
        self._touched = grown(self._touched, count)
        lanes = present(new.lanes, count)
        lanes = lanes[~self._touched[lanes]]
        self._touched[lanes] = True
        return self._tails.size_of(lanes)

    def _settle(self, new: list[EventArrays]) -> None:
        """Cut the tail out of the last chunk; called only once it is known that more events follow: `new`."""
        chunk, self._last = self._last, None
        if chunk is None or self._carries:
            return
        if chunk.in_order:
            needed = self._over(chunk, self._runner.needed(chunk), new)
            last = len(needed) and len(needed) == len(chunk.events) - needed[0]
            kept = chunk.events.slice(int(needed[0])) if last else self._taken(chunk.events, needed)
            self._tail = kept if len(kept) else None
            return
        if len(chunk.events.lanes):
            keep = self._keeps(chunk)
            kept = chunk.events if keep.all() else self._taken(chunk.events, np.flatnonzero(keep))
            if self._intake.grouped:
                self._tails.reset(kept)  # another partition has begun after all but one
            else:
                self._tails.put(kept)
            return
        kept = chunk.events.slice(self._first_kept(chunk))
        self._tail = kept if len(kept) else None

    def _over(self, chunk: Chunk, needed: np.ndarray, new: list[EventArrays]) -> np.ndarray:
        """The events of a chunk in stream order that are kept, without those whose window is over for `new`.

        Where rows have to be read ahead for that, it is done when events have become twice as many.
        """
        window = self._query.window
        if window is None or not (self._intake.shows_time or len(needed) >= 2 * self._purged):
            return needed
        least = self._intake.least_measured(new)
        if least is not None:
            needed = needed[chunk.measured[needed] >= least - window.size]
        self._purged = max(LEAST_PURGED, len(needed))
        return needed

    def _first_needed(self, chunk: Chunk) -> np.ndarray | None:
        """For each lane of a chunk the first event that is kept for later ones; None: all are."""
        window = self._query.window
        if window is None:
            return self._runner.needed(chunk) if self._query.traits.forgets else None
        if window.kind == "attribute":
            # It may still fall, and then admits whatever is open.
            return self._runner.needed(chunk)
        # What the last event does not admit, no later one does.
        return chunk.admitted_by_last(window)

    def _first_kept(self, chunk: Chunk) -> int:
        """Without lanes the end of the chunk is kept: the first event that is."""
        events, needed = chunk.events, self._first_needed(chunk)
        low = 0
        if needed is not None and len(needed):
            low = int(needed[-1])
        if self._query.consume != "NONE":
            floor = self._runner.consumption.floor
            low = max(low, int(np.searchsorted(events.positions, floor, side="right")))
        return low

    def _keeps(self, chunk: Chunk) -> np.ndarray:
        """With lanes the end of each lane is kept: which events those are."""
        events, needed = chunk.events, self._first_needed(chunk)
        keep = self._unconsumed(events)
        if self._intake.grouped and len(events):
            keep &= events.lanes == events.lanes[np.argmax(events.positions)]
        if needed is not None and (needed > chunk.lanes.begin).any():
            keep &= ~_covered(len(events), chunk.lanes.begin, needed)
        return keep

    def _unconsumed(self, events: EventArrays) -> np.ndarray:
        """Which events no report has dropped."""
        if self._query.consume == "ANY":
            return events.positions > self._runner.consumption.floor
        if self._query.consume == "PARTITION":
            floors = grown(self._runner.consumption.floors, int(events.lanes.max(initial=-1)) + 1, -1)
            return events.positions > floors[events.lanes]
        return np.ones(len(events), bool)

    # ------------------------------------------------------------------- the tails of lanes, and their keys

    def _take_back(self) -> None:
        """Put away the tails of lanes that have come back from disk."""
        for events in self._intake.returned():
            # Meanwhile a report in another lane may have dropped them.
            self._tails.put(events.take(np.flatnonzero(self._unconsumed(events))))

    def _put_away(self, new: list[EventArrays], excess: int) -> list[EventArrays]:
        """Put tails on disk, with their keys; new events, with their keys renumbered."""
        if self._carries or self._intake.away is None:
            return new
        if self.in_order:
            self._group()
        kept = self._tails.everything()
        away = self._intake.put_away(kept, new, self._tails.nbytes, excess)
        if away is None:
            return new
        if kept is not None:
            kept = kept.take(np.flatnonzero(~away[kept.lanes]))
        old = [] if kept is None else [kept]
        renumbered = self._intake.forget([*old, *new], away=away)
        self._touched[:] = False
        self._tails.reset(renumbered[0] if old else None)
        return renumbered[len(old) :]

    def _what_is_kept(self) -> str:
        if self._carries:
            return f"states of {self._intake.lane_count:,} partitions are kept, since the query has no window"
        count = len(self._tails) + (0 if self._tail is None else len(self._tail))
        return still_needed(count, self._query.window)

    @property
    def _nbytes(self) -> int:
        tail = 0 if self._tail is None else self._tail.nbytes
        return tail + self._tails.nbytes + self._intake.nbytes

    def _purge(self, new: list[EventArrays], pressed: bool = True) -> None:
        """Drop events that are consumed, or whose window is over for all later events.

        Unless `pressed`, a few are left where they are: dropping them costs a copy of all others.
        """
        events, window = self._tails.everything(), self._query.window
        if events is None:
            return
        keep = self._unconsumed(events)
        least = None if window is None else self._intake.least_measured(new)
        if window is not None and least is not None:
            keep &= events.measured >= least - window.size
        dropped = len(keep) - np.count_nonzero(keep)
        if dropped * (1 if pressed else LEAST_SHARE) > len(keep) * (not pressed):
            self._tails.reset(self._taken(events, np.flatnonzero(keep)))

    def _taken(self, events: EventArrays, which: np.ndarray) -> EventArrays:
        return taken(events, which, self._workers)

    def _forgotten(self, new: list[EventArrays], pressed: bool = False) -> list[EventArrays]:
        """Forget keys that no event has any more; gives the new events with renumbered keys."""
        count = len(self._tails) + sum(map(len, new)) + (0 if self._tail is None else len(self._tail))
        if self._carries or not self._intake.forgets(count, pressed):
            return new
        old = [each for each in (self._tails.everything(), self._tail) if each is not None]
        parts = [*old, *new]
        renumbered = self._intake.forget(parts, pressed)
        if renumbered is parts:
            return new
        self._touched[:] = False
        if self._tail is not None:
            self._tail = renumbered[len(old) - 1]
        else:
            self._tails.reset(renumbered[0] if old else None)
        return renumbered[len(old) :]


def _covered(count: int, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Which of `count` events lie in one of the ranges begin .. end - 1, which do not overlap."""
    steps = np.zeros(count + 1, np.int64)
    np.add.at(steps, begin, 1)
    np.add.at(steps, end, -1)
    return np.cumsum(steps[:-1]) > 0

"""SUPPRESS: no ends are reported for some time after one that was.

Which ends there are does not depend on which are reported, unless a report consumes. So the ends of any
machine are found first, and those that are suppressed are left out: `SuppressRunner` over chunks,
`SuppressedRuns` on streams and where events are followed one by one. Under CONSUME BY the same pass over the
ends decides both (`Consumption`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import proxy

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import FollowedEvents, OpenRuns, PushResult, Renumbering
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import LaneState, at, grown, moved
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents
from cer_gpu.kernels.suppress import cpu as kernels
from cer_gpu.kernels.suppress.contract import QuietTimes
from cer_gpu.plan.compiled_query import CompiledQuery, SuppressPlan

if TYPE_CHECKING:
    from cer_gpu.engine.read.intake import Intake

IN_ORDER = np.empty(0, np.int64)
"""The order of ends that are in the order of the stream."""

_SIGN = np.uint64(1 << 63)


class JudgedEnds(NamedTuple):
    """Ends as kernels read them: their events, their order, the lanes of events, when they are suppressed."""

    event: np.ndarray
    order: np.ndarray
    lane: np.ndarray
    quiet: QuietTimes


class Suppression:
    """When the last end was reported: in the stream, or in each lane; a `LaneState`.

    Parameters
    ----------
    plan : SuppressPlan
    """

    def __init__(self, plan: SuppressPlan) -> None:
        self._plan = plan
        self._last = np.zeros(0, np.int64)
        self._there = np.zeros(0, np.uint8)
        self._intake: Intake | None = None

    def follow(self, intake: Intake) -> None:
        """Forget lanes in which nothing is suppressed any more, as far as an intake knows."""
        self._intake = proxy(intake)  # which knows the states of lanes: a circle would keep both

    @property
    def _by_lane(self) -> bool:
        return self._plan.by == "PARTITION"

    def left(self, events: EventArrays, event: np.ndarray) -> np.ndarray | None:
        """The ends that are reported, by their numbers, and note when; None: all of them.

        Parameters
        ----------
        events : EventArrays
        event : ndarray, shape (ends,), int64
            The ends, by the numbers of their events; those of each lane in the order of the stream.
        """
        which = np.empty(len(event), np.int64)
        judged = self.judged(events, event, not self._by_lane)
        found = kernels.suppress(*judged, which)
        if found == len(event):
            return None
        return np.sort(which[:found]) if len(judged.order) else which[:found]

    def judged(self, events: EventArrays, event: np.ndarray, in_stream: bool) -> JudgedEnds:
        """What the kernels read of some ends.

        With `in_stream` it is the order of the stream; otherwise that inside each lane is enough.
        """
        order = IN_ORDER
        if in_stream and len(events.lanes):
            position = events.positions[event]
            if not (position[1:] > position[:-1]).all():
                order = ascending(position)
        lanes = int(events.lanes[event].max(initial=0)) + 1 if len(events.lanes) else 1
        return JudgedEnds(event, order, events.lanes, self.quiet(events.moments, lanes))

    def quiet(self, times: np.ndarray, lanes: int) -> QuietTimes:
        """When ends at events with some times, in the first `lanes` lanes, are suppressed; for kernels."""
        time, size = _comparable(times, self._plan.size)
        self._grow(lanes if self._by_lane else 1, time.dtype)
        return QuietTimes(time, size, _greatest(time.dtype), self._by_lane, self._last, self._there)

    @contextmanager
    def foreseen(self, following: FollowedEvents) -> Iterator[QuietTimes]:
        """The same while a push is followed; `left` judges its ends again, once all are known."""
        found, lanes = self.quiet(following.times, len(following.bounds.low)), np.zeros(1, np.int64)
        if self._by_lane and len(following.events.lanes):
            lanes = following.events.lanes[following.first : following.stop]
        last, there = found.last[lanes], found.there[lanes]
        yield found
        found.last[lanes], found.there[lanes] = last, there

    def _grow(self, count: int, dtype: np.dtype) -> None:
        """Make room for so many lanes."""
        self._last = grown(self._last.astype(dtype, copy=False), count)
        self._there = grown(self._there, count)

    def held(self) -> np.ndarray:
        """The lanes in which an end may still be suppressed."""
        if not self._by_lane:
            return np.empty(0, np.int64)
        if self._intake is not None and self._intake.grouped:
            return np.empty(0, np.int64)  # a partition that is over does not come back
        held = np.flatnonzero(self._there)
        now = None if self._intake is None else self._intake.watermark
        if now is None:
            return held
        time, size = _comparable(np.array([now], _dtype(self._last)), self._plan.size)
        last = self._last[held]
        with np.errstate(over="ignore"):
            gap = time[0] - last
        return held[(time[0] <= last) | ((gap >= 0) & (gap <= size))]

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        if self._by_lane:
            self._last = moved(self._last, used, numbers, count)
            self._there = moved(self._there, used, numbers, count)

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """The last end of some lanes."""
        if not self._by_lane:
            return {}
        return {"last": at(self._last, lanes), "there": at(self._there, lanes)}

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Restore the state that `rows` returned, for lanes with new numbers."""
        if self._by_lane:
            self._grow(count, rows["last"].dtype)
            self._last[lanes], self._there[lanes] = rows["last"], rows["there"]


def _dtype(last: np.ndarray) -> type:
    """The type of times, by that of those that are kept."""
    return np.float64 if last.dtype.kind == "f" else np.int64


def _greatest(dtype: np.dtype) -> Any:
    """The greatest value of a type of times."""
    return dtype.type(np.inf if dtype.kind == "f" else np.iinfo(dtype).max)


def _comparable(times: np.ndarray, size: int | float) -> tuple[np.ndarray, np.generic]:
    """Times whose differences compare with a length; for one beyond int64 uint64 in the same order."""
    if times.dtype.kind == "f":
        return times.astype(np.float64, copy=False), np.float64(size)
    times = times.astype(np.int64, copy=False)
    if size <= np.iinfo(np.int64).max:
        return times, np.int64(size)
    return times.view(np.uint64) ^ _SIGN, np.uint64(min(int(size), np.iinfo(np.uint64).max))


class SuppressRunner:
    """A runner without the ends that are suppressed; a `MachineRunner`.

    Parameters
    ----------
    inner : MachineRunner
        Finds all ends. Over chunks, under CONSUME BY, it finds those that are left.
    query : CompiledQuery
        With SUPPRESS.
    """

    def __init__(self, inner: Any, query: CompiledQuery) -> None:
        assert query.suppress is not None
        self.inner = inner
        self._consumes = query.consume != "NONE"
        # Ends that are left out need not be counted, where they are found before they are counted.
        found_first = hasattr(inner, "count_ends") and not inner.carries
        self._counts_ends = found_first and query.traits.keeps == "all" and not self._consumes
        own = inner.consumption.suppression
        self.suppression: Suppression = Suppression(query.suppress) if own is None else own
        self.chunks: int = inner.chunks
        self.consumption = inner.consumption
        self.ungrouped: bool = inner.ungrouped

    @property
    def states(self) -> tuple[LaneState, ...]:
        """The state that is kept for each lane."""
        inner: tuple[LaneState, ...] = self.inner.states
        kept = self._consumes and any(state is self.inner.consumption for state in inner)
        return inner if kept else (*inner, self.suppression)  # consumption keeps what it decides by

    def read(self, events: EventArrays) -> EventArrays:
        """New events, as the inner runner reads them."""
        read: EventArrays = self.inner.read(events)
        return read

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk that are reported."""
        found: Ends = self.inner.ends(chunk, bounded)
        left = self.suppression.left(chunk.events, found.event) if self._judges(found.event) else None
        return found if left is None else found.some(left)

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk that are reported and how many complex events end at each, before LIMIT."""
        if self._counts_ends and not len(chunk.falling.begin):
            ends = self.ends(chunk)
            counted: tuple[np.ndarray, np.ndarray] = self.inner.count_ends(chunk, ends)
            return counted
        event, number = self.inner.counts(chunk)
        left = self.suppression.left(chunk.events, event) if self._judges(event) else None
        return (event, number) if left is None else (event[left], number[left])

    def _judges(self, event: np.ndarray) -> bool:
        """Whether it has to judge ends that the inner runner has found."""
        return len(event) > 0 and not self._consumes

    def needed(self, chunk: Chunk) -> np.ndarray:
        """As `MachineRunner.needed`: what is suppressed needs no events."""
        needed: np.ndarray = self.inner.needed(chunk)
        return needed

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends of a chunk."""
        answers: Answers = self.inner.answers(chunk, ends)
        return answers

    def open_runs(self) -> OpenRuns | None:
        """The runs that a stream keeps, without the ends that are suppressed."""
        runs = self.inner.open_runs()
        return None if runs is None else SuppressedRuns(runs, self.suppression, self._consumes)

    def carried(self) -> list[np.ndarray]:
        """The arrays that the inner runner carries from chunk to chunk."""
        carried: list[np.ndarray] = self.inner.carried()
        return carried

    def carry_on(self, carried: Sequence[np.ndarray]) -> None:
        """Continue from what `carried` returned."""
        self.inner.carry_on(carried)


class SuppressedRuns:
    """Open runs without the ends that are suppressed; an `OpenRuns`.

    Parameters
    ----------
    runs : OpenRuns
        Find all ends.
    suppression : Suppression
    consumes : bool
        Whether an end consumes unless it is suppressed: then the runs have to know when it is.
    """

    def __init__(self, runs: OpenRuns, suppression: Suppression, consumes: bool) -> None:
        self._runs = runs
        self._suppression = suppression
        self._consumes = consumes

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        if self._consumes:
            with self._suppression.foreseen(following) as quiet:
                bounds = following.bounds._replace(quiet=quiet)
                found = self._runs.push(replace(following, bounds=bounds))
        else:
            found = self._runs.push(following)
        if found is None:
            return None

        def pushed(seen: EventArrays) -> PushResult:
            whole = found(seen)
            left = self._suppression.left(whole.events, whole.ends.event)
            if left is None:
                return whole
            number = None if whole.number is None else whole.number[left]
            return PushResult(whole.events, whole.ends.some(left), whole.answers, number)

        return pushed

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`."""
        self._runs.bound(events, bounds)

    def drop(self, dropped: Renumbering) -> None:
        """As `OpenRuns.drop`."""
        self._runs.drop(dropped)

    @property
    def nbytes(self) -> int:
        """Bytes that the runs take."""
        return self._runs.nbytes

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        return self._runs.arrays()

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        self._runs.restore(arrays)


def suppression_of(runner: Any) -> Suppression:
    """What the runner of a query with SUPPRESS keeps of the ends that were reported."""
    assert isinstance(runner, SuppressRunner)
    return runner.suppression

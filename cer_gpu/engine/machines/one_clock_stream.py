"""The automaton with one clock on a stream: its open runs and their structure, kept from push to push.

The algorithm of Theorem 6.1 of the timed CEL paper ("Complex event recognition under time constraints"), for
deterministic monotonic automata with one clock. `cer_gpu.kernels.clock.contract` says what a node is.

Where checks are `z <= c`, the steps that an event costs depend only on the automaton. Where they are `z >=
c`, an event costs, for each transition, O(log n) steps for n open runs: new resets come last in the order in
which checks admit runs, and the union-lists of the paper would grow by one at each reset. In both cases
complex events are listed with output-linear delay: at most `MAX_OUTPUT_DEPTH` nodes lie between two outputs.

A window over all (WITHIN) is a second clock, which the paper does not have. It is applied as in the structure
without clocks, by the latest start of each node. If the clock is reset at starts only, or later resets belong
to later starts (as in a chain of steps), the above holds with a window too. Otherwise a walk may visit nodes
that have one run in the window and another run that passes the checks, but none that does both.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.machines.automaton_stream import found_ends
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import CONSUMES, FollowedEvents, KeptRuns, PushResult, Renumbering
from cer_gpu.engine.machines.open_state import Column, OpenState
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.enumeration.clock_enumeration import SpanEvents
from cer_gpu.enumeration.clock_structure import Ending, TimedAnswers, latest_starts, some_ends
from cer_gpu.enumeration.structure import empty_roots
from cer_gpu.kernels.clock import cpu_liveness as kept
from cer_gpu.kernels.clock import cpu_stream as kernels
from cer_gpu.kernels.clock.contract import COLUMNS, NO_CHECK, ClockedEvents, ClockedLanes, ClockTables
from cer_gpu.kernels.clock.cpu_nodes import SPINE
from cer_gpu.kernels.forest import cpu_nodes as words
from cer_gpu.kernels.forest import cpu_stream as packed
from cer_gpu.kernels.forest.contract import Roots
from cer_gpu.kernels.forest.cpu_stream import PackedLists
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEnds, StreamEvents, StreamWindow

ROOM = 1 << 10
"""Room for nodes at least."""

SPARE = 16
"""What is kept has as much room as there was, but not so many times what it may take."""

OWN = 4
"""`sys.getrefcount` of the nodes that no answers hold: twice in the state, here, and in the call."""

FEW_NODES = 64
"""If less than this share of the nodes can be dropped, and no event, it is not worth a copy of the others."""

STACK = 1 << 12
"""Room for the nodes that a walk still has to visit, at first."""

FULL = {kernels.ARENA_FULL: "node", kernels.POOL_FULL: "word", kernels.ROOTS_FULL: "root"}
"""The axis of the state that a status of the kernel says is full."""


NO_ENDING = Ending(empty_roots(0, 0), StreamEnds(*np.empty((3, 0), np.int64)))


class ClockedNodes(NamedTuple):
    """`arena` int64 [capacity, COLUMNS]: the nodes of a stream."""

    arena: np.ndarray


class ClockLinkArrays(NamedTuple):
    """`serial` and `following` of `ClockedEvents`."""

    serial: np.ndarray
    following: np.ndarray


class ClockRuns(KeptRuns):
    """The open runs of an automaton with one clock; `OpenRuns`.

    Where the intervals bound times from above, the steps that an event costs depend only on the query; where
    they bound them from below, it costs O(log n) for n open runs. A run that no later check can admit is
    dropped, with the events that only it needs, also without a window.

    Parameters
    ----------
    tables : ClockTables
    constants : ndarray, shape (constants,), uint64 or float64
        The constants of the checks, in the unit of the times.
    consume : {"NONE", "ANY", "PARTITION"}
    windowed : bool
        Whether the query has a window.

    Attributes
    ----------
    tables, constants
        As given.
    exact : bool
        Whether the latest start of a node is always that of a run that passes its checks.
    progress : ndarray, shape (WORDS,), int64
        What the kernels count.
    """

    def __init__(self, tables: ClockTables, constants: np.ndarray, consume: str, windowed: bool) -> None:
        self.tables = tables
        self.constants = constants
        self.exact = tables.exact
        self._consumes = CONSUMES[consume]
        n_slots = 2 * tables.n_live + 3
        self._scratch = kernels.ClockedScratch(
            np.zeros((n_slots, words.ITEM + tables.n_live + 2), np.int64),
            np.zeros((words.ROWS, n_slots), np.int64),
            np.zeros(max(len(constants), 1), np.int64),
            np.zeros((2, SPINE), np.int64),
            np.empty((2, STACK), np.int64),
        )
        self.progress = np.zeros(kernels.WORDS, np.int64)
        self.progress[packed.LANE] = -1
        self.progress[kernels.EXACT] = self.exact or not windowed
        axes = {"node": words.NODES, "word": packed.POOL, "root": words.ROOTS, "event": words.EVENT}
        self._state = OpenState(self.progress, axes, _columns(len(constants)))
        self.progress[words.NODES] = 1
        kept.write_dead(self.arena, 0, NO_CHECK - 1)
        self._next = 0
        """The serial number of the next event."""
        self._events: StreamEvents | None = None
        self._marked: np.ndarray | None = None
        """What `_floor` has found, until events follow."""

    @property
    def arena(self) -> np.ndarray:
        """The nodes, with room for more."""
        return self._state.read(ClockedNodes).arena

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return self._state.used("node")

    # ---------------------------------------------------------------------------------------- pushes

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        ending = self.follow(following)
        if not len(ending.ends.event):
            return None
        arena = self.arena

        def pushed(seen: EventArrays) -> PushResult:
            ends = ending.ends
            latest = ends.latest if self.exact else latest_starts(arena, ending)
            every = Ends(ends.event, seen.positions[latest], ends.lowest)

            def answers(some: Ends) -> TimedAnswers:
                own = some_ends(ending, np.searchsorted(ends.event, some.event))
                constants = self.constants
                events = SpanEvents(seen.symbols, seen.lanes, seen.moments.view(constants.dtype), constants)
                return TimedAnswers(self.tables, arena, own, events)

            return PushResult(seen, every, answers)

        return pushed

    def follow(self, following: FollowedEvents) -> Ending:
        """Follow the runs over further events; gives what ends there."""
        state, progress, first, stop = self._state, self.progress, following.first, following.stop
        state.reach("lane", len(following.bounds.low))
        state.reach("event", stop)
        state.reach("end", stop - first + 1)
        links, times = state.read(ClockLinkArrays), following.times.view(self.constants.dtype)
        links.serial[first:stop] = np.arange(self._next, self._next + stop - first)
        self._next += stop - first
        self._marked = None
        progress[words.ROOTS] = progress[words.HIT] = 0
        clocked = ClockedEvents(links.serial, times, links.following, self.constants)
        window = StreamWindow(following.size, self._consumes)

        def step(until: int) -> int:
            out = kernels.ClockedEnds(state.read(Roots), state.read(StreamEnds))
            return int(
                kernels.follow(
                    self.tables, following.events, clocked, until, window, following.bounds,
                    state.read(ClockedLanes), state.read(PackedLists), self.arena, out, self._scratch,
                    progress,
                )
            )  # fmt: skip

        state.follow(following.stops(), step, self._full)
        found = int(progress[words.HIT])
        if not found:
            return NO_ENDING
        ends, roots = found_ends(state, found)
        return Ending(roots, ends)

    def _full(self, status: int) -> str | None:
        if status != kernels.STACK_FULL:
            return FULL[status]
        shape = 2, 2 * self._scratch.stack.shape[1]
        self._scratch = self._scratch._replace(stack=np.empty(shape, np.int64))
        return None

    # ------------------------------------------------------------------------------------ what is kept

    def _pack(self) -> None:
        """Pack the lists of the lane that was followed last, as those of all others are."""

        def step(_: int) -> int:
            lists = self._state.read(PackedLists)
            return int(packed.pack(lists, self._scratch.slots, self._scratch.states, self.progress))

        self._state.follow([0], step, lambda _: "word")

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """Find what is needed; as `OpenRuns.bound`."""
        low = self.needed(events, bounds)
        if len(events.measured):
            # A window looks at the first event that it has; one at least stays.
            low = np.minimum(low, np.maximum(bounds.last, 0))
        bounds.low[:] = np.maximum(bounds.low, low)
        self._events = events

    def needed(self, events: StreamEvents, bounds: LaneBounds) -> np.ndarray:
        """The first event of each lane that an open run has; one past the last event if no run is open."""
        floor = self._floor()
        low = np.full(len(bounds.low), int(self.progress[words.EVENT]), np.int64)
        kept.first_needed(self.arena, self.n_nodes, floor, events.lanes, bounds, low)
        return low

    def _floor(self) -> np.ndarray:
        """The least stamp that later checks may still admit of each node."""
        if self._marked is None:
            self._pack()
            state, count = self._state, self.n_nodes
            lists, lanes = state.read(PackedLists), state.read(ClockedLanes)
            serial = state.read(ClockLinkArrays).serial
            floor = self._marked = np.empty(count, np.int64)
            kept.mark(self.tables, self.arena, count, lists, lanes, serial, floor)
        return self._marked

    def drop(self, dropped: Renumbering) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        assert self._events is not None
        which, lanes = dropped.open_events, self._events.lanes
        if len(lanes):
            lanes = dropped.lane_of[lanes[which]].astype(np.int32)
        following, first = np.empty(len(which), np.int64), np.full(dropped.lane_count, -1, np.int64)
        kept.linked(lanes, len(which), following, first)
        self._events = None
        state, progress, count, floor = self._state, self.progress, self.n_nodes, self._floor()
        needed = int(np.count_nonzero(floor != kept.UNREACHED))
        old, new = dropped.lanes.T
        stay = dropped.count == len(dropped.is_open) and np.array_equal(old, new)
        if stay and dropped.lane_count <= state.room("lane") and (count - needed) * FEW_NODES < count:
            return
        self._marked = None
        # Answers may still be read from the arena, and what is much larger than it has to be is given back;
        # else nodes move to its front, since fresh memory costs more than the move.
        room = 2 * needed + int(progress[packed.POOL]) + ROOM
        arena = self.arena
        if getrefcount(state.read(ClockedNodes).arena) > OWN or len(arena) > SPARE * room:
            arena = np.empty((max(room, min(len(arena), SPARE * room)), COLUMNS), np.int64)
        left = kept.kept_nodes(self.arena, count, floor, dropped.is_open, dropped.place, arena)
        kept.relinked(dropped.is_open, dropped.place, first, dropped.lanes, *state.read(ClockedLanes))
        state.keep({"lane": dropped.lane_rows, "event": dropped.event_rows}, {})
        state.read(ClockLinkArrays).following[: len(which)] = following
        # Nodes that hold the place of others are new: so the kernels number nodes, and not the state.
        lists = state.read(PackedLists)
        pool = np.empty(max(2 * int(progress[packed.POOL]), ROOM), np.int64)
        used, left = kept.kept_lists(floor, lists.where, lists.pool, pool, arena, left)
        state.replace(PackedLists, "pool", pool)
        state.replace(ClockedNodes, "arena", arena)
        progress[words.NODES], progress[packed.POOL] = left, used

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        self._pack()
        return super().arrays() | {"next": np.array([self._next])}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        super().restore(arrays)
        self._next = int(arrays["next"][0])
        self._marked = None


def _columns(constants: int) -> dict[type, dict[str, Column]]:
    """What is kept between pushes, with so many constants of checks."""
    return {
        ClockedNodes: {"arena": Column("node", width=(COLUMNS,))},
        PackedLists: {"where": Column("lane", fill=-1), "pool": Column("word")},
        ClockedLanes: {"near": Column("lane", width=(constants,), fill=-1), "last": Column("lane", fill=-1)},
        ClockLinkArrays: {"serial": Column("event"), "following": Column("event", fill=-1)},
        Roots: {"first": Column("end", fill=0), "label": Column("root", np.int32), "node": Column("root")},
        StreamEnds: dict.fromkeys(StreamEnds._fields, Column("end")),
    }

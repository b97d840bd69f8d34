"""The persistent structure of an automaton with one clock, and the complex events that it holds.

The algorithm of Theorem 6.1 of the timed CEL paper ("Complex event recognition under time constraints"), for
deterministic monotonic automata with one clock. `cer_gpu.kernels.clocked.contract` says what a node is.

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

from collections.abc import Iterable, Iterator
from sys import getrefcount
from typing import NamedTuple

import numpy as np

from cer_gpu.enumeration.blocks import BULK_COUNT, ranges
from cer_gpu.enumeration.structure import Structure, doubled, empty_roots
from cer_gpu.enumeration.timed_ordered import SpanEvents, timed_ordered_blocks
from cer_gpu.kernels.arena.contract import DONE, HIT_TOO_LARGE, MISMATCH
from cer_gpu.kernels.clocked import cpu_counts as numbers
from cer_gpu.kernels.clocked import cpu_kept as kept
from cer_gpu.kernels.clocked import cpu_stream as kernels
from cer_gpu.kernels.clocked import cpu_walk as walks
from cer_gpu.kernels.clocked.contract import (
    COLUMNS,
    LEFT,
    NO_CHECK,
    RIGHT,
    ClockedEvents,
    ClockedLanes,
    ClockTables,
)
from cer_gpu.kernels.clocked.cpu_nodes import SPINE
from cer_gpu.kernels.forest import cpu_nodes as words
from cer_gpu.kernels.forest import cpu_stream as packed
from cer_gpu.kernels.forest.contract import (
    Block,
    BulkScratch,
    CountedHits,
    ForestNodes,
    Roots,
    SortScratch,
    Unsorted,
    WalkStack,
)
from cer_gpu.kernels.forest.cpu_stream import PackedLists
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEnds, StreamEvents, StreamWindow

ROOM = 1 << 10
"""Room for nodes at first."""

SPARE = 16
"""What is kept has as much room as there was, but not so many times what it may take."""

UNSHARED = 2
"""`sys.getrefcount` of an array that nobody else holds: its owner, and the argument of the call."""

FEW_NODES = 64
"""If less than this share of the nodes can be dropped, and no event, it is not worth a copy of the others."""

STACK = 1 << 12
"""Room for the nodes that a walk still has to visit, at first."""

MOST_SORTED = 1 << 23
"""An end with more complex events has them found one by one."""


class Ending(NamedTuple):
    """The complex events that end at some events.

    Attributes
    ----------
    roots : Roots
    ends : StreamEnds
        `latest` is an upper bound of the latest start, and exact where the structure is `exact`.
    """

    roots: Roots
    ends: StreamEnds


class TimedStructure:
    """The runs of an automaton with one clock, followed from event to event.

    Parameters
    ----------
    tables : ClockTables
    constants : ndarray, shape (constants,), uint64 or float64
        The constants of the checks, in the unit of the times.
    windowed : bool
        Whether a window bounds starts.

    Attributes
    ----------
    arena : ndarray, shape (capacity, COLUMNS), int64
    lanes : ClockedLanes
    lists : PackedLists
    exact : bool
        Whether the latest start of a node is always that of a run that passes its checks.
    """

    def __init__(self, tables: ClockTables, constants: np.ndarray, windowed: bool) -> None:
        self.tables = tables
        self.constants = constants
        self.exact = tables.exact
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
        self.progress[words.NODES] = 1
        self.arena = np.empty((ROOM, COLUMNS), np.int64)
        kept.write_dead(self.arena, 0, NO_CHECK - 1)
        self.lists = PackedLists(np.full(1, -1, np.int64), np.empty(64, np.int64))
        self.lanes = _lanes(1, len(constants))
        self._widest = int(np.diff(tables.first).max(initial=0))
        self._marked: np.ndarray | None = None
        """What `_floor` has found, until events follow."""
        self._out = kernels.ClockedEnds(empty_roots(0, 0), StreamEnds(*np.empty((3, 0), np.int64)))

    def follow(
        self,
        events: StreamEvents,
        clocked: ClockedEvents,
        stops: Iterable[int],
        new: int,
        window: StreamWindow,
        bounds: LaneBounds,
    ) -> Ending:
        """Follow the runs over further events.

        Parameters
        ----------
        events : StreamEvents
        clocked : ClockedEvents
        stops : iterable of int
            Where to pause; the last one is one past the last event.
        new : int
            How many events there are to follow.
        window : StreamWindow
        bounds : LaneBounds
        """
        self._make_room(len(bounds.low), new)
        self._marked = None
        progress = self.progress
        progress[words.ROOTS] = progress[words.HIT] = 0
        for stop in stops:
            while True:
                status = kernels.follow(
                    self.tables, events, clocked, stop, window, bounds, self.lanes, self.lists, self.arena,
                    self._out, self._scratch, progress,
                )  # fmt: skip
                if status == kernels.DONE:
                    break
                self._enlarge(status)
        found, used = int(progress[words.HIT]), int(progress[words.ROOTS])
        first, label, node = self._out.roots
        roots = Roots(first[: found + 1].copy(), label[:used].copy(), node[:used].copy())
        return Ending(roots, StreamEnds(*(each[:found].copy() for each in self._out.ends)))

    def _make_room(self, lanes: int, events: int) -> None:
        if lanes > len(self.lists.where):
            more = max(lanes, 2 * len(self.lists.where))
            where = np.full(more, -1, np.int64)
            where[: len(self.lists.where)] = self.lists.where
            self.lists = self.lists._replace(where=where)
            old, self.lanes = self.lanes, _lanes(more, len(self.constants))
            self.lanes.near[: len(old.last)] = old.near
            self.lanes.last[: len(old.last)] = old.last
        if events > len(self._out.ends.event):
            self._out = kernels.ClockedEnds(
                empty_roots(events, events + self._widest), StreamEnds(*np.empty((3, events), np.int64))
            )

    def _enlarge(self, status: int) -> None:
        if status == kernels.ARENA_FULL:
            self.arena = doubled(self.arena)
        elif status == kernels.POOL_FULL:
            self.lists = self.lists._replace(pool=doubled(self.lists.pool))
        elif status == kernels.STACK_FULL:
            shape = 2, 2 * self._scratch.stack.shape[1]
            self._scratch = self._scratch._replace(stack=np.empty(shape, np.int64))
        else:
            first, label, node = self._out.roots
            self._out = self._out._replace(roots=Roots(first, doubled(label), doubled(node)))

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return int(self.progress[words.NODES])

    @property
    def nbytes(self) -> int:
        """Bytes that the structure takes."""
        lists = 8 * int(self.progress[packed.POOL])
        return 8 * COLUMNS * self.n_nodes + lists + self.lanes.near.nbytes + self.lanes.last.nbytes

    def pack(self) -> None:
        """Pack the lists of the lane that was followed last, as those of all others are."""
        while True:
            status = packed.pack(self.lists, self._scratch.slots, self._scratch.states, self.progress)
            if status == kernels.DONE:
                return
            self._enlarge(kernels.POOL_FULL)

    def union_lists(self) -> dict[tuple[int, int], list[int]]:
        """The nodes of each list, by lane and state."""
        self.pack()
        found = {}
        pool = self.lists.pool
        for lane, at in enumerate(self.lists.where.tolist()):
            start = at + 2
            for _ in range(pool[at + 1] if at >= 0 else 0):
                state, length = pool[start : start + 2].tolist()
                found[lane, state] = pool[start + 3 : start + 3 + length].tolist()
                start += 3 + length
        return found

    def needed(self, events: StreamEvents, clocked: ClockedEvents, bounds: LaneBounds) -> np.ndarray:
        """The first event of each lane that an open run has; one past the last event if no run is open."""
        floor = self._floor(clocked)
        low = np.full(len(bounds.low), int(self.progress[words.EVENT]), np.int64)
        kept.first_needed(self.arena, self.n_nodes, floor, events.lanes, bounds, low)
        return low

    def _floor(self, clocked: ClockedEvents) -> np.ndarray:
        if self._marked is None:
            self.pack()
            floor = self._marked = np.empty(self.n_nodes, np.int64)
            kept.mark(self.tables, self.arena, self.n_nodes, self.lists, self.lanes, clocked.serial, floor)
        return self._marked

    def keep(
        self,
        clocked: ClockedEvents,
        is_open: np.ndarray,
        place: np.ndarray,
        lanes: np.ndarray,
        first: np.ndarray,
    ) -> None:
        """Forget the runs of events that are no longer open, and renumber the others.

        Parameters
        ----------
        clocked : ClockedEvents
            The events before they are dropped.
        is_open, place : ndarray, shape (events,)
            As in `Dropped`.
        lanes : ndarray, shape (k, 2), int64
            The old and the new number of each lane that is kept.
        first : ndarray, shape (new lanes,), int64
            The first event that is kept of each lane, by its new number; -1 for none.
        """
        count, floor, progress = self.n_nodes, self._floor(clocked), self.progress
        old, new = lanes.T
        needed = int(np.count_nonzero(floor != kept.UNREACHED))
        stay = len(first) <= len(self.lists.where) and is_open.all() and np.array_equal(old, new)
        if stay and (count - needed) * FEW_NODES < count:
            return
        self._marked = None
        where = np.full(len(first), -1, np.int64)
        where[new] = self.lists.where[old]
        # Answers may still be read from the arena, and what is much larger than it has to be is given back;
        # else nodes move to its front, since fresh memory costs more than the move.
        room = 2 * needed + int(progress[packed.POOL]) + ROOM
        arena = self.arena
        if getrefcount(self.arena) > UNSHARED + 1 or len(arena) > SPARE * room:
            arena = np.empty((max(room, min(len(arena), SPARE * room)), COLUMNS), np.int64)
        left = kept.kept_nodes(self.arena, count, floor, is_open, place, arena)
        pool = np.empty(int(progress[packed.POOL]), np.int64)
        used, left = kept.kept_lists(floor, where, self.lists.pool, pool, arena, left)
        self.arena = arena
        self.lists = PackedLists(where, _room_for(pool[:used], 64))
        progress[words.NODES], progress[packed.POOL] = left, used
        progress[words.EVENT] = int(np.count_nonzero(is_open))
        kept.relinked(is_open, place, first, lanes, self.lanes.near, self.lanes.last)
        moved = _lanes(len(first), len(self.constants))
        moved.near[new], moved.last[new] = self.lanes.near[old], self.lanes.last[old]
        self.lanes = moved

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        self.pack()
        return {
            "arena": self.arena[: self.n_nodes],
            "where": self.lists.where,
            "pool": self.lists.pool[: self.progress[packed.POOL]],
            "event": self.progress[words.EVENT : words.EVENT + 1],
            "near": self.lanes.near,
            "last": self.lanes.last,
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        arena, pool = arrays["arena"], arrays["pool"]
        self._marked = None
        self.arena = _room_for(arena, ROOM)
        self.lists = PackedLists(arrays["where"].copy(), _room_for(pool, 64))
        self.lanes = ClockedLanes(arrays["near"].copy(), arrays["last"].copy())
        self.progress[words.NODES], self.progress[packed.POOL] = len(arena), len(pool)
        self.progress[words.EVENT] = arrays["event"][0]


class TimedAnswers(Structure):
    """The complex events at some ends, in the structure of an automaton with one clock as it was then.

    Parameters
    ----------
    tables : ClockTables
    arena : ndarray, shape (capacity, COLUMNS), int64
        Nodes that are added later change nothing.
    ending : Ending
        The ends.
    events : SpanEvents
        The events that the complex events consist of.
    """

    fill = staticmethod(walks.fill)

    def __init__(self, tables: ClockTables, arena: np.ndarray, ending: Ending, events: SpanEvents) -> None:
        self.clocked = tables
        self.arena = arena
        self.roots = ending.roots
        self.symbols = events.symbols
        self.n_nodes = len(arena)
        self._events = events
        self._ending = ending
        ends, counts = ending.ends, counted(arena, ending)
        self.hits = CountedHits(np.array([0, len(ends.event)], np.int64), ends.event, ends.lowest, counts)

    def ordered(self, hit: int, limit: int | None, size: int) -> Iterator[Block]:
        """The complex events of one end that has many, in canonical order; as `Structure.ordered`.

        If memory allows it, they are found and sorted at once; otherwise they are found one by one.
        """
        if limit is None or limit > BULK_COUNT:
            # All are walked through anyway: a table of what each node stands for takes far longer.
            number = counted(self.arena, some_ends(self._ending, np.array([hit])), MOST_SORTED)[0]
            if number <= MOST_SORTED:
                yield from self._sorted(hit, int(number), limit, size)
                return
        lowest, end = int(self.hits.lowest[hit]), int(self.hits.event[hit])
        span = self._events.span(lowest, end, self.clocked.sense)
        yield from timed_ordered_blocks(self.clocked, span, hit, limit, size)

    def _sorted(self, hit: int, number: int, limit: int | None, size: int) -> Iterator[Block]:
        """The `number` complex events of one end, found and sorted at once."""
        counts = np.full(hit + 1, number, np.int64)
        wanted = number if limit is None else min(number, limit)
        order, stack, marks = np.array([hit], np.int64), 1 << 16, 4 * number
        status = HIT_TOO_LARGE
        while status != DONE:
            found = Unsorted(
                *(np.empty(number, np.int32) for _ in range(3)),
                *(np.empty(marks, np.int32) for _ in range(2)),
            )
            pending, path = np.empty((3, stack), np.int64), np.empty((2, stack), np.int64)
            sorting = SortScratch(*np.empty((2, number), np.int32), np.zeros(256, np.int64))
            block = Block(
                *np.empty((2, wanted), np.int64), np.empty(wanted + 1, np.int64), np.empty(marks, np.int64),
                np.empty(marks, np.int32),
            )  # fmt: skip
            progress = np.zeros(3, np.int64)
            status = walks.fill(
                ForestNodes(self.arena, self.roots), self.hits._replace(counts=counts), order, wanted,
                BulkScratch(found, WalkStack(pending, path), sorting), block, progress,
            )  # fmt: skip
            if status == MISMATCH:
                raise self.mismatch(hit)
            marks, stack = 2 * marks, 2 * stack
        n_marks = int(progress[2])
        yield from _shares(block._replace(event=block.event[:n_marks], label=block.label[:n_marks]), size)


def counted(arena: np.ndarray, ending: Ending, most: int = BULK_COUNT) -> np.ndarray:
    """Count the complex events of each end, up to `most`: `most` + 1 stands for more; shape (ends,)."""
    counts, stack = np.empty(len(ending.ends.event), np.int64), STACK
    while True:
        walks.count_up_to(
            arena, ending.roots, ending.ends.lowest, most, counts, np.empty((2, stack), np.int64)
        )
        if (counts >= 0).all():
            return counts
        stack *= 4


def _shares(block: Block, size: int) -> Iterator[Block]:
    for low in range(0, len(block.start), size):
        yield block.part(low, min(low + size, len(block.start)))


def exact_counts(arena: np.ndarray, ending: Ending) -> np.ndarray:
    """How many complex events each end has: shape (ends,), int64, or object past 2^62."""
    counts: np.ndarray = np.empty(len(ending.ends.event), np.int64)
    progress, table, stack = np.zeros(1, np.int64), _table(1 << 10), np.empty((64, numbers.FRAME), np.int64)
    while True:
        status = numbers.count_exactly(
            arena, ending.roots, ending.ends.lowest, counts, table, stack, progress
        )
        if status == numbers.DONE:
            return counts
        if status == numbers.STACK_FULL:
            stack = np.empty((8 * len(stack), numbers.FRAME), np.int64)
        elif status == numbers.TABLE_FULL:
            table = _table(4 * len(table))
        else:
            counts = counts.astype(object)
            for end in range(int(progress[0]), len(counts)):
                counts[end] = _counted_without_bound(arena, ending, end)
            return counts
        table[:, numbers.END] = -1


def _table(room: int) -> np.ndarray:
    table = np.empty((room, numbers.FIELDS), np.int64)
    table[:, numbers.END] = -1
    return table


def _counted_without_bound(arena: np.ndarray, ending: Ending, end: int) -> int:
    """How many complex events an end has, however many."""
    lowest = int(ending.ends.lowest[end])
    known: dict[tuple[int, int], int] = {}

    def below(node: int, least: int) -> tuple[int, int]:
        union, floor = numbers.union_below(arena, node, least, lowest)
        return int(union), int(floor)

    def value(at: tuple[int, int]) -> int | None:
        return {-1: 0, -2: 1}[at[0]] if at[0] < 0 else known.get(at)

    total = 0
    for root in range(ending.roots.first[end], ending.roots.first[end + 1]):
        top = below(int(ending.roots.node[root]), NO_CHECK)
        pending = [top] if value(top) is None else []
        while pending:
            node, least = pending[-1]
            children = [below(int(arena[node, side]), least) for side in (LEFT, RIGHT)]
            found = [(child, value(child)) for child in children]
            unknown = [child for child, number in found if number is None]
            if unknown:
                pending += unknown
                continue
            known[node, least] = sum(number for _, number in found if number is not None)
            pending.pop()
        total += value(top) or 0
    return total


def latest_starts(arena: np.ndarray, ending: Ending) -> np.ndarray:
    """The latest start of the complex events of each end, shape (ends,), int64."""
    found, stack = np.empty(len(ending.ends.event), np.int64), STACK
    while True:
        scratch = np.empty((2, stack), np.int64)
        walks.latest_starts(arena, ending.roots, ending.ends.lowest, found, scratch)
        if (found > -2).all():
            return found
        stack *= 4


def some_ends(ending: Ending, which: np.ndarray) -> Ending:
    """Some of the ends, by their numbers."""
    first, label, node = ending.roots
    length = np.diff(first)[which]
    chosen = ranges(first[which], length)
    roots = Roots(np.append(0, np.cumsum(length)), label[chosen], node[chosen])
    return Ending(roots, StreamEnds(*(each[which] for each in ending.ends)))


def _lanes(count: int, constants: int) -> ClockedLanes:
    return ClockedLanes(np.full((count, constants), -1, np.int64), np.full(count, -1, np.int64))


def _room_for(array: np.ndarray, least: int) -> np.ndarray:
    room = np.empty((max(2 * len(array), least), *array.shape[1:]), array.dtype)
    room[: len(array)] = array
    return room

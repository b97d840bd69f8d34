"""The automaton on a stream: its open runs and their persistent structure, kept from push to push."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.found import Answers
from cer_gpu.engine.machines.open_runs import CONSUMES, Dropped, Following, Pushed
from cer_gpu.engine.machines.open_spans import OpenEnds
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import FEW, Workers
from cer_gpu.enumeration.blocks import BULK_COUNT, ranges
from cer_gpu.enumeration.ordered import ordered_blocks
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.forest import cpu_nodes as nodes
from cer_gpu.kernels.forest import cpu_stream as kernels
from cer_gpu.kernels.forest.contract import BOTTOM, Block, CountedHits, Roots
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEnds, StreamEvents, StreamWindow

STACK = 1 << 12
"""Room for the nodes that a walk still has to visit, at first."""

ROOM = 1 << 10
"""Room for nodes at first."""


class AutomatonRuns:
    """The open runs of a deterministic complex event automaton; `OpenRuns`.

    The steps that an event costs depend only on the query, however much is open.

    Parameters
    ----------
    tables : TransitionTables
    consume : {"NONE", "ANY", "PARTITION"}
    choose : callable, optional
        Gives what a strategy leaves at some ends; None: all complex events.
    """

    def __init__(
        self, tables: TransitionTables, consume: str, choose: Callable[[OpenEnds], Answers] | None = None
    ) -> None:
        self._tables = tables
        self._choose = choose
        self._consumes = CONSUMES[consume]
        n_slots = 2 * tables.n_live + 2
        self._slots = np.zeros((n_slots, nodes.ITEM + tables.n_live + 2), np.int64)
        self._states = np.zeros((nodes.ROWS, n_slots), np.int64)
        self._progress = np.zeros(kernels.STREAM_WORDS, np.int64)
        self._progress[kernels.LANE] = -1
        self._progress[nodes.NODES] = 1
        self._arena = np.empty((ROOM, 4), np.int64)
        self._arena[0] = BOTTOM, -1, -1, -1
        self._lists = kernels.PackedLists(np.full(1, -1, np.int64), np.empty(64, np.int64))
        self._widest = int(np.diff(tables.first).max(initial=0))
        self._ends = StreamEnds(*(np.empty(0, np.int64) for _ in range(3)))
        self._roots = _roots(0, 0)

    def push(self, following: Following) -> Callable[[Relevant], Pushed] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress, bounds = self._progress, following.bounds
        if len(bounds.low) > len(self._lists.where):
            self._lists = self._lists._replace(where=grown(self._lists.where, len(bounds.low), -1))
        new = following.stop - following.first
        if new > len(self._ends.event):
            self._ends = StreamEnds(*(np.empty(new, np.int64) for _ in range(3)))
            self._roots = _roots(new, new + self._widest)
        progress[nodes.ROOTS] = progress[nodes.HIT] = 0
        window = StreamWindow(following.size, self._consumes)
        for stop in following.stops():
            while True:
                status = kernels.follow(
                    self._tables, following.events, stop, window, bounds,
                    self._lists, self._arena, self._roots, self._ends, self._slots, self._states, progress,
                )  # fmt: skip
                if status == kernels.DONE:
                    break
                if status == kernels.ARENA_FULL:
                    self._arena = longer(self._arena)
                elif status == kernels.POOL_FULL:
                    self._lists = self._lists._replace(pool=longer(self._lists.pool))
                else:
                    first, label, node = self._roots
                    self._roots = Roots(first, longer(label), longer(node))
        found, used = int(progress[nodes.HIT]), int(progress[nodes.ROOTS])
        if not found:
            return None
        first, label, node = self._roots
        roots = Roots(first[: found + 1].copy(), label[:used].copy(), node[:used].copy())
        ends = StreamEnds(*(each[:found].copy() for each in self._ends))
        tables, arena, choose = self._tables, self._arena, self._choose

        def pushed(seen: Relevant) -> Pushed:
            every = Ends(ends.event, seen.positions[ends.latest], ends.lowest)

            def answers(some: Ends) -> Answers:
                if choose is not None:
                    return choose(OpenEnds(seen, some))
                own = some_roots(roots, np.searchsorted(ends.event, some.event))
                return OpenAnswers(tables, arena, own, some.event, some.lowest, seen)

            return Pushed(seen, every, answers)

        return pushed

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`: the window and what is consumed bound each lane already."""

    def drop(self, dropped: Dropped) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        self._pack()
        progress, lists = self._progress, self._lists
        count = int(progress[nodes.NODES])
        arena, place_of = np.empty((count, 4), np.int64), np.empty(count, np.int64)
        left = int(kernels.kept_nodes(self._arena, count, dropped.is_open, dropped.place, place_of, arena))
        self._arena = room_for(arena[:left])
        progress[nodes.NODES] = left
        old, new = dropped.lanes.T
        where = np.full(dropped.lane_count, -1, np.int64)
        where[new] = lists.where[old]
        pool = np.empty(int(progress[kernels.POOL]), np.int64)
        used = int(kernels.kept_lists(where, lists.pool, place_of, pool))
        self._lists = kernels.PackedLists(where, room_for(pool[:used]))
        progress[kernels.POOL] = used
        progress[nodes.EVENT] = dropped.count

    @property
    def nbytes(self) -> int:
        """Bytes that the structure takes."""
        return 32 * int(self._progress[nodes.NODES]) + 8 * int(self._progress[kernels.POOL])

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        self._pack()
        progress, lists = self._progress, self._lists
        return {
            "arena": self._arena[: progress[nodes.NODES]],
            "where": lists.where,
            "pool": lists.pool[: progress[kernels.POOL]],
            "event": progress[nodes.EVENT : nodes.EVENT + 1],
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        arena, pool = arrays["arena"], arrays["pool"]
        self._arena = room_for(arena)
        self._lists = kernels.PackedLists(arrays["where"].copy(), room_for(pool))
        self._progress[nodes.NODES] = len(arena)
        self._progress[kernels.POOL] = len(pool)
        self._progress[nodes.EVENT] = arrays["event"][0]

    def _pack(self) -> None:
        """Pack the lists of the lane that was followed last, as those of all others are."""
        while kernels.pack(self._lists, self._slots, self._states, self._progress) != kernels.DONE:
            self._lists = self._lists._replace(pool=longer(self._lists.pool))


class OpenAnswers(Structure):
    """The complex events at some ends of a push, in the structure of the stream as it was then.

    Parameters
    ----------
    tables : TransitionTables
    arena : ndarray, shape (capacity, 4), int64
        Nodes that are added later change nothing.
    roots : Roots
        Of the ends.
    event, lowest : ndarray, shape (ends,), int64
        The event of each end, and the least `LATEST` that it admits.
    seen : Relevant
        All events up to the push.
    """

    def __init__(
        self,
        tables: TransitionTables,
        arena: np.ndarray,
        roots: Roots,
        event: np.ndarray,
        lowest: np.ndarray,
        seen: Relevant,
    ) -> None:
        super().__init__(tables)
        self.arena = arena
        self.symbols = seen.symbols
        self.roots = roots
        self._lanes = seen.lanes
        counts = np.empty(len(event), np.int64)

        def count(low: int) -> None:
            own = slice(low, low + FEW)
            first = roots.first[low : low + FEW + 1]
            kernels.count_up_to(
                arena, roots._replace(first=first), lowest[own], BULK_COUNT, counts[own],
                np.empty(STACK, np.int64),
            )  # fmt: skip

        Workers().map("counting", count, range(0, len(event), FEW), len(event))
        # More than are found and sorted at once, or too many to walk: these are found in order.
        counts[counts < 0] = BULK_COUNT + 1
        self.hits = CountedHits(np.array([0, len(event)], np.int64), event, lowest, counts)

    def ordered(self, hit: int, limit: int | None, size: int) -> Iterator[Block]:
        """The complex events of one end, found one by one in canonical order; as `Structure.ordered`."""
        if not len(self._lanes):
            yield from super().ordered(hit, limit, size)
            return
        lowest, end = int(self.hits.lowest[hit]), int(self.hits.event[hit])
        own = np.flatnonzero(self._lanes[lowest : end + 1] == self._lanes[end]) + lowest
        symbols = self.symbols[own]
        for block in ordered_blocks(self.tables, symbols, hit, 0, len(own) - 1, limit=limit, size=size):
            yield block._replace(start=own[block.start], event=own[block.event])


def some_roots(roots: Roots, which: np.ndarray) -> Roots:
    """The roots of some hits."""
    length = np.diff(roots.first)[which]
    chosen = ranges(roots.first[which], length)
    return Roots(np.append(0, np.cumsum(length)), roots.label[chosen], roots.node[chosen])


def _roots(ends: int, room: int) -> Roots:
    return Roots(np.zeros(ends + 1, np.int64), np.empty(room, np.int32), np.empty(room, np.int64))


def longer(array: np.ndarray) -> np.ndarray:
    """A copy with twice the room."""
    return room_for(array)


def room_for(array: np.ndarray, least: int = 64) -> np.ndarray:
    """A copy with room for twice as many entries."""
    room = np.empty((max(2 * len(array), least), *array.shape[1:]), array.dtype)
    room[: len(array)] = array
    return room

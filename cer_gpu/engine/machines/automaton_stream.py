"""The automaton on a stream: its open runs and their persistent structure, kept from push to push."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import CONSUMES, FollowedEvents, KeptRuns, PushResult, Renumbering
from cer_gpu.engine.machines.open_spans import OpenEnds
from cer_gpu.engine.machines.open_state import AxisRows, Column, OpenState, in_order, numbered
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import FEW, Workers
from cer_gpu.enumeration.blocks import BULK_COUNT, ranges
from cer_gpu.enumeration.ordered_enumeration import ordered_blocks
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.forest import cpu_nodes as nodes
from cer_gpu.kernels.forest import cpu_stream as kernels
from cer_gpu.kernels.forest.contract import BOTTOM, LABEL, LATEST, RIGHT, UNION, Block, CountedHits, Roots
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.streams.contract import StreamEnds, StreamWindow

STACK = 1 << 12
"""Room for the nodes that a walk still has to visit, at first."""

LEAST = 1 << 6
"""The least room for the words of lists."""

FULL = {kernels.ARENA_FULL: "node", kernels.ROOTS_FULL: "root", kernels.POOL_FULL: "word"}
"""The axis of the state that a status of the kernel says is full."""


class StreamNodes(NamedTuple):
    """`arena` int64 [capacity, 4]: the nodes of a stream."""

    arena: np.ndarray


ROOTED: dict[type, dict[str, Column]] = {
    Roots: {
        "first": Column("end", fill=0),
        "label": Column("root", np.int32),
        "node": Column("root", of="node"),
    },
    StreamEnds: dict.fromkeys(StreamEnds._fields, Column("end")),
}
"""What is found in a push."""

KEPT: dict[type, dict[str, Column]] = {
    StreamNodes: {"arena": Column("node", width=(4,), of=(None, "node", None, "event"))},
    kernels.PackedLists: {"where": Column("lane", fill=-1), "pool": Column("word")},
    **ROOTED,
}
"""What is kept between pushes."""


class AutomatonRuns(KeptRuns):
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
        words = {"node": nodes.NODES, "word": kernels.POOL, "root": nodes.ROOTS}
        self._state = OpenState(self._progress, words, KEPT)
        self._progress[nodes.NODES] = 1
        self._state.read(StreamNodes).arena[0] = BOTTOM, -1, -1, -1

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress, state = self._progress, self._state
        state.reach("lane", len(following.bounds.low))
        state.reach("end", following.stop - following.first + 1)
        progress[nodes.ROOTS] = progress[nodes.HIT] = 0
        window = StreamWindow(following.size, self._consumes)

        def step(stop: int) -> int:
            return int(
                kernels.follow(
                    self._tables, following.events, stop, window, following.bounds,
                    state.read(kernels.PackedLists), state.read(StreamNodes).arena, state.read(Roots),
                    state.read(StreamEnds), self._slots, self._states, progress,
                )
            )  # fmt: skip

        state.follow(following.stops(), step, FULL.__getitem__)
        if not progress[nodes.HIT]:
            return None
        ends, roots = found_ends(state, int(progress[nodes.HIT]))
        tables, arena, choose = self._tables, state.read(StreamNodes).arena, self._choose

        def pushed(seen: EventArrays) -> PushResult:
            every = Ends(ends.event, seen.positions[ends.latest], ends.lowest)

            def answers(some: Ends) -> Answers:
                if choose is not None:
                    return choose(OpenEnds(seen, some))
                own = some_roots(roots, np.searchsorted(ends.event, some.event))
                return OpenAnswers(tables, arena, own, some.event, some.lowest, seen)

            return PushResult(seen, every, answers)

        return pushed

    def drop(self, dropped: Renumbering) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        self._pack()
        state, progress = self._state, self._progress
        is_open = dropped.is_open.view(bool)[state.array(StreamNodes, "arena")[:, LATEST]]
        is_open[0] = True
        which = np.flatnonzero(is_open)
        node_of = numbered(which, len(is_open))
        node_of[:-1][~is_open] = 0
        keep_nodes(
            state, StreamNodes, {"node": in_order(which), "lane": dropped.lane_rows},
            {"node": node_of, "event": dropped.event_of},
        )  # fmt: skip
        lists = state.read(kernels.PackedLists)
        pool = np.empty(max(int(progress[kernels.POOL]), LEAST), np.int64)
        progress[kernels.POOL] = kernels.kept_lists(lists.where, lists.pool, node_of, pool)
        state.replace(kernels.PackedLists, "pool", pool)
        progress[nodes.EVENT] = dropped.count

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        self._pack()
        return super().arrays()

    def _pack(self) -> None:
        """Pack the lists of the lane that was followed last, as those of all others are."""

        def step(_: int) -> int:
            lists = self._state.read(kernels.PackedLists)
            return int(kernels.pack(lists, self._slots, self._states, self._progress))

        self._state.follow([0], step, FULL.__getitem__)


def keep_nodes(state: OpenState, kind: type, kept: dict[str, AxisRows], maps: dict[str, np.ndarray]) -> None:
    """Keep some nodes, as `OpenState.keep`: the right of a node is an event, or a node below a union."""
    arena, old = state.array(kind, "arena"), kept["node"].old
    union, right = arena[:, LABEL][old] == UNION, arena[:, RIGHT][old]
    below = maps["node"][np.where(union, right, -1)]
    events = maps["event"][np.where(union, -1, right)] if "event" in maps else right
    moved = np.where(union, below, events)
    state.keep(kept, maps)
    state.array(kind, "arena")[:, RIGHT] = moved


def found_ends(state: OpenState, found: int) -> tuple[StreamEnds, Roots]:
    """The ends of a push, so many, and their roots."""
    first = state.read(Roots).first[: found + 1].copy()
    ends = StreamEnds(*(each[:found].copy() for each in state.read(StreamEnds)))
    return ends, Roots(first, *(state.array(Roots, name).copy() for name in ("label", "node")))


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
    seen : EventArrays
        All events up to the push.
    """

    def __init__(
        self,
        tables: TransitionTables,
        arena: np.ndarray,
        roots: Roots,
        event: np.ndarray,
        lowest: np.ndarray,
        seen: EventArrays,
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

"""The automaton on a stream whose window is over an attribute that may fall: heaps, kept between pushes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cer_gpu.engine.machines.automaton_stream import OpenAnswers, longer, room_for, some_roots
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.found import Answers
from cer_gpu.engine.machines.open_runs import CONSUMES, Dropped, Following, Pushed
from cer_gpu.engine.machines.open_spans import OpenEnds
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import grown
from cer_gpu.enumeration.ordered import ordered_blocks
from cer_gpu.enumeration.structure import empty_roots
from cer_gpu.kernels.forest import cpu_keyed as kernels
from cer_gpu.kernels.forest import cpu_ranked as ranked
from cer_gpu.kernels.forest.contract import BOTTOM, Block, Roots
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEnds, StreamEvents

ROOM = 1 << 11
"""Room for nodes at first."""


class KeyedRuns:
    """The open runs of an automaton where an end admits the starts of the greatest keys; `OpenRuns`.

    For each transition of its symbol an event costs O(log n) steps, where n is the number of open runs. A run
    is kept as long as it is in some state: however small its key, a later end's key may be as small.

    Parameters
    ----------
    tables : TransitionTables
        With barred symbols.
    consume : {"NONE", "ANY", "PARTITION"}
    choose : callable or None
        Gives what a strategy leaves at some ends; None: all complex events.
    """

    def __init__(
        self, tables: TransitionTables, consume: str, choose: Callable[[OpenEnds], Answers] | None
    ) -> None:
        self._tables = tables
        self._consumes = CONSUMES[consume]
        self._choose = choose
        self._progress = np.zeros(ranked.WORDS, np.int64)
        self._progress[ranked.NODES] = 1
        self._nodes = kernels.KeyedNodes(
            np.empty((ROOM, 4), np.int64), np.empty(ROOM, np.int64), np.full((1, tables.n_live), -1, np.int64)
        )
        self._nodes.arena[0] = BOTTOM, -1, -1, kernels.LEAST
        self._scratch = ranked.HeapScratch(
            np.empty((2, tables.n_live), np.int64), np.empty((2, ranked.STEPS), np.int64)
        )
        self._widest = int(np.diff(tables.first).max(initial=0))
        self._new, self._ends, self._roots = self._room(0)

    def push(self, following: Following) -> Callable[[Relevant], Pushed] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress, bounds, first, stop = self._progress, following.bounds, following.first, following.stop
        if len(bounds.low) > len(self._nodes.heaps):
            self._nodes = self._nodes._replace(heaps=grown(self._nodes.heaps, len(bounds.low), -1))
        if stop - first > self._new:
            self._new, self._ends, self._roots = self._room(stop - first)
        numbers = key_numbers(following.events.measured, first, stop, following.size)
        progress[ranked.ROOTS] = progress[ranked.HIT] = 0
        for until in following.stops():
            while True:
                status = kernels.follow(
                    self._tables, following.events, (first, until), numbers, self._consumes, bounds,
                    self._nodes, self._roots, self._ends, self._scratch, progress,
                )  # fmt: skip
                if status == kernels.DONE:
                    break
                if status == kernels.ARENA_FULL:
                    self._keep_reached(self._reached(), np.empty(0, np.int64))
                else:
                    self._roots = Roots(
                        self._roots.first, longer(self._roots.label), longer(self._roots.node)
                    )
        found, used = int(progress[ranked.HIT]), int(progress[ranked.ROOTS])
        if not found:
            return None
        ends = StreamEnds(*(each[:found].copy() for each in self._ends))
        # The latest start that an end admits is not known: nothing asks a stream for it.
        every = Ends(ends.event, np.full(found, -1), ends.lowest)
        size = following.size
        if self._choose is not None:
            choose = self._choose
            return lambda seen: Pushed(seen, every, lambda some: choose(OpenEnds(seen, some, size)))
        first_of, label, node = self._roots
        roots = Roots(first_of[: found + 1].copy(), label[:used].copy(), node[:used].copy())
        tables, arena = self._tables, self._nodes.arena

        def pushed(seen: Relevant) -> Pushed:
            def answers(some: Ends) -> KeyedAnswers:
                which = np.searchsorted(ends.event, some.event)
                own = OpenEnds(seen, some, size)
                return KeyedAnswers(tables, arena, some_roots(roots, which), own, ends.latest[which])

            return Pushed(seen, every, answers)

        return pushed

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """Find what is needed; as `OpenRuns.bound`."""
        count = int(self._progress[ranked.NODES])
        self._progress[ranked.ROOTS] = 0
        kernels.first_needed(events, self._nodes, count, self._reached(), bounds)

    def drop(self, dropped: Dropped) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        heaps = np.full((dropped.lane_count, self._tables.n_live), -1, np.int64)
        old, new = dropped.lanes.T
        there = old < len(self._nodes.heaps)
        heaps[new[there]] = self._nodes.heaps[old[there]]
        self._nodes = self._nodes._replace(heaps=heaps)
        self._progress[ranked.ROOTS] = 0
        self._keep_reached(self._reached(), dropped.place)
        self._progress[ranked.EVENT] = dropped.count

    @property
    def nbytes(self) -> int:
        """Bytes that the structure takes."""
        return 40 * int(self._progress[ranked.NODES]) + self._nodes.heaps.nbytes

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        count = self._progress[ranked.NODES]
        return {
            "arena": self._nodes.arena[:count],
            "distance": self._nodes.distance[:count],
            "heaps": self._nodes.heaps,
            "event": self._progress[ranked.EVENT : ranked.EVENT + 1],
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        count = len(arrays["arena"])
        self._nodes = kernels.KeyedNodes(
            room_for(arrays["arena"], ROOM), room_for(arrays["distance"], ROOM), arrays["heaps"].copy()
        )
        self._progress[ranked.NODES] = count
        self._progress[ranked.EVENT] = arrays["event"][0]

    def _room(self, new: int) -> tuple[int, StreamEnds, Roots]:
        """The number of new events, and arrays for what they need."""
        ends = StreamEnds(*(np.empty(new, np.int64) for _ in range(3)))
        return new, ends, empty_roots(new, new + self._widest)

    def _reached(self) -> np.ndarray:
        """Which nodes some state or some root of the push leads to."""
        count, used = int(self._progress[ranked.NODES]), int(self._progress[ranked.ROOTS])
        reached = np.empty(count, np.uint8)
        kernels.mark_nodes(self._nodes, count, self._roots, used, reached)
        return reached

    def _keep_reached(self, reached: np.ndarray, place: np.ndarray) -> None:
        """Copy the nodes that are reached, with room for as many again, and for what one event may make."""
        count, used = len(reached), int(self._progress[ranked.ROOTS])
        left = int(np.count_nonzero(reached))
        room = max(2 * left + 2 * (self._widest * (2 * ranked.STEPS + 2) + 1), ROOM)
        arena, distance = np.empty((room, 4), np.int64), np.empty(room, np.int64)
        kept = self._nodes._replace(arena=arena, distance=distance)
        place_of = np.empty(count + 1, np.int64)
        kernels.kept_nodes(self._nodes, count, reached, place, place_of, kept)
        place_of[-1] = -1
        kept.heaps[:] = place_of[kept.heaps]
        self._roots.node[:used] = place_of[self._roots.node[:used]]
        self._nodes = kept
        self._progress[ranked.NODES] = left


def key_numbers(measured: np.ndarray, first: int, stop: int, size: Any) -> kernels.KeyNumbers:
    """The keys of the events `first` .. `stop - 1` as numbers in their order, and what ends there admit.

    Parameters
    ----------
    measured : ndarray, shape (events,), uint64 or float64
        Of `cer_gpu.kernels.windows.contract.comparable`; `size` likewise.
    """
    numbers = kernels.KeyNumbers(np.empty(stop - first, np.int64), np.empty(stop - first, np.int64))
    if measured.dtype.kind == "f":
        value = np.zeros(1)
        kernels.float_numbers(measured, first, stop, size, value, value.view(np.int64), numbers)
    else:
        kernels.whole_numbers(measured, first, stop, size, numbers)
    return numbers


class KeyedAnswers(OpenAnswers):
    """The complex events at some ends of a push, which admit starts by their keys.

    Parameters
    ----------
    tables : TransitionTables
    arena : ndarray, shape (capacity, 4), int64
    roots : Roots
        Of the ends.
    ends : OpenEnds
    least : ndarray, shape (ends,), int64
        The least number of a key that each end admits.
    """

    def __init__(
        self, tables: TransitionTables, arena: np.ndarray, roots: Roots, ends: OpenEnds, least: np.ndarray
    ) -> None:
        super().__init__(tables, arena, roots, ends.ends.event, least, ends.seen)
        self._ends = ends

    def ordered(self, hit: int, limit: int | None, size: int) -> Iterator[Block]:
        """The complex events of one end, found one by one in canonical order; as `Structure.ordered`."""
        own = self._ends.span(hit)
        admitted = self._ends.admitted(own, own[-1:])
        blocks = ordered_blocks(
            self.tables, self.symbols[own], hit, 0, len(own) - 1,
            admissible=admitted.astype(np.uint8), limit=limit, size=size,
        )  # fmt: skip
        for block in blocks:
            yield block._replace(start=own[block.start], event=own[block.event])

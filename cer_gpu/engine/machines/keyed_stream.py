"""The automaton on a stream whose window is over an attribute that may fall: heaps, kept between pushes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.automaton_stream import (
    ROOTED,
    OpenAnswers,
    found_ends,
    keep_nodes,
    some_roots,
)
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import CONSUMES, FollowedEvents, KeptRuns, PushResult, Renumbering
from cer_gpu.engine.machines.open_spans import OpenEnds
from cer_gpu.engine.machines.open_state import AxisRows, Column, OpenState, in_order, numbered
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.enumeration.ordered_enumeration import ordered_blocks
from cer_gpu.kernels.forest import cpu_heaps as kernels
from cer_gpu.kernels.forest import cpu_ranks as ranked
from cer_gpu.kernels.forest.contract import BOTTOM, Block, Roots
from cer_gpu.kernels.forest.cpu_nodes import WORDS
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEnds, StreamEvents


class KeyedRuns(KeptRuns):
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
        self._progress = np.zeros(WORDS, np.int64)
        widest = int(np.diff(tables.first).max(initial=0))
        kept: dict[type, dict[str, Column]] = {
            kernels.KeyedNodes: {
                "arena": Column("node", width=(4,), of=(None, "node", None, None)),
                "distance": Column("node"),
                "heaps": Column("lane", width=(tables.n_live,), of="node", fill=-1),
            },
            **ROOTED,
        }
        words = {"node": ranked.NODES, "root": ranked.ROOTS}
        most = {"node": widest * (2 * ranked.STEPS + 2) + 1, "root": widest}
        self._state = OpenState(self._progress, words, kept, most)
        self._progress[ranked.NODES] = 1
        self._state.read(kernels.KeyedNodes).arena[0] = BOTTOM, -1, -1, kernels.LEAST
        self._scratch = ranked.HeapScratch(
            np.empty((2, tables.n_live), np.int64), np.empty((2, ranked.STEPS), np.int64)
        )

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress, state, first, stop = self._progress, self._state, following.first, following.stop
        state.reach("lane", len(following.bounds.low))
        state.reach("end", stop - first + 1)
        numbers = key_numbers(following.events.measured, first, stop, following.size)
        progress[ranked.ROOTS] = progress[ranked.HIT] = 0

        def step(until: int) -> int:
            return int(
                kernels.follow(
                    self._tables, following.events, (first, until), numbers, self._consumes,
                    following.bounds, state.read(kernels.KeyedNodes), state.read(Roots),
                    state.read(StreamEnds), self._scratch, progress,
                )
            )  # fmt: skip

        def full(status: int) -> str | None:
            if status != kernels.ARENA_FULL:
                return "root"
            self._keep({}, {})
            return None

        state.follow(following.stops(), step, full)
        found = int(progress[ranked.HIT])
        if not found:
            return None
        ends, roots = found_ends(state, found)
        # The latest start that an end admits is not known: nothing asks a stream for it.
        every = Ends(ends.event, np.full(found, -1), ends.lowest)
        size = following.size
        if self._choose is not None:
            choose = self._choose
            return lambda seen: PushResult(seen, every, lambda some: choose(OpenEnds(seen, some, size)))
        tables, arena = self._tables, state.read(kernels.KeyedNodes).arena

        def pushed(seen: EventArrays) -> PushResult:
            def answers(some: Ends) -> KeyedAnswers:
                which = np.searchsorted(ends.event, some.event)
                own = OpenEnds(seen, some, size)
                return KeyedAnswers(tables, arena, some_roots(roots, which), own, ends.latest[which])

            return PushResult(seen, every, answers)

        return pushed

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """Find what is needed; as `OpenRuns.bound`."""
        self._progress[ranked.ROOTS] = 0
        reached = self._reached()
        kernels.first_needed(events, self._state.read(kernels.KeyedNodes), len(reached), reached, bounds)

    def drop(self, dropped: Renumbering) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        self._progress[ranked.ROOTS] = 0
        self._keep({"lane": dropped.lane_rows}, {"event": dropped.event_of})
        self._progress[ranked.EVENT] = dropped.count

    def _reached(self) -> np.ndarray:
        """Which nodes some state or some root of the push leads to."""
        state, used = self._state, int(self._progress[ranked.ROOTS])
        reached = np.empty(state.used("node"), np.uint8)
        kernels.mark_nodes(state.read(kernels.KeyedNodes), len(reached), state.read(Roots), used, reached)
        return reached

    def _keep(self, kept: dict[str, AxisRows], maps: dict[str, np.ndarray]) -> None:
        """Keep the nodes that are reached, and some rows of other axes; as `OpenState.keep`."""
        reached = self._reached()
        which = np.flatnonzero(reached)
        node_of = numbered(which, len(reached))
        keep_nodes(
            self._state, kernels.KeyedNodes, {"node": in_order(which), **kept}, {"node": node_of, **maps}
        )


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

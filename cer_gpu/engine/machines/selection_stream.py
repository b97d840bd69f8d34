"""NEXT and LAST in the window of a stream: the best paths of each lane, kept between pushes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import FollowedEvents, KeptRuns, PushResult, Renumbering
from cer_gpu.engine.machines.open_state import AxisRows, Column, OpenState, in_order, numbered
from cer_gpu.engine.machines.strategies import SingleChoice
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.selection import cpu as best
from cer_gpu.kernels.selection import cpu_stream as kernels
from cer_gpu.kernels.selection.contract import WIDTH, WORDS, Paths
from cer_gpu.kernels.streams.contract import NOTHING, LaneBounds, StreamEnds, StreamEvents, StreamWindow

ROOM = 1 << 11
"""The least room for nodes, and for events of a lane."""


class BestRuns(KeptRuns):
    """The complex event that NEXT or LAST leaves at each end, where no two have the same marks; `OpenRuns`.

    On average, the steps that an event costs depend only on the query: when the window has left the middle of
    what is open, the part before it is built again (`cer_gpu.kernels.selection.cpu_stream`).

    Parameters
    ----------
    tables : TransitionTables
    latest : bool
        LAST in place of NEXT.
    shown : ndarray, shape (labels,), int32
        As for `SingleChoice`.
    """

    def __init__(self, tables: TransitionTables, latest: bool, shown: np.ndarray) -> None:
        self._tables = tables
        self._latest = latest
        self._shown = shown
        self._matrices = best.matrices_of(tables.n_live)
        self._progress = np.zeros(WORDS, np.int64)
        words = {"node": kernels.USED, "event": kernels.AT, "end": kernels.HIT}
        self._state = OpenState(self._progress, words, _columns(tables.n_live))
        self._state.reach("scratch", ROOM)
        self._last: tuple[StreamEvents, LaneBounds] | None = None

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress, state, bounds, stop = self._progress, self._state, following.bounds, following.stop
        progress[kernels.HIT] = 0
        state.reach("end", stop - following.first)
        state.reach("lane", len(bounds.low))
        state.reach("event", stop)
        window = StreamWindow(following.size, NOTHING)

        def step(until: int) -> int:
            return int(
                kernels.follow(
                    self._tables, following.events, until, window, self._latest, bounds,
                    state.read(kernels.OpenPaths), self._matrices, state.read(Paths),
                    state.read(StreamEnds), progress,
                )
            )  # fmt: skip

        def full(status: int) -> str | None:
            if status == kernels.OWN_FULL:
                return "scratch"
            self._keep(following.events, bounds, int(progress[kernels.NEEDED]), {}, {})
            return None

        state.follow(following.stops(), step, full)
        self._last = following.events, bounds
        found = int(progress[kernels.HIT])
        if not found:
            return None
        ends = StreamEnds(*(each[:found].copy() for each in state.read(StreamEnds)))
        arena, *left = state.read(Paths)
        paths = Paths(arena, *(each[:found].copy() for each in left))
        shown = self._shown
        # The latest start of all complex events is not known: nothing asks a stream for it.
        every = Ends(ends.event, ends.latest, ends.lowest)

        def answers(some: Ends) -> SingleChoice:
            which = np.searchsorted(ends.event, some.event)
            own = Paths(paths.arena, *(each[which] for each in paths[1:]))
            return SingleChoice(own, some.event, shown)

        return lambda seen: PushResult(seen, every, answers)

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`: there is nothing to find, since the window bounds each lane."""
        # Reached nodes have to be found while events have their present numbers.
        self._last = events, bounds

    def drop(self, dropped: Renumbering) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        assert self._last is not None
        self._progress[kernels.HIT] = 0
        # A middle that time has left is dropped too, even if its own lane has not moved on.
        maps = {"event": dropped.event_of, "starts": np.append(dropped.place, -1)}
        self._keep(*self._last, 0, {"lane": dropped.lane_rows, "event": dropped.event_rows}, maps)
        self._last = None

    def _keep(
        self,
        events: StreamEvents,
        bounds: LaneBounds,
        needed: int,
        kept: dict[str, AxisRows],
        maps: dict[str, np.ndarray],
    ) -> None:
        """Keep the nodes that are reached, with room for `needed` more, and some rows of other axes."""
        state, at = self._state, self._state.used("event")
        reached = np.empty(state.used("node"), np.uint8)
        open_paths = state.read(kernels.OpenPaths)
        kernels.mark_nodes(events, at, bounds, open_paths, state.read(Paths), self._progress, reached)
        which = np.flatnonzero(reached)
        # To number what is kept anew takes as many steps as there are events and lanes: not for few nodes.
        room = len(which) + needed + max(len(which), needed, at, open_paths.rank.size, ROOM)
        nodes = {"node": numbered(which, len(reached))}
        state.keep({"node": in_order(which), **kept}, {**nodes, **maps})
        state.reach("node", room)


def _columns(n: int) -> dict[type, dict[str, Column]]:
    """What is kept between pushes, of `n` states."""

    def front(dtype: Any, of: str | None) -> Column:
        return Column("lane", dtype, (n, n), of, fill=-1)

    def back(dtype: Any, of: str | None) -> Column:
        return Column("event", dtype, (n,), of, fill=-1)

    return {
        kernels.OpenPaths: {
            "rank": front(np.int32, None), "node": front(np.int64, "node"),
            "start": front(np.int64, "starts"),
            "levels": Column("lane", fill=1), "middle": Column("lane", of="event", fill=kernels.STALE),
            "back_rank": back(np.int32, None), "back_node": back(np.int64, "node"),
            "back_start": back(np.int64, "starts"), "own": Column("scratch"),
        },
        Paths: {
            "arena": Column("node", width=(WIDTH,), of=("event", None, "node")),
            "start": Column("end", fill=-1), "early": Column("end", of="node", fill=-1),
            "late": Column("end", of="node", fill=-1), "label": Column("end", np.int32),
        },
        StreamEnds: dict.fromkeys(StreamEnds._fields, Column("end")),
    }  # fmt: skip

"""NEXT and LAST in the window of a stream: the best paths of each lane, kept between pushes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cer_gpu.engine.machines.automaton_stream import room_for
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import Dropped, Following, Pushed
from cer_gpu.engine.machines.strategies import Single
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import grown
from cer_gpu.kernels.best import cpu as best
from cer_gpu.kernels.best import cpu_stream as kernels
from cer_gpu.kernels.best.contract import WIDTH, WORDS, Paths
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.streams.contract import NOTHING, LaneBounds, StreamEnds, StreamEvents, StreamWindow

ROOM = 1 << 11
"""Room for nodes at first."""


class BestRuns:
    """The complex event that NEXT or LAST leaves at each end, where no two have the same marks; `OpenRuns`.

    On average, the steps that an event costs depend only on the query: when the window has left the middle of
    what is open, the part before it is built again (`cer_gpu.kernels.best.cpu_stream`).

    Parameters
    ----------
    tables : TransitionTables
    latest : bool
        LAST in place of NEXT.
    shown : ndarray, shape (labels,), int32
        As for `Single`.
    """

    def __init__(self, tables: TransitionTables, latest: bool, shown: np.ndarray) -> None:
        self._tables = tables
        self._latest = latest
        self._shown = shown
        self._matrices = best.matrices_of(tables.n_live)
        self._progress = np.zeros(WORDS, np.int64)
        self._arena = np.empty((ROOM, WIDTH), np.int64)
        self._open = self._lanes(1, 0, ROOM)
        self._new, self._ends, self._found = 0, *_room(0)
        self._last: tuple[StreamEvents, LaneBounds] | None = None

    def push(self, following: Following) -> Callable[[Relevant], Pushed] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress, bounds, stop = self._progress, following.bounds, following.stop
        new = stop - following.first
        if new > self._new:
            self._new, self._ends, self._found = new, *_room(new)
        if len(bounds.low) > len(self._open.middle) or stop > len(self._open.back_rank):
            self._grow(len(bounds.low), stop)
        progress[kernels.HIT] = 0
        window = StreamWindow(following.size, NOTHING)
        for until in following.stops():
            while True:
                paths = Paths(self._arena, *self._found)
                status = kernels.follow(
                    self._tables, following.events, until, window, self._latest, bounds, self._open,
                    self._matrices, paths, self._ends, progress,
                )  # fmt: skip
                if status == kernels.DONE:
                    break
                if status == kernels.OWN_FULL:
                    self._open = self._open._replace(own=np.empty(2 * len(self._open.own), np.int64))
                else:
                    needed = int(progress[kernels.NEEDED])
                    self._keep_reached(following.events, bounds, needed, np.empty(0, np.int64))
        self._last = following.events, bounds
        found = int(progress[kernels.HIT])
        if not found:
            return None
        ends = StreamEnds(*(each[:found].copy() for each in self._ends))
        paths = Paths(self._arena, *(each[:found].copy() for each in self._found))
        shown = self._shown
        # The latest start of all complex events is not known: nothing asks a stream for it.
        every = Ends(ends.event, ends.latest, ends.lowest)

        def answers(some: Ends) -> Single:
            which = np.searchsorted(ends.event, some.event)
            own = Paths(paths.arena, *(each[which] for each in paths[1:]))
            return Single(own, some.event, shown)

        return lambda seen: Pushed(seen, every, answers)

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`: there is nothing to find, since the window bounds each lane."""
        # Reached nodes have to be found while events have their present numbers.
        self._last = events, bounds

    def drop(self, dropped: Dropped) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        assert self._last is not None
        self._progress[kernels.HIT] = 0
        self._keep_reached(*self._last, 0, dropped.place)
        before, count = self._open, dropped.count
        old, new = dropped.lanes.T
        there = old < len(before.middle)
        old, new = old[there], new[there]
        kept = self._lanes(dropped.lane_count, 2 * count, len(before.own))
        moved = np.append(dropped.place, -1)
        for name in ("rank", "node", "levels"):
            getattr(kept, name)[new] = getattr(before, name)[old]
        kept.start[new] = moved[before.start[old]]
        # A middle that time has left is dropped too, even if its own lane has not moved on.
        middle = before.middle[old]
        stays = np.append(dropped.is_open, 0)[middle] != 0
        kept.middle[new] = np.where(stays, moved[middle], kernels.STALE)
        which = np.flatnonzero(dropped.is_open)
        which = which[which < len(before.back_rank)]
        kept.back_rank[: len(which)] = before.back_rank[which]
        kept.back_node[: len(which)] = before.back_node[which]
        kept.back_start[: len(which)] = moved[before.back_start[which]]
        self._open = kept
        self._progress[kernels.AT] = count
        self._last = None

    @property
    def nbytes(self) -> int:
        """Bytes that the paths take."""
        at, n = int(self._progress[kernels.AT]), self._tables.n_live
        return 24 * int(self._progress[kernels.USED]) + 20 * n * at + self._open.rank.nbytes * 5

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        at = int(self._progress[kernels.AT])
        found = {name: getattr(self._open, name) for name in ("rank", "node", "start", "levels", "middle")}
        rows = {name: getattr(self._open, name)[:at] for name in ("back_rank", "back_node", "back_start")}
        return {
            **found, **rows, "arena": self._arena[: self._progress[kernels.USED]],
            "event": self._progress[kernels.AT : kernels.AT + 1],
        }  # fmt: skip

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        self._arena = room_for(arrays["arena"], ROOM)
        names = kernels.OpenPaths._fields[:-1]
        self._open = kernels.OpenPaths(*(arrays[name].copy() for name in names), np.empty(ROOM, np.int64))
        self._progress[kernels.USED] = len(arrays["arena"])
        self._progress[kernels.AT] = arrays["event"][0]

    def _lanes(self, lanes: int, events: int, own: int) -> kernels.OpenPaths:
        """Empty arrays, with room for `lanes` and `events`."""
        n = self._tables.n_live
        shapes = (lanes, n, n), (max(events, ROOM), n)
        front, back = (
            [np.full(shape, -1, dtype) for dtype in (np.int32, np.int64, np.int64)] for shape in shapes
        )
        levels, middle = np.ones(lanes, np.int64), np.full(lanes, kernels.STALE, np.int64)
        return kernels.OpenPaths(*front, levels, middle, *back, np.empty(own, np.int64))

    def _grow(self, lanes: int, events: int) -> None:
        """Room for more lanes and events."""
        before = self._open
        wider = lanes > len(before.middle)
        lanes = max(2 * len(before.middle), lanes) if wider else len(before.middle)
        longer = events > len(before.back_rank)
        fields = {}
        for name in ("rank", "node", "start", "levels", "middle"):
            values = getattr(before, name)
            fields[name] = grown(values, lanes, 1 if name == "levels" else -1) if wider else values
        for name in ("back_rank", "back_node", "back_start"):
            values = getattr(before, name)
            fields[name] = grown(values, max(2 * len(values), events), -1) if longer else values
        self._open = kernels.OpenPaths(**fields, own=before.own)

    def _keep_reached(self, events: StreamEvents, bounds: LaneBounds, needed: int, place: np.ndarray) -> None:
        """Copy the nodes that are reached, with room for as many again."""
        progress, before = self._progress, self._open
        at, used = int(progress[kernels.AT]), int(progress[kernels.USED])
        paths = Paths(self._arena, *self._found)
        reached, place_of = np.empty(used, np.uint8), np.empty(used + 1, np.int64)
        kernels.mark_nodes(events, at, bounds, before, paths, progress, reached)
        left = int(np.count_nonzero(reached))
        # To number what is kept anew takes as many steps as there are events and lanes: not for few nodes.
        room = left + needed + max(left, needed, at, before.rank.size, ROOM)
        arena = np.empty((room, WIDTH), np.int64)
        kernels.kept_nodes(paths, reached, place, place_of, arena)
        place_of[-1] = -1
        hits = int(progress[kernels.HIT])
        for nodes in (before.node, before.back_node[:at], self._found[1][:hits], self._found[2][:hits]):
            nodes[:] = place_of[nodes]
        self._arena = arena
        progress[kernels.USED] = left


def _room(new: int) -> tuple[StreamEnds, tuple[np.ndarray, ...]]:
    """Arrays for the ends of new events, and for what is left there: `start` .. `label` of `Paths`."""
    ends = StreamEnds(*(np.empty(new, np.int64) for _ in range(3)))
    return ends, (*(np.full(new, -1, np.int64) for _ in range(3)), np.empty(new, np.int32))

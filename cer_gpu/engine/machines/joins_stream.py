"""Joins on a stream: their open runs, look-up table and persistent structure, kept from push to push."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import CONSUMES, Dropped, Following, Pushed
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import ranges
from cer_gpu.enumeration.products import MOST_NODES, MOST_ROWS, JoinAnswers, Products, Share
from cer_gpu.errors import LimitError
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.joins import cpu_counts
from cer_gpu.kernels.joins import cpu_nodes as nodes
from cer_gpu.kernels.joins import cpu_stream as kernels
from cer_gpu.kernels.joins.contract import COLUMNS, JoinTables, ProductNodes
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEnds, StreamEvents, StreamWindow

ROOM = 1 << 10
"""Nodes, children and records that there is room for at first."""


class JoinRuns:
    """The open runs of a parallelized complex event automaton; `OpenRuns`.

    An event costs, for each run that it stores, steps in the logarithm of what is open.

    Parameters
    ----------
    tables : JoinTables
    space_columns : sequence of sequence of int
        For each space of keys the columns of slots that are in it.
    label_atoms : ndarray, shape (labels, atoms), uint8
        Which atoms of a rule a label fills.
    consume : {"NONE", "ANY", "PARTITION"}
    share : callable
        How work is shared out to threads.
    """

    def __init__(
        self,
        tables: JoinTables,
        space_columns: list[list[int]],
        label_atoms: np.ndarray,
        consume: str,
        share: Share,
    ) -> None:
        self._tables = tables
        self._space_columns = space_columns
        self._label_atoms = label_atoms
        self._consumes = CONSUMES[consume]
        self._share = share
        self._arena = np.empty((ROOM, COLUMNS), np.int32)
        self._children = np.empty(ROOM, np.int32)
        self._table = _records(ROOM)
        self._progress = np.zeros(kernels.STREAM_WORDS, np.int64)
        self._room = np.array([tables.n_fired, tables.n_reads, tables.n_stores], np.int64)
        self._fired = np.empty((tables.n_fired, 2), np.int64)
        self._path = np.empty((nodes.PATH, 2), np.int64)
        self._ends = StreamEnds(*(np.empty(0, np.int64) for _ in range(3)))
        self._root_first, self._root_node = np.zeros(1, np.int64), np.empty(0, np.int32)

    def push(self, following: Following) -> Callable[[Relevant], Pushed] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress = self._progress
        new = following.stop - following.first
        if new > len(self._ends.event):
            self._ends = StreamEnds(*(np.empty(new, np.int64) for _ in range(3)))
            self._root_first = np.zeros(new + 1, np.int64)
            self._root_node = np.empty(new + self._tables.n_fired, np.int32)
        progress[nodes.ROOTS] = progress[nodes.HIT] = 0
        window = StreamWindow(following.size, self._consumes)
        for stop in following.stops():
            while True:
                made = ProductNodes(self._arena, self._children, self._root_first, self._root_node)
                status = kernels.follow(
                    self._tables, following.events, stop, window, following.bounds, self._table, made,
                    self._ends, self._fired, self._path, self._room, progress,
                )  # fmt: skip
                if status == kernels.DONE:
                    break
                self._enlarge(status)
        found, used = int(progress[nodes.HIT]), int(progress[nodes.ROOTS])
        if not found:
            return None
        root_first, root_node = self._root_first[: found + 1].copy(), self._root_node[:used].copy()
        event, lowest, latest = (each[:found].copy() for each in self._ends)
        arena, children = self._arena, self._children

        def pushed(seen: Relevant) -> Pushed:
            every = Ends(event, seen.positions[latest], lowest)

            def answers(some: Ends) -> JoinAnswers:
                part = Products(self._tables)
                part.arena, part.children = arena, children
                which = np.searchsorted(event, some.event)
                length = np.diff(root_first)[which]
                part.root_first = np.append(0, np.cumsum(length))
                part.root_node = root_node[ranges(root_first[which], length)]
                first = np.array([0, len(some)], np.int64)
                part.hits = CountedHits(first, some.event, some.lowest, _counts(part, some.lowest))
                return JoinAnswers([part], [0], self._label_atoms, None, self._share)

            return Pushed(seen, every, answers)

        return pushed

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """Find what is needed; as `OpenRuns.bound`: the window and what is consumed bound it already."""

    def drop(self, dropped: Dropped) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        progress = self._progress
        count = int(progress[nodes.NODES])
        arena, place_of = np.empty((count, COLUMNS), np.int32), np.empty(count, np.int64)
        children = np.empty(int(self._arena[:count, kernels.CHILDREN].sum()), np.int32)
        left, links = kernels.kept_nodes(
            self._arena, self._children, count, dropped.is_open, dropped.place, place_of, arena, children
        )
        self._arena, self._children = _cut(arena, left), _cut(children, links)
        table = _records(max(ROOM, 4 * int(progress[kernels.RECORDS])))
        records = kernels.kept_records(
            self._table,
            len(self._tables.entry_next),
            place_of,
            dropped.lane_of,
            *self._moved(dropped),
            table,
        )
        self._table = table
        progress[kernels.RECORDS] = records
        progress[nodes.NODES], progress[nodes.LINKS] = left, links
        progress[nodes.AT] = dropped.count

    @property
    def nbytes(self) -> int:
        """Bytes that the structure takes."""
        progress = self._progress
        return int(32 * progress[nodes.NODES] + 4 * progress[nodes.LINKS]) + self._table.nbytes

    def arrays(self) -> dict[str, np.ndarray]:
        """All that is to be stored of them, by name."""
        progress = self._progress
        return {
            "arena": self._arena[: progress[nodes.NODES]],
            "children": self._children[: progress[nodes.LINKS]],
            "table": self._table,
            "counters": progress[[nodes.AT, kernels.RECORDS]],
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on where `arrays` was asked for."""
        arena, children = arrays["arena"], arrays["children"]
        self._arena, self._children = _cut(arena, len(arena)), _cut(children, len(children))
        self._table = arrays["table"].copy()
        progress = self._progress
        progress[nodes.NODES], progress[nodes.LINKS] = len(arena), len(children)
        progress[nodes.AT], progress[kernels.RECORDS] = arrays["counters"]

    def _enlarge(self, status: int) -> None:
        """Double the array that is full."""
        if max(len(self._arena), len(self._children)) > MOST_NODES:
            raise LimitError(
                f"the open runs of a join take more than {MOST_NODES:,} nodes: narrow the window or the "
                "filters"
            )
        if status == kernels.ARENA_FULL:
            # At least what the next event may take.
            more = int(self._room[0] + self._room[2] * nodes.PATH)
            self._arena = _cut(self._arena, len(self._arena), more)
        elif status == kernels.CHILDREN_FULL:
            self._children = _cut(self._children, len(self._children), int(self._room[1]))
        elif status == kernels.ROOTS_FULL:
            self._root_node = _cut(self._root_node, len(self._root_node), int(self._room[0]))
        else:
            table = _records(4 * len(self._table))
            same = np.full(len(self._tables.entry_next), -1, np.int64)
            count = int(self._progress[nodes.NODES])
            places = int(self._table[:, kernels.PLACE].max(initial=0)) // len(self._tables.entry_next) + 1
            kernels.kept_records(
                self._table, len(self._tables.entry_next), np.arange(count), np.arange(places), same,
                np.empty(0, np.int64), table,
            )  # fmt: skip
            self._table = table

    def _moved(self, dropped: Dropped) -> tuple[np.ndarray, np.ndarray]:
        """For each entry where its slots' new numbers begin, and these."""
        old, new = dropped.slots
        first = np.full(len(self._tables.entry_next), -1, np.int64)
        if old is new:
            return first, np.empty(0, np.int64)
        numbers: list[np.ndarray] = []
        count = 0
        for space, columns in enumerate(self._space_columns):
            before, after = old[columns].ravel(), new[columns].ravel()
            own = np.full(int(before.max(initial=-1)) + 1, -1, np.int64)
            there = before >= 0
            own[before[there]] = after[there]
            first[self._tables.entry_space == space] = count
            numbers.append(own)
            count += len(own)
        return first, np.concatenate([np.empty(0, np.int64), *numbers])


def _counts(part: Products, lowest: np.ndarray) -> np.ndarray:
    """How many answers each end has."""
    counts, progress, depth = np.empty(len(lowest), np.int64), np.zeros(1, np.int64), 64
    while True:
        arguments = (
            part.arena, part.children, part.root_first, part.root_node, lowest, MOST_ROWS, counts,
            np.empty(64 * depth, np.int32), np.empty((depth, kernels.CHOICE), np.int32),
            np.empty((64 * depth, 2), np.int32), progress,
        )  # fmt: skip
        (status,) = Workers().map(
            "counting", lambda given: kernels.count_up_to(*given), [arguments], len(lowest)
        )
        if status == kernels.DONE:
            break
        depth *= 2
    for end in np.flatnonzero(counts > MOST_ROWS).tolist():
        roots = part.root_node[part.root_first[end] : part.root_first[end + 1]]
        exact = cpu_counts.count_exactly(part.arena, part.children, roots, int(lowest[end]))
        counts[end] = min(exact, cpu_counts.LARGEST)
    return counts


def _records(room: int) -> np.ndarray:
    table = np.empty((1 << max(room - 1, 1).bit_length(), kernels.FIELDS), np.int64)
    table[:, kernels.PLACE] = -1
    return table


def _cut(array: np.ndarray, count: int, more: int = 0) -> np.ndarray:
    """The first entries of an array, with room for as many again, and `more`."""
    room = np.empty((max(2 * count + more, ROOM), *array.shape[1:]), array.dtype)
    room[:count] = array[:count]
    return room

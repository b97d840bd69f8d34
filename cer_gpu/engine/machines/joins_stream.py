"""Joins on a stream: their open runs, look-up table and persistent structure, kept from push to push."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.keyed_stream import key_numbers
from cer_gpu.engine.machines.open_runs import CONSUMES, Dropped, Following, Pushed
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.blocks import ranges
from cer_gpu.enumeration.products import MOST_NODES, MOST_ROWS, JoinAnswers, Products, Share
from cer_gpu.errors import LimitError
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.joins import cpu_counts
from cer_gpu.kernels.joins import cpu_nodes as nodes
from cer_gpu.kernels.joins import cpu_stream as kernels
from cer_gpu.kernels.joins.contract import COLUMNS, LATEST, JoinTables, ProductNodes
from cer_gpu.kernels.streams import cpu_records as records
from cer_gpu.kernels.streams.contract import NOTHING, LaneBounds, StreamEnds, StreamEvents, StreamWindow

NO_KEYS = np.empty(0, np.int64)
"""What is measured if there is no window."""

ROOM = 1 << 10
"""Room for nodes, children and records at first."""


class JoinRuns:
    """The open runs of a parallelized complex event automaton; `OpenRuns`.

    For each run that an event stores it costs O(log n) steps, where n is the number of open runs.

    A window over an attribute admits an answer by the key of its first event. While the attribute ascends,
    the order of nodes by their latest starts is the order of keys too. Where it falls, no order of nodes
    tells which answers an end admits: a node stands for all combinations of the runs of its branches, the
    earlier of two runs decides, and which one that is depends on both. Let one branch have the events 1, 3,
    5, .. with the key 0, and the other 2, 4, 6, .. with the key 1. An end that admits keys from 1 on admits
    the pairs in which the event of the second branch comes first: half of all pairs, and for each event
    different ones. To find these alone, a node would have to hold for each position p the greatest key of a
    run that begins before p. A node made of two others has as many such entries as both, so that an event
    would cost as much as is open.

    So nodes are ordered by their latest starts whatever the keys. An end walks through its answers from the
    first event on that it admits, which a search finds (`cer_gpu.kernels.streams.cpu_records`), and leaves
    out those whose first event it does not admit. While the attribute ascends there are none of these.

    Parameters
    ----------
    tables : JoinTables
    space_columns : sequence of sequence of int
        For each space of keys, the columns of slots that are in it.
    label_atoms : ndarray, shape (labels, atoms), uint8
        Which atoms of a rule a label fills.
    consume : {"NONE", "ANY", "PARTITION"}
    share : callable
        Shares work out to threads.
    size : number or None
        The size of a window over an attribute, under which nothing is consumed.
    """

    def __init__(
        self,
        tables: JoinTables,
        space_columns: list[list[int]],
        label_atoms: np.ndarray,
        consume: str,
        share: Share,
        size: Any = None,
    ) -> None:
        self._tables = tables
        self._space_columns = space_columns
        self._label_atoms = label_atoms
        self._consumes = CONSUMES[consume]
        self._share = share
        self._arena = np.empty((ROOM, COLUMNS), np.int32)
        self._children = np.empty(ROOM, np.int32)
        self._table = records_for(ROOM)
        self._progress = np.zeros(kernels.STREAM_WORDS, np.int64)
        self._room = np.array([tables.n_fired, tables.n_reads, tables.n_stores], np.int64)
        self._fired = np.empty((tables.n_fired, 2), np.int64)
        self._path = np.empty((nodes.PATH, 2), np.int64)
        self._ends = StreamEnds(*(np.empty(0, np.int64) for _ in range(3)))
        self._root_first, self._root_node = np.zeros(1, np.int64), np.empty(0, np.int32)
        self._starts = None if size is None else FirstStarts()
        self._size = size

    def push(self, following: Following) -> Callable[[Relevant], Pushed] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress = self._progress
        new = following.stop - following.first
        if new > len(self._ends.event):
            self._ends = StreamEnds(*(np.empty(new, np.int64) for _ in range(3)))
            self._root_first = np.zeros(new + 1, np.int64)
            self._root_node = np.empty(new + self._tables.n_fired, np.int32)
        progress[nodes.ROOTS] = progress[nodes.HIT] = 0
        window, events = StreamWindow(following.size, self._consumes), following.events
        if self._starts is not None:
            # Nothing leaves the window for good, so that runs are followed as if there were none.
            window, events = StreamWindow(np.uint64(0), NOTHING), events._replace(measured=NO_KEYS)
        for stop in following.stops():
            while True:
                made = ProductNodes(self._arena, self._children, self._root_first, self._root_node)
                status = kernels.follow(
                    self._tables, events, stop, window, following.bounds, self._table, made,
                    self._ends, self._fired, self._path, self._room, progress,
                )  # fmt: skip
                if status == kernels.DONE:
                    break
                self._enlarge(status)
        found, used = int(progress[nodes.HIT]), int(progress[nodes.ROOTS])
        admitted = None if self._starts is None else self._starts.of(following)
        if not found:
            return None
        root_first, root_node = self._root_first[: found + 1].copy(), self._root_node[:used].copy()
        event, lowest, latest = (each[:found].copy() for each in self._ends)
        if admitted is not None:
            lowest = admitted[event - following.first]
            some = np.flatnonzero(latest >= lowest)
            if not len(some):
                return None
            end = np.repeat(np.arange(found), np.diff(root_first))
            inside = self._arena[root_node, LATEST] >= lowest[end]
            root_first = np.append(0, np.cumsum(np.bincount(end[inside], minlength=found)[some]))
            root_node = root_node[inside]
            event, lowest, latest = event[some], lowest[some], latest[some]
        arena, children, size = self._arena, self._children, self._size

        def pushed(seen: Relevant) -> Pushed:
            every = Ends(event, seen.positions[latest], lowest)

            def answers(some: Ends) -> JoinAnswers:
                part = Products(self._tables)
                part.arena, part.children = arena, children
                which = np.searchsorted(event, some.event)
                part.root_first, part.root_node = roots_of(root_first, root_node, which)
                first = np.array([0, len(some)], np.int64)
                part.hits = CountedHits(first, some.event, some.lowest, _counts(part, some.lowest))
                window = None if size is None else AttributeWindow(seen.keys, seen.all_keyed, size)
                return JoinAnswers([part], [0], self._label_atoms, window, self._share)

            return Pushed(seen, every, answers)

        return pushed

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`: the window and what is consumed bound each lane already.

        Where the attribute of the window may fall, all events stay open.
        """
        if self._starts is not None:
            bounds.low[:] = 0

    def drop(self, dropped: Dropped) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        progress = self._progress
        count = int(progress[nodes.NODES])
        arena, place_of = np.empty((count, COLUMNS), np.int32), np.empty(count, np.int64)
        children = np.empty(int(self._arena[:count, kernels.CHILDREN].sum()), np.int32)
        left, links = kernels.kept_nodes(
            self._arena, self._children, count, dropped.is_open, dropped.place, place_of, arena, children
        )
        self._arena, self._children = with_room(arena, left), with_room(children, links)
        table = records_for(max(ROOM, 4 * int(progress[kernels.RECORDS])))
        count = kernels.kept_records(
            self._table,
            len(self._tables.entry_next),
            place_of,
            dropped.lane_of,
            *self._moved(dropped),
            table,
        )
        self._table = table
        progress[kernels.RECORDS] = count
        progress[nodes.NODES], progress[nodes.LINKS] = left, links
        progress[nodes.AT] = dropped.count
        if self._starts is not None:
            self._starts = FirstStarts()

    @property
    def nbytes(self) -> int:
        """Bytes that the structure takes."""
        progress = self._progress
        starts = 0 if self._starts is None else self._starts.nbytes
        return int(32 * progress[nodes.NODES] + 4 * progress[nodes.LINKS]) + self._table.nbytes + starts

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        progress = self._progress
        return {
            "arena": self._arena[: progress[nodes.NODES]],
            "children": self._children[: progress[nodes.LINKS]],
            "table": self._table,
            "counters": progress[[nodes.AT, kernels.RECORDS]],
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        arena, children = arrays["arena"], arrays["children"]
        self._arena, self._children = with_room(arena, len(arena)), with_room(children, len(children))
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
            self._arena = with_room(self._arena, len(self._arena), more)
        elif status == kernels.CHILDREN_FULL:
            self._children = with_room(self._children, len(self._children), int(self._room[1]))
        elif status == kernels.ROOTS_FULL:
            self._root_node = with_room(self._root_node, len(self._root_node), int(self._room[0]))
        else:
            table = records_for(4 * len(self._table))
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


class FirstStarts:
    """Finds the first event whose key each end admits, where the attribute of the window may fall."""

    def __init__(self) -> None:
        self._known = 0
        self._last = np.empty(0, np.int64)
        self._records = np.empty((0, records.FIELDS), np.int64)

    def of(self, following: Following) -> np.ndarray:
        """The first event that an end at each new event admits, shape (new,), int64; one past it for none."""
        first, stop = self._known, following.stop
        self._last = grown(self._last, len(following.bounds.low), -1)
        if len(self._records) < stop:
            room = np.empty((max(2 * stop, ROOM), records.FIELDS), np.int64)
            room[:first] = self._records[:first]
            self._records = room
        numbers = key_numbers(following.events.measured, first, stop, following.size)
        admitted = np.empty(stop - first, np.int64)
        records.first_admitted(
            following.events.lanes, following.keyed, numbers, first, stop, self._last, self._records, admitted
        )
        self._known = stop
        return admitted[following.first - first :]

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        return self._records.nbytes


def roots_of(first: np.ndarray, node: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The roots of some ends: where the roots of each end begin, and their nodes."""
    length = np.diff(first)[which]
    return np.append(0, np.cumsum(length)), node[ranges(first[which], length)]


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


def records_for(room: int) -> np.ndarray:
    table = np.empty((1 << max(room - 1, 1).bit_length(), kernels.FIELDS), np.int64)
    table[:, kernels.PLACE] = -1
    return table


def with_room(array: np.ndarray, count: int, more: int = 0) -> np.ndarray:
    """The first entries of an array, with room for twice as many, and `more`."""
    room = np.empty((max(2 * count + more, ROOM), *array.shape[1:]), array.dtype)
    room[:count] = array[:count]
    return room

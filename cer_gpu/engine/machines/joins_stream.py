"""Joins on a stream: their open runs, look-up table and persistent structure, kept from push to push."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.first_starts import RootedEnds
from cer_gpu.engine.machines.lookup_table import RECORDS, ROOM, NodeRecords, moved_records
from cer_gpu.engine.machines.open_runs import FollowedEvents, Renumbering
from cer_gpu.engine.machines.open_state import Column, OpenState, bounds_of, in_order, numbered
from cer_gpu.engine.machines.stream_loop import AnswersOf, LoopRuns
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.blocks import ranges
from cer_gpu.enumeration.products import MOST_NODES, MOST_ROWS, JoinAnswers, Products, Share
from cer_gpu.errors import LimitError
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.joins import cpu_counts
from cer_gpu.kernels.joins import cpu_nodes as nodes
from cer_gpu.kernels.joins import cpu_stream as kernels
from cer_gpu.kernels.joins.contract import (
    CHILD,
    CHILDREN,
    COLUMNS,
    EVENT,
    LATEST,
    LEFT,
    RIGHT,
    JoinTables,
    ProductNodes,
)
from cer_gpu.kernels.joins.index import hash_tables
from cer_gpu.kernels.loop.nodes import LINKS, ROOTS
from cer_gpu.kernels.streams.contract import StreamEnds, StreamEvents

FULL = {nodes.NODES: "node", LINKS: "child", ROOTS: "root"}
"""The axis of the state that is full, by the word that says how many rows it has."""

NUMBERED = {EVENT: "event", LATEST: "event", CHILD: "children", LEFT: "node", RIGHT: "node"}
"""What the columns of a node number."""

COLUMNS_KEPT = {
    ProductNodes: {
        "arena": Column("node", np.int32, (COLUMNS,), tuple(map(NUMBERED.get, range(COLUMNS)))),
        "children": Column("child", np.int32, of="node"),
        "root_first": Column("end", fill=0),
        "root_node": Column("root", np.int32),
    },
    NodeRecords: {"table": RECORDS},
    StreamEnds: dict.fromkeys(StreamEnds._fields, Column("end")),
}
"""What is kept between pushes."""


class JoinRuns(LoopRuns):
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

    rooted = ProductNodes, "root_node"

    def __init__(
        self,
        tables: JoinTables,
        space_columns: list[list[int]],
        label_atoms: np.ndarray,
        consume: str,
        share: Share,
        size: Any = None,
    ) -> None:
        progress = np.zeros(kernels.STREAM_WORDS, np.int64)
        super().__init__(kernels.follow_open, hash_tables(tables), progress, consume, size)
        self._tables = tables
        self._space_columns = space_columns
        self._label_atoms = label_atoms
        self._share = share
        words = {"node": nodes.NODES, "child": LINKS, "root": ROOTS}
        self._most = np.array([tables.n_fired, tables.n_reads, tables.n_stores], np.int64)
        most = {"node": tables.n_fired + tables.n_stores * nodes.PATH, "child": tables.n_reads}
        self._state = OpenState(progress, words, COLUMNS_KEPT, most)
        self._state.reach("record", ROOM)
        self._ends = np.empty(tables.n_fired + 1, np.int64)
        self._path = np.empty((nodes.PATH, 2), np.int64)

    def _room(self, events: StreamEvents, following: FollowedEvents) -> kernels.OpenTable:
        state = self._state
        return kernels.OpenTable(
            state.read(NodeRecords).table, state.read(ProductNodes), self._most, self._progress, self._ends,
            self._path, following.bounds,
        )  # fmt: skip

    def _latest(self, root: np.ndarray) -> np.ndarray:
        return self._state.read(ProductNodes).arena[root, LATEST]

    def _answers(self, rooted: RootedEnds) -> AnswersOf:
        made = self._state.read(ProductNodes)

        def answers(seen: EventArrays, window: AttributeWindow | None, some: Ends) -> JoinAnswers:
            part = Products(self._tables)
            part.arena, part.children = made.arena, made.children
            part.root_first, part.root_node = rooted.roots_of(some.event)
            first = np.array([0, len(some)], np.int64)
            part.hits = CountedHits(first, some.event, some.lowest, _counts(part, some.lowest))
            return JoinAnswers([part], [0], self._label_atoms, window, self._share)

        return answers

    def _forget(self, dropped: Renumbering) -> None:
        state, arena = self._state, self._state.array(ProductNodes, "arena")
        which = np.flatnonzero(dropped.is_open.view(bool)[arena[:, LATEST]])
        node_of = numbered(which, len(arena))
        gathered = np.zeros(state.used("child"), bool)
        gathered[ranges(arena[which, CHILD], arena[which, CHILDREN])] = True
        self._move_records(node_of, dropped, max(ROOM, 4 * int(self._progress[kernels.RECORDS])))
        state.keep(
            {"node": in_order(which), "child": in_order(np.flatnonzero(gathered))},
            {"event": dropped.event_of, "node": node_of, "children": bounds_of(gathered)},
        )
        kernels.weigh(state.array(ProductNodes, "arena"))

    def _move_records(self, node_of: np.ndarray, dropped: Renumbering | None, rows: int) -> None:
        """Put the records into another table; as `lookup_table.moved_records`."""
        spaces = dict(enumerate(self._space_columns))
        columns = [spaces.get(space, []) for space in self._tables.entry_space.tolist()]
        table = self._state.read(NodeRecords).table
        table, self._progress[kernels.RECORDS] = moved_records(table, columns, node_of, dropped, rows)
        self._state.replace(NodeRecords, "table", table)

    def _full(self, status: int, events: StreamEvents, following: FollowedEvents) -> str | None:
        """As `LoopRuns._full`; makes room in the table itself."""
        if max(self._state.room("node"), self._state.room("child")) > MOST_NODES:
            raise LimitError(
                f"the partial matches of a join take more than {MOST_NODES:,} nodes: narrow the window "
                "or the filters"
            )
        if status != kernels.RECORDS:
            return FULL[status]
        self._move_records(np.arange(self._state.used("node")), None, 4 * self._state.room("record"))
        return None


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

"""Compared steps on a stream: their open runs, and the versions of their orders, kept from push to push."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.first_starts import RootedEnds
from cer_gpu.engine.machines.labelled_slots import LabelledSlots
from cer_gpu.engine.machines.lookup_table import RECORDS, ROOM, moved_records
from cer_gpu.engine.machines.open_runs import FollowedEvents, PushResult, Renumbering, stops
from cer_gpu.engine.machines.open_state import Column, OpenState, bounds_of, in_order, numbered
from cer_gpu.engine.machines.stream_loop import NO_KEYS, AnswersOf, LoopRuns
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.ordered_values import words_of
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.blocks import ranges
from cer_gpu.enumeration.compared_choices import ChosenPositions, MaximalChains
from cer_gpu.enumeration.comparisons import ComparedUnit
from cer_gpu.enumeration.open_comparisons import NO_ATOMS, OpenChains, RenumberedUnit
from cer_gpu.enumeration.products import MOST_NODES, JoinAnswers, ListedUnit
from cer_gpu.errors import LimitError
from cer_gpu.kernels.comparisons import cpu_counts
from cer_gpu.kernels.comparisons import cpu_stream as kernels
from cer_gpu.kernels.comparisons.contract import (
    ENTRY_COLUMNS,
    EVENT,
    LEAF,
    LEFT,
    LINK_COLUMNS,
    LINK_FIRST,
    LINK_LAST,
    NEIGHBOUR,
    NO_TREE,
    NODE_COLUMNS,
    NODES_BEFORE,
    ONE_ENTRY,
    VALUE,
    ComparedSegments,
    NewestVersions,
    PairedEvents,
    Versions,
)
from cer_gpu.kernels.comparisons.cpu_compaction import DROPPED, WHOLE, mark, renumber
from cer_gpu.kernels.comparisons.cpu_order import arrange
from cer_gpu.kernels.comparisons.cpu_trie import DEPTH
from cer_gpu.kernels.loop.nodes import LINKS, ROOTS
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEnds, StreamEvents
from cer_gpu.kernels.streams.cpu import mark_open
from cer_gpu.plan.comparisons import ComparedMachine
from cer_gpu.plan.compiled_query import CompiledQuery

SPARE = 1 << 13
"""Rows that there is room for at least before what is no longer read is dropped: a drop takes 0.5 ms."""

WORDS = {
    "entry": kernels.ENTRIES, "link": LINKS, "node": kernels.NODES, "root": ROOTS,
}  # fmt: skip
"""The words of `progress` that count rows."""


class ComparedRuns(LoopRuns):
    """The open runs of an automaton of compared steps; `OpenRuns`.

    For each view that an event reads, and each order that it is put in, it costs O(log n) steps, where n is
    the number of open entries. A strategy chooses among the events of an end's window, when the end is
    listed.

    Parameters
    ----------
    query : CompiledQuery
    labelled : LabelledSlots or None
        The slots of events with words in order, where those of the events themselves are not.
    """

    rooted = Versions, "root_entry"

    def __init__(self, query: CompiledQuery, labelled: LabelledSlots | None) -> None:
        machine = query.machine
        assert isinstance(machine, ComparedMachine)
        size = query.window.size if query.window and query.filters_answers else None
        progress = np.zeros(kernels.WORDS, np.int64)
        super().__init__(kernels.follow_open, machine.tables, progress, query.consume, size)
        self._machine = machine
        self._tables = tables = machine.tables
        self._labelled = labelled
        groups, orders = np.diff(tables.first), np.diff(tables.order_first)
        widest = int(groups.max(initial=0))
        reads = int(np.diff(tables.read_first).max(initial=0))
        self._most = np.array(
            [widest, widest * (1 + 2 * reads), widest * int(orders.max(initial=0)) * DEPTH], np.int64
        )
        self._ends, self._stack = np.empty(widest + 1, np.int64), np.empty(128, np.int64)
        self._span = np.empty(4, np.uint64)
        self._near = bool((tables.view_near == NEIGHBOUR).any())
        self._state = self._begun()

    def _begun(self) -> OpenState:
        """What is kept before the first event."""
        self._progress[:] = 0
        most = dict(zip(WORDS, np.maximum(self._most, SPARE).tolist(), strict=False))
        state = OpenState(self._progress, WORDS, _columns(len(self._tables.accepting)), most)
        state.reach("record", ROOM)
        return state

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        if self._labelled is not None:
            moved = self._labelled.take(following.events.slots, following.stop)
            events = following.events._replace(slots=self._labelled.slots)
            following = replace(following, events=events)
            if moved:
                self._begin_again(following.bounds)
                self._state.reach("end", following.stop + 1)
                self._reach(following)
                self._follow(following, 0, stops(0, following.first, following.headroom))
        return super().push(following)

    def _reach(self, following: FollowedEvents) -> None:
        if self._near:
            self._state.reach("lane", len(following.bounds.low))

    def _room(self, events: StreamEvents, following: FollowedEvents) -> kernels.OpenVersions:
        state = self._state
        return kernels.OpenVersions(
            state.read(NewestVersions), state.read(Versions), following.positions, self._machine.slot_rows,
            self._most, following.bounds, self._progress, self._ends, self._stack, self._span,
        )  # fmt: skip

    def _full(self, status: int, events: StreamEvents, following: FollowedEvents) -> str | None:
        """As `LoopRuns._full`; makes room in the table, and in the versions, itself."""
        if status == ROOTS:
            return "root"
        if status == kernels.NODES:
            is_open = np.empty(self.event, np.uint8)
            mark_open(events, len(is_open), following.bounds, is_open)
            self._keep(is_open, None)
        else:
            self._move_records(np.arange(self._state.used("node")), None, 4 * self._state.room("record"))
        return None

    def _begin_again(self, bounds: LaneBounds) -> None:
        """Forget all runs, to follow them over all events that are kept: words have changed, not their order.

        What is consumed by then stays so, so that no end is found that was reported.
        """
        bounds.low[:] = bounds.last[:] = -1
        if self._starts is not None:
            bounds.low[:] = 0
        self._state = self._begun()

    def _latest(self, root: np.ndarray) -> np.ndarray:
        return self._state.read(Versions).entry[root, VALUE]

    def _answers(self, rooted: RootedEnds) -> AnswersOf:
        versions = self._state.read(Versions)
        labelled = None if self._labelled is None else self._labelled.slots

        def answers(seen: EventArrays, window: AttributeWindow | None, some: Ends) -> JoinAnswers:
            slots = seen.slots if labelled is None else labelled
            first, root = rooted.roots_of(some.event)
            own = versions._replace(root_first=first, root_entry=root)
            return JoinAnswers([self._unit(own, seen, slots, some)], [0], NO_ATOMS, window)

        return answers

    def _forget(self, dropped: Renumbering) -> None:
        self._progress[ROOTS] = 0
        self._keep(dropped.is_open, dropped)
        if self._labelled is not None:
            self._labelled.drop(*dropped.slots)

    def _keep(self, is_open: np.ndarray, dropped: Renumbering | None) -> None:
        """Copy what is still read; events have other numbers if some are `dropped`."""
        state, versions = self._state, self._state.read(Versions)
        entry, link, tree = (state.array(Versions, name) for name in ("entry", "link", "tree"))
        how, nodes = np.zeros(len(entry), np.uint8), np.zeros(len(tree), np.uint8)
        mark(versions, state.read(NewestVersions), is_open, how, nodes, self._progress)
        entries = np.flatnonzero(how)
        entry_of, node_of = numbered(entries, len(entry)), np.full(len(tree) + 1, -1, np.int64)
        renumber(tree, nodes, node_of)
        which = np.flatnonzero(nodes)
        below, _, _, bit = tree.take(which, axis=0).T
        leaf = bit == LEAF
        below = np.where(
            leaf, entry_of.take(np.where(leaf, below, -1)), node_of.take(np.where(leaf, -1, below))
        )
        some = entry.take(entries, axis=0)
        length = some[:, LINK_LAST] - some[:, LINK_FIRST]
        own = ranges(some[:, LINK_FIRST], length)
        root, one = link.take(own, axis=0).T
        starts = np.repeat((how.take(entries) == WHOLE) | is_open.take(some[:, EVENT]).view(bool), length)
        source = np.where(root == ONE_ENTRY, entry_of.take(one), node_of.take(root))
        linked = np.zeros(len(link), bool)
        linked[own] = np.where(root == NO_TREE, starts, source >= 0)
        maps = {
            "entry": entry_of, "node": node_of, "nodes": bounds_of(nodes != DROPPED),
            "links": bounds_of(linked), "root": np.concatenate([node_of[:-1], [ONE_ENTRY, NO_TREE]]),
        }  # fmt: skip
        kept = {
            "entry": in_order(entries), "link": in_order(np.flatnonzero(linked)),
            "node": in_order(which),
        }  # fmt: skip
        rows = state.room("record")
        if dropped is not None:
            maps["event"], kept["lane"] = dropped.event_of, dropped.lane_rows
            rows = max(ROOM, 4 * int(self._progress[kernels.RECORDS]))
        state.keep(kept, maps)
        state.array(Versions, "tree")[:, LEFT] = below
        if max(map(state.room, ("entry", "link", "node"))) > 2 * MOST_NODES:
            raise LimitError(
                f"the partial matches of compared steps take more than {MOST_NODES:,} nodes: narrow the "
                "window or the filters"
            )
        self._move_records(node_of, dropped, rows)

    def _move_records(self, node_of: np.ndarray, dropped: Renumbering | None, rows: int) -> None:
        """Put the newest versions into another table; as `lookup_table.moved_records`."""
        columns = [[row] if row >= 0 else [] for row in self._tables.order_slot.tolist()]
        table = self._state.read(NewestVersions).table
        table, self._progress[kernels.RECORDS] = moved_records(table, columns, node_of, dropped, rows)
        self._state.replace(NewestVersions, "table", table)

    @property
    def nbytes(self) -> int:
        """Bytes that the structure takes."""
        return super().nbytes + (0 if self._labelled is None else self._labelled.nbytes)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        return super().arrays() | {"labels": NO_KEYS if self._labelled is None else self._labelled.state()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        super().restore(arrays)
        if self._labelled is not None:
            self._labelled.resume(arrays["labels"])

    # ---------------------------------------------------------------------------------------- answers

    def _unit(self, versions: Versions, seen: EventArrays, slots: np.ndarray, ends: Ends) -> ListedUnit:
        """The complex events at some ends of a push; `slots`: of its events, with words in order."""
        choice = self._machine.choice
        if choice is None:
            counted = partial(self._counted, seen, slots, ends)
            return OpenChains(versions, ends.event, ends.lowest, len(seen), counted)
        unit, hits, own, hit = self._again(seen, slots, ends)
        if choice.climb is None:
            return RenumberedUnit(ChosenPositions(unit, hits, choice), own, hit)
        return RenumberedUnit(MaximalChains(unit, hits, choice.climb, listed=True), own, hit)

    def _counted(self, seen: EventArrays, slots: np.ndarray, ends: Ends) -> np.ndarray:
        """How many complex events some ends have; for many."""
        unit, (first, event, lowest), _, hit = self._again(seen, slots, ends)
        counted: np.ndarray = cpu_counts.counts(
            unit.tables, unit.events, unit.segments, unit.arranged, first, event, lowest
        )
        return counted[hit]

    def _again(
        self, seen: EventArrays, slots: np.ndarray, ends: Ends
    ) -> tuple[ComparedUnit, SegmentHits, np.ndarray, np.ndarray]:
        """The events of the windows of some ends as a unit, with its hits.

        Returns
        -------
        unit : ComparedUnit
        hits : SegmentHits
        own : ndarray, shape (events,), int64
            For each event of the unit its number in the stream.
        hit : ndarray, shape (ends,), int64
            For each end its hit.
        """
        low, high = int(ends.lowest.min()), int(ends.event.max()) + 1
        lanes = seen.lanes[low:high] if len(seen.lanes) else np.zeros(high - low, np.int32)
        wanted = np.zeros(int(lanes.max()) + 1, bool)
        wanted[lanes[ends.event - low]] = True
        own = np.flatnonzero(wanted[lanes])
        own = own[ascending(lanes[own])]
        begin = np.flatnonzero(np.diff(lanes[own], prepend=-1))
        stop = np.append(begin[1:], len(own))
        segments = ComparedSegments(begin, begin, stop, np.append(0, stop))
        # An event of a lane, or the next one of that lane.
        span = high - low
        places = lanes[own].astype(np.int64) * span + own
        of_end = lanes[ends.event - low].astype(np.int64) * span
        event = np.searchsorted(places, of_end + ends.event - low)
        lowest = np.searchsorted(places, of_end + ends.lowest - low)
        order = ascending(event)
        hit = np.empty(len(order), np.int64)
        hit[order] = np.arange(len(order))
        hits = SegmentHits(
            np.append(np.searchsorted(event[order], begin), len(order)), event[order], lowest[order]
        )
        own += low
        near = seen.places[own] if len(seen.places) else seen.places
        rows = self._machine.slot_rows
        slots = slots[:, own] if len(slots) else np.empty((0, len(own)), np.int32)
        values = words_of(slots[rows:])
        compared = PairedEvents(seen.symbols[own], near, np.ascontiguousarray(slots[:rows]), *values)
        arranged = arrange(self._tables, compared, segments)
        unit = ComparedUnit(self._tables, segments, compared, arranged, NO_KEYS, 0, 0)
        return unit, hits, own, hit


def _columns(states: int) -> dict[type, dict[str, Column]]:
    """What is kept between pushes."""
    entry = {EVENT: "event", VALUE: "event", LINK_FIRST: "links", LINK_LAST: "links", NODES_BEFORE: "nodes"}
    return {
        Versions: {
            "entry": Column("entry", np.int32, (ENTRY_COLUMNS,), tuple(map(entry.get, range(ENTRY_COLUMNS)))),
            "link": Column("link", np.int32, (LINK_COLUMNS,), ("root", "entry")),
            "range": Column("link", np.uint64, (2,)),
            "tree": Column("node", np.int32, (NODE_COLUMNS,), (None, "node", "event", None)),
            "key": Column("node", np.uint64, (2,)),
            "root_first": Column("end", fill=0),
            "root_entry": Column("root", np.int32, of="entry"),
        },
        NewestVersions: {"table": RECORDS, "last": Column("lane", width=(states,), of="entry", fill=-1)},
        StreamEnds: dict.fromkeys(StreamEnds._fields, Column("end")),
    }

"""Compared steps on a stream: their open runs, and the versions of their orders, kept from push to push."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from cer_gpu.engine.ascending import ascending
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.joins_stream import NO_KEYS, ROOM, FirstStarts, records_for, roots_of, with_room
from cer_gpu.engine.machines.labelled import LabelledSlots
from cer_gpu.engine.machines.open_runs import CONSUMES, Dropped, Following, Pushed, stops
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import grown
from cer_gpu.engine.read.ordered_values import words_of
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.compared import ComparedUnit
from cer_gpu.enumeration.compared_choices import ChosenPositions, MaximalChains
from cer_gpu.enumeration.open_compared import NO_ATOMS, OpenChains, Renumbered
from cer_gpu.enumeration.products import MOST_NODES, JoinAnswers, ListedUnit
from cer_gpu.errors import LimitError
from cer_gpu.kernels.compared import cpu_counts, cpu_kept
from cer_gpu.kernels.compared import cpu_stream as kernels
from cer_gpu.kernels.compared.contract import (
    ENTRY_COLUMNS,
    LINK_COLUMNS,
    LINK_FIRST,
    LINK_LAST,
    NEIGHBOUR,
    NODE_COLUMNS,
    VALUE,
    ComparedSegments,
    NewestVersions,
    PairedEvents,
    VersionRoom,
    Versions,
)
from cer_gpu.kernels.compared.cpu_order import arrange
from cer_gpu.kernels.compared.cpu_trie import DEPTH
from cer_gpu.kernels.joins.cpu_stream import PLACE, kept_records
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.streams.contract import NOTHING, LaneBounds, StreamEnds, StreamEvents, StreamWindow
from cer_gpu.kernels.streams.cpu import mark_open
from cer_gpu.plan.compared import ComparedMachine
from cer_gpu.plan.compiled import CompiledQuery


class ComparedRuns:
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

    def __init__(self, query: CompiledQuery, labelled: LabelledSlots | None) -> None:
        machine = query.machine
        assert isinstance(machine, ComparedMachine)
        self._machine = machine
        self._tables = tables = machine.tables
        self._labelled = labelled
        self._consumes = CONSUMES[query.consume]
        self._size = query.window.size if query.window and query.filters_answers else None
        self._starts = None if self._size is None else FirstStarts()
        groups, orders = np.diff(tables.first), np.diff(tables.order_first)
        widest = int(groups.max(initial=0))
        reads = int(np.diff(tables.read_first).max(initial=0))
        most = np.array(
            [widest, widest * (1 + 2 * reads), widest * int(orders.max(initial=0)) * DEPTH], np.int64
        )
        self._room = VersionRoom(
            most, np.empty((widest, 2), np.int64), np.empty(128, np.int64), np.empty(4, np.uint64)
        )
        near = bool((tables.view_near == NEIGHBOUR).any())
        last = np.full((1 if near else 0, len(tables.accepting)), -1, np.int64)
        self._newest = NewestVersions(records_for(ROOM), last)
        self._progress = np.zeros(kernels.WORDS, np.int64)
        self._versions = self._with_room(most)
        self._ends = StreamEnds(*(np.empty(0, np.int64) for _ in range(3)))

    def push(self, following: Following) -> Callable[[Relevant], Pushed] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress, bounds, events = self._progress, following.bounds, following.events
        new, moved = following.stop - following.first, False
        if self._labelled is not None:
            moved = self._labelled.take(events.slots, following.stop)
            events = events._replace(slots=self._labelled.slots)
        if moved:
            new = following.stop
        if new > len(self._ends.event):
            self._ends = StreamEnds(*(np.empty(new, np.int64) for _ in range(3)))
            root_entry = np.empty(new + len(self._room.entered), np.int32)
            self._versions = self._versions._replace(
                root_first=np.zeros(new + 1, np.int64), root_entry=root_entry
            )
        if len(self._newest.last):
            last = grown(self._newest.last, len(bounds.low), -1)
            self._newest = self._newest._replace(last=last)
        window = StreamWindow(following.size, self._consumes)
        if self._starts is not None:
            # Nothing leaves the window for good, so that runs are followed as if there were none.
            window, events = StreamWindow(np.uint64(0), NOTHING), events._replace(measured=NO_KEYS)
        if moved:
            self._begin_again(bounds)
            again = stops(0, following.first, following.headroom)
            self._follow(events, window, following, again)
        progress[kernels.ROOTS] = progress[kernels.HIT] = 0
        self._follow(events, window, following, following.stops())
        admitted = None if self._starts is None else self._starts.of(following)
        return self._found(admitted, following.first)

    def _follow(
        self, events: StreamEvents, window: StreamWindow, following: Following, until: Iterable[int]
    ) -> None:
        """Follow the runs over the next events, with a stop after some of them."""
        for stop in until:
            while True:
                status = kernels.follow(
                    self._tables, events, following.positions, self._machine.slot_rows, stop, window,
                    following.bounds, self._newest, self._versions, self._ends, self._room, self._progress,
                )  # fmt: skip
                if status == kernels.DONE:
                    break
                self._enlarge(status, events, following.bounds)

    def _begin_again(self, bounds: LaneBounds) -> None:
        """Forget all runs, to follow them over all events that are kept: words have changed, not their order.

        What is consumed by then stays so, so that no end is found that was reported.
        """
        bounds.low[:] = bounds.last[:] = -1
        if self._starts is not None:
            bounds.low[:] = 0
        self._progress[:] = 0
        last = self._newest.last
        self._newest = NewestVersions(records_for(ROOM), np.full_like(last, -1))
        fresh = self._with_room(self._room.most)
        self._versions = fresh._replace(
            root_first=self._versions.root_first, root_entry=self._versions.root_entry
        )

    def _found(self, admitted: np.ndarray | None, first: int) -> Callable[[Relevant], Pushed] | None:
        """What ends in a push; `admitted`: the first event that each new one admits by its key."""
        found, used = int(self._progress[kernels.HIT]), int(self._progress[kernels.ROOTS])
        versions = self._versions
        root_first, root_entry = versions.root_first[: found + 1].copy(), versions.root_entry[:used].copy()
        event, lowest, latest = (each[:found].copy() for each in self._ends)
        if admitted is not None and found:
            lowest = admitted[event - first]
            end = np.repeat(np.arange(found), np.diff(root_first))
            inside = versions.entry[root_entry, VALUE] >= lowest[end]
            some = np.flatnonzero(latest >= lowest)
            root_first = np.append(0, np.cumsum(np.bincount(end[inside], minlength=found)[some]))
            root_entry = root_entry[inside]
            event, lowest, latest = event[some], lowest[some], latest[some]
        if not len(event):
            return None
        size, labelled = self._size, None if self._labelled is None else self._labelled.slots

        def pushed(seen: Relevant) -> Pushed:
            slots = seen.slots if labelled is None else labelled

            def answers(some: Ends) -> JoinAnswers:
                part = roots_of(root_first, root_entry, np.searchsorted(event, some.event))
                own = versions._replace(root_first=part[0], root_entry=part[1])
                window = None if size is None else AttributeWindow(seen.keys, seen.all_keyed, size)
                return JoinAnswers([self._unit(own, seen, slots, some)], [0], NO_ATOMS, window)

            return Pushed(seen, Ends(event, seen.positions[latest], lowest), answers)

        return pushed

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`: the window and what is consumed bound each lane already.

        Where the attribute of the window may fall, all events stay open.
        """
        if self._starts is not None:
            bounds.low[:] = 0

    def drop(self, dropped: Dropped) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        self._progress[kernels.ROOTS] = 0
        self._keep(dropped.is_open, dropped.place, dropped)
        self._progress[kernels.NEXT] = dropped.count
        if self._starts is not None:
            self._starts = FirstStarts()
        if self._labelled is not None:
            self._labelled.drop(*dropped.slots)

    @property
    def nbytes(self) -> int:
        """Bytes that the structure takes."""
        progress = self._progress
        entries, links, nodes = (
            int(progress[each]) for each in (kernels.ENTRIES, kernels.LINKS, kernels.NODES)
        )
        more = sum(each.nbytes for each in (self._starts, self._labelled) if each is not None)
        return 24 * entries + 24 * links + 32 * nodes + self._newest.table.nbytes + more

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        progress, versions = self._progress, self._versions
        return {
            "entry": versions.entry[: progress[kernels.ENTRIES]],
            "link": versions.link[: progress[kernels.LINKS]],
            "range": versions.range[: progress[kernels.LINKS]],
            "tree": versions.tree[: progress[kernels.NODES]],
            "key": versions.key[: progress[kernels.NODES]],
            "table": self._newest.table,
            "last": self._newest.last,
            "progress": progress,
            "labels": NO_KEYS if self._labelled is None else self._labelled.state(),
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        self._progress[:] = arrays["progress"]
        if self._labelled is not None:
            self._labelled.resume(arrays["labels"])
        self._newest = NewestVersions(arrays["table"].copy(), arrays["last"].copy())
        self._versions = self._versions._replace(
            **{
                name: with_room(arrays[name], len(arrays[name]), int(self._room.most.max()))
                for name in ("entry", "link", "range", "tree", "key")
            }
        )

    # ---------------------------------------------------------------------------------------- answers

    def _unit(self, versions: Versions, seen: Relevant, slots: np.ndarray, ends: Ends) -> ListedUnit:
        """The complex events at some ends of a push; `slots`: of its events, with words in order."""
        choice = self._machine.choice
        if choice is None:
            counted = partial(self._counted, seen, slots, ends)
            return OpenChains(versions, ends.event, ends.lowest, len(seen), counted)
        unit, hits, own, hit = self._again(seen, slots, ends)
        if choice.climb is None:
            return Renumbered(ChosenPositions(unit, hits, choice), own, hit)
        return Renumbered(MaximalChains(unit, hits, choice.climb, listed=True), own, hit)

    def _counted(self, seen: Relevant, slots: np.ndarray, ends: Ends) -> np.ndarray:
        """How many complex events some ends have; for many."""
        unit, (first, event, lowest), _, hit = self._again(seen, slots, ends)
        counted: np.ndarray = cpu_counts.counts(
            unit.tables, unit.events, unit.segments, unit.arranged, first, event, lowest
        )
        return counted[hit]

    def _again(
        self, seen: Relevant, slots: np.ndarray, ends: Ends
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

    # ------------------------------------------------------------------------------------------- room

    def _with_room(self, most: np.ndarray) -> Versions:
        """Room for as much as there is, and for what an event makes at most."""
        progress = self._progress
        entries, links, nodes = (
            max(2 * int(count) + 2 * int(more), ROOM)
            for count, more in zip(progress[[kernels.ENTRIES, kernels.LINKS, kernels.NODES]], most)
        )
        if max(entries, links, nodes) > 2 * MOST_NODES:
            raise LimitError(
                f"the open runs of compared steps take more than {MOST_NODES:,} nodes: narrow the window or "
                "the filters"
            )
        return Versions(
            np.empty((entries, ENTRY_COLUMNS), np.int32), np.empty((links, LINK_COLUMNS), np.int32),
            np.empty((links, 2), np.uint64), np.empty((nodes, NODE_COLUMNS), np.int32),
            np.empty((nodes, 2), np.uint64), np.zeros(1, np.int64), np.empty(0, np.int32),
        )  # fmt: skip

    def _enlarge(self, status: int, events: StreamEvents, bounds: LaneBounds) -> None:
        """Make room for more of what is full."""
        progress = self._progress
        if status == kernels.VERSIONS_FULL:
            is_open = np.empty(int(progress[kernels.NEXT]), np.uint8)
            mark_open(events, len(is_open), bounds, is_open)
            self._keep(is_open, np.empty(0, np.int64), None)
        elif status == kernels.ROOTS_FULL:
            roots = with_room(self._versions.root_entry, len(self._versions.root_entry))
            self._versions = self._versions._replace(root_entry=roots)
        else:
            places = int(self._newest.table[:, PLACE].max(initial=0)) // len(self._tables.order_slot) + 1
            nodes = np.arange(int(progress[kernels.NODES]))
            self._rehash(nodes, np.arange(places), None, 4 * len(self._newest.table))

    def _keep(self, is_open: np.ndarray, place: np.ndarray, dropped: Dropped | None) -> None:
        """Copy what is still read; `place`: the new numbers of events, empty where they keep theirs."""
        progress, versions = self._progress, self._versions
        entries, nodes = (
            np.zeros(int(progress[each]), np.uint8) for each in (kernels.ENTRIES, kernels.NODES)
        )
        cpu_kept.mark(versions, self._newest, is_open, entries, nodes, progress)
        entry_of, node_of = np.empty(len(entries), np.int64), np.empty(len(nodes), np.int64)
        before = np.empty(len(nodes) + 1, np.int64)
        some = versions.entry[: len(entries)][entries != cpu_kept.DROPPED]
        progress[kernels.ENTRIES], progress[kernels.NODES] = len(some), np.count_nonzero(nodes)
        progress[kernels.LINKS] = (some[:, LINK_LAST] - some[:, LINK_FIRST]).sum()
        kept = self._with_room(self._room.most)
        progress[kernels.ENTRIES], progress[kernels.NODES] = len(entries), len(nodes)
        progress[kernels.LINKS] = cpu_kept.copied(
            versions, is_open, place, entries, nodes, entry_of, node_of, before, kept, progress
        )
        self._versions = kept._replace(root_first=versions.root_first, root_entry=versions.root_entry)
        last = self._newest.last
        if len(last):
            last = np.where(last < 0, -1, np.append(entry_of, -1)[last])
        if dropped is None:
            self._newest = self._newest._replace(last=last)
            lanes = (
                int(self._newest.table[:, PLACE].max(initial=0)) // max(len(self._tables.order_slot), 1) + 1
            )
            self._rehash(node_of, np.arange(lanes), None, len(self._newest.table))
            return
        if len(last):
            moved = np.full((dropped.lane_count, last.shape[1]), -1, np.int64)
            old, new = dropped.lanes.T
            there = old < len(last)
            moved[new[there]] = last[old[there]]
            last = moved
        self._newest = self._newest._replace(last=last)
        self._rehash(node_of, dropped.lane_of, dropped.slots, max(ROOM, 4 * int(progress[kernels.RECORDS])))

    def _rehash(
        self,
        node_of: np.ndarray,
        lane_of: np.ndarray,
        slots: tuple[np.ndarray, np.ndarray] | None,
        room: int,
    ) -> None:
        """Put the newest versions that are left into a new table, with new numbers."""
        first, slot_of = self._slots(slots)
        table = records_for(room)
        orders = len(self._tables.order_slot)
        self._progress[kernels.RECORDS] = kept_records(
            self._newest.table, orders, node_of, lane_of, first, slot_of, table
        )
        self._newest = self._newest._replace(table=table)

    def _slots(self, slots: tuple[np.ndarray, np.ndarray] | None) -> tuple[np.ndarray, np.ndarray]:
        """For each order where its slots' new numbers begin, and these."""
        first = np.full(len(self._tables.order_slot), -1, np.int64)
        numbers: list[np.ndarray] = [np.empty(0, np.int64)]
        if slots is not None and slots[0] is not slots[1]:
            for order, row in enumerate(self._tables.order_slot.tolist()):
                if row < 0:
                    continue
                before, after = slots[0][row], slots[1][row]
                own = np.full(int(before.max(initial=-1)) + 1, -1, np.int64)
                there = before >= 0
                own[before[there]] = after[there]
                first[order] = sum(map(len, numbers))
                numbers.append(own)
        return first, np.concatenate(numbers)

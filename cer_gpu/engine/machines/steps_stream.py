"""Steps on a stream: the open runs of each lane, and the complex events of a push."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.found import Answers
from cer_gpu.engine.machines.joins_stream import FirstStarts
from cer_gpu.engine.machines.open_runs import CONSUMES, Dropped, Following, Pushed
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import grown
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.blocks import ranges
from cer_gpu.enumeration.sessions import marks_at_once
from cer_gpu.enumeration.steps import StepAnswers, StepEnds
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.loop.contract import LARGEST, MOST_RUNS, StepNodes
from cer_gpu.kernels.steps import cpu_stream as kernels
from cer_gpu.kernels.steps.contract import Sessions, StepEvents
from cer_gpu.kernels.steps.cpu_paths import path_labels
from cer_gpu.kernels.steps.cpu_walk import walked_counts
from cer_gpu.kernels.steps.kept import CHAIN, SESSION, OpenEntries, OpenLanes, OpenSessions, rising_earliest
from cer_gpu.kernels.streams.contract import NOTHING, LaneBounds, StreamEnds, StreamEvents, StreamWindow
from cer_gpu.plan.step_machine import StepMachine

ROOM = 1 << 10
"""Room for entries, links and roots at first."""

NO_KEYS = np.empty(0, np.uint64)

NOT_PARTED = Sessions(0, False, False, False, 0)
"""Sessions that never end."""


class StepRuns:
    """The open runs of an automaton of steps; `OpenRuns`.

    On average, the steps that an event costs depend only on the automaton: each of its views moves past each
    entry once. Complex events are listed from what earlier pushes have left.

    Parameters
    ----------
    machine : StepMachine
    consume : {"NONE", "ANY", "PARTITION"}
    size : number or None
        The size of a window over an attribute that may fall: each complex event is checked against it.
    """

    def __init__(self, machine: StepMachine, consume: str, size: Any = None) -> None:
        tables = self._tables = machine.tables
        self._queue = _queues(tables.view_state, tables.view_rises)
        self._consumes = CONSUMES[consume]
        self._sessions = machine.sessions
        high = tables.view_low.dtype.type(0)
        never = NOT_PARTED._replace(high=high)
        self._reach = machine.reach or never
        self._bounded = machine.reach is not None
        self._chain = np.empty((0, CHAIN), np.int64)
        self._lanes = self._no_lanes(1)
        self._entries = self._no_entries(ROOM, ROOM)
        self._progress = np.zeros(kernels.WORDS, np.int64)
        self._entered = np.empty((int(np.diff(tables.first).max(initial=0)), kernels.ENTERED), np.int64)
        self._number = np.empty(0, np.int64)
        self._rising = rising_earliest(tables)
        self._labels = path_labels(tables)
        self._ends = StreamEnds(*np.empty((3, 0), np.int64))
        self._starts = None if size is None else FirstStarts()
        self._size = size
        self._events: StreamEvents | None = None

    def push(self, following: Following) -> Callable[[Relevant], Pushed] | None:
        """Follow the runs over further events; as `OpenRuns.push`."""
        progress = self._progress
        self._make_room(following)
        progress[kernels.ROOTS] = progress[kernels.HIT] = 0
        events, window = following.events, StreamWindow(following.size, self._consumes)
        if self._starts is not None:
            # Nothing leaves the window for good, so runs are followed as if there were no window.
            events, window = events._replace(measured=NO_KEYS), StreamWindow(np.uint64(0), NOTHING)
        times = following.times if self._tables.view_timed.any() else following.times[:0]
        stepped = StepEvents(events.symbols, times.view(self._tables.view_low.dtype), events.places)
        parts = OpenSessions(self._reach, self._sessions or self._reach, self._chain)
        for stop in following.stops():
            while True:
                status = kernels.follow(
                    self._tables, self._queue, events, stepped, stop, window, following.bounds, parts,
                    self._lanes, self._entries, self._ends,
                    (progress, self._entered, self._number, self._rising),
                )  # fmt: skip
                if status == kernels.DONE:
                    break
                self._enlarge(status)
        self._events = events
        return self._pushed(following)

    def _pushed(self, following: Following) -> Callable[[Relevant], Pushed] | None:
        """What ends in the events that were followed last."""
        admitted = None if self._starts is None else self._starts.of(following)
        found = int(self._progress[kernels.HIT])
        if not found:
            return None
        nodes = self._entries.nodes
        used = int(self._progress[kernels.ROOTS])
        nodes = nodes._replace(
            root_first=nodes.root_first[: found + 1].copy(), root_entry=nodes.root_entry[:used].copy()
        )
        event, lowest, latest = (each[:found].copy() for each in self._ends)
        number = self._number[:found].copy()
        if admitted is not None:
            lowest = admitted[event - following.first]
            some = np.flatnonzero(latest >= lowest)
            if not len(some):
                return None
            nodes = _of_ends(nodes, some)
            event, lowest, latest = event[some], lowest[some], latest[some]
            number = np.full(len(some), -1, np.int64)
        earlier, chain, size = self._entries.earlier, self._chain, self._size
        sessions, own_lane, labels = self._sessions, self._consumes == NOTHING, self._labels

        def pushed(seen: Relevant) -> Pushed:
            every = Ends(event, seen.positions[latest], lowest)

            def answers(some: Ends) -> Answers:
                if sessions is not None:
                    return LaneSets(chain, some.event, some.lowest, own_lane, sessions.label)
                which = np.searchsorted(event, some.event)
                ends = StepEnds(_of_ends(nodes, which), some.event, some.lowest, labels)
                window = None if size is None else AttributeWindow(seen.keys, seen.all_keyed, size)
                known = np.where(some.lowest == lowest[which], number[which], -1)
                return StepAnswers(ends, _counts(ends, earlier, known), window)

            return Pushed(seen, every, answers)

        return pushed

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """Find what is needed; as `OpenRuns.bound`.

        Where the attribute of the window may fall, all events stay open.
        """
        if self._starts is not None:
            bounds.low[:] = 0
        elif self._bounded:
            low = np.maximum(grown(self._lanes.since, len(bounds.low), -1)[: len(bounds.low)], 0)
            if len(events.measured):
                # A window looks at the first event that it has; one at least stays.
                low = np.minimum(low, np.maximum(bounds.last, 0))
            bounds.low[:] = np.maximum(bounds.low, low)
        self._events = events

    def drop(self, dropped: Dropped) -> None:
        """Forget the runs of events that are no longer open; as `OpenRuns.drop`."""
        assert self._events is not None
        progress, before, lanes = self._progress, self._entries, self._lanes
        count = int(progress[kernels.ENTRIES])
        which = np.flatnonzero(dropped.is_open)
        own = self._events.lanes
        if len(own):
            own = dropped.lane_of[own[which]].astype(np.int32)
        place_of = np.empty(count, np.int64)
        kept_lanes = self._no_lanes(dropped.lane_count)
        kept = self._no_entries(max(count, ROOM), max(int(progress[kernels.LINKS]), ROOM))
        left, links = kernels.kept_entries(
            lanes, before, count, own, dropped.is_open, dropped.place, place_of, kept_lanes, kept
        )
        kernels.kept_queues(before, count, place_of, kept)
        kernels.kept_views(self._tables, self._queue, lanes, before, dropped.lanes, place_of, kept_lanes)
        self._move_lanes(dropped, own, kept_lanes)
        self._entries, self._lanes = kept, kept_lanes
        progress[kernels.ENTRIES], progress[kernels.LINKS] = left, links
        progress[kernels.AT] = dropped.count
        self._events = None
        if self._starts is not None:
            self._starts = FirstStarts()

    def _move_lanes(self, dropped: Dropped, own: np.ndarray, kept: OpenLanes) -> None:
        """Number the events that lanes know again; `own` int32 [kept events] or [0] says in which each is."""
        lanes = self._lanes
        first = np.full(dropped.lane_count, -1, np.int64)
        if len(own):
            first[own[::-1]] = np.arange(dropped.count)[::-1]
        elif dropped.count:
            first[0] = 0
        old, new = dropped.lanes.T
        there = old < len(lanes.ended)
        old, new = old[there], new[there]
        is_open = np.append(dropped.is_open, 0)
        kept.ended[new] = np.where(is_open[lanes.ended[old]], dropped.moved(lanes.ended[old]), -1)
        kept.since[new] = np.where(is_open[lanes.since[old]], dropped.moved(lanes.since[old]), first[new])
        if self._sessions is not None:
            which = np.flatnonzero(dropped.is_open)
            chain = np.empty((len(which), CHAIN), np.int64)
            kernels.moved_chain(self._chain, which, dropped.is_open, dropped.place, chain)
            self._chain = chain
            left = new[kept.ended[new] >= 0]
            kept.session[left] = chain[kept.ended[left], SESSION]

    @property
    def nbytes(self) -> int:
        """Bytes that the runs take."""
        entry = 68 + 8 * self._entries.queue_before.shape[1]
        lanes = sum(array.nbytes for array in self._lanes)
        starts = 0 if self._starts is None else self._starts.nbytes
        entries, links = (int(self._progress[word]) for word in (kernels.ENTRIES, kernels.LINKS))
        return entry * entries + 8 * links + lanes + self._chain.nbytes + starts

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name."""
        entries, links, at = (int(self._progress[k]) for k in (kernels.ENTRIES, kernels.LINKS, kernels.AT))
        stored = {name: array[:entries] for name, array in _by_entry(self._entries).items()}
        stored |= {name: getattr(self._entries.nodes, name)[:links] for name in ("link_low", "link_high")}
        stored |= {f"lane {name}": array for name, array in self._lanes._asdict().items()}
        return stored | {"chain": self._chain[:at], "event": np.array([at])}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        entries, links = len(arrays["event of entry"]), len(arrays["link_low"])
        self._entries = self._no_entries(max(2 * entries, ROOM), max(2 * links, ROOM))
        for name, array in _by_entry(self._entries).items():
            array[:entries] = arrays[name]
        for name in ("link_low", "link_high"):
            getattr(self._entries.nodes, name)[:links] = arrays[name]
        self._lanes = OpenLanes(*(arrays[f"lane {name}"].copy() for name in OpenLanes._fields))
        self._chain = arrays["chain"].copy()
        self._progress[[kernels.ENTRIES, kernels.LINKS]] = entries, links
        self._progress[kernels.AT] = arrays["event"][0]

    def _no_lanes(self, lanes: int) -> OpenLanes:
        """What is known of lanes before their first event."""
        states, views = len(self._tables.accepting), len(self._tables.view_state)
        return OpenLanes(
            *np.full((2, lanes, states), -1, np.int64),
            *np.full((4, lanes, views), -1, np.int64),
            *np.full((4, lanes), -1, np.int64),
        )

    def _no_entries(self, entries: int, links: int) -> OpenEntries:
        """Empty arrays for entries and links."""
        queues = int(self._queue.max(initial=-1)) + 1
        nodes = StepNodes(
            *np.empty((2, entries), np.int32), np.empty(entries, np.int64), *np.empty((2, entries), np.int32),
            *np.empty((2, links), np.int32), np.zeros(1, np.int64), np.empty(ROOM, np.int32),
            np.empty(entries, np.int32),
        )  # fmt: skip
        state, after, earlier = np.empty((3, entries), np.int32)
        return OpenEntries(
            nodes, state, after, earlier, *np.empty((4, entries), np.int64),
            *np.full((2, entries, queues), -1, np.int32),
        )  # fmt: skip

    def _make_room(self, following: Following) -> None:
        """Room for the lanes and the ends of further events."""
        new, lanes = following.stop - following.first, len(following.bounds.low)
        if new > len(self._ends.event):
            self._ends = StreamEnds(*np.empty((3, new), np.int64))
            self._number = np.empty(new, np.int64)
        nodes = self._entries.nodes
        if new >= len(nodes.root_first):
            nodes = nodes._replace(root_first=np.zeros(new + 1, np.int64))
            self._entries = self._entries._replace(nodes=nodes)
        if lanes > len(self._lanes.newest):
            self._lanes = OpenLanes(*(grown(array, lanes, -1) for array in self._lanes))
        if self._sessions is not None:
            self._chain = grown(self._chain, following.stop)

    def _enlarge(self, status: int) -> None:
        """Double what is full; what has been given to earlier pushes stays as it is."""
        entries, nodes = self._entries, self._entries.nodes
        if status == kernels.ROOTS_FULL:
            more = nodes._replace(root_entry=_doubled(nodes.root_entry))
            self._entries = entries._replace(nodes=more)
            return
        if status == kernels.LINKS_FULL:
            links = {name: _doubled(getattr(nodes, name)) for name in ("link_low", "link_high")}
            self._entries = entries._replace(nodes=nodes._replace(**links))
            return
        room = self._no_entries(2 * len(nodes.event), 0)
        for array, old in zip(_by_entry(room).values(), _by_entry(entries).values(), strict=True):
            array[: len(old)] = old
        same = ("link_low", "link_high", "root_first", "root_entry")
        more = room.nodes._replace(**{name: getattr(nodes, name) for name in same})
        self._entries = room._replace(nodes=more)


class LaneSets:
    """One complex event for each end, with all events of its lane from a start to the end; `Answers`.

    Parameters
    ----------
    chain : ndarray, shape (events, CHAIN), int64
    event, lowest : ndarray, shape (ends,), int64
        The event of each end, and its least admissible start.
    own_lane : bool
        Whether that start is always an event of the same lane.
    label : int
        The mark of every event; 0: no event is marked.
    """

    sharing: Literal["blocks"] = "blocks"

    def __init__(
        self, chain: np.ndarray, event: np.ndarray, lowest: np.ndarray, own_lane: bool, label: int
    ) -> None:
        self._chain, self._event, self._label = chain, event, label
        self._start, self._length = np.empty((2, len(event)), np.int64)
        kernels.session_starts(chain, event, lowest, own_lane, self._start, self._length)

    @property
    def count(self) -> np.ndarray:
        """How many complex events each end has, shape (ends,), int64."""
        return np.ones(len(self._event), np.int64)

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing them takes, shape (ends,)."""
        return self._length

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some ends, in the given order; as `Answers.blocks`."""
        if limit == 0:
            return
        length = self._length if self._label else np.zeros_like(self._length)
        for some in marks_at_once(order, length, size):
            first = np.append(0, np.cumsum(length[some]))
            marks = np.empty(int(first[-1]), np.int64)
            kernels.chained_events(self._chain, self._event[some], first, marks)
            yield Block(some, self._start[some], first, marks, np.full(len(marks), self._label, np.int32))


def _queues(view_state: np.ndarray, view_rises: np.ndarray) -> np.ndarray:
    """Which of the queues of its state each view has, shape (views,), int32; -1 where latest starts rise."""
    found, used = np.full(len(view_state), -1, np.int32), dict.fromkeys(view_state.tolist(), 0)
    for view in np.flatnonzero(view_rises == 0).tolist():
        state = int(view_state[view])
        found[view] = used[state]
        used[state] += 1
    return found


def _counts(ends: StepEnds, earlier: np.ndarray, known: np.ndarray) -> np.ndarray:
    """How many complex events each end has, `LARGEST` where the number does not fit.

    Parameters
    ----------
    ends : StepEnds
    earlier : ndarray, shape (entries,), int32
        As in `OpenEntries`.
    known : ndarray, shape (ends,), int64
        The numbers that are known already, at most `MOST_RUNS`; -1 where the window leaves some out.
    """
    nodes, event, lowest, _ = ends
    number = np.where(known < MOST_RUNS, known, LARGEST)
    left = np.flatnonzero(known < 0)
    if not len(left):
        return number
    number[left], many = walked_counts(nodes, left, event[left], lowest[left])
    if len(many):
        entries = len(earlier)
        sums, carries, own = *np.empty((2, entries), np.int64), np.empty(entries, np.int32)
        for hit in left[many].tolist():
            found = kernels.count_in_window(nodes, earlier, hit, int(lowest[hit]), sums, carries, own)
            number[hit] = found if found < MOST_RUNS else LARGEST
    return number


def _of_ends(nodes: StepNodes, which: np.ndarray) -> StepNodes:
    """The nodes with the roots of some ends alone."""
    first = nodes.root_first
    length = np.diff(first)[which]
    return nodes._replace(
        root_first=np.append(0, np.cumsum(length)), root_entry=nodes.root_entry[ranges(first[which], length)]
    )


def _by_entry(entries: OpenEntries) -> dict[str, np.ndarray]:
    """The arrays that have a row for each entry, by name."""
    nodes = entries.nodes
    names = ("label", "latest", "link_first", "link_last", "before")
    return {
        "event of entry": nodes.event,
        **{name: getattr(nodes, name) for name in names},
        **{name: getattr(entries, name) for name in OpenEntries._fields[1:]},
    }


def _doubled(array: np.ndarray) -> np.ndarray:
    return np.append(array, np.empty_like(array))

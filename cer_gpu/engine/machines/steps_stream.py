"""Steps on a stream: the open runs of each lane, and the complex events of a push."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.first_starts import RootedEnds
from cer_gpu.engine.machines.open_runs import FollowedEvents, Renumbering
from cer_gpu.engine.machines.open_state import (
    Column,
    Moved,
    OpenState,
    bounds_of,
    first_left,
    in_order,
    next_left,
    numbered,
    past,
)
from cer_gpu.engine.machines.stream_loop import AnswersOf, LoopRuns
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import grown
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.blocks import ranges
from cer_gpu.enumeration.sessions import SingleAnswers, same_labels
from cer_gpu.enumeration.steps import StepAnswers, StepEnds
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.loop.contract import LARGEST, MOST_RUNS, StepNodes
from cer_gpu.kernels.loop.nodes import LINKS, ROOTS
from cer_gpu.kernels.loop.run import scratch
from cer_gpu.kernels.steps import cpu_stream as kernels
from cer_gpu.kernels.steps.contract import Sessions, StepEvents, StepTables
from cer_gpu.kernels.steps.cpu_paths import path_labels
from cer_gpu.kernels.steps.cpu_walk import walked_counts
from cer_gpu.kernels.steps.stream_state import (
    CHAIN,
    SESSION,
    EndCounts,
    OpenEntries,
    OpenLanes,
    OpenSessions,
    rising_earliest,
)
from cer_gpu.kernels.streams.contract import NOTHING, LaneBounds, StreamEnds, StreamEvents
from cer_gpu.plan.step_machine import StepMachine

NOT_PARTED = Sessions(0, False, False, False, 0)
"""Sessions that never end."""


FULL = {kernels.ENTRIES: "entry", LINKS: "link", ROOTS: "root"}
"""The axis of the state that is full, by the word that says how many rows it has."""


class StepRuns(LoopRuns):
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

    rooted = StepNodes, "root_entry"

    def __init__(self, machine: StepMachine, consume: str, size: Any = None) -> None:
        tables = self._tables = machine.tables
        progress = np.zeros(kernels.WORDS, np.int64)
        super().__init__(kernels.follow_open, tables, progress, consume, size)
        self._queue = _queues(tables.view_state, tables.view_rises)
        self._sessions = machine.sessions
        high = tables.view_low.dtype.type(0)
        never = NOT_PARTED._replace(high=high)
        self._gaps = machine.reach or never
        self._bounded = machine.reach is not None
        words = {"entry": kernels.ENTRIES, "link": LINKS, "root": ROOTS}
        self._state = OpenState(progress, words, _columns(tables, int(self._queue.max(initial=-1)) + 1))
        self._groups = np.empty((len(scratch(tables)) + 1, kernels.COLUMNS), np.int64)
        self._rising = rising_earliest(tables)
        self._labels = path_labels(tables)

    def _reach(self, following: FollowedEvents) -> None:
        self._state.reach("lane", len(following.bounds.low))
        if self._sessions is not None:
            self._state.reach("event", following.stop)

    def _events(self, events: StreamEvents, following: FollowedEvents) -> StepEvents:
        times = following.times if self._tables.view_timed.any() else following.times[:0]
        return StepEvents(events.symbols, times.view(self._tables.view_low.dtype), events.places)

    def _room(self, events: StreamEvents, following: FollowedEvents) -> kernels.OpenRoom:
        state = self._state
        parts = state.read(OpenSessions, reach=self._gaps, sessions=self._sessions or self._gaps)
        entries = state.read(OpenEntries, nodes=state.read(StepNodes))
        return kernels.OpenRoom(
            entries, state.read(OpenLanes), parts, self._queue, self._rising, events, following.bounds,
            self._progress, self._groups, state.read(EndCounts).number,
        )  # fmt: skip

    def _full(self, status: int, events: StreamEvents, following: FollowedEvents) -> str | None:
        return FULL[status]

    def _latest(self, root: np.ndarray) -> np.ndarray:
        return self._state.read(StepNodes).latest[root]

    def _answers(self, rooted: RootedEnds) -> AnswersOf:
        state, (event, lowest, _) = self._state, rooted.ends
        nodes, earlier = state.read(StepNodes), state.read(OpenEntries).earlier
        number = state.read(EndCounts).number[: len(event)].copy()
        if self._starts is not None:
            number[:] = -1
        sessions, labels, own_lane = self._sessions, self._labels, self._consumes == NOTHING
        chain = state.read(OpenSessions).chain

        def answers(seen: EventArrays, window: AttributeWindow | None, some: Ends) -> Answers:
            if sessions is not None:
                return LaneSets(chain, some.event, some.lowest, own_lane, sessions.label)
            first, root = rooted.roots_of(some.event)
            own = nodes._replace(root_first=first, root_entry=root)
            ends = StepEnds(own, some.event, some.lowest, labels)
            which = np.searchsorted(event, some.event)
            known = np.where(some.lowest == lowest[which], number[which], -1)
            return StepAnswers(ends, _counts(ends, earlier, known), window)

        return answers

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """Find what is needed; as `OpenRuns.bound`."""
        super().bound(events, bounds)
        if self._starts is None and self._bounded:
            since = self._state.array(OpenLanes, "since")
            low = np.maximum(grown(since, len(bounds.low), -1)[: len(bounds.low)], 0)
            if len(events.measured):
                # A window looks at the first event that it has; one at least stays.
                low = np.minimum(low, np.maximum(bounds.last, 0))
            bounds.low[:] = np.maximum(bounds.low, low)

    def _forget(self, dropped: Renumbering) -> None:
        state = self._state
        entered, states = state.array(StepNodes, "event"), len(self._tables.accepting)
        event_of, open_events = dropped.event_of, dropped.open_events
        which = np.flatnonzero(dropped.is_open.view(bool)[entered])
        entry_of = numbered(which, len(entered))
        low, high = (state.array(StepNodes, name) for name in ("link_low", "link_high"))
        begin, end = (state.array(StepNodes, name)[which] for name in ("link_first", "link_last"))
        links = ranges(begin, end - begin)
        links = links[(low[links] < 0) | (entry_of[high[links] - 1] >= 0)]
        linked = np.zeros(len(low), bool)
        linked[links] = True
        of_entry = state.array(OpenEntries, "state")

        def chain(rows: np.ndarray) -> np.ndarray:
            return dropped.lane[entered[rows]].astype(np.int64) * states + of_entry[rows]

        maps: dict[str, Moved] = {
            "event": event_of, "entry": entry_of, "past entry": past(entry_of), "links": bounds_of(linked),
            "first of chain": first_left(entry_of, which, chain),
            "first of partition": first_left(event_of, open_events, dropped.lane.take),
        }  # fmt: skip
        if self._sessions is not None:
            sessions = state.array(OpenSessions, "chain")[:, SESSION]
            maps["first of session"] = first_left(event_of, open_events, sessions.take)
        state.array(OpenLanes, "head")[:] = self._heads(entry_of)
        state.keep(
            {
                "event": dropped.event_rows, "lane": dropped.lane_rows,
                "entry": in_order(which), "link": in_order(links),
            },
            maps,
        )  # fmt: skip
        lanes = state.read(OpenLanes)
        lanes.tail[lanes.head < 0] = -1
        lanes.gone[lanes.shown < 0] = -1

    def _heads(self, entry_of: np.ndarray) -> np.ndarray:
        """The new number of the head of each queue, -1 for none; `entry_of`: those of entries."""
        head, tail = (self._state.array(OpenLanes, name) for name in ("head", "tail"))
        after = self._state.array(OpenEntries, "queue_after")
        heads = np.full_like(head, -1)
        for view in np.flatnonzero(self._queue >= 0).tolist():
            left = next_left(entry_of, after[:, self._queue[view]])
            heads[:, view] = np.where(entry_of[tail[:, view]] >= 0, left[head[:, view]], -1)
        return heads


def _columns(tables: StepTables, queues: int) -> dict[type, dict[str, Column]]:
    """What is kept between pushes; `queues`: how many an entry may be in."""
    states, views = len(tables.accepting), len(tables.view_state)

    def entry(of: str | None = None, dtype: Any = np.int32) -> Column:
        return Column("entry", dtype, of=of)

    def lane(of: str | None, *width: int) -> Column:
        return Column("lane", width=width, of=of, fill=-1)

    queued = Column("entry", np.int32, (queues,), "entry", fill=-1)
    return {
        StepNodes: {
            "event": entry("event"), "label": entry(), "latest": entry("event", np.int64),
            "link_first": entry("links"), "link_last": entry("links"),
            "link_low": Column("link", np.int32, of="first of chain"),
            "link_high": Column("link", np.int32, of="past entry"),
            "root_first": Column("end", fill=0), "root_entry": Column("root", np.int32),
            "before": entry("entry"),
        },
        OpenEntries: {
            "state": entry(), "after": entry("entry"), "earlier": entry("entry"),
            "runs": entry(dtype=np.int64), "sums": entry(dtype=np.int64), "carries": entry(dtype=np.int64),
            "earliest": entry("event", np.int64), "queue_before": queued, "queue_after": queued,
        },
        OpenLanes: {
            "first": lane("first of chain", states), "last": lane("entry", states),
            "shown": lane("entry", views), "gone": lane("first of chain", views),
            "head": lane(None, views), "tail": lane("entry", views), "newest": lane("entry"),
            "ended": lane("event"), "since": lane("first of partition"), "session": lane("first of session"),
        },
        OpenSessions: {"chain": Column("event", width=(CHAIN,), of=("event", "first of session", None))},
        StreamEnds: dict.fromkeys(StreamEnds._fields, Column("end")),
        EndCounts: {"number": Column("end")},
    }  # fmt: skip


class LaneSets(SingleAnswers):
    """One complex event for each end, with all events of its lane from a start to the end.

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

    sharing = "blocks"
    marks_of_step = 1

    def __init__(
        self, chain: np.ndarray, event: np.ndarray, lowest: np.ndarray, own_lane: bool, label: int
    ) -> None:
        self._chain, self._event, self._label = chain, event, label
        self._start, length = np.empty((2, len(event)), np.int64)
        kernels.session_starts(chain, event, lowest, own_lane, self._start, length)
        super().__init__(length if label else np.zeros_like(length))

    def _block(self, some: np.ndarray, first: np.ndarray) -> Block:
        marks = np.empty(int(first[-1]), np.int64)
        kernels.chained_events(self._chain, self._event[some], first, marks)
        return Block(some, self._start[some], first, marks, same_labels(self._label, marks))


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

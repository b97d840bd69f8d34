"""Steps on a stream: the entries of its lanes, kept from push to push.

Lanes grow side by side, so the entries of one state have no neighbouring numbers: they are chained, and a
range of entries is given by its last entry and the number of its first one. A view moves along the chain as
in `loop.views` it moves over neighbours, so an event costs a constant number of steps on average for each
read.
"""

from typing import NamedTuple

import numpy as np

from ..jit import composed, inline, jit
from ..loop.contract import MOST_RUNS, NEIGHBOUR
from ..loop.follow import follow
from ..loop.gaps import add_link
from ..loop.nodes import HIT, LACKS, LANE, LINKS, LOW, NODE_WORDS, ROOTS, end_open, lowest_open
from ..loop.products import LATEST, STREAM, both
from ..loop.sums import at_most
from ..loop.views import comes, follows, goes
from ..streams.contract import LaneBounds, StreamEvents
from .cpu_sessions import goes_on
from .stream_state import EVENT_BEFORE, RANK, SESSION, OpenEntries, OpenLanes, OpenSessions

ENTRIES, RUNS, EARLY, TOTAL, LEAST, WORDS = range(NODE_WORDS, NODE_WORDS + 6)
"""Further words: how many entries there are; how many runs the group that is read enters, and before which
event none of them starts; the same of all runs that end. `WORDS` is the number of all words."""

LINKS_END, RUNS_OF, EARLY_OF, COLUMNS = range(4)
"""Columns of `groups`: where the links of a group end, and its `RUNS` and `EARLY`."""


class OpenRoom(NamedTuple):
    """The open runs of a stream.

    =========  ===========================  ============================================================
    `entries`  OpenEntries                  in/out; roots are those of the ends since words[HIT] was 0
    `lanes`    OpenLanes                    in/out
    `parts`    OpenSessions                 in; `chain` out
    `queue`    int32 [views]                in: as in `_move`
    `rising`   uint8 [states]               in: `rising_earliest`
    `stream`   StreamEvents                 in; `following` in/out
    `bounds`   LaneBounds                   in/out
    `words`    int64 [WORDS]                in/out
    `groups`   int64 [groups + 1, COLUMNS]  scratch: as many as a symbol has
    `number`   int64 [ends]                 out: how many complex events end; -1: some may start too early
    =========  ===========================  ============================================================
    """

    entries: OpenEntries
    lanes: OpenLanes
    parts: OpenSessions
    queue: np.ndarray
    rising: np.ndarray
    stream: StreamEvents
    bounds: LaneBounds
    words: np.ndarray
    groups: np.ndarray
    number: np.ndarray


@inline
def _move(tables, events, open_lanes, entries, queue, lane, view, event):
    """Move a view that does not show neighbours to an event: its entry of the greatest latest start, or -1.

    `queue` int32 [views]: in, which of the queues of its state a view has, -1 where latest starts rise. The
    first entry that is shown then stands in `gone`, and the last one in `shown`.
    """
    node_event = entries.nodes.event
    latest = entries.nodes.latest
    before = entries.queue_before
    after = entries.queue_after
    q = queue[view]
    shown = open_lanes.shown[lane, view]
    gone = open_lanes.gone[lane, view]
    head = open_lanes.head[lane, view]
    tail = open_lanes.tail[lane, view]
    at = entries.after[shown] if shown >= 0 else open_lanes.first[lane, tables.view_state[view]]
    while at >= 0 and comes(tables, events, view, node_event[at], event):
        if gone < 0:
            gone = at
        if q >= 0:
            while tail >= 0 and latest[tail] <= latest[at]:
                tail = before[tail, q] if tail != head else -1
            if tail < 0:
                head = at
            else:
                after[tail, q] = at
            before[at, q] = tail
            tail = at
        shown = at
        at = entries.after[at]
    while gone >= 0 and goes(tables, events, view, node_event[gone], event):
        gone = entries.after[gone] if gone != shown else -1
    best = shown if gone >= 0 else -1
    if q >= 0:
        while head >= 0 and goes(tables, events, view, node_event[head], event):
            head = after[head, q] if head != tail else -1
        if head < 0:
            tail = -1
        best = head
        open_lanes.head[lane, view] = head
        open_lanes.tail[lane, view] = tail
    open_lanes.shown[lane, view] = shown
    open_lanes.gone[lane, view] = gone
    return best


@inline
def _neighbour(tables, events, open_lanes, entries, lane, view, event):
    """The entry that a view of neighbours shows at an event, or -1."""
    last = open_lanes.last[lane, tables.view_state[view]]
    return last if last >= 0 and follows(tables, events, view, entries.nodes.event[last], event) else -1


@inline
def _follow_sessions(parts, events, open_lanes, lane, event):
    """Note where the sessions of a lane begin by an event."""
    before = open_lanes.ended[lane]
    if before < 0 or not goes_on(parts.reach, events.times, events.places, before, event):
        open_lanes.since[lane] = event
    chain = parts.chain
    if chain.shape[0] > 0:
        if before < 0 or not goes_on(parts.sessions, events.times, events.places, before, event):
            open_lanes.session[lane] = event
        chain[event, EVENT_BEFORE] = before
        chain[event, SESSION] = open_lanes.session[lane]
        chain[event, RANK] = 0 if before < 0 else chain[before, RANK] + 1
    open_lanes.ended[lane] = event


@inline
def _append(open_lanes, entries, lane, state, at):
    """Put an entry behind the others of its chain and of its lane."""
    last = open_lanes.last[lane, state]
    entries.nodes.before[at] = last
    entries.after[at] = -1
    entries.earlier[at] = open_lanes.newest[lane]
    if last >= 0:
        entries.after[last] = at
    else:
        open_lanes.first[lane, state] = at
    open_lanes.last[lane, state] = at
    open_lanes.newest[lane] = at


@inline
def _runs_of(entries, first, last):
    """How many runs the entries of a chain from `first` to `last` have, at most `MOST_RUNS`."""
    runs = at_most(entries.sums[last] - entries.sums[first], entries.carries[last] - entries.carries[first])
    return min(runs + entries.runs[first], MOST_RUNS)


@inline
def _sum_up(entries, at, runs, early):
    """Note the runs of an entry, which is in its chain by now, and from which event on they start."""
    before = entries.nodes.before[at]
    total = runs
    carry = np.int64(0)
    if before >= 0:
        total += entries.sums[before]
        carry = entries.carries[before]
    if total >= MOST_RUNS:
        total -= MOST_RUNS
        carry += 1
    entries.runs[at] = runs
    entries.sums[at] = total
    entries.carries[at] = carry
    entries.earliest[at] = early


@inline
def lowest_entry(events, window, room, event, low):
    words = room.words
    low = lowest_open(room.stream, window, room, event, low)
    _follow_sessions(room.parts, events, room.lanes, words[LANE], event)
    words[TOTAL] = 0
    words[LEAST] = event
    words[RUNS] = 0
    words[EARLY] = event
    return low


@inline
def room_for_entries(tables, room, event, symbol):
    words = room.words
    nodes = room.entries.nodes
    first = tables.first[symbol]
    last = tables.first[symbol + 1]
    reads = tables.read_first[last] - tables.read_first[first]
    words[LACKS] = -1
    if words[ENTRIES] + last - first > nodes.event.shape[0]:
        words[LACKS] = ENTRIES
    elif words[LINKS] + last - first + reads > nodes.link_low.shape[0]:
        words[LACKS] = LINKS
    elif words[ROOTS] + last - first > nodes.root_entry.shape[0]:
        words[LACKS] = ROOTS
    room.groups[0, LINKS_END] = words[LINKS]
    return words[LACKS] < 0


@inline
def start_entry(tables, room, event, stop):
    add_link(room.entries.nodes, room.words, -1, -1)
    room.words[RUNS] = 1
    return event


@inline
def read_entries(tables, events, room, view, event, low, own):
    entries = room.entries
    lanes = room.lanes
    words = room.words
    lane = words[LANE]
    if tables.view_near[view] == NEIGHBOUR:
        entry = _neighbour(tables, events, lanes, entries, lane, view, event)
        first = entry
        last = entry
    else:
        entry = _move(tables, events, lanes, entries, room.queue, lane, view, event)
        first = lanes.gone[lane, view]
        last = lanes.shown[lane, view]
    if entry >= 0 and entries.nodes.latest[entry] >= low:
        own = max(own, entries.nodes.latest[entry])
        rises = room.rising[tables.view_state[view]] or first == last
        words[EARLY] = min(words[EARLY], entries.earliest[first if rises else last])
        words[RUNS] = both(words[RUNS], _runs_of(entries, first, last))
        add_link(entries.nodes, words, first, last + 1)
    return own


@inline
def close_group(tables, room, group, place, event, own):
    groups = room.groups
    words = room.words
    groups[place + 1, LINKS_END] = words[LINKS]
    groups[place + 1, RUNS_OF] = words[RUNS]
    groups[place + 1, EARLY_OF] = words[EARLY]
    words[RUNS] = 0
    words[EARLY] = event


@inline
def append_entry(tables, events, room, group, place, event, own):
    entries = room.entries
    nodes = entries.nodes
    words = room.words
    groups = room.groups
    state = tables.group_state[group]
    at = words[ENTRIES]
    words[ENTRIES] = at + 1
    nodes.event[at] = event
    nodes.label[at] = tables.state_label[state]
    nodes.latest[at] = own
    nodes.link_first[at] = groups[place, LINKS_END]
    nodes.link_last[at] = groups[place + 1, LINKS_END]
    entries.state[at] = state
    _append(room.lanes, entries, words[LANE], state, at)
    early = groups[place + 1, EARLY_OF]
    last = nodes.before[at]
    if last >= 0 and not room.rising[state] and nodes.event[last] >= room.lanes.since[words[LANE]]:
        early = min(early, entries.earliest[last])
    _sum_up(entries, at, groups[place + 1, RUNS_OF], early)
    if tables.accepting[state]:
        nodes.root_entry[words[ROOTS]] = at
        words[ROOTS] += 1
        words[TOTAL] = both(words[TOTAL], groups[place + 1, RUNS_OF])
        words[LEAST] = min(words[LEAST], groups[place + 1, EARLY_OF])


@inline
def note_open(room, out, found, event, stop, own):
    words = room.words
    room.number[words[HIT]] = words[TOTAL] if words[LEAST] >= words[LOW] else -1
    end_open(room.entries.nodes.root_first, room, out, event, own)
    return found + 1


follow_open = composed(
    follow,
    "follow_open",
    **LATEST
    | STREAM
    | {
        "lowest": lowest_entry,
        "ready": room_for_entries,
        "start": start_entry,
        "read": read_entries,
        "close": close_group,
        "keep": append_entry,
        "note": note_open,
    },
)
"""The loop of segments over entries that are chained, by lane and state, and stay from push to push."""


@jit
def count_in_window(nodes, earlier, hit, lowest, sums, carries, lane_entries):
    """Count the complex events of a hit that start at `lowest` or later; a step for each entry of the lane.

    ==============  ==================  =================================================================
    `nodes`         StepNodes           in: chained
    `earlier`       int32 [entries]     in
    `hit`           int                 in
    `lowest`        int                 in
    `sums`          int64 [entries]     scratch: how many runs the chain has up to an entry, below
    `carries`       int64 [entries]     `MOST_RUNS`, and how many times `MOST_RUNS` besides
    `lane_entries`  int32 [entries]     scratch
    ==============  ==================  =================================================================

    Gives the number, or `MOST_RUNS` for one that is larger.
    """
    number = np.int64(0)
    newest = -1
    for r in range(nodes.root_first[hit], nodes.root_first[hit + 1]):
        newest = max(newest, nodes.root_entry[r])
    n = 0
    while newest >= 0 and nodes.event[newest] >= lowest:
        lane_entries[n] = newest
        n += 1
        newest = earlier[newest]
    for k in range(n):
        entry = lane_entries[n - 1 - k]
        runs = np.int64(0)
        for link in range(nodes.link_first[entry], nodes.link_last[entry]):
            low = nodes.link_low[link]
            last = nodes.link_high[link] - 1
            if low < 0:
                runs = min(runs + 1, MOST_RUNS)
            elif nodes.event[last] >= lowest:
                more = sums[last]
                carry = carries[last]
                before = nodes.before[low]
                if before >= 0 and nodes.event[before] >= lowest:
                    more -= sums[before]
                    carry -= carries[before]
                runs = min(runs + at_most(more, carry), MOST_RUNS)
        for r in range(nodes.root_first[hit], nodes.root_first[hit + 1]):
            if nodes.root_entry[r] == entry:
                number = min(number + runs, MOST_RUNS)
        carry = np.int64(0)
        before = nodes.before[entry]
        if before >= 0 and nodes.event[before] >= lowest:
            runs += sums[before]
            carry = carries[before]
        if runs >= MOST_RUNS:
            runs -= MOST_RUNS
            carry += 1
        sums[entry] = runs
        carries[entry] = carry
    return number


@jit
def session_starts(chain, event, lowest, own_lane, start, length):
    """Write where the sessions of some ends begin, and how many events of the lane there are from there on.

    ==========  ======================  ====================================================================
    `chain`     int64 [events, CHAIN]   in
    `event`     int64 [ends]            in
    `lowest`    int64 [ends]            in: the least admissible start,
    `own_lane`  bool                    in: whether that is always an event of the same lane
    `start`     int64 [ends]            out
    `length`    int64 [ends]            out
    ==========  ======================  ====================================================================
    """
    for e in range(event.shape[0]):
        first = chain[event[e], SESSION]
        if first < lowest[e] and own_lane:
            first = lowest[e]
        elif first < lowest[e]:
            first = event[e]
            while chain[first, EVENT_BEFORE] >= lowest[e]:
                first = chain[first, EVENT_BEFORE]
        start[e] = first
        length[e] = chain[event[e], RANK] - chain[first, RANK] + 1


@jit
def chained_events(chain, event, first, out):
    """Write the events of a lane up to an end, for each of some ends.

    `chain` int64 [events, CHAIN], `event` int64 [ends], `first` int64 [ends + 1] in; `out` int64 [all] out:
    those of end e are out[first[e]] .. out[first[e + 1] - 1], ascending.
    """
    for e in range(event.shape[0]):
        at = event[e]
        for k in range(first[e + 1] - 1, first[e] - 1, -1):
            out[k] = at
            at = chain[at, EVENT_BEFORE]

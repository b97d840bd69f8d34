"""Steps on a stream: the entries of its lanes, kept from push to push.

Lanes grow side by side, so the entries of one state have no neighbouring numbers: they are chained, and a
range of entries is given by its last entry and the number of its first one. A view moves along the chain as
in `loop.views` it moves over neighbours, so an event costs a constant number of steps on average for each
read.
"""

import numpy as np

from ..jit import inline, jit
from ..loop.contract import MOST_RUNS, NEIGHBOUR
from ..loop.sums import at_most
from ..loop.views import comes, goes
from ..streams.cpu import least_start, note_end
from .cpu_sessions import goes_on
from .kept import EVENT_BEFORE, RANK, SESSION

DONE, ENTRIES_FULL, LINKS_FULL, ROOTS_FULL = range(4)

VALUE, LINKS_OF_GROUP, RUNS, EARLY, ENTERED = range(5)
"""Columns of `entered`: the value of a group, where its links end, how many runs it enters, and the event
before which none starts. `ENTERED` is the number of columns."""

AT, ENTRIES, LINKS, ROOTS, HIT, WORDS = range(6)
"""Words of `progress`: the next event, and how many entries, links, roots and ends there are. `WORDS` is the
number of words."""


@inline
def _move(tables, stepped, open_lanes, entries, queue, lane, view, event):
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
    while at >= 0 and comes(tables, stepped, view, node_event[at], event):
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
    while gone >= 0 and goes(tables, stepped, view, node_event[gone], event):
        gone = entries.after[gone] if gone != shown else -1
    best = shown if gone >= 0 else -1
    if q >= 0:
        while head >= 0 and goes(tables, stepped, view, node_event[head], event):
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
def _neighbour(tables, stepped, open_lanes, entries, lane, view, event):
    """The entry that a view of neighbours shows at an event, or -1."""
    last = open_lanes.last[lane, tables.view_state[view]]
    shown = False
    if last >= 0:
        entered = entries.nodes.event[last]
        shown = stepped.places[entered] + 1 == stepped.places[event]
        if shown and tables.view_timed[view]:
            gap = stepped.times[event] - stepped.times[entered]
            inside = gap >= tables.view_low[view] and gap <= tables.view_high[view]
            shown = inside or (gap != gap and tables.view_loose[view] != 0)
    return last if shown else -1


@inline
def _follow_sessions(parts, stepped, open_lanes, lane, event):
    """Note where the sessions of a lane begin by an event."""
    before = open_lanes.ended[lane]
    if before < 0 or not goes_on(parts.reach, stepped.times, stepped.places, before, event):
        open_lanes.since[lane] = event
    chain = parts.chain
    if chain.shape[0] > 0:
        if before < 0 or not goes_on(parts.sessions, stepped.times, stepped.places, before, event):
            open_lanes.session[lane] = event
        chain[event, EVENT_BEFORE] = before
        chain[event, SESSION] = open_lanes.session[lane]
        chain[event, RANK] = 0 if before < 0 else chain[before, RANK] + 1
    open_lanes.ended[lane] = event


@jit
def follow(tables, queue, events, stepped, stop, window, bounds, parts, open_lanes, entries, ends, scratch):
    """Follow all runs of a stream over its next events: `DONE`, or which array is full.

    ============  ========================  ==============================================================
    `tables`      StepTables                in
    `queue`       int32 [views]             in: as in `_move`
    `events`      StreamEvents              in; `following` in/out
    `stepped`     StepEvents                in: the same events
    `stop`        int64                     in: one past the last event
    `window`      StreamWindow              in
    `bounds`      LaneBounds                in/out
    `parts`       OpenSessions              in; `chain` out
    `open_lanes`  OpenLanes                 in/out
    `entries`     OpenEntries               in/out
    `ends`        StreamEnds                out: ends 0 .. progress[HIT] - 1
    `scratch`     three int64 arrays,       `progress` [WORDS] in/out: the next event in progress[AT], and so
                  and uint8 [states]        on; `entered` [groups, ENTERED] scratch; `number` [ends] out: how
                                            many complex events end, -1 where some may start too early;
                                            `rising` in: `rising_earliest`
    ============  ========================  ==============================================================

    When an array is full, the host enlarges it and calls again with everything else as it is. Roots and ends
    are those since progress[ROOTS] and progress[HIT] were set to 0.
    """
    progress, entered, number, rising = scratch
    nodes = entries.nodes
    laned = events.lanes.shape[0] > 0
    while progress[AT] < stop:
        event = progress[AT]
        symbol = events.symbols[event]
        begin = tables.first[symbol]
        end = tables.first[symbol + 1]
        reads = tables.read_first[end] - tables.read_first[begin]
        if progress[ENTRIES] + end - begin > nodes.event.shape[0]:
            return ENTRIES_FULL
        if progress[LINKS] + end - begin + reads > nodes.link_low.shape[0]:
            return LINKS_FULL
        if progress[ROOTS] + end - begin > nodes.root_entry.shape[0]:
            return ROOTS_FULL
        lane = 0
        if laned:
            lane = events.lanes[event]
        bound = least_start(events, event, lane, window.size, bounds)
        _follow_sessions(parts, stepped, open_lanes, lane, event)
        links = progress[LINKS]
        before = links
        for group in range(begin, end):
            value = -1
            runs = np.int64(tables.group_starts[group])
            early = event
            if tables.group_starts[group]:
                value = event
                nodes.link_low[links] = -1
                nodes.link_high[links] = -1
                links += 1
            for read in range(tables.read_first[group], tables.read_first[group + 1]):
                view = tables.read_view[read]
                if tables.view_near[view] == NEIGHBOUR:
                    entry = _neighbour(tables, stepped, open_lanes, entries, lane, view, event)
                    first = entry
                    last = entry
                else:
                    entry = _move(tables, stepped, open_lanes, entries, queue, lane, view, event)
                    first = open_lanes.gone[lane, view]
                    last = open_lanes.shown[lane, view]
                if entry >= 0 and nodes.latest[entry] >= bound:
                    value = max(value, nodes.latest[entry])
                    rises = rising[tables.view_state[view]] or first == last
                    early = min(early, entries.earliest[first if rises else last])
                    runs = min(runs + _runs_of(entries, first, last), MOST_RUNS)
                    nodes.link_low[links] = first
                    nodes.link_high[links] = last + 1
                    links += 1
            entered[group - begin, VALUE] = value
            entered[group - begin, LINKS_OF_GROUP] = links
            entered[group - begin, RUNS] = runs
            entered[group - begin, EARLY] = early
        best = -1
        total = np.int64(0)
        least = event
        for group in range(begin, end):
            value = entered[group - begin, VALUE]
            if value >= 0:
                state = tables.group_state[group]
                at = progress[ENTRIES]
                progress[ENTRIES] = at + 1
                nodes.event[at] = event
                nodes.label[at] = tables.state_label[state]
                nodes.latest[at] = value
                nodes.link_first[at] = before
                nodes.link_last[at] = entered[group - begin, LINKS_OF_GROUP]
                entries.state[at] = state
                _append(open_lanes, entries, lane, state, at)
                early = entered[group - begin, EARLY]
                last = nodes.before[at]
                if last >= 0 and not rising[state] and nodes.event[last] >= open_lanes.since[lane]:
                    early = min(early, entries.earliest[last])
                _sum_up(entries, at, entered[group - begin, RUNS], early)
                if tables.accepting[state]:
                    nodes.root_entry[progress[ROOTS]] = at
                    progress[ROOTS] += 1
                    best = max(best, value)
                    total = min(total + entered[group - begin, RUNS], MOST_RUNS)
                    least = min(least, entered[group - begin, EARLY])
            before = entered[group - begin, LINKS_OF_GROUP]
        progress[LINKS] = links
        if best >= 0:
            hit = progress[HIT]
            nodes.root_first[hit + 1] = progress[ROOTS]
            progress[HIT] = hit + 1
            number[hit] = total if least >= bound else -1
            note_end(ends, hit, event, lane, bound, best, bounds, window.consumes)
        progress[AT] = event + 1
    return DONE


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

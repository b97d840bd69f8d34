"""Hits and counts of steps that all lead from an event to the next one of its lane.

Where each view shows neighbours only (`A+ :[<= 5 s] B`, `STRICT` of a repetition), the states that an event
enters depend only on the event of its lane right before it. So of a lane only the last event is kept, with
the runs that it has entered: there are no queues, and events need not be grouped by lane. Where all runs that
enter with a symbol mark its event alike, the two ends of a complex event determine it: at most as many end at
an event as its lane has events, so a number always fits.

Where one group is all that runs enter (`A :+[<= 30 min]`), `_lone` and `_lone_sum` are 1.4 and 2.1 times as
fast as the loop over states (CPU time of the whole query under STRICT, three million events without keys).
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from ..loop.contract import FoundEnds
from .contract import lone_group

MOST = 1 << 62
"""Sums of fewer than so many runs fit 64 bits."""


@jit
def _neighbours(tables, events, positions, lanes, known, counted, entered, out, halt):
    """Write where complex events end; gives how many ends there are.

    ===========  =====================  ===============================================================
    `tables`     StepTables             in: `contract.of_neighbours`
    `events`     StepEvents             in: in the order of the stream
    `positions`  int64 [events]         in
    `lanes`      int32 [events] or [0]  in: empty: there is one lane
    `known`      NeighbourLanes         in/out
    `counted`    bool                   in: whether runs are counted; else their latest start is found
    `entered`    int64 [groups]         scratch: as many as a symbol has
    `out`        FoundEnds              out: the event of each end, and the number or the latest start
    `halt`       uint8 [1] or [0]       in: see `jit`
    ===========  =====================  ===============================================================
    """
    laned = lanes.shape[0] > 0
    timed = events.times.shape[0] > 0
    n_states = known.runs.shape[1]
    n = 0
    lane = 0
    for i in range(events.symbols.shape[0]):
        if i % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
            return n
        if laned:
            lane = lanes[i]
        symbol = events.symbols[i]
        begin = tables.first[symbol]
        stop = tables.first[symbol + 1]
        near = known.place[lane] + 1 == events.places[i]
        here = np.int64(1) if counted else positions[i] + 1
        found = np.int64(0)
        for group in range(begin, stop):
            runs = here if tables.group_starts[group] else np.int64(0)
            if near:
                for read in range(tables.read_first[group], tables.read_first[group + 1]):
                    view = tables.read_view[read]
                    value = known.runs[lane, tables.view_state[view]]
                    if value != 0 and tables.view_timed[view]:
                        gap = events.times[i] - known.time[lane]
                        inside = gap >= tables.view_low[view] and gap <= tables.view_high[view]
                        if not (inside or (gap != gap and tables.view_loose[view] != 0)):
                            value = np.int64(0)
                    runs = runs + value if counted else max(runs, value)
            entered[group - begin] = runs
            if tables.accepting[tables.group_state[group]]:
                found = found + runs if counted else max(found, runs)
        for state in range(n_states):
            known.runs[lane, state] = 0
        for group in range(begin, stop):
            known.runs[lane, tables.group_state[group]] = entered[group - begin]
        known.place[lane] = events.places[i]
        if timed:
            known.time[lane] = events.times[i]
        out.event[n] = i
        out.start[n] = found if counted else found - 1
        n += found != 0
    return n


@inline
def _joined(view, time, place, known, lane):
    """How many runs of the event before it in its lane an event joins; notes it as the last one of the lane.

    `view` is what `_lone_view` gives.
    """
    shows, timed, low, high, loose = view
    inside = shows & (known.place[lane] + 1 == place)
    known.place[lane] = place
    if timed:
        gap = time - known.time[lane]
        known.time[lane] = time
        # A gap that is no number is inside no bounds.
        inside &= ((gap >= low) & (gap <= high)) | ((gap != gap) & loose)
    # No branch on what is as often true as not.
    return known.runs[lane, 0] * np.int64(inside)


@inline
def _lone_view(tables):
    """The view that the only group of an automaton reads, as numbers that stay in registers."""
    view = np.uint64(tables.read_view[0]) if tables.read_view.shape[0] > 0 else np.uint64(0)
    shows = tables.read_view.shape[0] > 0 and tables.view_state[view] == tables.group_state[0]
    return (
        shows, tables.view_timed[view] != 0, tables.view_low[view], tables.view_high[view],
        tables.view_loose[view] != 0,
    )  # fmt: skip


@inline
def _lone_symbol(tables):
    """The symbol of the only group of an automaton."""
    symbol = np.uint64(0)
    while tables.first[symbol + np.uint64(1)] == 0:
        symbol += np.uint64(1)
    return symbol


@jit
def _lone(tables, events, positions, lanes, known, counted, out, halt):
    """As `_neighbours`, for an automaton that is `contract.lone_group`.

    `known.runs` has one column for the runs of the last event. Indices are unsigned: of a signed one it is
    checked each time whether it is negative.
    """
    laned = lanes.shape[0] > 0
    view, starts = _lone_view(tables), np.int64(tables.group_starts[0] != 0)
    accepting = tables.accepting[np.uint64(tables.group_state[0])] != 0
    own = _lone_symbol(tables)
    lane, n = np.uint64(0), np.uint64(0)
    timed, time = view[1], view[2]  # of its type
    for begin in range(0, events.symbols.shape[0], SELDOM):
        if halt.shape[0] > 0 and halt[0]:
            break
        for k in range(begin, min(begin + SELDOM, events.symbols.shape[0])):
            i = np.uint64(k)
            # An event that enters no state is not the one before any other, either.
            if np.uint64(events.symbols[i]) != own:
                continue
            if laned:
                lane = np.uint64(lanes[i])
            if timed:
                time = events.times[i]
            runs = _joined(view, time, events.places[i], known, lane)
            runs = runs + starts if counted else max(runs, starts * (positions[i] + 1))
            known.runs[lane, 0] = runs
            out.event[n] = k
            out.start[n] = runs if counted else runs - 1
            n += np.uint64((runs != 0) & accepting)
    return np.int64(n)


@jit
def _lone_sum(tables, events, lanes, known, halt):
    """How many complex events end at the events, as `_lone` counts them; the sum is below `MOST`.

    A loop of its own: one loop for both, which asks what is wanted, takes a tenth longer.
    """
    laned = lanes.shape[0] > 0
    view, starts = _lone_view(tables), np.int64(tables.group_starts[0] != 0)
    accepting = np.int64(tables.accepting[np.uint64(tables.group_state[0])] != 0)
    own = _lone_symbol(tables)
    lane, total = np.uint64(0), np.int64(0)
    timed, time = view[1], view[2]  # of its type
    for begin in range(0, events.symbols.shape[0], SELDOM):
        if halt.shape[0] > 0 and halt[0]:
            break
        for k in range(begin, min(begin + SELDOM, events.symbols.shape[0])):
            i = np.uint64(k)
            if np.uint64(events.symbols[i]) != own:
                continue
            if laned:
                lane = np.uint64(lanes[i])
            if timed:
                time = events.times[i]
            runs = _joined(view, time, events.places[i], known, lane) + starts
            known.runs[lane, 0] = runs
            total += runs
    return total * accepting


def neighbour_sum(tables, events, positions, lanes, known):
    """How many complex events end at some events, in all; the parameters are those of `neighbour_ends`.

    At an event at most as many end as there are events up to it, so that the sum is bounded before it is
    made. None where the bound is too large, or the automaton has more than one group: nothing is run then.
    """
    count = len(events.symbols)
    if not lone_group(tables) or count == 0 or (int(positions[-1]) + 1) * count >= MOST:
        return None
    return int(_lone_sum(tables, events, lanes, known))


def neighbour_ends(tables, events, positions, lanes, known, counted):
    """Where complex events end, and the number or the latest start of those that end there.

    Parameters
    ----------
    tables : StepTables
        `contract.of_neighbours`.
    events : StepEvents
        In the order of the stream, with their places.
    positions : ndarray, shape (events,), int64
        In the stream.
    lanes : ndarray, shape (events,) or (0,), int32
    known : NeighbourLanes
        Of the lanes after earlier events; changed.
    counted : bool
        True: find the number of complex events; False: their latest start.

    Returns
    -------
    event : ndarray, shape (ends,), int64
    value : ndarray, shape (ends,), int64
        How many end there, or the position of the latest start.
    """
    room = FoundEnds(*np.empty((2, len(events.symbols) + 1), np.int64))
    if lone_group(tables):
        n = _lone(tables, events, positions, lanes, known, counted, room)
    else:
        entered = np.empty(int(np.diff(tables.first).max(initial=0)), np.int64)
        n = _neighbours(tables, events, positions, lanes, known, counted, entered, room)
    return room.event[:n], room.start[:n]

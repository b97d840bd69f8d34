"""Monitors: finite automata that read every relevant event of a lane and rename its symbol."""

import numpy as np

from ..jit import jit
from ..suppress.cpu import is_reported


def rename(monitor, symbols, lanes, state):
    """Run a monitor over events in the order of the stream.

    Parameters
    ----------
    monitor : Monitor
    symbols : ndarray, shape (n,), unsigned
    lanes : ndarray, shape (n,) or (0,), int32
        The lane of each event; empty if there is one lane.
    state : ndarray, shape (lanes,), int32
        The state of each lane: in, before the events; out, after them.

    Returns
    -------
    ndarray, shape (n,), uint16
    """
    out = np.empty(len(symbols), np.uint16)
    if len(lanes):
        _in_lanes(monitor, symbols, lanes, state, out)
    else:
        state[0] = _in_one(monitor, symbols, state[0], out)
    return out


@jit
def _in_lanes(monitor, symbols, lanes, state, out):
    for event in range(symbols.shape[0]):
        at, read = state[lanes[event]], symbols[event]
        out[event] = monitor.symbol[at, read]
        state[lanes[event]] = monitor.follow[at, read]


@jit
def _in_one(monitor, symbols, at, out):
    for event in range(symbols.shape[0]):
        read = symbols[event]
        out[event] = monitor.symbol[at, read]
        at = monitor.follow[at, read]
    return at


@jit
def rename_consuming(monitor, tables, events, size, by_lane, quiet, watched, next_runs, next_began, out):
    """Run a monitor that begins again wherever a complex event is reported, as CONSUME BY asks.

    The automaton runs beside the monitor, to know where a complex event is reported. Of its runs in one state
    only the one that began with the greatest value is kept: the window admits the others only if it admits
    that one.

    ============  ===================================  =======================================================
    `monitor`     Monitor                              in
    `tables`      TransitionTables                     in: over the symbols that the monitor gives
    `events`      MonitoredEvents                      in
    `size`        int64 or float64                     in: the window; negative for none
    `by_lane`     bool                                 in: whether a report drops the partial matches of its
                                                       lane only
    `quiet`       QuietTimes                           in/out: the ends at these events that report nothing
    `watched`     WatchedLanes                         in/out
    `next_runs`   uint8 [automaton states]             scratch
    `next_began`  as `measured` [automaton states]     scratch
    `out`         uint16 [n]                           out: the symbols
    ============  ===================================  =======================================================
    """
    state = watched.state
    runs = watched.runs
    began = watched.began
    since = watched.since
    now = watched.now
    n_states = runs.shape[1]
    for event in range(events.symbols.shape[0]):
        lane = events.lanes[event]
        if since[lane] != now[0]:
            since[lane] = now[0]
            state[lane] = 0
            for k in range(n_states):
                runs[lane, k] = 0
        read = monitor.symbol[state[lane], events.symbols[event]]
        state[lane] = monitor.follow[state[lane], events.symbols[event]]
        out[event] = read
        if read == 0:
            continue
        for k in range(n_states):
            next_runs[k] = 0
        reported = False
        last = events.measured[event]
        # A NaN is a null too.
        valid = size < 0 or (events.keyed[event] != 0 and last == last)
        for t in range(tables.first[read], tables.first[read + 1]):
            starts = tables.source[t] == 0
            if not (valid if starts else runs[lane, tables.source[t]]):
                continue
            key = last if starts else began[lane, tables.source[t]]
            # The difference of integers may overflow: it is negative then.
            if tables.accepting[t] and (size < 0 or (valid and (last <= key or 0 <= last - key <= size))):
                reported = True
            to = tables.target[t]
            if to >= 0 and (not next_runs[to] or key > next_began[to]):
                next_runs[to] = 1
                next_began[to] = key
        for k in range(n_states):
            runs[lane, k] = next_runs[k]
            began[lane, k] = next_began[k]
        if reported and is_reported(quiet, event, lane):
            if by_lane:
                state[lane] = 0
                for k in range(n_states):
                    runs[lane, k] = 0
            else:
                now[0] += 1

"""Monitors: finite automata that read every relevant event of a lane and rename its symbol."""

import numpy as np

from ..jit import jit


def rename(follow, symbol, symbols, lanes, state):
    """Run a monitor over events in the order of the stream.

    Parameters
    ----------
    follow : ndarray, shape (states, symbols), int32
    symbol : ndarray, shape (states, symbols), uint16
    symbols : ndarray, shape (n,), unsigned
    lanes : ndarray, shape (n,) or (0,), int32
        The lane of each event; empty where there is one.
    state : ndarray, shape (lanes,), int32
        The state of each lane: those before the events in, those after them out.

    Returns
    -------
    ndarray, shape (n,), uint16
    """
    out = np.empty(len(symbols), np.uint16)
    if len(lanes):
        _in_lanes(follow, symbol, symbols, lanes, state, out)
    else:
        state[0] = _in_one(follow, symbol, symbols, state[0], out)
    return out


@jit
def _in_lanes(follow, symbol, symbols, lanes, state, out):
    for event in range(symbols.shape[0]):
        at, read = state[lanes[event]], symbols[event]
        out[event] = symbol[at, read]
        state[lanes[event]] = follow[at, read]


@jit
def _in_one(follow, symbol, symbols, at, out):
    for event in range(symbols.shape[0]):
        read = symbols[event]
        out[event] = symbol[at, read]
        at = follow[at, read]
    return at


@jit
def rename_consuming(
    follow, symbol, first, source, target, accepting,
    symbols, lanes, measured, keyed, size, by_lane,
    state, runs, began, since, now, next_runs, next_began, out,
):  # fmt: skip
    """Run a monitor that begins anew wherever a complex event is reported, as CONSUME BY asks.

    The runs of the automaton go along, to know where something is reported: of those in one state the one
    that began with the highest value, since the window admits the others only if it admits that one.

    Parameters
    ----------
    follow, symbol
        As in `rename`.
    first, source, target, accepting : ndarray
        The tables of the automaton, over the symbols that the monitor gives.
    symbols : ndarray, shape (n,), unsigned
    lanes : ndarray, shape (n,), int32
    measured : ndarray, shape (n,), int64 or float64
        What the window measures.
    keyed : ndarray, shape (n,), uint8
        0 where that is null: no window admits what starts or ends there.
    size : int or float
        The window; negative for none.
    by_lane : bool
        Whether a report drops the partial matches of its lane only.
    state : ndarray, shape (lanes,), int32
    runs : ndarray, shape (lanes, automaton states), uint8
        Whether there is a run in each state that a window may admit.
    began : ndarray, as `runs`, of the type of `measured`
        What the window measures where the last of them, by that measure, began.
    since : ndarray, shape (lanes,), int64
        How many reports each lane has seen.
    now : ndarray, shape (1,), int64
        How many there were, where a report drops the partial matches of all lanes.
    next_runs, next_began : ndarray, shape (automaton states,)
        Scratch.
    out : ndarray, shape (n,), uint16
    """
    n_states = runs.shape[1]
    for event in range(symbols.shape[0]):
        lane = lanes[event]
        if since[lane] != now[0]:
            since[lane] = now[0]
            state[lane] = 0
            for k in range(n_states):
                runs[lane, k] = 0
        read = symbol[state[lane], symbols[event]]
        state[lane] = follow[state[lane], symbols[event]]
        out[event] = read
        if read == 0:
            continue
        for k in range(n_states):
            next_runs[k] = 0
        reported = False
        last = measured[event]
        # A NaN is a null too.
        valid = size < 0 or (keyed[event] != 0 and last == last)
        for t in range(first[read], first[read + 1]):
            starts = source[t] == 0
            if not (valid if starts else runs[lane, source[t]]):
                continue
            key = last if starts else began[lane, source[t]]
            # The difference of integers may be too large for their type: it is negative then.
            if accepting[t] and (size < 0 or (valid and (last <= key or 0 <= last - key <= size))):
                reported = True
            to = target[t]
            if to >= 0 and (not next_runs[to] or key > next_began[to]):
                next_runs[to] = 1
                next_began[to] = key
        for k in range(n_states):
            runs[lane, k] = next_runs[k]
            began[lane, k] = next_began[k]
        if reported:
            if by_lane:
                state[lane] = 0
                for k in range(n_states):
                    runs[lane, k] = 0
            else:
                now[0] += 1

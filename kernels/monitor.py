"""Monitors: finite automata that read every relevant event of a lane and rename its symbol."""

import numpy as np

from .jit import jit


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
    symbols, lanes, positions, measured, size, by_lane,
    state, starts, began, since, now, next_starts, next_began, out,
):  # fmt: skip
    """Run a monitor that begins anew wherever a complex event is reported, as CONSUME BY asks.

    The runs of the automaton go along, by their latest starts, to know where something is reported.

    Parameters
    ----------
    follow, symbol
        As in `rename`.
    first, source, target, accepting : ndarray
        The tables of the automaton, over the symbols that the monitor gives.
    symbols : ndarray, shape (n,), unsigned
    lanes : ndarray, shape (n,), int32
    positions : ndarray, shape (n,), int64
        In the stream; ascending.
    measured : ndarray, shape (n,), int64 or float64
        What the window measures; ascends in every lane.
    size : int or float
        The window; negative for none.
    by_lane : bool
        Whether a report drops the partial matches of its lane only.
    state : ndarray, shape (lanes,), int32
    starts : ndarray, shape (lanes, automaton states), int64
        The latest start of a run in each state, -1 for none.
    began : ndarray, as `starts`, of the type of `measured`
        What the window measures there.
    since : ndarray, shape (lanes,), int64
        How many reports each lane has seen.
    now : ndarray, shape (1,), int64
        How many there were, where a report drops the partial matches of all lanes.
    next_starts, next_began : ndarray, shape (automaton states,)
        Scratch.
    out : ndarray, shape (n,), uint16
    """
    n_states = starts.shape[1]
    for event in range(symbols.shape[0]):
        lane = lanes[event]
        if since[lane] != now[0]:
            since[lane] = now[0]
            state[lane] = 0
            for k in range(n_states):
                starts[lane, k] = -1
        read = symbol[state[lane], symbols[event]]
        state[lane] = follow[state[lane], symbols[event]]
        out[event] = read
        for k in range(n_states):
            next_starts[k] = -1
        reported = False
        for t in range(first[read], first[read + 1]):
            start, key = starts[lane, source[t]], began[lane, source[t]]
            if source[t] == 0:
                start, key = positions[event], measured[event]
            if start < 0:
                continue
            if accepting[t] and (size < 0 or measured[event] - key <= size):
                reported = True
            if target[t] >= 0 and start > next_starts[target[t]]:
                next_starts[target[t]] = start
                next_began[target[t]] = key
        if read > 0:
            for k in range(n_states):
                starts[lane, k] = next_starts[k]
                began[lane, k] = next_began[k]
        if reported:
            if by_lane:
                state[lane] = 0
                for k in range(n_states):
                    starts[lane, k] = -1
            else:
                now[0] += 1

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

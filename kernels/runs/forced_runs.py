"""Automata of which one run at most ends at each event, whose events are all marked, or none is.

`SELECT MAX` over `(T AS x FILTER x.price > PRIOR(x).price) :{5,}`, or `A : B : C`: what begins at an event
goes on in one way, and marks each event. So a complex event is the events from its start to its end, with the
marks that the automaton gives them on the way; under `SELECT NONE` with none.

Listing `SELECT MAX` of three or more contiguous events with a filter is 2.6 times as fast as by the
structure; listing `A : B : C` and the like 1.0 to 1.2 times (CPU time of the whole query, 1.5 million
events).
"""

import numpy as np

from ..jit import SELDOM, jit
from .programs import runs_alone


def is_forced(tables, monitor=None):
    """Whether the start and the end of a complex event tell all of it, and no two have one end.

    Parameters
    ----------
    tables : TransitionTables
    monitor : Monitor, optional
        Gives the symbols that the tables read.
    """
    symbols = np.repeat(np.arange(tables.n_symbols), np.diff(tables.first))
    ways = set(zip(symbols.tolist(), tables.source.tolist()))
    alike = tables.label.all() or not tables.label.any()
    return bool(alike) and len(ways) == len(symbols) and runs_alone(tables, monitor)


@jit
def _begins(positions, low, event, latest, out, halt):
    """Find the event at a position, for each of some ends, by steps back that grow.

    =============  ================  ========================================================
    `positions`    int64 [events]    in: ascending in each lane, whose events are neighbours
    `low`          int64 [ends]      in: the first event of the lane of each end
    `event`        int64 [ends]      in
    `latest`       int64 [ends]      in: the position of the start of each end, in its lane
    `out`          int64 [ends]      out: the event of the start
    `halt`         uint8 [1]         in: see `jit`
    =============  ================  ========================================================
    """
    for k in range(event.shape[0]):
        if k % SELDOM == 0 and halt[0]:
            return
        high, at, step = event[k], event[k], 1
        while positions[at] > latest[k]:
            high = at - 1
            at = max(at - step, low[k])
            step *= 2
        while at < high:
            middle = (at + high + 1) // 2
            if positions[middle] > latest[k]:
                high = middle - 1
            else:
                at = middle
        out[k] = at


@jit
def _labelled(tables, symbols, start, first, out, halt):
    """Write the labels of the events of some complex events, from the first event to the last.

    =============  ==========================  ==============================================
    `tables`       TransitionTables            in: `is_forced`
    `symbols`      uint8 or uint16 [events]    in
    `start`        int64 [rows]                in: the first event of each complex event
    `first`        int64 [rows + 1]            in: row k has the labels first[k] .. first[k + 1] - 1
    `out`          int32 [labels]              out
    `halt`         uint8 [1]                   in: see `jit`
    =============  ==========================  ==============================================
    """
    for k in range(start.shape[0]):
        if k % SELDOM == 0 and halt[0]:
            return
        state = 0
        for m in range(first[k], first[k + 1]):
            symbol = symbols[start[k] + m - first[k]]
            t = tables.first[symbol]
            while tables.source[t] != state:
                t += 1
            out[m] = tables.label[t]
            state = tables.target[t]


def begins(positions, low, event, latest):
    """The first event of each complex event, int64; parameters as of `_begins`."""
    out = np.empty(len(event), np.int64)
    _begins(positions, low, event, latest, out)
    return out


def labelled(tables, symbols, start, first):
    """The labels of the events of some complex events, one after another; parameters as of `_labelled`."""
    out = np.empty(int(first[-1]), np.int32)
    _labelled(tables, symbols, start, first, out)
    return out

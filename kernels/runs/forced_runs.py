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

MOST_TRANSITIONS, MOST_SETS = 512, 256
"""Larger automata are not looked through: what is saved may be less than the look takes."""


def is_forced(tables, monitor=None):
    """Whether the start and the end of a complex event tell all of it, and no two have one end.

    Followed through all sets of states that may hold a run at a time.

    Parameters
    ----------
    tables : TransitionTables
    monitor : Monitor, optional
        Gives the symbols that the tables read.
    """
    symbols = np.repeat(np.arange(tables.n_symbols), np.diff(tables.first))
    if len(symbols) > MOST_TRANSITIONS or (tables.label.any() and not tables.label.all()):
        return False
    columns = symbols.tolist(), tables.source.tolist(), tables.target.tolist(), tables.accepting.tolist()
    ways = {(symbol, source): (to, ends) for symbol, source, to, ends in zip(*columns)}
    if len(ways) < len(symbols):
        return False
    reads = [[(symbol, 0) for symbol in range(1, tables.n_symbols)]]
    if monitor is not None:
        reads = [list(zip(*row))[1:] for row in zip(monitor.symbol.tolist(), monitor.follow.tolist())]
    met = {(0, frozenset())}
    waiting = list(met)
    while waiting:
        at, held = waiting.pop()
        for symbol, follow in reads[at]:
            taken = [ways[symbol, state] for state in (0, *held) if (symbol, state) in ways]
            entered = [to for to, _ in taken if to >= 0]
            after = frozenset(entered)
            if len(after) < len(entered) or sum(ends for _, ends in taken) > 1:
                return False
            # What is neutral leaves every run where it is.
            after = (follow, after if symbol else held)
            if after not in met:
                met.add(after)
                waiting.append(after)
        if len(met) > MOST_SETS:
            return False
    return True


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

"""Hits: the latest start that each end admits, by divide and conquer over sets of states."""

from typing import NamedTuple

import numpy as np

from ..jit import jit
from ..runs.contract import INTO, LEFT, RIGHT
from .cpu_lists import begin_lists, empty_lists, halve, meeting, merge_lists

WORD = 64
"""States in a word of a set of states."""

LOOK = 32
"""Events between two checks of whether any run that passes the middle is left."""


class _Sets(NamedTuple):
    """The arrays that a thread works with.

    ========  =========================  ==================================================================
    `cells`   uint64 [events, words]     shared: the states in which the runs of a start pass the middle,
                                         or from which an end is reached
    `states`  uint64 [registers, words]  scratch of a pass: a set of states for each state
    `found`   int64 [states]             scratch: the latest admitted start in each state
    ========  =========================  ==================================================================
    """

    cells: np.ndarray
    states: np.ndarray
    found: np.ndarray


@jit
def _begin_sets(states, n_states):
    """Each state that runs can be in alone in its set; all other registers are empty."""
    for r in range(states.shape[0]):
        for w in range(states.shape[1]):
            states[r, w] = 0
        if 0 < r < n_states:
            states[r, r // WORD] = np.uint64(1) << np.uint64(r % WORD)


@jit
def _carry(program, symbol, states):
    """Carry sets of states over an event: the union takes the place of the sum."""
    for k in range(program.first[symbol], program.first[symbol + 1]):
        into, left, right = program.moves[k, INTO], program.moves[k, LEFT], program.moves[k, RIGHT]
        for w in range(states.shape[1]):
            states[into, w] = states[left, w] | states[right, w]


@jit
def _any_left(states, n_states):
    """Whether a set of a state that runs can be in is not empty."""
    for q in range(1, n_states):
        for w in range(states.shape[1]):
            if states[q, w] != 0:
                return True
    return False


@jit
def _backwards(tables, backward, symbols, rank, bound, first, middle, sets, halt):
    """In which states the runs of each start of a rank of at least `bound` pass the middle."""
    cells, states, n_states = sets.cells, sets.states, sets.found.shape[0]
    _begin_sets(states, n_states)
    alive = True
    for event in range(middle - 1, first - 1, -1):
        symbol = symbols[event]
        if rank[event] >= bound:
            for w in range(cells.shape[1]):
                cells[event, w] = 0
            if alive:
                for t in range(tables.first[symbol], tables.first[symbol + 1]):
                    if tables.source[t] != 0:
                        break
                    if tables.target[t] >= 0:
                        for w in range(cells.shape[1]):
                            cells[event, w] |= states[tables.target[t], w]
        if alive:
            _carry(backward, symbol, states)
            if (middle - event) % LOOK == 0:
                alive = halt[0] == 0 and _any_left(states, n_states)


@jit
def _forwards(tables, forward, symbols, least, most, middle, last, sets, halt):
    """From which states at the middle each end that admits a rank of `most` is reached."""
    cells, states, n_states = sets.cells, sets.states, sets.found.shape[0]
    _begin_sets(states, n_states)
    alive = True
    for event in range(middle, last + 1):
        symbol = symbols[event]
        if least[event] <= most:
            for w in range(cells.shape[1]):
                cells[event, w] = 0
            if alive:
                for t in range(tables.first[symbol], tables.first[symbol + 1]):
                    if tables.accepting[t] and tables.source[t] != 0:
                        for w in range(cells.shape[1]):
                            cells[event, w] |= states[tables.source[t], w]
        if alive:
            _carry(forward, symbol, states)
            if (event - middle) % LOOK == LOOK - 1:
                alive = halt[0] == 0 and _any_left(states, n_states)


@jit
def _put(found, word, state, start):
    """Note a start in the states of a word of a set, the first of which is `state`."""
    while word != 0:
        if word & np.uint64(1) and found[state] < start:
            found[state] = start
        word >>= np.uint64(1)
        state += 1


@jit
def _best(found, word, state, best):
    """The latest start in the states of a word of a set."""
    while word != 0:
        if word & np.uint64(1) and found[state] > best:
            best = found[state]
        word >>= np.uint64(1)
        state += 1
    return best


@jit
def _leave_out(low, middle, some, lists, cells, latest):
    """Take out the starts whose runs do not pass the middle, and the ends that are hits already.

    Other starts that such an end admits lie further to the left, so they are not later.
    """
    kept = low
    for k in range(low, low + lists.n_starts[low]):
        start = lists.starts[k]
        lives = k >= low + some
        for w in range(cells.shape[1]):
            lives = lives or cells[start, w] != 0
        if lives:
            lists.starts[kept] = start
            kept += 1
    lists.n_starts[low] = kept - low
    kept = middle
    for k in range(middle, middle + lists.n_ends[middle]):
        if latest[lists.ends[k]] < 0:
            lists.ends[kept] = lists.ends[k]
            kept += 1
    lists.n_ends[middle] = kept - middle


@jit
def _meet(machine, symbols, ranks, low, middle, lists, sets, latest, halt):
    """The hits of the runs that begin in the range from `low` on and end in the one from `middle` on.

    `machine` .. `middle`: in; `lists`, `latest`: in/out; `sets`: scratch; `halt`: see `jit`.
    """
    rank, least, starts, ends = ranks.rank, ranks.least, lists.starts, lists.ends
    cells, found = sets.cells, sets.found
    some, others, first, last = meeting(rank, least, low, middle, lists)
    if some == 0 or others == 0:
        return
    stop = middle + lists.n_ends[middle]
    _backwards(
        machine.tables, machine.backward, symbols, rank, least[ends[stop - 1]], first, middle, sets, halt
    )
    _forwards(machine.tables, machine.forward, symbols, least, rank[starts[low]], middle, last, sets, halt)
    for state in range(found.shape[0]):
        found[state] = -1
    taken = low
    for k in range(stop - others, stop):
        end = ends[k]
        while taken < low + some and rank[starts[taken]] >= least[end]:
            for w in range(cells.shape[1]):
                _put(found, cells[starts[taken], w], w * WORD, starts[taken])
            taken += 1
        for w in range(cells.shape[1]):
            latest[end] = _best(found, cells[end, w], w * WORD, latest[end])
    _leave_out(low, middle, some, lists, cells, latest)


@jit
def _alone(tables, symbols, ranks, low, high, latest):
    """The hits of complex events of one event."""
    for event in range(low, high):
        symbol = symbols[event]
        latest[event] = -1
        for t in range(tables.first[symbol], tables.first[symbol + 1]):
            if tables.source[t] == 0 and tables.accepting[t] and ranks.rank[event] >= ranks.least[event]:
                latest[event] = event


@jit
def _join(machine, symbols, ranks, low, middle, lists, sets, latest, halt):
    """Two neighbouring ranges become one, with the hits of the runs that pass from one to the other."""
    _meet(machine, symbols, ranks, low, middle, lists, sets, latest, halt)
    merge_lists(ranks.rank, ranks.least, low, middle, lists)


@jit
def _ranges(machine, symbols, ranks, low, high, report, lists, sets, latest, halt):
    """The hits inside of ranges of events, from the smallest ranges up."""
    for g in range(low.shape[0]):
        begin_lists(machine.tables, symbols, low[g], high[g], report[g], lists)
        _alone(machine.tables, symbols, ranks, low[g], high[g], latest)
        width = 1
        while width < high[g] - low[g] and halt[0] == 0:
            for left in range(low[g], high[g] - width, 2 * width):
                _join(machine, symbols, ranks, left, left + width, lists, sets, latest, halt)
            width *= 2


def latest_starts(machine, symbols, ranks, begin, report, stop, share):
    """The hits of many segments under a window over an attribute that goes up and down.

    Parameters
    ----------
    machine : AutomatonPrograms
    symbols : ndarray, shape (events,), uint8 or uint16
    ranks : Ranks
        Each segment is a part of one lane.
    begin, report, stop : ndarray, shape (segments,), int64
        Events begin .. stop - 1 are run, those from `report` on are reported.
    share : callable
        `share(phase, function, items, events)` calls a function for each item, in several threads, and gives
        the results.

    Returns
    -------
    event : ndarray, shape (hits,), int64
    latest : ndarray, shape (hits,), int64
        The latest event that each hit admits as a start.
    """
    n_events, n_states = len(symbols), machine.tables.n_live
    n_words = -(-n_states // WORD)
    lists, latest = empty_lists(n_events), np.full(n_events, -1)
    cells = np.empty((n_events, n_words), np.uint64)
    registers = max(machine.forward.n_registers, machine.backward.n_registers)
    fixed = machine, symbols, ranks

    def sets():
        return _Sets(cells, np.empty((registers, n_words), np.uint64), np.empty(n_states, np.int64))

    def inside(part):
        _ranges(*fixed, *part, lists, sets(), latest)

    def across(pair):
        _join(*fixed, *pair, lists, sets(), latest)

    halve(begin, report, stop, inside, across, share, "finding ends")
    parts = [np.arange(low, high) for low, high in zip(report.tolist(), stop.tolist())]
    event = np.concatenate([np.empty(0, np.int64), *(part[latest[part] >= 0] for part in parts)])
    return event, latest[event]

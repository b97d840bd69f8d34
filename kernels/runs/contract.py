"""The contract of runs: an automaton as transition tables, a register program, and what a run is.

A **run** starts at an event i by a transition of state 0 and takes one transition at every later event of
its segment; a state without a transition on an event's symbol dies. A run that takes an accepting
transition at event j ends a complex event (start i, end j), marked by the labels that are not 0. Two
runs never agree in start, end and marks: a state has at most one transition for a symbol and a label.
"""

from typing import NamedTuple

import numpy as np

INTO, LEFT, RIGHT = range(3)
"""Columns of the operations of a `Program`."""


class TransitionTables(NamedTuple):
    """A deterministic complex event automaton. State 0 is initial and never entered.

    ===========  ======================  ============================================================
    `first`      int32 [symbols + 1]     the transitions of symbol s are first[s] .. first[s + 1] - 1
    `source`     int32 [transitions]     ascending inside a symbol
    `label`      int32 [transitions]     ascending inside a symbol and source; 0 marks nothing
    `target`     int32 [transitions]     -1: a state without outgoing transitions, where no run continues
    `accepting`  uint8 [transitions]     1: a complex event ends here
    ===========  ======================  ============================================================

    Symbol 0 is neutral: it changes no state and marks nothing. At most one transition has a given symbol,
    source and label.
    """

    first: np.ndarray
    source: np.ndarray
    label: np.ndarray
    target: np.ndarray
    accepting: np.ndarray

    @property
    def n_symbols(self) -> int:
        """Symbols are 0 .. n_symbols - 1."""
        return len(self.first) - 1

    @property
    def n_live(self) -> int:
        """One more than the greatest state with an outgoing transition: the others hold no runs."""
        return int(self.source.max()) + 1 if self.source.size else 1


class SequenceSteps(NamedTuple):
    """The steps of an automaton whose complex events are rows of single events.

    ========  ======================  ==========================================================
    `may`     uint8 [steps, symbols]  1: an event with the symbol may be the step
    `labels`  int32 [steps]           what it is marked with; 0: no mark
    ========  ======================  ==========================================================
    """

    may: np.ndarray
    labels: np.ndarray


BEGINS, GOES_ON, ENDS = 1, 2, 4
"""What an event does: a run begins there; an open run stays open; an open run ends there."""


class EdgeRuns(NamedTuple):
    """What the symbols of such an automaton do.

    ========  ======================  ================================================================
    `labels`  int32 [2] or [1]        the marks of the first and the last event, 0 for none; one where
                                      a complex event is a single event
    `moves`   uint8 [symbols]         sums of `BEGINS`, `GOES_ON` and `ENDS`; a single event only ends
    ========  ======================  ================================================================
    """

    labels: np.ndarray
    moves: np.ndarray


class SegmentHits(NamedTuple):
    """The hits of segments that run on their own.

    ========  =======================  ================================================================
    `first`   int64 [segments + 1]     segment g has the hits first[g] .. first[g + 1] - 1
    `event`   int64 [hits]             where complex events end; ascending inside a segment
    `lowest`  int64 [hits]             the least admissible start; non-decreasing inside a segment
    ========  =======================  ================================================================
    """

    first: np.ndarray
    event: np.ndarray
    lowest: np.ndarray


class Program(NamedTuple):
    """For each symbol, operations `register[into] = register[left] + register[right]`, in order.

    Registers 0 .. n_live - 1 are the states, `zero` holds the neutral value, `zero + 1` what is accepted (in
    programs for ends only), and the other registers hold old values that are still to be read.

    ============  ========================  =============================================================
    `first`       int32 [symbols + 1]       the operations of symbol s are first[s] .. first[s + 1] - 1
    `moves`       uint64 [operations, 3]    columns `INTO`, `LEFT`, `RIGHT`; unsigned, since an index that
                                            may be negative costs more at every access
    `zero`        int
    `n_registers` int
    ============  ========================  =============================================================
    """

    first: np.ndarray
    moves: np.ndarray
    zero: int
    n_registers: int


def first_open_reference(tables, symbols, begin, stop):
    """The first event of each segment that starts a run still open after the segment; `stop` if none."""
    return [
        min((i for i in range(low, high) if _goes_on(tables, symbols, i, high)), default=high)
        for low, high in zip(begin, stop)
    ]


def _goes_on(tables, symbols, start, stop):
    """Whether a run that starts at an event is in some state behind the events before `stop`."""
    states = {0}
    for event in range(start, stop):
        moves = range(tables.first[symbols[event]], tables.first[symbols[event] + 1])
        states = {int(tables.target[t]) for t in moves if int(tables.source[t]) in states} - {-1}
    return bool(states)


def accepting_runs(tables, symbols, begin, stop):
    """Every accepting run inside [begin, stop), as (start, end, ((event, label), ...)): defines a run.

    The reference of all run kernels; its cost is the number of runs.
    """
    found = []
    for start in range(begin, stop):
        pending = [(0, start, ())]
        while pending:
            state, event, marks = pending.pop()
            if event == stop:
                continue
            symbol = int(symbols[event])
            for t in range(tables.first[symbol], tables.first[symbol + 1]):
                if tables.source[t] != state:
                    continue
                label = int(tables.label[t])
                longer = (*marks, (event, label)) if label else marks
                if tables.accepting[t]:
                    found.append((start, event, longer))
                if tables.target[t] >= 0:
                    pending.append((int(tables.target[t]), event + 1, longer))
    return found

"""The contract of automata with one clock, and of the persistent structure with reset and check nodes.

After "Complex event recognition under time constraints" (timed CEL), section 6 and appendix C. An automaton
has one clock. A transition may set it to zero (**reset**) and may compare it with a constant (**check**): all
checks are `z <= c`, or all are `z >= c` (monotonic). The automaton is deterministic, so no two runs have the
same start, end and marks.

The value of the clock at event j is the time between j and the event of the last reset. Times do not fall in
a lane, so a check tells from which event on (`<=`), or up to which event (`>=`), the last reset may lie: tied
times need no rule of their own, and floats are subtracted once, as the semantics say.

A run carries a **stamp**: the serial number of the event of its last reset where checks are `<=`, its
negative where they are `>=`. So greater stamps pass more checks, whatever the sense, and a check at event j
is one number: the least stamp that passes.

A **node** stands for a set of runs, each with its start, marks and stamp, and is never changed once written.
It is a row of the **arena**, an int64 array [nodes, 6]; children precede their parents:

========  ========  ===========  ===========  =========  ==============  =================================
column    bottom    output       union        reset      check           meaning
========  ========  ===========  ===========  =========  ==============  =================================
`LABEL`   `BOTTOM`  label >= 1   `UNION`      `RESET`    `CHECK`
`LEFT`    -1        child        left child   child      child           a node
`RIGHT`   event     event        right child  the stamp  the least one   event number, node, stamp
`LATEST`  event     of child     the greater  of child   of child        at least the greatest start
`STAMP`   given     of child     of left      the stamp  of child        greatest stamp
`RANK`    1         1            see below    of child   of child        1 where it is no heap
========  ========  ===========  ===========  =========  ==============  =================================

A reset gives all runs of its child the stamp; a check leaves the runs whose stamp is at least its own.
Nodes without runs are not made. Reset and check nodes come only as **gadgets**: a reset, a check, or a reset
on a check, on a node that is neither. Two gadgets on each other are one (Lemmas C.1 and C.2). Unions are
time-ordered: no run on the right has a greater stamp than the greatest on the left.
"""

from typing import NamedTuple

import numpy as np

LABEL, LEFT, RIGHT, LATEST, STAMP, RANK, COLUMNS = range(7)
"""Columns of an arena, and how many there are."""

UNION, BOTTOM, RESET, CHECK = -1, -2, -3, -4

NO_CHECK = -(2**62)
"""The least stamp that is admitted where nothing is checked."""


class ClockTables(NamedTuple):
    """A deterministic monotonic automaton with one clock. State 0 is initial and never entered.

    ===========  ======================  ============================================================
    `first`      int32 [symbols + 1]     the transitions of symbol s are first[s] .. first[s + 1] - 1
    `source`     int32 [transitions]     ascending inside a symbol
    `label`      int32 [transitions]     ascending inside a symbol and source; 0 marks nothing
    `target`     int32 [transitions]     -1: it has no outgoing transition, so that no run goes on there
    `accepting`  uint8 [transitions]     1: a complex event ends here
    `check`      int32 [transitions]     which constant the clock is compared with; -1: none
    `resets`     uint8 [transitions]     1: the clock is set to zero
    `useful`     int32 [n_live]          for `<=`: past this constant a run in the state is never accepted;
                                         -1: it may be, whatever the clock
    `sense`      int64                   1: checks are `z <= c`; -1: they are `z >= c`
    ===========  ======================  ============================================================

    Symbol 0 is neutral: it changes no state, marks nothing, and neither asks for the clock nor resets it. At
    most one transition has a given symbol, source and label. A transition with a check leaves only states
    that are entered with a clock that was reset.
    """

    first: np.ndarray
    source: np.ndarray
    label: np.ndarray
    target: np.ndarray
    accepting: np.ndarray
    check: np.ndarray
    resets: np.ndarray
    useful: np.ndarray
    sense: int

    @property
    def n_symbols(self) -> int:
        """Symbols are 0 .. n_symbols - 1."""
        return len(self.first) - 1

    @property
    def n_live(self) -> int:
        """One more than the greatest state with an outgoing transition: the others hold no runs."""
        return int(self.source.max()) + 1 if self.source.size else 1

    @property
    def exact(self) -> bool:
        """Whether the latest start of a node is always that of a run which passes the checks of the node."""
        return bool(self.sense > 0 and not self.resets[self.source != 0].any())


class ClockedEvents(NamedTuple):
    """What the clocks read of the events of a stream, beside `StreamEvents`.

    ===========  ===========================  ===========================================================
    `serial`     int64 [events]               ascending; an event keeps its own when others are dropped
    `times`      uint64 or float64 [events]   do not go down in a lane
    `following`  int64 [events]               out: the next event of the lane, -1 for none yet
    `constants`  dtype of times [constants]   those of the checks, ascending; positive where they are `>=`
    ===========  ===========================  ===========================================================
    """

    serial: np.ndarray
    times: np.ndarray
    following: np.ndarray
    constants: np.ndarray


class ClockedLanes(NamedTuple):
    """What is kept of each lane, beside its runs.

    =========  =========================  ==================================================================
    `near`     int64 [lanes, constants]   the first event of the lane whose age is at most the constant where
                                          checks are `<=`, less than it where they are `>=`; -1 at first
    `last`     int64 [lanes]              the last event of the lane; -1 at first
    =========  =========================  ==================================================================
    """

    near: np.ndarray
    last: np.ndarray


def clocked_runs(tables, constants, symbols, times, begin, stop):
    """Every accepting run inside [begin, stop), as (start, end, ((event, label), ...)): defines a run.

    The reference of the kernels of this family; its cost is the number of runs.
    A clock that was never reset passes no check.
    """
    found = []
    for start in range(begin, stop):
        pending = [(0, start, -1, ())]
        while pending:
            state, event, reset, marks = pending.pop()
            if event == stop:
                continue
            symbol = int(symbols[event])
            for t in range(tables.first[symbol], tables.first[symbol + 1]):
                if tables.source[t] != state:
                    continue
                if tables.check[t] >= 0:
                    if reset < 0:
                        continue
                    gap, constant = times[event] - times[reset], constants[tables.check[t]]
                    if not (gap <= constant if tables.sense > 0 else gap >= constant):
                        continue
                label = int(tables.label[t])
                longer = (*marks, (event, label)) if label else marks
                if tables.accepting[t]:
                    found.append((start, event, longer))
                if tables.target[t] >= 0:
                    after = event if tables.resets[t] else reset
                    pending.append((int(tables.target[t]), event + 1, after, longer))
    return found

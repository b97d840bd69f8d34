"""Hits: the ends of complex events, with the latest start that each has.

One register for each state holds the latest start of a run in it. A transition takes the maximum, so nothing
is counted and nothing overflows.
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from ..runs.registers import step
from ..windows.contract import comparable

FEW = 64
"""A segment of up to this many events is run without a call, which costs as much as two events."""


@inline
def note_hit(out_event, out_start, n, event, latest, window):
    """Write the latest start at an event as hit `n`; gives how many hits there are, with it if it is one.

    `out_event`, `out_start` int64 [hits + 1] out; `latest` int64: -1 where there is none; `window`
    MeasuredWindow.
    """
    # Written always and kept sometimes, since a branch on the data would be mispredicted.
    keys = window.keys
    out_event[n] = event
    out_start[n] = latest
    if keys.shape[0] > 0:
        at = latest if latest >= 0 else event
        n += (latest >= 0) & (keys[event] - keys[at] <= window.size)
    else:
        n += latest >= 0
    return n


@inline
def _followed(program, symbols, starts, window, begin, report, stop, register, out_event, out_start, n):
    """The hits of a part of a segment, appended at `n`; the new number of hits.

    ===========  ========================  ========================================================
    `program`    Program                   in: from `hits_program`
    `symbols`    uint8 or uint16 [events]  in
    `starts`     int64 [events] or [0]     in: what is recorded of a run that starts at each event; ascending,
                                           >= 0; empty: the number of the event
    `window`     MeasuredWindow            in; with keys, `starts` is empty
    `begin`      int64                     in: first event that is run
    `report`     int64                     in: first event that is reported
    `stop`       int64                     in: one past the last event
    `register`   int64 [n_registers]       in/out: latest start for each state; -1 where there is none
    `out_event`  int64 [hits + 1]          out: the event at which complex events end
    `out_start`  int64 [hits + 1]          out: their latest start
    `n`          int64                     in: hits so far
    ===========  ========================  ========================================================
    """
    first = program.first
    into = program.into
    left = program.left
    right = program.right
    accepted = program.zero + 1
    numbered = starts.shape[0] > 0
    for i in range(begin, stop):
        register[0] = starts[i] if numbered else i
        symbol = symbols[i]
        step(register, into, left, right, first[symbol], first[symbol + 1])
        if i >= report:
            n = note_hit(out_event, out_start, n, i, register[accepted], window)
    return n


@jit
def _long_segment(
    program, symbols, starts, window, begin, report, stop, register, out_event, out_start, n, halt
):
    """`_followed` for a segment of many events, in strips; `halt` uint8 [1] in: see `jit`."""
    for low in range(begin, stop, SELDOM):
        if halt[0]:
            break
        high = min(low + SELDOM, stop)
        n = _followed(program, symbols, starts, window, low, report, high, register, out_event, out_start, n)
    return n


@jit
def _hits(
    program, symbols, starts, window, begin, report, stop, registers, register, out_event, out_start, halt
):
    n = 0
    n_states = registers.shape[1]
    for g in range(begin.shape[0]):
        for q in range(n_states):
            register[q] = registers[g, q]
        if halt[0]:
            break
        if stop[g] - begin[g] <= FEW:
            n = _followed(
                program, symbols, starts, window, begin[g], report[g], stop[g], register, out_event,
                out_start, n,
            )  # fmt: skip
        else:
            n = _long_segment(
                program, symbols, starts, window, begin[g], report[g], stop[g], register, out_event,
                out_start, n, halt,
            )  # fmt: skip
        for q in range(n_states):
            registers[g, q] = register[q]
    return n


def hits(program, symbols, starts, keys, size, begin, report, stop, registers):
    """The hits of many segments, in the order of the segments.

    Parameters
    ----------
    program : Program
        From `hits_program`.
    symbols, starts
        As in `_followed`.
    keys : ndarray, shape (events,) or (0,), int64 or float64
        As there; integers are subtracted modulo 2**64, which is exact since they do not decrease.
    size : int or float
        At least 0.
    begin, report, stop : ndarray, shape (segments,), int64
        Events begin .. stop - 1 are run, those from `report` on are reported.
    registers : ndarray, shape (segments, n_live), int64
        In and out: the latest start of a run in each state, -1 where there is none. A fresh segment begins
        with -1 throughout; the next segment of the same lane begins with what this one leaves.

    Returns
    -------
    event : ndarray, shape (hits,), int64
    latest_start : ndarray, shape (hits,), int64
        In the unit of `starts`.
    """
    capacity = int((stop - report).sum()) + 1
    out_event = np.empty(capacity, dtype=np.int64)
    out_start = np.empty(capacity, dtype=np.int64)
    register = np.full(program.n_registers, -1, dtype=np.int64)
    window = comparable(keys, size)
    n = _hits(
        program, symbols, starts, window, begin, report, stop, registers, register, out_event, out_start
    )
    return out_event[:n], out_start[:n]

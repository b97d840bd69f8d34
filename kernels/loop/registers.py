"""The loop of regular automata: each state has a register, which sums up the runs that are in it.

What an event does to the registers depends on its symbol alone: a short list of operations `register[into] =
register[left] + register[right]`, where `+` is the `plus` of a product. So nothing is looked up, nothing is
kept of an event, and the registers are all that a stream keeps. A loop over groups, as `follow` is, takes 1.8
times as long.

`composed` closes the loop over the pieces of a product, as they are given to `follow`, and over one that says
which row of registers an event changes:

=======================================  ==================================================================
`row(events, g, event, registers)`       the row of registers of an event in segment g
`none()`                                 no run: what the registers hold at first
`start(program, registers, begun, stop)` a run that starts at an event; `begun` is what is recorded of it
`plus(own, other)`                       the runs of both
`within(window, event, own)`             those that the window of an end at an event admits
`note(registers, out, found, event, stop, own)`  write an end at place `found`; gives how many ends there are
=======================================  ==================================================================

`note` is called for every event that is reported. What it writes where no run ends is written over.
"""

# The pieces are put in by `composed`.
# ruff: noqa: F821

from typing import NamedTuple

import numpy as np

from ..jit import SELDOM, ahead, inline, prefetch
from ..runs.contract import INTO, LEFT, RIGHT
from .contract import FoundEnds

FIRST, ONE = np.uint64(0), np.uint64(1)


class RegisterEvents(NamedTuple):
    """The events of a regular automaton.

    =========  =========================  ===================================================================
    `symbols`  uint8 or uint16 [events]
    `starts`   int64 [events] or [0]      what is recorded of a run that starts at each event, as its position
                                          in a stream: ascending, >= 0; empty: the number of the event
    `lanes`    int32 [events] or [0]      the row of registers of each event, for `IN_ORDER`
    =========  =========================  ===================================================================
    """

    symbols: np.ndarray
    starts: np.ndarray
    lanes: np.ndarray


@inline
def row_of_segment(events, g, event, registers):
    return np.uint64(g)


BY_SEGMENT = {"row": row_of_segment}
"""Each segment has a row of registers."""


@inline
def row_of_lane(events, g, event, registers):
    prefetch(registers, (np.uint64(events.lanes[ahead(event, events.lanes.shape[0])]), FIRST))
    return np.uint64(events.lanes[event])


IN_ORDER = {"row": row_of_lane}
"""The events of many lanes in the order of the stream: each lane has a row."""


def follow_registers(program, events, window, segments, registers, out, halt):
    """Follow all runs of segments; gives how many ends there are.

    ============  ==========================  ================================================================
    `program`     Program                     in: from `counts_program`; where what is added twice counts
                                              once, as a maximum, from `hits_program`
    `events`      RegisterEvents              in
    `window`      MeasuredWindow              in; with keys, `starts` is empty
    `segments`    LoopSegments                in
    `registers`   [rows, n_registers]         in/out: of the dtype of the product; `none()` at first. The next
                                              events of a lane begin with what those before have left
    `out`         FoundEnds                   out: room for as many ends as events are reported
    `halt`        uint8 [1] or [0]            in: see `jit`
    ============  ==========================  ================================================================
    """
    first = program.first
    moves = program.moves
    accepted = np.uint64(program.zero + 1)
    symbols = events.symbols
    starts = events.starts
    numbered = starts.shape[0] > 0
    windowed = window.keys.shape[0] > 0
    found = 0
    for g in range(segments.begin.shape[0]):
        stop = segments.stop[g]
        report = segments.report[g]
        for strip in range(segments.begin[g], stop, SELDOM):
            if halt.shape[0] > 0 and halt[0]:
                return found
            for event in range(strip, min(strip + SELDOM, stop)):
                # Unsigned, since an index that may be negative costs more at every access.
                i = np.uint64(event)
                own = row(events, g, i, registers)
                registers[own, FIRST] = start(program, registers, starts[i] if numbered else event, stop)
                symbol = np.uint64(symbols[i])
                k = np.uint64(first[symbol])
                last = np.uint64(first[symbol + ONE])
                while k < last:
                    runs = plus(registers[own, moves[k, LEFT]], registers[own, moves[k, RIGHT]])
                    registers[own, moves[k, INTO]] = runs
                    k += ONE
                if event >= report:
                    best = registers[own, accepted]
                    if windowed:
                        best = within(window, event, best)
                    # Written always and kept sometimes, since a branch on the data would be mispredicted.
                    ends = note(registers, out, found, event, stop, best)
                    if best != none():
                        found = ends
    return found


def register_ends(kernel, program, events, window, segments, registers, none):
    """What a kernel finds in many segments.

    Parameters
    ----------
    kernel : Kernel
        Composed from `follow_registers`.
    program, events, window, segments
        As the kernel reads them.
    registers : ndarray, shape (rows, n_live)
        In and out: of the states alone.
    none : int
        `none()` of the product.

    Returns
    -------
    event : ndarray, shape (ends,), int64
    value : ndarray, shape (ends,), of the dtype of `registers`
        What the product notes.
    """
    states = registers.shape[1]
    rows = np.full((len(registers), program.n_registers), none, registers.dtype)
    rows[:, :states] = registers
    room = int((segments.stop - segments.report).sum())
    out = FoundEnds(np.empty(room, np.int64), np.empty(room, registers.dtype))
    n = kernel(program, events, window, segments, rows, out)
    registers[:] = rows[:, :states]
    return out.event[:n], out.start[:n]

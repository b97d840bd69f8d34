"""Automata whose complex events have no marks but at their edges, and runs one state between them.

Such are `A ; B`, `A : B`, `(A ; B) UNLESS C`, or `A` alone: the event at which a run has begun is all that is
kept of it. It tells with the end all of a complex event, so no structure is built. The runs that end at an
event have begun after the last event that does not let runs go on. Where at most one ends there, as under
LAST, events are followed in the order of the stream, with one number for each lane (`follow_edges`);
otherwise they are a range of the events at which runs begin (`runs.sequences`).
"""

import numpy as np

from ..jit import SELDOM, jit
from .contract import BEGINS, ENDS, GOES_ON


@jit
def _follow(moves, symbols, lanes, report, opened, event, start, halt):
    """Follow the runs of all lanes in the order of the stream: how many end.

    ==========  ========================  ====================================================================
    `moves`     uint8 [symbols]           in: of `EdgeRuns`
    `symbols`   uint8 or uint16 [events]  in
    `lanes`     int32 [events]            in
    `report`    int                       in: the ends from this event on are written
    `opened`    int32 [lanes]             in/out: the event at which the open run has begun, -1 for none
    `event`     int64 [events + 1]        out: where runs end
    `start`     int64 [events + 1]        out: where each has begun
    `halt`      uint8 [1]                 in: see `jit`
    ==========  ========================  ====================================================================
    """
    n = 0
    for strip in range(0, symbols.shape[0], SELDOM):
        if halt[0]:
            return n
        for k in range(strip, min(strip + SELDOM, symbols.shape[0])):
            move, lane = moves[symbols[k]], lanes[k]
            begun = opened[lane]
            # Written always and kept sometimes: a branch on the data would be mispredicted.
            event[n] = k
            start[n] = begun
            n += ((move & ENDS) != 0) & (begun >= 0) & (k >= report)
            stays = begun if move & GOES_ON else -1
            opened[lane] = k if move & BEGINS else stays
    return n


def follow_edges(runs, symbols, lanes, count, report):
    """The ends of runs, and the runs that stay open.

    Parameters
    ----------
    runs : EdgeRuns
        With two labels.
    symbols : ndarray, shape (events,), uint8 or uint16
        Of all lanes, in the order of the stream.
    lanes : ndarray, shape (events,), int32
    count : int
        One more than the greatest lane.
    report : int
        Ends before this event are left out.

    Returns
    -------
    event, start : ndarray, shape (ends,), int64
        Where each complex event ends, ascending, and where it begins.
    opened : ndarray, shape (runs,), int64
        Where the runs have begun that are still open, ascending.
    """
    opened = np.full(count, -1, np.int32)
    event, start = np.empty((2, len(symbols) + 1), np.int64)
    n = _follow(runs.moves, symbols, lanes, report, opened, event, start)
    return event[:n], start[:n], np.sort(opened[opened >= 0]).astype(np.int64)


@jit
def _raise_lowest(drops, symbols, event, lowest, halt):
    """Leave out the starts before the last event that lets no run go on, and comes before the end.

    ==========  ========================  ==============================================================
    `drops`     uint8 [symbols]           in: of `edge_steps`
    `symbols`   uint8 or uint16 [events]  in: those of a lane are neighbours
    `event`     int64 [ends]              in: ascending
    `lowest`    int64 [ends]              in/out: the least admissible start of each end, in its lane
    `halt`      uint8 [1]                 in: see `jit`
    ==========  ========================  ==============================================================
    """
    last, at = 0, 0
    for k in range(event.shape[0]):
        if k % SELDOM == 0 and halt[0]:
            return
        while at < event[k]:
            last = at if drops[symbols[at]] else last
            at += 1
        lowest[k] = max(lowest[k], last)


def undropped(drops, symbols, event, lowest):
    """The least admissible starts of ends whose runs are still open; parameters as for `_raise_lowest`."""
    lowest = lowest.copy()
    _raise_lowest(drops, symbols, event, lowest)
    return lowest

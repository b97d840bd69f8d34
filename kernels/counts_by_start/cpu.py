"""Hits and counts where the admissible starts of an end are no interval of events.

A window over an attribute that may be null or go down: the start i and the end j are kept iff both have a
value and `keys[j] - keys[i] <= size`. One vector of run counts is kept for each start that still has a run,
so the cost of an event grows with their number.
"""

import numpy as np

from ..jit import jit
from .contract import DONE, FULL, OVER, unsigned

STEPS = 1 << 22
"""Starts that are looked at in one call of the kernel, about."""


def counts_by_start_segment_body(
    tables, forward, symbols, keys, valid, size, lowest, report, until, start, vector, out, progress
):
    """The hits of one segment up to an event: `DONE`, `FULL` where `vector` is, or `OVER` 2**62.

    ==========  ================================  =========================================================
    `tables`    TransitionTables                         in
    `forward`   Program                           in: `forward_program(tables)`
    `symbols`   uint8 or uint16 [events]          in
    `keys`      uint64 or float64 [events]        in: the attribute, in its order
    `valid`     uint8 [events]                    in: 0 where it is null
    `size`      dtype of keys                     in: >= 0
    `lowest`    int64 [events]                    in: least event at which a run that ends there may start
    `report`    int64                             in: first event that is reported
    `until`     int64                             in: one past the last event to run now
    `start`     int64 [capacity]                  scratch: starts that still have runs
    `vector`    int64 [capacity, registers]       scratch: number of runs of each, for each state
    `out`       3 arrays [stop - report]          out: event, latest admissible start, count of each hit
    `progress`  int64 [3]                         in/out: the next event, the starts that still have runs,
                                                  the hits so far; begin, 0, 0 at first
    ==========  ================================  =========================================================
    """
    n_live = progress[1]
    n_hits = progress[2]
    over = 0
    zero = forward.zero
    status = DONE
    first_event = progress[0]
    for j in range(first_event, until):
        symbol = symbols[j]
        if n_live == start.shape[0]:
            status = FULL
            break
        progress[0] = j + 1
        start[n_live] = j
        for r in range(vector.shape[1]):
            vector[n_live, r] = 1 if r == 0 else 0
        n_live += 1
        total = 0
        latest = -1
        kept = 0
        for row in range(n_live):
            i = start[row]
            admissible = i >= lowest[j] and valid[i] and valid[j]
            if admissible and not keys[j] <= keys[i]:
                admissible = keys[j] - keys[i] <= size
            if admissible:
                for t in range(tables.first[symbol], tables.first[symbol + 1]):
                    if tables.accepting[t] and vector[row, tables.source[t]] > 0:
                        total += vector[row, tables.source[t]]
                        over |= total
                        latest = i
            for k in range(forward.first[symbol], forward.first[symbol + 1]):
                value = vector[row, forward.left[k]] + vector[row, forward.right[k]]
                vector[row, forward.into[k]] = value
                over |= value
            vector[row, 0] = 0
            alive = False
            for state in range(zero):
                alive = alive or vector[row, state] > 0
            if alive:
                start[kept] = i
                for r in range(vector.shape[1]):
                    vector[kept, r] = vector[row, r]
                kept += 1
        n_live = kept
        if j >= report and total > 0:
            out[0][n_hits] = j
            out[1][n_hits] = latest
            out[2][n_hits] = total
            n_hits += 1
    progress[1] = n_live
    progress[2] = n_hits
    return OVER if over >> 62 else status


_counts_by_start_segment = jit(counts_by_start_segment_body)


def counts_by_start(tables, forward, symbols, keys, valid, size, lowest, begin, report, stop):
    """The hits of many segments under an attribute window, with their counts.

    Parameters
    ----------
    begin, report, stop : ndarray, shape (segments,), int64
        Events begin .. stop - 1 are run, those from `report` on are reported.
    tables, forward, symbols, valid, lowest
        As in `counts_by_start_segment_body`.
    keys : ndarray, shape (events,), int64 or float64
        The attribute.
    size : int or float
        The longest difference that is kept.

    Returns
    -------
    first : ndarray, shape (segments + 1,), int64
        The hits of segment g are first[g] .. first[g + 1] - 1.
    hits : tuple of three ndarrays, shape (hits,)
        The events (int64), their latest admissible starts (int64), and the numbers of complex events
        (int64, or object where some value may exceed 2**62).
    """
    keys, size = unsigned(keys, size)
    parts = []
    for low, middle, high in zip(begin.tolist(), report.tolist(), stop.tolist()):
        arguments = (tables, forward, symbols, keys, valid, size, lowest, middle)
        found = _segment(_counts_by_start_segment, arguments, low, high, np.dtype(np.int64))
        if found is None:
            found = _segment(counts_by_start_segment_body, arguments, low, high, np.dtype(object))
        parts.append(found)
    first = np.zeros(begin.size + 1, dtype=np.int64)
    np.cumsum([part[0].size for part in parts], out=first[1:])
    empty = np.zeros(0, dtype=np.int64)
    return first, tuple(np.concatenate([empty, *(part[k] for part in parts)]) for k in range(3))


def _segment(body, arguments, low, high, dtype):
    """The hits of one segment with counts of a dtype; None where they do not fit it.

    The kernel is called for a few events at a time, so that a long run can be interrupted between calls.
    """
    forward, report = arguments[1], arguments[-1]
    out = tuple(np.zeros(max(high - report, 0), dtype=kind) for kind in (np.int64, np.int64, dtype))
    start = np.zeros(1024, dtype=np.int64)
    vector = np.zeros((1024, forward.n_registers), dtype=dtype)
    progress = np.array([low, 0, 0], dtype=np.int64)
    while progress[0] < high:
        until = min(high, int(progress[0]) + max(1, STEPS // (int(progress[1]) + 1)))
        status = body(*arguments, until, start, vector, out, progress)
        if status == OVER and dtype.kind != "O":
            return None
        if status == FULL:
            start = np.concatenate([start, np.zeros_like(start)])
            vector = np.concatenate([vector, np.zeros_like(vector)])
    return tuple(array[: progress[2]] for array in out)

"""Hits and counts where the admissible starts of an end are no interval of events.

A window over an attribute that may be null or go down: the start i and the end j are kept iff both have a
value and `keys[j] - keys[i] <= size`. One vector of run counts is kept for each start that still has a run,
so the cost of an event grows with their number.
"""

import numpy as np

from .jit import jit
from .tables import accepting_runs


def counts_by_start_segment_body(
    tables, forward, symbols, keys, valid, size, lowest, begin, report, stop, start, vector, out
):
    """The hits of one segment; their number, or -1 where `vector` is full, or -2 where a sum reached 2**62.

    ==========  ================================  =========================================================
    `tables`    RunTables                         in
    `forward`   Program                           in: `forward_program(tables)`
    `symbols`   uint8 or uint16 [events]          in
    `keys`      uint64 or float64 [events]        in: the attribute, in its order
    `valid`     uint8 [events]                    in: 0 where it is null
    `size`      dtype of keys                     in: >= 0
    `lowest`    int64 [events]                    in: least event at which a run that ends there may start
    `begin`     int64                             in: first event that is run
    `report`    int64                             in: first event that is reported
    `stop`      int64                             in: one past the last event
    `start`     int64 [capacity]                  scratch: starts that still have runs
    `vector`    int64 [capacity, registers]       scratch: number of runs of each, for each state
    `out`       3 arrays [stop - report]          out: event, latest admissible start, count of each hit
    ==========  ================================  =========================================================
    """
    n_live = 0
    n_hits = 0
    over = 0
    zero = forward.zero
    for j in range(begin, stop):
        symbol = symbols[j]
        if n_live == start.shape[0]:
            return -1
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
    return -2 if over >> 62 else n_hits


def counts_by_start_reference(tables, symbols, keys, valid, size, lowest, begin, report, stop):
    """The hits of one segment by definition: a list of (event, latest admissible start, count)."""
    found = {}
    for i, j, _ in accepting_runs(tables, symbols, begin, stop):
        if j >= report and i >= lowest[j] and valid[i] and valid[j] and keys[j] - keys[i] <= size:
            found.setdefault(j, []).append(i)
    return [(j, max(starts), len(starts)) for j, starts in sorted(found.items())]


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
    if keys.dtype.kind == "i":
        # in the order of the integers, and without a sign, so that no difference overflows
        keys = keys.astype(np.int64, copy=False).view(np.uint64) ^ np.uint64(2**63)
        size = np.uint64(2**64 - 1 if size >= 2**64 else int(size))
    else:
        size = keys.dtype.type(size)
    parts = []
    capacity = 1024
    for low, middle, high in zip(begin, report, stop):
        bounds = (int(low), int(middle), int(high))
        dtype = np.dtype(np.int64)
        body = _counts_by_start_segment
        while True:
            out = tuple(
                np.zeros(max(bounds[2] - bounds[1], 0), dtype=kind) for kind in (np.int64, np.int64, dtype)
            )
            start = np.zeros(capacity, dtype=np.int64)
            vector = np.zeros((capacity, forward.n_registers), dtype=dtype)
            n = body(tables, forward, symbols, keys, valid, size, lowest, *bounds, start, vector, out)
            if n == -1:
                capacity *= 2
            elif n == -2 and dtype.kind != "O":
                dtype = np.dtype(object)
                body = counts_by_start_segment_body
            else:
                break
        n = int(np.count_nonzero(out[2]))
        parts.append(tuple(array[:n] for array in out))
    first = np.zeros(begin.size + 1, dtype=np.int64)
    np.cumsum([part[0].size for part in parts], out=first[1:])
    empty = np.zeros(0, dtype=np.int64)
    return first, tuple(np.concatenate([empty, *(part[k] for part in parts)]) for k in range(3))

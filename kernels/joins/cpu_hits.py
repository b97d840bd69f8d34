"""Hits of joins: the ends of answers, with the latest start that each has.

The look-up table holds for each entry and slot the latest start of a run, the least of its events;
gathering runs takes the least of theirs, meeting runs the greatest. Nothing is counted and nothing
overflows.
"""

import numpy as np

from ..jit import inline, jit
from ..windows.contract import comparable


@inline
def _found(owner, offset, entry, slot, segment):
    """Where the table holds runs of a segment in an entry, under a slot; -1: there are none."""
    where = offset[entry] + slot
    if owner[where] != segment:
        where = -1
    return where


@inline
def _claimed(owner, offset, entry, slot, segment):
    """Where runs of a segment are held from now on, and whether none were before."""
    where = offset[entry] + slot
    fresh = owner[where] != segment
    owner[where] = segment
    return where, fresh


@jit
def hits_segment(
    first, transition, label, accepting, read_first, read_entry, read_column, store_first, store_entry,
    store_column, entry_next, offset, symbols, slots, places, keys, size, segment, begin, report, stop, table,
    owner, place, fired, out_event, out_start, n,
):  # fmt: skip
    """Write the hits of a segment from the n-th on; how many there are with those before.

    ============  ===========================  ==========================================================
    `first` ...   the arrays of JoinTables   in
    `offset`      int64 [entries + 1]          in: where each entry of the table begins
    `symbols`     uint8 or uint16 [events]     in
    `slots`       int32 [columns, events]      in: -1 where an event has no value
    `places`      int64 [events] or [0]        in: place in the stream, where an entry asks for the next
    `keys`        uint64, float64 [events]     in: what the window measures, ascending in a segment; empty:
                  or [0]                       there is no window
    `size`        dtype of keys                in
    `segment`     int64                        in: its number; it runs from event
    `begin`       int64                        in: on,
    `report`      int64                        in: reports from this one on,
    `stop`        int64                        in: and stops before this one
    `table`       int64 [offset[-1]]           in/out: latest starts
    `owner`       int32 [offset[-1]]           in/out: the segment that has stored there, -1 at first
    `place`       int64 [offset[-1]] or [0]    in/out: the place of the last event of the runs there
    `fired`       int64 [transitions, 2]       scratch
    `out_event`   int64 [hits + 1]             out
    `out_start`   int64 [hits + 1]             out
    ============  ===========================  ==========================================================
    """
    windowed = keys.shape[0] > 0
    low = begin
    for i in range(begin, stop):
        if windowed:
            while keys[i] - keys[low] > size:
                low += 1
        symbol = symbols[i]
        best = -1
        n_fired = 0
        for k in range(first[symbol], first[symbol + 1]):
            t = transition[k]
            latest = i
            for r in range(read_first[t], read_first[t + 1]):
                entry = read_entry[r]
                slot = 0
                if read_column[r] >= 0:
                    slot = slots[read_column[r], i]
                found = -1
                if slot >= 0:
                    where = _found(owner, offset, entry, slot, segment)
                    if where >= 0 and (not entry_next[entry] or place[where] + 1 == places[i]):
                        found = table[where]
                if found < 0 or (windowed and found < low):
                    latest = -1
                    break
                latest = min(latest, found)
            if latest < 0:
                continue
            if accepting[t]:
                best = max(best, latest)
            if store_first[t] < store_first[t + 1]:
                fired[n_fired, 0] = t
                fired[n_fired, 1] = latest
                n_fired += 1
        for k in range(n_fired):
            t = fired[k, 0]
            latest = fired[k, 1]
            for s in range(store_first[t], store_first[t + 1]):
                entry = store_entry[s]
                slot = 0
                if store_column[s] >= 0:
                    slot = slots[store_column[s], i]
                if slot < 0:
                    continue
                where, fresh = _claimed(owner, offset, entry, slot, segment)
                if entry_next[entry]:
                    fresh = fresh or place[where] != places[i]
                    place[where] = places[i]
                if fresh or latest > table[where]:
                    table[where] = latest
        if i >= report:
            out_event[n] = i
            out_start[n] = best
            n += best >= 0
    return n


@jit
def _hits(
    tables, offset, symbols, slots, places, keys, size, begin, report, stop, table, owner, place, fired,
    out_event, out_start,
):  # fmt: skip
    """`hits_segment` for every segment; `tables` are the arrays of JoinTables, as a tuple."""
    n = 0
    for segment in range(begin.shape[0]):
        n = hits_segment(
            *tables, offset, symbols, slots, places, keys, size, segment, begin[segment], report[segment],
            stop[segment], table, owner, place, fired, out_event, out_start, n,
        )  # fmt: skip
    return n


def hits(tables, offset, symbols, slots, places, keys, size, begin, report, stop):
    """The hits of many segments, in their order.

    Parameters
    ----------
    tables : JoinTables
    offset, symbols, slots, places
        As in `hits_segment`.
    begin, report, stop : ndarray, shape (segments,), int64
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; integers are subtracted modulo 2**64, which is exact since they ascend.
    size : int or float

    Returns
    -------
    event : ndarray, shape (hits,), int64
    latest_start : ndarray, shape (hits,), int64
        An event.
    """
    capacity = int((stop - report).sum()) + 1
    out_event, out_start = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    room = int(offset[-1])
    keys, size = comparable(keys, size)
    table, owner = np.empty(room, np.int64), np.full(room, -1, np.int32)
    place = np.empty(room if tables.entry_next.any() else 0, np.int64)
    n = _hits(
        tuple(tables), offset, symbols, slots, places, keys, size, begin, report, stop, table, owner, place,
        np.empty((tables.n_fired, 2), np.int64), out_event, out_start,
    )  # fmt: skip
    return out_event[:n], out_start[:n]

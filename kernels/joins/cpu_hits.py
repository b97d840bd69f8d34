"""Hits of joins: the ends of answers, with the latest start that each has.

The look-up table holds for each entry and slot the latest start of a run. The start of a run is the least of
its events: gathering runs takes the least of their starts, and where several runs meet the greatest is kept.
Nothing is counted and nothing overflows.
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from ..windows.contract import comparable
from .contract import FoundEnds, HeldStarts
from .cpu_slots import slot_of


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
def hits_segment(tables, events, window, segment, begin, report, stop, held, fired, out, n, halt):
    """Write the hits of a segment from the n-th on; gives how many there are, with those before.

    ============  ===========================  ==========================================================
    `tables`      JoinTables                   in
    `events`      KeyedEvents                  in
    `window`      MeasuredWindow               in
    `segment`     int64                        in: its number
    `begin`       int64                        in: the first event that is run
    `report`      int64                        in: the first event whose end is reported
    `stop`        int64                        in: one past the last event
    `held`        HeldStarts                   in/out
    `fired`       int64 [transitions, 2]       scratch
    `out`         FoundEnds                    out
    `n`           int64                        in: hits so far
    `halt`        uint8 [1] or [0]             in: see `jit`
    ============  ===========================  ==========================================================
    """
    entry_next = tables.entry_next
    slots = events.slots
    keys = window.keys
    windowed = keys.shape[0] > 0
    low = begin
    for i in range(begin, stop):
        if i % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
            break
        if windowed:
            while keys[i] - keys[low] > window.size:
                low += 1
        symbol = events.symbols[i]
        best = -1
        n_fired = 0
        for k in range(tables.first[symbol], tables.first[symbol + 1]):
            t = tables.transition[k]
            latest = i
            for r in range(tables.read_first[t], tables.read_first[t + 1]):
                entry = tables.read_entry[r]
                slot = slot_of(slots, tables.read_column[r], i)
                found = -1
                if slot >= 0:
                    where = _found(held.owner, events.offset, entry, slot, segment)
                    if where >= 0 and (not entry_next[entry] or held.place[where] + 1 == events.places[i]):
                        found = held.start[where]
                if found < 0 or (windowed and found < low):
                    latest = -1
                    break
                latest = min(latest, found)
            if latest < 0:
                continue
            if tables.accepting[t]:
                best = max(best, latest)
            if tables.store_first[t] < tables.store_first[t + 1]:
                fired[n_fired, 0] = t
                fired[n_fired, 1] = latest
                n_fired += 1
        for k in range(n_fired):
            t = fired[k, 0]
            latest = fired[k, 1]
            for s in range(tables.store_first[t], tables.store_first[t + 1]):
                entry = tables.store_entry[s]
                slot = slot_of(slots, tables.store_column[s], i)
                if slot < 0:
                    continue
                where, fresh = _claimed(held.owner, events.offset, entry, slot, segment)
                if entry_next[entry]:
                    fresh = fresh or held.place[where] != events.places[i]
                    held.place[where] = events.places[i]
                if fresh or latest > held.start[where]:
                    held.start[where] = latest
        if i >= report:
            out.event[n] = i
            out.start[n] = best
            n += best >= 0
    return n


@jit
def _hits(tables, events, window, begin, report, stop, held, fired, out, halt):
    """`hits_segment` for every segment."""
    n = 0
    for segment in range(begin.shape[0]):
        n = hits_segment(
            tables, events, window, segment, begin[segment], report[segment], stop[segment], held, fired, out,
            n, halt,
        )  # fmt: skip
    return n


def hits(tables, events, keys, size, begin, report, stop):
    """The hits of many segments, in their order.

    Parameters
    ----------
    tables : JoinTables
    events : KeyedEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; integers are subtracted modulo 2**64, which is exact since they ascend.
    size : int or float
    begin, report, stop : ndarray, shape (segments,), int64

    Returns
    -------
    event : ndarray, shape (hits,), int64
    latest_start : ndarray, shape (hits,), int64
        The event of the latest start.
    """
    capacity = int((stop - report).sum()) + 1
    out = FoundEnds(np.empty(capacity, np.int64), np.empty(capacity, np.int64))
    room = int(events.offset[-1])
    place = np.empty(room if tables.entry_next.any() else 0, np.int64)
    held = HeldStarts(np.empty(room, np.int64), np.full(room, -1, np.int32), place)
    fired = np.empty((tables.n_fired, 2), np.int64)
    window = comparable(keys, size)
    n = _hits(tables, events, window, begin, report, stop, held, fired, out)
    return out.event[:n], out.start[:n]

"""Hits and counts of joins: the ends of answers, with the latest start that each has, or with their number.

The look-up table holds for each entry and slot the latest start of a run. The start of a run is the least of
its events: gathering runs takes the least of their starts, and where several runs meet the greatest is kept.
Numbers of runs are multiplied where they are gathered, and added up where they meet.
"""

import numpy as np

from ..jit import composed
from ..loop.contract import LoopSegments, room_for_ends
from ..loop.follow import follow
from ..loop.products import COUNT, LATEST
from ..loop.run import found_ends
from ..windows.contract import NO_WINDOW, comparable
from .index import StartTable, at_slots, hash_tables

latest_ends = composed(follow, "latest_ends", **LATEST, **at_slots(LATEST))
count_ends = composed(follow, "count_ends", **COUNT, **at_slots(COUNT))


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
    return _followed(latest_ends, tables, events, comparable(keys, size), LoopSegments(begin, report, stop))


def counted_ends(tables, events, begin, report, stop):
    """Where answers end in many segments without a window, and how many.

    The parameters are those of `hits`.

    Returns
    -------
    event : ndarray, shape (ends,), int64
    number : ndarray, shape (ends,), int64
        -1 from `MOST_RUNS` on.
    """
    return _followed(count_ends, tables, events, NO_WINDOW, LoopSegments(begin, report, stop))


def _followed(kernel, tables, events, window, segments):
    out, room = room_for_ends(segments), int(events.offset[-1])
    place = np.empty(room if tables.entry_next.any() else 0, np.int64)
    held = StartTable(np.empty(room, np.int64), np.full(room, -1, np.int32), place, np.empty(1, np.int64))
    return found_ends(kernel, hash_tables(tables), events, window, segments, held, out)

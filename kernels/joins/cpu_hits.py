"""Hits of joins: the ends of answers, with the latest start that each has.

The look-up table holds for each entry and slot the latest start of a run. The start of a run is the least of
its events: gathering runs takes the least of their starts, and where several runs meet the greatest is kept.
Nothing is counted and nothing overflows.
"""

import numpy as np

from ..jit import composed
from ..loop.contract import LoopSegments
from ..loop.follow import WORDS, follow
from ..loop.products import LATEST
from ..windows.contract import comparable
from .contract import room_for_ends
from .index import LATEST_AT_SLOTS, StartTable, hash_tables

latest_ends = composed(follow, "latest_ends", **LATEST, **LATEST_AT_SLOTS)


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
    segments = LoopSegments(begin, report, stop)
    out, room = room_for_ends(segments), int(events.offset[-1])
    place = np.empty(room if tables.entry_next.any() else 0, np.int64)
    held = StartTable(np.empty(room, np.int64), np.full(room, -1, np.int32), place, np.empty(1, np.int64))
    entered, progress = np.empty(tables.n_fired, np.int64), np.zeros(WORDS, np.int64)
    n = latest_ends(
        hash_tables(tables), events, comparable(keys, size), segments, held, entered, out, progress
    )
    return out.event[:n], out.start[:n]

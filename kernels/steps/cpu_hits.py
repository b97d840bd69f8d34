"""Hits of steps: the ends of complex events, with the latest start that each has.

The latest start of a run that enters a state is the greatest one of the entries that its views show. Both
ends of a view only move forward; a queue of the entries that no later greater value hides gives the greatest
in constant time for each entry and read.
"""

import numpy as np

from ..jit import composed
from ..loop.contract import room_for_ends
from ..loop.follow import follow
from ..loop.gaps import LATEST_IN_GAPS
from ..loop.products import EARLIEST, LATEST
from ..loop.run import found_ends
from ..windows.contract import NO_WINDOW, comparable
from .contract import room_for

latest_ends = composed(follow, "latest_ends", **LATEST, **LATEST_IN_GAPS)
earliest_ends = composed(follow, "earliest_ends", **EARLIEST, **LATEST_IN_GAPS)


def hits(tables, events, keys, size, segments):
    """The hits of many segments, in their order.

    Parameters
    ----------
    tables : StepTables
    events : StepEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
    segments : LoopSegments

    Returns
    -------
    event : ndarray, shape (hits,), int64
    start : ndarray, shape (hits,), int64
        The event of the latest start.
    """
    room, out = room_for(tables, events.symbols, False), room_for_ends(segments)
    return found_ends(latest_ends, tables, events, comparable(keys, size), segments, room, out)


def early_hits(tables, events, segments):
    """As `hits` without a window, with the earliest start of each hit in place of the latest."""
    falling = tables._replace(view_rises=np.zeros_like(tables.view_rises))
    room, out = room_for(tables, events.symbols, False), room_for_ends(segments)
    return found_ends(earliest_ends, falling, events, NO_WINDOW, segments, room, out)

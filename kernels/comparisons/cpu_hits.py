"""Hits of compared steps: the ends of complex events, with the latest start that each has.

The latest start of a run that enters a state is the greatest one of the entries that its views show: the
maximum of one or two ranges of ranks, from a tree of maxima over the ranks of each order. Entries that have
left the window stay in the tree: their starts are below the least one that is admitted.
"""

import numpy as np

from ..jit import composed
from ..loop.contract import room_for_ends
from ..loop.follow import follow
from ..loop.products import EARLIEST, LATEST
from ..loop.run import found_ends
from ..windows.contract import comparable
from .contract import whole
from .index import HERE, LATEST_IN_ORDERS, StartRoom

latest_ends = composed(follow, "latest_ends", **LATEST, **LATEST_IN_ORDERS)
earliest_ends = composed(follow, "earliest_ends", **EARLIEST, **LATEST_IN_ORDERS)


def hits(tables, events, keys, size, segments, arranged, early=False):
    """The hits of many segments, in their order.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
    segments : ComparedSegments
    arranged : Arranged
    early : bool, optional
        Whether the earliest start of each end is asked for; then there is no window.

    Returns
    -------
    event : ndarray, shape (hits,), int64
    start : ndarray, shape (hits,), int64
        The event of the latest start.
    """
    room = StartRoom(
        arranged,
        segments,
        np.empty(HERE, np.int64),
        np.empty((len(tables.order_slot), 2 * int(segments.base[-1])), np.int64),
        np.empty((len(tables.accepting), 2), np.int64),
    )
    kernel = earliest_ends if early else latest_ends
    window = comparable(keys, size)
    return found_ends(kernel, tables, events, window, whole(segments), room, room_for_ends(segments))

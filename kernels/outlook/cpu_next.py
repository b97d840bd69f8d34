"""Looking ahead for a single event within a reach that begins at once: the next one in the lane decides.

Where q is a single event and the reach begins at once, an event is followed by q within reach if the next
event of its lane that q takes is: all later ones are farther. The same holds where any distance will do. So
events are looked at from the last one back, and of each lane the time of the nearest such event is kept:
there are no queues.
"""

from typing import NamedTuple

import numpy as np

from ..jit import SELDOM, jit
from .contract import ASKED

UNKNOWN = 2
"""The bit of an event behind which nothing has been seen yet that decides it."""


class NextLanes(NamedTuple):
    """The nearest event of each lane that q takes, among those that were looked at.

    =======  ======================  ===============================================
    `time`   uint64 [lanes]          what the reach measures of it
    `round`  int64 [lanes]           in which round it was seen; another: there is none
    =======  ======================  ===============================================
    """

    time: np.ndarray
    round: np.ndarray


@jit
def look_next(read, high, now, turn, nearest, bits, halt):
    """Decide events by the next one of their lane, the last event first: the first that is not decided, or n.

    =========  ================  ==========================================================================
    `read`     OutlookEvents     in
    `high`     uint64            in: the reach
    `now`      uint64 [1] or     in: what no event to come is before, which may be before an event;
               [0]               empty: that is not known
    `turn`     int               in: the round, which all events that come behind these were looked at in
    `nearest`  NextLanes         in/out
    `bits`     uint8 [n]         out: 0 or 1, which says nothing of events that are not asked; or `UNKNOWN`
    `halt`     uint8 [1]         in: see `jit`
    =========  ================  ==========================================================================
    """
    laned = read.lanes.shape[0] > 0
    timed = now.shape[0] > 0
    n = read.symbols.shape[0]
    first = n
    lane = 0
    for back in range(n):
        if back % SELDOM == 0 and halt[0]:
            break
        i = n - 1 - back
        if laned:
            lane = read.lanes[i]
        symbol = read.symbols[i]
        time = read.times[i]
        there = nearest.round[lane] == turn
        follows = there & (nearest.time[lane] - time <= high)
        bits[i] = np.uint8(follows)
        over = timed and now[0] >= time and now[0] - time > high
        if not there and read.kept[symbol] == ASKED and not over:
            bits[i] = UNKNOWN
            first = i
        if read.heard[symbol] != 0:
            nearest.time[lane] = time
            nearest.round[lane] = turn
    return first

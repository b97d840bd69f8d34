"""The contract of streams: the events that are kept between pushes, and what their windows still admit.

Events are numbered in the order of the stream, all lanes together, from the oldest one that is kept. An event
is **open** as long as a complex event that ends later may contain it. In a lane these are all events from the
least start that is still allowed: by the window of the lane's last event, and by what CONSUME BY has dropped.
"""

from typing import NamedTuple

import numpy as np

from ..suppress.contract import NEVER_QUIET, QuietTimes


class StreamEvents(NamedTuple):
    """Events of a stream, in its order.

    ===========  =============================  ===========================================================
    `symbols`    uint8 or uint16 [events]
    `lanes`      int32 [events] or [0]          empty: all are in one lane
    `measured`   uint64, float64 [events], [0]  what the window measures, ascending in a lane; empty: there
                                                is no window
    `following`  int64 [events] or [0]          the next event of the lane, where there are lanes and a window
    `slots`      int32 [columns, events]        for joins: the slot of each column; -1 where an event has no
                                                value
    `places`     int64 [events] or [0]          for joins: the place in the partition, where an entry asks for
                                                the next event
    ===========  =============================  ===========================================================
    """

    symbols: np.ndarray
    lanes: np.ndarray
    measured: np.ndarray
    following: np.ndarray
    slots: np.ndarray
    places: np.ndarray


class LaneBounds(NamedTuple):
    """For each lane the events that bound what is open in it; one lane where the events have none.

    ========  =============  =====================================================================
    `low`     int64 [lanes]  the least event that the window of the lane's last event admits; -1 at first, and
                             without a window until a machine says what it needs
    `last`    int64 [lanes]  the lane's last event, -1 at first; kept only where there is a window
    `least`   int64 [lanes]  the least start that CONSUME BY PARTITION still allows; 0 at first
    `all`     int64 [1]      the least start that CONSUME BY ANY still allows; 0 at first
    `quiet`   QuietTimes          the ends that are suppressed, so that they consume nothing
    ========  =============  =====================================================================
    """

    low: np.ndarray
    last: np.ndarray
    least: np.ndarray
    all: np.ndarray
    quiet: QuietTimes = NEVER_QUIET


class StreamWindow(NamedTuple):
    """What a complex event may span, and what it consumes when it is reported.

    ==========  =====================  =======================================================
    `size`      dtype of `measured`    the longest difference that the window keeps
    `consumes`  int64                  `NOTHING`, `ALL_LANES` or `OWN_LANE`
    ==========  =====================  =======================================================
    """

    size: int | float
    consumes: int


class StreamEnds(NamedTuple):
    """The events at which complex events end.

    =========  ==============  =========================================
    `event`    int64 [events]  ascending
    `lowest`   int64 [events]  the least admissible start
    `latest`   int64 [events]  the latest start of those that end there
    =========  ==============  =========================================
    """

    event: np.ndarray
    lowest: np.ndarray
    latest: np.ndarray


NOTHING, ALL_LANES, OWN_LANE = range(3)
"""What a reported end consumes: no partial matches, those of all lanes, or those of its own lane."""


def first_admitted_reference(lanes, keyed, numbers, event):
    """The first event of its lane whose key the end at an event admits; one past the event if it has no key.

    `numbers`: KeyNumbers of all events.
    """
    if not keyed[event]:
        return event + 1
    own = [i for i in range(event + 1) if len(lanes) == 0 or lanes[i] == lanes[event]]
    return next(i for i in own if keyed[i] and numbers.own[i] >= numbers.least[event])

"""The contract of outlooks: for each event one bit, whether a complex event of a pattern q is in its reach.

*Ahead* of event j (FOLLOWED BY): a complex event of q that starts after j, with `low <= time(end) - time(j)
<= high`. *Behind* it (PRECEDED BY): one that ends before j, with `low <= time(j) - time(start) <= high`. Both
are of one lane. q is an automaton whose labels are dropped, so that from a state a symbol leads to at most
one state.

Looking ahead, an event waits in the queue of its lane. When an event e comes, those whose reach ends before e
leave the queue, and all others have e in their reach, unless e is less than `low` after them. If complex
events of q end at e, those that wait before the latest start of these, at least `low` back, are decided: they
are the first ones of the queue. So each event is put into its queue once and taken out once, at the head.

Looking behind, a start is *ripe* once it lies `low` back. Of the ripe starts in one state of q the latest
stands for all, so a lane has one register for each state. The other starts are nodes in a queue of the lane;
those in one state are a tree, so that a step of q moves as many roots as q has states.
"""

from typing import NamedTuple

import numpy as np

NOT_KEPT, UNASKED, ASKED = 0, 1, 2
"""`kept`: the event is dropped; it is kept; it is kept, and its bit is asked for."""

WAITS = 2
"""Added to `UNASKED` or `ASKED` in `WaitingEvents.value`: an event that waits."""


class OutlookEvents(NamedTuple):
    """Events in the order of the stream.

    ===========  ==========================  =========================================================
    `symbols`    uint8 or uint16 [n]
    `heard`      uint16 [symbols]            what q reads of each symbol; 0: nothing
    `renamed`    uint16 [n] or [0]           what q reads of each event, if a monitor renames symbols
    `kept`       uint8 [symbols]             for each symbol `NOT_KEPT`, `UNASKED` or `ASKED`
    `lanes`      int32 [n] or [0]            empty: there is one lane
    `positions`  int64 [n]                   ascending in a lane
    `times`      uint64 or float64 [n]       what the reach measures; non-decreasing in a lane
    `latest`     int64 [n] or [0]            if another machine runs q: the latest position at which a complex
                                             event that ends at each event starts; -1: none ends there
    ===========  ==========================  =========================================================
    """

    symbols: np.ndarray
    heard: np.ndarray
    renamed: np.ndarray
    kept: np.ndarray
    lanes: np.ndarray
    positions: np.ndarray
    times: np.ndarray
    latest: np.ndarray


class OutlookShare(NamedTuple):
    """The events that one thread reads: those of some lanes, or neighbouring ones where there is one lane.

    ==========  ==============  ===========================================================================
    `start`     int             the first event
    `stop`      int             one past the last one
    `shift`     int             with lanes: only events of which `(lane >> shift) & mask` is `part`
    `mask`      int             0: all lanes
    `part`      int
    `row`       int             without lanes: the row in the arrays of lanes
    `place`     int             the place of the first event that gets one; later events follow it
    `carried`   int             1: the events that wait in the row come before these events; another share
                                reads these: this one only decides the events that wait
    `own`       int64 [SELDOM]  scratch
    `spot`      int64 [SELDOM]  scratch
    ==========  ==============  ===========================================================================
    """

    start: int
    stop: int
    shift: int
    mask: int
    part: int
    row: int
    place: int
    carried: int
    own: np.ndarray
    spot: np.ndarray


class KnownEvents(NamedTuple):
    """Events whose bits are known, without those that become neutral.

    ===========  ========================  ===========================================================
    `becomes`    as the symbols [m, 2]     the new symbol for each symbol and bit; 0: neutral
    `symbols`    as there [n]              out: the new symbols
    `places`     int64 [n]                 out: the numbers of these events, ascending
    ===========  ========================  ===========================================================
    """

    becomes: np.ndarray
    symbols: np.ndarray
    places: np.ndarray


class WaitingEvents(NamedTuple):
    """Room for the events that are kept: those that wait, and others.

    ============  ======================  ==================================================================
    `positions`   int64 [room]
    `times`       dtype of times [room]
    `lanes`       int32 [room] or [0]
    `following`   int64 [room]            the next event in the queue of the lane; -1 at its end
    `value`       uint8 [room]            the bit, 0 or 1; `WAITS + UNASKED` or `WAITS + ASKED`: it waits
    ============  ======================  ==================================================================
    """

    positions: np.ndarray
    times: np.ndarray
    lanes: np.ndarray
    following: np.ndarray
    value: np.ndarray


class AheadLanes(NamedTuple):
    """What is kept of each lane to look ahead.

    ===========  ==================================  =====================================================
    `head`       int64 [lanes]                       the first event that waits (it is asked); -1: none
    `tail`       int64 [lanes]                       the last event that waits, if there is one
    `registers`  int64 [lanes, program.n_registers]  the latest start of a run in each state; -1: none
    ===========  ==================================  =====================================================
    """

    head: np.ndarray
    tail: np.ndarray
    registers: np.ndarray


class BehindLanes(NamedTuple):
    """What is kept of each lane to look behind.

    ==========  ==============================  ==========================================================
    `latest`    dtype of times [lanes, n_live]  the time of the latest ripe start in each state; in column
                                                0, of those whose complex event has ended
    `there`     uint8 [lanes, n_live]           whether there is one
    `root`      int64 [lanes, n_live]           the root of the starts that are not ripe; -1: none
    `head`      int64 [lanes]                   the first start that is not ripe; -1: none
    `tail`      int64 [lanes]                   the last one, where there is a first
    ==========  ==============================  ==========================================================
    """

    latest: np.ndarray
    there: np.ndarray
    root: np.ndarray
    head: np.ndarray
    tail: np.ndarray


class UnripeStarts(NamedTuple):
    """Room for the starts that are not ripe yet.

    ============  =====================  ===================================================================
    `times`       dtype of times [room]
    `parent`      int64 [room]           in the tree of its state; a root is its own
    `state`       int32 [room]           of a root: the state of its tree, `ENDED` or `DEAD`
    `following`   int64 [room]           the next start of the lane that is not ripe; -1: none
    ============  =====================  ===================================================================
    """

    times: np.ndarray
    parent: np.ndarray
    state: np.ndarray
    following: np.ndarray


ENDED, DEAD = -1, -2
"""`state` of starts whose complex event has ended, and of starts that cannot have one."""


def outlook_reference(found, lanes, times, reach, behind):
    """The bits by definition.

    Parameters
    ----------
    found : list of (int, int)
        Start and end of each complex event of q, as numbers of events.
    lanes : sequence of int
        The lane of each event.
    times : sequence of int or float
    reach : (low, high)
    behind : bool

    Returns
    -------
    list of bool
        For each event.
    """
    low, high = reach
    bits = []
    for j in range(len(times)):
        own = [(start, end) for start, end in found if lanes[start] == lanes[j]]
        if behind:
            bits.append(any(end < j and low <= times[j] - times[start] <= high for start, end in own))
        else:
            bits.append(any(start > j and low <= times[end] - times[j] <= high for start, end in own))
    return bits

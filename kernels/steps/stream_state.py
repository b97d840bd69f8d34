"""What a stream of steps keeps from push to push."""

from typing import NamedTuple

import numpy as np

from ..loop.contract import StepNodes
from .contract import Sessions


class OpenEntries(NamedTuple):
    """The entries of a stream, all lanes together, in the order in which they were made.

    Those of one state in one lane are a chain. What a listed push may read (`nodes`) is never changed.

    ==============  =========================  ============================================================
    `nodes`         StepNodes                  with room for more; roots and their ends are those of a push
    `state`         int32 [entries]            the state that was entered
    `after`         int32 [entries]            the next of the chain, -1 for none
    `earlier`       int32 [entries]            the entry of the lane right before it, in any state
    `runs`          int64 [entries]            how many runs have entered, at most `MOST_RUNS`
    `sums`          int64 [entries]            those of its chain up to it, below `MOST_RUNS`,
    `carries`       int64 [entries]            and how many times `MOST_RUNS` besides
    `earliest`      int64 [entries]            no run of it starts before this event, -1 where any may; where
                                               these may fall (`rising_earliest`), none of the chain up to it
    `queue_before`  int32 [entries, queues]    its neighbours in the queues of the views of its state whose
    `queue_after`   int32 [entries, queues]    latest starts may fall
    ==============  =========================  ============================================================
    """

    nodes: StepNodes
    state: np.ndarray
    after: np.ndarray
    earlier: np.ndarray
    runs: np.ndarray
    sums: np.ndarray
    carries: np.ndarray
    earliest: np.ndarray
    queue_before: np.ndarray
    queue_after: np.ndarray


class OpenLanes(NamedTuple):
    """What a stream keeps of its lanes: entries, and events; -1 where there is none.

    =========  ========================  ================================================================
    `first`    int64 [lanes, states]     the first entry of each chain that is kept
    `last`     int64 [lanes, states]     and the last
    `shown`    int64 [lanes, views]      the last entry that a view has shown,
    `gone`     int64 [lanes, views]      and the first that it still shows
    `head`     int64 [lanes, views]      the queue of a view: its entry of the greatest latest start,
    `tail`     int64 [lanes, views]      and its last one
    `newest`   int64 [lanes]             the last entry of the lane
    `ended`    int64 [lanes]             its last event
    `since`    int64 [lanes]             the first event that a later complex event may contain
    `session`  int64 [lanes]             the first event of the session
    =========  ========================  ================================================================
    """

    first: np.ndarray
    last: np.ndarray
    shown: np.ndarray
    gone: np.ndarray
    head: np.ndarray
    tail: np.ndarray
    newest: np.ndarray
    ended: np.ndarray
    since: np.ndarray
    session: np.ndarray


class OpenSessions(NamedTuple):
    """How the events of a lane are parted into sessions.

    ===========  =======================  ===================================================================
    `reach`      Sessions                 no complex event has events of two of these sessions
    `sessions`   Sessions                 those that a strategy asks for
    `chain`      int64 [events, CHAIN]    of each event the event of its lane before it, the first one of its
                 or [0, CHAIN]            session, and how many of the lane come before it; empty without a
                                          strategy
    ===========  =======================  ===================================================================
    """

    reach: Sessions
    sessions: Sessions
    chain: np.ndarray


class EndCounts(NamedTuple):
    """`number` int64 [ends]: how many complex events end, -1 where some may start too early."""

    number: np.ndarray


EVENT_BEFORE, SESSION, RANK, CHAIN = range(4)
"""Columns of `OpenSessions.chain`, and their number."""


def rising_earliest(tables):
    """The states of which a later entry has no earlier earliest start: uint8 [states].

    Only starts lead to such a state, or one view alone, which shows such a state and moves forward. A
    repetition has none: what comes later may continue what began first.
    """
    n_states = len(tables.accepting)
    ways = [set() for _ in range(n_states)]
    for group, state in enumerate(tables.group_state.tolist()):
        views = tables.read_view[tables.read_first[group] : tables.read_first[group + 1]].tolist()
        ways[state].add((*views, -1) if tables.group_starts[group] else tuple(views))
    found = np.zeros(n_states, np.uint8)
    for _ in range(n_states):
        for state, own in enumerate(ways):
            if len(own) == 1 and len(way := next(iter(own))) == 1:
                (view,) = way
                found[state] = view < 0 or found[tables.view_state[view]]
    return found

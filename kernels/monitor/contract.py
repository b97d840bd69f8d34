"""The contract of monitors: finite automata that read each relevant event of a lane and rename its symbol."""

from typing import NamedTuple

import numpy as np


class Monitor(NamedTuple):
    """A finite automaton that reads the events of a lane from its beginning and renames their symbols.

    Some selectors at the beginning of a pattern depend on all earlier events. The state of the monitor holds
    what has to be known of them.

    =========  ==========================  =================================================================
    `follow`   int32 [states, symbols]     the state after an event; state 0 is the one at the beginning
    `symbol`   uint16 [states, symbols]    what the event's symbol becomes; 0 where it can be dropped
    =========  ==========================  =================================================================
    """

    follow: np.ndarray
    symbol: np.ndarray

    def then(self, after: "Monitor") -> "Monitor":
        """One monitor in place of two: this one renames symbols, then `after` renames the result."""
        n_after = len(after.follow)
        first = np.repeat(np.arange(len(self.follow)), n_after)
        second = np.tile(np.arange(n_after), len(self.follow))[:, None]
        given = self.symbol[first]
        return Monitor(
            (self.follow[first] * n_after + after.follow[second, given]).astype(np.int32),
            after.symbol[second, given],
        )


class MonitoredEvents(NamedTuple):
    """The events that a monitor reads if every reported complex event makes it begin again.

    ==========  ======================  =====================================================
    `symbols`   unsigned [n]
    `lanes`     int32 [n]               the lane of each event
    `measured`  int64 or float64 [n]    what the window measures
    `keyed`     uint8 [n]               0 where that is null: no window admits a complex event that
                                        starts or ends there
    ==========  ======================  =====================================================
    """

    symbols: np.ndarray
    lanes: np.ndarray
    measured: np.ndarray
    keyed: np.ndarray


class WatchedLanes(NamedTuple):
    """The monitor of each lane, and the runs of the automaton beside it.

    =======  ================================  ==============================================
    `state`  int32 [lanes]                     the state of the monitor
    `runs`   uint8 [lanes, automaton states]   1: a run that a window may still admit is in
                                               the state
    `began`  as measured, of the same shape    what the window measures where that run began;
                                               of several, the greatest
    `since`  int64 [lanes]                     how many reports each lane has seen
    `now`    int64 [1]                         how many reports there were, if a report drops
                                               the partial matches of all lanes
    =======  ================================  ==============================================
    """

    state: np.ndarray
    runs: np.ndarray
    began: np.ndarray
    since: np.ndarray
    now: np.ndarray


def rename_reference(monitor, symbols, lanes, state):
    """The renamed symbols, as a list; `state` is a list and holds the state of each lane after the events.

    ==========  =================================  ==============================================
    `monitor`   Monitor                            in
    `symbols`   unsigned [n]                       in
    `lanes`     int32 [n] or [0]                   in: the lane of each event; empty: one lane
    `state`     int32 [lanes]                      in/out: the state of each lane
    ==========  =================================  ==============================================
    """
    renamed = []
    for event, read in enumerate(symbols):
        lane = lanes[event] if len(lanes) else 0
        renamed.append(int(monitor.symbol[state[lane], read]))
        state[lane] = int(monitor.follow[state[lane], read])
    return renamed

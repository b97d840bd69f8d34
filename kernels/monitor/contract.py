"""The contract of monitors: finite automata that read each relevant event of a lane and rename its symbol."""

from typing import NamedTuple

import numpy as np


class Monitor(NamedTuple):
    """A finite automaton that reads the events of a lane from its beginning and renames their symbols.

    The choice of a selector at the beginning of a pattern depends on all earlier events. The state of the
    monitor holds all that must be known of them.

    =========  ==========================  =================================================================
    `follow`   int32 [states, symbols]     the state after an event; state 0 is the one at the beginning
    `symbol`   uint16 [states, symbols]    what the event's symbol becomes; 0 where it can be dropped
    =========  ==========================  =================================================================
    """

    follow: np.ndarray
    symbol: np.ndarray

    def then(self, after: "Monitor") -> "Monitor":
        """One monitor that applies this monitor, and then `after` to the symbols that it gives."""
        n_after = len(after.follow)
        first = np.repeat(np.arange(len(self.follow)), n_after)
        second = np.tile(np.arange(n_after), len(self.follow))[:, None]
        given = self.symbol[first]
        return Monitor(
            (self.follow[first] * n_after + after.follow[second, given]).astype(np.int32),
            after.symbol[second, given],
        )


class MonitoredEvents(NamedTuple):
    """The events that a monitor reads where a report makes it begin again.

    ==========  ======================  =====================================================
    `symbols`   unsigned [n]
    `lanes`     int32 [n]               the lane of each event
    `measured`  int64 or float64 [n]    what the window measures
    `keyed`     uint8 [n]               0 where that is null: no window admits what starts or
                                        ends there
    ==========  ======================  =====================================================
    """

    symbols: np.ndarray
    lanes: np.ndarray
    measured: np.ndarray
    keyed: np.ndarray


class WatchedLanes(NamedTuple):
    """The monitor of each lane, and the runs of the automaton that go along.

    =========  =================================  =============================================
    `state`    int32 [lanes]                      the state of the monitor
    `runs`     uint8 [lanes, automaton states]    whether there is a run in each state that a
                                                  window may admit
    `began`    as measured, of the same shape     what the window measures where the last of
                                                  them, by that measure, began
    `since`    int64 [lanes]                      how many reports each lane has seen
    `now`      int64 [1]                          how many there were, where a report drops the
                                                  partial matches of all lanes
    =========  =================================  =============================================
    """

    state: np.ndarray
    runs: np.ndarray
    began: np.ndarray
    since: np.ndarray
    now: np.ndarray


def rename_reference(monitor, symbols, lanes, state):
    """The renamed symbols, as a list; `state` is a list and holds the state of each lane afterwards.

    ==========  =================================  ==============================================
    `monitor`   Monitor                            in
    `symbols`   unsigned [n]                       in
    `lanes`     int32 [n] or [0]                   in: the lane of each event; empty: there is one
    `state`     int32 [lanes]                      in/out: the state of each lane
    ==========  =================================  ==============================================
    """
    renamed = []
    for event, read in enumerate(symbols):
        lane = lanes[event] if len(lanes) else 0
        renamed.append(int(monitor.symbol[state[lane], read]))
        state[lane] = int(monitor.follow[state[lane], read])
    return renamed

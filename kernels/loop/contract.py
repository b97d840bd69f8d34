"""What the pieces of the loop read and write: entries, and nodes made of them."""

from typing import NamedTuple

import numpy as np

ANY_PLACE, NEIGHBOUR, APART = range(3)
"""`view_near`: a view shows entries anywhere, only that of the event right before, or all but that one."""

LARGEST = 1 << 62
"""Stands for every count of complex events from 2^62 on."""

MOST_RUNS = LARGEST // 2
"""A number that is this large or larger is counted with Python's integers."""


class LoopSegments(NamedTuple):
    """What to run: events begin .. stop - 1 of each segment; the ends from `report` on are reported.

    ========  ==================
    `begin`   int64 [segments]
    `report`  int64 [segments]
    `stop`    int64 [segments]
    ========  ==================
    """

    begin: np.ndarray
    report: np.ndarray
    stop: np.ndarray


class FoundEnds(NamedTuple):
    """Hits as they are found: where complex events or answers end.

    =======  ==================  ===================================================================
    `event`  int64 [hits + 1]    where answers end
    `start`  int64 [hits + 1]    their latest start; other kernels put their number here
    =======  ==================  ===================================================================
    """

    event: np.ndarray
    start: np.ndarray


def room_for_ends(segments):
    """Room for the ends of segments, for the case that every reported event is one: `FoundEnds`."""
    capacity = int((segments.stop - segments.report).sum())
    return FoundEnds(*np.empty((2, capacity), np.int64))


class EntryRoom(NamedTuple):
    """Room for entries, by state, and the positions of views.

    =============  ==========================  =============================================================
    `first`        int64 [states + 1]          the entries of state q are first[q] .. first[q + 1] - 1
    `kept`         uint8 [states]              0: no view reads entries of the state
    `used`         int64 [states]              where the next entry goes
    `event`        int32 [entries]             the event that has entered
    `value`        int64 [entries]             the number whose greatest is wanted: mostly the latest start
    `shown`        int64 [views]               the first entry of its state that a view does not show yet,
    `gone`         int64 [views]               and the first that it still shows
    `queue_first`  int64 [views + 1]           the queue of view v begins at queue[queue_first[v]]
    `queue`        int32 [all queues]          entries that are shown, but not those before a greater value
    `head`         int64 [views]               the first entry in each queue,
    `tail`         int64 [views]               and one past the last
    =============  ==========================  =============================================================
    """

    first: np.ndarray
    kept: np.ndarray
    used: np.ndarray
    event: np.ndarray
    value: np.ndarray
    shown: np.ndarray
    gone: np.ndarray
    queue_first: np.ndarray
    queue: np.ndarray
    head: np.ndarray
    tail: np.ndarray


class StepNodes(NamedTuple):
    """The runs of segments: each entry with the entries that it comes from.

    ==============  ====================  ===================================================================
    `event`         int32 [entries]       the event that has entered
    `label`         int32 [entries]       its mark
    `latest`        int64 [entries]       the latest start of the entry's runs
    `link_first`    int32 [entries]       an entry has the links link_first .. link_last - 1
    `link_last`     int32 [entries]
    `link_low`      int32 [links]         a link stands for the entries link_low .. link_high - 1 that have
    `link_high`     int32 [links]         runs in the window; link_low -1: a run starts here
    `root_first`    int64 [hits + 1]      hit h has the roots root_first[h] ..
    `root_entry`    int32 [roots]         entries that accept
    `before`        int32 [entries]       the entry of its state before it, -1 for none; empty: entries of a
                    or [0]                state have neighbouring numbers
    ==============  ====================  ===================================================================
    """

    event: np.ndarray
    label: np.ndarray
    latest: np.ndarray
    link_first: np.ndarray
    link_last: np.ndarray
    link_low: np.ndarray
    link_high: np.ndarray
    root_first: np.ndarray
    root_entry: np.ndarray
    before: np.ndarray

"""Thresholds over the events of an iteration: the arrays, and what is computed, by its definition.

A match of `(T AS x)+ FILTER COUNT(DISTINCT x.a) >= 5` is any choice of events that meets the thresholds. More
events never meet fewer of them, so something ends at an event if all events since some start meet them, and
the latest such start is that of a match.
"""

from typing import NamedTuple

import numpy as np

EVENTS, VALUES, DISTINCT = range(3)
"""What a threshold counts: events, those that have a value, or different values."""


class Thresholds(NamedTuple):
    """The iteration.

    ============  =================  ================================================
    `takes`       uint8 [symbols]    1: an event with the symbol may be taken
    `contiguous`  int64              1: the events of a match are neighbours
    `counts`      uint8 [tests]      `EVENTS` .. `DISTINCT`
    `row`         int64 [tests]      the row of slots that has the values; -1: none
    `least`       int64 [tests]      how many there have to be
    ============  =================  ================================================
    """

    takes: np.ndarray
    contiguous: int
    counts: np.ndarray
    row: np.ndarray
    least: np.ndarray


class CountedEvents(NamedTuple):
    """Events of some segments.

    =========  =========================  ==========================================================
    `symbols`  uint8 or uint16 [events]
    `places`   int64 [events] or [0]      the place in the partition, where neighbours are asked for
    `slots`    int32 [rows, events]       equal values have equal slots; -1: no value
    =========  =========================  ==========================================================
    """

    symbols: np.ndarray
    places: np.ndarray
    slots: np.ndarray


def starts_reference(thresholds, events, low, end):
    """The starts of matches that end at an event, from `low` on, if all events from each on are taken."""
    if not thresholds.takes[events.symbols[end]]:
        return []
    found = []
    for start in range(low, end + 1):
        taken = [k for k in range(start, end + 1) if thresholds.takes[events.symbols[k]]]
        if start not in taken:
            continue
        if thresholds.contiguous and events.places[end] - events.places[start] != len(taken) - 1:
            continue
        met = True
        for counts, row, least in zip(thresholds.counts, thresholds.row, thresholds.least):
            values = [0 if counts == EVENTS else events.slots[row, k] for k in taken]
            there = [value for value in values if value >= 0]
            met = met and len(set(there) if counts == DISTINCT else there) >= least
        if met:
            found.append(start)
    return found

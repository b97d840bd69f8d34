"""Thresholds over the events of an iteration: the arrays, and what is computed, by its definition.

A match of `(T AS x)+ FILTER COUNT(DISTINCT x.a) >= 5` is any choice of events that meets the thresholds. More
events never meet fewer of them, so something ends at an event if all events since some start meet them, and
the latest such start is that of a match.

A match of `(T AS x)+ FILTER SUM(x.a) > 350` is any choice of events whose sum is greater, and one of `:+` a
choice of neighbours. Something ends at an event if there is a latest start of such a match. The values are
pairs of floats whose sum they are: so whole numbers of 64 bits are exact, and so are their sums.
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


SUM, MEAN, SPREAD, SOME, EVERY = range(5)
"""What is compared with the bound: the sum, the mean, the greatest less the least value, the greatest value
(some value lies above), or the least one (every value does)."""

FIT, TOO_LARGE = range(2)
"""The status of a kernel: `TOO_LARGE` where sums may not be exact."""


class AggregateThreshold(NamedTuple):
    """The iteration, and the bound that its aggregate has to exceed.

    ============  =================  ========================================================================
    `takes`       uint8 [symbols]    1: an event with the symbol may be taken
    `contiguous`  int64              1: the events of a match are neighbours
    `kind`        int64              `SUM` .. `EVERY`
    `bound`       float64            the bound is `bound + rest`
    `rest`        float64
    `strict`      int64              0: the bound itself is enough
    `exact`       int64              1: the numbers are whole, so that sums in any order are the same
    `limit`       float64            where the sizes of the values in a window add up to more, sums may not be
                                     exact; inf: they need not be
    ============  =================  ========================================================================
    """

    takes: np.ndarray
    contiguous: int
    kind: int
    bound: float
    rest: float
    strict: int
    exact: int
    limit: float


class AggregatedEvents(NamedTuple):
    """Events of some segments.

    =========  =========================  ==========================================================
    `symbols`  uint8 or uint16 [events]
    `places`   int64 [events] or [0]      the place in the partition, where neighbours are asked for
    `values`   float64 [events]           NaN: no value
    `rests`    float64 [events] or [0]    what the values lack; empty: nothing
    =========  =========================  ==========================================================
    """

    symbols: np.ndarray
    places: np.ndarray
    values: np.ndarray
    rests: np.ndarray


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


def exceeds_reference(threshold, values):
    """Whether the aggregate of some values, numbers in the order of the events, exceeds the bound."""
    if not values:
        return False
    found = {
        SUM: lambda: sum(values),
        MEAN: lambda: float(sum(values)) / len(values),
        SPREAD: lambda: max(values) - min(values),
        SOME: lambda: max(values),
        EVERY: lambda: min(values),
    }[threshold.kind]()
    bound = threshold.bound
    if threshold.rest:
        bound = int(bound) + int(threshold.rest)
    return found > bound if threshold.strict else found >= bound


def starts_of_aggregate_reference(threshold, events, values, low, end):
    """The starts of matches that end at an event, from `low` on, among all choices of events.

    `values` are those of the events as Python's numbers, None where there is none.
    """
    taken = [k for k in range(low, end + 1) if threshold.takes[events.symbols[k]]]
    if not taken or taken[-1] != end:
        return []
    found = []
    for at, start in enumerate(taken):
        if threshold.contiguous:
            choices = [taken[at:]] if events.places[end] - events.places[start] == len(taken) - at - 1 else []
        else:
            inner, last = taken[at + 1 : -1], [] if start == end else [end]
            choices = [
                [start, *(k for bit, k in enumerate(inner) if bits >> bit & 1), *last]
                for bits in range(1 << len(inner))
            ]
        valued = ([values[k] for k in choice if values[k] is not None] for choice in choices)
        if any(exceeds_reference(threshold, one) for one in valued):
            found.append(start)
    return found

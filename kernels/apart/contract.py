"""Chains of steps of which two are compared, as their kernels read them, and what they compute.

A chain has one event for each **step**, in order, with any events between. An event of the **old** step is
compared with one of the **new** step, which comes later: not always next. The old events of a segment lie in
an order (`cer_gpu.kernels.compared.contract.Arranged`), in which those that a new one agrees with are one or
two ranges.
"""

from typing import NamedTuple

import numpy as np

FEW = 24
"""So many old events in the window are looked at one by one: that is cheaper than a tree."""


class ApartTables(NamedTuple):
    """The chain.

    =========  ==================  =========================================================
    `steps`    int64 [symbols]     bit k: an event with the symbol may be step k
    `old`      int64               the steps that are compared, counted from 0
    `new`      int64
    `last`     int64               the last step
    `few`      int64               so many old events in the window are looked at one by one
    =========  ==================  =========================================================
    """

    steps: np.ndarray
    old: int
    new: int
    last: int
    few: int = FEW


class ApartRoom(NamedTuple):
    """What is known of the events of a segment that have been read; scratch.

    The ways through some steps from one event to another are an entry of the product of a matrix for each
    event between them, each of which has an inverse over the integers. So they are an entry of (product up to
    the first) ^ -1 (product up to the second), of which the first factor is kept with the first event, and
    summed up. `before` is of the steps before the old one, `between` and `behind` of those after the old and
    after the new one; `b`, `m` and `e` are their numbers plus one, `e` 0 where the new step is the last.

    =============  =====================  ====================================================================
    `before`       [b, b]                 products of all events read
    `between`      [m, m]
    `behind`       [e, e]
    `since`        [b, b]                 inverse of the product of the events before the window
    `between_in`   [m, m]                 inverses of `between` and of `behind`
    `behind_in`    [e, e]
    `own`          [rows, b, m]           of each old event, by rank, the ways to it times those from it
    `sums`         [rows, b, m]           the same of all that are in the window, as a Fenwick tree over ranks
    `shifts`       [rows, m, e]           what new events add to the old ones before them; Fenwick, of ranges
    `seen`         [rows, m, e]           of each old event what it is not to get: what came before it
    `total`        [b, e]                 the ways of all old events in the window to new ones
    `part`         [b]                    of those that a new event agrees with
    `many`         [steps]                events of each step in the window
    `open`         [rows]                 the old events that have been put in, in their order
    =============  =====================  ====================================================================

    All are int64, and wrap, or Python's integers; `many` and `open` are int64.
    """

    before: np.ndarray
    between: np.ndarray
    behind: np.ndarray
    since: np.ndarray
    between_in: np.ndarray
    behind_in: np.ndarray
    own: np.ndarray
    sums: np.ndarray
    shifts: np.ndarray
    seen: np.ndarray
    total: np.ndarray
    part: np.ndarray
    many: np.ndarray
    open: np.ndarray


def chains_reference(apart, symbols, agree, low, end):
    """The matches of a chain by their definition: tuples of events from `low` on, of which the last is `end`.

    Parameters
    ----------
    apart : ApartTables
    symbols : sequence of int
        Of each event.
    agree : callable
        Whether an old and a new event, by number, satisfy what is compared.
    """
    found = [()]
    for step in range(apart.last + 1):
        found = [
            (*before, event)
            for before in found
            for event in range(max(low, before[-1] + 1) if before else low, end + 1)
            if apart.steps[symbols[event]] >> step & 1 and (event == end) == (step == apart.last)
        ]
    return [events for events in found if agree(events[apart.old], events[apart.new])]

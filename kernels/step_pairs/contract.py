"""Chains of steps of which two are compared: `a ; B ; c` with `a.x < c.x`. The arrays and their meaning.

A chain has one event for each **step**, in order; other events may lie between. The event of the **old** step
is compared with that of the **new** step, which comes later, but need not be the next step. The old events of
a segment lie in an order (`cer_gpu.kernels.comparisons.contract.Arranged`), in which the old events that
match a new one are one or two ranges.
"""

from typing import NamedTuple

import numpy as np

FEW = 512
"""With at most this many old events in the window each is compared by itself: that is cheaper than a tree."""


class StepPairTables(NamedTuple):
    """The chain.

    =========  ==================  =========================================================
    `steps`    int64 [symbols]     bit k: an event with the symbol may be step k
    `old`      int64               the steps that are compared, counted from 0
    `new`      int64
    `last`     int64               the last step
    `few`      int64               up to this many old events in the window are compared one by one
    =========  ==================  =========================================================
    """

    steps: np.ndarray
    old: int
    new: int
    last: int
    few: int = FEW


class StepPairRoom(NamedTuple):
    """Scratch: what is known of the events of a segment that have been read.

    Each event multiplies a matrix that counts the ways through some steps. The ways from one event to a later
    one are an entry of the product of the matrices between them. Each matrix has an inverse over the
    integers, so that product is (product up to the first)^-1 (product up to the second); the first factor is
    kept with the first event and summed. `before` is of the steps before the old one, `between` of those
    between the old and the new one, `behind` of those after the new one; `b`, `m` and `e` are their numbers
    plus one, and `e` is 0 where the new step is the last.

    =============  =====================  ====================================================================
    `before`       [b, b]                 products of all events read
    `between`      [m, m]
    `behind`       [e, e]
    `since`        [b, b]                 inverse of the product of the events before the window
    `between_in`   [m, m]                 inverses of `between` and of `behind`
    `behind_in`    [e, e]
    `own`          [rows, b, m]           for each old event, by rank: the ways to it times those from it
    `sums`         [rows, b, m]           Fenwick tree over ranks: sums of `own` over the window
    `shifts`       [rows, m, e]           Fenwick tree of ranges: what new events add to the old ones before
    `seen`         [rows, m, e]           for each old event what `shifts` held before it, not its own
    `total`        [b, e]                 the ways of all old events in the window to new ones
    `part`         [b]                    the ways to the old events that match a new event, and on to it
    `many`         [steps]                events of each step in the window
    =============  =====================  ====================================================================

    All are int64, and wrap, or Python's integers; `many` is int64.
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


def chains_reference(apart, symbols, agree, low, end):
    """The matches of a chain by definition: tuples of events from `low` on, of which the last is `end`.

    Parameters
    ----------
    apart : StepPairTables
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

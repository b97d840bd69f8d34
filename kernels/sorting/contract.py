"""The contracts of sorting stably: rows with equal keys keep their order.

`merge` makes one run of two that are neighbours:

=========  ========================  ==================================================================
`keys`     int64 [columns, rows]     in: the first column that differs decides
`runs`     SortedRuns                in/out: on entry low .. middle - 1 and middle .. high - 1 are each in
                                     order, after it low .. high - 1 is
=========  ========================  ==================================================================

`order_of` sorts whole numbers that are close to each other by their digits:

=========  ===================  =======================================================================
`values`   int64 [n]            in: each at least `low`
`low`      int64                in
`bits`     int64                in: `values - low` is below 2^bits
`shift`    int64                in: n is at most 2^shift; bits + shift is at most 63
`packed`   int64 [2, n]         scratch: a value above its place, so that one number is moved for both
`starts`   int64 [2^DIGIT]      scratch
`order`    int64 [n]            out: the places of the values, ascending by value, then by place
=========  ===================  =======================================================================
"""

from typing import NamedTuple

import numpy as np

DIGIT = 11
"""Bits of a digit: as many counters as the nearest cache of a core holds."""


class SortedRuns(NamedTuple):
    """Rows that are sorted run by run.

    =======  ==============  ==============================================================
    `order`  int64 [rows]    the numbers of the rows
    `first`  int64 [rows]    the key of each in the first column, so that it is read in order
    =======  ==============  ==============================================================
    """

    order: np.ndarray
    first: np.ndarray


def merge_reference(keys, runs, low, middle, high):
    """Merge two neighbouring runs, at low .. middle - 1 and at middle .. high - 1."""
    runs.order[low:high] = sorted(runs.order[low:high], key=lambda row: tuple(keys[:, row]))
    runs.first[low:high] = keys[0, runs.order[low:high]]


def order_of_reference(values, low, bits, shift, packed, starts, order):
    """Write the order of values, equal ones by their place."""
    order[:] = np.argsort(values, kind="stable")

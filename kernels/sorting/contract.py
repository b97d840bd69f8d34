"""The contract of merging two sorted runs of rows, stably: rows with equal keys keep their order.

=========  ========================  ==================================================================
`keys`     int64 [columns, rows]     in: the first column that differs decides
`runs`     SortedRuns                in/out: low .. middle - 1 and middle .. high - 1 are in order each, and
                                     low .. high - 1 afterwards
=========  ========================  ==================================================================
"""

from typing import NamedTuple

import numpy as np


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

"""What it is to merge two runs: rows in the order of their keys, equal ones as they stand.

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
    `order`  int64 [rows]    their numbers
    `first`  int64 [rows]    their keys in the first column: it is read in order
    =======  ==============  ==============================================================
    """

    order: np.ndarray
    first: np.ndarray


def merge_reference(keys, runs, low, middle, high):
    """Merge two neighbouring runs, which stand at low .. middle - 1 and middle .. high - 1."""
    runs.order[low:high] = sorted(runs.order[low:high], key=lambda row: tuple(keys[:, row]))
    runs.first[low:high] = keys[0, runs.order[low:high]]

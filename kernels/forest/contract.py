"""The contract of the persistent structure: nodes in an arena, and complex events as they are enumerated.

A **node** stands for a set of open complex events, and is never changed once written:

- a **bottom** for the one that starts at its event,
- an **output** for those of its child, with one more mark (event, label),
- a **union** for those of its left and its right child, which are disjoint.

A node is a row of the **arena**, an int64 array [nodes, 4]; children precede their parents:

========  ==============  ================  =================  ==================
column    bottom          output            union              meaning
========  ==============  ================  =================  ==================
`LABEL`   `BOTTOM`        label, >= 1       `UNION`
`LEFT`    -1              child             left child         a node
`RIGHT`   -1              event             right child        a node, or an event
`LATEST`  event           of the child      of the left child  greatest start in the set
========  ==============  ================  =================  ==================

Unions are **time-ordered** (`LATEST` of left >= of right) and their **output depth** (the number of left
steps to a node that is no union) is at most 3, so that enumeration meets an output after a bounded number of
steps.
"""

from typing import NamedTuple

import numpy as np

LABEL, LEFT, RIGHT, LATEST = range(4)
"""Columns of an arena."""

UNION = -1

BOTTOM = -2


class Block(NamedTuple):
    """Complex events, one after another.

    ============  =============================  ====================================================
    `hit`         int64 [complex events]         the number of the hit at which each ends
    `start`       int64 [complex events]         the event at which it starts
    `first`       int64 [complex events + 1]     where its marks begin
    `event`       int64 [marks]                  the marked events, ascending in each complex event
    `label`       int32 [marks]                  their labels, >= 1
    ============  =============================  ====================================================
    """

    hit: np.ndarray
    start: np.ndarray
    first: np.ndarray
    event: np.ndarray
    label: np.ndarray

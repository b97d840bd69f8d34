"""The contract of enumeration: complex events as they are found, and how a walk ends."""

from typing import NamedTuple

import numpy as np

DONE, BLOCK_FULL, HIT_TOO_LARGE, MISMATCH, NODES_FULL, DEPTH_FULL = range(6)
"""How `blocks.list_hits` ends: all is written; there is no room in the block for the next hit; there is
none for what is found of it; it has not as many complex events as were counted; there is no room for the
nodes of its paths, or for a path."""

STACK_FULL, ROWS_FULL, MARKS_FULL = range(1, 4)
"""How `rows.list_rows` ends, if not `DONE`: an array of the walk is full, or one of the rows."""


class AnswerRows(NamedTuple):
    """Answers as they are found, one for each row.

    =======  =====================  ====================================================================
    `first`  int64 [rows + 1]       row r has the events first[r] .. first[r + 1] - 1
    `event`  int32 [marks]          by atom; marks ascend (their runs are chains)
    `label`  int32 [marks] or [0]   of marks
    `start`  int32 [rows]           the least event of each answer
    =======  =====================  ====================================================================
    """

    first: np.ndarray
    event: np.ndarray
    label: np.ndarray
    start: np.ndarray

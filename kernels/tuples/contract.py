"""The contract of extending partial answers of a rule by the events of one more atom.

A row is a partial answer: one event for each atom that it has so far. It is extended by every candidate, an
event of the next atom, which

- has the row's key: candidates with equal keys are neighbours, and the row knows where those of its key are;
- lies between the least and the greatest event that the row admits;
- satisfies `rank of the candidate op rank of the row` for every condition.

Whatever is compared has become a rank, an int64 that orders values as they are ordered: numbers, times and
texts alike. Candidates and rows with a null or a NaN in a condition have been left out.
"""

from typing import NamedTuple

import numpy as np

EQUAL, UNEQUAL, LESS, ATMOST, MORE, ATLEAST = range(6)
"""The operators of conditions: the candidate stands on the left."""

ROW, AT, MADE, LOOKED = range(4)
"""Words of `progress`: the row and the candidate to continue with, how many pairs are made, and how many
candidates were tested."""

WORDS = 4

DONE, FULL = 0, 1
"""Status: all rows are extended; or there is no room for another pair, or as many candidates were tested as
one call tests."""

MOST_LOOKED = 1 << 27
"""About how many candidates one call tests."""


class Candidates(NamedTuple):
    """The events that fit an atom.

    ===========  ===========================  ========================================================
    `event`      int64 [n]                    by key, those of one key ascending
    `ranked`     int64 [n] or [0]             the same events by key, those of one key ascending in the
                                              first condition; empty without a condition
    `op`         int64 [conditions]           an operator that a range of ranks satisfies comes first
    `rank`       int64 [conditions, events]   the rank of each event in each condition
    ===========  ===========================  ========================================================
    """

    event: np.ndarray
    ranked: np.ndarray
    op: np.ndarray
    rank: np.ndarray


class RowBounds(NamedTuple):
    """Partial answers.

    ===============  ========================  ========================================================
    `begin`, `end`   int64 [rows]              the candidates with the key of the row
    `low`, `high`    int64 [rows]              the least and the greatest event that it admits
    `rank`           int64 [conditions, rows]  what the candidate's rank is compared with
    ===============  ========================  ========================================================
    """

    begin: np.ndarray
    end: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rank: np.ndarray


class Pairs(NamedTuple):
    """Rows with a candidate each.

    ========  ==============  ==================================
    `row`     int64 [room]    the number of the row
    `event`   int64 [room]    the candidate
    ========  ==============  ==================================
    """

    row: np.ndarray
    event: np.ndarray


def holds_reference(op, left, right):
    """Whether a condition holds."""
    return (left == right, left != right, left < right, left <= right, left > right, left >= right)[op]


def pairs_reference(candidates, rows):
    """All pairs of a row and a candidate that extends it: a list of (row, event)."""
    found = []
    for row in range(len(rows.begin)):
        for event in candidates.event[rows.begin[row] : rows.end[row]]:
            if rows.low[row] <= event <= rows.high[row] and all(
                holds_reference(op, candidates.rank[number, event], rows.rank[number, row])
                for number, op in enumerate(candidates.op)
            ):
                found.append((row, int(event)))
    return found


def summed_reference(candidates, rows, count, latest):
    """How many candidates extend each row, and the latest of them, -1 where there is none."""
    count[:], latest[:] = 0, -1
    for row, event in pairs_reference(candidates, rows):
        count[row] += 1
        latest[row] = max(latest[row], event)

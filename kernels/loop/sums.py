"""Sums of numbers of runs over neighbouring entries: exact, however large the numbers before them were.

A number from `MOST_RUNS` on is kept as `MOST_RUNS`. A prefix sum has two words, `sums` below `MOST_RUNS` and
`carries`, how many times `MOST_RUNS` it is besides, so the difference of two is exact.
"""

from ..jit import inline
from .contract import MOST_RUNS


@inline
def at_most(runs, carry):
    """The difference of two prefix sums, given that of each word: at most `MOST_RUNS`."""
    if carry > 0:
        return runs + MOST_RUNS if carry == 1 and runs < 0 else MOST_RUNS
    return runs


@inline
def runs_between(sums, carries, low, high):
    """The difference of the prefix sums at two places, at most `MOST_RUNS`.

    ==========  ===============  ==========================
    `sums`      int64 [places]   in
    `carries`   int32 [places]   in
    `low`       int              in
    `high`      int              in: its sum is no less
    ==========  ===============  ==========================
    """
    return at_most(sums[high] - sums[low], carries[high] - carries[low])


@inline
def add_runs(sums, carries, place, runs):
    """Write the prefix sums after a place: those at it and a number of runs, at most `MOST_RUNS`."""
    total = sums[place] + runs
    carry = carries[place]
    if total >= MOST_RUNS:
        total -= MOST_RUNS
        carry += 1
    sums[place + 1] = total
    carries[place + 1] = carry

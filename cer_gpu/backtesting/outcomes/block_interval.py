"""Intervals of means and of what they gain over their base, which hits that overlap do not make narrower.

The variance is that of a mean over clusters: the blocks of `time_blocks`. Blocks are at least twice as long
as an outcome looks ahead, so that outcomes overlap only at their edges. A longer block also takes in what
stays alike for longer (a trend, a season), so neighbours are joined as long as `ENOUGH_BLOCKS` are left: a
few dozen blocks give almost as narrow an interval as many.
"""

from __future__ import annotations

from functools import lru_cache
from math import atan, ceil, cos, log2, pi, sin, sqrt
from typing import NamedTuple

from cer_gpu.backtesting.outcomes.time_blocks import (
    FIGURES,
    HITS,
    OWN,
    REST,
    SPREAD,
    SQUARES,
    BlockSums,
    added,
)

SURE = 0.95
"""How likely it is that an interval holds."""

LEAST_BLOCKS = 10
"""With hits in fewer independent blocks, an interval says too little for a claim."""

ENOUGH_BLOCKS = 50
"""Neighbouring blocks are joined while at least so many are left."""

LENGTHS = 2
"""A block is at least so many times as long as an outcome looks ahead."""

_ROUNDING = 1e-12
"""An interval is never narrower than what sums are rounded to, relative to the mean."""


class GainInterval(NamedTuple):
    """A figure of the hits, compared with its base; NaN where it is unknown.

    Attributes
    ----------
    low, high : float
        The interval of the figure.
    base : float
        The figure at all events, weighted by the keys of the hits.
    gain_low, gain_high : float
        The interval of the difference from the base.
    """

    low: float
    high: float
    base: float
    gain_low: float
    gain_high: float


class BlockSummary(NamedTuple):
    """What the hits of a query come to, compared with all events of their keys.

    Attributes
    ----------
    blocks : int
        In how many independent blocks of time the hits lie; fewer if a few blocks have most of them.
    base_n : int
        How many events the base has.
    figures : dict of str to GainInterval
        By the names in `FIGURES`.
    """

    blocks: int
    base_n: int
    figures: dict[str, GainInterval]


def block_summary(sums: BlockSums) -> BlockSummary:
    """The intervals of the figures of a query.

    With n hits, of which n_c are in block c, there are as many independent blocks as n**2 / sum(n_c**2).
    """
    sums = joined_blocks(sums)
    many = sums.n
    count = float(many.sum())
    blocks = int(count * count / float((many * many).sum()) + 1e-9) if count else 0
    return BlockSummary(blocks, sums.events, {name: _interval(sums, name, blocks) for name in FIGURES})


def joined_blocks(sums: BlockSums) -> BlockSums:
    """The sums with the shortest blocks that are long enough and not too many."""
    least = LENGTHS * sums.ahead * (1 - 1e-9)
    level = max(sums.level, ceil(log2(least))) if least > 0 else sums.level
    sums = added([sums], level)
    while len(sums.block) >= 2 * ENOUGH_BLOCKS:
        sums = added([sums], sums.level + 1)
    return sums


def _interval(sums: BlockSums, name: str, blocks: int) -> GainInterval:
    """The interval of a figure."""
    many, own = sums.n, sums.figure(name)
    count = many.sum()
    if not count:
        return GainInterval(*[float("nan")] * 5)
    value, base = own[:, HITS].sum() / count, own[:, OWN].sum() / count
    gain = value - base
    # What each block adds to the error of the figure, and to that of its difference from the base.
    alone = own[:, HITS] - value * many
    compared = own[:, HITS] - own[:, OWN] - gain * many - own[:, REST]
    squares = own[:, SQUARES].sum()
    same = squares - count * value * value <= 1e-9 * squares
    # Values that are all the same do not tell how far they could have differed; those of the base do.
    least = max(own[:, SPREAD].sum(), 0) if same else 0.0
    finest = _ROUNDING * (abs(value) + abs(base))
    ends = []
    for middle, errors in ((value, alone), (gain, compared)):
        if blocks < 2:
            ends += [float("nan")] * 2
            continue
        variance = max(float((errors * errors).sum()) * blocks / (blocks - 1), least) / count**2
        half = max(student_quantile(1 - (1 - SURE) / 2, blocks - 1) * sqrt(variance), finest)
        ends += [float(middle - half), float(middle + half)]
    return GainInterval(ends[0], ends[1], float(base), ends[2], ends[3])


@lru_cache(1024)
def student_quantile(share: float, freedom: int) -> float:
    """The quantile of Student's t distribution for a share above 1/2 and whole degrees of freedom."""
    low, high = 0.0, 1.0
    while _within(high, freedom) < 2 * share - 1:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _within(middle, freedom) < 2 * share - 1 else (low, middle)
    return high


def _within(reach: float, freedom: int) -> float:
    """How likely a value of Student's distribution lies within `reach` of 0.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    angle = atan(reach / sqrt(freedom))
    odd = freedom % 2
    term, total = (cos(angle) if odd else 1.0), 0.0
    for step in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cos(angle) ** 2 * (step - 1) / step
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total

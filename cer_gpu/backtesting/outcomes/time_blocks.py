"""Hits and all events of their keys, summed up by block of time: what intervals and the base are made of.

Hits whose outcomes overlap, and hits of several keys at one time, tell the same thing twice. So time is cut
into blocks, longer than an outcome looks ahead, and all hits of a block, of whatever key, count as one. The
sums of blocks add up: over keys, over tasks on Spark, and over files that are read later. A block is 2**level
units of the order column long, so that two neighbours make one block of the next level.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp
from typing import NamedTuple

import numpy as np

FIRST_BLOCKS = 512
"""The most blocks that the time of some events is cut into at first."""

MOST_SHIFT = 63
"""By so many levels the numbers of blocks can differ."""

_N, _EVENTS, _AHEAD, _FIGURES = 0, 1, 2, 3
"""Columns of sums: hits, events of their keys, how far these look ahead; then those of the figures."""

HITS, SQUARES, OWN, REST, SPREAD = range(5)
"""Columns of a figure: its sum and sum of squares at hits, the sum of the means of the keys of hits, how far
the events of a block differ from the mean of their key, weighted as the hits are, and the squares of that."""

FIGURES = ("mean", "positive")
"""What is summed up: the values, and whether they are above 0."""

WIDTH = _FIGURES + len(FIGURES) * (SPREAD + 1)
"""How many sums a block has."""


class BaseSums(NamedTuple):
    """The values of an outcome at all events, summed up by key and block.

    Attributes
    ----------
    level : int
    lane : ndarray, shape (cells,), int64
        The number of the key.
    block : ndarray, shape (cells,), int64
    sums : ndarray, shape (cells, 2 + 2 * figures), float64
        Events with a value, and how far they look ahead; of each figure the sum and the sum of squares.
    """

    level: int
    lane: np.ndarray
    block: np.ndarray
    sums: np.ndarray


class BlockSums(NamedTuple):
    """What the hits of a query and the events of their keys come to in each block.

    Attributes
    ----------
    level : int
    block : ndarray, shape (blocks,), int64
        Ascending.
    sums : ndarray, shape (blocks, WIDTH), float64
    """

    level: int
    block: np.ndarray
    sums: np.ndarray

    @property
    def n(self) -> np.ndarray:
        """How many hits each block has, shape (blocks,), float64."""
        return self.sums[:, _N]

    @property
    def events(self) -> int:
        """How many events the base has."""
        return int(self.sums[:, _EVENTS].sum())

    @property
    def ahead(self) -> float:
        """How far the outcome looks ahead on average, in the unit of the order column."""
        return float(self.sums[:, _AHEAD].sum() / max(self.events, 1))

    def figure(self, name: str) -> np.ndarray:
        """The sums of a figure, shape (blocks, 5)."""
        first = _FIGURES + FIGURES.index(name) * (SPREAD + 1)
        return self.sums[:, first : first + SPREAD + 1]


class TimeSpan(NamedTuple):
    """From when to when some events happened.

    Attributes
    ----------
    least, most : float
        Infinite, and `least` above `most`, where there are none.
    whole : bool
        Whether times are whole numbers.
    """

    least: float
    most: float
    whole: bool

    @classmethod
    def of(cls, moments: np.ndarray) -> TimeSpan:
        """The span of some times."""
        whole = moments.dtype.kind != "f"
        if not len(moments):
            return cls(float("inf"), float("-inf"), whole)
        return cls(float(moments.min()), float(moments.max()), whole)

    def with_span(self, other: TimeSpan) -> TimeSpan:
        """The span of both."""
        return TimeSpan(min(self.least, other.least), max(self.most, other.most), self.whole)

    @property
    def level(self) -> int:
        """The least level at which the span has no more than `FIRST_BLOCKS` blocks.

        For a part of it, it is never greater than for all of it, so sums can be added at the level of all.
        """
        if self.least > self.most:
            return 0
        # The number of a block must be an int64.
        finest = 0 if self.whole else frexp(max(abs(self.least), abs(self.most)))[1] - MOST_SHIFT + 1
        if self.least == self.most:
            return finest
        return max(finest, frexp((self.most - self.least) / (FIRST_BLOCKS - 1))[1])


def blocks_of(moments: np.ndarray, level: int) -> np.ndarray:
    """The block of each of some times, int64."""
    if moments.dtype.kind != "f":
        return moments >> min(level, MOST_SHIFT)
    return np.floor(np.ldexp(moments, -level)).astype(np.int64)


def base_sums(
    values: np.ndarray, ahead: np.ndarray, lanes: np.ndarray, moments: np.ndarray, level: int
) -> BaseSums:
    """Sum up values by key and block.

    Parameters
    ----------
    values : ndarray, shape (events,), float64
        NaN where there is none.
    ahead : ndarray, shape (events,), float64
        How far they look ahead.
    lanes : ndarray, shape (events,), int64
        The number of the key; -1 for none. Best in ascending order.
    moments : ndarray, shape (events,), int64 or float64
        When the events happened.
    level : int
    """
    there = ~np.isnan(values) & (lanes >= 0)
    own = values[there]
    sums = np.stack([np.ones(len(own)), ahead[there], own, own * own, own > 0, own > 0], axis=1)
    return _grouped(BaseSums(level, lanes[there], blocks_of(moments[there], level), sums))


def joined(one: BaseSums, other: BaseSums, level: int) -> BaseSums:
    """The sums of two sets of events, by blocks of a level that neither exceeds."""
    parts = one, other
    lane, sums = (np.concatenate([getattr(own, name) for own in parts]) for name in ("lane", "sums"))
    block = np.concatenate([own.block >> min(level - own.level, MOST_SHIFT) for own in parts])
    return _grouped(BaseSums(level, lane, block, sums))


def _grouped(found: BaseSums) -> BaseSums:
    """One row for each key and block."""
    level, lane, block, sums = found
    if not len(lane):
        return found
    steps = np.diff(lane)
    if (steps < 0).any() or (np.diff(block)[steps == 0] < 0).any():
        order = np.lexsort((block, lane))
        lane, block, sums = lane[order], block[order], sums[order]
    begin = np.flatnonzero(np.append(True, (np.diff(lane) != 0) | (np.diff(block) != 0)))
    return BaseSums(level, lane[begin], block[begin], np.add.reduceat(sums, begin))


def block_sums(values: np.ndarray, lanes: np.ndarray, moments: np.ndarray, base: BaseSums) -> BlockSums:
    """The sums of the hits of a query.

    Parameters
    ----------
    values : ndarray, shape (hits,), float64
        NaN where there is none.
    lanes : ndarray, shape (hits,), int64
        Their keys, as in `base`.
    moments : ndarray, shape (hits,), int64 or float64
    base : BaseSums
    """
    there = ~np.isnan(values)
    own, lane = values[there], lanes[there]
    keys = int(max(lane.max(initial=-1), base.lane.max(initial=-1))) + 1
    hits = np.bincount(lane, minlength=keys)
    used = hits[base.lane] > 0
    key, cells = base.lane[used], base.sums[used]
    whole = np.stack([np.bincount(key, column, keys) for column in cells.T], axis=1)
    at_hits = np.zeros((len(own), WIDTH))
    at_base = np.zeros((len(cells), WIDTH))
    at_hits[:, _N] = 1
    at_base[:, [_EVENTS, _AHEAD]] = cells[:, :2]
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = hits / whole[:, 0]
        for number, figure in enumerate((own, (own > 0).astype(np.float64))):
            first, place = _FIGURES + number * (SPREAD + 1), 2 + 2 * number
            mean = whole[:, place] / whole[:, 0]
            differ = cells[:, place] - mean[key] * cells[:, 0]
            squares = cells[:, place + 1] - mean[key] * (cells[:, place] + differ)
            at_hits[:, first + HITS], at_hits[:, first + SQUARES] = figure, figure * figure
            at_hits[:, first + OWN] = mean[lane]
            at_base[:, first + REST], at_base[:, first + SPREAD] = weight[key] * differ, weight[key] * squares
    block = np.append(blocks_of(moments[there], base.level), base.block[used])
    return added([BlockSums(base.level, block, np.append(at_hits, at_base, axis=0))], base.level)


def added(parts: Sequence[BlockSums], level: int) -> BlockSums:
    """The sums of several sets of hits, whose keys differ, by blocks of a level that none of them exceeds."""
    block = np.concatenate([one.block >> min(level - one.level, MOST_SHIFT) for one in parts])
    block, place = np.unique(block, return_inverse=True)
    rows = np.concatenate([one.sums for one in parts])
    sums = np.stack([np.bincount(place, column, len(block)) for column in rows.T], axis=1)
    return BlockSums(level, block, sums)


def none_found(level: int) -> BlockSums:
    """The sums of no hits."""
    return BlockSums(level, np.empty(0, np.int64), np.empty((0, WIDTH)))

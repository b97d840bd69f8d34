"""Second methods for row patterns: regular expressions of Python over a letter for each row, and sums.

All rows, by key and time, are one text. Only letters of first rows say that a key begins, so that no match
has rows of two keys. Of a text of letters, `re` finds the match that SQL prefers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bench.trades import NULL, Trades

GAP = 2000
"""Milliseconds between two rows of a key from which on they are in two sessions."""

FULL = 500
"""The volume of a bin."""

LARGE = 80
"""A large trade has more than this volume."""

V_SHAPE = re.compile(rb"[duef](d+)(u+)[de]")
STREAK = re.compile(rb"[duef](u{3,})[de]")

OPTIONAL = re.compile(rb"[DUEF]([dD])?([eE])?([uU])")
"""Large trades have capital letters."""


def v_shapes(trades: Trades) -> list[np.ndarray]:
    """Key, top, low, high and the number of falls."""
    ways, prices = _ways(trades), trades.prices
    found = []
    at = V_SHAPE.search(ways)
    while at:
        found.append((at.start(), at.end(1) - 1, at.end(2) - 1))
        at = V_SHAPE.search(ways, at.end(2) - 1)
    top, low, high = _columns(found, 3)
    return [trades.keys[top], prices[top], prices[low], prices[high], low - top]


def streaks(trades: Trades) -> list[np.ndarray]:
    """Key, the prices before and at the end of the rise, and the number of rises."""
    ways, prices = _ways(trades), trades.prices
    found = []
    at = STREAK.search(ways)
    while at:
        found.append((at.start(), at.end(1) - 1))
        at = STREAK.search(ways, at.end(1) - 1)
    low, high = _columns(found, 2)
    return [trades.keys[low], prices[low], prices[high], high - low]


def sessions(trades: Trades) -> list[np.ndarray]:
    """Key, when the session began, when the last of its further rows was, and how many of them there are."""
    begins = np.flatnonzero(trades.begins | (np.diff(trades.times, prepend=0) >= GAP))
    ends = np.append(begins[1:], len(trades.keys)) - 1
    ended = np.where(begins == ends, NULL, trades.times[ends])
    return [trades.keys[begins], trades.times[begins], ended, ends - begins]


def ended_sessions(trades: Trades) -> list[np.ndarray]:
    """The sessions after which there is another one of the key."""
    found = sessions(trades)
    kept = np.append(np.diff(found[0]) == 0, False)
    return [column[kept] for column in found]


def bins(trades: Trades) -> list[np.ndarray]:
    """Key, time of the first row, sum and number of rows, up to the row that does not fit any more."""
    sums = np.cumsum(trades.volumes).tolist()
    firsts = np.append(np.flatnonzero(trades.begins), len(sums)).tolist()
    found = []
    for first, end in pairwise(firsts):
        before = sums[first - 1] if first else 0
        while True:
            over = bisect_right(sums, before + FULL, first, end)
            if over == end:
                break
            found.append((first, sums[over - 1] - before, over - first))
            first, before = over, sums[over - 1]
    row, total, amount = _columns(found, 3)
    return [trades.keys[row], trades.times[row], total, amount]


def optional_steps(trades: Trades) -> list[np.ndarray]:
    """Key, time of the large trade, prices of the fall, of the row that is level and of the rise."""
    ways = np.frombuffer(_ways(trades), np.uint8)
    large = np.where(trades.volumes > LARGE, ways - 32, ways).astype(np.uint8).tobytes()
    found = [[at.start(step) for step in range(4)] for at in OPTIONAL.finditer(large)]
    big, *others = _columns(found, 4)
    prices = [np.where(rows < 0, NULL, trades.prices[rows]) for rows in others]
    return [trades.keys[big], trades.times[big], *prices]


def _ways(trades: Trades) -> bytes:
    """For each row whether its price is down, up or equal; or the first."""
    letters = np.frombuffer(b"deu", np.uint8)[np.sign(np.diff(trades.prices, prepend=0)) + 1]
    return np.where(trades.begins, ord("f"), letters).astype(np.uint8).tobytes()


def _columns(found: Sequence[Sequence[int]], width: int) -> list[np.ndarray]:
    return list(np.array(found, np.int64).reshape(-1, width).T)

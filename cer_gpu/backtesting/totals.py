"""What a query found, summed up while a stream is read: for each bucket and partition hits and matches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cer_gpu.backtesting.buckets import Buckets
from cer_gpu.engine.machines.asked import sum_exactly
from cer_gpu.engine.run.together import CountedEnds

SETTLED = 1 << 16
"""Sums that are not summed up yet, at most."""

SAFE = 1 << 62
"""Sums below this fit 64 bits."""


class Sums(NamedTuple):
    """Sums, one entry for each group: all of shape (groups,).

    Attributes
    ----------
    bucket : ndarray, int64 or float64
        Where the bucket begins; 0 without buckets.
    lane : ndarray, int64
        The partition; 0 without partitions.
    hits : ndarray, int64
        Events at which some complex event ends.
    matches : ndarray, int64 or object
        Complex events.
    first, last : ndarray, int64 or float64
        The first and the last time of an end; the position, where the run has no order.
    """

    bucket: np.ndarray
    lane: np.ndarray
    hits: np.ndarray
    matches: np.ndarray
    first: np.ndarray
    last: np.ndarray


class Totals:
    """Sums up what a query finds.

    Parameters
    ----------
    buckets : Buckets or None
        How time is cut.
    keyed : bool
        Whether partitions are told apart.
    """

    def __init__(self, buckets: Buckets | None, keyed: bool) -> None:
        self._buckets, self._keyed = buckets, keyed
        self._parts: list[Sums] = []
        self._waiting = 0

    def add(self, ends: CountedEnds) -> None:
        """Add some ends."""
        if not len(ends.positions):
            return
        at = ends.moments if len(ends.moments) else ends.positions
        none = np.zeros(len(at), np.int64)
        part = Sums(
            none if self._buckets is None else self._buckets.of(ends.moments),
            ends.lanes.astype(np.int64) if self._keyed else none,
            np.ones(len(at), np.int64),
            ends.numbers,
            at,
            at,
        )
        self._parts.append(summed([part]))
        self._waiting += len(self._parts[-1].bucket)
        if self._waiting > SETTLED:
            self._parts = [summed(self._parts)]
            self._waiting = 0

    def groups(self) -> Sums:
        """All that was found, by bucket and partition."""
        return summed(self._parts)


def summed(parts: list[Sums]) -> Sums:
    """Sums with equal buckets and partitions as one, ascending by both."""
    if not parts:
        empty = np.empty(0, np.int64)
        return Sums(empty, empty, empty, empty, empty, empty)
    columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
    bucket, lane = columns[:2]
    order = np.lexsort((lane, bucket))
    bucket, lane, hits, matches, first, last = (column[order] for column in columns)
    changes = (bucket[1:] != bucket[:-1]) | (lane[1:] != lane[:-1])
    begin = np.append(0, np.flatnonzero(changes) + 1)
    if matches.dtype != object and sum_exactly(matches) >= SAFE:
        matches = matches.astype(object)
    return Sums(
        bucket[begin],
        lane[begin],
        np.add.reduceat(hits, begin),
        np.add.reduceat(matches, begin),
        np.minimum.reduceat(first, begin),
        np.maximum.reduceat(last, begin),
    )

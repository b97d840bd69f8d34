"""What queries found, summed while a stream is read: hits and matches by query, bucket and partition."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from cer_gpu.engine.machines.numbers import SAFE
from cer_gpu.engine.machines.reported_ends import sum_exactly
from cer_gpu.frozen_dataclass import dataclass

SETTLED = 1 << 18
"""The most sums that wait to be added up."""


class Cut(Protocol):
    """Cuts time into buckets."""

    def of(self, moments: np.ndarray) -> np.ndarray:
        """The beginnings of the buckets of some times."""
        ...


@dataclass(frozen=True, slots=True)
class CountedEnds:
    """Some ends of a query, with their positions, times, partitions and counts.

    Attributes
    ----------
    positions : ndarray, shape (n,), int64
    moments : ndarray, shape (n,) or (0,), int64 or float64
        Their times; empty if the run has no order.
    lanes : ndarray, shape (n,) or (0,), int32
        Their partitions; empty if there are none.
    numbers : ndarray, shape (n,), int64 or object
        How many complex events end at each.
    """

    positions: np.ndarray
    moments: np.ndarray
    lanes: np.ndarray
    numbers: np.ndarray

    @property
    def total(self) -> int:
        """How many complex events end at them in all."""
        return sum_exactly(self.numbers)


class Sums(NamedTuple):
    """Sums, one entry for each group: all of shape (groups,).

    Attributes
    ----------
    query : ndarray, int64
        The number of the query.
    bucket : ndarray, int64 or float64
        The beginning of the bucket; 0 without buckets.
    lane : ndarray, int64
        The partition; 0 if partitions are not distinguished.
    hits : ndarray, int64
        Events at which complex events end.
    matches : ndarray, int64 or object
        Complex events.
    first, last : ndarray, int64 or float64
        The first and the last time of an end; the position, if the run has no order.
    """

    query: np.ndarray
    bucket: np.ndarray
    lane: np.ndarray
    hits: np.ndarray
    matches: np.ndarray
    first: np.ndarray
    last: np.ndarray


class Totals:
    """Sums up what queries find.

    Parameters
    ----------
    cut : Cut or None
        How time is cut.
    keyed : bool
        Whether partitions are distinguished.
    """

    def __init__(self, cut: Cut | None, keyed: bool) -> None:
        self.cut, self.keyed = cut, keyed
        self._parts: list[Sums] = []
        self._waiting = 0

    def add(self, query: int, ends: CountedEnds) -> None:
        """Add some ends of a query."""
        if not len(ends.positions):
            return
        at = ends.moments if len(ends.moments) else ends.positions
        none = np.zeros(len(at), np.int64)
        bucket = none if self.cut is None else self.cut.of(ends.moments)
        lane = ends.lanes.astype(np.int64) if self.keyed else none
        one = np.ones(len(at), np.int64)
        self.take(summed([Sums(np.full(len(at), query), bucket, lane, one, ends.numbers, at, at)]))

    def take(self, sums: Sums) -> None:
        """Add sums that were computed elsewhere."""
        self._parts.append(sums)
        self._waiting += len(sums.query)
        if self._waiting > SETTLED:
            self._parts = [summed(self._parts)]
            self._waiting = 0

    def state(self) -> dict[str, np.ndarray]:
        """All that was found, by the names of `Sums`."""
        return self.groups()._asdict()

    def resume(self, state: dict[str, np.ndarray]) -> None:
        """Restore what `state` returned."""
        self.take(Sums(**state))

    def groups(self) -> Sums:
        """All that was found, ascending by query, bucket and partition."""
        return summed(self._parts)


def summed(parts: list[Sums]) -> Sums:
    """Join sums with equal queries, buckets and partitions to one each, ascending by these."""
    if not parts:
        empty = np.empty(0, np.int64)
        return Sums(empty, empty, empty, empty, empty, empty, empty)
    columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
    if not len(columns[0]):
        return Sums(*columns)
    order = np.lexsort((columns[2], columns[1], columns[0]))
    query, bucket, lane, hits, matches, first, last = (column[order] for column in columns)
    changes = (query[1:] != query[:-1]) | (bucket[1:] != bucket[:-1]) | (lane[1:] != lane[:-1])
    begin = np.append(0, np.flatnonzero(changes) + 1)
    if matches.dtype != object and sum_exactly(matches) >= SAFE:
        matches = matches.astype(object)
    return Sums(
        query[begin],
        bucket[begin],
        lane[begin],
        np.add.reduceat(hits, begin),
        np.add.reduceat(matches, begin),
        np.minimum.reduceat(first, begin),
        np.maximum.reduceat(last, begin),
    )

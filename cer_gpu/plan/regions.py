"""Sets of values of one axis, as boundaries between regions: AND, OR and NOT of them, and their classes.

The constants v_0 < v_1 < ... < v_n-1 of an axis cut its values into regions, numbered

    0: null or NaN    1: below v_0    2: v_0    3: between v_0 and v_1    4: v_1    ...    2n + 1: above v_n-1

A set of regions is an ascending int64 array of the regions with which it begins or ends: `v > v_0` is [3, 2n
+ 2], its complement [0, 3, 2n + 2, 2n + 2] without the number that stands twice. So a set of 100,000
constants is an array, and AND, OR and NOT sort such arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.constants import Value
from cer_gpu.plan.thresholds import exact_array, joined


@dataclass(frozen=True, slots=True, eq=False)
class ValueSet:
    """A union of single values and of ranges.

    Attributes
    ----------
    points : ndarray, int64, float64 or object
        As `exact_array` makes it.
    lows, highs : sequence of (Value or None), or ndarray
        The ends of each range; None for no bound. An array from `exact_array` if all have one.
    low_in, high_in : bool
        Whether the ends belong to their ranges.
    """

    points: np.ndarray
    lows: Sequence[Value | None] | np.ndarray = ()
    highs: Sequence[Value | None] | np.ndarray = ()
    low_in: bool = True
    high_in: bool = True


class Regions:
    """The regions that the constants of some sets of values make.

    Attributes
    ----------
    constants : ndarray, int64, float64 or object
        Ascending, each once.
    count : int
        How many regions there are.
    """

    def __init__(self, sets: Sequence[ValueSet]) -> None:
        sides = [side for one in sets for side in (one.lows, one.highs) if len(side)]
        ends = [end for side in sides if not isinstance(side, np.ndarray) for end in side if end is not None]
        parts = [one.points for one in sets if len(one.points)]
        parts += [side for side in sides if isinstance(side, np.ndarray)]
        if ends:
            parts.append(exact_array(ends))
        found = joined(parts)
        numeric = found.dtype != object
        if numeric:
            found = np.sort(found, kind="stable")  # many sets are written in their order, low and high ends
            self.constants = found[_last_of_each(found)]
        else:
            # Not by way of `set`: many sets are written in their order, which is then sorted in no time.
            self.constants = exact_array(sorted(dict.fromkeys(found.tolist())))
        self.count = 2 * len(self.constants) + 2
        self._numeric = numeric

    @cached_property
    def _place(self) -> dict[Value, int]:
        """The place of each constant, where they are objects."""
        return dict(zip(self.constants.tolist(), range(len(self.constants))))

    def of(self, values: ValueSet) -> np.ndarray:
        """The regions of a set of values, all of whose constants are among these."""
        if len(values.points) + len(values.lows) == 1:
            return self._of_one(values)
        points = self._points(values.points)
        lows = self._edges(values.lows, not values.low_in, 1)
        highs = self._edges(values.highs, values.high_in, self.count)
        first, behind = np.append(points, lows), np.append(points + 1, highs)
        some = first < behind
        return _covered(first[some], behind[some], 1)

    def _of_one(self, values: ValueSet) -> np.ndarray:
        """The same of a single value or a single range."""
        if len(values.points):
            place = int(self._at(values.points)[0])
            return np.array([place, place + 1])
        (low,), (high,) = (
            ends.tolist() if isinstance(ends, np.ndarray) else ends for ends in (values.lows, values.highs)
        )
        first = 1 if low is None else self._place_of(low) + (not values.low_in)
        behind = self.count if high is None else self._place_of(high) + values.high_in
        return np.array([first, behind] if first < behind else [], np.int64)

    def _place_of(self, value: Value) -> int:
        """The region that a value is alone."""
        place = self.constants.searchsorted(value) if self._numeric else self._place[value]
        return 2 * int(place) + 2

    def _points(self, values: np.ndarray) -> np.ndarray:
        """The regions that some values are alone, in any order."""
        count = len(self.constants)
        if not self._numeric and len(values) >= count and len(set(values.tolist())) == count:
            return 2 * np.arange(count) + 2  # they are all that there are
        return self._at(values)

    def _at(self, values: np.ndarray) -> np.ndarray:
        """The region that each value is alone."""
        if self._numeric:
            return 2 * np.searchsorted(self.constants, values) + 2
        if not len(values):
            return np.zeros(0, np.int64)
        places = map(self._place.__getitem__, values.tolist())
        return 2 * np.fromiter(places, np.int64, len(values)) + 2

    def _edges(self, ends: Sequence[Value | None] | np.ndarray, after: bool, unbounded: int) -> np.ndarray:
        """The first region above each end, above the end itself where `after`."""
        if isinstance(ends, np.ndarray):
            return self._at(ends) + after
        edges = np.full(len(ends), unbounded, np.int64)
        known = [end for end in ends if end is not None]
        bounded = (
            slice(None) if len(known) == len(ends) else np.array([end is not None for end in ends], bool)
        )
        edges[bounded] = self._at(exact_array(known)) + after
        return edges

    def both(self, sets: Sequence[np.ndarray]) -> np.ndarray:
        """The regions that all sets have."""
        return sets[0] if len(sets) == 1 else self._covered_by(sets, len(sets))

    def either(self, sets: Sequence[np.ndarray]) -> np.ndarray:
        """The regions that some set has."""
        return sets[0] if len(sets) == 1 else self._covered_by(sets, 1)

    def complement(self, one: np.ndarray) -> np.ndarray:
        """The regions that are not in a set."""
        if not len(one):
            return np.array([0, self.count])
        before = [] if one[0] == 0 else [0]
        behind = [] if one[-1] == self.count else [self.count]
        return np.concatenate((before, one[not before : len(one) - (not behind)], behind)).astype(np.int64)

    def _covered_by(self, sets: Sequence[np.ndarray], least: int) -> np.ndarray:
        return _covered(
            np.concatenate([one[0::2] for one in sets]), np.concatenate([one[1::2] for one in sets]), least
        )


def _covered(starts: np.ndarray, stops: np.ndarray, least: int) -> np.ndarray:
    """What at least so many of the intervals [start, stop) cover, as the ends of disjoint intervals."""
    places = np.concatenate((starts, stops))
    steps = np.concatenate((np.ones(len(starts), np.int64), np.full(len(stops), -1, np.int64)))
    order = np.argsort(places, kind="stable")
    places, depth = places[order], np.cumsum(steps[order])
    last = _last_of_each(places)
    places, inside = places[last], depth[last] >= least
    return places[inside != np.append(False, inside)[:-1]]


def _last_of_each(ascending: np.ndarray) -> np.ndarray:
    """Where the last of equal values stands, as a mask."""
    return np.append(ascending[1:] != ascending[:-1], np.ones(min(len(ascending), 1), bool))


class Classes(NamedTuple):
    """Regions that no set tells apart: run k begins at region `starts[k]` and has the class `numbers[k]`.

    Attributes
    ----------
    starts : ndarray, shape (m,), int64
        Ascending, the first is 0.
    numbers : ndarray, shape (m,), int64
        In the order of first appearance, so the class of a null is 0.
    members : tuple of frozenset of int
        For each set its classes.
    """

    starts: np.ndarray
    numbers: np.ndarray
    members: tuple[frozenset[int], ...]


def classes_of(sets: Sequence[np.ndarray], count: int) -> Classes:
    """The classes that sets of `count` regions make."""
    places = np.concatenate([np.zeros(1, np.int64), *sets])
    owner = np.repeat(np.arange(-1, len(sets)), [1, *map(len, sets)])
    order = np.argsort(places, kind="stable")
    places, owner = places[order], owner[order]
    # Where a set begins or ends its bit turns, so running XOR tells which sets a region is in.
    kind = (
        object if len(sets) > 62 else np.int64 if len(sets) > 14 else np.int16
    )  # few bits are sorted faster
    bit = np.array([*(1 << number for number in range(len(sets))), 0], kind)
    bits = bit[owner]
    signature = np.bitwise_xor.accumulate(bits)
    last = _last_of_each(places)
    starts, signature = places[last], signature[last]
    inner = starts < count
    starts, signature = starts[inner], signature[inner]
    known, first, which = np.unique(signature, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbers = rank[which.reshape(-1)]
    changes = np.append(True, numbers[1:] != numbers[:-1])
    starts, numbers = starts[changes], numbers[changes]
    return Classes(starts, numbers, tuple(frozenset(rank[(known & one) != 0].tolist()) for one in bit[:-1]))

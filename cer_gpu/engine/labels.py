"""Labels of values: whole numbers that are ordered as the values are, also of values that come later.

New values get labels between those of their neighbours; where there is no room left, `OrderedLabels` gives
all labels anew, and `FixedLabels` refuses. Where no order is asked for, `SeenLabels` take less time.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

ENDS = -(1 << 62), 1 << 62
"""All labels are between these."""

APART = 1 << 40
"""So far above the last label, or below the first, that of a further value is, where there is room."""

FEW = 1 << 12
"""So many values are kept at least, whether they are held or not."""

MOVING = 1 << 4
"""Put among so many times as many values, new ones are inserted one by one."""


class OrderedLabels:
    """Values of one sort, and their labels.

    Parameters
    ----------
    always : sequence
        Values that are kept always.
    """

    def __init__(self, always: Sequence[Any] = ()) -> None:
        self._always = frozenset(always)
        self.values: list[Any] = []
        self.of: dict[Any, int] = {}
        self._kept = 0
        self.take(always)

    def take(self, values: Iterable[Any]) -> tuple[np.ndarray, np.ndarray] | None:
        """Give labels to values; where old ones change, these, ascending, and what they are now."""
        new = sorted({value for value in values if value not in self.of})
        return self._put(new) if new else None

    def _put(self, new: list[Any]) -> tuple[np.ndarray, np.ndarray] | None:
        if not self.values:
            self._anew(new)
            return None
        if MOVING * len(new) > len(self.values):
            return self._merged(new)
        gaps: dict[int, list[Any]] = {}
        for value in new:
            gaps.setdefault(bisect_left(self.values, value), []).append(value)
        fresh: dict[Any, int] = {}
        for place, some in gaps.items():
            low, high = self._between(place, APART * (len(some) + 1))
            step = (high - low) // (len(some) + 1)
            if step < 1:
                return self._anew(new)
            fresh |= {value: low + step * (number + 1) for number, value in enumerate(some)}
        self.of |= fresh
        for value in new:
            insort(self.values, value)
        return None

    def _merged(self, new: Sequence[Any]) -> tuple[np.ndarray, np.ndarray] | None:
        """As `take`, of many values: they are put among the others as a whole."""
        merged = sorted([*self.values, *new])
        label = np.fromiter((self.of.get(value, ENDS[0]) for value in merged), np.int64, len(merged))
        old = np.flatnonzero(label != ENDS[0])
        gap = np.diff(old, prepend=-1, append=len(merged))  # from a label to the next, and at both ends
        low, high = label[old[:-1]], label[old[1:]]
        first, last = int(label[old[0]]), int(label[old[-1]])
        low = np.concatenate([[max(ENDS[0], first - APART * int(gap[0]))], low, [last]])
        high = np.concatenate([[first], high, [min(ENDS[1], last + APART * int(gap[-1]))]])
        step = (high - low) // gap
        if (step[gap > 1] < 1).any():
            return self._anew(new)
        inside = np.flatnonzero(label == ENDS[0])
        at = np.searchsorted(old, inside)
        begin = np.concatenate([[-1], old])[at]
        found = low[at] + step[at] * (inside - begin)
        self.of |= zip([merged[place] for place in inside.tolist()], found.tolist(), strict=True)
        self.values = merged
        return None

    def _between(self, place: int, most: int) -> tuple[int, int]:
        """Between which labels those at a place get theirs; behind the last or before the first: so many."""
        if place == len(self.values):
            low = self.of[self.values[-1]]
            return low, min(ENDS[1], low + most)
        high = self.of[self.values[place]]
        return (self.of[self.values[place - 1]] if place else max(ENDS[0], high - most)), high

    def _anew(self, new: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        old, before = self.values, self.of
        self.values = sorted([*old, *new]) if old else list(new)
        many = len(self.values)
        step = min(APART, (ENDS[1] - ENDS[0]) // (many + 1))
        self.of = dict(zip(self.values, range(-step * (many // 2), ENDS[1], step), strict=False))
        return (
            np.array([before[value] for value in old], np.int64),
            np.array([self.of[value] for value in old], np.int64),
        )

    @property
    def crowded(self) -> bool:
        """Whether there may be many values that nothing holds."""
        return len(self.values) > 2 * self._kept + FEW

    def keep(self, held: np.ndarray) -> None:
        """Forget the values whose labels are not among some."""
        wanted = set(held.tolist())
        self.values = [one for one in self.values if self.of[one] in wanted or one in self._always]
        self.of = {one: self.of[one] for one in self.values}
        self._kept = len(self.values)

    def state(self) -> list[Any]:
        """What is stored with a stream."""
        return [(value, self.of[value]) for value in self.values]

    def resume(self, state: Sequence[tuple[Any, int]]) -> None:
        """Continue from what `state` returned."""
        self.of = dict(state)
        self.values = list(self.of)
        assert all(self.of[one] < self.of[other] for one, other in pairwise(self.values))


class NoRoomError(Exception):
    """There is no label left between two values: all labels have to be given again."""


class FixedLabels(OrderedLabels):
    """Labels that never change, and the values that have them."""

    def __init__(self) -> None:
        super().__init__()
        self._value: dict[int, Any] = {}

    def labels(self, values: Iterable[Any]) -> list[int]:
        """The label of each value.

        Raises
        ------
        NoRoomError
            Then nothing has changed.
        """
        listed = list(values)
        new = sorted({value for value in listed if value not in self.of})
        if new:
            self._put(new)
            self._value.update(zip(map(self.of.__getitem__, new), new))
        return [self.of[value] for value in listed]

    def value(self, label: int) -> Any:
        """The value that has a label."""
        return self._value[label]

    def _anew(self, new: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        if self.values:
            raise NoRoomError
        return super()._anew(new)


class SeenLabels:
    """Labels in the order in which values are first seen, which says nothing of the order of the values.

    Attributes
    ----------
    values : list
        By their labels.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._of: dict[Any, int] = {}

    def labels(self, values: Iterable[Any]) -> list[int]:
        """The label of each value."""
        found = []
        for value in values:
            label = self._of.setdefault(value, len(self.values))
            if label == len(self.values):
                self.values.append(value)
            found.append(label)
        return found

    def value(self, label: int) -> Any:
        """The value that has a label."""
        return self.values[label]


class MovedLabels(NamedTuple):
    """Labels that have changed: those of some columns, ascending, and what they are now."""

    columns: frozenset[int]
    old: np.ndarray
    new: np.ndarray

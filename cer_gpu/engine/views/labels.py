"""Values as whole numbers in their order, with room for new values between old ones: `ValueLabels`."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from itertools import groupby
from typing import Any

ENDS = 1 << 62
"""Labels lie between the negative of this and this."""

STEP = 1 << 40
"""The distance from the greatest or least value to a new one beyond it."""

FEW = 16
"""Up to this many values are inserted one after the other."""


class NoRoomError(Exception):
    """There is no label left between two values: all labels have to be given again."""


class ValueLabels:
    """Whole numbers for values that have an order: texts, decimals.

    A new value gets the number in the middle between those of its neighbours; a value above or below all
    others gets a number far from theirs.
    """

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._labels: list[int] = []
        self._label: dict[Any, int] = {}
        self._value: dict[int, Any] = {}

    @property
    def known(self) -> list[Any]:
        """All values that have a number, in order."""
        return self._values

    def labels(self, values: Iterable[Any]) -> list[int]:
        """The number of each value.

        Raises
        ------
        NoRoomError
            Then nothing has changed.
        """
        listed = list(values)
        new = sorted({value for value in listed if value not in self._label})
        if new:
            self._put(new)
        return [self._label[value] for value in listed]

    def value(self, label: int) -> Any:
        """The value that has a number."""
        return self._value[label]

    def _put(self, new: list[Any]) -> None:
        found: list[int] = []
        for place, some in groupby(new, key=lambda value: bisect_left(self._values, value)):
            found += self._between(place, len(list(some)))
        if len(new) <= FEW:
            for value, label in zip(new, found):
                insort(self._values, value)
                insort(self._labels, label)
        else:
            self._values = sorted(self._values + new)
            self._labels = sorted(self._labels + found)
        self._label.update(zip(new, found))
        self._value.update(zip(found, new))

    def _between(self, place: int, many: int) -> list[int]:
        """The numbers of `many` new values before the one at a place."""
        low = self._labels[place - 1] if place else None
        high = self._labels[place] if place < len(self._labels) else None
        if low is None and high is None:
            step = min(STEP, ENDS // (many + 1))
            return [step * (number - many // 2) for number in range(many)]
        if high is None and low is not None:
            high = min(ENDS, low + STEP * (many + 1))
        if low is None and high is not None:
            low = max(-ENDS, high - STEP * (many + 1))
        assert low is not None
        assert high is not None
        if high - low <= many:
            raise NoRoomError
        return [low + (high - low) * (number + 1) // (many + 1) for number in range(many)]

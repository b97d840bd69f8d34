"""Axes: the finitely many ways in which the predicates of a query can tell two events apart.

An axis is one thing that is read from an event (its type, the value of an expression, whether a regular
expression is found) together with the classes into which the query's constants cut its values. Every
leaf predicate of the query becomes a set of classes of one axis, so that the predicates of the automaton
become boolean functions of class numbers, whatever the number of constants on a column.

For `v > 3 OR v IN {7, 9}` the axis over `v` has the classes (null or NaN), (.., 3], (3, 7), {7}, (7, 9),
{9}, (9, ..); those that no leaf tells apart share a number, which leaves two.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from cer_gpu.language import tree
from cer_gpu.plan.constants import nearest_float

INFINITY = math.inf


@dataclass(frozen=True, slots=True)
class Cut:
    """The boundary below a value: `value` itself is above it, or (`after`) still below it."""

    value: Fraction | float | str
    after: bool

    @property
    def key(self) -> tuple[Fraction | float | str, bool]:
        """Sorts cuts of one axis by where they stand."""
        return (self.value, self.after)


@dataclass(frozen=True, slots=True)
class Ranges:
    """A union of ranges of values, each from a cut (None: no bound) to a cut (None: no bound)."""

    parts: tuple[tuple[Cut | None, Cut | None], ...]

    def holds_between(self, low: Cut | None, high: Cut | None) -> bool:
        """Whether the elementary range from `low` to `high` (neighbouring cuts) lies in one part."""
        return any(
            (start is None or (low is not None and start.key <= low.key))
            and (stop is None or (high is not None and high.key <= stop.key))
            for start, stop in self.parts
        )


@dataclass(frozen=True, slots=True)
class ColumnAxis:
    """The type or the stream of an event: class k + 1 is `names[k]`, class 0 any other name or null."""

    column: str
    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.names) + 1


@dataclass(frozen=True, slots=True)
class CutAxis:
    """The value of an expression, cut at constants.

    Attributes
    ----------
    operand : Expression
        An attribute or arithmetic over attributes: numbers, times as integers, or strings.
    textual : bool
        Whether the values are strings (compared by code point).
    cuts : tuple of Cut
        Ascending. With m cuts there are m + 2 elementary ranges: null (or NaN), then m + 1 ranges.
    classes : tuple of int
        The class of each elementary range, `len(cuts) + 2` of them; equal where no leaf differs.
    """

    operand: tree.Expression
    textual: bool
    cuts: tuple[Cut, ...]
    classes: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of classes."""
        return max(self.classes) + 1

    def text_classes(self, values: Sequence[str | None]) -> np.ndarray:
        """The class of each string, shape (n,), uint16."""
        keys = [cut.key for cut in self.cuts]
        found = [0 if value is None else 1 + bisect_right(keys, (value, False)) for value in values]
        return np.asarray(self.classes, np.uint16)[found] if found else np.zeros(0, np.uint16)

    def thresholds(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """The cuts as values of a column's dtype.

        Returns
        -------
        bounds : ndarray, shape (k,), `dtype`
            Ascending; the elementary range of a value is the number of bounds <= value. The first bound
            is the least value of the dtype where a null differs from the lowest range.
        classes : ndarray, shape (k + 1,), uint16
            The class of each elementary range; the first is the class of a null or NaN.
        """
        bounds: list[int | float] = []
        classes = [self.classes[0]]
        low = _least(dtype)
        for bound, number in zip(
            [low, *(_least_above(cut, dtype) for cut in self.cuts)], self.classes[1:], strict=True
        ):
            if bound is None or number == classes[-1]:
                if bound is None:
                    break
                continue
            if bounds and bound <= bounds[-1]:
                classes[-1] = number
                # Two cuts may fall together in this dtype (v > 2, v >= 3 of integers).
                if len(classes) > 1 and classes[-1] == classes[-2]:
                    classes.pop()
                    bounds.pop()
                continue
            bounds.append(bound)
            classes.append(number)
        return np.array(bounds, dtype), np.array(classes, np.uint16)


@dataclass(frozen=True, slots=True)
class MatchAxis:
    """Whether a regular expression is found in a string attribute: class 1 if so."""

    operand: tree.Expression
    pattern: str
    size: int = 2

    def text_classes(self, values: Sequence[str | None]) -> np.ndarray:
        """The class of each string, shape (n,), uint16."""
        search = re.compile(self.pattern).search
        return np.array([value is not None and search(value) is not None for value in values], np.uint16)


@dataclass(frozen=True, slots=True)
class NullAxis:
    """Whether an expression is null (not NaN): class 1 if so."""

    operand: tree.Expression
    size: int = 2


@dataclass(frozen=True, slots=True)
class RelationAxis:
    """Whether a comparison between two expressions of one event holds: class 1 if so."""

    op: str
    left: tree.Expression
    right: tree.Expression
    size: int = 2


Axis: TypeAlias = ColumnAxis | CutAxis | MatchAxis | NullAxis | RelationAxis


def _least(dtype: np.dtype) -> int | float:
    return -INFINITY if dtype.kind == "f" else int(np.iinfo(dtype).min)


def _least_above(cut: Cut, dtype: np.dtype) -> int | float | None:
    """The least value of the dtype above a cut; None if there is none."""
    value = cut.value
    assert not isinstance(value, str)
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        if value in (INFINITY, -INFINITY):
            return None if value > 0 else int(info.min)
        exact = Fraction(value)
        bound = math.floor(exact) + 1 if cut.after else math.ceil(exact)
        return None if bound > info.max else max(bound, int(info.min))
    scalar = dtype.type
    with np.errstate(over="ignore"):
        near = scalar(nearest_float(value))
    above = scalar(INFINITY)
    if not _is_above(near, value, cut.after):
        if near == above:
            return None
        near = np.nextafter(near, above)
    else:
        below = np.nextafter(near, -above)
        if near != -above and _is_above(below, value, cut.after):
            near = below
    return float(near)


def _is_above(candidate: np.floating, value: Fraction | float, after: bool) -> bool:
    number = float(candidate)
    exact: Fraction | float = number if math.isinf(number) else Fraction(number)
    return exact > value if after else exact >= value

"""Axes: the finitely many ways in which the predicates of a query can tell two events apart.

An axis is one thing that is read from an event (its type, the value of an expression, whether a regular
expression is found) together with the classes into which the query's constants cut its values. Every
leaf predicate of the query becomes a set of classes of one axis, so that the predicates of the automaton
become boolean functions of class numbers, whatever the number of constants on a column.

For the predicates `v > 3` and `v IN {7, 9}` the axis over `v` has the ranges (null or NaN), (.., 3], (3, 7),
{7}, (7, 9), {9}, (9, ..); those that no predicate tells apart share a class, which leaves three.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.schema import ValueType
from cer_gpu.plan.thresholds import least_above

INFINITY = math.inf


class _TextLookup(NamedTuple):
    # Of an axis over strings: the class of each constant, the constants ascending, and the class of what
    # lies below all of them, then after each.
    at: Mapping[str, int]
    keys: Sequence[str]
    between: Sequence[int]


class _Columns:
    # What an axis reads of an event, worked out once: the variants of a query share most of their axes.
    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that the axis reads."""
        return tuple(name for one in operands_of(self) for name in sorted(attributes_of(one)))

    @property
    def text_column(self) -> str | None:
        """The column of strings that the axis reads; None for an axis over numbers."""
        return None


@dataclass(frozen=True, slots=True)
class ColumnAxis(_Columns):
    """The type or the stream of an event: class k + 1 is `names[k]`, class 0 any other name or null.

    Attributes
    ----------
    column : str
    names : tuple of str
    kind : ValueType
        The type of the column: strings, or whole numbers or booleans that the names spell out
        (`type_number`).
    """

    column: str
    names: tuple[str, ...]
    kind: ValueType = ValueType.STRING

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.names) + 1

    @property
    def textual(self) -> bool:
        """Whether the column holds strings."""
        return self.kind is ValueType.STRING

    @property
    def columns(self) -> tuple[str, ...]:
        """As `_Columns.columns`."""
        return (self.column,)

    @property
    def text_column(self) -> str | None:
        """As `_Columns.text_column`."""
        return self.column if self.textual else None

    @property
    def values(self) -> tuple[str | int | bool, ...]:
        """The names as values of the column."""
        if self.textual:
            return self.names
        numbers = (type_number(name, self.kind) for name in self.names)
        return tuple(map(bool, numbers) if self.kind is ValueType.BOOL else numbers)

    @property
    def numbers(self) -> np.ndarray:
        """The numbers that the names spell out, shape (names,), int64; not for a column of strings."""
        return np.array([type_number(name, self.kind) for name in self.names], np.int64)

    def thresholds(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the names as ranges of values of a column's dtype; as of `CutAxis`."""
        numbers, info = self.numbers, np.iinfo(dtype)
        order = np.argsort(numbers)
        bounds: list[int] = []
        classes = [0]
        for number, place in zip(numbers[order].tolist(), order.tolist()):
            if not info.min <= number <= info.max:
                continue
            if bounds and bounds[-1] == number:
                bounds.pop()
                classes.pop()
            bounds.append(number)
            classes.append(place + 1)
            if number < info.max:
                bounds.append(number + 1)
                classes.append(0)
        return np.array(bounds, dtype), np.array(classes, np.uint16)


def type_number(name: str, kind: ValueType) -> int:
    """The number by which a column that is not of strings holds an event type.

    Raises
    ------
    ValueError
        When no value is written like that: a whole number has no leading zeros, a boolean is `true` or
        `false`.
    """
    if kind is ValueType.BOOL:
        return ("false", "true").index(name)
    number = int(name)
    if str(number) != name or not -(2**63) <= number < 2**63:
        raise ValueError(f"not a whole number of 64 bits: {name!r}")
    return number


@dataclass(frozen=True, eq=False)
class CutAxis(_Columns):
    """The value of an expression, cut at constants.

    n constants make 2n + 2 regions: null (or NaN), below the first constant, the constant itself, between it
    and the next, and so on (`cer_gpu.plan.regions`). Neighbouring regions of one class are a run.

    Attributes
    ----------
    operand : Expression
        An attribute or arithmetic over attributes: numbers, times as integers, or strings.
    textual : bool
        Whether the values are strings (compared by code point).
    constants : ndarray, shape (n,), int64, float64 or object
        Ascending, each once.
    starts : ndarray, shape (m,), int64
        The region with which each run begins; the first is 0.
    numbers : ndarray, shape (m,), int64
        The class of each run.
    """

    operand: tree.Expression
    textual: bool
    constants: np.ndarray
    starts: np.ndarray
    numbers: np.ndarray

    @property
    def text_column(self) -> str | None:
        """As `_Columns.text_column`."""
        # As long as the schema is not known, any value that is compared with a text is taken for one.
        return self.operand.name if self.textual and isinstance(self.operand, tree.Attribute) else None

    def __getstate__(self) -> dict[str, object]:
        # What is derived stays behind when the axis goes to another process.
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @cached_property
    def size(self) -> int:
        """The number of classes."""
        return int(self.numbers.max()) + 1

    def classes_of(self, regions: np.ndarray) -> np.ndarray:
        """The class of each region, int64."""
        return self.numbers[np.searchsorted(self.starts, regions, side="right") - 1]

    def classes_of_numbers(self, values: Sequence[int]) -> np.ndarray:
        """The class of each whole number, also of those that no dtype has, shape (n,), int64."""
        constants = self.constants.tolist()
        regions = [1 + bisect_left(constants, value) + bisect_right(constants, value) for value in values]
        return self.classes_of(np.array(regions, np.int64))

    @cached_property
    def _lookup(self) -> _TextLookup:
        count = len(self.constants)
        keys = self.constants.tolist()
        at = self.classes_of(2 * np.arange(count) + 2).tolist()
        return _TextLookup(dict(zip(keys, at)), keys, self.classes_of(2 * np.arange(count + 1) + 1).tolist())

    def text_classes(self, values: Sequence[str | None]) -> np.ndarray:
        """The class of each string, shape (n,), uint16."""
        known, keys, between = self._lookup
        null, lowest = int(self.numbers[0]), between[0]
        if len(set(between)) == 1:  # a set: all that is not one of its members is alike
            found = [null if text is None else known.get(text, lowest) for text in values]
        else:
            found = [
                null if text is None else known[text] if text in known else between[bisect_right(keys, text)]
                for text in values
            ]
        return np.array(found, np.uint16)

    @cached_property
    def _thresholds(self) -> dict[np.dtype, tuple[np.ndarray, np.ndarray]]:
        return {}

    def thresholds(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """The starts of runs as values of a column's dtype; made once for each dtype.

        Returns
        -------
        bounds : ndarray, shape (k,), `dtype`
            Ascending; the range of a value is the number of bounds <= value. The first bound is the least
            value of the dtype where a null differs from the lowest values.
        classes : ndarray, shape (k + 1,), uint16
            The class of each range; the first is the class of a null or NaN.
        """
        if dtype not in self._thresholds:
            self._thresholds[dtype] = self._made_thresholds(dtype)
        return self._thresholds[dtype]

    def _made_thresholds(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        cuts = self.starts[self.starts > 1] - 2
        above, exists = least_above(self.constants[cuts >> 1], (cuts & 1).astype(bool), dtype)
        bounds = np.append(np.array([_least(dtype)], dtype), above[exists])
        classes = np.append(self.classes_of(np.array([1])), self.classes_of(cuts[exists] + 2))
        # Cuts may fall together in this dtype (v > 2 and v >= 3 of integers): the last of them counts.
        last = np.append(bounds[1:] != bounds[:-1], True)
        bounds, classes = bounds[last], classes[last]
        changes = classes != np.append(self.numbers[0], classes[:-1])
        return bounds[changes], np.append(self.numbers[0], classes[changes]).astype(np.uint16)


@dataclass(frozen=True, slots=True)
class MatchAxis(_Columns):
    """Whether a regular expression is found in a string attribute: class 1 if so."""

    operand: tree.Expression
    pattern: str
    size: int = 2

    @property
    def text_column(self) -> str | None:
        """As `_Columns.text_column`."""
        return self.operand.name if isinstance(self.operand, tree.Attribute) else None

    def text_classes(self, values: Sequence[str | None]) -> np.ndarray:
        """The class of each string, shape (n,), uint16."""
        search = re.compile(self.pattern).search
        return np.array([value is not None and search(value) is not None for value in values], np.uint16)


@dataclass(frozen=True, slots=True)
class NullAxis(_Columns):
    """Whether an expression is null (not NaN): class 1 if so."""

    operand: tree.Expression
    size: int = 2


@dataclass(frozen=True, slots=True)
class GivenAxis(_Columns):
    """Whether a predicate with a parameter holds: class 1 if so.

    When the call gives the value, another axis with the same two classes replaces it
    (`cer_gpu.plan.planning.plans`).
    """

    leaf: tree.Condition
    size: int = 2


@dataclass(frozen=True, slots=True)
class RelationAxis(_Columns):
    """Whether a comparison between two expressions of one event holds: class 1 if so."""

    op: str
    left: tree.Expression
    right: tree.Expression
    size: int = 2


Axis: TypeAlias = ColumnAxis | CutAxis | MatchAxis | NullAxis | RelationAxis | GivenAxis


@dataclass(frozen=True, slots=True)
class OutlookAxis:
    """Whether a complex event of another pattern lies within reach: class 1 if so. Not read from a row."""

    size: int = 2


def _least(dtype: np.dtype) -> int | float:
    return -INFINITY if dtype.kind == "f" else int(np.iinfo(dtype).min)


def computes(axis: Axis) -> bool:
    """Whether an axis reads more than a column as it is."""
    operands = operands_of(axis)
    return len(operands) > 1 or not all(isinstance(one, tree.Attribute) for one in operands)


def operands_of(axis: object) -> list[tree.Expression]:
    """The expressions that an axis reads."""
    sides = [getattr(axis, side, None) for side in ("operand", "left", "right")]
    return [side for side in sides if side is not None]

"""Leaf predicates -> axes: every comparison of a query becomes a set of classes of one axis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from cer_gpu.automata.cea import TypeTest
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.plan.axes import (
    Axis,
    ColumnAxis,
    Cut,
    CutAxis,
    MatchAxis,
    NullAxis,
    Ranges,
    RelationAxis,
)
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.formula import Complement, Conjunction, Constant, Disjunction, Formula, Test

MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


@dataclass(frozen=True, slots=True)
class _Pending:
    """A leaf on a cut axis, before all cuts of the axis are known.

    Strings and numbers never share an axis, not even when no schema says which of the two an attribute is.
    """

    axis: tuple[tree.Expression, bool]
    ranges: Ranges


@dataclass(frozen=True, slots=True)
class _Name:
    """A test of the type or the stream, before the axes are numbered."""

    role: str
    number: int


class AxisBuilder:
    """Translates the predicates of an automaton's transitions into formulas over `Test`.

    Parameters
    ----------
    constants : ConstantReader
        Reads the query's constants in the types of the schema.
    type_column, stream_column : str or None
        Where the type and the stream of an event stand; None where the data has no such column.
    """

    def __init__(self, constants: ConstantReader, type_column: str | None, stream_column: str | None) -> None:
        self._constants = constants
        self._columns = {"type": type_column, "stream": stream_column}
        self._names: dict[str, list[str]] = {"type": [], "stream": []}
        self._ranges: dict[tuple[tree.Expression, bool], list[Ranges]] = {}
        self._others: dict[Axis, None] = {}

    def build(
        self, predicates: Iterable[tree.Condition | TypeTest]
    ) -> tuple[tuple[Axis, ...], tuple[Formula, ...]]:
        """The axes, the type's first, and the predicates as formulas over them."""
        pending = [self._collect(predicate) for predicate in predicates]
        axes: list[Axis] = []
        for role in ("type", "stream"):
            column = self._columns[role]
            if self._names[role] and column is not None:
                axes.append(ColumnAxis(column, tuple(self._names[role])))
        for (operand, textual), ranges in self._ranges.items():
            axes.append(_cut_axis(operand, ranges, textual))
        axes.extend(self._others)
        settle = _Settler(self._columns, self._names, axes)
        return tuple(axes), tuple(settle(leaf) for leaf in pending)

    def _collect(self, predicate: Any) -> Any:
        match predicate:
            case tree.Both(left, right):
                return Conjunction(self._collect(left), self._collect(right))
            case tree.Either(left, right):
                return Disjunction(self._collect(left), self._collect(right))
            case tree.Not(operand):
                return Complement(self._collect(operand))
            case tree.Truth(value):
                return Constant(value)
            case TypeTest(name, stream):
                return self._type_test(name, stream)
            case tree.Comparison(op, left, right):
                return self._comparison(op, left, right)
            case tree.InRange(operand, low, high):
                parts = []
                if low is not None:
                    parts.append(self._comparison(">=", operand, low))
                if high is not None:
                    parts.append(self._comparison("<=", operand, high))
                return parts[0] if len(parts) == 1 else Conjunction(*parts)
            case tree.InSet(operand, values):
                return self._in_set(operand, values)
            case tree.Like(tree.Text(value), pattern):
                return Constant(re.search(pattern, value) is not None)
            case tree.Like(operand, pattern):
                return self._boolean(MatchAxis(operand, pattern))
            case tree.IsNull(operand) if not attributes_of(operand):
                return Constant(self._constants.is_null(operand))
            case tree.IsNull(operand):
                return self._boolean(NullAxis(operand))
        raise TypeError(f"not a predicate of one event: {predicate!r}")

    def _type_test(self, name: str, stream: str | None) -> Any:
        tests: list[Any] = []
        for role, value in (("type", name), ("stream", stream)):
            if value is None or self._columns[role] is None:
                continue
            if value not in self._names[role]:
                self._names[role].append(value)
            tests.append(_Name(role, self._names[role].index(value) + 1))
        if not tests:
            return Constant(True)
        return tests[0] if len(tests) == 1 else Conjunction(*tests)

    def _boolean(self, axis: MatchAxis | NullAxis | RelationAxis) -> Axis:
        self._others.setdefault(axis)
        return axis

    def _comparison(self, op: str, left: tree.Expression, right: tree.Expression) -> Any:
        reads_left, reads_right = attributes_of(left), attributes_of(right)
        if not reads_left and not reads_right:
            return Constant(self._constants.compare(op, left, right))
        if reads_left and reads_right:
            return self._boolean(RelationAxis(op, left, right))
        if reads_right:
            op, left, right = MIRRORED[op], right, left
        value = self._constants.read(right, self._constants.type_of(left))
        if value is None:  # arithmetic over constants that gives a null compares to nothing
            return Constant(False)
        return self._pend(left, isinstance(value, str), _ranges(op, value))

    def _in_set(self, operand: tree.Expression, values: tuple[tree.Expression, ...]) -> Any:
        if not attributes_of(operand):
            return Constant(any(self._constants.compare("=", operand, value) for value in values))
        wanted = self._constants.type_of(operand)
        read = [self._constants.read(value, wanted) for value in values]
        parts = tuple((Cut(value, False), Cut(value, True)) for value in read if value is not None)
        textual = any(isinstance(value, str) for value in read)
        return self._pend(operand, textual, Ranges(parts))

    def _pend(self, operand: tree.Expression, textual: bool, ranges: Ranges) -> _Pending:
        self._ranges.setdefault((operand, textual), []).append(ranges)
        return _Pending((operand, textual), ranges)


class _Settler:
    """Second pass: leaves become tests, now that every axis is known."""

    def __init__(
        self, columns: Mapping[str, str | None], names: Mapping[str, list[str]], axes: list[Axis]
    ) -> None:
        self._axes = axes
        self._number: dict[object, int] = {}
        for index, axis in enumerate(axes):
            match axis:
                case ColumnAxis(column, found):
                    self._number.update(
                        {
                            role: index
                            for role in columns
                            if (columns[role], tuple(names[role])) == (column, found)
                        }
                    )
                case CutAxis():
                    self._number[axis.operand, axis.textual] = index
                case _:
                    self._number[axis] = index

    def __call__(self, leaf: Any) -> Formula:
        match leaf:
            case Conjunction(left, right):
                return Conjunction(self(left), self(right))
            case Disjunction(left, right):
                return Disjunction(self(left), self(right))
            case Complement(operand):
                return Complement(self(operand))
            case Constant():
                return leaf
            case _Name(role, number):
                return Test(self._number[role], frozenset({number}))
            case _Pending(key, ranges):
                index = self._number[key]
                axis = self._axes[index]
                assert isinstance(axis, CutAxis)
                return Test(index, frozenset(_classes_in(axis, ranges)))
        return Test(self._number[leaf], frozenset({1}))


def _ranges(op: str, value: Fraction | float | str) -> Ranges:
    before, after = Cut(value, False), Cut(value, True)
    parts: dict[str, tuple[tuple[Cut | None, Cut | None], ...]] = {
        "=": ((before, after),),
        "!=": ((None, before), (after, None)),
        "<": ((None, before),),
        "<=": ((None, after),),
        ">": ((after, None),),
        ">=": ((before, None),),
    }
    return Ranges(parts[op])


def _elementary(cuts: tuple[Cut, ...]) -> list[tuple[Cut | None, Cut | None]]:
    edges: list[Cut | None] = [None, *cuts, None]
    return list(pairwise(edges))


def _cut_axis(operand: tree.Expression, ranges: list[Ranges], textual: bool) -> CutAxis:
    found = {cut.key: cut for part in ranges for pair in part.parts for cut in pair if cut is not None}
    cuts = tuple(found[key] for key in sorted(found))
    signatures = [(False,) * len(ranges)]
    signatures += [tuple(part.holds_between(low, high) for part in ranges) for low, high in _elementary(cuts)]
    numbers: dict[tuple[bool, ...], int] = {}
    return CutAxis(
        operand, textual, cuts, tuple(numbers.setdefault(entry, len(numbers)) for entry in signatures)
    )


def _classes_in(axis: CutAxis, ranges: Ranges) -> list[int]:
    return [
        number
        for (low, high), number in zip(_elementary(axis.cuts), axis.classes[1:], strict=True)
        if ranges.holds_between(low, high)
    ]

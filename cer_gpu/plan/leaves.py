"""Turns the predicates of a query into axes: each predicate becomes a formula over classes of axes.

Conditions on one expression are combined first: `v > 3 AND v < 9 OR v IN {20, 30}` is one set of values,
however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from cer_gpu.automata.cea import OutlookTest, Predicate, TypeTest, identity
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.chains import balanced, flattened
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.schema import ValueType
from cer_gpu.language.signs import CONVERSE
from cer_gpu.language.walk import has_parameter
from cer_gpu.plan.axes import Axis, ColumnAxis, CutAxis, GivenAxis, MatchAxis, NullAxis, RelationAxis
from cer_gpu.plan.constants import ConstantReader, Value, in_decimals
from cer_gpu.plan.formula import Complement, Conjunction, Constant, Disjunction, Formula, Test
from cer_gpu.plan.regions import Regions, ValueSet, classes_of
from cer_gpu.plan.thresholds import exact_array

if TYPE_CHECKING:
    from cer_gpu.plan.derived_columns import Deriver

Key: TypeAlias = tuple[tree.Expression, bool]
"""What a cut axis is known by: the expression that is cut, and whether it is cut at strings.

Strings and numbers never share an axis, not even when no schema says which of the two an attribute is.
"""


@dataclass(frozen=True, slots=True)
class RoleColumns:
    """The columns of the type and the stream of an event.

    Attributes
    ----------
    type, stream : str or None
        Their names; None if the data has no such column.
    type_kind : ValueType
        The type of the values of the type column: strings, whole numbers or booleans.
    """

    type: str | None = "type"
    stream: str | None = None
    type_kind: ValueType = ValueType.STRING


@dataclass(frozen=True, slots=True)
class _BooleanParts:
    """AND (`every`) or OR of parts."""

    every: bool
    parts: list[Any]


@dataclass(frozen=True, slots=True)
class _Complement:
    """NOT of a part."""

    part: Any


@dataclass(frozen=True, slots=True)
class _Values:
    """An expression has one of some values."""

    key: Key
    values: ValueSet


@dataclass(frozen=True, slots=True, eq=False)
class _AxisRegions:
    """`_Values` as regions of its axis, once all constants of the axis are known."""

    key: Key
    regions: np.ndarray


@dataclass(frozen=True, slots=True)
class _Name:
    """A test of the type or the stream."""

    role: str
    number: int


class AxisBuilder:
    """Translates the predicates of an automaton's transitions into formulas over `Test`.

    Parameters
    ----------
    constants : ConstantReader
        Reads the query's constants in the types of the schema.
    columns : RoleColumns
        The columns of the type and the stream of an event.
    outlooks : sequence of OutlookTest, optional
        Each has an axis (`OutlookAxis`) after those that are read from a row, in this order.
    deriver : Deriver, optional
        Replaces PREV and functions by derived columns.
    """

    def __init__(
        self,
        constants: ConstantReader,
        columns: RoleColumns,
        outlooks: Sequence[OutlookTest] = (),
        deriver: Deriver | None = None,
    ) -> None:
        self._constants = constants
        self._deriver = deriver
        self._outlooks = {identity(test): number for number, test in enumerate(outlooks)}
        self._columns = {"type": columns.type, "stream": columns.stream}
        self._kinds = {"type": columns.type_kind, "stream": ValueType.STRING}
        self._names: dict[str, dict[str, int]] = {"type": {}, "stream": {}}
        self._sets: dict[Key, list[ValueSet]] = {}
        self._others: dict[Axis, None] = {}

    def build(self, predicates: Iterable[Predicate]) -> tuple[tuple[Axis, ...], tuple[Formula, ...]]:
        """The axes that are read from a row, the type's first, and the predicates as formulas over all."""
        if self._deriver is not None:
            predicates = self._deriver.all_rewritten(predicates)
            self._constants = ConstantReader(self._deriver.schema)
        collected = [self._collect(predicate) for predicate in predicates]
        regions = {key: Regions(sets) for key, sets in self._sets.items()}
        gathered = [_gathered(one, regions) for one in collected]
        axes: list[Axis] = []
        number: dict[object, int] = {}
        for role, names in self._names.items():
            column = self._columns[role]
            if names and column is not None:
                number[role] = len(axes)
                axes.append(ColumnAxis(column, tuple(names), self._kinds[role]))
        classes: dict[int, frozenset[int]] = {}
        for key, within in _by_axis(regions, gathered).items():
            found = classes_of([one.regions for one in within], regions[key].count)
            classes.update((id(one), members) for one, members in zip(within, found.members))
            number[key] = len(axes)
            axes.append(CutAxis(*key, regions[key].constants, found.starts, found.numbers))
        for axis in self._others:
            number[axis] = len(axes)
            axes.append(axis)

        def test(leaf: Any) -> Formula:
            match leaf:
                case Constant():
                    return leaf
                case _Name(role, which):
                    return Test(number[role], frozenset({which}))
                case _AxisRegions(key, _):
                    return Test(number[key], classes[id(leaf)])
                case OutlookTest():
                    return Test(len(axes) + self._outlooks[identity(leaf)], frozenset({1}))
            return Test(number[leaf], frozenset({1}))

        return tuple(axes), tuple(_formula(one, test) for one in gathered)

    def _collect(self, predicate: Any) -> Any:
        match predicate:
            case tree.Both() | tree.Either():
                parts = [self._collect(part) for part in flattened(type(predicate), predicate)]
                return _BooleanParts(isinstance(predicate, tree.Both), parts)
            case tree.Not(operand):
                return _Complement(self._collect(operand))
            case tree.Truth(value):
                return Constant(value)
            case TypeTest(name, stream):
                return self._type_test(name, stream)
            case OutlookTest():
                return predicate
            case tree.Comparison(op, left, right):
                return self._comparison(op, left, right)
            case tree.InRange(operand, low, high):
                return self._in_range(operand, low, high)
            case tree.InSet(operand, members):
                return self._in_set(operand, members)
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
            if value is not None and self._columns[role] is not None:
                names = self._names[role]
                tests.append(_Name(role, names.setdefault(value, len(names) + 1)))
        return _BooleanParts(True, tests)

    def _boolean(self, axis: MatchAxis | NullAxis | RelationAxis | GivenAxis) -> Axis:
        self._others.setdefault(axis)
        return axis

    def _comparison(self, op: str, left: tree.Expression, right: tree.Expression) -> Any:
        reads_left, reads_right = attributes_of(left), attributes_of(right)
        if not reads_left and not reads_right:
            return Constant(self._constants.compare(op, left, right))
        if reads_left and reads_right:
            if has_parameter(left) or has_parameter(right):
                return self._boolean(GivenAxis(tree.Comparison(op, left, right)))
            return self._boolean(RelationAxis(op, left, right))
        if reads_right:
            op, left, right = CONVERSE[op], right, left
        if has_parameter(left) or has_parameter(right):
            return self._boolean(GivenAxis(tree.Comparison(op, left, right)))
        value = self._constants.read(right, self._constants.type_of(left))
        if value is None:  # arithmetic over constants that gives a null compares to nothing
            return Constant(False)
        return self._values(left, isinstance(value, str), _compared(op, value))

    def _in_range(
        self, operand: tree.Expression, low: tree.Expression | None, high: tree.Expression | None
    ) -> _BooleanParts:
        ends = ((">=", low), ("<=", high))
        return _BooleanParts(
            True, [self._comparison(op, operand, end) for op, end in ends if end is not None]
        )

    def _in_set(self, operand: tree.Expression, members: tree.Members) -> Any:
        if not attributes_of(operand):
            parts = [self._comparison("=", operand, member) for member in members.constants]
            parts += [self._in_range(operand, low, high) for low, high in members.ranges]
            return _BooleanParts(False, parts)
        if has_parameter(operand) or has_parameter(members):
            return self._boolean(GivenAxis(tree.InSet(operand, members)))
        wanted = self._constants.type_of(operand)

        stamps = wanted.type is ValueType.TIMESTAMP
        read = (self._constants.read(tree.Text(text), wanted) for text in members.texts)
        texts: Sequence[Value | None] = list(read) if stamps else members.texts
        others = [self._constants.read(member, wanted) for member in members.others]
        numbers: Sequence[Value] = members.numbers
        decimal = wanted.type is ValueType.DECIMAL
        if decimal:
            numbers = [in_decimals(number, wanted) for number in members.numbers]
        points = exact_array((*numbers, *texts, *(value for value in others if value is not None)))

        def ends(written: tuple[tree.End, ...]) -> Sequence[Value | None] | np.ndarray:
            if not decimal and members.end_kinds <= {int, float}:
                return exact_array(written)
            if not decimal and tree.Quantity not in members.end_kinds:
                return cast("tuple[int | float | None, ...]", written)
            nodes = (tree.Number(end) if isinstance(end, int | float) else end for end in written)
            return [None if node is None else self._constants.read(node, wanted) for node in nodes]

        textual = bool(texts) and not stamps
        return self._values(operand, textual, ValueSet(points, ends(members.lows), ends(members.highs)))

    def _values(self, operand: tree.Expression, textual: bool, values: ValueSet) -> _Values:
        key = (operand, textual)
        self._sets.setdefault(key, []).append(values)
        return _Values(key, values)


def _compared(op: str, value: Value) -> ValueSet:
    none = exact_array([])
    match op:
        case "=":
            return ValueSet(exact_array([value]))
        case "!=":
            return ValueSet(none, [None, value], [value, None], low_in=False, high_in=False)
        case "<" | "<=":
            return ValueSet(none, [None], [value], high_in=op == "<=")
        case _:
            return ValueSet(none, [value], [None], low_in=op == ">=")


def _gathered(node: Any, regions: Mapping[Key, Regions]) -> Any:
    """A collected predicate in which what it says of one expression alone is one leaf."""
    match node:
        case _Values(key, values):
            return _AxisRegions(key, regions[key].of(values))
        case _Complement(part):
            inner = _gathered(part, regions)
            if isinstance(inner, _AxisRegions):
                return _AxisRegions(inner.key, regions[inner.key].complement(inner.regions))
            return _Complement(inner)
        case _BooleanParts(every, parts):
            alike: dict[Key, list[np.ndarray]] = {}
            found: list[Any] = []
            for part in (_gathered(part, regions) for part in parts):
                if not isinstance(part, _AxisRegions):
                    found.append(part)
                elif part.key in alike:
                    alike[part.key].append(part.regions)
                else:
                    alike[part.key] = [part.regions]
                    found.append(part.key)
            joined = {
                key: regions[key].both(sets) if every else regions[key].either(sets)
                for key, sets in alike.items()
            }
            found = [_AxisRegions(one, joined[one]) if isinstance(one, tuple) else one for one in found]
            return found[0] if len(found) == 1 else _BooleanParts(every, found)
    return node


def _by_axis(regions: Iterable[Key], gathered: Iterable[Any]) -> dict[Key, list[_AxisRegions]]:
    """The leaves on each cut axis."""
    found: dict[Key, list[_AxisRegions]] = {key: [] for key in regions}
    for one in gathered:
        for leaf in _leaves(one):
            if isinstance(leaf, _AxisRegions):
                found[leaf.key].append(leaf)
    return found


def _leaves(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        match waiting.pop():
            case _BooleanParts(_, parts):
                waiting += parts
            case _Complement(part):
                waiting.append(part)
            case leaf:
                yield leaf


def _formula(node: Any, test: Callable[[Any], Formula]) -> Formula:
    match node:
        case _Complement(part):
            return Complement(_formula(part, test))
        case _BooleanParts(every, []):
            return Constant(every)
        case _BooleanParts(every, parts):
            join = Conjunction if every else Disjunction
            return balanced(
                [_formula(part, test) for part in parts], lambda _, left, right: join(left, right)
            )
    return test(node)

"""Scalar expressions of row patterns over Arrow arrays, by SQL's three-valued logic: one pass an operation.

`type_of` checks an expression against the types of its leaves, `evaluate` computes it. A function of texts of
one dictionary is computed on the dictionary. AND, OR, CASE and COALESCE compute all operands for all rows,
which is quickest; where one fails, each operand is computed again for the rows alone that ask for it, so that
`x < 100 AND x * x < y` never overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows import arithmetic, casts, comparisons, texts, times
from cer_gpu.engine.rows.calls import ScalarCall, ScalarStep
from cer_gpu.engine.rows.value_types import (
    BOOL,
    INT,
    TEXT,
    Values,
    combined,
    constant_of,
    described,
    kind_of,
    normal,
)
from cer_gpu.errors import DataError, Diagnostic, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.tree import Field, Operation, Scalar, ScalarConstant
from cer_gpu.printable_text import name_text

LeafType: TypeAlias = Callable[[Scalar], pa.DataType]
LeafValues: TypeAlias = "Callable[[Scalar], pa.Array | pa.ChunkedArray | pa.Scalar]"


def type_of(expression: Scalar, leaf: LeafType, text: str = "") -> pa.DataType:
    """The type of an expression, whose operations are checked.

    Parameters
    ----------
    expression : Scalar
    leaf : callable
        The type of a node that is neither an operation nor a constant.
    text : str, optional
        The text of the query, for errors.

    Returns
    -------
    pyarrow.DataType
        Of a leaf alone its own type. Computed whole numbers are int64, floats float64.

    Raises
    ------
    QueryError
        Values that cannot be compared or computed, with a caret at the operation.
    """
    if _is_leaf(expression):
        return leaf(expression)
    return _typed(expression, leaf, text).type


def evaluate(expression: Scalar, leaf: LeafValues, length: int) -> pa.Array:
    """The value of an expression in each row.

    Parameters
    ----------
    expression : Scalar
    leaf : callable
        The values of a node that is neither an operation nor a constant: one for each row, or a scalar.
    length : int
        The number of rows.

    Returns
    -------
    pyarrow.Array
        Of the type that `type_of` gives.

    Raises
    ------
    DataError
        A value does not fit, or cannot be cast.
    """
    if _is_leaf(expression):
        return _spread(combined(leaf(expression)), length)
    step = _typed(expression, lambda node: leaf(node).type, "")
    rows = _Evaluation(leaf, length)
    found = _spread(rows.plain(step), length)
    return found if found.type == step.type else pc.cast(found, step.type)


def _is_leaf(expression: Scalar) -> bool:
    return not isinstance(expression, Operation | ScalarConstant)


def _spread(values: Values, length: int) -> pa.Array:
    if isinstance(values, pa.Scalar):
        return pa.repeat(values, length) if values.is_valid else pa.nulls(length, values.type)
    return values


# Checks

Rule: TypeAlias = Callable[[ScalarCall], ScalarStep]


def _logic(call: ScalarCall) -> ScalarStep:
    """`AND`, `OR`, `NOT` and `IS TRUE`."""
    for operand in call.operands:
        if operand.type != BOOL:
            message = f"`{call.name}` takes conditions, and this is {described(operand.type)}"
            raise call.refusal("CER029", message, "compare it, as in `x > 0`", at=operand)
    functions = {
        "not": pc.invert,
        "is true": lambda values: pc.fill_null(values, False),
    }
    return call.step(BOOL, functions.get(call.node.name, _late))


def _case(call: ScalarCall) -> ScalarStep:
    conditions = call.operands[:-1:2]
    for condition in conditions:
        if condition.type not in (BOOL, pa.null()):
            message = f"`WHEN` takes a condition, and this is {described(condition.type)}"
            raise call.refusal("CER029", message, "compare it, as in `WHEN x > 0`", at=condition)
    type_, values = comparisons.brought_together(call, (*call.operands[1::2], call.operands[-1]))
    pairs = [step for pair in zip(map(_as_condition, conditions), values) for step in pair]
    return call.step(type_, _late, *pairs, values[-1])


def _coalesce(call: ScalarCall) -> ScalarStep:
    type_, values = comparisons.brought_together(call, call.operands)
    return call.step(type_, _late, *values)


def _as_condition(step: ScalarStep) -> ScalarStep:
    return step if step.type == BOOL else ScalarStep(step.node, BOOL, constant=pa.scalar(None, BOOL))


def _late(*_: Values) -> Values:
    """Stands for what `_Evaluation` computes itself: operands of these are computed for some rows alone."""
    raise AssertionError("computed by _Evaluation")


_MANY = 1_000_000
_RULES: dict[str, tuple[Rule, int, int]] = {
    **dict.fromkeys(("+", "-", "*"), (arithmetic.binary, 2, 2)),
    **dict.fromkeys(("/", "//"), (arithmetic.quotient, 2, 2)),
    **dict.fromkeys(("%", "mod"), (arithmetic.remainder, 2, 2)),
    **dict.fromkeys(("neg", "abs"), (arithmetic.same, 1, 1)),
    "sign": (arithmetic.sign, 1, 1),
    **dict.fromkeys(("ceil", "floor"), (arithmetic.rounded, 1, 1)),
    "round": (arithmetic.rounded, 1, 2),
    **dict.fromkeys(("sqrt", "exp", "ln", "log10"), (arithmetic.real, 1, 1)),
    "power": (arithmetic.real, 2, 2),
    **dict.fromkeys(comparisons.COMPARED, (comparisons.comparison, 2, 2)),
    "distinct from": (comparisons.distinct, 2, 2),
    "in": (comparisons.member, 2, _MANY),
    "nullif": (comparisons.null_if, 2, 2),
    **dict.fromkeys(("greatest", "least"), (comparisons.extreme, 1, _MANY)),
    **dict.fromkeys(("and", "or"), (_logic, 1, _MANY)),
    **dict.fromkeys(("not", "is true"), (_logic, 1, 1)),
    "is null": (lambda call: call.step(BOOL, pc.is_null), 1, 1),
    "case": (_case, 3, _MANY),
    "coalesce": (_coalesce, 1, _MANY),
    **dict.fromkeys(("cast", "try cast"), (casts.cast, 1, 1)),
    **dict.fromkeys(("like", "ilike", "regexp"), (texts.pattern, 2, 2)),
    **dict.fromkeys(("starts_with", "ends_with", "contains"), (texts.found, 2, 2)),
    "position": (texts.position, 2, 2),
    **dict.fromkeys(("upper", "lower", "length", "trim", "ltrim", "rtrim"), (texts.simple, 1, 1)),
    "||": (texts.joined, 2, _MANY),
    "replace": (texts.replaced, 3, 3),
    "substring": (texts.substring, 2, 3),
    "extract": (times.extracted, 1, 1),
    "date_trunc": (times.truncated, 1, 1),
    "date_diff": (times.between, 2, 2),
    "add_months": (times.with_months, 2, 2),
}
"""The rule of each operation, and the least and most operands that it has."""

_NULLS = {
    **dict.fromkeys(("and", "or", "not", "is true"), BOOL),
    **dict.fromkeys(("like", "ilike", "regexp", "starts_with", "ends_with", "contains", "position"), TEXT),
    **dict.fromkeys(("upper", "lower", "length", "trim", "ltrim", "rtrim", "||", "replace"), TEXT),
}
"""Operations whose operands have one type, which is that of a NULL among them."""


def _typed(node: Scalar, leaf: LeafType, text: str) -> ScalarStep:
    if isinstance(node, ScalarConstant):
        constant = constant_of(node.value)
        if constant is None:
            hint = "write it with an exponent, as a float: `1e100`"
            found = Diagnostic("CER005", "a number of more than 76 digits", node.at, hints=(hint,))
            raise QueryError([found], text)
        return ScalarStep(node, constant.type, constant=constant)
    if not isinstance(node, Operation):
        return ScalarStep(node, normal(leaf(node)))
    operands = tuple(_typed(operand, leaf, text) for operand in node.operands)
    rule, least, most = _RULES[node.name]
    if node.name in _NULLS:
        null = pa.scalar(None, _NULLS[node.name])
        operands = tuple(
            ScalarStep(one.node, null.type, constant=null) if one.type == pa.null() else one
            for one in operands
        )
    call = ScalarCall(node, operands, text)
    if not least <= len(operands) <= most:
        count = str(least) if least == most else f"{least} to {most}" if most < _MANY else f"{least} or more"
        raise call.refusal("CER029", f"`{call.name}` takes {count} values, and these are {len(operands)}")
    return _folded(rule(call))


def _folded(step: ScalarStep) -> ScalarStep:
    """A step of constants alone as a constant, unless it fails: then it fails where a row asks for it."""
    known = all(one.constant is not None for one in step.operands)
    if step.constant is not None or not step.operands or not known or step.compute is _late:
        return step
    try:
        value = _computed(step, [one.constant for one in step.operands if one.constant is not None])
    except DataError:
        return step
    return ScalarStep(step.node, step.type, constant=pc.cast(value, step.type))


# Values


@dataclass(frozen=True, slots=True)
class _DictionaryValues:
    """Values as places in a short list; the list has a null for rows that are null."""

    places: pa.Array
    listed: pa.Array

    def plain(self) -> pa.Array:
        return self.listed.take(self.places)


class _Evaluation:
    """The rows that an expression is computed for.

    Parameters
    ----------
    leaf : callable
        As in `evaluate`.
    length : int
    """

    def __init__(self, leaf: LeafValues, length: int) -> None:
        self._leaf = leaf
        self._length = length
        # By identity: equal nodes are not the same, as 1 equals TRUE. The leaf's values are kept beside them,
        # so that no other has their address.
        self._read: dict[int, tuple[object, Values | _DictionaryValues]] = {}

    def plain(self, step: ScalarStep) -> Values:
        """The values of a step, a scalar where all rows have one."""
        values = self._values(step)
        return values.plain() if isinstance(values, _DictionaryValues) else values

    def _values(self, step: ScalarStep) -> Values | _DictionaryValues:
        if step.constant is not None:
            return step.constant
        if step.compute is None:
            return self._of_leaf(step.node, step.type)
        if step.compute is _late:
            return self._of_choice(step)
        given = [self._values(operand) for operand in step.operands]
        coded = [one for one in given if isinstance(one, _DictionaryValues)]
        if coded and all(isinstance(one, pa.Scalar) or _share(one, coded[0]) for one in given):
            try:
                listed = _computed(
                    step, [one.listed if isinstance(one, _DictionaryValues) else one for one in given]
                )
            except DataError:
                pass  # of a text that may be in no row
            else:
                return listed if isinstance(listed, pa.Scalar) else _DictionaryValues(coded[0].places, listed)
        plain = [one.plain() if isinstance(one, _DictionaryValues) else one for one in given]
        if all(isinstance(one, pa.Scalar) for one in plain) and not self._length:
            return pa.scalar(None, step.type)
        return _computed(step, plain)

    def _of_leaf(self, node: Scalar, type_: pa.DataType) -> Values | _DictionaryValues:
        values = self._leaf(node)
        if id(values) not in self._read:
            try:
                self._read[id(values)] = values, _widened(combined(values), type_)
            except pa.ArrowInvalid:
                name = f"the column {name_text(node.name)}" if isinstance(node, Field) else "a value"
                raise DataError(
                    f"{name} holds a number beyond 64 bits with a sign; cast it to float64 or a decimal"
                ) from None
        return self._read[id(values)][1]

    def _of_choice(self, step: ScalarStep) -> Values:
        assert isinstance(step.node, Operation)
        name, operands = step.node.name, step.operands
        try:
            values = [self.plain(operand) for operand in operands]
        except DataError:
            return self._one_by_one(name, step.type, operands)
        match name:
            case "and":
                return reduce(pc.and_kleene, values)
            case "or":
                return reduce(pc.or_kleene, values)
            case "coalesce":
                return pc.coalesce(*values)
        pairs = list(zip(values[:-1:2], values[1::2]))
        return reduce(
            lambda other, pair: pc.if_else(pc.fill_null(pair[0], False), pair[1], other),
            reversed(pairs),
            values[-1],
        )

    def _one_by_one(self, name: str, type_: pa.DataType, operands: Sequence[ScalarStep]) -> Values:
        """Each operand for the rows alone that the operands before it leave open."""
        if name == "case":
            found, asked = pa.nulls(self._length, type_), pa.repeat(True, self._length)
            for condition, value in zip(operands[:-1:2], operands[1::2]):
                holds = pc.and_(pc.fill_null(self._only(asked, condition), False), asked)
                found = pc.if_else(holds, self._only(holds, value), found)
                asked = pc.and_not(asked, holds)
            return pc.if_else(asked, self._only(asked, operands[-1]), found)
        found = _spread(self.plain(operands[0]), self._length)
        for operand in operands[1:]:
            if name == "coalesce":
                found = pc.coalesce(found, self._only(pc.is_null(found), operand))
                continue
            open_ = pc.fill_null(found if name == "and" else pc.invert(found), True)
            join = pc.and_kleene if name == "and" else pc.or_kleene
            found = join(found, self._only(open_, operand))
        return found

    def _only(self, mask: pa.Array, step: ScalarStep) -> pa.Array:
        """The values of a step in the rows of a mask, null in all others."""
        count = pc.sum(mask).as_py() or 0

        def leaf(node: Scalar) -> Values:
            values = combined(self._leaf(node))
            return values if isinstance(values, pa.Scalar) else values.filter(mask)

        values = _spread(_Evaluation(leaf, count).plain(step), count)
        chosen = np.asarray(mask)
        return pc.cast(values, step.type).take(pa.array(np.cumsum(chosen) - 1, mask=~chosen))


def _share(one: Values | _DictionaryValues, other: _DictionaryValues) -> bool:
    return isinstance(one, _DictionaryValues) and one.places is other.places


def _widened(values: Values, type_: pa.DataType) -> Values | _DictionaryValues:
    if not pa.types.is_dictionary(values.type):
        return values if values.type == type_ else pc.cast(values, type_)
    if isinstance(values, pa.Scalar):
        return pc.cast(pa.scalar(values.as_py(), values.type.value_type), type_)
    listed = values.dictionary if values.dictionary.type == type_ else pc.cast(values.dictionary, type_)
    if kind_of(type_) != "text" or 2 * len(listed) > len(values):
        return listed.take(values.indices)
    places = values.indices
    if places.null_count:
        places = pc.fill_null(pc.cast(places, INT), len(listed))
        listed = pa.concat_arrays([listed, pa.nulls(1, listed.type)])
    return _DictionaryValues(places, listed)


def _computed(step: ScalarStep, values: Sequence[Values]) -> Values:
    """The values of a step; a scalar of constants alone.

    Raises
    ------
    DataError
    """
    assert step.compute is not None
    alone = all(isinstance(one, pa.Scalar) for one in values)
    if alone:
        values = [_spread(one, 1) for one in values]
    try:
        found = step.compute(*values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, OverflowError) as error:
        raise DataError(_failure(step, str(error))) from error
    return found[0] if alone and not isinstance(found, pa.Scalar) else found


def _failure(step: ScalarStep, said: str) -> str:
    assert isinstance(step.node, Operation)
    name = {"neg": "-", "date_diff": "TIMESTAMPDIFF", "add_months": "+"}.get(
        step.node.name, step.node.name.upper()
    )
    if name == "CAST":
        return f"`CAST`: a value cannot become {described(step.type)} ({said}); TRY_CAST makes it null"
    if "overflow" in said or "out of bounds" in said or "not in range" in said or "precision" in said:
        if kind_of(step.type) in ("int", "decimal"):
            fit = "64 bits" if kind_of(step.type) == "int" else f"{step.type}"
            return f"`{name}`: a result does not fit {fit}; CAST one of the values to DOUBLE"
        return f"`{name}`: a time does not fit its unit ({said}); CAST it to TIMESTAMP with a coarser unit"
    return f"`{name}`: {said}"

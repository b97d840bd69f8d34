"""Comparisons of scalar values: exact between all kinds of numbers and units of time, with SQL's nulls.

A constant is compared in steps of the column: `price < 2.5` of whole numbers is `price <= 2`, and a column of
times is compared with the nearest time that it can hold. The column is not converted, and nothing overflows.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.calls import Compute, ScalarCall, ScalarStep
from cer_gpu.engine.rows.value_types import (
    BOOL,
    FLOAT,
    INT,
    MOMENTS,
    NUMBERS,
    Values,
    common,
    converted,
    described,
    exact_value,
    kind_of,
    times_of,
)
from cer_gpu.lazy_modules import compute as pc

COMPARED = {
    "=": "equal",
    "<>": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}
"""The functions of pyarrow, which NumPy names alike."""

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_STEPPED = frozenset({"int", "decimal", "date", "timestamp", "duration", "time"})
_READ = frozenset({"date", "timestamp", "time"})
"""Kinds of columns for which a text of the query is read as a value."""


def comparison(call: ScalarCall) -> ScalarStep:
    """`=`, `<>`, `<`, `<=`, `>`, `>=`."""
    return _pair(call, call.node.name, *call.operands)


def distinct(call: ScalarCall) -> ScalarStep:
    """`IS DISTINCT FROM`: never null."""
    left, right = call.operands
    differ = _pair(call, "<>", left, right)

    def compute(left: Values, right: Values) -> Values:
        one_null = pc.xor(pc.is_null(left), pc.is_null(right))
        return pc.coalesce(_applied(differ, left, right), one_null)

    return call.step(BOOL, compute)


def member(call: ScalarCall) -> ScalarStep:
    """`IN`: constants are looked up at once, other operands are compared one by one."""
    operand, *others = call.operands
    for other in others:
        _pair(call, "=", operand, other)
    steps = [operand]
    found: list[Compute] = []
    if kind_of(operand.type) in _STEPPED | {"text"} and operand.constant is None:
        # A decimal column and a float are compared as floats.
        kept = [
            one.constant is not None and not one.is_null and not _as_floats(operand, one) for one in others
        ]
        constants = [one for one, known in zip(others, kept) if known]
        others = [one for one, known in zip(others, kept) if not known]
        if constants:
            values = _value_set(call, operand, constants)
            found.append(lambda column, *_: _looked_up(column, values))
    for other in others:
        step = _pair(call, "=", operand, other)
        steps.append(other)
        place = len(steps) - 1
        found.append(partial(_compared_at, step, place))

    def compute(*values: Values) -> Values:
        return reduce(pc.or_kleene, (each(*values) for each in found))

    return call.step(BOOL, compute, *steps)


def _compared_at(step: ScalarStep, place: int, *values: Values) -> Values:
    return _applied(step, values[0], values[place])


def _looked_up(column: Values, values: pa.Array) -> Values:
    found = pc.is_in(column, value_set=values)
    return pc.if_else(pc.is_valid(column), found, pa.scalar(None, BOOL))


def null_if(call: ScalarCall) -> ScalarStep:
    """`NULLIF`."""
    left, right = call.operands
    same = _pair(call, "=", left, right)

    def compute(left: Values, right: Values) -> Values:
        equal = pc.fill_null(_applied(same, left, right), False)
        return pc.if_else(equal, pa.scalar(None, left.type), left)

    return call.step(left.type, compute)


def extreme(call: ScalarCall) -> ScalarStep:
    """`GREATEST` and `LEAST`: null where one is null, otherwise NaN where one is NaN."""
    type_, operands = brought_together(call, call.operands)
    kind = kind_of(type_)
    if kind == "null":
        return call.null(type_)
    if kind not in _STEPPED | {"float", "text", "bool"}:
        raise call.type_refusal("CER031", "compare numbers, texts, times or intervals")
    greatest = call.node.name == "greatest"

    def compute(*values: Values) -> Values:
        if kind == "bool":
            return reduce(pc.or_ if greatest else pc.and_, values)
        function = pc.max_element_wise if greatest else pc.min_element_wise
        found = function(*values, skip_nulls=False)
        if kind == "float":
            undefined = reduce(pc.or_, (pc.is_nan(one) for one in values))
            found = pc.if_else(undefined, pa.scalar(math.nan), found)
        return found

    return call.step(type_, compute, *operands)


def brought_together(
    call: ScalarCall, operands: tuple[ScalarStep, ...]
) -> tuple[pa.DataType, tuple[ScalarStep, ...]]:
    """The type that all operands have in common, and the operands as steps of that type."""
    moments = [one.type for one in operands if kind_of(one.type) in _READ]
    type_ = reduce(lambda one, two: common(one, two) or one, moments) if moments else pa.null()
    for one in operands:
        if moments and one.text is not None:
            continue
        found = common(type_, one.type)
        if found is None:
            message = f"`{call.name}` cannot give {described(type_)} in one row and {_a(one)} in another"
            raise call.refusal("CER031", message, _cast_hint(type_, one.type), at=one)
        type_ = found
    return type_, tuple(_brought(call, one, type_) for one in operands)


def _brought(call: ScalarCall, step: ScalarStep, type_: pa.DataType) -> ScalarStep:
    if step.type == type_:
        return step
    if step.constant is not None and step.text is not None and kind_of(type_) in _READ:
        value = _read(call, step, type_)
        return ScalarStep(step.node, type_, constant=times_of(pa.scalar(math.floor(value), INT), type_))
    if step.constant is not None:
        return ScalarStep(step.node, type_, constant=converted(step.constant, type_))
    return ScalarStep(step.node, type_, (step,), lambda values: converted(values, type_))


# Pairs


def _a(step: ScalarStep) -> str:
    return described(step.type)


def _as_floats(column: ScalarStep, constant: ScalarStep) -> bool:
    return kind_of(column.type) == "decimal" and kind_of(constant.type) == "float"


def _applied(step: ScalarStep, left: Values, right: Values) -> Values:
    assert step.compute is not None
    return step.compute(left, right)


def _pair(call: ScalarCall, name: str, left: ScalarStep, right: ScalarStep) -> ScalarStep:
    """The step of one comparison; always null where one side is NULL."""
    if left.is_null or right.is_null:
        return call.null(BOOL)
    _check(call, name, left, right)
    if right.constant is not None and _steps_apply(left, right):
        compute = _with_constant(call, name, left, right)
        return call.step(BOOL, lambda left, _: compute(left), left, right)
    if left.constant is not None and _steps_apply(right, left):
        compute = _with_constant(call, _TURNED.get(name, name), right, left)
        return call.step(BOOL, lambda _, right: compute(right), left, right)
    constant = left.constant is not None or right.constant is not None
    if {kind_of(left.type), kind_of(right.type)} == {"int", "float"} and not constant:
        return call.step(BOOL, partial(_mixed, name), left, right)
    type_, (left, right) = brought_together(call, (left, right))
    function = COMPARED[name]

    def compute_both(left: Values, right: Values) -> Values:
        return getattr(pc, function)(converted(left, type_), converted(right, type_))

    return call.step(BOOL, compute_both, left, right)


def _steps_apply(column: ScalarStep, constant: ScalarStep) -> bool:
    return kind_of(column.type) in _STEPPED and not _as_floats(column, constant)


def _check(call: ScalarCall, name: str, left: ScalarStep, right: ScalarStep) -> None:
    kinds = [kind_of(left.type), kind_of(right.type)]
    if "null" in kinds or set(kinds) <= NUMBERS:
        return
    for side, other in ((left, kinds[1]), (right, kinds[0])):
        # What a constant without a zone says is what clocks of the column's zone show.
        moment = side.constant is not None and kind_of(side.type) in MOMENTS and other in MOMENTS
        if (side.text is not None and other in _READ) or moment:
            return
    together = common(left.type, right.type) is not None
    if together and (set(kinds) <= _STEPPED | {"text", "bool"} or name in ("=", "<>")):
        return
    if together:
        raise call.type_refusal("CER031", "values of this type have no order; compare them with `=` or `<>`")
    message = f"{_a(left)} and {_a(right)} cannot be compared"
    raise call.refusal("CER031", message[0].upper() + message[1:], _hint(left, right))


def _hint(left: ScalarStep, right: ScalarStep) -> str:
    for one, two in ((left, right), (right, left)):
        if one.text is not None and kind_of(two.type) in NUMBERS:
            return "write the number without quotes"
        if one.text is not None and kind_of(two.type) == "bool":
            return "write TRUE or FALSE without quotes"
        if kind_of(one.type) == "duration" and kind_of(two.type) in NUMBERS:
            return "write the length with its unit: `INTERVAL '5' MINUTE`"
    return _cast_hint(left.type, right.type)


def _cast_hint(left: pa.DataType, right: pa.DataType) -> str:
    if {kind_of(left), kind_of(right)} <= MOMENTS:
        return "only one of them has a time zone: CAST one, so that both have one or neither has"
    return "CAST one of them, so that both have the same type"


def _read(call: ScalarCall, step: ScalarStep, type_: pa.DataType) -> Fraction | float:
    assert step.constant is not None
    try:
        return exact_value(step.constant, type_)
    except (ValueError, KeyError):
        message = f"'{step.constant.as_py()}' is not {described(type_)}"
        example = "'12:30:00.250'" if pa.types.is_time(type_) else "'2024-01-31', '2024-01-31 12:30:00.250'"
        hint = f"times are written as in ISO 8601: {example}"
        raise call.refusal("CER035", message, hint, at=step) from None


def _with_constant(call: ScalarCall, name: str, column: ScalarStep, constant: ScalarStep) -> Compute:
    """The comparison of a column of whole steps with a constant, which may lie between two steps."""
    value, type_ = _read(call, constant, column.type), column.type
    if isinstance(value, float):
        if value != value:
            return lambda values: _all(values, name == "<>")
        return lambda values: _all(values, name in (("<", "<=", "<>") if value > 0 else (">", ">=", "<>")))
    below = math.floor(value)
    if value != below:
        if name in ("=", "<>"):
            return lambda values: _all(values, name == "<>")
        name = "<=" if name in ("<", "<=") else ">"
    bound = _held(below, type_)
    if bound is None:
        beyond = ("<", "<=", "<>") if below > 0 else (">", ">=", "<>")
        return lambda values: _all(values, name in beyond)
    function = COMPARED[name]
    return lambda values: getattr(pc, function)(values, bound)


def _all(values: Values, answer: bool) -> Values:
    """The answer in all rows that are not null."""
    return pc.if_else(pc.is_valid(values), pa.scalar(answer), pa.scalar(None, BOOL))


def _held(steps: int, type_: pa.DataType) -> pa.Scalar | None:
    """A number of steps as a value of a type; None where it does not fit."""
    if pa.types.is_decimal(type_):
        if abs(steps) >= 10**type_.precision:
            return None
        digits = tuple(int(digit) for digit in str(abs(steps)))
        return pa.scalar(Decimal((int(steps < 0), digits, -type_.scale)), type_)
    limit = 2**31 if pa.types.is_date(type_) else 2**63
    if not -limit <= steps < limit:
        return None
    if pa.types.is_time(type_) and not 0 <= steps < 86_400 * 10**9:
        return None
    return times_of(pa.scalar(steps, INT), type_)


def _value_set(call: ScalarCall, operand: ScalarStep, constants: list[ScalarStep]) -> pa.Array:
    type_ = operand.type
    if kind_of(type_) == "text":
        return pa.array([one.constant.as_py() for one in constants if one.constant is not None], type_)
    held = []
    for one in constants:
        value = _read(call, one, type_)
        if isinstance(value, Fraction) and value.denominator == 1:
            bound = _held(int(value), type_)
            if bound is not None:
                held.append(bound)
    return pa.array(held, type_)


def _mixed(name: str, left: Values, right: Values) -> Values:
    """Whole numbers with floats, exactly: beyond 2**53 not every whole number is a float."""
    if pa.types.is_floating(left.type):
        return _mixed(_TURNED.get(name, name), right, left)
    span = pc.min_max(left).as_py()
    if span["min"] is None or (span["min"] >= -(2**53) and span["max"] <= 2**53):
        return getattr(pc, COMPARED[name])(pc.cast(left, FLOAT, safe=False), right)
    whole = np.asarray(pc.fill_null(left, 0))
    real = np.asarray(pc.fill_null(right, 0.0))
    fits = (real >= -(2.0**63)) & (real < 2.0**63)
    below = np.floor(np.where(fits, real, 0.0))
    sign = np.sign(np.where(whole < below.astype(np.int64), -1, whole > below.astype(np.int64)))
    sign = np.where((sign == 0) & (np.where(fits, real, 0.0) > below), -1, sign)
    sign = np.where(fits, sign, np.where(real > 0, -1, 1))
    answer = np.where(np.isnan(real), name == "<>", getattr(np, COMPARED[name])(sign, 0))
    known = pc.and_(pc.is_valid(left), pc.is_valid(right))
    return pc.if_else(known, pa.array(answer), pa.scalar(None, BOOL))

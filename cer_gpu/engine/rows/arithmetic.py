"""Arithmetic of scalar values: whole numbers and decimals exactly, floats as IEEE 754 says, times with units.

A whole number beyond 64 bits is an error of the data; a division of whole numbers, decimals or intervals by
zero is null. Floats have no errors: 1e0 / 0 is infinite, the root of a negative number is no number. In these
two rules, and in the digits of decimals, SQL differs from the arithmetic of `cer_gpu.engine.read.derive`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.calls import Compute, ScalarCall, ScalarStep
from cer_gpu.engine.rows.value_types import (
    DATE,
    FLOAT,
    INT,
    MOMENTS,
    NUMBERS,
    Values,
    as_decimal,
    common,
    converted,
    decimal_type,
    described,
    finer,
    kind_of,
    numbers_of,
    times_of,
)
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.conditions import constant_number

NUMBERS_OF_DAYS = "numbers of days"
"""The detail of sums and differences in which a number beside a time is a number of days."""

_CHECKED = {"+": "add_checked", "-": "subtract_checked", "*": "multiply_checked"}
_PLAIN = {"+": "add", "-": "subtract", "*": "multiply"}
_TIME_HINT = (
    "with times these are possible: time - time, time + interval, interval + interval, and an interval "
    "multiplied or divided by a whole number; an interval is written `INTERVAL '5' MINUTE`"
)
_TEXT_HINT = "CAST a text that holds a number or a time, as in `CAST(x AS DOUBLE)`"


def binary(call: ScalarCall) -> ScalarStep:
    """`+`, `-` and `*`."""
    name = call.node.name
    left, right = call.types
    kinds = kind_of(left), kind_of(right)
    if "null" in kinds:
        return call.null(_of_null(call, left if kinds[1] == "null" else right))
    if not set(kinds) <= NUMBERS:
        return _of_times(call, name)
    if "float" in kinds:
        return _over(call, FLOAT, getattr(pc, _PLAIN[name]), FLOAT)
    if kinds == ("int", "int"):
        return call.step(INT, getattr(pc, _CHECKED[name]))
    left, right = as_decimal(left), as_decimal(right)
    if name == "*":
        type_ = decimal_type(left.precision + right.precision + 1, left.scale + right.scale)
    else:
        scale = max(left.scale, right.scale)
        whole = max(left.precision - left.scale, right.precision - right.scale)
        type_ = decimal_type(whole + scale + 1, scale)
    if type_ is None:
        hint = "CAST one of them to a decimal with fewer digits, or to DOUBLE"
        raise call.refusal("CER030", f"`{name}` of these decimals may take more than 76 digits", hint)

    def compute(one: Values, two: Values) -> Values:
        return pc.cast(getattr(pc, _CHECKED[name])(_wide(one, type_), _wide(two, type_)), type_)

    return call.step(type_, compute)


def _of_null(call: ScalarCall, type_: pa.DataType) -> pa.DataType:
    kind = kind_of(type_)
    if kind not in NUMBERS | MOMENTS | {"duration", "null"}:
        raise call.type_refusal(
            "CER030", _TEXT_HINT if kind == "text" else "take numbers, times or intervals"
        )
    return type_


def _wide(values: Values, type_: pa.DataType) -> Values:
    """A whole number or a decimal, as an operand of an operation whose result has `type_`."""
    own = as_decimal(values.type)
    if pa.types.is_decimal256(type_):
        return converted(values, pa.decimal256(own.precision, own.scale))
    return converted(values, own)


def _over(call: ScalarCall, type_: pa.DataType, function: Compute, operands: pa.DataType) -> ScalarStep:
    """A function of operands that are all brought to one type."""
    return call.step(type_, lambda *values: function(*(converted(one, operands) for one in values)))


def quotient(call: ScalarCall) -> ScalarStep:
    """`/` gives floats; `//` of two whole numbers a whole number, cut towards zero."""
    left, right = (kind_of(type_) for type_ in call.types)
    if "null" in (left, right):
        return call.null(_of_null(call, call.types[0] if right == "null" else call.types[1]))
    if left == right == "int" and call.node.name == "//":
        return call.step(INT, lambda one, two: pc.divide_checked(one, _nonzero(two)))
    if {left, right} <= NUMBERS:
        return call.step(FLOAT, _checked_quotient if right != "float" and left != "float" else _quotient)
    if left == right == "duration":
        return call.step(FLOAT, _ratio)
    if (left, right) == ("duration", "int"):
        type_ = call.types[0]
        return call.step(
            type_, lambda one, two: times_of(pc.divide_checked(numbers_of(one), _nonzero(two)), type_)
        )
    raise call.type_refusal("CER030", *_hints(call))


def _quotient(left: Values, right: Values) -> Values:
    return pc.divide(converted(left, FLOAT), converted(right, FLOAT))


def _checked_quotient(left: Values, right: Values) -> Values:
    return pc.divide(converted(left, FLOAT), converted(_nonzero(right), FLOAT))


def _nonzero(values: Values) -> Values:
    """Divisors, null in place of zero."""
    zero = pc.equal(values, pa.scalar(Decimal(0) if pa.types.is_decimal(values.type) else 0, values.type))
    return pc.if_else(zero, pa.scalar(None, values.type), values)


def _ratio(left: Values, right: Values) -> Values:
    unit = pa.duration(finer(left.type.unit, right.type.unit))
    return _checked_quotient(numbers_of(pc.cast(left, unit)), numbers_of(pc.cast(right, unit)))


def remainder(call: ScalarCall) -> ScalarStep:
    """`%` and `MOD`: with the sign of the dividend."""
    left, right = call.types
    kinds = {kind_of(left), kind_of(right)}
    if not kinds <= NUMBERS | {"null"}:
        raise call.type_refusal("CER030", *_hints(call))
    type_ = common(left, right)
    assert type_ is not None
    if "null" in kinds:
        return call.null(type_)
    if pa.types.is_decimal(type_):
        return call.step(type_, partial(_decimal_remainder, type_))
    return _over(call, type_, _remainder, type_)


def _remainder(left: Values, right: Values) -> Values:
    whole = pa.types.is_integer(left.type)
    if whole:
        right = _nonzero(right)
    known = pc.and_(pc.is_valid(left), pc.is_valid(right))
    one = np.asarray(_filled(left, 0))
    two = np.asarray(_filled(pc.if_else(known, right, pa.scalar(1, right.type)), 1))
    with np.errstate(invalid="ignore"):
        found = (
            np.where(two == -1, 0, np.fmod(one, np.where(two == -1, 1, two))) if whole else np.fmod(one, two)
        )
    return pc.if_else(known, pa.array(np.atleast_1d(found)), pa.scalar(None, left.type))


def _filled(values: Values, value: int) -> np.ndarray | int | float:
    filled = pc.fill_null(values, pa.scalar(value, values.type))
    return filled.as_py() if isinstance(filled, pa.Scalar) else np.asarray(filled)


def _decimal_remainder(type_: pa.DataType, left: Values, right: Values) -> Values:
    # As whole numbers of the last place of both. Arrow multiplies decimals exactly, and checks the digits.
    def steps(values: Values) -> Values:
        own = as_decimal(values.type)
        wide = converted(converted(values, own), pa.decimal256(own.precision, own.scale))
        power = pa.scalar(Decimal(10**type_.scale), pa.decimal256(type_.scale + 1, 0))
        return pc.cast(pc.multiply_checked(wide, power), INT)

    last = pa.scalar(Decimal(1).scaleb(-type_.scale), pa.decimal256(type_.scale + 1, type_.scale))
    found = pc.cast(_remainder(steps(left), steps(right)), pa.decimal256(19, 0))
    return pc.cast(pc.multiply_checked(found, last), type_)


def _of_times(call: ScalarCall, name: str) -> ScalarStep:
    """Sums and differences of times and intervals, and intervals times whole numbers."""
    left, right = call.types
    kinds = kind_of(left), kind_of(right)
    match name, *kinds:
        case "+", "duration" | "int", "date" | "timestamp":
            turned = ScalarCall(call.node, (call.operands[1], call.operands[0]), call.text)
            return _of_times(turned, name)
        case "*", "int", "duration":
            return call.step(
                right, lambda one, two: times_of(pc.multiply_checked(one, numbers_of(two)), right)
            )
        case "*", "duration", "int":
            return call.step(left, lambda one, two: times_of(pc.multiply_checked(numbers_of(one), two), left))
        case "+" | "-", "date", "int":
            function = getattr(pc, _CHECKED[name])
            return call.step(DATE, lambda one, two: times_of(function(numbers_of(one), two), DATE))
        case "+" | "-", "date", "duration":
            unit = right.unit
            return _in_unit(call, name, pa.timestamp(unit), right, pa.timestamp(unit))
        case "+" | "-", "timestamp", "duration":
            unit = finer(left.unit, right.unit)
            moment = pa.timestamp(unit, left.tz)
            return _in_unit(call, name, moment, pa.duration(unit), moment)
        case "+" | "-", "duration", "duration":
            length = pa.duration(finer(left.unit, right.unit))
            return _in_unit(call, name, length, length, length)
        case "-", "date", "date" if call.node.detail is not None:
            return call.step(INT, lambda one, two: pc.subtract(numbers_of(one), numbers_of(two)))
        case "+" | "-", "timestamp", "int" | "float" | "decimal" if call.node.detail == NUMBERS_OF_DAYS:
            days = constant_number(call.operands[1].node)
            if days is None:
                hint = (
                    "only a constant is a number of days here, as in `ts + 1/24`; NUMTODSINTERVAL(n, 'DAY')"
                )
                raise call.type_refusal("CER030", hint)
            length = ScalarStep(call.operands[1].node, pa.duration("us"), constant=length_of(days))
            return _of_times(ScalarCall(call.node, (call.operands[0], length), call.text), name)
        case "-", "date" | "timestamp", "date" | "timestamp":
            both = common(left, right)
            if both is None:
                hint = "only one of them has a time zone: CAST one, so that both have one or neither has"
                raise call.type_refusal("CER030", hint)
            both = pa.timestamp("s") if pa.types.is_date(both) else both
            return _in_unit(call, name, both, both, pa.duration(both.unit))
    raise call.type_refusal("CER030", *_hints(call))


def length_of(days: Fraction) -> pa.Scalar:
    """A number of days as an interval of microseconds."""
    return pa.scalar(timedelta(microseconds=round(days * 86_400_000_000)), pa.duration("us"))


def _in_unit(
    call: ScalarCall, name: str, one: pa.DataType, two: pa.DataType, made: pa.DataType
) -> ScalarStep:
    function = getattr(pc, _CHECKED[name])

    def compute(left: Values, right: Values) -> Values:
        return times_of(function(numbers_of(converted(left, one)), numbers_of(converted(right, two))), made)

    return call.step(made, compute)


def _hints(call: ScalarCall) -> list[str]:
    kinds = {kind_of(type_) for type_ in call.types}
    if kinds & (MOMENTS | {"duration"}):
        return [_TIME_HINT]
    return [_TEXT_HINT] if "text" in kinds else []


# Functions of one number


def _single(call: ScalarCall, others: frozenset[str] = frozenset()) -> tuple[pa.DataType, str]:
    type_ = call.types[0]
    kind = kind_of(type_)
    if kind not in NUMBERS | others | {"null"}:
        hint = _TEXT_HINT if kind == "text" else "it takes a number"
        raise call.refusal("CER029", f"`{call.name}` cannot be applied to {described(type_)}", hint)
    return type_, kind


def same(call: ScalarCall) -> ScalarStep:
    """`-x` and `ABS`."""
    type_, kind = _single(call, frozenset({"duration"}))
    if kind == "null":
        return call.null(type_)
    return call.step(type_, pc.negate_checked if call.node.name == "neg" else pc.abs_checked)


def sign(call: ScalarCall) -> ScalarStep:
    """`SIGN`: -1, 0 or 1, of floats as a float."""
    type_, kind = _single(call)
    made = type_ if kind in ("null", "float") else INT
    return call.step(made, lambda values: pc.cast(pc.sign(values), made))


def rounded(call: ScalarCall) -> ScalarStep:
    """`CEIL`, `FLOOR` and `ROUND`; halves are rounded away from zero."""
    type_, kind = _single(call)
    places = 0
    if call.node.name == "round" and len(call.operands) > 1:
        given = call.operands[1].constant
        if given is None or not pa.types.is_integer(given.type) or not given.is_valid:
            message = "the places of `ROUND` are a whole number that stands in the query"
            raise call.refusal("CER029", message, "as in `ROUND(x, 2)`", at=call.operands[1])
        places = max(-400, min(400, given.as_py()))
    if kind == "null" or (kind == "int" and places >= 0):
        return call.step(type_, lambda values, *_: values)
    function: Callable[[Values], Values]
    if call.node.name == "round":
        function = partial(pc.round, ndigits=places, round_mode="half_towards_infinity")
    else:
        function = getattr(pc, call.node.name)
    if kind != "decimal":
        return call.step(type_, lambda values, *_: function(values))
    if places >= type_.scale:
        return call.step(type_, lambda values, *_: values)
    # What is rounded up may have one more digit.
    wider = decimal_type(type_.precision + 1, type_.scale) or type_
    scale = max(places, 0)
    made = decimal_type(type_.precision + 1 - type_.scale + scale, scale)
    return call.step(made, lambda values, *_: pc.cast(function(pc.cast(values, wider)), made))


def real(call: ScalarCall) -> ScalarStep:
    """`SQRT`, `EXP`, `LN`, `LOG10` and `POWER`: of floats, with floats."""
    function: Callable[..., Values] = getattr(pc, call.node.name)
    for operand in call.operands:
        if kind_of(operand.type) not in NUMBERS | {"null"}:
            raise call.refusal(
                "CER029", f"`{call.name}` cannot be applied to {described(operand.type)}", at=operand
            )
    if any(operand.is_null for operand in call.operands):
        return call.null(FLOAT)
    return _over(call, FLOAT, function, FLOAT)

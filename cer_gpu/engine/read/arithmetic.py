"""Arithmetic and functions over whole Arrow columns, with the rules of the language (section 4)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.calls import called
from cer_gpu.engine.read.sources.arrow_types import is_text
from cer_gpu.language import tree
from cer_gpu.language.units import NANOSECONDS, nanoseconds
from cer_gpu.late import compute as pc

Operand = Callable[[tree.Expression], pa.Array]
"""From a part of an expression that arithmetic does not know, such as an aggregate, to its values."""


def computed(expression: tree.Expression, operand: Operand, rows: int) -> pa.Array:
    """The values of an expression.

    Integers are int64 and floats float64; `/` gives float64, or a duration; dividing by zero gives a null.
    Times and decimals have the types that Arrow's arithmetic gives.

    Parameters
    ----------
    expression : Expression
    operand : callable
    rows : int

    Raises
    ------
    pyarrow.ArrowInvalid
        For a number that does not fit.
    """
    match expression:
        case tree.Number(value=value) | tree.Text(value=value) | tree.Boolean(value=value):
            return pa.repeat(pa.scalar(value), rows)
        case tree.Quantity(value=value, unit=unit):
            return pa.repeat(_span(value, unit), rows)
        case tree.Call(function=function, arguments=arguments):
            return called(function, [_plain(computed(one, operand, rows)) for one in arguments])
        case tree.Negation(operand=inner):
            values = _plain(computed(inner, operand, rows))
            if pa.types.is_duration(values.type):
                return pc.negate_checked(values.cast(pa.int64())).cast(values.type)
            return pc.negate_checked(values)
        case tree.Arithmetic(op=op, left=left, right=right):
            first, second = (_plain(computed(side, operand, rows)) for side in (left, right))
            if pa.types.is_decimal(first.type):
                second = _written(right, second)
            elif pa.types.is_decimal(second.type):
                first = _written(left, first)
            return _combined(op, first, second)
    return operand(expression)


def _span(value: int | float, unit: str) -> pa.Scalar:
    """A span of time in the largest unit in which it is whole; to the nearest nanosecond."""
    exact = nanoseconds(value, unit)
    for name in ("s", "ms", "us"):
        if (exact / NANOSECONDS[name]).denominator == 1:
            return pa.scalar(int(exact / NANOSECONDS[name]), pa.duration(name))
    return pa.scalar(round(exact), pa.duration("ns"))


def _plain(values: pa.Array) -> pa.Array:
    """Numbers in the width in which they are reckoned; texts as texts."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _plain(values.dictionary_decode())
    if pa.types.is_integer(kind):
        return values.cast(pa.int64())
    if pa.types.is_floating(kind):
        return values.cast(pa.float64())
    return values.cast(pa.large_string()) if is_text(kind) else values


def _written(expression: tree.Expression, values: pa.Array) -> pa.Array:
    """A number beside a decimal: one that is written with a point is a decimal, too."""
    if isinstance(expression, tree.Number):
        return pa.repeat(pa.scalar(Decimal(repr(expression.value))), len(values))
    return values.cast(pa.decimal128(19, 0)) if pa.types.is_integer(values.type) else values


def _combined(op: str, left: pa.Array, right: pa.Array) -> pa.Array:
    spans = [pa.types.is_duration(side.type) for side in (left, right)]
    if any(spans) and op in ("*", "/"):
        span, factor = (left, right) if spans[0] else (right, left)
        return _scaled(op, span, factor)
    if op == "/":
        return pc.divide(left.cast(pa.float64()), _nonzero(right.cast(pa.float64())))
    if op == "%":
        return _remainder(left, _nonzero(right))
    if pa.types.is_decimal(left.type) and pa.types.is_decimal(right.type):
        left, right = (side.cast(_wide(side.type)) for side in (left, right))
    return _CHECKED[op](left, right)


_CHECKED: dict[str, Callable[[pa.Array, pa.Array], pa.Array]] = {
    "+": lambda left, right: pc.add_checked(left, right),
    "-": lambda left, right: pc.subtract_checked(left, right),
    "*": lambda left, right: pc.multiply_checked(left, right),
}


def _wide(kind: pa.DataType) -> pa.DataType:
    """A decimal with room for a product of two of its kind, which Arrow's widest must hold."""
    return pa.decimal256(min(kind.precision, 37), kind.scale)


def _nonzero(values: pa.Array) -> pa.Array:
    zero = pa.scalar(0).cast(values.type)
    return pc.if_else(pc.equal(values, zero), pa.scalar(None, values.type), values)


def _remainder(left: pa.Array, right: pa.Array) -> pa.Array:
    """`left % right` with the sign of the dividend, where `right` is null in place of 0."""
    whole = pa.types.is_integer(left.type) and pa.types.is_integer(right.type)
    dtype, missing = pa.int64() if whole else pa.float64(), pc.or_(left.is_null(), right.is_null())
    one, two = (side.cast(dtype).fill_null(1).to_numpy(zero_copy_only=False) for side in (left, right))
    with np.errstate(all="ignore"):
        found = np.fmod(one, two)
    return pa.array(found, mask=missing.to_numpy(zero_copy_only=False))


def _scaled(op: str, span: pa.Array, factor: pa.Array) -> pa.Array:
    """A span of time times or divided by a number, to the nearest nanosecond where it is no longer whole."""
    if op == "*" and pa.types.is_integer(factor.type):
        return pc.multiply_checked(span.cast(pa.int64()), factor).cast(span.type)
    counts = span.cast(pa.duration("ns")).cast(pa.int64()).cast(pa.float64(), safe=False)
    number = factor.cast(pa.float64())
    found = pc.multiply(counts, number) if op == "*" else pc.divide(counts, _nonzero(number))
    found = pc.round(pc.if_else(pc.is_finite(found), found, None))
    return found.cast(pa.int64()).cast(pa.duration("ns"))

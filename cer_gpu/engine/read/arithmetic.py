"""Arithmetic and functions over whole Arrow columns, with the rules of the language (section 4).

Numbers of 64 bits are reckoned by `cer_gpu.engine.read.derive`, which classifies events by them. Here are the
columns of answers: decimals of any size, times in their zones, and texts, in the types of Arrow; and a value
that does not fit is an error, where an event with such a value may still be classified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext

import pyarrow as pa

from cer_gpu.engine.read.derive import combined
from cer_gpu.engine.read.functions import CHOOSE, OF_TEXT, TIMES, of_numbers, of_text, of_time
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.arrow_types import is_text
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.language import tree
from cer_gpu.language.functions import FLOATS
from cer_gpu.language.units import NANOSECONDS, nanoseconds
from cer_gpu.lazy_modules import compute as pc

MOST_DIGITS = 38
"""The most digits of a decimal of 128 bits."""

Operand = Callable[[tree.Expression], pa.Array]
"""Gives the values of a part of an expression that arithmetic does not know, such as an aggregate."""


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
        If a number does not fit.
    """
    match expression:
        case tree.Number(value=int(value)) if value >= 1 << 63:
            return pa.repeat(pa.scalar(value, pa.uint64()), rows)
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
    decimals = [pa.types.is_decimal(side.type) for side in (left, right)]
    if op == "/" or (any(decimals) and not all(decimals)):
        left, right = as_floats(left), as_floats(right)
        decimals = [False, False]
    if not any(decimals):
        return _of_numbers(op, left, right) if _are_numbers(left, right) else _CHECKED[op](left, right)
    if op == "%":
        return _decimal_remainder(left, right)
    found = _CHECKED[op](*(side.cast(_wide(side.type)) for side in (left, right)))
    narrow = found.type.precision <= MOST_DIGITS
    return found.cast(pa.decimal128(found.type.precision, found.type.scale)) if narrow else found


_CHECKED: dict[str, Callable[[pa.Array, pa.Array], pa.Array]] = {
    "+": lambda left, right: pc.add_checked(left, right),
    "-": lambda left, right: pc.subtract_checked(left, right),
    "*": lambda left, right: pc.multiply_checked(left, right),
}


def _wide(kind: pa.DataType) -> pa.DataType:
    """A decimal with room for a product of two of its kind, which Arrow's widest must hold."""
    return pa.decimal256(min(kind.precision, 37), kind.scale)


def _are_numbers(*values: pa.Array) -> bool:
    return all(pa.types.is_integer(one.type) or pa.types.is_floating(one.type) for one in values)


def _of_numbers(op: str, left: pa.Array, right: pa.Array) -> pa.Array:
    """Arithmetic of int64 and float64."""
    return _array(combined(op, columns.numbers(left, ""), columns.numbers(right, "")), "overflow")


def _array(values: Values, error: str) -> pa.Array:
    if values.beyond.any():
        raise pa.ArrowInvalid(error)
    return pa.array(values.data, mask=values.valid == 0 if len(values.valid) else None)


def _decimal_remainder(left: pa.Array, right: pa.Array) -> pa.Array:
    scale = max(left.type.scale, right.type.scale)
    with localcontext() as context:
        context.prec = 2 * MOST_DIGITS
        found = [
            None if one is None or not two else one % two
            for one, two in zip(left.to_pylist(), right.to_pylist(), strict=True)
        ]
    return pa.array(found, pa.decimal128(MOST_DIGITS, scale))


def as_floats(values: pa.Array) -> pa.Array:
    """Numbers as the floats next to them."""
    if pa.types.is_decimal(values.type):
        # Arrow's own cast multiplies by a power of ten that is itself rounded.
        values = values.cast(pa.large_string())
    return values.cast(pa.float64(), safe=not pa.types.is_integer(values.type))


def _scaled(op: str, span: pa.Array, factor: pa.Array) -> pa.Array:
    """A span of time times or divided by a number: to the nearest microsecond, or nanosecond of those."""
    if op == "*" and pa.types.is_integer(factor.type):
        return pc.multiply_checked(span.cast(pa.int64()), factor).cast(span.type)
    fine = pa.duration("ns" if span.type.unit == "ns" else "us")
    counts = span.cast(fine).cast(pa.int64()).cast(pa.float64(), safe=False)
    found = _of_numbers(op, counts, as_floats(factor))
    found = pc.round(pc.if_else(pc.is_finite(found), found, None))
    return found.cast(pa.int64()).cast(fine)


def called(function: str, arguments: Sequence[pa.Array]) -> pa.Array:
    """The values of a function of columns. A null gives a null, except that COALESCE gives the first value.

    Parameters
    ----------
    function : str
        Its name in capitals.
    arguments : sequence of Array
        Of types that the language allows.

    Raises
    ------
    pyarrow.ArrowInvalid
        If a number does not fit.
    """
    if function in CHOOSE:
        kinds = {one.type for one in arguments}
        if len(kinds) > 1 and any(pa.types.is_floating(kind) for kind in kinds):
            arguments = [as_floats(one) for one in arguments]
        return CHOOSE[function](*arguments)
    if function in OF_TEXT:
        return of_text(function, arguments)
    if function in FLOATS:
        arguments = [as_floats(one) for one in arguments]
    values = arguments[0]
    if function in TIMES:
        return of_time(function, values)
    if pa.types.is_decimal(values.type):
        return _decimal_called(function, values)
    if pa.types.is_duration(values.type):  # ABS
        return called(function, [values.cast(pa.int64())]).cast(values.type)
    found = of_numbers(function, [(columns.numbers(one, ""), None) for one in arguments], None)
    return _array(found, f"{function} does not fit 64 bits")


def _decimal_called(function: str, values: pa.Array) -> pa.Array:
    """The same of decimals with any digits, of which `of_numbers` has those that fit 64 bits."""
    if function == "ABS":
        return pc.abs_checked(values)
    if function == "ROUND":
        return pc.round(values, round_mode="half_to_even").cast(pa.int64())
    return (pc.floor if function == "FLOOR" else pc.ceil)(values).cast(pa.int64())

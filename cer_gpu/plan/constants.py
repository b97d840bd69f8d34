"""Reads the constants of a query exactly, in the type of what they are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from cer_gpu.errors import DataError
from cer_gpu.language import tree
from cer_gpu.language.functions import FLOATS, OUTERMOST, PREDICATES, TEXTS
from cer_gpu.language.scalar_functions import combined, value_of
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.signs import HOLDS
from cer_gpu.language.units import (
    NANOSECONDS,
    decimal_unit,
    digits_of,
    exact,
    nanoseconds,
    one_in,
    timestamp_nanoseconds,
)

MOST_DIGITS = 18
"""Whole numbers of so many digits fit 64 bits."""

Value: TypeAlias = int | float | Fraction | str
"""An exact constant: equal numbers are equal and hash alike, whatever their type."""


class Measure(NamedTuple):
    """The type of the values of an expression.

    Attributes
    ----------
    type : ValueType
    unit : str or None
        The unit of a time, which is an integer (`ns us ms s d`), or of a decimal (`e2`: hundredths).
    zone : str or None
        The time zone of a timestamp column; None without one.
    """

    type: ValueType
    unit: str | None = None
    zone: str | None = None


class ConstantReader:
    """Reads constants of a query for a schema.

    Parameters
    ----------
    schema : Schema
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def type_of(self, expression: tree.Expression) -> Measure:
        """The type of an expression, with its unit and time zone where it is a time.

        Times of different units get the finer unit.
        """
        match expression:
            case tree.Attribute(name):
                schema = self._schema
                return Measure(schema.attributes[name], schema.units.get(name), schema.zones.get(name))
            case tree.Number(value):
                return Measure(ValueType.INT64 if isinstance(value, int) else ValueType.FLOAT64)
            case tree.Text():
                return Measure(ValueType.STRING)
            case tree.Boolean():
                return Measure(ValueType.BOOL)
            case tree.Quantity(_, unit):
                return Measure(ValueType.DURATION, unit)
            case tree.Call(function, arguments):
                return measure_of_call(function, [self.type_of(one) for one in arguments])
            case tree.Previous(attribute):
                return self.type_of(attribute)
            case tree.Parameter():
                return Measure(ValueType.FLOAT64)  # of a plan that is only shown
            case tree.Negation(operand):
                return self.type_of(operand)
            case tree.Arithmetic(op, left, right):
                first, second = self.type_of(left), self.type_of(right)
                if ValueType.DECIMAL in (first.type, second.type):
                    first, second = as_decimal(left, first), as_decimal(right, second)
                return self._arithmetic(op, first, second)
        raise TypeError(f"not an expression: {expression!r}")

    @staticmethod
    def _arithmetic(op: str, left: Measure, right: Measure) -> Measure:
        units = [side.unit for side in (left, right) if side.unit is not None]
        finest = min(units, key=one_in) if units else None
        kinds = {left.type, right.type}
        if ValueType.DECIMAL in kinds:
            return _of_decimals(op, left, right)
        if ValueType.TIMESTAMP in kinds:
            both = left.type is right.type
            zone = left.zone or right.zone
            return Measure(ValueType.DURATION, finest) if both else Measure(ValueType.TIMESTAMP, finest, zone)
        if ValueType.DURATION in kinds:
            if op == "/" and left.type is right.type:
                return Measure(ValueType.FLOAT64)
            return Measure(ValueType.DURATION, finest)
        if op == "/" or ValueType.FLOAT64 in kinds:
            return Measure(ValueType.FLOAT64)
        return Measure(ValueType.INT64)

    def read(self, expression: tree.Expression, wanted: Measure) -> Value | None:
        """The value of an expression without attributes, as one of the wanted type and unit.

        Returns
        -------
        int, float, Fraction, str or None
            Times as exact numbers in the wanted unit; None for a null or NaN, which compares to nothing.
        """
        unit = wanted.unit
        if wanted.type is ValueType.TIMESTAMP and isinstance(expression, tree.Text):
            return _whole(
                Fraction(nanoseconds_of_text(expression.value, wanted.zone), NANOSECONDS[unit or "ns"])
            )
        value = fold(expression)
        if isinstance(value, str) or value is None:
            return value
        if isinstance(value, float) and math.isnan(value):
            return None
        if wanted.type is ValueType.DECIMAL:
            return in_decimals(value, wanted)
        if unit is not None and self.type_of(expression).type is ValueType.DURATION:
            return _whole(Fraction(value) / NANOSECONDS[unit])
        return value

    def compare(self, op: str, left: tree.Expression, right: tree.Expression) -> bool:
        """Whether a comparison between two constants holds (never with a null or a NaN)."""
        kind = self.type_of(left)
        other = self.type_of(right)
        if kind.type in (ValueType.TIMESTAMP, ValueType.DURATION):
            other = kind
        first, second = self.read(left, kind), self.read(right, other)
        return first is not None and second is not None and bool(HOLDS[op](first, second))

    def is_null(self, expression: tree.Expression) -> bool:
        """Whether an expression without attributes is null (not NaN)."""
        return fold(expression) is None


def fold(expression: tree.Expression) -> int | float | str | None:
    """The value of an expression without attributes, a duration in nanoseconds; None is null."""
    match expression:
        case tree.Number(value) | tree.Text(value):
            return value
        case tree.Boolean(value):
            return int(value)
        case tree.Quantity(value, unit):
            return _plain(nanoseconds(value, unit))
        case tree.Negation(operand):
            return combined("-", 0, fold(operand))
        case tree.Arithmetic(op, left, right):
            return combined(op, fold(left), fold(right))
        case tree.Call(function, arguments):
            return value_of(function, [fold(one) for one in arguments])
    raise TypeError(f"not a constant: {expression!r}")


def folded(call: tree.Call) -> tree.Expression:
    """The constant value of a function of constants; a null is written as a division by zero."""
    value, kind = fold(call), ConstantReader(Schema({})).type_of(call).type
    if value is None:
        return tree.Arithmetic("/", tree.Number(1), tree.Number(0))
    if isinstance(value, str):
        return tree.Text(value)
    if kind is ValueType.DURATION:
        return tree.Quantity(value, "ns")
    return tree.Boolean(bool(value)) if kind is ValueType.BOOL else tree.Number(value)


def in_decimals(value: int | float, wanted: Measure) -> Value:
    """A number as it is written, in the unit of decimals: 12.5 in hundredths is 1250."""
    if isinstance(value, float) and math.isinf(value):
        return value
    return _whole(exact(value) / one_in(wanted.unit or "e0"))


def as_decimal(expression: tree.Expression, measure: Measure) -> Measure:
    """The measure of an operand beside a decimal: there a number written with a point is a decimal, too."""
    found = decimal_literal(expression)
    return measure if found is None else Measure(ValueType.DECIMAL, found.unit)


class DecimalLiteral(NamedTuple):
    """A number that is written with a point, as a whole number of its last digit."""

    value: int
    unit: str


def decimal_literal(expression: tree.Expression) -> DecimalLiteral | None:
    """`12.5` as 125 tenths; None for any other expression, and where the number has too many digits."""
    if not isinstance(expression, tree.Number) or isinstance(expression.value, int):
        return None
    number = exact(expression.value)
    digits = max(-int(Decimal(repr(expression.value)).normalize().as_tuple().exponent), 0)
    value = number * 10**digits
    if digits > MOST_DIGITS or abs(value) >= 10**MOST_DIGITS:
        return None
    return DecimalLiteral(int(value), decimal_unit(digits))


def measure_of_call(function: str, arguments: Sequence[Measure]) -> Measure:
    """The type, unit and time zone of the values of a function."""
    first = arguments[0]
    if function == "ABS":
        return first
    if function in TEXTS:
        return Measure(ValueType.STRING)
    if function in PREDICATES:
        return Measure(ValueType.BOOL)
    if function in FLOATS:
        return Measure(ValueType.FLOAT64)
    if function == "DATE":
        return Measure(ValueType.TIMESTAMP, "d")
    if function not in ("COALESCE", *OUTERMOST):
        return Measure(ValueType.INT64)
    kinds = {one.type for one in arguments}
    if ValueType.FLOAT64 in kinds:
        return Measure(ValueType.FLOAT64)
    if ValueType.DECIMAL in kinds:
        units = [one.unit for one in arguments if one.unit is not None]
        return Measure(ValueType.DECIMAL, max(units, key=lambda unit: int(unit[1:])))
    units = [one.unit for one in arguments if one.unit is not None]
    zone = next((one.zone for one in arguments if one.zone is not None), None)
    return Measure(first.type, min(units, key=NANOSECONDS.__getitem__) if units else None, zone)


def _of_decimals(op: str, left: Measure, right: Measure) -> Measure:
    if op == "/" or ValueType.FLOAT64 in (left.type, right.type):
        return Measure(ValueType.FLOAT64)
    first, second = digits_of(left.unit) or 0, digits_of(right.unit) or 0
    return Measure(ValueType.DECIMAL, decimal_unit(first + second if op == "*" else max(first, second)))


def nanoseconds_of_text(text: str, zone: str | None) -> int:
    """The time that a text is beside a column in a time zone, in nanoseconds since 1970.

    Raises
    ------
    DataError
        When the zone is not known on this machine.
    """
    try:
        return timestamp_nanoseconds(text, zone or "UTC")
    except KeyError:
        raise DataError(
            f"the time zone `{zone}` of a column is not known on this machine, and '{text}' is to be read in "
            f"it: write the offset, as in '{text}+02:00', or install the package tzdata"
        ) from None


def _whole(value: Fraction) -> int | Fraction:
    return int(value) if value.denominator == 1 else value


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)

"""Comparisons between events, on Python values: exact, whatever the types of the columns.

A whole number is an int, a decimal a `Fraction`, a time or a span a number of nanoseconds, a text a str. So
int64 compares with float64 by value, decimals with both, times of any units and zones with each other, and
texts by code point. A comparison with a null or a NaN is false.

Each choice of events that a run may make is compared by itself, when it is made: there are no columns that
`cer_gpu.engine.read.derive` could compute at once. Arithmetic is that of constants (`scalar_functions`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import unit_of, whole_numbers, zone_of
from cer_gpu.engine.read.sources.columns import is_text, single
from cer_gpu.errors import DataError
from cer_gpu.language import tree
from cer_gpu.language.functions import OUTERMOST, TEXTS
from cer_gpu.language.printer import to_text
from cer_gpu.language.scalar_functions import combined, nearest_float, value_of
from cer_gpu.language.signs import HOLDS
from cer_gpu.language.units import NANOSECONDS, exact, nanoseconds, one_in
from cer_gpu.plan.constants import nanoseconds_of_text

NAN = math.nan
"""The one NaN: any two NaN values are this object."""

Kind: TypeAlias = Literal["number", "decimal", "text", "time", "span"]

Value: TypeAlias = Any
"""An int, float, Fraction, str or bool; None for a null."""

ReadValues: TypeAlias = Sequence[Value] | Mapping[str, Value]
"""Values of one or several events, by place or by name."""

INT64 = range(-(2**63), 2**63)


class ColumnKind(NamedTuple):
    """The kind of the values of a column.

    Attributes
    ----------
    kind : str
    factor : int or Fraction
        For a time or a decimal: how much a whole number of the column is worth, in nanoseconds or as a
        number.
    zone : str or None
    """

    kind: Kind
    factor: int | Fraction = 1
    zone: str | None = None


def kind_of(column: pa.DataType) -> ColumnKind:
    """The kind of the values of a column of some type."""
    if pa.types.is_dictionary(column):
        column = column.value_type
    unit = unit_of(column)
    if unit is None:
        return ColumnKind("text" if is_text(column) else "number")
    if pa.types.is_decimal(column):
        return ColumnKind("decimal", one_in(unit))
    return ColumnKind("span" if pa.types.is_duration(column) else "time", NANOSECONDS[unit], zone_of(column))


def values_of(column: pa.Array | pa.ChunkedArray) -> list[Value]:
    """The values of a column, one after another; None for a null."""
    whole = single(column)
    kind = kind_of(whole.type)
    if pa.types.is_dictionary(whole.type):
        whole = whole.cast(whole.type.value_type)
    if kind.kind == "decimal":
        return [None if one is None else Fraction(one) for one in whole.to_pylist()]
    if kind.kind in ("time", "span"):
        return [None if one is None else one * kind.factor for one in whole_numbers(whole).to_pylist()]
    found = whole.to_pylist()
    if pa.types.is_floating(whole.type):
        return [NAN if one is not None and one != one else one for one in found]
    return found


def missing(value: Value) -> bool:
    """Whether a value is a null or a NaN, which compares to nothing."""
    return value is None or value != value


class ComparisonPart(NamedTuple):
    """A part of a comparison, as a function of the values that are read.

    Attributes
    ----------
    value : callable
        Gives the value from those that are read, in the order of `Place`.
    kind : ColumnKind
    literal : Fraction or None
        For a number: its value as it is written.
    """

    value: Callable[[ReadValues], Value]
    kind: ColumnKind
    literal: Fraction | None = None


Places: TypeAlias = Callable[[tree.Expression], "tuple[int | str, ColumnKind] | None"]
"""Where the value of a part of a comparison is among those that are read; None if it is not one of them."""


def named_number(part: tree.Expression) -> tuple[str, ColumnKind] | None:
    """The place of a column among values by name: of numbers or, beside no constant, of another kind."""
    return (part.name, ColumnKind("number")) if isinstance(part, tree.Attribute) else None


def comparison_of(condition: tree.Comparison, places: Places) -> Callable[[ReadValues], bool]:
    """A comparison as a function of the values that it reads.

    Parameters
    ----------
    condition : Comparison
    places : callable
    """
    left, right = _beside(known(condition.left, places), known(condition.right, places))
    left, right = _in_time(left, condition.left, right), _in_time(right, condition.right, left)
    compare = HOLDS[condition.op]
    first, second = left.value, right.value

    def holds(values: ReadValues) -> bool:
        one, other = first(values), second(values)
        return one is not None and other is not None and one == one and other == other and compare(one, other)

    return holds


def _beside(left: ComparisonPart, right: ComparisonPart) -> tuple[ComparisonPart, ComparisonPart]:
    """Two parts that are put together: beside a decimal, a number is the one that is written."""
    if left.kind.kind == "decimal" and right.literal is not None:
        return left, _constant(right.literal, ColumnKind("decimal"), right.literal)
    if right.kind.kind == "decimal" and left.literal is not None:
        return _constant(left.literal, ColumnKind("decimal"), left.literal), right
    return left, right


def _in_time(part: ComparisonPart, written: tree.Expression, other: ComparisonPart) -> ComparisonPart:
    """A text beside a time as the time that it is."""
    if not isinstance(written, tree.Text) or other.kind.kind != "time":
        return part
    return _constant(nanoseconds_of_text(written.value, other.kind.zone), other.kind)


def _constant(value: Value, kind: ColumnKind, literal: Fraction | None = None) -> ComparisonPart:
    return ComparisonPart(lambda values: value, kind, literal)


def known(expression: tree.Expression, places: Places) -> ComparisonPart:
    """An expression as a function of the values that it reads."""
    found = places(expression)
    if found is not None:
        place, kind = found
        return ComparisonPart(operator.itemgetter(place), kind)
    match expression:
        case tree.Number(value=number):
            return _constant(number, ColumnKind("number"), exact(number))
        case tree.Boolean(value=value) | tree.Text(value=value):
            return _constant(value, ColumnKind("text" if isinstance(value, str) else "number"))
        case tree.Quantity(value=size, unit=unit):
            return _constant(nanoseconds(size, unit), ColumnKind("span"))
        case tree.Negation(operand=operand):
            inner = known(operand, places)
            return ComparisonPart(
                lambda values: None if (value := inner.value(values)) is None else -value, inner.kind
            )
        case tree.Arithmetic(op=op, left=left, right=right):
            return _arithmetic(op, *_beside(known(left, places), known(right, places)))
        case tree.Call(function=function, arguments=arguments):
            return _called(function, [known(one, places) for one in arguments])
    raise TypeError(f"no value of events: {to_text(expression)}")


def _arithmetic(op: str, left: ComparisonPart, right: ComparisonPart) -> ComparisonPart:
    first, second = left.value, right.value
    kinds = {left.kind.kind, right.kind.kind}
    timed = kinds & {"time", "span"}
    compute = _scaled if timed and op not in ("+", "-") else combined

    def value(values: ReadValues) -> Value:
        return compute(op, first(values), second(values))

    if timed:
        both = left.kind.kind == right.kind.kind
        if op == "/" and both:
            return ComparisonPart(value, ColumnKind("number"))
        named = "time" in kinds and not both
        return ComparisonPart(
            value, ColumnKind("time" if named else "span", 1, left.kind.zone or right.kind.zone)
        )
    exactly = "decimal" in kinds and op != "/"
    return ComparisonPart(value, ColumnKind("decimal" if exactly else "number"))


def _scaled(op: str, one: Value, other: Value) -> Value:
    """A product or a quotient of nanoseconds, which is exact."""
    if one is None or other is None:
        return None
    if not (_is_finite(one) and _is_finite(other)) or (op != "*" and other == 0):
        return None
    first, second = Fraction(one), Fraction(other)
    return first * second if op == "*" else first / second


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_OF_TIME: Mapping[str, Callable[[datetime], int]] = {
    "YEAR": lambda time: time.year,
    "MONTH": lambda time: time.month,
    "DAY": lambda time: time.day,
    "HOUR": lambda time: time.hour,
    "MINUTE": lambda time: time.minute,
    "SECOND": lambda time: time.second,
    "WEEKDAY": datetime.isoweekday,
}


def _called(function: str, arguments: Sequence[ComparisonPart]) -> ComparisonPart:
    """A function of what several events have."""
    values = [one.value for one in arguments]
    if function in _OF_TIME or function == "DATE":
        (argument,), (one,) = values, arguments
        of_time = _of_time(function, ZoneInfo(one.kind.zone) if one.kind.zone else UTC)
        kind = ColumnKind("time" if function == "DATE" else "number")
        return ComparisonPart(lambda read: None if (at := argument(read)) is None else of_time(at), kind)
    return ComparisonPart(
        lambda read: value_of(function, [one(read) for one in values]), _kind_of(function, arguments)
    )


def _kind_of(function: str, arguments: Sequence[ComparisonPart]) -> ColumnKind:
    if function in TEXTS:
        return ColumnKind("text")
    if function == "COALESCE" or function in OUTERMOST:
        kinds = [one.kind for one in arguments]
        return next((one for one in kinds if one.kind == "decimal"), kinds[0])
    return arguments[0].kind if function == "ABS" else ColumnKind("number")


def _of_time(function: str, zone: tzinfo) -> Callable[[int], int]:
    """DATE or a part of a time, of nanoseconds since 1970."""

    def local(value: int) -> datetime:
        return (_EPOCH + timedelta(microseconds=value // 1_000)).astimezone(zone)

    if function == "DATE":
        return lambda at: (local(at).date().toordinal() - _EPOCH.date().toordinal()) * NANOSECONDS["d"]
    return lambda at: _OF_TIME[function](local(at))


def aggregated(function: str, distinct: bool, register: Any, about: str) -> Value:
    """The value of an aggregate, given its register (`cer_gpu.automata.configurations.registers`).

    Raises
    ------
    DataError
        If a sum of integers does not fit 64 bits.
    """
    if function == "COUNT":
        return len(register) if distinct else register
    if not register:
        return None
    total = register[0][0] if function == "AVG" else register[0]
    if function in ("SUM", "AVG") and isinstance(total, int) and total not in INT64:
        raise DataError(f"integer overflow: {about} does not fit 64 bits; cast the column to float64")
    return nearest_float(total) / register[1] if function == "AVG" else total


def kind_of_aggregate(function: str, column: ColumnKind) -> ColumnKind:
    """The kind of the value of an aggregate of a column."""
    return ColumnKind("number") if function in ("COUNT", "AVG") else column

"""The types of scalar values: what is computed with, what two types have in common, constants.

Narrow types are widened once, where a column is read (`normal`): integers are int64, floats float64, texts
string or large_string, dates date32. Decimals, times and intervals keep their scales and units.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import pyarrow as pa

from cer_gpu.language.units import NANOSECONDS, timestamp_nanoseconds
from cer_gpu.lazy_modules import compute as pc

Values: TypeAlias = "pa.Array | pa.Scalar"
"""A value for each row; a scalar where all rows have one."""

INT, FLOAT, TEXT, BOOL, DATE = pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32()

WORDS = {
    "null": "NULL",
    "bool": "a boolean",
    "int": "a whole number",
    "float": "a float",
    "decimal": "a decimal",
    "text": "a text",
    "date": "a date",
    "timestamp": "a timestamp",
    "duration": "an interval",
    "time": "a time of day",
}
"""What messages call a value of each kind."""

NUMBERS = frozenset({"int", "float", "decimal"})
MOMENTS = frozenset({"date", "timestamp"})
UNITS = ("s", "ms", "us", "ns")

_WIDEST = {128: 38, 256: 76}


def kind_of(type_: pa.DataType) -> str:
    """One of `WORDS`; for types that only have equality or nothing at all, the name of the type itself."""
    kinds = (
        ("null", pa.types.is_null),
        ("bool", pa.types.is_boolean),
        ("int", pa.types.is_integer),
        ("float", pa.types.is_floating),
        ("decimal", pa.types.is_decimal),
        ("text", lambda it: pa.types.is_string(it) or pa.types.is_large_string(it)),
        ("text", pa.types.is_string_view),
        ("date", pa.types.is_date),
        ("timestamp", pa.types.is_timestamp),
        ("duration", pa.types.is_duration),
        ("time", pa.types.is_time),
    )
    return next((kind for kind, holds in kinds if holds(type_)), str(type_))


def described(type_: pa.DataType) -> str:
    """A value of the type, as messages say it."""
    kind = kind_of(type_)
    if kind == "timestamp" and type_.tz is not None:
        return "a timestamp with a time zone"
    return WORDS.get(kind, f"a value of type {type_}")


def normal(type_: pa.DataType) -> pa.DataType:
    """The type that values of a column are computed with."""
    if pa.types.is_dictionary(type_):
        return normal(type_.value_type)
    match kind_of(type_):
        case "int":
            return INT
        case "float":
            return FLOAT
        case "date":
            return DATE
        case "text":
            return TEXT if pa.types.is_string(type_) else pa.large_string()
        case "decimal":
            return decimal_type(type_.precision, type_.scale)
        case "time":
            return pa.time64(type_.unit if type_.unit == "ns" else "us")
    return type_


def decimal_type(precision: int, scale: int) -> pa.DataType | None:
    """The smallest decimal type of 128 or 256 bits; None where more than 76 digits are asked for."""
    if scale < 0:
        precision, scale = precision - scale, 0
    precision = max(precision, scale, 1)
    if precision <= _WIDEST[128]:
        return pa.decimal128(precision, scale)
    return pa.decimal256(precision, scale) if precision <= _WIDEST[256] else None


def as_decimal(type_: pa.DataType) -> pa.DataType:
    """The decimal type that holds every value of a type of whole numbers or decimals."""
    return pa.decimal128(19, 0) if pa.types.is_integer(type_) else type_


def common(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type that values of two normal types are brought to; None where there is none."""
    if left == right or pa.types.is_null(right):
        return left
    if pa.types.is_null(left):
        return right
    kinds = {kind_of(left), kind_of(right)}
    if kinds <= NUMBERS:
        if "float" in kinds:
            return FLOAT
        left, right = as_decimal(left), as_decimal(right)
        scale = max(left.scale, right.scale)
        return decimal_type(max(left.precision - left.scale, right.precision - right.scale) + scale, scale)
    if kinds == {"text"}:
        return pa.large_string()
    if kinds == MOMENTS:
        return left if kind_of(left) == "timestamp" else right
    if kinds == {"timestamp"}:
        if (left.tz is None) != (right.tz is None):
            return None
        return pa.timestamp(finer(left.unit, right.unit), left.tz)
    if kinds == {"duration"}:
        return pa.duration(finer(left.unit, right.unit))
    if kinds == {"time"}:
        return pa.time64("ns")
    return None


def combined(column: pa.ChunkedArray | Values) -> Values:
    """The chunks of a column as one array; what has no chunks as it is."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    if column.num_chunks == 1:
        return column.chunk(0)
    try:
        made = column.combine_chunks()
    except pa.ArrowInvalid:  # texts of more than 2 GB
        made = column.cast(pa.large_string()).combine_chunks()
    return made.chunk(0) if isinstance(made, pa.ChunkedArray) else made


def finer(*units: str) -> str:
    """The finest of some units of time."""
    return max(units, key=UNITS.index)


def converted(values: Values, type_: pa.DataType) -> Values:
    """Values of one type as those of another that `common` has given for it."""
    here = values.type
    if here == type_:
        return values
    if pa.types.is_integer(here) and pa.types.is_floating(type_):
        return pc.cast(values, type_, safe=False)
    if pa.types.is_integer(here) and pa.types.is_decimal(type_):
        values = pc.cast(values, pa.decimal128(19, 0))
    elif pa.types.is_date(here) and pa.types.is_timestamp(type_):
        values = pc.cast(values, pa.timestamp("s"))
        if type_.tz is not None:
            values = in_zone(pc.cast(values, pa.timestamp(type_.unit)), type_.tz)
    return pc.cast(values, type_)


def in_zone(values: Values, zone: str) -> Values:
    """Times that clocks of a zone show: the first where they show one twice, the next where never."""
    return pc.assume_timezone(values, zone, ambiguous="earliest", nonexistent="latest")


def numbers_of(values: Values) -> Values:
    """Dates as days, and times and intervals in their own unit, as int64."""
    if pa.types.is_date(values.type):
        values = pc.cast(values, pa.int32())
    return pc.cast(values, INT)


def times_of(numbers: Values, type_: pa.DataType) -> Values:
    """The reverse of `numbers_of`."""
    if pa.types.is_date(type_):
        numbers = pc.cast(numbers, pa.int32())
    return pc.cast(numbers, type_)


# Constants


def constant_of(value: Any) -> pa.Scalar | None:
    """A value of the text, in the type that it is computed with; None for a number of more than 76 digits."""
    if isinstance(value, bool) or value is None:
        return pa.scalar(value)
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return pa.scalar(value, INT)
        value = Decimal(value)
    if isinstance(value, Decimal):
        digits, exponent = len(value.as_tuple().digits), int(value.as_tuple().exponent)
        type_ = decimal_type(max(digits, -exponent), -exponent)
        if type_ is None:
            return None
        return pa.scalar(value.quantize(Decimal(1).scaleb(-type_.scale)) if exponent > 0 else value, type_)
    if isinstance(value, datetime):
        unit = _coarsest(value.microsecond)
        return pa.scalar(value, pa.timestamp(unit, None if value.tzinfo is None else "UTC"))
    if isinstance(value, date):
        return pa.scalar(value, DATE)
    if isinstance(value, timedelta):
        return pa.scalar(value, pa.duration(_coarsest(value.microseconds)))
    return pa.scalar(value)


def _coarsest(microseconds: int) -> str:
    """The unit of a constant: a coarse one leaves a column of milliseconds in its unit."""
    return "us" if microseconds % 1000 else "ms" if microseconds else "s"


def steps_of(type_: pa.DataType) -> int:
    """How many steps of a type make one: of whole numbers and days one, of times those of a second."""
    if pa.types.is_decimal(type_):
        return 10**type_.scale
    if pa.types.is_timestamp(type_) or pa.types.is_duration(type_) or pa.types.is_time(type_):
        return NANOSECONDS["s"] // NANOSECONDS[type_.unit]
    return 1


def exact_value(constant: pa.Scalar, type_: pa.DataType) -> Fraction | float:
    """A constant in steps of a column's type, exactly; an infinite or undefined float stays one.

    Parameters
    ----------
    constant : pyarrow.Scalar
        Not null; a number for a number, a text or a moment for a moment, an interval for an interval.
    type_ : pyarrow.DataType

    Raises
    ------
    ValueError
        The text is no time.
    """
    kind = kind_of(constant.type)
    if kind in NUMBERS:
        value = constant.as_py()
        if isinstance(value, float) and (value != value or abs(value) == float("inf")):
            return value
        return Fraction(value) * steps_of(type_)
    if pa.types.is_time(type_):
        return Fraction(_time_nanoseconds(constant) * steps_of(type_), NANOSECONDS["s"])
    if kind == "duration":
        return Fraction(constant.value * steps_of(type_), steps_of(constant.type))
    zone = type_.tz if pa.types.is_timestamp(type_) else None
    if kind == "text":
        nanoseconds = timestamp_nanoseconds(constant.as_py().strip(), zone or "UTC")
    else:
        moment = converted(constant, pa.timestamp("s")) if kind == "date" else constant
        if zone is not None and moment.type.tz is None:
            moment = in_zone(moment, zone)
        nanoseconds = moment.value * (NANOSECONDS["s"] // steps_of(moment.type))
    seconds = Fraction(nanoseconds, NANOSECONDS["s"])
    return seconds / 86_400 if pa.types.is_date(type_) else seconds * steps_of(type_)


def _time_nanoseconds(constant: pa.Scalar) -> int:
    if not pa.types.is_time(constant.type):
        return timestamp_nanoseconds("1970-01-01T" + constant.as_py().strip())
    return int(constant.value) * NANOSECONDS[constant.type.unit]

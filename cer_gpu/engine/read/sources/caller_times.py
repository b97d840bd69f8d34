"""Times and spans that a caller gives (`until`, `late`, `advance`), in the unit of the order column."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import whole_numbers
from cer_gpu.errors import ArgumentError
from cer_gpu.language.parameters import GivenAmount, amount_of, plain_value
from cer_gpu.language.units import NANOSECONDS, exact, timestamp_nanoseconds
from cer_gpu.printable_text import brief

SPANS = "'30 s', '5 min', '2 h', or a timedelta"
"""How a span of time is written."""

LONGEST = 100
"""A reason that has more characters is not told."""


def moment_in(name: str, value: Any, schema: pa.Schema, order_by: Sequence[str], up: bool = False) -> Any:
    """A time as the order column holds it: the last one that is not after it, or with `up` not before it.

    None is None.

    Parameters
    ----------
    name : str
        The keyword, for messages.
    value : object
        A time as text, `datetime`, of pandas or NumPy; or a number, for a column of numbers.
    schema : pyarrow.Schema
        Of the events.
    order_by : sequence of str
    up : bool, optional

    Raises
    ------
    ValueError
        When it is no time of that column, or there is no order column.
    """
    if value is None:
        return None
    if not order_by:
        raise ArgumentError(f"{name}={brief(value)} is a time: name the column of time with order_by")
    kind = schema.field(order_by[0]).type
    plain = plain_value(value)
    try:
        return _moment(plain, kind, ceil if up else floor)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, KeyError) as error:
        why = f": {error}" if len(str(error)) < LONGEST else ""
        raise ArgumentError(
            f"{name}={brief(value)} cannot be read as {kind}, the type of `{order_by[0]}`{why}"
        ) from None


def _moment(value: Any, kind: pa.DataType, whole: Any) -> int | float:
    if isinstance(value, bool) or value is None:
        raise TypeError("a time is needed")
    if pa.types.is_timestamp(kind) and isinstance(value, str):
        return int(whole(Fraction(timestamp_nanoseconds(value, kind.tz or "UTC"), NANOSECONDS[kind.unit])))
    if pa.types.is_duration(kind):
        amount = amount_of(value) if isinstance(value, str) else value
        if isinstance(amount, GivenAmount) and amount.unit is not None:
            return int(whole(_nanoseconds(amount) / NANOSECONDS[kind.unit]))
    if isinstance(value, GivenAmount):
        raise TypeError("a time is needed")
    if pa.types.is_date(kind) and isinstance(value, str):
        day = timestamp_nanoseconds(value)
        unit = NANOSECONDS["d"] if pa.types.is_date32(kind) else NANOSECONDS["ms"]
        return int(whole(Fraction(day, unit)))
    if not pa.types.is_temporal(kind):
        number = _number(value)
        if pa.types.is_floating(kind):
            if not isfinite(number):
                raise ValueError("it is no time of any event")
            return float(number)
        found = int(whole(number))
        return int(pa.scalar(found, kind).as_py())
    found = whole_numbers(pa.array([value]).cast(kind) if isinstance(value, str) else pa.array([value], kind))
    return int(found[0].as_py())


def _number(value: Any) -> int | float:
    """A number, or the text of one, as a shell gives it."""
    if isinstance(value, str):
        return int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
    if not isinstance(value, int | float):
        raise TypeError("a number is needed")
    return value


def _nanoseconds(amount: GivenAmount) -> Fraction:
    return exact(amount.value) * NANOSECONDS[amount.unit or "ns"]


def span_in(
    name: str, value: Any, schema: pa.Schema, order_by: Sequence[str], order_unit: str | None
) -> int | float:
    """A span of time in the unit of the order column, rounded down where that holds whole numbers.

    Parameters
    ----------
    name, schema, order_by
        As for `moment_in`.
    value : object
        A text such as "30 s", a `timedelta`, or a number, for a column of plain numbers.
    order_unit : str or None
        The unit of plain numbers.

    Raises
    ------
    ValueError
        When it is no span of time, or the column has no unit.
    """
    if not order_by:
        raise ArgumentError(f"{name}={brief(value)} is a span of time: name the column of time with order_by")
    column = order_by[0]
    kind = schema.field(column).type
    amount = span_of(name, value)
    if pa.types.is_temporal(kind):
        if amount.unit is None:
            raise ArgumentError(
                f"{name}={brief(value)}: `{column}` holds {kind}: write the span with a unit: {SPANS}"
            )
        unit = NANOSECONDS["d" if pa.types.is_date32(kind) else "ms" if pa.types.is_date(kind) else kind.unit]
        return floor(_nanoseconds(amount) / unit)
    if amount.unit is None:
        return min(amount.value, MOST) if pa.types.is_floating(kind) else floor(amount.value)
    if order_unit is None:
        raise ArgumentError(
            f"{name}={brief(value)}: `{column}` holds plain numbers: give their unit with order_unit, or "
            f"give a number as {name}"
        )
    own = _nanoseconds(amount) / NANOSECONDS[order_unit]
    return float(min(own, Fraction(MOST))) if pa.types.is_floating(kind) else floor(own)


def span_of(name: str, value: Any) -> GivenAmount:
    """A span of time that a caller gives; a plain number has no unit.

    Raises
    ------
    ValueError
        When it is no span of time, or a negative one.
    """
    found = plain_value(value)
    if isinstance(found, str):
        found = amount_of(found) or _plain_amount(found)
    elif isinstance(found, int | float) and not isinstance(found, bool) and _is_finite(found):
        found = GivenAmount(found, None)
    if not isinstance(found, GivenAmount) or found.value < 0:
        raise ArgumentError(
            f"{name}={brief(value)} is not a span of time: write {SPANS}; or a number, 0 or more, where the "
            "column of order_by holds plain numbers"
        )
    return found


MOST = 1e300
"""What no two times of a column of floats are apart."""


def _is_finite(value: int | float) -> bool:
    return isinstance(value, int) or isfinite(value)


def _plain_amount(text: str) -> GivenAmount | None:
    try:
        found = _number(text)
    except ValueError:
        return None
    return GivenAmount(found, None) if _is_finite(found) else None


def turned_moment(moment: Any, schema: pa.Schema, order_by: Sequence[str]) -> Any:
    """A time of `moment_in` as `columns.turned` has it: of uint64 less 2^63."""
    if moment is None or not pa.types.is_uint64(schema.field(order_by[0]).type):
        return moment
    return moment - (1 << 63)


def after(moment: int | float) -> int | float:
    """The least time after one, of whole numbers."""
    return min(moment + 1, (1 << 63) - 1)

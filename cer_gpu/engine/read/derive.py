"""Expressions over the columns of a batch, computed before any kernel runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.columns import NONE_BEYOND, Values, both_valid, either_beyond
from cer_gpu.engine.read.sources.decimals import unscaled
from cer_gpu.engine.words import EXACT
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.language import tree
from cer_gpu.language.scalar_functions import combined as combined_number
from cer_gpu.language.signs import HOLDS
from cer_gpu.language.units import NANOSECONDS, decimal_unit, digits_of, nanoseconds, one_in
from cer_gpu.language.words import written
from cer_gpu.plan.constants import decimal_literal

INT64 = np.iinfo(np.int64)

Reader = Callable[[str], tuple[Values, str | None]]
"""Given an attribute's name, its values and, for a time, their unit."""


def read_columns(table: pa.Table | pa.RecordBatch, units: Mapping[str, str], whole: bool = False) -> Reader:
    """Reads the columns of a table; with `whole` integers have no unit, so that sums of them are numbers."""

    def read(name: str) -> tuple[Values, str | None]:
        column = columns.single(table.column(name))
        plain = whole and pa.types.is_integer(column.type)
        return columns.numbers(column, name), None if plain else units.get(name)

    return read


def read_wide(table: pa.Table | pa.RecordBatch, units: Mapping[str, str], whole: bool = False) -> Reader:
    """As `read_columns`, with decimals as Python integers where they do not fit 64 bits."""
    plain = read_columns(table, units, whole)

    def read(name: str) -> tuple[Values, str | None]:
        column = table.column(name)
        if not pa.types.is_decimal(column.type):
            return plain(name)
        array = columns.single(column)
        return Values(unscaled(array), columns.validity(array)), units.get(name)

    return read


def evaluate(expression: tree.Expression, read: Reader, rows: int) -> tuple[Values, str | None]:
    """The values of an expression over a batch of `rows` events.

    Integers stay integers, and `Values.beyond` tells where one does not fit 64 bits; `/` gives floats;
    dividing by zero gives a null; times of different units, and decimals, are brought to the finer unit.

    Returns
    -------
    Values
        A plain attribute in its own dtype; anything else int64 or float64.
    str or None
        The unit, for a time or a decimal.
    """
    match expression:
        case tree.Attribute(name):
            return read(name)
        case tree.Number(value) | tree.Boolean(value):
            return _constant(value, rows), None
        case tree.Quantity(value, written):
            return _quantity(value, written, rows)
        case tree.Negation(operand):
            values, unit = evaluate(operand, read, rows)
            return combined("-", _constant(0, rows), values), unit
        case tree.Arithmetic(op, left, right):
            first, second, unit = _operands(op, left, right, read, rows)
            return combined(op, first, second), unit
    raise TypeError(f"not a numeric expression: {expression!r}")


def _operands(
    op: str, left: tree.Expression, right: tree.Expression, read: Reader, rows: int
) -> tuple[Values, Values, str | None]:
    """The two sides of `left op right` in one unit, and the unit of the result."""
    first, first_unit = evaluate(left, read, rows)
    second, second_unit = evaluate(right, read, rows)
    if digits_of(first_unit) is not None:
        second, second_unit = _written(right, second, second_unit, rows)
    elif digits_of(second_unit) is not None:
        first, first_unit = _written(left, first, first_unit, rows)
    return _same_unit(op, first, first_unit, second, second_unit)


def _written(
    expression: tree.Expression, values: Values, unit: str | None, rows: int
) -> tuple[Values, str | None]:
    """The values of an operand beside a decimal: a number that is written with a point is a decimal, too."""
    literal = decimal_literal(expression)
    return (values, unit) if literal is None else (_constant(literal.value, rows), literal.unit)


def _constant(value: int | float | bool, rows: int) -> Values:
    if isinstance(value, int) and INT64.max < value < 1 << 64:
        one = np.array([value], np.uint64)
        return Values(one if rows == 1 else np.broadcast_to(one, rows), NONE_MISSING)
    if isinstance(value, int) and not INT64.min <= value <= INT64.max:
        return Values(np.zeros(rows, np.int64), NONE_MISSING, np.ones(rows, bool))
    one = np.array([value], np.float64 if isinstance(value, float) else np.int64)
    return Values(one if rows == 1 else np.broadcast_to(one, rows), NONE_MISSING)


def _as(dtype: type, data: np.ndarray) -> np.ndarray:
    """Numbers as numbers of a type: themselves where they are; of a constant one is enough."""
    if data.strides == (0,):
        return np.broadcast_to(data[:1].astype(dtype), data.shape)
    return data.astype(dtype, copy=False)


def _ends(data: np.ndarray) -> tuple[int, int]:
    """The least and the greatest of some integers."""
    if data.strides == (0,):
        return int(data[0]), int(data[0])
    return int(data.min()), int(data.max())


def _quantity(value: int | float, written: str, rows: int) -> tuple[Values, str | None]:
    """A span of time in the largest unit in which it is a whole number: half a second is 500 ms."""
    exact = nanoseconds(value, written)
    for unit in reversed(tuple(NANOSECONDS)):
        if (exact / NANOSECONDS[unit]).denominator == 1:
            return _constant(int(exact / NANOSECONDS[unit]), rows), unit
    return _constant(float(exact), rows), "ns"


def _same_unit(
    op: str, first: Values, first_unit: str | None, second: Values, second_unit: str | None
) -> tuple[Values, Values, str | None]:
    if digits_of(first_unit) is not None or digits_of(second_unit) is not None:
        return _decimals(op, first, first_unit, second, second_unit)
    if first_unit is None or second_unit is None:
        return first, second, first_unit or second_unit
    finest = min(first_unit, second_unit, key=NANOSECONDS.__getitem__)
    unit = None if op == "/" else finest
    return _in_unit(first, first_unit, finest), _in_unit(second, second_unit, finest), unit


def _decimals(
    op: str, first: Values, first_unit: str | None, second: Values, second_unit: str | None
) -> tuple[Values, Values, str | None]:
    """The operands of arithmetic on decimals: floats for `/` and beside floats, else whole numbers."""
    if op == "/" or "f" in (first.data.dtype.kind, second.data.dtype.kind):
        return as_floats(first, first_unit), as_floats(second, second_unit), None
    if "O" in (first.data.dtype.kind, second.data.dtype.kind):
        first, second = _as_objects(first), _as_objects(second)
    one, two = digits_of(first_unit) or 0, digits_of(second_unit) or 0
    if op == "*":
        return first, second, decimal_unit(one + two)
    most = max(one, two)
    return _shifted(first, most - one), _shifted(second, most - two), decimal_unit(most)


def in_one_unit(
    expressions: Sequence[tree.Expression], found: Sequence[tuple[Values, str | None]], unit: str | None
) -> list[tuple[Values, str | None]]:
    """The values of several expressions in `unit`, the finest of theirs."""
    digits = digits_of(unit)
    done: list[tuple[Values, str | None]] = []
    for expression, (values, own) in zip(expressions, found, strict=True):
        if digits is not None:
            values, own = _written(expression, values, own, len(values.data))
            done.append((_shifted(values, digits - (digits_of(own) or 0)), unit))
        elif unit is not None and own is not None:
            done.append((_in_unit(values, own, unit), unit))
        else:
            done.append((as_floats(values, own), unit))
    return done


def _as_objects(values: Values) -> Values:
    """Whole numbers as Python integers."""
    return Values(values.data.astype(object), values.valid, values.beyond)


def _shifted(values: Values, digits: int) -> Values:
    """Whole numbers times a power of ten."""
    if values.data.dtype == object:
        return Values(values.data * 10**digits, values.valid, values.beyond)
    return values if digits == 0 else combined("*", values, _constant(10**digits, len(values.data)))


def as_floats(values: Values, unit: str | None) -> Values:
    """Decimals as the nearest floats; other numbers unchanged."""
    digits = digits_of(unit)
    if digits is None:
        return values
    if values.data.dtype == object:
        return Values((values.data / 10**digits).astype(np.float64), values.valid, values.beyond)
    # Wide enough for each of 64 bits, where the machine has such floats.
    wide = values.data.astype(np.longdouble) / np.longdouble(10) ** digits
    return Values(wide.astype(np.float64), values.valid, values.beyond)


def _in_unit(values: Values, unit: str, finest: str) -> Values:
    factor = NANOSECONDS[unit] // NANOSECONDS[finest]
    if factor == 1:
        return values
    return combined("*", values, _constant(factor, len(values.data)))


def combined(op: str, first: Values, second: Values) -> Values:
    """`first op second`, of numbers in one unit; `Values.beyond` tells where one does not fit 64 bits."""
    valid, beyond = both_valid(first.valid, second.valid), either_beyond(first.beyond, second.beyond)
    left, right = first.data, second.data
    whole = left.dtype.kind != "f" and right.dtype.kind != "f" and op != "/"
    if op in ("/", "%"):
        nonzero = right != 0
        if not nonzero.all():
            valid = both_valid(valid, nonzero.view(np.uint8))
            right = np.where(nonzero, right, 1)
    if whole and "O" in (left.dtype.kind, right.dtype.kind):
        return Values(_wide(op, left.astype(object), right.astype(object)), valid, beyond)
    if whole and np.uint64 in (left.dtype, right.dtype):
        return _of_unsigned(op, left, right, valid, beyond)
    if whole:
        data = _OPERATIONS[op](_as(np.int64, left), _as(np.int64, right))
        wrapped = _wrapped(op, left, right, data)
        if len(wrapped) and len(valid):
            wrapped &= valid != 0
        return Values(data, valid, either_beyond(beyond, wrapped) if wrapped.any() else beyond)
    with np.errstate(all="ignore"):
        left, right = _as(np.float64, left), _as(np.float64, right)
        return Values(_OPERATIONS[op](left, right), valid, beyond)


def _of_unsigned(
    op: str, left: np.ndarray, right: np.ndarray, valid: np.ndarray, beyond: np.ndarray
) -> Values:
    """Arithmetic beside uint64, which gives int64: reckoned exactly where a number has no int64."""
    first, second = (_as(np.int64, side) for side in (left, right))
    data = np.array(_OPERATIONS[op](first, second))
    wrapped = _wrapped(op, first, second, data)
    far = np.zeros(len(data), bool) if not len(wrapped) else wrapped.copy()
    large = np.zeros(len(data), bool)
    for side in (left, right):
        if side.dtype == np.uint64:
            large |= side > np.uint64(INT64.max)
    rows = np.flatnonzero(large)
    if len(rows):
        exact = _wide(op, left[rows].astype(object), right[rows].astype(object))
        fits = np.array([INT64.min <= one <= INT64.max for one in exact], bool)
        data[rows] = np.where(fits, exact, 0).astype(np.int64)
        far[rows] = ~fits
    if len(valid):
        far &= valid != 0
    return Values(data, valid, either_beyond(beyond, far) if far.any() else beyond)


def _wide(op: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Arithmetic on Python integers; `%` has the sign of the dividend."""
    if op != "%":
        return _OPERATIONS[op](left, right)
    rest = np.abs(left) % np.abs(right)
    return np.where(left < 0, -rest, rest)


_OPERATIONS: dict[str, Any] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.fmod,
}


def _wrapped(op: str, left: np.ndarray, right: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Where `left op right` of integers does not fit 64 bits, shape (n,) or, where all fits, (0,), bool."""
    if len(left) == 0 or op == "%":
        return NONE_BEYOND
    bounds = [combined_number(op, a, b) for a in _ends(left) for b in _ends(right)]
    if all(bound is not None and INT64.min <= bound <= INT64.max for bound in bounds):
        return NONE_BEYOND
    if op == "*":
        return _product_wraps(left, right)
    # A sum has another sign than both of its operands, a difference than its first and not its second.
    left, right = _as(np.int64, left), _as(np.int64, right)
    other = data ^ right if op == "+" else left ^ right
    return ((left ^ data) & other) < 0


def _product_wraps(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    limit = 2.0**63
    size = np.abs(left.astype(np.float64) * right.astype(np.float64))
    wraps = size >= limit
    # Rounding moves a product by a few parts in 2^53: what is near the limit is reckoned exactly.
    for row in np.flatnonzero(np.abs(size - limit) <= limit * 2.0**-50):
        wraps[row] = not INT64.min <= int(left[row]) * int(right[row]) <= INT64.max
    return wraps


def overflow(expression: tree.Expression, read: Reader) -> str | None:
    """The first step of an expression over one event that does not fit 64 bits: "9223372036854775807 + 1"."""
    match expression:
        case tree.Negation(operand):
            op, left, right = "-", tree.Number(0), operand
        case tree.Arithmetic(op, left, right):
            pass
        case tree.Attribute(name) if read(name)[0].beyond.any():
            derived = name.removeprefix("\0")
            return derived if derived != name else f"`{written(name)}` in its last digit"
        case _:
            return None
    inner = overflow(left, read) or overflow(right, read)
    if inner is not None:
        return inner
    first, second, _ = _operands(op, left, right, read, 1)
    if not combined(op, first, second).beyond.any():
        return None
    step = f"{first.data[0]} {op} {second.data[0]}"
    unsigned = np.uint64 in (first.data.dtype, second.data.dtype)
    return f"{step} (arithmetic gives an int64)" if unsigned else step


def relation(op: str, left: tree.Expression, right: tree.Expression, read: Reader, rows: int) -> Values:
    """Where a comparison between two numeric expressions of one event holds, as numbers, exactly.

    A null or a NaN never satisfies it.

    Returns
    -------
    Values
        Of uint8, without nulls.
    """
    sides = evaluate(left, read, rows), evaluate(right, read, rows)
    (first, first_unit), (second, second_unit) = sides
    valid, beyond = both_valid(first.valid, second.valid), either_beyond(first.beyond, second.beyond)
    decimal = digits_of(first_unit or second_unit) is not None
    if decimal and "f" in (first.data.dtype.kind, second.data.dtype.kind):
        near = [as_floats(values, unit).data for values, unit in sides]
        truth = _compare(op, *near)
        # Rounding keeps the order, so that only those that have become equal, or are very large, need more.
        decimals, floats = (first, second) if second_unit is None else (second, first)
        unsure = (near[0] == near[1]) | (np.abs(decimals.data.astype(np.float64)) > 2.0**53)
        unsure &= np.isfinite(floats.data)
    else:
        fine, other, _ = _same_unit("-", first, first_unit, second, second_unit)
        truth, unsure = _nearly(op, fine.data, other.data)
        # A value that the finer unit has no number for is compared all the same.
        far = either_beyond(fine.beyond, other.beyond)
        if len(far):
            far = far & ~beyond if len(beyond) else far
            unsure = either_beyond(unsure, far)
    if len(valid):
        truth &= valid != 0
        unsure = unsure & (valid != 0) if len(unsure) else unsure
    scaled = decimal or None not in (first_unit, second_unit)
    for row in np.flatnonzero(unsure).tolist():
        truth[row] = HOLDS[op](*(_number(values, row, unit if scaled else None) for values, unit in sides))
    return Values(truth.view(np.uint8), NONE_MISSING, beyond)


def _nearly(op: str, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a comparison holds, and where rounding may have made numbers equal, if it may: bool."""
    kinds = {left.dtype.kind, right.dtype.kind}
    if len(kinds) == 1 or "O" in kinds:
        return _compare(op, left, right), NONE_BEYOND
    whole = [side for side in (left, right) if side.dtype.kind != "f"]
    if "f" not in kinds and all(int(side.max(initial=0)) <= INT64.max for side in whole):
        return _compare(op, left.astype(np.int64), right.astype(np.int64)), NONE_BEYOND
    near = left.astype(np.float64), right.astype(np.float64)
    rounds = any(int(side.max(initial=0)) > EXACT or int(side.min(initial=0)) < -EXACT for side in whole)
    return _compare(op, *near), near[0] == near[1] if rounds else NONE_BEYOND


def _compare(op: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    if op == "!=":
        found: np.ndarray = (left != right) & (left == left) & (right == right)
        return found
    with np.errstate(invalid="ignore"):  # a NaN among numbers beyond 64 bits
        return np.asarray(HOLDS[op](left, right))


def _number(values: Values, row: int, unit: str | None) -> int | float | Fraction:
    """A number of a row as it is: of a time in nanoseconds, of a decimal its value."""
    (value,) = values.data[row : row + 1].tolist()
    if unit is None or not isfinite(value):
        return value
    return Fraction(value) * one_in(unit)

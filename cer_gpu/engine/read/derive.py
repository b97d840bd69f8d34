"""Expressions over the columns of a batch: arithmetic becomes a derived column before any kernel runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cer_gpu.engine.read.columns import Values
from cer_gpu.errors import DataError
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.language import tree
from cer_gpu.language.units import NANOSECONDS, nanoseconds
from cer_gpu.plan.constants import fold_arithmetic

INT64 = np.iinfo(np.int64)

Reader = Callable[[str], tuple[Values, str | None]]
"""From an attribute's name to its values and, for a time, their unit."""


def evaluate(expression: tree.Expression, read: Reader, rows: int) -> tuple[Values, str | None]:
    """An expression over a batch of `rows` events.

    Integers stay integers and are checked for overflow; `/` gives floats; dividing by zero gives a null;
    times of different units meet in the finer one.

    Returns
    -------
    Values
        A plain attribute in its own dtype; anything else int64 or float64.
    str or None
        The unit, for a time.
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
            return _combine("-", _constant(0, rows), values), unit
        case tree.Arithmetic(op, left, right):
            first, first_unit = evaluate(left, read, rows)
            second, second_unit = evaluate(right, read, rows)
            first, second, unit = _same_unit(op, first, first_unit, second, second_unit)
            return _combine(op, first, second), unit
    raise TypeError(f"not a numeric expression: {expression!r}")


def _constant(value: int | float | bool, rows: int) -> Values:
    dtype = np.float64 if isinstance(value, float) else np.int64
    return Values(np.full(rows, value, dtype), NONE_MISSING)


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
    if first_unit is None or second_unit is None:
        return first, second, first_unit or second_unit
    finest = min(first_unit, second_unit, key=NANOSECONDS.__getitem__)
    unit = None if op == "/" else finest
    return _in_unit(first, first_unit, finest), _in_unit(second, second_unit, finest), unit


def _in_unit(values: Values, unit: str, finest: str) -> Values:
    factor = NANOSECONDS[unit] // NANOSECONDS[finest]
    if factor == 1:
        return values
    return _combine("*", values, _constant(factor, len(values.data)))


def _both_valid(first: Values, second: Values) -> np.ndarray:
    if not len(first.valid):
        return second.valid
    if not len(second.valid):
        return first.valid
    return first.valid & second.valid


def _combine(op: str, first: Values, second: Values) -> Values:
    valid = _both_valid(first, second)
    left, right = first.data, second.data
    whole = left.dtype.kind != "f" and right.dtype.kind != "f" and op != "/"
    if op in ("/", "%"):
        nonzero = right != 0
        if not nonzero.all():
            valid = nonzero.astype(np.uint8) if not len(valid) else valid & nonzero
            right = np.where(nonzero, right, 1)
    if whole:
        return Values(_whole(op, left, right, valid), valid)
    with np.errstate(all="ignore"):
        left, right = left.astype(np.float64), right.astype(np.float64)
        operation: dict[str, Any] = {
            "+": np.add,
            "-": np.subtract,
            "*": np.multiply,
            "/": np.divide,
            "%": np.fmod,
        }
        return Values(operation[op](left, right), valid)


def _whole(op: str, left: np.ndarray, right: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Arithmetic of integers: exact, or an error that names the row."""
    operation: dict[str, Any] = {"+": np.add, "-": np.subtract, "*": np.multiply, "%": np.fmod}
    if len(left) == 0:
        return np.empty(0, np.int64)
    bounds = [
        fold_arithmetic(op if op != "%" else "+", int(a), int(b))
        for a in (left.min(), left.max())
        for b in (right.min(), right.max())
    ]
    widest = [int(left.min()), int(left.max()), int(right.min()), int(right.max()), *map(int, bounds)]  # type: ignore[arg-type]
    if INT64.min <= min(widest) and max(widest) <= INT64.max:
        return operation[op](left.astype(np.int64), right.astype(np.int64))
    exact = [
        fold_arithmetic(op, int(a), int(b)) if not len(valid) or valid[row] else 0
        for row, (a, b) in enumerate(zip(left, right, strict=True))
    ]
    for row, value in enumerate(exact):
        if value is not None and not INT64.min <= value <= INT64.max:
            raise DataError(
                f"integer overflow: {left[row]} {op} {right[row]} does not fit 64 bits "
                f"(row {row} of the batch); cast one of the columns to float64"
            )
    return np.array(exact, np.int64)


def holds(op: str, first: Values, second: Values) -> np.ndarray:
    """Where a comparison of two columns holds, shape (n,), bool; never at a null or a NaN.

    An integer is compared with a float exactly, as numbers.
    """
    left, right = first.data, second.data
    mixed = (left.dtype.kind == "f") != (right.dtype.kind == "f")
    if mixed and _beyond_float(left if left.dtype.kind != "f" else right):
        result = _compare_exactly(op, left, right)
    elif {left.dtype.kind, right.dtype.kind} == {"i", "u"} or mixed:
        common = np.float64 if mixed else np.int64
        if not mixed and max(int(left.max(initial=0)), int(right.max(initial=0))) > INT64.max:
            result = _compare_exactly(op, left, right)
        else:
            result = _compare(op, left.astype(common), right.astype(common))
    else:
        result = _compare(op, left, right)
    valid = _both_valid(first, second)
    return result & (valid != 0) if len(valid) else result


def _beyond_float(whole: np.ndarray) -> bool:
    limit = 1 << 53
    return len(whole) > 0 and (int(whole.max()) > limit or int(whole.min()) < -limit)


def _compare(op: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    operation: dict[str, Any] = {
        "=": np.equal,
        "<": np.less,
        "<=": np.less_equal,
        ">": np.greater,
        ">=": np.greater_equal,
    }
    if op == "!=":
        return (left != right) & (left == left) & (right == right)
    return operation[op](left, right)


def _compare_exactly(op: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    # Python compares an int with a float as numbers, without rounding either.
    return _compare(op, np.array(left.tolist(), object), np.array(right.tolist(), object)).astype(bool)


def relation(op: str, left: tree.Expression, right: tree.Expression, read: Reader, rows: int) -> np.ndarray:
    """Where a comparison between two numeric expressions of one event holds, shape (rows,), bool."""
    first, first_unit = evaluate(left, read, rows)
    second, second_unit = evaluate(right, read, rows)
    first, second, _ = _same_unit("-", first, first_unit, second, second_unit)
    return holds(op, first, second)

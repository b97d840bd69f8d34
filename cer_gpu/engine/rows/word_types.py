"""Types of the words that a search computes with, and arithmetic that brings them to one type."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.value_types import finer, steps_of
from cer_gpu.kernels.row_patterns import code as c

SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
"""Units of time in seconds."""

PARTS = {"millisecond": 10**3, "microsecond": 10**6, "nanosecond": 10**9}
"""Units of time in parts of a second."""

DIGITS = 38
"""Digits of a decimal, at most."""

WHOLE = 1 << 63
"""Whole numbers from here on do not fit a word."""


class TooFineError(Exception):
    """Words, of 64 bits, cannot hold a value: its unit is too small."""


class Cell(NamedTuple):
    """The value of an instruction.

    Attributes
    ----------
    number : int
        The cell that it writes.
    kind : pyarrow.DataType
        As `search_registers.word_type` gives it.
    """

    number: int
    kind: pa.DataType


class _ComparisonCodes(NamedTuple):
    # Instructions that compare two words: alike, as floats, and of which the first or the second is coarser.
    alike: int
    reals: int
    scaled: int
    turned: int


_EQUAL = _ComparisonCodes(c.EQUAL, c.EQUAL_REALS, c.EQUAL_SCALED, c.EQUAL_SCALED)
_LESS = _ComparisonCodes(c.LESS, c.LESS_REALS, c.LESS_SCALED, c.MORE_SCALED)


def _decimal(scale: int) -> pa.DataType:
    if scale > DIGITS:
        raise TooFineError(f"a decimal with {scale} digits after the point")
    return pa.decimal128(DIGITS, scale)


def common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type in which values of two types are compared; None where they are not.

    Raises
    ------
    TooFineError
        When it has too many digits.
    """
    types = pa.types
    if one == other or types.is_null(other):
        return one
    if types.is_null(one):
        return other
    numbers = [kind for kind in (one, other) if _is_number(kind)]
    if len(numbers) == 2:
        if any(map(types.is_floating, numbers)):
            return pa.float64()
        return _decimal(max(kind.scale for kind in numbers if types.is_decimal(kind)))
    if types.is_date32(one) and types.is_timestamp(other):
        return other
    if types.is_timestamp(one):
        if types.is_date32(other):
            return one
        if types.is_timestamp(other):
            return pa.timestamp(finer(one.unit, other.unit), one.tz or other.tz)
    if types.is_duration(one) and types.is_duration(other):
        return pa.duration(finer(one.unit, other.unit))
    if types.is_time(one) and types.is_time(other):
        unit = finer(one.unit, other.unit)
        return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    return None


def typed_constant(value: Any, kind: pa.DataType | None) -> pa.Scalar | None:
    """A value of the text; as one of a type, if there is one that it is compared with. None: it is none."""
    if value is None:
        return pa.scalar(None, pa.null())
    try:
        if isinstance(value, str):
            if kind is not None and pa.types.is_temporal(kind):
                return pa.scalar(value).cast(kind)
            return pa.scalar(value)
        if isinstance(value, Decimal) and (kind is None or not pa.types.is_floating(kind)):
            return pa.scalar(value)
        if isinstance(value, Decimal):
            return pa.scalar(float(value))
        if isinstance(value, datetime):
            return pa.scalar(value, pa.timestamp("us", None if value.tzinfo is None else "UTC"))
        if isinstance(value, (date, timedelta)):
            return pa.scalar(value)
        if isinstance(value, int) and not isinstance(value, bool) and not -WHOLE <= value < WHOLE:
            return None
        return pa.scalar(value)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def constant_word(scalar: pa.Scalar) -> int | str:
    """The word of a constant; a text stands for its rank.

    Raises
    ------
    TooFineError
        When a decimal has too many digits.
    """
    kind = scalar.type
    if pa.types.is_string(kind):
        return str(scalar.as_py())
    if pa.types.is_floating(kind):
        return int(np.float64(scalar.as_py() + 0.0).view(np.int64))
    if pa.types.is_decimal(kind):
        return _decimal_word(scalar.as_py(), kind)
    if pa.types.is_temporal(kind):
        return int(scalar.value)
    return int(scalar.as_py())


def _decimal_word(value: Decimal, kind: pa.DataType) -> int:
    _, digits, exponent = value.as_tuple()
    word = int("".join(map(str, digits))) * 10 ** (exponent + kind.scale) * (-1 if value < 0 else 1)
    if not -WHOLE <= word < WHOLE:
        raise TooFineError(f"the number {value}")
    return word


def _factor(own: pa.DataType, kind: pa.DataType) -> int:
    """By what words of a type are multiplied to be words of a finer one, which is no float."""
    types = pa.types
    factor = 1
    if own == kind or types.is_null(own):
        return 1
    if types.is_decimal(kind):
        factor = 10 ** (kind.scale - (own.scale if types.is_decimal(own) else 0))
    elif types.is_date32(own):
        factor = SECONDS["day"] * steps_of(kind)
    else:
        factor = steps_of(kind) // steps_of(own)
    if factor >= WHOLE:
        raise TooFineError(f"a value of the type {own} as one of {kind}")
    return factor


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


class WordArithmetic:
    """Writes arithmetic of words, whose types are made alike first.

    Parameters
    ----------
    emit : callable
        Writes an instruction (operation, cell, cell) and gives its cell.
    word : callable
        Gives a cell with a constant.
    constant : callable
        Gives the number of a constant.
    """

    def __init__(
        self, emit: Callable[..., int], word: Callable[[int], int], constant: Callable[[int], int]
    ) -> None:
        self._emit = emit
        self._word = word
        self._constant = constant

    def as_type(self, cell: Cell, kind: pa.DataType) -> int:
        """The cell with a value as one of a wider type, from `common_type`.

        Raises
        ------
        TooFineError
            When its unit is too small for words.
        """
        types = pa.types
        own = cell.kind
        if own == kind or types.is_null(own):
            return cell.number
        if types.is_floating(kind):
            real = self._emit(c.TO_REAL, cell.number)
            if types.is_decimal(own) and own.scale:
                real = self._emit(c.DIVIDE_REALS, real, self._real(10.0**own.scale))
            return real
        return self._times(cell.number, _factor(own, kind))

    def equal(self, one: Cell, other: Cell) -> int:
        """Whether two values are equal whose types have a common one."""
        return self._compared(_EQUAL, one, other)

    def less(self, one: Cell, other: Cell) -> int:
        """Whether a value is less than another one, whose types have a common one."""
        return self._compared(_LESS, one, other)

    def _compared(self, by: _ComparisonCodes, one: Cell, other: Cell) -> int:
        kind = common_type(one.kind, other.kind)
        if pa.types.is_floating(kind):
            return self._emit(by.reals, self.as_type(one, kind), self.as_type(other, kind))
        if _factor(one.kind, kind) != 1:
            return self._scaled(by.scaled, one, kind, other)
        if _factor(other.kind, kind) != 1:
            return self._scaled(by.turned, other, kind, one)
        return self._emit(by.alike, one.number, other.number)

    def _scaled(self, operation: int, coarse: Cell, kind: pa.DataType, fine: Cell) -> int:
        """A comparison of a value as one of a finer type with one of that type. No number leaves 64 bits."""
        return self._emit(operation, coarse.number, fine.number, self._constant(_factor(coarse.kind, kind)))

    def arithmetic(self, name: str, one: Cell, other: Cell) -> Cell | None:
        """Two values by `+ - * / // %` or the days between two dates; None where there is no such thing."""
        if _is_number(one.kind) and _is_number(other.kind):
            return self._numbers(name, one, other)
        if pa.types.is_null(one.kind) or pa.types.is_null(other.kind):
            kind = one.kind if pa.types.is_null(other.kind) else other.kind
            return Cell(self._emit(c.NULL), kind)
        if name == "days":
            return Cell(self._emit(c.SUBTRACT, one.number, other.number), pa.int64())
        return self._times_of(name, one, other)

    def negative(self, cell: Cell) -> int:
        """Minus a value."""
        return self._emit(c.NEGATE_REAL if pa.types.is_floating(cell.kind) else c.NEGATE, cell.number)

    def whole_units(self, later: Cell, earlier: Cell, unit: str) -> int | None:
        """How many whole units of time lie between two times of one type; None for months and years."""
        if unit not in SECONDS and unit not in PARTS:
            return None
        cells = [later, earlier]
        if pa.types.is_date32(later.kind):
            fine = pa.timestamp("ns" if unit == "nanosecond" else "us")
            cells = [Cell(self.as_type(each, fine), fine) for each in cells]
        between = self._emit(c.SUBTRACT, cells[0].number, cells[1].number)
        own = steps_of(cells[0].kind)
        if unit in SECONDS:
            return self._emit(c.DIVIDE, between, self._word(SECONDS[unit] * own))
        if PARTS[unit] > own:
            return self._times(between, PARTS[unit] // own)
        return self._emit(c.DIVIDE, between, self._word(own // PARTS[unit]))

    def quotient(self, total: Cell, count: int) -> Cell:
        """A sum by a number of values."""
        if pa.types.is_duration(total.kind):
            return Cell(self._emit(c.DIVIDE, total.number, count), total.kind)
        real = self.as_type(total, pa.float64())
        return Cell(self._emit(c.DIVIDE_REALS, real, self._emit(c.TO_REAL, count)), pa.float64())

    def _numbers(self, name: str, one: Cell, other: Cell) -> Cell:
        kind = common_type(one.kind, other.kind)
        if pa.types.is_integer(kind) and name == "/":
            kind = pa.float64()
        if pa.types.is_decimal(kind):
            if name == "*":
                scale = sum(cell.kind.scale for cell in (one, other) if pa.types.is_decimal(cell.kind))
                return Cell(self._emit(c.MULTIPLY, one.number, other.number), _decimal(scale))
            if name in ("/", "//"):
                kind = pa.float64()
        operations = {
            "+": (c.ADD, c.ADD_REALS),
            "-": (c.SUBTRACT, c.SUBTRACT_REALS),
            "*": (c.MULTIPLY, c.MULTIPLY_REALS),
            "/": (c.DIVIDE, c.DIVIDE_REALS),
            "//": (c.DIVIDE, c.DIVIDE_REALS),
            "%": (c.REMAINDER, c.REMAINDER_REALS),
        }[name]
        operation = operations[1 if pa.types.is_floating(kind) else 0]
        made = self._emit(operation, self.as_type(one, kind), self.as_type(other, kind))
        if operation == c.DIVIDE_REALS and not any(pa.types.is_floating(cell.kind) for cell in (one, other)):
            made = self._null_by_zero(made, other)
        return Cell(made, kind)

    def _times_of(self, name: str, one: Cell, other: Cell) -> Cell | None:
        spans = [pa.types.is_duration(cell.kind) for cell in (one, other)]
        if name in ("*", "/", "//") and spans[0] and pa.types.is_integer(other.kind):
            operation = c.MULTIPLY if name == "*" else c.DIVIDE
            return Cell(self._emit(operation, one.number, other.number), one.kind)
        if name == "*" and spans[1] and pa.types.is_integer(one.kind):
            return Cell(self._emit(c.MULTIPLY, one.number, other.number), other.kind)
        if name == "/" and all(spans):
            kind = common_type(one.kind, other.kind)
            reals = [self._emit(c.TO_REAL, self.as_type(cell, kind)) for cell in (one, other)]
            return Cell(self._null_by_zero(self._emit(c.DIVIDE_REALS, *reals), other), pa.float64())
        if name not in ("+", "-"):
            return None
        operation = c.ADD if name == "+" else c.SUBTRACT
        if all(spans):
            kind = common_type(one.kind, other.kind)
            return Cell(self._emit(operation, self.as_type(one, kind), self.as_type(other, kind)), kind)
        if any(spans):
            if name == "-" and spans[1] is False:
                return None
            time, span = (other, one) if spans[0] else (one, other)
            unit = "s" if pa.types.is_date32(time.kind) else time.kind.unit
            unit = finer(unit, span.kind.unit)
            whole = pa.timestamp(unit, getattr(time.kind, "tz", None))
            moved = self._emit(operation, self.as_type(time, whole), self.as_type(span, pa.duration(unit)))
            return Cell(moved, whole)
        if name == "-":
            kind = common_type(one.kind, other.kind)
            if kind is None:
                return None
            if pa.types.is_date32(kind):
                kind = pa.timestamp("s")
            return Cell(
                self._emit(c.SUBTRACT, self.as_type(one, kind), self.as_type(other, kind)),
                pa.duration(kind.unit),
            )
        return None

    def _null_by_zero(self, quotient: int, divisor: Cell) -> int:
        zero = self._emit(c.EQUAL, divisor.number, self._word(0))
        return self._emit(c.CHOOSE, zero, self._emit(c.NULL), quotient)

    def _times(self, cell: int, factor: int) -> int:
        return cell if factor == 1 else self._emit(c.MULTIPLY, cell, self._word(factor))

    def _real(self, value: float) -> int:
        return self._word(int(np.float64(value).view(np.int64)))

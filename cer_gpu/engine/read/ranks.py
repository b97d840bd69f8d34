"""Values that are compared as ranks: int64 numbers in the order of the values.

Both sides of a comparison are ranked together, so a kernel compares whole numbers, whatever the values are:
integers with floats exactly, times of different units, decimals, texts by code point.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.derive import Reader, evaluate, overflow
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.engine.read.sources.decimals import unscaled
from cer_gpu.errors import DataError, FarDecimalError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.units import NANOSECONDS, one_in
from cer_gpu.late import compute as pc

NO_RANK = -1
"""The rank of a null and of a NaN, which compare to nothing."""

FLOAT_INTEGERS = 1 << 53
"""Up to here every integer is exactly a float64."""


MOST = np.iinfo(np.int64).max


class SideRanks(NamedTuple):
    """The ranks of both sides of a comparison, shape (n,) and (m,), int64."""

    left: np.ndarray
    right: np.ndarray


def ranks(
    left: tree.Expression,
    right: tree.Expression,
    sides: tuple[pa.Table, pa.Table],
    units: Mapping[str, str],
) -> SideRanks:
    """The ranks of two expressions, each over the rows of a table of its own.

    Parameters
    ----------
    left, right : Expression
    sides : tuple of two pyarrow.Table
        The columns that each side reads.
    units : mapping of str to str
        Of columns of times and decimals.

    Raises
    ------
    DataError
        If a value does not fit 64 bits.
    """
    if isinstance(left, tree.Attribute) and columns.is_text(sides[0].schema.field(left.name).type):
        assert isinstance(right, tree.Attribute)
        return _of_texts(sides[0].column(left.name), sides[1].column(right.name))
    found = [_values(side, table, units) for side, table in zip((left, right), sides, strict=True)]
    numbers = _alike(*found)
    present = [values.present & (one == one).astype(bool) for (values, _), one in zip(found, numbers)]
    return _ranked([one[there] for one, there in zip(numbers, present)], present)


class OrderedNumbers(NamedTuple):
    """Values as whole numbers in their order, which do not depend on what they are compared with.

    Attributes
    ----------
    numbers : ndarray of int64, shape (n,)
    present : ndarray of bool, shape (n,)
    kind : tuple of (str, str or None)
        The kind of the values and their unit: numbers of one kind compare as the values do.
    """

    numbers: np.ndarray
    present: np.ndarray
    kind: tuple[str, str | None]


def ordered_numbers(
    side: tree.Expression, table: pa.Table, units: Mapping[str, str]
) -> OrderedNumbers | None:
    """The values of an expression as whole numbers; None where only ranks compare them, as of texts.

    Parameters
    ----------
    side : Expression
    table : pyarrow.Table
        The columns that it reads.
    units : mapping of str to str
        Of columns of times and decimals.
    """
    if isinstance(side, tree.Attribute) and columns.is_text(table.schema.field(side.name).type):
        return None
    values, unit = evaluate(side, read_columns(table, units), len(table))
    if len(values.beyond) and (values.beyond & values.present).any():
        return None
    present = values.present.astype(bool) & (values.data == values.data)
    if values.data.dtype == np.float64:
        bits = (values.data + 0.0).view(np.int64)
        return OrderedNumbers(np.where(bits < 0, bits ^ MOST, bits), present, ("float", unit))
    if values.data.dtype != np.int64:
        return None
    if values.data.max(initial=0) >= MOST - 1 or values.data.min(initial=0) <= 1 - MOST:
        return None
    return OrderedNumbers(values.data, present, ("int", unit))


def read_columns(table: pa.Table | pa.RecordBatch, units: Mapping[str, str]) -> Reader:
    """Reads the columns of a table for `cer_gpu.engine.read.derive`."""

    def read(name: str) -> tuple[Values, str | None]:
        return columns.numbers(table.column(name), name), units.get(name)

    return read


def read_wide(table: pa.Table | pa.RecordBatch, units: Mapping[str, str]) -> Reader:
    """As `read_columns`, with decimals as Python integers where they do not fit 64 bits."""
    plain = read_columns(table, units)

    def read(name: str) -> tuple[Values, str | None]:
        column = table.column(name)
        if not pa.types.is_decimal(column.type):
            return plain(name)
        array = columns.single(column)
        return Values(unscaled(array), columns.validity(array)), units.get(name)

    return read


def _values(side: tree.Expression, table: pa.Table, units: Mapping[str, str]) -> tuple[Values, str | None]:
    read = read_columns(table, units)
    values, unit = evaluate(side, read, len(table))
    if len(values.beyond) and (values.beyond & values.present).any():
        values, unit = evaluate(side, read_wide(table, units), len(table))
    if len(values.beyond) and (values.beyond & values.present).any():
        row = int(np.argmax(values.beyond & values.present))
        raise beyond(side, table.slice(row, 1), units)
    return values, unit


def beyond(where: tree.Expression | tree.Comparison, row: pa.Table, units: Mapping[str, str]) -> DataError:
    """The error for a row in which a value of an expression or a comparison does not fit 64 bits."""
    sides = (where.left, where.right) if isinstance(where, tree.Comparison) else (where,)
    read = read_columns(row, units)
    step = next((found for side in sides if (found := overflow(side, read)) is not None), to_text(where))
    decimal = any(pa.types.is_decimal(kind) or pa.types.is_uint64(kind) for kind in row.schema.types)
    kind = FarDecimalError if decimal else DataError
    return kind(f"integer overflow: {step} does not fit 64 bits; cast one of the columns to float64")


def _alike(*found: tuple[Values, str | None]) -> list[np.ndarray]:
    """The values of both sides as numbers that compare with each other; of objects where only those do."""
    (left, unit), (right, other) = found
    numbers = [left.data, right.data]
    sizes = [NANOSECONDS.get(unit or ""), NANOSECONDS.get(other or "")]
    if unit != other and sizes[0] is not None and sizes[1] is not None:
        finest = min(sizes[0], sizes[1])
        for number, size in enumerate((sizes[0], sizes[1])):
            factor = size // finest
            if factor > 1:
                numbers[number] = _times(numbers[number], factor)
    elif unit != other:
        numbers = [np.empty(0, object)]
    if any(one.dtype == object for one in numbers) or not _comparable(*numbers):
        return [_exact(values, own) for values, own in found]
    return numbers


def _times(values: np.ndarray, factor: int) -> np.ndarray:
    """Whole numbers times a factor; an empty array of objects where that does not fit 64 bits."""
    most = np.iinfo(np.int64).max // factor
    if values.dtype.kind != "i" or (len(values) and max(int(values.max()), -int(values.min())) > most):
        return np.empty(0, object)
    return values.astype(np.int64) * factor


def _comparable(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether NumPy compares the numbers of two arrays without rounding."""
    kinds = {left.dtype.kind, right.dtype.kind}
    if "f" in kinds and len(kinds) > 1:
        whole = left if left.dtype.kind != "f" else right
        return not len(whole) or max(int(whole.max()), -int(whole.min())) <= FLOAT_INTEGERS
    return kinds != {"i", "u"} or all(
        one.dtype.kind == "i" or not len(one) or int(one.max()) < 1 << 63 for one in (left, right)
    )


def _exact(values: Values, unit: str | None) -> np.ndarray:
    """Values as exact numbers of Python; what is not there is 0."""
    scale: Any = 1 if unit is None else one_in(unit)
    there = values.present.tolist()
    found = np.zeros(len(values.data), object)
    for row, value in enumerate(values.data.tolist()):
        if there[row]:
            if isinstance(value, float) and (value != value or value in (np.inf, -np.inf)):
                found[row] = value
            else:
                found[row] = Fraction(value) * scale
    return found


def _ranked(there: list[np.ndarray], present: list[np.ndarray]) -> SideRanks:
    distinct = np.unique(np.concatenate(there))
    out = []
    for values, mask in zip(there, present, strict=True):
        found = np.full(len(mask), NO_RANK, np.int64)
        found[mask] = np.searchsorted(distinct, values)
        out.append(found)
    return SideRanks(*out)


def _of_texts(left: pa.ChunkedArray, right: pa.ChunkedArray) -> SideRanks:
    """The ranks of texts: Arrow orders UTF-8 by its bytes, which is the order of code points."""
    plain = [columns.single(_decoded(one)).cast(pa.large_string()) for one in (left, right)]
    distinct = pc.unique(pa.chunked_array(plain))
    distinct = distinct.filter(distinct.is_valid())
    order = pc.sort_indices(distinct)
    rank_of = np.empty(len(distinct), np.int64)
    rank_of[order.to_numpy()] = np.arange(len(distinct))
    out = []
    for one in plain:
        index = pc.index_in(one, distinct)
        valid = index.is_valid().to_numpy(zero_copy_only=False)
        number = index.fill_null(0).to_numpy()
        out.append(np.where(valid, rank_of[number] if len(rank_of) else NO_RANK, NO_RANK))
    return SideRanks(*out)


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column

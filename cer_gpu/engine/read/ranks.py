"""Values that are compared as ranks: int64 numbers in the order of the values.

Both sides of a comparison are ranked together, so a kernel compares whole numbers, whatever the values are:
integers with floats exactly, times of different units, decimals, texts by code point.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.derive import evaluate, overflow, read_columns, read_wide
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.arrow_types import decoded
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.engine.words import (
    common_domain,
    domain_of,
    in_domain,
    ranks_of,
    text_ranks,
    texts_of_numbers,
)
from cer_gpu.errors import DataError, FarDecimalError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.units import digits_of

NO_RANK = -1
"""The rank of a null and of a NaN, which compare to nothing."""


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
        texts = [sides[0].column(left.name), sides[1].column(right.name)]
        return SideRanks(*_of_texts([decoded(columns.single(one)) for one in texts]))
    found = [_values(side, table, units) for side, table in zip((left, right), sides, strict=True)]
    present = [values.present & (values.data == values.data).astype(bool) for values, _ in found]
    numbers = _of_numbers([values for values, _ in found], [unit for _, unit in found], present)
    ranked = [np.full(len(there), NO_RANK, np.int64) for there in present]
    for one, there, own in zip(ranked, present, numbers, strict=True):
        one[there] = own
    return SideRanks(*ranked)


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


def _of_numbers(sides: list[Values], units: list[str | None], present: list[np.ndarray]) -> list[np.ndarray]:
    """The ranks of the numbers that are there, of both sides."""
    data = [values.data[there] for values, there in zip(sides, present, strict=True)]
    if any(one.dtype == object for one in data):
        digits = [digits_of(unit) or 0 for unit in units]
        texts = [
            texts_of_numbers(one, 10 ** (max(digits) - own)) for one, own in zip(data, digits, strict=True)
        ]
        return _of_texts([text.cast(pa.large_binary()) for text in texts])
    own = [domain_of(one, unit) for one, unit in zip(data, units, strict=True)]
    domain = common_domain(*own)
    left, right = (
        in_domain(one, its, domain, np.ones(len(one), bool)) for one, its in zip(data, own, strict=True)
    )
    return [*ranks_of(left, right)]


def _of_texts(sides: list[pa.Array]) -> list[np.ndarray]:
    """The ranks of texts, of both sides."""
    both = pa.concat_arrays(sides).dictionary_encode()
    ranks = np.append(text_ranks(both.dictionary), NO_RANK)
    found = ranks[both.indices.fill_null(len(both.dictionary)).to_numpy()]
    return [found[: len(sides[0])], found[len(sides[0]) :]]

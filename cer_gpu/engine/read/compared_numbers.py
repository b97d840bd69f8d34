"""Values of events that are compared as numbers of 64 bits: `numbers_of`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.derive import evaluate
from cer_gpu.engine.read.ranks import beyond, read_columns
from cer_gpu.engine.read.sources.columns import single
from cer_gpu.language import tree
from cer_gpu.language.units import decimal_unit

UNITS = ("s", "ms", "us", "ns")


def numbers_of(
    expressions: Sequence[tree.Expression | None], reals: Sequence[bool], rows: pa.Table
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of expressions over events, column by column.

    Parameters
    ----------
    expressions : sequence of (Expression or None)
        None: its values come from elsewhere.
    reals : sequence of bool
        For each, whether it is a float; otherwise it is a whole number, a time in its unit.
    rows : pyarrow.Table
        A row for each of n events.

    Returns
    -------
    values : ndarray, shape (columns, n), int64
        Whole numbers, or the bits of floats.
    reals : ndarray, shape (columns, n), float64
        The same memory.
    known : ndarray, shape (columns, n), uint8
        0 at a null and at a NaN.

    Raises
    ------
    DataError
        If a value does not fit 64 bits.
    """
    units = {field.name: unit for field in rows.schema if (unit := _unit(field.type)) is not None}
    rows = pa.table([single(column) for column in rows.columns], rows.schema.names)
    read = read_columns(rows, units)
    values = np.zeros((len(expressions), len(rows)), np.int64)
    floats = values.view(np.float64)
    known = np.ones((len(expressions), len(rows)), np.uint8)
    for number, (expression, real) in enumerate(zip(expressions, reals, strict=True)):
        if expression is None:
            continue
        found, _ = evaluate(expression, read, len(rows))
        if len(found.valid):
            known[number] = found.valid != 0
        far = found.beyond & found.present if len(found.beyond) else np.zeros(0, bool)
        if found.data.dtype == np.uint64:
            far = (found.data > np.uint64(np.iinfo(np.int64).max)) & found.present
        if far.any():
            raise beyond(expression, rows.slice(int(np.argmax(far)), 1), units)
        if real:
            floats[number] = found.data.astype(np.float64) + 0.0  # -0.0 is the same as 0.0
            known[number] &= floats[number] == floats[number]
        else:
            values[number] = found.data.astype(np.int64)
    return values, floats, known


def _unit(kind: pa.DataType) -> str | None:
    """The unit of a column of times or of decimals."""
    if pa.types.is_decimal(kind):
        return decimal_unit(kind.scale)
    return kind.unit if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) else None

"""NaN in columns of floats, read as missing values: `NanRows`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.rows import Rows
from cer_gpu.lazy_modules import compute as pc


class NanRows(Rows):
    """Rows whose NaN are nulls.

    Parameters
    ----------
    rows : Rows
    """

    def __init__(self, rows: Rows) -> None:
        self._inner = rows
        self.schema = rows.schema
        self._made_of(rows)
        self.ordered, self.stamp, self.is_text = rows.ordered, rows.stamp, rows.is_text
        self.names_in = rows.names_in  # type: ignore[method-assign]

    @staticmethod
    def of(rows: Rows) -> Rows:
        """The rows with nulls in place of NaN; the same rows if they have no floats."""
        return NanRows(rows) if any(map(pa.types.is_floating, rows.schema.types)) else rows

    def parts(self) -> list[Rows]:
        """See `Rows.parts`."""
        return [NanRows(part) for part in self._inner.parts()]

    def behind(self, files: int) -> Rows:
        """See `Rows.behind`."""
        return NanRows(self._inner.behind(files))

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """See `Rows.read`."""
        for batch in self._inner.read(wanted, rows):
            columns = [without_nan(column) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, batch.schema.names)

    def place(self, row: int) -> str:
        """See `Rows.place`."""
        return self._inner.place(row)

    def place_given(self, row: int) -> str:
        """See `Rows.place_given`."""
        return self._inner.place_given(row)


def without_nan(column: pa.Array) -> pa.Array:
    """A column with nulls in place of NaN."""
    if not has_nan(column):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def has_nan(column: pa.Array) -> bool:
    """Whether a column has a NaN."""
    if not pa.types.is_floating(column.type):
        return False
    if column.null_count:
        return bool(pc.any(pc.is_nan(column)).as_py())
    # A sum is NaN where a number is; an infinite one may be, too.
    values = column.to_numpy(zero_copy_only=False)
    return bool(np.isnan(values.sum())) and bool(np.isnan(values).any())


def kept_nan(table: pa.Table, columns: Sequence[object]) -> pa.Table:
    """A table of a pandas DataFrame, in which the NaN of NumPy's floats are numbers and not nulls.

    Parameters
    ----------
    table : pyarrow.Table
    columns : sequence of pandas.Series
        The first columns of the table.
    """
    for place, column in enumerate(columns):
        kind = getattr(column, "dtype", None)
        if isinstance(kind, np.dtype) and kind.kind == "f":
            field = table.schema.field(place)
            values = column.to_numpy()  # type: ignore[attr-defined]
            table = table.set_column(place, field, pa.array(values, field.type, from_pandas=False))
    return table

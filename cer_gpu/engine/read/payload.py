"""The columns of the data that results are made of, kept for relevant events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import LARGE_DICTIONARY, convert, roomy
from cer_gpu.engine.read.sources.columns import copied, rows_of, same_memory, storage_of

FEW = 64
"""Up to this many rows are copied one column after another."""


class RowValues(NamedTuple):
    """The payload of a single event, as numbers.

    Attributes
    ----------
    schema : pyarrow.Schema
        Of columns of numbers and times.
    values : tuple of int or float
        A time as a number of its unit.
    """

    schema: pa.Schema
    values: tuple[int | float, ...]


def numbers_only(kinds: Iterable[pa.DataType]) -> bool:
    """Whether columns of some types can be kept as `RowValues`."""
    return all(storage_of(kind) is not None for kind in kinds)


def table_of(schema: pa.Schema, rows: Sequence[tuple[int | float, ...]]) -> pa.Table:
    """The rows of several `RowValues` as a table."""
    arrays = []
    for field, values in zip(schema, zip(*rows, strict=True), strict=True):
        data = np.array(values, storage_of(field.type))
        arrays.append(pa.Array.from_buffers(field.type, len(rows), [None, pa.py_buffer(data)]))
    return pa.Table.from_arrays(arrays, schema=schema)


class Payload:
    """Takes some columns of the relevant events of batches, in types that have room for all batches together.

    Parameters
    ----------
    names : sequence of str
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        # Slices of a table share a dictionary: what becomes of it is made once.
        self._dictionaries: dict[str, tuple[pa.Array, pa.Array]] = {}

    def of(self, batch: pa.RecordBatch, rows: np.ndarray) -> pa.Table:
        """The columns of some rows of a batch.

        Parameters
        ----------
        batch : RecordBatch
        rows : ndarray, shape (n,), int64
        """
        if len(rows) == len(batch) <= FEW:
            # All of a few rows: to ask Arrow for them takes longer than the rest of a push to a stream.
            copies = [copied(batch.column(name)) for name in self._names]
            if all(copy is not None for copy in copies):
                return pa.Table.from_arrays(copies, self._names)
        taken = [batch.column(name) for name in self._names]
        if len(rows) < len(batch):
            taken = [rows_of(column, rows) for column in taken]
        return pa.table(list(map(self._roomy, self._names, taken)), self._names)

    def _roomy(self, name: str, column: pa.Array) -> pa.Array:
        kind = roomy(column.type)
        if kind != LARGE_DICTIONARY or column.type == kind:
            return convert(column, kind, f"column `{name}`")
        known = self._dictionaries.get(name)
        if known is None or not same_memory(known[0], column.dictionary):
            known = column.dictionary, column.dictionary.cast(pa.large_string())
            self._dictionaries[name] = known
        indices = column.indices if column.type.index_type == pa.int32() else column.indices.cast(pa.int32())
        return pa.DictionaryArray.from_arrays(indices, known[1])

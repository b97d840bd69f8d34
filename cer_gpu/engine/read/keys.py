"""The parts of a partition's key: every value that a part takes becomes a small number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cer_gpu.engine.read import columns
from cer_gpu.engine.read.columns import is_text, single
from cer_gpu.errors import DataError
from cer_gpu.kernels.lanes import cpu as kernels

NAN = math.nan
"""All NaN are one key: this one, which a dictionary finds by its identity."""

DENSE_RANGE = 1 << 22
"""Whole numbers that lie so close together are looked up in a table."""

_TEMPORAL = (pa.types.is_timestamp, pa.types.is_duration, pa.types.is_date, pa.types.is_time)


class PartEncoder:
    """Numbers the values of one part of the key in the order in which they are first seen.

    Parameters
    ----------
    names : tuple of str
        The alternatives: the first that is not null is the value.
    schema : pyarrow.Schema
        Of the data.

    Attributes
    ----------
    kind : pyarrow.DataType
        The type of the values.
    values : list
        The value of each number; times as integers in their unit.

    Raises
    ------
    DataError
        When the alternatives have different types.
    """

    def __init__(self, names: tuple[str, ...], schema: pa.Schema) -> None:
        self.names = names
        self.kind = _key_type([schema.field(name).type for name in names], names)
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._dense = pa.types.is_integer(self.kind)
        self._least = 0
        self._table = np.empty(0, np.int32)

    def encode(self, batch: pa.RecordBatch, rows: np.ndarray) -> np.ndarray:
        """The numbers of the values of some rows, -1 where there is none: shape (m,), int32."""
        return self._encode(batch, rows, self.names)

    def encode_one(self, batch: pa.RecordBatch, rows: np.ndarray, name: str) -> np.ndarray:
        """The numbers of the values of one of the columns, -1 also for a NaN: NaN equals nothing.

        Values of several columns that are equal have the same number.
        """
        codes = self._encode(batch, rows, (name,))
        nan = self._numbers.get(NAN)
        if nan is not None:
            codes = np.where(codes == nan, np.int32(-1), codes)
        return codes

    def keep(self, used: np.ndarray) -> None:
        """Forget all values but some, which are numbered from 0 on.

        Parameters
        ----------
        used : ndarray, shape (k,), int
            The numbers of the values to keep.
        """
        self.values = [self.values[number] for number in used.tolist()]
        self._table = np.empty(0, np.int32)
        self._numbers = {}
        if not self._dense:
            self._numbers = {value: number for number, value in enumerate(self.values)}
        elif self.values:
            self._least = min(self.values)
            self._table = np.full(max(self.values) - self._least + 1, -1, np.int32)
            self._table[np.array(self.values) - self._least] = np.arange(len(self.values))

    def _encode(self, batch: pa.RecordBatch, rows: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
        if self._dense and len(names) == 1:
            codes = self._encode_dense(batch, rows, names[0])
            if codes is not None:
                return codes
        if self._dense:
            self._dense = False
            self._numbers = {value: number for number, value in enumerate(self.values)}
        return self._encode_any(batch, rows, names)

    def column(self, codes: np.ndarray) -> pa.Array:
        """The values of some numbers, as Arrow has them."""
        used, inverse = np.unique(codes, return_inverse=True)
        values = [self.values[code] for code in used.tolist()]
        if _is_temporal(self.kind):
            distinct = pa.array(values, pa.int64()).cast(_storage(self.kind)).cast(self.kind)
        else:
            distinct = pa.array(values, self.kind)
        return distinct.take(pa.array(inverse))

    def _encode_dense(self, batch: pa.RecordBatch, rows: np.ndarray, name: str) -> np.ndarray | None:
        """By a table over the range of the keys; None where that is too wide."""
        keys = columns.numbers(batch.column(name), name)
        if not len(rows):
            return np.empty(0, np.int32)
        empty = not len(self._table)
        least = np.iinfo(np.int64).max if empty else self._least
        most = np.iinfo(np.int64).min if empty else self._least + len(self._table) - 1
        least, most = map(int, kernels.key_range(keys.data, keys.valid, rows, least, most))
        if least > most:
            return np.full(len(rows), -1, np.int32)
        if most - least >= DENSE_RANGE:
            return None
        if least < self._least or empty or most - least >= len(self._table):
            table = np.full(most - least + 1, -1, np.int32)
            if not empty:
                table[self._least - least :][: len(self._table)] = self._table
            self._least, self._table = least, table
        codes = np.empty(len(rows), np.int32)
        fresh = np.empty(len(rows), np.int64)
        before = len(self.values)
        count = kernels.dense_codes(keys.data, keys.valid, rows, least, self._table, before, codes, fresh)
        self.values += fresh[: count - before].tolist()
        return codes

    def _encode_any(self, batch: pa.RecordBatch, rows: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
        encoded = single(pc.dictionary_encode(self._taken(batch, rows, names)))
        values = [NAN if value != value else value for value in encoded.dictionary.to_pylist()]
        numbers = np.array([*(self._number(value) for value in values), -1], np.int32)
        return numbers[pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)]

    def _number(self, value: Any) -> int:
        if value is None:
            return -1
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def _taken(self, batch: pa.RecordBatch, rows: np.ndarray, names: tuple[str, ...]) -> pa.Array:
        """The values of some rows; those of a dictionary stay in it."""
        taken = pa.array(rows)
        alternatives = []
        for name in names:
            column = single(batch.column(name)).take(taken)
            if len(names) == 1 and pa.types.is_dictionary(column.type) and is_text(column.type):
                return column
            if (
                pa.types.is_null(column.type)
                or pa.types.is_dictionary(column.type)
                or column.type != self.kind
            ):
                column = column.cast(self.kind)
            if _is_temporal(self.kind):
                column = column.cast(_storage(self.kind)).cast(pa.int64())
            elif pa.types.is_floating(self.kind):
                column = pc.add(column, 0.0)  # the two zeros are one key
            alternatives.append(column)
        return alternatives[0] if len(alternatives) == 1 else single(pc.coalesce(*alternatives))


def _is_temporal(kind: pa.DataType) -> bool:
    return any(test(kind) for test in _TEMPORAL)


def _storage(kind: pa.DataType) -> pa.DataType:
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def common_type(kinds: list[pa.DataType]) -> pa.DataType | None:
    """The type in which values of several types are compared, None where they do not compare.

    Strings of any kind are one type, and so are integers, floats, and times of different units.
    """
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
    plain = [kind for kind in plain if not pa.types.is_null(kind)] or [pa.string()]
    if all(is_text(kind) for kind in plain):
        return pa.large_string()
    if len(set(plain)) == 1:
        return plain[0]
    if all(pa.types.is_integer(kind) for kind in plain):
        return pa.int64()
    if all(pa.types.is_floating(kind) for kind in plain):
        return pa.float64()
    if all(pa.types.is_duration(kind) for kind in plain):
        return pa.duration(_finest(kind.unit for kind in plain))
    moments = [kind for kind in plain if pa.types.is_timestamp(kind)]
    if moments and all(pa.types.is_timestamp(kind) or pa.types.is_date(kind) for kind in plain):
        zones = {kind.tz for kind in moments}
        if len(zones) == 1:
            return pa.timestamp(_finest(kind.unit for kind in moments), zones.pop())
    return None


def _finest(units: Iterable[str]) -> str:
    return max(units, key=("s", "ms", "us", "ns").index)


def _key_type(kinds: list[pa.DataType], part: tuple[str, ...]) -> pa.DataType:
    common = common_type(kinds)
    if common is None:
        names = ", ".join(f"`{name}` ({kind})" for name, kind in zip(part, kinds, strict=True))
        raise DataError(
            f"values that have to be equal, or are one part of a key, have different types: {names}"
        )
    return common

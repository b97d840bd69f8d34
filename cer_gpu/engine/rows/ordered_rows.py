"""Rows in the order of a MATCH_RECOGNIZE clause, partition after partition: `OrderedRows`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.text_codes import MANY, encoded
from cer_gpu.engine.rows.value_types import combined
from cer_gpu.engine.words import float_words
from cer_gpu.errors import DataError
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.tree import SortKey
from cer_gpu.printable_text import name_text

NUMBERS_AT_MOST = 1 << 40
"""Products of numbers of parts of a key, above which the pairs that occur are numbered anew."""


FEW = MANY // 16
"""Among the first `MANY` texts of a column at most so many differ if it becomes codes."""


FIRST, LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
"""Words of nulls among those of floats."""


class OrderedRows:
    """The rows of a table, those of a partition next to each other and in their order.

    Partitions come in the order of their first rows; rows that tie keep the order of the table. Null is a
    value of a partition key like any other.

    Parameters
    ----------
    table : pyarrow.Table
    partition_by : sequence of str
    order_by : sequence of SortKey

    Attributes
    ----------
    lanes : ndarray, shape (partitions + 1,), int64
        Partition k has the places lanes[k] .. lanes[k + 1] - 1.
    """

    def __init__(self, table: pa.Table, partition_by: Sequence[str], order_by: Sequence[SortKey]) -> None:
        self._kinds = table.schema
        self._table, self._coded = _with_codes(table)
        self.count = table.num_rows
        keys = [_sort_words(self._table[key.column], key) for key in order_by]
        order = None if all(map(_ascends, keys[:1])) and len(keys) < 2 else _order_of(keys)
        if order is not None and _is_range(order):
            order = None
        codes, partitions = self._partition_codes(partition_by)
        if codes is None:
            self.lanes = np.array([0, self.count] if self.count else [0], np.int64)
        else:
            codes = codes if order is None else codes[order]
            self.lanes = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=partitions))])
            if not _ascends(codes):
                grouped = ascending(codes)
                order = grouped if order is None else order[grouped]
        self._order = order
        self._sorted: dict[str, pa.Array] = {}
        self._lying: dict[str, pa.Array] = {}

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns of the table."""
        return self._kinds

    def column(self, name: str) -> pa.Array:
        """The values of a column in the order of the places; kept for the next call."""
        if name not in self._sorted:
            self._sorted[name] = self._values(name, self._order)
        return self._sorted[name]

    def lying(self, name: str) -> pa.Array:
        """The values of a column as the table has them; kept for the next call."""
        if name not in self._lying:
            self._lying[name] = combined(self._table[name])
        return self._lying[name]

    def in_order(self, values: np.ndarray) -> np.ndarray:
        """A value for each row of the table, in the order of the places."""
        return values if self._order is None else values[self._order]

    def at(self, name: str, places: np.ndarray) -> pa.Array:
        """The values of a column at some places (int64); null where a place is negative."""
        missing = places < 0
        rows = places if self._order is None else self._order[np.maximum(places, 0)]
        chosen: np.ndarray | pa.Array = pa.array(rows, mask=missing) if missing.any() else rows
        values, kind = self._values(name, chosen), self._kinds.field(name).type
        return values if values.type == kind else values.cast(kind)

    def moved(self, places: np.ndarray, elements: np.ndarray, offset: int) -> np.ndarray:
        """The places so many rows behind those of some elements; -1 outside the partition, or without one.

        Parameters
        ----------
        places : ndarray, int64
            Of all elements.
        elements : ndarray, int64
            The numbers of some; -1: none.
        offset : int
        """
        if not len(places):
            return np.full(len(elements), -1)
        found, there = places[np.maximum(elements, 0)], elements >= 0
        if offset:
            lane = np.searchsorted(self.lanes, found, side="right") - 1
            found = found + offset
            there &= (found >= self.lanes[lane]) & (found < self.lanes[lane + 1])
        return np.where(there, found, -1)

    def row_numbers(self, places: np.ndarray) -> np.ndarray:
        """The rows of the table that lie at some places."""
        return places if self._order is None else self._order[places]

    def _partition_codes(self, names: Sequence[str]) -> tuple[np.ndarray | None, int]:
        """The number of the partition of each row, by first sight, and how many there are."""
        codes, most = None, 1
        for name in names:
            column = self._table[name]
            if name in self._coded and not column.null_count:
                own, size = np.asarray(combined(column).indices), len(combined(column).dictionary)
            else:
                own, size = _codes(column)
            if codes is None:
                codes, most = own, size
                continue
            pairs = codes.astype(np.int64) * size + own
            if most * size > NUMBERS_AT_MOST or most * size > 4 * self.count:
                codes, most = _codes(pa.chunked_array([pa.array(pairs)]))
            else:
                codes, most = pairs, most * size
        if codes is None or len(names) == 1:
            return codes, most
        return _codes(pa.chunked_array([pa.array(codes)]))

    def _values(self, name: str, rows: np.ndarray | pa.Array | None) -> pa.Array:
        column = self._table[name]
        if rows is not None:
            column = column.take(pa.array(rows) if isinstance(rows, np.ndarray) else rows)
        return combined(column)


def _with_codes(table: pa.Table) -> tuple[pa.Table, frozenset[str]]:
    """A table whose texts, where few differ, are codes by first sight, since they are read several times; and
    the names of these columns.
    """
    coded = set()
    for number, field in enumerate(table.schema):
        if (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)) and len(table) >= MANY:
            texts = combined(table.column(number))
            if len(texts.slice(0, MANY).unique()) <= FEW:
                table = table.set_column(number, field.name, encoded(texts))
                coded.add(field.name)
    return table, frozenset(coded)


def times_of(column: pa.Array, name: str, descending: bool) -> np.ndarray:
    """The times of a column as ascending whole numbers of its unit, int64, for WITHIN.

    Raises
    ------
    DataError
        When there is a null.
    """
    if column.null_count:
        raise DataError(
            f"the column {name_text(name)} has {column.null_count:,} nulls, and WITHIN measures time by it: "
            "leave these rows out with WHERE ... IS NOT NULL in a subquery"
        )
    kind = pa.int32() if column.type.bit_width == 32 else pa.int64()
    words = np.asarray(column.view(kind)).astype(np.int64, copy=False)
    return -words if descending else words


def _sort_words(column: pa.ChunkedArray, key: SortKey) -> np.ndarray:
    """Whole numbers, int64, by which rows are sorted ascending."""
    kind = column.type
    nulls = -1 if key.nulls_first else len(column) + 1
    if pa.types.is_floating(kind):
        words = float_words(_with_one_nan(np.asarray(combined(column).cast(pa.float64()).fill_null(0.0))))
        words = ~words if key.descending else words
        if column.null_count:
            words[np.asarray(combined(column).is_null())] = FIRST if key.nulls_first else LAST
        return words
    if (pa.types.is_temporal(kind) or pa.types.is_signed_integer(kind)) and column.null_count == 0:
        values = combined(column)
        if pa.types.is_temporal(kind):
            values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
        words = np.asarray(values).astype(np.int64, copy=False)
        return ~words if key.descending else words
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    there = np.asarray(combined(column).is_valid())
    try:
        ranks = pc.rank(
            column.drop_null(),
            sort_keys="descending" if key.descending else "ascending",
            tiebreaker="dense",
        )
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise DataError(
            f"rows cannot be sorted by the column {name_text(key.column)}, of type {column.type}: name a "
            "column of numbers, times or texts in ORDER BY"
        ) from None
    words = np.full(len(column), nulls, np.int64)
    words[there] = np.asarray(combined(ranks))
    return words


def _with_one_nan(values: np.ndarray) -> np.ndarray:
    """Floats whose NaNs have the same bits, above all numbers; one zero."""
    values = values + 0.0
    values[np.isnan(values)] = np.nan
    return values


def _order_of(keys: Sequence[np.ndarray]) -> np.ndarray:
    return ascending(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])


def _ascends(words: np.ndarray) -> bool:
    return bool((words[1:] >= words[:-1]).all())


def _is_range(order: np.ndarray) -> bool:
    return bool((order == np.arange(len(order))).all())


def _codes(column: pa.ChunkedArray) -> tuple[np.ndarray, int]:
    """The values of a column numbered by first sight, and how many differ."""
    values = combined(column)
    if pa.types.is_dictionary(values.type):
        named = values.dictionary
        alone = named.null_count == 0 and len(named.unique()) == len(named)
        values = values.indices if alone else values.cast(values.type.value_type)
    elif pa.types.is_floating(values.type):
        plain = _with_one_nan(np.asarray(values.cast(pa.float64()).fill_null(0.0)))
        values = pa.array(plain, mask=np.asarray(values.is_null()))
    seen = values.dictionary_encode(null_encoding="encode")
    return np.asarray(seen.indices), len(seen.dictionary)

"""Order columns as keys that compare like tuples, and rows brought into their order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import (
    convert_batch,
    decoded,
    roomy_schema,
    value_type,
    whole_numbers,
    whole_type,
)
from cer_gpu.engine.read.sources.rows import ROW, ROW_FIELD, Rows, numbered, one_batch
from cer_gpu.engine.words import float_words, text_ranks
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError
from cer_gpu.json_text import time_text
from cer_gpu.kernels.sorting.contract import SortedRuns
from cer_gpu.kernels.sorting.cpu import merge
from cer_gpu.language.schema import ValueType
from cer_gpu.lazy_modules import compute as pc

PLACED = 1 << 20
"""Rows that are read at a time to find the place of one row."""

Key: TypeAlias = tuple[int | float | str, ...]


def key_columns(
    batch: pa.RecordBatch, order_by: Sequence[str], place: Callable[[int], str], first_row: int
) -> list[pa.Array]:
    """The order columns of a batch as int64, float64 or string arrays of the same order.

    Raises
    ------
    DataError
        For a null or a NaN, naming its row with `place`; `first_row` is the number of the batch's first row.
    """
    return [_plain(batch.column(name), name, lambda row: place(first_row + row)) for name in order_by]


def _plain(column: pa.Array, name: str, place: Callable[[int], str]) -> pa.Array:
    if value_type(column.type) is ValueType.STRING:
        column = decoded(column)
    if column.null_count:
        row = pc.index(column.is_null(), True).as_py()
        raise DataError(
            f"{place(row)} has a null in the order column `{name}`: remove such rows, or give them a value"
        )
    if pa.types.is_floating(column.type):
        unordered = pc.index(pc.is_nan(column), True).as_py()
        if unordered >= 0:
            raise DataError(
                f"{place(unordered)} has a NaN in the order column `{name}`: remove such rows, or give them "
                "a value"
            )
        return column.cast(pa.float64())
    if pa.types.is_temporal(column.type):
        return whole_numbers(column)
    if pa.types.is_uint64(column.type):
        # In the same order as int64.
        return pc.bit_wise_xor(column, pa.scalar(1 << 63, pa.uint64())).view(pa.int64())
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        return column.cast(pa.int64())
    return column


def key_at(keys: Sequence[pa.Array], row: int) -> Key:
    """The key of one row."""
    return tuple(column[row].as_py() for column in keys)


def first_descent(keys: Sequence[pa.Array], previous: Key | None) -> int | None:
    """The first row whose key is below that of the row before it (`previous` is before row 0), or None."""
    if previous is not None and key_at(keys, 0) < previous:
        return 0
    below = None
    for column in reversed(keys):
        left, right = column.slice(0, len(column) - 1), column.slice(1)
        less = pc.less(right, left)
        below = less if below is None else pc.or_(less, pc.and_(pc.equal(right, left), below))
    row = pc.index(below, True).as_py()
    return None if row < 0 else row + 1


class SortedRows(Rows):
    """Rows in the order of `order_by`; rows with equal keys keep their order. All rows are held in memory."""

    def __init__(self, rows: Rows, order_by: Sequence[str]) -> None:
        self._rows = rows
        self._order_by = tuple(order_by)
        self.schema = roomy_schema(rows.schema)
        self._made_of(rows)
        self.ordered = True

    def read_numbered(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """See `Rows.read_numbered`: the rows before they were sorted."""
        return self.read(wanted.append(ROW_FIELD), rows)

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        target = pa.schema([field for field in wanted if field.name != ROW])
        needed = list(dict.fromkeys([*target.names, *self._order_by]))
        batches: list[pa.RecordBatch] = []
        keys: list[list[pa.Array]] = []
        seen = 0
        previous: Key | None = None
        sorted_already = True
        for batch in self._rows.read(self._rows.subschema(needed), rows):
            if not batch.num_rows:
                continue
            keys.append(key_columns(batch, self._order_by, self._rows.place, seen))
            sorted_already = sorted_already and first_descent(keys[-1], previous) is None
            previous = key_at(keys[-1], batch.num_rows - 1)
            converted = convert_batch(batch.select(target.names), target, self.where)
            batches.append(numbered(converted, seen) if ROW in wanted.names else converted)
            seen += batch.num_rows
        if sorted_already:
            yield from batches
            return
        order = stable_order([pa.chunked_array(parts) for parts in zip(*keys)])
        del keys
        table = pa.Table.from_batches(batches).unify_dictionaries()
        del batches
        for start in range(0, len(order), rows):
            yield one_batch(table.take(pa.array(order[start : start + rows])))

    def place_given(self, row: int) -> str:
        """See `Rows.place_given`: rows were numbered before they were sorted."""
        return self._rows.place_given(row)

    def place(self, row: int) -> str:
        """See `Rows.place`: the row before it was sorted, for which the order columns are read again."""
        if not self.rewindable:
            return f"row {row} of {self.where} once sorted (counted from 0)"
        keys: list[list[pa.Array]] = []
        for batch in self._rows.read(self._rows.subschema(self._order_by), PLACED):
            keys.append(key_columns(batch, self._order_by, self._rows.place, 0))
        order = stable_order([pa.chunked_array(parts) for parts in zip(*keys)])
        return self._rows.place(int(order[row]))


PART = 1 << 20
"""Rows that one thread sorts at a time: some tenths of a second, after which Ctrl-C takes effect."""

PHASE = "sorting"


def stable_order(keys: Sequence[pa.ChunkedArray]) -> np.ndarray:
    """The numbers of rows in ascending order of their keys, equal keys in the order of their rows.

    Parameters
    ----------
    keys : sequence of ChunkedArray
        The first decides, then the next: int64, float64 without NaN, or strings; without nulls.

    Returns
    -------
    ndarray, shape (rows,), int64
    """
    if len(keys[0]) <= PART:
        return _sorted(keys)
    workers = Workers()
    columns = np.stack([_ranked(column, workers) for column in keys])
    count = columns.shape[1]
    runs, spare = (SortedRuns(np.empty(count, np.int64), np.empty(count, np.int64)) for _ in range(2))

    def sort(low: int) -> None:
        part = columns[:, low : low + PART]
        found = _sorted([pa.array(column) for column in part])
        runs.order[low : low + PART] = low + found
        runs.first[low : low + PART] = part[0][found]

    def join(low: int) -> None:
        merge(columns, runs, spare, low, low + width, min(low + 2 * width, count))

    workers.map(PHASE, sort, range(0, count, PART), count)
    width = PART
    while width < count:
        workers.map(PHASE, join, range(0, count - width, 2 * width), count)
        width *= 2
    return runs.order


def _sorted(keys: Sequence[pa.Array | pa.ChunkedArray]) -> np.ndarray:
    """The order of some rows by their keys, found by one thread."""
    if len(keys) == 1 and not pa.types.is_string(keys[0].type) and not pa.types.is_large_string(keys[0].type):
        return np.argsort(keys[0].to_numpy(), kind="stable")
    names = [str(number) for number in range(len(keys))]
    sort_keys = [(name, "ascending") for name in names]
    return pc.sort_indices(pa.table(list(keys), names=names), sort_keys=sort_keys).to_numpy()


def _ranked(column: pa.ChunkedArray, workers: Workers) -> np.ndarray:
    """Whole numbers in the same order as the values of a column, shape (rows,), int64."""
    if pa.types.is_integer(column.type):
        return column.to_numpy()
    if pa.types.is_floating(column.type):
        return float_words(column.to_numpy())
    parts = workers.map(PHASE, lambda chunk: chunk.dictionary_encode(), column.chunks, len(column))
    encoded = pa.chunked_array(parts, parts[0].type if parts else None).unify_dictionaries()
    if not encoded.num_chunks:
        return np.empty(0, np.int64)
    rank = text_ranks(encoded.chunk(0).dictionary)
    return np.concatenate([rank[chunk.indices.to_numpy()] for chunk in encoded.chunks])


def order_shown(batch: pa.RecordBatch, row: int, order_by: Sequence[str]) -> str:
    """The order of a row, for messages: its time, and the values that break ties."""
    return ", ".join(_scalar_shown(batch.column(name)[row]) for name in order_by)


def time_shown(value: int | float | str | None, arrow: pa.DataType) -> str:
    """A number of a time column as a readable time, for messages."""
    if isinstance(value, int) and pa.types.is_temporal(arrow):
        return _scalar_shown(pa.scalar(value, whole_type(arrow)).cast(arrow))
    if isinstance(value, int) and pa.types.is_uint64(arrow):
        value += 1 << 63  # it was turned into an int64
    return str(value)


def _scalar_shown(value: pa.Scalar) -> str:
    if not value.is_valid:
        return "null"
    if pa.types.is_timestamp(value.type):
        text = time_text(pa.array([value], value.type))[0].as_py()
        return re.sub(r"(\.\d*?)0+(?!\d)", lambda found: found[1].rstrip("."), str(text).replace("T", " "))
    return str(value.as_py())

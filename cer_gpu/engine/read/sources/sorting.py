"""Order columns as keys that compare like tuples, and rows brought into their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import convert_batch, decoded, roomy_schema, value_type
from cer_gpu.engine.read.sources.row_order import stable_order
from cer_gpu.engine.read.sources.rows import Rows, numbered, one_batch
from cer_gpu.errors import DataError
from cer_gpu.language.schema import ValueType
from cer_gpu.late import compute as pc

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
    if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
        column = column.cast(pa.int32())
    if pa.types.is_uint64(column.type):
        # In the same order as int64.
        return pc.bit_wise_xor(column, pa.scalar(1 << 63, pa.uint64())).view(pa.int64())
    if (
        pa.types.is_temporal(column.type)
        or pa.types.is_integer(column.type)
        or pa.types.is_boolean(column.type)
    ):
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
        self.rows = rows.rows
        self.where = rows.where
        self.rewindable = rows.rewindable
        self.repeats = rows.repeats
        self.ordered = True
        self.partial = rows.partial
        self.unread, self.orders = rows.unread, rows.orders

    def read(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        return self._read(columns, rows, False)

    def read_numbered(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """See `Rows.read_numbered`: the rows before they were sorted."""
        return self._read(columns, rows, True)

    def _read(self, columns: Sequence[str], rows: int, with_rows: bool) -> Iterator[pa.RecordBatch]:
        needed = list(dict.fromkeys([*columns, *self._order_by]))
        target = self.subschema(columns)
        batches: list[pa.RecordBatch] = []
        keys: list[list[pa.Array]] = []
        seen = 0
        previous: Key | None = None
        sorted_already = True
        for batch in self._rows.read(needed, rows):
            if not batch.num_rows:
                continue
            keys.append(key_columns(batch, self._order_by, self._rows.place, seen))
            sorted_already = sorted_already and first_descent(keys[-1], previous) is None
            previous = key_at(keys[-1], batch.num_rows - 1)
            converted = convert_batch(batch.select(list(columns)), target, self.where)
            batches.append(numbered(converted, seen) if with_rows else converted)
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
        for batch in self._rows.read(list(self._order_by), PLACED):
            keys.append(key_columns(batch, self._order_by, self._rows.place, 0))
        order = stable_order([pa.chunked_array(parts) for parts in zip(*keys)])
        return self._rows.place(int(order[row]))

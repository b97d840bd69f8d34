"""One stream from one table for each event type: a merge by the order columns, in bounded memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import DICTIONARY, convert_batch, merge_fields, roomy_schema
from cer_gpu.engine.read.sources.categories import joined_orders
from cer_gpu.engine.read.sources.rows import ROW, ROW_FIELD, Rows, one_batch
from cer_gpu.engine.read.sources.sorting import (
    PLACED,
    Key,
    first_descent,
    key_at,
    key_columns,
    order_shown,
    stable_order,
    time_shown,
)
from cer_gpu.errors import DataError


class MergedRows(Rows):
    """The rows of several tables in the order of `order_by`; ties in the order of the tables, then of rows.

    Every table must itself be in that order. A column named `type_column` is added, with the name of the
    table; an attribute that a table lacks is null in its rows. About one batch in all is in memory.

    Attributes
    ----------
    clashes : mapping of str to str
        Columns whose types do not go together; they can be read as nulls only.
    """

    def __init__(self, parts: Mapping[str, Rows], order_by: Sequence[str], type_column: str) -> None:
        self._parts = dict(parts)
        self._order_by = tuple(order_by)
        self._type_column = type_column
        fields, self.clashes = merge_fields({name: part.schema for name, part in parts.items()})
        self._check_columns()
        self.schema = pa.schema([pa.field(type_column, DICTIONARY), *roomy_schema(fields)])
        counts = [part.rows for part in parts.values()]
        self.rows = None if None in counts else sum(count for count in counts if count is not None)
        self.where = "the tables"
        self.rewindable = all(part.rewindable for part in parts.values())
        self.repeats = all(part.repeats for part in parts.values())
        self.ordered = True
        self.unread = {name: reason for part in parts.values() for name, reason in part.unread.items()}
        self.orders = joined_orders((part.schema.names, part.orders) for part in parts.values())
        self.partial = next((part.partial for part in parts.values() if part.partial), "")

    def _check_columns(self) -> None:
        for name, part in self._parts.items():
            if self._type_column in part.schema.names:
                raise DataError(
                    f"the table of `{name}` already has a column `{self._type_column}`, which is the name of "
                    "the column of types that the merge adds: drop it, or pass another name as type_column"
                )
        for column in self._order_by:
            if column in self.clashes:
                raise DataError(
                    f"the tables disagree on the order column `{column}`: {self.clashes[column]}; "
                    "convert them to one type"
                )

    @property
    def left_out(self) -> int:  # type: ignore[override]
        """How many rows of the tables were left out."""
        return sum(part.left_out for part in self._parts.values())

    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table, by its name, in their order; also those that clash."""
        return {name: tuple(part.schema.names) for name, part in self._parts.items()}

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        ordered = [self.schema.field(name) for name in self._order_by if name not in wanted.names]
        yield from self._merged(pa.schema([*wanted, *ordered]), wanted.names, rows)

    def read_numbered(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """See `Rows.read_numbered`: the rows of their tables, before these were sorted."""
        return self.read(wanted.append(ROW_FIELD), rows)

    def place(self, row: int) -> str:
        """See `Rows.place`: the row of its table, for which the tables are merged again."""
        if not self.rewindable:
            return f"row {row} of {self.where} once merged (counted from 0)"
        ordered = self.subschema([*self._order_by, self._type_column])
        target = ordered.append(ROW_FIELD)
        for batch in self._merged(target, [self._type_column, ROW], PLACED):
            if row < batch.num_rows:
                name, own = (column[row].as_py() for column in batch.columns)
                return self._parts[name].place_given(own)
            row -= batch.num_rows
        raise AssertionError

    def _merged(self, target: pa.Schema, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Batches with some columns of `target`, which has those of the order."""
        size = max(rows // len(self._parts), 1)
        names = pa.array(list(self._parts), pa.string())
        runs = [
            _Run(part, index, self._extend(part, index, names, target, size), self._order_by)
            for index, part in enumerate(self._parts.values())
        ]
        while runs := [run for run in runs if run.fill()]:
            # No row still to come from any table is below the least of the last rows at hand.
            bound = min((run.last, run.index) for run in runs)
            taken = [run.take(bound) for run in runs]
            filled = [(batch, keys) for batch, keys in taken if batch.num_rows]
            merged = _interleave(filled).select(list(columns))
            for start in range(0, merged.num_rows, rows):
                yield merged.slice(start, rows)

    def _extend(
        self, part: Rows, index: int, names: pa.Array, target: pa.Schema, rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Batches of one table with the columns of the whole: its type, and nulls for what it lacks."""
        own = [
            field for field in target if field.name in part.schema.names and field.name not in self.clashes
        ]
        stored = pa.schema([field for field in own if field.name != ROW])
        given = part.read_numbered if ROW in target.names else part.read
        for whole in given(part.subschema(stored.names), rows):
            batch = convert_batch(whole.select(stored.names), stored, part.where)
            arrays: list[pa.Array] = []
            for field in target:
                if field.name == self._type_column:
                    indices = pa.array(np.full(batch.num_rows, index, np.int32))
                    arrays.append(pa.DictionaryArray.from_arrays(indices, names))
                elif field.name == ROW:
                    arrays.append(whole.column(ROW))
                elif field.name in stored.names:
                    arrays.append(batch.column(field.name))
                else:
                    arrays.append(pa.nulls(batch.num_rows, field.type))
            yield pa.RecordBatch.from_arrays(arrays, schema=target)


class _Run:
    """The rows of one table that have been read and not yet been merged."""

    def __init__(
        self, part: Rows, index: int, batches: Iterator[pa.RecordBatch], order_by: Sequence[str]
    ) -> None:
        self.index = index
        self.last: Key = ()
        self._place = part.place
        self._batches = batches
        self._order_by = order_by
        self._batch: pa.RecordBatch | None = None
        self._keys: list[pa.Array] = []
        self._seen = 0

    def fill(self) -> bool:
        """Have at least one row at hand; False when there is none left."""
        while self._batch is None or not self._batch.num_rows:
            batch = next(self._batches, None)
            if batch is None:
                return False
            if batch.num_rows:
                self._start(batch)
        return True

    def _start(self, batch: pa.RecordBatch) -> None:
        keys = key_columns(batch, self._order_by, self._place, self._seen)
        row = first_descent(keys, self.last or None)
        if row is not None:
            own = order_shown(batch, row, self._order_by)
            if row:
                above = order_shown(batch, row - 1, self._order_by)
            else:
                above = time_shown(self.last[0], batch.column(self._order_by[0]).type)
            raise DataError(
                f"{self._place(self._seen + row)} is out of order by `{', '.join(self._order_by)}`: it has "
                f"{own}, and the row above it {above}; tables that are merged must each be in the order of "
                "time: sort them, or pass sort=True (--sort)"
            )
        self._batch, self._keys = batch, keys
        self._seen += batch.num_rows
        self.last = key_at(keys, batch.num_rows - 1)

    def take(self, bound: tuple[Key, int]) -> tuple[pa.RecordBatch, list[pa.Array]]:
        """Give out the rows up to `bound`: a key, and the last table whose rows of that key are meant."""
        assert self._batch is not None
        key, last_index = bound
        bisect = bisect_right if self.index <= last_index else bisect_left
        count = bisect(range(self._batch.num_rows), key, key=lambda row: key_at(self._keys, row))
        batch, keys = self._batch.slice(0, count), [column.slice(0, count) for column in self._keys]
        self._batch = self._batch.slice(count)
        self._keys = [column.slice(count) for column in self._keys]
        return batch, keys


def _interleave(taken: Sequence[tuple[pa.RecordBatch, list[pa.Array]]]) -> pa.RecordBatch:
    """Rows of batches that are each in order, in order; equal keys in the order of the batches."""
    if len(taken) == 1:
        return taken[0][0]
    batch = one_batch(pa.Table.from_batches([batch for batch, _ in taken]))
    order = stable_order([pa.chunked_array(parts) for parts in zip(*(keys for _, keys in taken))])
    return batch.take(pa.array(order))

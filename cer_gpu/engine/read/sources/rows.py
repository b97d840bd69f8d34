"""Rows of one kind of events, read in batches: in-memory tables, Arrow streams and pyarrow datasets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.caller_warnings import warn
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.sources.arrow_types import (
    convert_batch,
    first_line,
    is_narrow,
    is_text,
    normal_schema,
    widened,
)
from cer_gpu.engine.read.sources.categories import Orders, check_orders, is_ordered, orders_in
from cer_gpu.engine.read.sources.frame_index import FrameIndex
from cer_gpu.errors import DataError
from cer_gpu.language.schema import CategoryOrder
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.lazy_modules import dataset as pads

ROW = "\0row"
"""The name of the column of row numbers, if they are wanted: no other column has it."""

ROW_FIELD = pa.field(ROW, pa.int64())

FEW_NAMES = 1 << 10
"""The most texts of dictionaries that are looked at before a table is read."""


class Rows(ABC):
    """Rows in a fixed order, readable column by column.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and normal types of the columns (`arrow_types.normal_schema`).
    rows : int or None
        Their number, if it is known without reading them.
    where : str
        The name of the rows in messages: "file trades.csv", "the table".
    rewindable : bool
        Whether `read` may be called more than once.
    partial : str
        Why there may be columns that `schema` does not have; empty if there are none.
    unread : mapping of str to str
        Columns that no query can use, with their type or the reason.
    orders : mapping of str to CategoryOrder
        The columns that the source dictionary-encodes, with the order of their categories.
    is_text : bool
        Whether the rows are read from CSV or JSON lines.
    in_files : bool
        Whether reading a batch takes work, as it does from files.
    stamp : tuple of (str, int, int or None), or None
        For one file: its path, its size in bytes, and when it was changed (ns since 1970); otherwise None.
    left_out : int
        How many rows the last reading left out, since they came too late.
    index : FrameIndex or None
        The index of the DataFrame that the rows are from, where it says more than their numbers.
    """

    schema: pa.Schema
    rows: int | None
    where: str
    rewindable: bool = True
    repeats: bool = True
    ordered: bool = False
    partial: str = ""
    is_text: bool = False
    in_files: bool = False
    left_out: int = 0
    index: FrameIndex | None = None
    unread: Mapping[str, str] = {}
    orders: Mapping[str, CategoryOrder] = {}

    stamp: tuple[str, int, int | None] | None = None

    def _made_of(self, rows: Rows) -> None:
        """Say of these rows what is said of those that they are made of."""
        self.rows, self.where, self.partial = rows.rows, rows.where, rows.partial
        self.rewindable, self.repeats, self.in_files = rows.rewindable, rows.repeats, rows.in_files
        self.unread, self.orders, self.index = rows.unread, rows.orders, rows.index

    @abstractmethod
    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """Batches of at most `rows` rows with some columns; codes may have 8 or 16 bits, as they are stored.

        Parameters
        ----------
        wanted : pyarrow.Schema
            The columns in their order, as `schema` has them, but structs may lack fields that nobody needs.
        rows : int
        """

    def names_in(self, column: str) -> frozenset[str] | None:
        """All texts of a column, and maybe some more; None where that is not known without reading it."""
        return None

    def parts(self) -> list[Rows]:
        """The rows of each file, which follow one another, in the types of `schema`; empty if the rows are
        not those of files.
        """
        return []

    def behind(self, files: int) -> Rows:
        """The rows behind those of so many of the files of `parts`."""
        raise NotImplementedError

    def place(self, row: int) -> str:
        """The place of a row of `read` in the data as passed: "row 7 of trades.csv (counted from 0)"."""
        return f"row {row} of {self.where} (counted from 0)"

    def place_given(self, row: int) -> str:
        """As `place`, for a row by its number from `read_numbered`."""
        return self.place(row)

    def read_numbered(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """As `read`, with a column `ROW` behind the others: the row of the data as it was passed (int64)."""
        seen = 0
        for batch in self.read(wanted, rows):
            yield numbered(batch, seen)
            seen += batch.num_rows

    def table(self) -> pa.Table:
        """All rows and columns, in memory."""
        return pa.Table.from_batches(map(widened, self.read(self.schema, 1 << 20)), self.schema)

    def subschema(self, columns: Sequence[str]) -> pa.Schema:
        """The fields of these columns."""
        return pa.schema([self.schema.field(name) for name in columns])


def numbered(batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
    """A batch with a column `ROW` that counts from `first`."""
    return batch.append_column(ROW_FIELD, pa.array(np.arange(first, first + batch.num_rows)))


class TableRows(Rows):
    """An Arrow table in memory; batches are slices of it."""

    def __init__(self, table: pa.Table, where: str) -> None:
        self._table = table
        self.schema = normal_schema(table.schema, where)
        self.orders = orders_in(
            table.schema, lambda name: (chunk.dictionary for chunk in table.column(name).chunks)
        )
        self.rows = table.num_rows
        self.where = where

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        chosen = self._table.select(wanted.names)
        fields = [own if is_narrow(own.type) else field for own, field in zip(chosen.schema, wanted)]
        target = pa.schema(fields)
        for batch in chosen.to_batches(max_chunksize=rows):
            yield convert_batch(batch, target, self.where)

    def names_in(self, column: str) -> frozenset[str] | None:
        """The texts of the dictionaries, where they are few."""
        if column not in self._table.schema.names or not self._table.num_rows:
            return None
        values = self._table.column(column)
        kind = values.type
        if not pa.types.is_dictionary(kind) or not is_text(kind.value_type):
            return None
        dictionaries = [chunk.dictionary for chunk in values.chunks]
        if sum(map(len, dictionaries)) > FEW_NAMES:
            return None
        return frozenset(text for texts in dictionaries for text in texts.to_pylist() if text is not None)


class NoRows(TableRows):
    """Columns without rows, for which a query can be planned.

    Parameters
    ----------
    schema : pyarrow.Schema
    orders : mapping of str to CategoryOrder
        The columns of dictionary-encoded texts.
    """

    def __init__(self, schema: pa.Schema, orders: Orders) -> None:
        super().__init__(schema.empty_table(), "the table")
        self.orders = orders

    @classmethod
    def stored(cls, table: pa.Table, orders: Mapping[str, Sequence[Any]]) -> NoRows:
        """Those of a table without rows, and the orders of its dictionaries as `CategoryOrder.stored`."""
        return cls(table.schema, {name: CategoryOrder.restored(own) for name, own in orders.items()})


class StreamRows(Rows):
    """The rows of an Arrow stream: a record batch reader, or an object that opens one when asked."""

    def __init__(self, opened: pa.RecordBatchReader, reopen: Callable[[], Any] | None, where: str) -> None:
        self.schema = normal_schema(opened.schema, where)
        first = _first_batches(opened, where)
        self._opened: Iterable[pa.RecordBatch] | None = opened if first is None else chain(first, opened)
        self._reopen = reopen
        self.orders = orders_in(
            opened.schema, lambda name: (one.column(name).dictionary for one in first or ())
        )
        self.rows = None
        self.where = where
        self.rewindable = reopen is not None
        self.repeats = False
        self._most = 0

    def _reader(self) -> Iterable[pa.RecordBatch]:
        # The reader that told the schema serves the first pass: an object may be able to open only one.
        reader, self._opened = self._opened, None
        if reader is not None:
            return reader
        if self._reopen is None:
            raise read_before(self.where)
        return open_stream(self._reopen, self.where)

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        reader = self._reader()
        seen = 0
        for batch in guarded(reader, self.where):
            seen += batch.num_rows
            self._most = max(self._most, seen)
            some = check_orders(batch.select(wanted.names), self.orders, self.where)
            chosen = convert_batch(some, wanted, self.where)
            for start in range(0, chosen.num_rows, rows):
                yield chosen.slice(start, rows)
        if not self.rewindable and not seen:
            warn_of_none(self.where)
        if seen < self._most:
            raise DataError(
                f"{self.where} gave {self._most} rows or more when it was first read, and gives {seen} now: "
                "pass a table, or a new object for each query"
            )


def _first_batches(opened: pa.RecordBatchReader, where: str) -> list[pa.RecordBatch] | None:
    """The first batches of a stream, up to one with rows; None where none has to be read to know the orders
    of categories.
    """
    if not any(is_ordered(kind) for kind in opened.schema.types):
        return None
    found: list[pa.RecordBatch] = []
    try:
        with within_memory(f"reading {where}"):
            for batch in opened:
                found.append(batch)
                if batch.num_rows:
                    break
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{where} cannot be read: {first_line(error)}") from error
    return found


def read_before(where: str) -> DataError:
    """The error about rows that are asked for again, and can be read only once."""
    return DataError(
        f"{where} can be read only once, and has been read: to run several queries over the same events, "
        "pass a table, a dataset or files, or make a new reader for each query"
    )


def warn_of_none(where: str) -> None:
    """Say that what can be read only once had no rows.

    Neither a reader that was read elsewhere, nor an iterator, can be told from one of an empty table.
    """
    warn(f"{where} gave no rows: it is empty, or has been read before (it can be read only once)")


class DatasetRows(Rows):
    """A pyarrow dataset, scanned in its own order; little is read ahead."""

    def __init__(self, dataset: pads.Dataset, where: str) -> None:
        files = isinstance(dataset, pads.FileSystemDataset)
        if files and isinstance(dataset.format, pads.ParquetFileFormat):
            from cer_gpu.engine.read.sources.wide_times import in_microseconds

            dataset = in_microseconds(dataset)
        self._dataset = dataset
        self.schema = normal_schema(dataset.schema, where)
        self.orders = orders_in(dataset.schema, self._first_dictionaries)
        counted = files and isinstance(dataset.format, pads.ParquetFileFormat)
        # Of these formats Arrow's own reader checks what it reads; an IPC file may hold anything.
        checks = counted or (files and isinstance(dataset.format, (pads.CsvFileFormat, pads.JsonFileFormat)))
        in_memory = isinstance(dataset, pads.InMemoryDataset)
        self._checked = checks or in_memory
        self.rows = dataset.count_rows() if counted else None
        self.where = where

    def _first_dictionaries(self, name: str) -> Iterator[pa.Array]:
        """The dictionary of a column in the first batch with rows."""
        scanned = guarded(self._dataset.scanner(columns=[name], batch_size=1).to_batches(), "the dataset")
        for batch in scanned:
            yield batch.column(0).dictionary
            if batch.num_rows:
                break

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        whole = self.subschema(wanted.names)
        asked: Any = wanted.names
        if not wanted.equals(whole):
            asked = {
                one.name: _field(None if one.type == stored else one.type, one.name)
                for one, stored in zip(wanted, whole.types)
            }
        scanner = self._dataset.scanner(
            columns=asked, batch_size=rows, batch_readahead=2, fragment_readahead=1
        )
        seen = 0
        batches = scanner.to_batches() if self._checked else map(validated, scanner.to_batches())
        for batch in guarded(batches, self.where):
            seen += batch.num_rows
            yield convert_batch(check_orders(batch, self.orders, self.where), wanted, self.where)
        if self.rows is not None and seen != self.rows:
            raise DataError(
                f"the metadata of {self.where} says {self.rows:,} rows, and {seen:,} were read: its files "
                "are damaged, or have been changed since"
            )


def _field(kind: pa.DataType | None, *path: str) -> Any:
    """What a scanner reads of a column, or of a field in it: the fields that a type has; None: all of it."""
    if kind is None or not pa.types.is_struct(kind):
        return pc.field(*path)
    parts = [_field(one.type, *path, one.name) for one in kind]
    return pc.make_struct(*parts, field_names=[one.name for one in kind])


def validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch that another program wrote, after checking it in full.

    Raises
    ------
    pyarrow.ArrowInvalid
        For a code beyond its dictionary, offsets beyond their text, text that is not UTF-8, and the like.
    """
    batch.validate(full=True)
    return batch


def open_stream(opener: Callable[[], Any], where: str) -> pa.RecordBatchReader:
    """Ask an object for its Arrow stream.

    Raises
    ------
    DataError
        With the object's own reason, if it does not give a stream.
    """
    try:
        return pa.RecordBatchReader.from_stream(opener())
    except Exception as error:  # the object's library raises its own exceptions here
        raise DataError(f"{where} gave no Arrow stream: {first_line(error)}") from error


def guarded(batches: Iterable[pa.RecordBatch], where: str) -> Iterator[pa.RecordBatch]:
    """Turn exceptions of Arrow while it reads into a DataError that names the source.

    Raises
    ------
    DataError
        For corrupt data, values that do not convert and failing disks.
    """
    iterator = iter(batches)
    while True:
        try:
            with within_memory(f"reading {where}"):
                batch = next(iterator)
        except StopIteration:
            return
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(f"{where} cannot be read: {first_line(error)}") from error
        if batch.num_rows:
            yield batch


JOINED_BYTES = 1 << 28
"""The most bytes of batches that are joined: columns of type string hold less than 2 GiB of text."""


def regroup(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Batches of a good size: none is empty or has more than `rows` rows; small neighbours are joined.

    A batch of at least an eighth of `rows`, or of `JOINED_BYTES`, passes as it is, without a copy.
    """
    waiting: list[pa.RecordBatch] = []
    held = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        small = batch.num_rows * 8 < rows and batch.nbytes * 8 < JOINED_BYTES
        full = held + batch.num_rows > rows or size + batch.nbytes > JOINED_BYTES
        if waiting and (not small or full):
            yield waiting[0] if len(waiting) == 1 else _join(waiting)
            waiting, held, size = [], 0, 0
        if small:
            waiting.append(batch)
            held += batch.num_rows
            size += batch.nbytes
            continue
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)
    if waiting:
        yield waiting[0] if len(waiting) == 1 else _join(waiting)


def _join(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return one_batch(pa.Table.from_batches([*map(widened, batches)]))


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """A non-empty table as a single batch; dictionaries that differ between its chunks are unified."""
    columns = [column.combine_chunks() for column in table.unify_dictionaries().columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)

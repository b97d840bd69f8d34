"""From what a user passes as events to rows: `open_rows`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import first_line, normal_schema, shared_types, widened
from cer_gpu.engine.read.sources.categories import check_alike, enum_orders, joined_orders, orders_in
from cer_gpu.engine.read.sources.device_rows import DeviceRows, on_device, open_device
from cer_gpu.engine.read.sources.frame_index import FrameIndex
from cer_gpu.engine.read.sources.nan_rows import kept_nan
from cer_gpu.engine.read.sources.rows import (
    DatasetRows,
    Rows,
    StreamRows,
    TableRows,
    guarded,
    open_stream,
    read_before,
    warn_of_none,
)
from cer_gpu.engine.read.sources.text_form import PLAIN, TextForm
from cer_gpu.errors import DataError
from cer_gpu.lazy_modules import is_dataset

ACCEPTED = (
    "a pyarrow Table, RecordBatch, RecordBatchReader, Dataset or Scanner, a pandas or polars DataFrame, a "
    "polars LazyFrame, a DuckDB relation or anything else with __arrow_c_stream__, a list of these, an "
    "iterator of record batches, columns on a CUDA device, a path or a list of paths to Parquet, Arrow IPC, "
    "CSV or JSON lines files, or a dict of event type to any of these"
)


def open_rows(events: Any, where: str, text: TextForm = PLAIN, keeps_nan: bool = False) -> Rows:
    """The rows of anything that a user passes, except a dict of tables.

    Parameters
    ----------
    events : object
    where : str
        The name of the events in messages.
    text : TextForm
        How text files are read.
    keeps_nan : bool
        Whether NaN in data frames of pandas are numbers and not missing values.

    Raises
    ------
    DataError
        Names the file, column or object that is wrong, and what is accepted.
    """
    if isinstance(events, Rows):
        return events
    paths = [events] if isinstance(events, (str, os.PathLike)) else events
    if isinstance(paths, (list, tuple)) and all(isinstance(each, (str, os.PathLike)) for each in paths):
        from cer_gpu.engine.read.sources.files import FileRows  # a query over tables need not load it

        return FileRows.at(list(paths), text)
    if text != PLAIN:
        raise DataError(f"{text.said} is for CSV and JSON lines files, and {where} has types of its own")
    if isinstance(events, pa.Table):
        return TableRows(events, where)
    if isinstance(events, pa.RecordBatch):
        return TableRows(pa.Table.from_batches([events]), where)
    if isinstance(events, pa.RecordBatchReader):
        return StreamRows(events, None, where.replace("table", "reader"))
    if is_dataset(events):
        return DatasetRows(events, where.replace("table", "dataset"))
    if _is_scanner(events):
        return StreamRows(events.to_reader(), events.to_reader, where.replace("table", "scanner"))
    if isinstance(events, (list, tuple)):
        return _open_list(events, where, keeps_nan)
    if _is_frame(events):
        return _from_pandas(events, where, keeps_nan)
    if type(events).__module__.split(".")[0] == "polars" and type(events).__name__ == "LazyFrame":
        return LazyRows(events, where)
    if on_device(events):
        there = open_device(events, where)
        if isinstance(there, DeviceRows):
            return there
        return StreamRows(there, (lambda: events) if hasattr(events, "__arrow_c_stream__") else None, where)
    if hasattr(events, "__arrow_c_stream__"):
        streamed = StreamRows(open_stream(lambda: events, where), lambda: events, where)
        streamed.orders = {**streamed.orders, **enum_orders(events)}
        return streamed
    if isinstance(events, Iterator):
        return YieldedRows(events, where.replace("table", "iterator"), keeps_nan)
    collect = " (call .collect() on it first)" if hasattr(events, "collect") else ""
    raise DataError(f"cannot read events of type {_type_name(events)}{collect}; pass {ACCEPTED}")


def _is_scanner(events: object) -> bool:
    # Where the module was never imported, there is no scanner.
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(events, module.Scanner)


def _is_frame(events: object) -> bool:
    return type(events).__module__.split(".")[0] == "pandas" and hasattr(events, "columns")


def _type_name(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


# ------------------------------------------------------------------------- lists and iterators


def _open_list(events: Sequence[Any], where: str, keeps_nan: bool) -> Rows:
    """A list of record batches, tables or data frames, one after another."""
    if all(isinstance(each, pa.RecordBatch) for each in events):
        try:
            return TableRows(pa.Table.from_batches(list(events)), where)
        except pa.ArrowInvalid as error:
            raise DataError(
                f"the record batches of the list do not fit together: {first_line(error)}"
            ) from error
    odd = [each for each in events if not _is_table(each)]
    if odd:
        rows = ": make a table of a list of dicts with pyarrow.Table.from_pylist(...)"
        raise DataError(
            "a list of events must hold paths only, or record batches, tables or data frames only, and this "
            f"one holds a {_type_name(odd[0])}{rows if isinstance(odd[0], Mapping) else ''}"
        )
    parts = [
        open_rows(each, f"number {number} of the list", keeps_nan=keeps_nan)
        for number, each in enumerate(events)
    ]
    tables = [part.table() for part in parts]
    unread = {name: reason for part in parts for name, reason in part.unread.items()}
    # What one of the frames does not hold in one type is a column of the list that no query can read.
    schema, unlike = _shared([_without(table, unread) for table in tables])
    unread |= unlike
    if unread and not len(schema):
        raise DataError(
            f"no column of {where} can be read: `{next(iter(unread))}` holds {unread.popitem()[1]}"
        )
    made = TableRows(pa.concat_tables([table.select(schema.names).cast(schema) for table in tables]), where)
    made.unread = unread
    made.orders = joined_orders((part.schema.names, part.orders) for part in parts)
    return made


def _without(table: pa.Table, names: Iterable[str]) -> pa.Table:
    there = [name for name in names if name in table.schema.names]
    return table.drop_columns(there) if there else table


def _is_table(value: object) -> bool:
    if isinstance(value, (pa.Table, pa.RecordBatch)) or _is_frame(value):
        return True
    return hasattr(value, "__arrow_c_stream__") and not isinstance(value, pa.RecordBatchReader)


def _shared(tables: Sequence[pa.Table]) -> tuple[pa.Schema, dict[str, str]]:
    """The schema that the tables of a list share, and the columns without a common type, with the reason.

    Raises
    ------
    DataError
        If a table lacks a column.
    """
    unlike: dict[str, str] = {}

    def lacking(name: str, has: int, lacks: int) -> DataError:
        return DataError(
            f"the tables of the list have different columns: table {has} has `{name}`, table {lacks} has not "
            "(counted from 0): add it, with nulls"
        )

    def clashing(field: pa.Field, number: int) -> None:
        first = tables[0].schema.field(field.name).type
        unlike.setdefault(
            field.name,
            f"{first} in table 0 of the list and {field.type} in table {number} (convert them to one type)",
        )

    types = shared_types([table.schema for table in tables], lacking, clashing)
    return pa.schema([(name, kind) for name, kind in types.items() if name not in unlike]), unlike


class YieldedRows(Rows):
    """What an iterator yields, record batches, tables or data frames, one after another.

    The first says which columns there are; of all, only those are looked at that are read.

    Parameters
    ----------
    events : iterator
    where : str
        The name of the iterator in messages.
    keeps_nan : bool
        As for `open_rows`.

    Raises
    ------
    DataError
        If it yields nothing, or something else.
    """

    def __init__(self, events: Iterator[Any], where: str, keeps_nan: bool) -> None:
        parts = _parts_of(events, where, keeps_nan)
        first = next(parts, None)
        if first is None:
            raise DataError(f"{where} gave no batches: it is empty, or has been read before")
        begun, orders = [first], first.orders
        while any(order.pending for order in orders.values()):
            # Tables without rows come first: those behind them tell the order of categories.
            following = next(parts, None)
            if following is None:
                break
            begun.append(following)
            orders = joined_orders([(first.schema.names, orders), (first.schema.names, following.orders)])
        self._parts: Iterator[Rows] | None = chain(begun, parts)
        self.schema = first.schema
        self.unread = first.unread
        self.orders = orders
        self.rows = None
        self.where = where
        self.rewindable = False
        self.repeats = False

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        parts, self._parts = self._parts, None
        if parts is None:
            raise read_before(self.where)
        some = False
        for batch in guarded(self._batches(parts, wanted, rows), self.where):
            some = True
            yield batch
        if not some:
            warn_of_none(self.where)

    def _batches(self, parts: Iterator[Rows], wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        columns = wanted.names
        for number, part in enumerate(parts):
            here = f"batch {number} of {self.where} (counted from 0)"
            for name in columns:
                if name in part.unread:
                    raise DataError(f"the column `{name}` of {here} holds {part.unread[name]}")
                if name not in part.schema.names:
                    raise DataError(
                        f"{here} has no column `{name}`, and the first has: give all batches the columns "
                        "that the query reads"
                    )
            check_alike(
                {name: part.orders[name] for name in columns if name in part.orders}, self.orders, here
            )
            for batch in map(widened, part.read(part.subschema(columns), rows)):
                try:
                    yield batch if batch.schema.equals(wanted) else batch.cast(wanted)
                except (pa.ArrowException, ValueError) as error:
                    raise DataError(
                        f"{here} has other types than the first: {first_line(error)}; convert the columns to "
                        "one type"
                    ) from error


def _parts_of(events: Iterable[Any], where: str, keeps_nan: bool) -> Iterator[Rows]:
    for number, each in enumerate(events):
        if not _is_table(each):
            raise DataError(f"{where} gives {_type_name(each)}, not record batches, tables or data frames")
        yield open_rows(each, f"item {number} of {where}", keeps_nan=keeps_nan)


# ------------------------------------------------------------------------------- data frames


class LazyRows(Rows):
    """A lazy frame of polars: only the wanted columns are computed."""

    def __init__(self, frame: Any, where: str) -> None:
        self._frame = frame
        opened = open_stream(lambda: frame.head(0).collect(), where)
        self.schema = normal_schema(opened.schema, where)
        empty = opened.read_all()  # an Enum has its dictionary without rows too
        self.orders = orders_in(
            empty.schema, lambda name: (chunk.dictionary for chunk in empty.column(name).chunks)
        )
        self.rows = None
        self.where = where
        self.repeats = False

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        chosen = self._frame.select(wanted.names)
        part = StreamRows(open_stream(chosen.collect, self.where), chosen.collect, self.where)
        # What is collected now may have other types than what the frame promised.
        yield from part.read(wanted, rows)


def _from_pandas(frame: Any, where: str, keeps_nan: bool) -> TableRows:
    """A pandas DataFrame as a table; named levels of its index become columns."""
    kept = list(frame.columns)
    unread: dict[str, str] = {}
    try:
        table = pa.Table.from_pandas(frame)
    except (pa.ArrowException, ValueError, TypeError) as error:
        # One column whose values Arrow cannot hold does not stop a query that does not read it.
        unread = _unread(frame)
        kept = [name for name in frame.columns if str(name) not in unread]
        if not kept:
            raise _unconverted(where, error) from error
        try:
            # If it is no column, it is a level of the index.
            table = pa.Table.from_pandas(frame[kept], preserve_index=None if unread else False)
        except (pa.ArrowException, ValueError, TypeError) as further:
            raise _unconverted(where, further) from further
    if keeps_nan:
        table = kept_nan(table, [frame[name] for name in kept])
    unnamed = [name for name in table.schema.names if name.startswith("__index_level_")]
    rows = TableRows(table.drop_columns(unnamed) if unnamed else table, where)
    rows.unread = unread
    rows.index = FrameIndex.of(frame)
    return rows


def _unconverted(where: str, error: Exception) -> DataError:
    return DataError(f"{where} cannot be converted to Arrow: {_reason(error)}")


def _unread(frame: Any) -> dict[str, str]:
    """The columns of a DataFrame that do not convert, with the reason."""
    found = {}
    for place, name in enumerate(frame.columns):
        try:
            pa.Array.from_pandas(frame.iloc[:, place])
        except (pa.ArrowException, ValueError, TypeError) as error:
            found[str(name)] = f"Python objects of several types (convert them to one type: {_reason(error)})"
    return found


def _reason(error: Exception) -> str:
    return ": ".join(str(part) for part in error.args) or type(error).__name__

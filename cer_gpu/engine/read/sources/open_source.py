"""Opens the events that a user passed: `open_source`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import (
    check_encoded,
)
from cer_gpu.engine.read.sources.caller_times import span_in
from cer_gpu.engine.read.sources.device_rows import on_device
from cer_gpu.engine.read.sources.fields import with_fields
from cer_gpu.engine.read.sources.kinds import ACCEPTED, open_rows
from cer_gpu.engine.read.sources.merge import MergedRows
from cer_gpu.engine.read.sources.nan_rows import NanRows
from cer_gpu.engine.read.sources.order_buffer import LateRows, OrderBuffer
from cer_gpu.engine.read.sources.rows import (
    Rows,
    StreamRows,
    TableRows,
)
from cer_gpu.engine.read.sources.sorting import SortedRows
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.read.sources.text_form import PLAIN, TextForm
from cer_gpu.errors import DataError
from cer_gpu.printable_text import brief


def open_source(
    events: Any,
    *,
    order_by: Sequence[str] = (),
    type_column: str | None = "type",
    stream_column: str | None = None,
    sort: bool = False,
    names: Collection[str] = (),
    text: TextForm = PLAIN,
    late: Any = None,
    on_late: str = "error",
    order_unit: str | None = None,
    nan_is_null: bool | None = None,
) -> Source:
    """Open the events that a user passed.

    Parameters
    ----------
    events : object
        See `API.md`: Arrow data, data frames, paths, or a dict of event type to any of these. A source is
        taken as it is.
    order_by : sequence of str
        The time column, then tie-breakers. May be empty: the row order is the order. A dict needs it.
    type_column : str or None
        Column of the event type; it need not exist, except that a dict adds it. None: no column tells the
        type, whatever its name.
    stream_column : str or None
        Column of the stream's name.
    sort : bool
        Sort by `order_by` (stable, all rows in memory) instead of trusting the order.
    names : collection of str
        The names in the query: those that are fields of structs, `payload.price`, become columns.
    text : TextForm
        How text files are read.
    late : object
        By how much time rows may be out of order; None: not at all.
    on_late : {"error", "drop"}
        What becomes of rows that are later.
    order_unit : str or None
        The unit of plain numbers in the order column.
    nan_is_null : bool or None
        Whether NaN is a missing value; None: as the container has it.

    Returns
    -------
    Source

    Raises
    ------
    DataError
        Names the file, column or object that is wrong, and what is accepted.
    """
    if isinstance(events, Source):
        return events
    order = tuple(order_by)
    if len(set(order)) < len(order):
        raise DataError(f"order_by names a column twice: {', '.join(order)}")
    if sort and not order:
        raise DataError("sort=True needs order_by, the columns to sort by")
    dotted = [name for name in {*names, *order, type_column or "", stream_column or ""} if "." in name]

    if isinstance(events, Mapping) and not on_device(events):

        def in_order(part: Rows) -> Rows:
            if sort:
                return SortedRows(part, order)
            return part if late is None else _late_rows(part, order, late, on_late, order_unit)

        tables = _open_tables(events, order, type_column, in_order, text, dotted, nan_is_null)
        return Source(tables, order, type_column, stream_column)
    rows = open_rows(events, "the table", text, nan_is_null is False)
    if dotted:
        rows = with_fields(rows, dotted)
    if nan_is_null:
        rows = NanRows.of(rows)
    source = Source(rows, order, type_column, stream_column)  # checks the columns before they are sorted by
    if sort:
        return Source(SortedRows(rows, order), order, type_column, stream_column)
    if late is None:
        return source
    return Source(_late_rows(rows, order, late, on_late, order_unit), order, type_column, stream_column)


def _late_rows(rows: Rows, order: tuple[str, ...], late: Any, on_late: str, unit: str | None) -> LateRows:
    span, drops = span_in("late", late, rows.schema, order, unit), on_late == "drop"
    return LateRows(rows, order, lambda: OrderBuffer(order, span, late, drops), drops)


def _open_tables(
    tables: Mapping[Any, Any],
    order: tuple[str, ...],
    type_column: str | None,
    in_order: Callable[[Rows], Rows],
    text: TextForm,
    dotted: Sequence[str],
    nan_is_null: bool | None,
) -> MergedRows:
    if not tables:
        raise DataError("the dict of tables is empty: add at least one event type and its events")
    columns = [name for name, given in tables.items() if _is_column(given)]
    if columns:
        raise DataError(
            f"a dict must hold a table for each event type, and `{columns[0]}` is not a table: make one of a "
            "dict of columns with pyarrow.table(...)"
        )
    if type_column is None:
        raise DataError(
            "a dict of tables tells the types of events by its keys: leave type_column=None out, or pass the "
            "table of one type alone; if a table has a column `type`, pass any free name as type_column"
        )
    if not order:
        raise DataError("several tables are merged by time: name the time column with order_by")
    parts: dict[str, Rows] = {}
    for name, events in tables.items():
        if not isinstance(name, str):
            raise DataError(f"the keys of a dict of tables must be event types, as str, not {brief(name)}")
        check_encoded(name, "the event type")
        if isinstance(events, Mapping):
            raise DataError(f"the events of `{name}` are a dict again; pass {ACCEPTED.rsplit(', or ', 1)[0]}")
        part = open_rows(events, f"the table of `{name}`", text, nan_is_null is False)
        if dotted:
            part = with_fields(part, dotted)
        if nan_is_null:
            part = NanRows.of(part)
        if isinstance(part, StreamRows) and part.rewindable:
            # Streams of one DuckDB connection cannot be open side by side.
            part = TableRows(part.table(), part.where)
        Source(part, order, type_column, None)  # its order columns are there and can be compared
        parts[name] = in_order(part)
    return MergedRows(parts, order, type_column)


def _is_column(given: Any) -> bool:
    """Whether something is the values of a column: an array, a series, a list of numbers."""
    if isinstance(given, (list, tuple)):
        return bool(given) and (given[0] is None or isinstance(given[0], (bool, int, float)))
    return hasattr(given, "dtype") or isinstance(given, (pa.Array, pa.ChunkedArray))

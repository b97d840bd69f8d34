"""Sources of events: any data that a user may pass, as batches of the columns that a query needs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import (
    DICTIONARY,
    all_units,
    convert_batch,
    time_zones,
    usable,
    value_type,
)
from cer_gpu.engine.read.sources.device_rows import DeviceRows, DeviceTable
from cer_gpu.engine.read.sources.fields import names_of_fields
from cer_gpu.engine.read.sources.merge import MergedRows
from cer_gpu.engine.read.sources.rows import ROW, ROW_FIELD, Rows, regroup
from cer_gpu.engine.read.sources.text_form import TIMES
from cer_gpu.errors import CerError, DataError, RowError
from cer_gpu.language.near_names import near_name
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.words import written
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.plan.axes import type_number
from cer_gpu.printable_text import name_text, names_text

OFFSET = re.compile(r":\d\d(\.\d+)?\s*([+-]\d\d:?(\d\d)?|Z)$")
"""How a text of a time ends that says how far its clock is from UTC."""

ORDINARY = "pass type_column=None (--type-column '') if that column is an ordinary attribute"
"""What to do where a column of types tells no types."""


def no_such_type(column: str | None, name: str) -> str:
    """What to look at where FROM names a type that the column of types does not have."""
    return f"the column `{column}` tells the types of events, and none is `{name}`; {ORDINARY}"


TYPE_COLUMN = "type"
"""The column of the event type, if no other is named."""


class Source:
    """Events in their order, as batches of chosen columns.

    Made by `open_source`. Batches hold the types of `cer_gpu.engine.read.sources.arrow_types`. The type
    column and the stream column are always dictionary<int32, string>, unless the types are whole numbers or
    booleans.

    Attributes
    ----------
    arrow_schema : pyarrow.Schema
        Names and types of all columns, as `batches` gives them.
    rows : int or None
        The number of events, if it is known without reading them.
    has_type_column : bool
        False if all events are of one type (the name that FROM gives).
    type_kind : ValueType
        What the type column holds: strings, whole numbers or booleans.
    stored : int
        The number of events, if it is known and reading a batch takes work, as it does from files; else 0.
    rewindable : bool
        Whether the events can be read more than once.
    repeats : bool
        Whether reading them again gives the same events in the same order, without running a query again.
    ordered : bool
        Whether they were sorted or merged by `order_by`.
    stamp : tuple of (str, int, int or None), or None
        For one file: its path, its size in bytes, and when it was changed (ns since 1970); otherwise None.
    orders : mapping of str to CategoryOrder
        The columns of dictionary-encoded texts, with the order of their categories.
    tells_types : bool
        Whether a column of texts of the usual name tells the types of events, so that any may occur.
    device : int or None
        The number of the device that the events are on; None on the host.
    names_in : callable
        As `Rows.names_in`.
    index : FrameIndex or None
        As `Rows.index`.
    """

    def __init__(
        self,
        rows: Rows,
        order_by: tuple[str, ...],
        type_column: str | None,
        stream_column: str | None,
    ) -> None:
        self._rows = rows
        self.order_by = order_by
        self.type_column = type_column
        self.stream_column = stream_column
        self.has_type_column = type_column in rows.schema.names
        self.type_kind = ValueType.STRING
        self.rows = rows.rows
        self.stored = rows.rows or 0 if rows.in_files else 0
        self.rewindable = rows.rewindable
        self.repeats = rows.repeats
        self.ordered = rows.ordered
        self.where = rows.where
        self.stamp = rows.stamp
        self.orders = rows.orders
        self.names_in = rows.names_in
        self.index = rows.index
        self.arrow_schema = rows.schema
        self._schemas: dict[str | None, Schema] = {}
        """What `language_schema` has given: many queries of a backtest are checked against it."""
        if order_by or stream_column is not None:
            self._check_order_and_stream()
        for column in (type_column, stream_column):
            place = -1 if column is None else rows.schema.get_field_index(column)
            if place < 0:
                continue
            field = rows.schema.field(place)
            kind = value_type(field.type)
            if column == type_column and kind in (ValueType.INT64, ValueType.BOOL):
                self.type_kind = kind
            elif kind is ValueType.STRING or pa.types.is_null(field.type):
                # Whatever form texts have in the data, names are codes.
                self.arrow_schema = self.arrow_schema.set(place, pa.field(column, DICTIONARY))
            else:
                raise self._not_names(field)
        usual = self.has_type_column and type_column == TYPE_COLUMN and self.type_kind is ValueType.STRING
        self.tells_types = usual and not isinstance(rows, MergedRows)
        self.device = rows.device if isinstance(rows, DeviceRows) and rows.tables else None

    @property
    def source_column(self) -> str | None:
        """The column that tells which table a row is from; None if there is one table."""
        return self.type_column if isinstance(self._rows, MergedRows) else None

    @property
    def table_rows(self) -> Rows:
        """The rows, with all columns as they are."""
        return self._rows

    @property
    def left_out(self) -> int:
        """How many rows the last reading left out, since they came too late."""
        return self._rows.left_out

    @property
    def on_device(self) -> tuple[DeviceTable, ...]:
        """The events on their CUDA device, if they are on one and in their order; otherwise empty."""
        return self._rows.tables if isinstance(self._rows, DeviceRows) else ()

    def parts(self) -> list[Source]:
        """The events of each file, which follow one another; empty if the events are not those of files."""
        return [
            Source(part, self.order_by, self.type_column, self.stream_column) for part in self._rows.parts()
        ]

    def behind(self, files: int) -> Source:
        """The events behind those of so many of the files of `parts`."""
        return Source(self._rows.behind(files), self.order_by, self.type_column, self.stream_column)

    def _check_order_and_stream(self) -> None:
        """Refuse columns of order that hold no times, and columns that are not there."""
        for column in self.order_by:
            self.require(column, "order_by")
        if self.stream_column is not None:
            self.require(self.stream_column, "stream_column")
        if self.order_by:
            arrow = self.arrow_schema.field(self.order_by[0]).type
            kind = value_type(arrow)
            unordered = kind in (ValueType.STRING, ValueType.BOOL, ValueType.DECIMAL)
            if unordered or (kind is None and not pa.types.is_null(arrow)):
                if kind is ValueType.STRING:
                    raise DataError(self._no_times(self.order_by[0]))
                raise DataError(
                    f"the order column `{self.order_by[0]}` of {self.where} is of type {arrow}; it must "
                    "be an integer, a float, a timestamp, a date or a duration: convert it first"
                )

    def _not_names(self, field: pa.Field) -> DataError:
        """The error about a column of types or streams that holds something else."""
        typed = field.name == self.type_column
        role = "type_column" if typed else "stream_column"
        fit = "strings, integers or booleans" if typed else "strings"
        unused = f"; {ORDINARY}" if typed else ""
        return DataError(
            f"column `{field.name}` of {self.where} is of type {field.type}, but the {role} must "
            f"hold {fit}: name another with {role}, or convert it{unused}"
        )

    def _no_times(self, column: str) -> str:
        """What is wrong with an order column of texts."""
        found, zoned = "", False
        if self.rewindable:
            batch = next(self._rows.read(self._rows.subschema([column]), 1000), None)
            texts = [] if batch is None else batch.column(0).drop_null().to_pylist()
            found = f" such as `{texts[0]}`" if texts else ""
            zoned = any(OFFSET.search(text) is not None for text in texts)
        advice = (
            f"times are read as {TIMES}: for another form pass it, as in date_format='%d.%m.%Y %H:%M:%S' "
            "(--date-format), or pass a table whose column holds times"
        )
        if not self._rows.is_text:
            # Without these the offsets are refused by pandas and polars, and dropped by DuckDB.
            pandas, polars, duckdb = (", utc=True", "time_zone='UTC'", "TZ") if zoned else ("", "", "")
            arrow = ", 'UTC'" if zoned else ""
            advice = (
                f"convert them to times first: pd.to_datetime(df['{column}']{pandas}) in pandas, "
                f"pl.col('{column}').str.to_datetime({polars}) in polars, "
                f"CAST({column} AS TIMESTAMP{duckdb}) in DuckDB, "
                f"table['{column}'].cast(pyarrow.timestamp('us'{arrow})) in pyarrow"
            )
        return f"the order column `{column}` of {self.where} holds texts{found}, not times; {advice}"

    def require(self, column: str, role: str | None = None) -> None:
        """Raise a DataError if there is no such column; `role` is the keyword that names it."""
        names = self._rows.schema.names
        if column in self._rows.unread:
            raise DataError(f"the column `{column}` of {self.where} holds {self._rows.unread[column]}")
        if column in names:
            return
        near = near_name(column, names, columns=True)
        asked = f", which {role} names" if role else ""
        meant = f"did you mean `{near}`? " if near else ""
        if self._rows.is_text and any(name[:1].isdecimal() for name in names):
            meant = "the first line of a CSV file must name the columns; "
        raise DataError(
            f"{self.where} has no column `{name_text(column)}`{asked}: {meant}its columns are "
            f"{names_text(names)}"
        )

    def language_schema(self, order_unit: str | None = None) -> Schema:
        """The schema that a query over these events is checked against.

        The type column is not an attribute. `types` is known only for a dict of tables. Columns that the
        language cannot use are in `unsupported`, also those whose type differs between the tables of a dict.
        Atoms by position follow the columns of each table, without those that have a role.
        """
        if order_unit not in self._schemas:
            self._schemas[order_unit] = self._schema(order_unit)
        return self._schemas[order_unit]

    def _schema(self, order_unit: str | None) -> Schema:
        attributes, unsupported = usable(self.arrow_schema)
        returned = frozenset(unsupported)
        types: dict[str, frozenset[str]] | None = None
        columns: dict[str | None, Sequence[str]] = {None: self.arrow_schema.names}
        attributes = {name: kind for name, kind in attributes.items() if name not in self._rows.unread}
        unsupported |= self._rows.unread
        if self.type_column is not None:
            attributes.pop(self.type_column, None)
        if isinstance(self._rows, MergedRows):
            unsupported |= self._rows.clashes
            returned -= self._rows.clashes.keys()
            columns = dict(self._rows.columns().items())
            types = {name: frozenset(attributes.keys() & own) for name, own in self._rows.columns().items()}
        roles = {self.type_column, self.stream_column, *self.order_by}
        order = self.order_by[0] if self.order_by else None
        return Schema(
            attributes,
            types,
            order=order,
            order_unit=order_unit,
            units=all_units(self.arrow_schema),
            zones=time_zones(self.arrow_schema),
            unsupported=unsupported,
            returned=returned,
            fields=tuple(names_of_fields(self.arrow_schema)),
            roles=self._roles(),
            partial=self._rows.partial,
            categories={name: order for name, order in self.orders.items() if name in attributes},
            ordered={name: tuple(one for one in own if one not in roles) for name, own in columns.items()},
        )

    def _roles(self) -> dict[str, str]:
        if self.type_column is None or not self.has_type_column:
            return {}
        name = written(self.type_column)
        instead = (
            f"`{name}` is the column of event types (type_column): name the type in the pattern, as in `T AS "
            f"x`; or {ORDINARY}"
        )
        return {self.type_column: instead}

    def scan_event_types(self) -> frozenset[str] | None:
        """The event types that occur, found by reading the type column.

        Returns
        -------
        frozenset of str or None
            None if there is no type column, or the events can be read only once.
        """
        if self.type_column is None or not self.has_type_column or not self.rewindable:
            return None
        found: set[str] = set()
        for batch in self.batches([self.type_column], 1 << 20):
            column = batch.column(0)
            if self.type_kind is not ValueType.STRING:
                found.update(pc.unique(column).drop_null().cast(pa.string()).to_pylist())
                continue
            present = pc.unique(column.indices).drop_null()
            found.update(value for value in column.dictionary.take(present).to_pylist() if value is not None)
        return frozenset(found)

    def check_types(self, names: Collection[str], streams: Collection[str]) -> None:
        """Raise if the events have no type column, and the query does not give them all one type.

        Parameters
        ----------
        names : collection of str
            The event types in the query.
        streams : collection of str
            The names of FROM: if there is one, it is the type of all events.

        Raises
        ------
        DataError
            If there is no type column, and it was asked for by name, or the query does not give all events
            one type.
        """
        if self.has_type_column:
            self._check_numbers(names)
            return
        if self.type_column not in (TYPE_COLUMN, None):
            self.require(self.type_column, "type_column")
        if len(names) > 1 or len(streams) != 1:
            if self.type_column is None:
                given = names_text(sorted(names))
                raise DataError(
                    f"type_column=None says that all events of {self.where} are of one type, and the query "
                    f"has the event types {given}: use only the type that FROM names, as in SELECT ... FROM "
                    "T WHERE T ..."
                )
            raise DataError(
                f"{self.where} has no column `{self.type_column}`, and the query has the event types "
                f"{names_text(sorted(names))}: name the column of event types with type_column=... "
                f"(--type-column ...), one of {names_text(self._rows.schema.names)}; or, if all events are "
                "of one type, use only that type in the query: SELECT ... FROM T WHERE T ..."
            )

    def _check_numbers(self, names: Collection[str]) -> None:
        """Refuse event types that a type column of whole numbers or booleans cannot hold."""
        if self.type_kind is ValueType.STRING:
            return
        for name in sorted(names):
            try:
                type_number(name, self.type_kind)
            except ValueError:
                whole = self.type_kind is ValueType.INT64
                held, example = ("integers", "`4624`") if whole else ("booleans", "`true` or `false`")
                raise DataError(
                    f"the type column `{self.type_column}` of {self.where} holds {held}, and `{name}` "
                    f"is not one of them: write a type as its value between back-ticks, as in {example}"
                ) from None

    def check_streams(self, names: Collection[str]) -> None:
        """Raise if the query names several streams, and the events have no stream column.

        Raises
        ------
        DataError
            If there is no stream column and `names`, the streams of the query, are more than one.
        """
        if self.stream_column is not None or len(names) <= 1:
            return
        raise DataError(
            f"the query names the streams {names_text(sorted(names))}, and no column is known that says "
            "which stream an event belongs to: name it with stream_column=... (--stream-column ...), one of "
            f"{names_text(self._rows.schema.names)}"
        )

    def batches(
        self, columns: Sequence[str], rows: int, lying: Collection[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """The events, from the first to the last.

        Parameters
        ----------
        columns : sequence of str
            The wanted columns; may be empty, then a batch has only its number of rows. `ROW` (`rows`) is the
            row of the data as it was passed: before it was sorted, and of its own table if tables were
            merged.
        rows : int
            The most rows of a batch, at least 1. Slices of tables in memory are not copied.
        lying : collection of str, optional
            Columns left in the type that `Rows` gives: strings may be plain, or have codes of fewer than 32
            bits.

        Yields
        ------
        pyarrow.RecordBatch
            With these columns in this order; never empty.

        Raises
        ------
        DataError
            For an unknown column, corrupt or changing data, a null in an order column that must be sorted or
            merged by, and a second pass over what can be read once.
        """
        if rows < 1:
            raise ValueError("rows must be at least 1")
        names = self._rows.schema.names
        for column in columns:
            if (column not in names and column != ROW) or column in self._rows.unread:
                self.require(column)
        # A batch without columns would lose its number of rows on the way: any column carries it.
        carried = list(dict.fromkeys(name for name in columns if name != ROW)) or names[:1]
        target = pa.schema([self.arrow_schema.field(name) for name in carried])
        stored = pa.schema([self._rows.schema.field(name) for name in carried])
        given = self._rows.read
        if ROW in columns:
            given = self._rows.read_numbered
            target = target.append(ROW_FIELD)
        for batch in regroup(given(stored, rows), rows):
            fields = [own if own.name in lying else field for own, field in zip(batch.schema, target)]
            made = convert_batch(batch, pa.schema(fields), self.where)
            yield made if columns == made.schema.names else made.select(list(columns))

    def named(self, error: RowError) -> DataError:
        """The error with the row of the data as it was passed: of its file, before sorting and merging."""
        try:
            place = self._rows.place(error.position)
        except CerError:  # what cannot be read again names no rows
            return error
        return error.naming(place)

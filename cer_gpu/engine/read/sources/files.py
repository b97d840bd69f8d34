"""Rows from files: Parquet, Arrow IPC (file and stream), CSV and JSON lines."""

from __future__ import annotations

import dataclasses
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.sources import ipc
from cer_gpu.engine.read.sources.arrow_types import (
    DICTIONARY,
    convert_batch,
    first_line,
    is_text,
    normal_schema,
    shared_types,
)
from cer_gpu.engine.read.sources.categories import (
    Orders,
    check_orders,
    is_category,
    is_ordered,
    order_in,
)
from cer_gpu.engine.read.sources.open_file import OpenFile, Stamp, stamp_of
from cer_gpu.engine.read.sources.paths import NAMES, TEXTS, DataFile, check_content, find_files
from cer_gpu.engine.read.sources.rows import Rows, guarded
from cer_gpu.engine.read.sources.text import (
    is_long,
    probe_csv,
    probe_json,
    read_csv,
    read_json,
    unread_columns,
)
from cer_gpu.engine.read.sources.text_form import DECISIVE, NOT_UTF8, PLAIN, TextForm
from cer_gpu.engine.read.sources.wide_times import times_of_96_bits, wide_columns
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.schema import CategoryOrder

TEXT_BYTES = 1 << 28
"""About the most bytes of text in a column of a batch of a Parquet file. Arrow reads less than 2 GiB of text
at a time, and only the average length of texts is known."""


TEXTS_STORED = b"texts stored"
"""Marks a column that is read as a dictionary, and stored as plain texts."""


class FileRows(Rows):
    """Files of one schema, or parts of them, read one after another.

    The types of a column may differ from file to file only if one widens to the other
    (`arrow_types.common_type`). Strings are read as dictionaries, so that a constant is compared once for
    each value.

    Parameters
    ----------
    files : sequence of OpenFile
        At least one.
    schema : pyarrow.Schema, optional
        The schema that they share, if it is known.
    orders : mapping of str to CategoryOrder, optional
        The orders of categories, if they are known.
    """

    in_files = True

    def __init__(
        self, files: Sequence[OpenFile], schema: pa.Schema | None = None, orders: Orders | None = None
    ) -> None:
        self._files = files
        self.schema = unify(files) if schema is None else schema
        self.orders = self._orders() if orders is None else orders
        counts = [each.rows for each in files]
        self.rows = None if None in counts else sum(count for count in counts if count is not None)
        first = files[0].file.path
        self.where = first if len(files) == 1 else f"{first} and {len(files) - 1} more files"
        self._begins: list[int] = []
        """For each file whose reading has begun, the number of its first row among all rows."""

        self.unread = {name: reason for each in files for name, reason in each.unread.items()}
        self.is_text = any(each.file.format in ("csv", "json") for each in files)
        sizes = [(each.file, None if each.stamp is None else each.stamp.size) for each in files]
        late = [one.path for one, size in sizes if one.format == "json" and is_long(one.path, size)]
        if late:
            self.partial = (
                f"the columns of {late[0]} are those of {DECISIVE}: add the attribute to one of its first "
                "lines, or write the file as Parquet"
            )

        stamp = files[0].stamp
        if len(files) == 1 and stamp is not None:
            self.stamp = (first, stamp.size, stamp.modified)

    def parts(self) -> list[Rows]:
        """See `Rows.parts`."""
        return [FileRows([each], self.schema, self.orders) for each in self._files]

    def behind(self, files: int) -> Rows:
        """See `Rows.behind`."""
        return FileRows(self._files[files:], self.schema, self.orders)

    def _orders(self) -> Orders:
        """The orders of categories, by the first dictionary of each column; later ones are checked."""
        names = {name for each in self._files for name in each.coded}
        found = {}
        for name in names:
            ordered = all(each.coded.get(name, False) for each in self._files)
            found[name] = CategoryOrder() if not ordered else self._first_order(name)
        return found

    def _first_order(self, name: str) -> CategoryOrder:
        wanted = pa.schema([(name, self.schema.field(name).type)])
        found = CategoryOrder(pending=True)
        for opened in self._files:
            read = guarded(_FORMATS[opened.file.format].read(opened, wanted, 1), opened.file.path)
            found = order_in(batch.column(0).dictionary for batch in islice(read, 1))
            if not found.pending:
                break  # the file before is empty
        return found

    @classmethod
    def at(cls, paths: Sequence[str | os.PathLike[str]], text: TextForm = PLAIN) -> FileRows:
        """The files at some paths; `text` says how text files are read."""
        return cls([_open(file, text) for file in find_files(paths)])

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """See `Rows.read`: from Parquet the columns inside a struct are read one by one."""
        if any(each.file.format != "parquet" for each in self._files):
            wanted = self.subschema(wanted.names)
        begin = 0
        for number, opened in enumerate(self._files):
            if number == len(self._begins):
                self._begins.append(begin)
            keys = opened.file.keys
            stored = pa.schema([field for field in wanted if field.name not in keys])
            if not len(stored):
                stored = self.subschema([name for name in opened.schema.names if name not in keys][:1])
            read = _FORMATS[opened.file.format].read
            seen = 0
            for batch in guarded(read(opened, stored, rows), opened.file.path):
                if opened.filesystem is None:  # elsewhere asking is a journey: once, at the end
                    opened.check_unchanged()
                seen += batch.num_rows
                stretched = convert_batch(
                    check_orders(batch, self.orders, opened.file.path), stored, opened.file.path
                )
                for start in range(0, stretched.num_rows, rows):
                    yield _add_keys(stretched.slice(start, rows), keys, wanted)
            opened.check_unchanged()
            opened.check_rows(seen)
            begin += seen

    def place(self, row: int) -> str:
        """See `Rows.place`: the row of its file."""
        number = max(bisect_right(self._begins, row) - 1, 0)
        opened = self._files[number]
        own = row - (self._begins[number] if self._begins else 0) + opened.first
        return f"row {own} of {opened.file.path} (counted from 0)"


def _open(file: DataFile, text: TextForm) -> OpenFile:
    check_content(file)
    if text.said is not None and file.format not in TEXTS:
        typed = text.said == "column_types"
        raise DataError(
            f"{text.said} is for text files, and {file.path} is {NAMES[file.format]}"
            f"{', which has types of its own: cast the table and pass that' if typed else ''}"
            f"{', and the zone of its times by pyarrow.compute.assume_timezone' if typed else ''}"
        )
    stamp = _attempt(lambda: stamp_of(file.path), file)
    schema, rows = _attempt(lambda: _FORMATS[file.format].probe(file.path, text), file)
    found = opened(file, schema, rows, stamp)
    return (
        dataclasses.replace(found, text=text, unread=unread_columns(schema))
        if file.format in TEXTS
        else found
    )


def opened(
    file: DataFile, schema: pa.Schema, rows: int | None, stamp: Stamp | None, filesystem: Any = None
) -> OpenFile:
    """A whole file, with the columns that it stores and those that the names of its folders give.

    Raises
    ------
    DataError
        If it has no columns, or two of one name.
    """
    if not schema.names:
        raise DataError(f"{file.path}: the file has no columns")
    keys = {key: text for key, text in file.keys.items() if key not in schema.names}
    fields = [
        *normal_schema(schema, file.path),
        *(pa.field(key, _key_type(text)) for key, text in keys.items()),
    ]
    return OpenFile(
        DataFile(file.path, file.format, keys), pa.schema(fields), rows, stamp, filesystem=filesystem,
        coded={
            one.name: is_ordered(one.type)
            for one in schema
            if is_category(one.type) and TEXTS_STORED not in (one.metadata or {})
        },
    )  # fmt: skip


def _attempt(action: Callable[[], Any], file: DataFile) -> Any:
    """Run an action on a file; raise a DataError when the file cannot be read."""
    try:
        with within_memory(f"opening {file.path}"):
            return action()
    except UnicodeDecodeError as error:
        raise DataError(f"{file.path}: the names of the columns are {NOT_UTF8}") from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file.path} cannot be read as {NAMES[file.format]}: {first_line(error)}") from error


def _key_type(text: str | None) -> pa.DataType:
    if text is None:
        return pa.null()
    return pa.int64() if text.lstrip("-").isdecimal() and len(text) < 19 else DICTIONARY


def _add_keys(batch: pa.RecordBatch, keys: Mapping[str, str | None], target: pa.Schema) -> pa.RecordBatch:
    """`batch` with the columns that its folders' names give."""
    if batch.schema.equals(target):
        return batch
    arrays: list[pa.Array] = []
    for field in target:
        if field.name not in keys:
            arrays.append(batch.column(field.name))
            continue
        text = keys[field.name]
        if text is None:
            arrays.append(pa.nulls(batch.num_rows, field.type))
        elif pa.types.is_integer(field.type):
            arrays.append(pa.repeat(pa.scalar(int(text), field.type), batch.num_rows))
        else:
            indices = pa.repeat(pa.scalar(0, pa.int32()), batch.num_rows)
            arrays.append(pa.DictionaryArray.from_arrays(indices, pa.array([text])))
    return pa.RecordBatch.from_arrays(arrays, schema=target)


def unify(files: Sequence[OpenFile]) -> pa.Schema:
    """The schema that all files share; a DataError names a file and a column that do not fit it."""
    first = files[0]

    def lacking(name: str, has: int, lacks: int) -> DataError:
        return DataError(
            f"the files have different columns: {files[has].file.path} has `{name}`, "
            f"{files[lacks].file.path} has not; to fill missing columns with nulls, pass a pyarrow Dataset "
            "with the schema you want"
        )

    def clashing(field: pa.Field, number: int) -> pa.DataType:
        other = files[number].file
        if field.name in first.file.keys and field.name in other.keys:
            return DICTIONARY
        raise DataError(
            f"the files disagree on column `{field.name}`: {first.schema.field(field.name).type} in "
            f"{first.file.path}, {field.type} in {other.path}; convert them to one type"
        )

    return pa.schema(list(shared_types([each.schema for each in files], lacking, clashing).items()))


# ------------------------------------------------------------------------------- one file of each format


@dataclass(frozen=True, slots=True)
class _Format:
    """How a format is read.

    `probe(path, form)` gives (schema, rows or None); `read(file, wanted schema, rows)` gives the batches with
    the wanted columns, in order, in types that convert to the wanted ones.
    """

    probe: Callable[[str, TextForm], tuple[pa.Schema, int | None]]
    read: Callable[[OpenFile, pa.Schema, int], Iterable[pa.RecordBatch]]


def _probe_parquet(path: str, text: TextForm) -> tuple[pa.Schema, int | None]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return parquet_schema(file.schema_arrow, file.metadata), parquet_rows(path, file.metadata)


def parquet_rows(path: str, metadata: Any) -> int:
    """How many rows a Parquet file has, by the metadata in its footer.

    Raises
    ------
    DataError
        If the footer contradicts itself.
    """
    rows: int = metadata.num_rows
    grouped = sum(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
    if grouped != rows:
        raise DataError(
            f"{path} is damaged: its footer says {rows:,} rows, and its row groups have {grouped:,}; write "
            "the file again"
        )
    return rows


def parquet_schema(stored: pa.Schema, metadata: Any) -> pa.Schema:
    """The types in which the columns of a Parquet file are read."""
    wide = wide_columns(metadata)
    unordered = _without_dictionaries(metadata) if any(map(is_ordered, stored.types)) else frozenset()

    def read(field: pa.Field) -> pa.Field:
        if field.name in wide:
            return pa.field(field.name, pa.timestamp("us"))
        if is_text(field.type):
            return pa.field(field.name, DICTIONARY, metadata={TEXTS_STORED: b""})
        lost = is_ordered(field.type) and field.name in unordered
        return pa.field(field.name, DICTIONARY if lost else field.type)

    return pa.schema([read(field) for field in stored])


def _without_dictionaries(metadata: Any) -> frozenset[str]:
    """The columns of which some row group stores no dictionary: it does not tell the order of categories."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    columns = (group.column(index) for group in groups for index in range(group.num_columns))
    return frozenset(one.path_in_schema for one in columns if not one.has_dictionary_page)


def _read_parquet(opened: OpenFile, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    texts = [field.name for field in wanted if pa.types.is_dictionary(field.type)]
    path, there = opened.file.path, opened.filesystem
    groups = None if opened.groups is None else list(opened.groups)
    # Without pre-buffering and through a small buffer, one row group is never in memory as a whole; but
    # elsewhere every read is a journey.
    reading: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 20} if there is None else {}
    with pq.ParquetFile(path, filesystem=there, **reading) as file:
        metadata = file.metadata
    reading |= times_of_96_bits(metadata)
    rows = min(rows, _rows_of_texts(metadata, texts))
    coded = [name for name in texts if _coded_bytes(metadata, name) <= TEXT_BYTES]
    with pq.ParquetFile(path, read_dictionary=coded, filesystem=there, metadata=metadata, **reading) as file:
        leaves = [leaf for field in wanted for leaf in _leaves(field)]
        for batch in file.iter_batches(rows, groups, leaves, use_threads=True):
            yield batch.select(wanted.names)


def _leaves(field: pa.Field, before: str = "") -> Iterator[str]:
    """The paths of what is stored of a column: its name, and of a struct those of its fields."""
    if pa.types.is_struct(field.type) and field.type.num_fields:
        for inner in field.type:
            yield from _leaves(inner, f"{before}{field.name}.")
    else:
        yield f"{before}{field.name}"


def _coded_bytes(metadata: Any, name: str) -> int:
    """Most bytes of the dictionary that Arrow makes of a column's texts while it reads a file.

    It adds the texts that the file stores one by one to the dictionary that it has, batch after batch, until
    a row group brings a dictionary of its own.
    """
    most = held = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for index in range(group.num_columns):
            column = group.column(index)
            if column.path_in_schema == name:
                held = column.total_uncompressed_size + (0 if column.has_dictionary_page else held)
                most = max(most, held)
    return most


def _rows_of_texts(metadata: Any, texts: Sequence[str]) -> int:
    """Rows whose texts take `TEXT_BYTES`, about, in each of some columns; at least one."""
    least: int = max(metadata.num_rows, 1)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for index in range(group.num_columns):
            column = group.column(index)
            if column.path_in_schema in texts:
                size = max(column.total_uncompressed_size, 1)
                least = min(least, max(TEXT_BYTES * group.num_rows // size, 1))
    return least


_FORMATS: Mapping[str, _Format] = {
    "parquet": _Format(_probe_parquet, _read_parquet),
    "ipc": _Format(
        lambda path, text: ipc.probe(path),
        lambda opened, wanted, rows: ipc.read(opened.file.path, wanted.names),
    ),
    "csv": _Format(probe_csv, read_csv),
    "json": _Format(probe_json, read_json),
}

"""Rows from text files: CSV and JSON lines, compressed or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import (
    DICTIONARY,
    LARGE_DICTIONARY,
    first_line,
    is_text,
    value_type,
)
from cer_gpu.engine.read.sources.clock_times import LocalRun
from cer_gpu.engine.read.sources.compression import open_packed, packing
from cer_gpu.engine.read.sources.open_file import OpenFile
from cer_gpu.engine.read.sources.text_form import (
    CSV_NULLS,
    NOT_UTF8,
    TEXT_BLOCK,
    TextForm,
    another_delimiter,
    delimiter_of,
)
from cer_gpu.errors import DataError
from cer_gpu.language.schema import ValueType
from cer_gpu.lazy_modules import compute as pc


def unread_columns(schema: pa.Schema) -> dict[str, str]:
    """The columns of a text file that no query can use, with the reason."""
    return {field.name: NOT_UTF8 for field in schema if pa.types.is_binary(field.type)}


def is_long(path: str, size: int | None) -> bool:
    """Whether a file may have lines after those that decide its columns."""
    return packing(path) is not None or (size is not None and size > TEXT_BLOCK)


# ---------------------------------------------------------------------------------------- CSV


def probe_csv(path: str, form: TextForm) -> tuple[pa.Schema, int | None]:
    """The columns of a CSV file; its number of rows is not known.

    Raises
    ------
    DataError
        If a column of `column_types` is missing, or another delimiter splits the header.
    """
    try:
        schema = _csv_schema(path, form)
    except pa.ArrowInvalid as error:
        from cer_gpu.engine.read.sources.text_faults import csv_fault

        cells = _csv_cells(path, form)
        raise DataError(csv_fault(path, form, dict(form.types), str(error), 0, cells)) from error
    names = schema.names
    form.check_columns(names, path)
    split = another_delimiter(path, form, names)
    if split:
        raise DataError(split)
    fields = [pa.field(field.name, DICTIONARY if is_text(field.type) else field.type) for field in schema]
    return pa.schema(fields), None


def _csv_schema(path: str, form: TextForm) -> pa.Schema:
    local = _local_times(path, form)
    kinds = _csv_kinds(form.types) | {name: _without_zone(kind) for name, kind in local.items()}
    with _csv_reader(path, form, {"column_types": kinds}) as reader:
        return pa.schema([pa.field(field.name, local.get(field.name, field.type)) for field in reader.schema])


def _local_times(path: str, form: TextForm) -> dict[str, pa.DataType]:
    """The columns with a time zone, as `column_types` says, whose cells are the clock's times there."""
    found = {}
    for name, kind in form.types:
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            plain = {"include_columns": [name], "column_types": {name: _without_zone(kind)}}
            with suppress(pa.ArrowException, KeyError), _csv_reader(path, form, plain):
                found[name] = kind
    return found


def _without_zone(kind: pa.DataType) -> pa.DataType:
    return pa.timestamp(kind.unit)


def read_csv(opened: OpenFile, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
    """Batches with the wanted columns of a CSV file.

    Raises
    ------
    DataError
        Names the row, the column and the cell that cannot be read.
    """
    path, seen = opened.file.path, 0
    kinds = _csv_kinds(zip(wanted.names, wanted.types))
    local = {name: kind for name, kind in _local_times(path, opened.text).items() if name in kinds}
    kinds |= {name: _without_zone(kind) for name, kind in local.items()}
    chosen = {"include_columns": wanted.names, "column_types": kinds}
    runs = {name: LocalRun() for name in local}
    try:
        with _csv_reader(path, opened.text, chosen) as reader:
            for batch in reader:
                columns = [
                    opened.text.clocks.moments(column, local[name], (path, name), seen, runs[name])
                    if name in local
                    else _empty_to_null(column)
                    for name, column in zip(batch.schema.names, batch.columns, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
                seen += batch.num_rows
    except pa.ArrowInvalid as error:
        from cer_gpu.engine.read.sources.text_faults import csv_fault

        types = dict(zip(wanted.names, wanted.types, strict=True)) | {name: kinds[name] for name in local}
        cells = _csv_cells(path, opened.text)
        raise DataError(csv_fault(path, opened.text, types, str(error), seen, cells)) from error


def _csv_cells(path: str, form: TextForm) -> Callable[[Sequence[str]], Iterable[pa.RecordBatch]]:
    """A function that reads some columns as bytes."""

    def read(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        bare = {"include_columns": names, "column_types": dict.fromkeys(names, pa.binary())}
        with _csv_reader(path, form, bare) as reader:
            yield from reader

    return read


def _csv_kinds(types: Any) -> dict[str, pa.DataType]:
    """The types in which the CSV reader gives columns: texts as dictionaries of 32 bits, or not at all."""
    return {name: DICTIONARY if is_text(kind) or kind == LARGE_DICTIONARY else kind for name, kind in types}


def _csv_reader(path: str, form: TextForm, chosen: dict[str, Any]) -> Any:
    import pyarrow.csv as pacsv

    # Formats that are said stand in place of Arrow's, so that 01/02/2024 is never read in two ways.
    said: dict[str, Any] = {"timestamp_parsers": list(form.date_formats)} if form.date_formats else {}
    if form.decimal_point is not None:
        said["decimal_point"] = form.decimal_point
    return pacsv.open_csv(
        open_packed(path) if packing(path) else path,
        read_options=pacsv.ReadOptions(block_size=TEXT_BLOCK),
        parse_options=pacsv.ParseOptions(delimiter=delimiter_of(path, form)),
        convert_options=pacsv.ConvertOptions(
            null_values=CSV_NULLS, strings_can_be_null=False, **said, **chosen
        ),
    )


def _empty_to_null(array: pa.Array) -> pa.Array:
    """An empty cell of a text column is a null, as it is in any other column of a CSV file."""
    if not pa.types.is_dictionary(array.type):
        return array
    empty = pc.index(array.dictionary, "").as_py()
    if empty < 0:
        return array
    indices = pc.if_else(pc.equal(array.indices, empty), None, array.indices)
    return pa.DictionaryArray.from_arrays(indices, array.dictionary)


# --------------------------------------------------------------------------------- JSON lines


def probe_json(path: str, form: TextForm) -> tuple[pa.Schema, int | None]:
    """The attributes of a JSON lines file, from its first lines; its number of rows is not known.

    Raises
    ------
    DataError
        If a column of `column_types` is missing, or a keyword is given that is for CSV only.
    """
    if form.said_of_csv is not None:
        raise DataError(f"{form.said_of_csv} is for CSV files, and {path} is JSON lines")
    asked = dict(form.types)
    reader = _json_reader(path, pa.schema(_json_fields(form.types)), "infer")
    head = next(iter(reader), None)
    names: Sequence[str] = reader.schema.names
    form.check_columns(names, path)
    if head is None:
        return reader.schema, None
    types = [
        asked.get(name) or _time_type(column) or column.type
        for name, column in zip(names, head.columns, strict=True)
    ]
    return pa.schema(list(zip(names, types, strict=True))), None


def read_json(opened: OpenFile, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
    """Batches with the wanted attributes of a JSON lines file.

    Raises
    ------
    DataError
        Names the row, the attribute and the value that cannot be read.
    """
    seen = 0
    plain = pa.schema(_json_fields(zip(wanted.names, wanted.types)))
    try:
        for batch in _json_reader(opened.file.path, plain, "ignore"):
            yield batch.select(wanted.names)
            seen += batch.num_rows
    except pa.ArrowInvalid as error:
        from cer_gpu.engine.read.sources.text_faults import json_fault

        types = dict(zip(wanted.names, wanted.types, strict=True))
        raise DataError(json_fault(opened.file.path, opened.text, types, first_line(error), seen)) from error


def _json_fields(types: Any) -> list[pa.Field]:
    return [pa.field(name, pa.string() if _spelled(kind) else kind) for name, kind in types]


def _json_reader(path: str, fields: pa.Schema, others: str) -> Any:
    import pyarrow.json as pajson

    return pajson.open_json(
        open_packed(path) if packing(path) else path,
        read_options=pajson.ReadOptions(block_size=TEXT_BLOCK),
        parse_options=pajson.ParseOptions(explicit_schema=fields, unexpected_field_behavior=others),
    )


def _spelled(arrow: pa.DataType) -> bool:
    """Whether the JSON reader has to give it as a string: it reads times of whole seconds only."""
    return value_type(arrow) is ValueType.STRING or (pa.types.is_timestamp(arrow) and arrow.unit != "s")


def _time_type(column: pa.Array) -> pa.DataType | None:
    """The timestamp type that every string of a column spells, or None."""
    if not pa.types.is_string(column.type) or column.null_count == len(column):
        return None
    for unit in ("us", "ns"):
        for zone in (None, "UTC"):
            arrow = pa.timestamp(unit, zone)
            try:
                column.cast(arrow)
            except pa.ArrowInvalid:
                continue
            return arrow
    return None

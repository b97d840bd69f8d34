"""What is wrong with a text file, with its row, its column and the cell: Arrow names none of them.

For this the file is read a second time, as text, up to the row that cannot be read.
"""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import first_line, value_type
from cer_gpu.engine.read.sources.compression import open_packed
from cer_gpu.engine.read.sources.text_form import (
    CSV_NULLS,
    DECISIVE,
    NOT_UTF8,
    TIMES,
    TextForm,
    another_delimiter,
    delimiter_of,
)
from cer_gpu.language.schema import ValueType
from cer_gpu.lazy_modules import compute as pc

INVALID = re.compile(
    r"CSV conversion error to (?P<kind>.*?): invalid value '(?P<cell>.*?)'(?:\n|$)", re.DOTALL
)
"""Arrow's messages for a cell that does not convert."""

SHOWN = 40
"""The most characters of a cell or a row that are shown."""


NUMBERS = (ValueType.INT64, ValueType.FLOAT64, ValueType.DECIMAL)
"""The types whose cells may have a comma as decimal point."""

SEARCH_S = 10.0
"""Seconds that Python searches for a row that cannot be read; then the message names the row before."""

Cells: TypeAlias = Callable[[Sequence[str]], Iterable[pa.RecordBatch]]


def csv_fault(
    path: str,
    form: TextForm,
    types: Mapping[str, pa.DataType],
    reason: str,
    seen: int,
    cells: Cells,
) -> str:
    """Describe what is wrong with a CSV file.

    Parameters
    ----------
    path : str
    form : TextForm
    types : mapping of str to pyarrow.DataType
        The types of columns, as far as they are known.
    reason : str
        Arrow's message.
    seen : int
        How many rows were read before.
    cells : callable
        Reads some columns as bytes.
    """
    invalid = INVALID.search(reason)
    if invalid:
        # The text of a cell that is wrong in one column may be right in another.
        suspects = [name for name, kind in types.items() if str(kind) == invalid["kind"]]
        spot = _first_cell(cells, suspects or list(types), invalid["cell"], seen)
        if spot is not None:
            misfit = _misfit(spot[1], invalid["cell"], types.get(spot[1]), form)
            place = f"row {spot[0]:,} of {path} (counted from 0)"
            return f"{place} has `{_cut(invalid['cell'])}` in column `{spot[1]}`, {misfit}"
        return _after(path, seen, reason, f"the types of its columns are decided by {DECISIVE}")
    delimiter = delimiter_of(path, form)
    names = next(_records(path, delimiter), [])
    split = another_delimiter(path, form, names)
    if split:
        return split
    if "UTF8" in reason:

        def wrong(row: Sequence[str]) -> int | None:
            return next((at for at, text in enumerate(row) if not _is_encodable(text)), None)

    else:

        def wrong(row: Sequence[str]) -> int | None:
            return 0 if len(row) != len(names) else None

    found = _first_row(path, delimiter, wrong)
    if found is None:
        return _after(path, seen, reason, "correct the row")
    number, row, at = found
    place = f"row {number:,} of {path} (counted from 0)"
    if "UTF8" in reason:
        return f"{place} has, in column `{names[at]}`, {NOT_UTF8}"
    return (
        f"{place} has {_cells(len(row))}, and the header {_cells(len(names))}: "
        f"`{_cut(delimiter.join(row))}`; correct the row, or quote cells that hold the delimiter"
    )


def _after(path: str, seen: int, reason: str, advice: str) -> str:
    """What Arrow says, where the row was not found."""
    said = first_line(ValueError(reason))
    return f"{path} cannot be read after row {seen:,} (counted from 0): {said}; {advice}"


def _misfit(column: str, cell: str, kind: pa.DataType | None, form: TextForm) -> str:
    """Why a cell does not fit its column, and what to do."""
    decided = _decided(column in dict(form.types))
    wanted = None if kind is None else value_type(kind)
    number = _is_number(cell.replace(form.decimal_point or ",", ".", 1))
    if wanted is ValueType.TIMESTAMP:
        advice = f"times are read as {form.times}"
    elif form.decimal_point is None and wanted in NUMBERS and "," in cell and number:
        advice = "if the comma is a decimal point, pass decimal_point=',' (--decimal-point ,)"
    else:
        fit = "float64" if wanted is ValueType.INT64 and number else "string"
        advice = (
            f"if the value is right, pass column_types={{'{column}': '{fit}'}} (--column-type "
            f"'{column}={fit}')"
        )
    nulls = ", ".join(CSV_NULLS[1:-1])
    missing = f"a missing value can be an empty cell, {nulls} or {CSV_NULLS[-1]}"
    return f"which is {kind}{decided}: {advice}; {missing}"


def _decided(asked: bool) -> str:
    """What decides the type of a column."""
    return ", as column_types says" if asked else f" (decided by {DECISIVE})"


def json_fault(path: str, form: TextForm, types: Mapping[str, pa.DataType], reason: str, seen: int) -> str:
    """Describe what is wrong with a JSON lines file; parameters as for `csv_fault`."""
    for number, line in enumerate(_lines(path)):
        if number < seen:
            continue
        place = f"row {number:,} of {path} (counted from 0)"
        if not _is_encodable(line):
            return f"{place} has {NOT_UTF8}"
        try:
            values = json.loads(line)
        except ValueError:
            return f"{place} is not a JSON object: `{_cut(line)}`; correct the line"
        if not isinstance(values, dict):
            return f"{place} is not a JSON object: `{_cut(line)}`; write one object on each line"
        for name, kind in types.items():
            value = values.get(name)
            if value is not None and not _fits(value, kind):
                decided = _decided(name in dict(form.types))
                return (
                    f"{place} has `{_cut(json.dumps(value))}` as `{name}`, which is {kind}{decided}: "
                    f"{_other_type(name, value, kind)}"
                )
    # Arrow counts the rows of each block that it parses from 0.
    reason, _, row = reason.partition(" in row ")
    where = f"at row {seen + int(row):,}" if row.isdecimal() else f"after row {seen:,}"
    return (
        f"{path} cannot be read {where} (counted from 0): {reason}; the types of its columns are decided by "
        f"{DECISIVE}: correct the value, or write the file as Parquet"
    )


def _other_type(name: str, value: Any, kind: pa.DataType) -> str:
    if value_type(kind) is ValueType.INT64 and isinstance(value, float):
        return (
            f"if the value is right, pass column_types={{'{name}': 'float64'}} (--column-type "
            f"'{name}=float64')"
        )
    if value_type(kind) is ValueType.TIMESTAMP:
        return f"times are read as {TIMES}; a missing one is null"
    return "correct the value, or write null for a missing one"


def _fits(value: Any, kind: pa.DataType) -> bool:
    """Whether Arrow reads a value of JSON as one of a type."""
    wanted = value_type(kind)
    if wanted is ValueType.STRING:
        return isinstance(value, str)
    if wanted is ValueType.BOOL:
        return isinstance(value, bool)
    if wanted is ValueType.INT64:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63
    if wanted is ValueType.FLOAT64:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if wanted is ValueType.TIMESTAMP:
        try:
            pa.array([value], pa.string()).cast(kind)
        except (pa.ArrowException, TypeError):
            return False
    return True


# ------------------------------------------------------------------------------------ rows as text

Found = tuple[int, list[str], int]


def _first_cell(cells: Cells, names: Sequence[str], cell: str, first: int) -> tuple[int, str] | None:
    """The row, from `first` on, and the column of the first cell with a text."""
    wanted = {cell.encode(errors="surrogateescape"), cell.strip().encode(errors="surrogateescape")}
    begin = 0
    with suppress(pa.ArrowException, OSError):
        for batch in cells(names):
            spots = [
                (max(first - begin, 0) + row, name)
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
                for text in wanted
                if (row := pc.index(column.slice(max(first - begin, 0)), text).as_py()) >= 0
            ]
            if spots:
                row, name = min(spots)
                return begin + row, name
            begin += batch.num_rows
    return None


def _first_row(path: str, delimiter: str, wrong: Callable[[Sequence[str]], int | None]) -> Found | None:
    """The first row with a wrong cell: its number, its cells, and the place of the wrong one."""
    records = _records(path, delimiter)
    next(records, None)  # the header
    until = time.monotonic() + SEARCH_S
    for number, row in enumerate(records):
        at = wrong(row)
        if at is not None:
            return number, row, at
        if number % 4096 == 0 and time.monotonic() > until:
            return None
    return None


def _records(path: str, delimiter: str) -> Iterator[list[str]]:
    """The rows of a CSV file with its header, as far as it can be read; Arrow skips empty lines too."""
    with suppress(csv.Error, OSError, pa.ArrowException):
        yield from filter(None, csv.reader(_lines(path, ends=True), delimiter=delimiter))


def _lines(path: str, ends: bool = False) -> Iterator[str]:
    """The lines of a file that are not empty; bytes that are not UTF-8 stand as halves of characters."""
    with open_packed(path) as file, io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", "") as text:
        for line in text:
            if line.strip():
                yield line if ends else line.rstrip("\r\n")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"

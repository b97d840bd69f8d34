"""Answers for people to read: the cells of a table, and a short table as text or as HTML."""

from __future__ import annotations

import re
from typing import Any
from weakref import ref

import pyarrow as pa

from cer_gpu.json_text import json_text, time_text
from cer_gpu.notebook import HTML, shell
from cer_gpu.printable_text import on_one_line

ROWS = 20
"""The most rows of a table that a notebook shows."""

MOST = 6
"""The most members of a list that a cell shows."""


def cells(column: pa.Array | pa.ChunkedArray) -> list[str]:
    """The values of a column as text, each on one line and without control characters.

    A null is an empty text. Of a long list the first three members and the last one are shown.
    """
    if isinstance(column, pa.ChunkedArray):
        return [text for chunk in column.chunks for text in cells(chunk)]
    try:
        values = column.to_pylist() if not pa.types.is_timestamp(column.type) else _times(column)
    except (OverflowError, ValueError):  # Python has no value for a date that far
        values = json_text(column).to_pylist()
    return [on_one_line(_cell(value)) for value in values]


def _times(column: pa.TimestampArray) -> list[str | None]:
    """Times as text, without fractions of a second where all are 0."""
    texts: list[str | None] = time_text(column).to_pylist()
    whole = [text and re.sub(r"\.0+(?=Z|[+-]|$)", "", text) for text in texts]
    return texts if any(text and "." in text for text in whole) else whole


def _cell(value: object) -> str:
    if isinstance(value, list):
        texts = [_cell(each) for each in value]
        if len(texts) > MOST:
            texts = [*texts[:3], f"… {len(texts) - 4} more …", texts[-1]]
        return ", ".join(texts)
    if isinstance(value, dict):
        return " ".join(_cell(each) for each in value.values())
    return "" if value is None else str(value)


def as_text(table: pa.Table, most: int) -> str:
    """The first rows of a table as lines of text, and a line that says if there are more rows.

    Parameters
    ----------
    table : pyarrow.Table
    most : int
        The most rows that are shown.
    """
    names = [on_one_line(name) for name in table.schema.names]
    columns = [cells(column) for column in table.slice(0, most).columns]
    widths = [max(map(len, [name, *column])) for name, column in zip(names, columns, strict=True)]
    rows = [names, *zip(*columns, strict=True)]
    lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([*lines, *([_more(most)] if len(table) > most else [])])


def as_html(heading: str, table: pa.Table | None, most: int) -> str:
    """The same rows as an HTML table, below a heading."""
    from html import escape

    parts = [f"<p>{escape(on_one_line(heading))}</p>"]
    if table is not None:
        names = "".join(f"<th>{escape(on_one_line(name))}</th>" for name in table.schema.names)
        columns = [cells(column) for column in table.slice(0, most).columns]
        rows = ("".join(f"<td>{escape(text)}</td>" for text in row) for row in zip(*columns, strict=True))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        parts.append(f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>")
        if len(table) > most:
            parts.append(f"<p>{_more(most)}</p>")
    return "\n".join(parts)


def _more(most: int) -> str:
    return f"the first {most:,}; there are more"


class TablePages:
    """Makes HTML of some tables; a notebook shows all others as before."""

    def __init__(self) -> None:
        self._own: dict[int, ref[pa.Table]] = {}

    def add(self, table: pa.Table) -> None:
        """Show a table as rows from now on."""
        number = id(table)
        self._own[number] = ref(table, lambda _: self._own.pop(number, None))

    def __call__(self, table: Any) -> str | None:
        """The page of a table; None if it was not added."""
        found = self._own.get(id(table))
        own = None if found is None else found()
        if own is None or own is not table:
            return None
        rows = f"{len(own):,} {'row' if len(own) == 1 else 'rows'}"
        return as_html(rows, own, ROWS)


def rendered(table: pa.Table) -> pa.Table:
    """The table, which a notebook then shows as rows; tables of others are shown as they were."""
    notebook = shell()
    if notebook is not None:
        kind = type(table)
        formatter = notebook.display_formatter.formatters[HTML]
        pages = formatter.type_printers.get(kind)
        if not isinstance(pages, TablePages):
            pages = TablePages()
            formatter.for_type(kind, pages)
        pages.add(table)
    return table

"""Writes results as JSON lines, CSV, Parquet or a table for a terminal; files are whole or not there.

A match is the JSON line `{"start": 3, "end": 9, "marks": {"a": [3], "b": [9]}}`. A variable that marks
nothing is left out. There may also be

- `"start_time": "2024-05-02T09:30:00", "end_time": ...` after the end, if there is a time column,
- `"partition": {"symbol": "ACME"}`, the columns of PARTITION BY,
- `"attributes": {"x": [{"price": 10.5}]}` for `x[price]` in SELECT, with one object for each event of `x`,
- `"measures": {"gain": 1.5}`.

A match of a rule is `{"start": 3, "end": 9, "positions": [3, 9, 5], "values": {"x": 1}}`, with one position
for each atom, and the values of the variables in the head; its times come after the end, too. CSV and tables
have the columns of `Matches.flat_batches`, Parquet those of `Matches.to_arrow`.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from cer_gpu.engine.answers.display import cells
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.answers.values import has_positions, head_columns, mark_columns
from cer_gpu.engine.read.sources.arrow_types import is_text, roomy
from cer_gpu.engine.workers import Workers
from cer_gpu.json_text import in_seconds, joined, json_text, lines, quoted, time_text, wrapped
from cer_gpu.printable_text import CONTROLS, REPLACEMENT, on_one_line, printable
from cer_gpu.progress import show
from cer_gpu.whole_file import STANDARD_OUTPUT, NamedSink, whole_file

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""Suffix of an output file to its format, where none is named."""

SHOWN = 20
"""Rows that a table shows unless more are asked for."""

FEW = 1 << 14
"""Rows that are written without waiting for further ones."""

_SLICE = 1 << 22
"""Bytes of Arrow data that become text at a time: of more, a tenth of the time goes into new memory."""

_ROWS = 1 << 20
"""Rows of a row group of Parquet, the most that are written at a time."""


@contextmanager
def output_file(path: str | None) -> Iterator[BinaryIO]:
    """A binary stream to write results to; None is standard output.

    A file is written whole or not at all, see `whole_file`.
    """
    if path is None:
        sink: Any = NamedSink(sys.stdout.buffer, STANDARD_OUTPUT)
        yield sink
        sink.flush()
        return
    with whole_file(path) as sink:
        yield sink


def format_of(path: str | None) -> str | None:
    """The format that the suffix of a file names, None if it names none; JSON lines if there is no file."""
    return "jsonl" if path is None else SUFFIXES.get(os.path.splitext(path)[1].lower())


def write_matches(matches: Matches, form: str, sink: BinaryIO, most: int | None = None) -> None:
    """Write matches as they come, batch by batch; parameters as in `write_rows`."""
    if form != "jsonl":
        rows = matches.batches(keep=False) if form == "parquet" else matches.flat_batches()
        write_rows(rows, form, sink, most)
        return
    head, variables, partition = matches.head_variables, matches.variables, matches.partition
    measures, times = matches.measures, matches.time_columns

    def text(batch: pa.RecordBatch) -> memoryview:
        if head is not None:
            return lines(rule_answer_text(batch, head, times))
        return lines(complex_event_text(batch, variables, partition, measures, times))

    _write_texts(matches.batches(keep=False), text, sink)


def write_rows(rows: pa.RecordBatchReader, form: str, sink: BinaryIO, most: int | None = None) -> None:
    """Write rows as they come, batch by batch.

    Parameters
    ----------
    rows : pyarrow.RecordBatchReader
    form : {"jsonl", "csv", "parquet", "table"}
    sink : binary file
    most : int or None
        For "table": rows to show, `SHOWN` if None.
    """
    if form == "table":
        _write_table(rows, sink, SHOWN if most is None else most)
        return
    _WRITERS[form](rows, sink)


def _write_texts(
    results: pa.RecordBatchReader, text: Callable[[pa.RecordBatch], Any], sink: BinaryIO
) -> None:
    """Write results as text; threads make it of some slices while others are found and written."""
    # Few rows are not kept waiting for others, which may take long to be found.
    made = Workers().abreast(
        "writing", lambda part: text(part.rows), _slices(results), lambda part: part.of < FEW
    )
    for piece in made:
        sink.write(piece)


class _Slice(NamedTuple):
    """Rows of a batch that become text together, and how many rows the batch has."""

    rows: pa.RecordBatch
    of: int


def _slices(results: pa.RecordBatchReader) -> Iterator[_Slice]:
    """Slices of about the same size, for a thread that has a small one waits for another that has a large."""
    for batch in results:
        rows = -(-batch.num_rows // max(-(-batch.nbytes // _SLICE), 1))
        for start in range(0, batch.num_rows, rows or 1):
            yield _Slice(batch.slice(start, rows), batch.num_rows)


# ------------------------------------------------------------------------------------------- JSON lines


def _write_jsonl(results: pa.RecordBatchReader, sink: BinaryIO) -> None:
    _write_texts(results, lambda batch: lines(json_text(batch.to_struct_array())), sink)


def complex_event_text(
    batch: pa.RecordBatch,
    variables: Sequence[str],
    partition: Sequence[str],
    measures: Sequence[str] = (),
    times: Sequence[str] = (),
) -> pa.LargeStringArray:
    """Each match of a batch as JSON.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        With the columns of `Matches.schema`.
    variables, partition, measures : sequence of str
        The names of the variables that SELECT keeps, the columns of PARTITION BY and the measures. Columns of
        the batch may have other names.
    times : sequence of str
        The columns of the batch with the times of the start and of the end; empty if there are none.
    """
    keys = [wrapped(_key(name), json_text(batch.column(2 + k)), "") for k, name in enumerate(partition)]
    marks: list[pa.Array] = []
    attributes: list[pa.Array] = []
    for name, index in zip(variables, mark_columns(batch.schema)):
        marks.append(_unless_empty(name, batch.column(index)))
        if index + 1 < batch.num_columns and pa.types.is_struct(_item(batch.schema.field(index + 1).type)):
            attributes.append(_unless_empty(name, batch.column(index + 1)))
    count = batch.num_rows
    parts = [*_where(batch, times), wrapped('"marks": {', joined(marks, count), "}")]
    if partition:
        parts.append(wrapped('"partition": {', joined(keys, count), "}"))
    if attributes:
        parts.append(wrapped('"attributes": {', joined(attributes, count), "}"))
    if measures:
        first = batch.num_columns - len(measures)
        values = [
            wrapped(_key(name), json_text(batch.column(first + k)), "") for k, name in enumerate(measures)
        ]
        parts.append(wrapped('"measures": {', joined(values, count), "}"))
    return wrapped("{", joined(parts, count), "}")


def _where(batch: pa.RecordBatch, times: Sequence[str]) -> list[pa.Array]:
    """The start and the end of each match, and their times if there are any."""
    texts = [json_text(batch.column(number)) for number in (0, 1)]
    columns = [batch.column(name) for name in times]
    if columns and pa.types.is_timestamp(columns[0].type):
        texts += [wrapped('"', text, '"') for text in _time_texts(columns)]
    else:
        texts += map(json_text, columns)
    names = ("start", "end", "start_time", "end_time")
    return [wrapped(_key(name), text, "") for name, text in zip(names, texts)]


def rule_answer_text(
    batch: pa.RecordBatch, head: tuple[str, ...], times: Sequence[str] = ()
) -> pa.LargeStringArray:
    """Each match of a rule as JSON; the batch is in the form of `Matches.schema`."""
    count = batch.num_rows
    values = [
        wrapped(_key(name), json_text(column), "")
        for name, column in zip(head, head_columns(batch, head), strict=True)
    ]
    parts = _where(batch, times)
    if has_positions(batch):
        parts.append(wrapped('"positions": ', json_text(batch.column(batch.num_columns - 1)), ""))
    parts.append(wrapped('"values": {', joined(values, count), "}"))
    return wrapped("{", joined(parts, count), "}")


def _key(name: str) -> str:
    return f"{quoted(name)}: "


def _unless_empty(name: str, column: pa.Array) -> pa.LargeStringArray:
    """`"name": [...]`, or null where the list is empty."""
    text = wrapped(_key(name), json_text(column), "")
    return pc.if_else(pc.greater(pc.list_value_length(column), 0), text, None)


def _item(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_list(kind) else kind


# ---------------------------------------------------------------------------------- CSV, Parquet, table


def _flat(batch: pa.RecordBatch, shown: bool) -> list[pa.Array]:
    """The columns of a batch with times and lists as text: a space between positions, other lists as JSON.

    Texts have no control characters where they are shown on a terminal.
    """
    times = _time_texts([column for column in batch.columns if pa.types.is_timestamp(column.type)])
    return [
        next(times) if pa.types.is_timestamp(column.type) else _flat_column(column, shown)
        for column in batch.columns
    ]


def _time_texts(columns: Sequence[pa.Array]) -> Iterator[pa.Array]:
    """Times as text: each once, for one event may be in many rows, and in several columns of one."""
    for kind, alike in groupby(columns, lambda column: column.type):
        own = list(alike)
        # The times of the first and the last event are often those of the start and the end.
        first = [next(k for k, other in enumerate(own) if column.equals(other)) for column in own]
        unlike = sorted(set(first))
        encoded = pa.concat_arrays([own[k].cast(kind) for k in unlike]).dictionary_encode()
        texts, rows = time_text(encoded.dictionary), len(own[0])
        made = {k: texts.take(encoded.indices.slice(number * rows, rows)) for number, k in enumerate(unlike)}
        yield from (made[k] for k in first)


def _flat_column(column: pa.Array, shown: bool) -> pa.Array:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _flat_column(column.dictionary.cast(roomy(kind.value_type)), shown).take(column.indices)
    if shown and is_text(kind):
        return pc.replace_substring_regex(column, CONTROLS, REPLACEMENT)
    if pa.types.is_duration(kind):
        return in_seconds(column)
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return json_text(column) if pa.types.is_struct(kind) or pa.types.is_map(kind) else column
    if pa.types.is_integer(kind.value_type):
        return pc.binary_join(column.cast(pa.list_(pa.string())), " ")
    return json_text(column)


def _write_csv(results: pa.RecordBatchReader, sink: BinaryIO) -> None:
    import pyarrow.csv as pacsv

    shown = sink.isatty()
    names = [printable(name) if shown else name for name in results.schema.names]

    def text(batch: pa.RecordBatch, header: bool = False) -> pa.Buffer:
        made = pa.BufferOutputStream()
        options = pacsv.WriteOptions(include_header=header, quoting_style="needed")
        pacsv.write_csv(pa.RecordBatch.from_arrays(_flat(batch, shown), names=names), made, options)
        return made.getvalue()

    sink.write(text(pa.RecordBatch.from_pylist([], schema=results.schema), header=True))
    _write_texts(results, text, sink)


def _write_parquet(results: pa.RecordBatchReader, sink: BinaryIO) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(sink, results.schema, compression="zstd") as writer:
        for batch in results:
            for start in range(0, batch.num_rows, _ROWS):
                show("writing", start, batch.num_rows)
                writer.write_batch(batch.slice(start, _ROWS))


_WIDEST = 1 << 16
"""No table has lines with more characters."""


def _write_table(results: pa.RecordBatchReader, sink: BinaryIO, most: int) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    columns = [Column(_escaped(name), overflow="fold") for name in results.schema.names]
    table = Table(*columns, header_style="bold")
    left = most + 1
    for batch in results:
        for row in zip(*(cells(column) for column in batch.slice(0, left).columns)):
            left -= 1
            if left:
                table.add_row(*map(_escaped, row))
        if not left:
            break
    text = io.TextIOWrapper(sink, "utf-8", write_through=True)
    try:
        console = Console(file=text)
        needed = console.measure(table, options=console.options.update(max_width=_WIDEST)).maximum
        if not sink.isatty():
            console.width = max(console.width, needed)
        console.print(table if needed <= console.width else _records(table))
        if not left:
            console.print(f"the first {most:,}; there are more")
        elif left == most + 1:
            console.print("none")
    finally:
        text.detach()


def _records(table: Table) -> Group:
    """The rows of a table that is wider than the terminal: one below the other, a line for each column."""
    from rich.console import Group
    from rich.rule import Rule
    from rich.table import Table

    names = [column.header for column in table.columns]
    records: list[RenderableType] = []
    for number, row in enumerate(zip(*(column.cells for column in table.columns)), 1):
        lines = Table.grid(padding=(0, 2))
        for name, value in zip(names, row):
            lines.add_row(f"[bold]{name}[/]", value)
        records += [Rule(str(number), align="left"), lines]
    return Group(*records)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(on_one_line(text))


_WRITERS: dict[str, Callable[[pa.RecordBatchReader, BinaryIO], None]] = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "parquet": _write_parquet,
}

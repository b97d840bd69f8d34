"""What the shell's `cer` reads: options about the events, files, and standard input."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import fields
from decimal import Decimal
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, get_type_hints

import typer

from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.printable_text import names_text
from cer_gpu.progress import showing
from cer_gpu.whole_file import TEMPORARY, NamedSink, named, temporary_folder

STDIN = "-"
"""Stands for standard input where a file may stand."""


class Unit(StrEnum):
    """The unit of a plain-number time column."""

    s = "s"
    ms = "ms"
    us = "us"
    ns = "ns"


class LateRow(StrEnum):
    """What becomes of a row that comes too late."""

    error = "error"
    drop = "drop"


class ClockChoice(StrEnum):
    """Which moment a time is that clocks showed twice."""

    raise_ = "raise"
    earliest = "earliest"
    latest = "latest"
    infer = "infer"


class InputFormat(StrEnum):
    """The format of standard input."""

    parquet = "parquet"
    arrow = "arrow"
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"


QueryText = Annotated[
    str, typer.Argument(metavar="QUERY", help="The query, or @FILE, or @- for standard input.")
]
Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="Files, directories or globs (Parquet, Arrow IPC, CSV, JSON lines; text also as .gz, .bz2, "
        ".zst, .xz); or TYPE=PATH for each event type, merged by --order-by; or - for standard input.",
    ),
]
MaybeData = Annotated[
    list[str] | None,
    typer.Argument(metavar="DATA", help="The events, as for `run`; the query is then checked against them."),
]
OrderBy = Annotated[
    list[str] | None,
    typer.Option(
        "--order-by",
        metavar="COLUMN",
        help="Time column, then tie-breakers; repeat it or separate by commas.",
    ),
]
OrderUnit = Annotated[Unit | None, typer.Option(help="Unit of a plain-number time column.")]
TypeColumn = Annotated[
    str,
    typer.Option(
        metavar="COLUMN",
        help="Column of the event type; '' if no column tells it: all events then are of the type in FROM.",
    ),
]
StreamColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column of the stream of an event, for S>T and FROM.")
]
Sort = Annotated[bool, typer.Option("--sort", help="Sort the events by --order-by first.")]
Ordered = Annotated[
    bool,
    typer.Option("--ordered", help="Promise that all events, of all partitions, are in the order of time."),
]
Until = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="The events are known up to this time: later events may still come.",
    ),
]
Late = Annotated[
    str | None,
    typer.Option(metavar="SPAN", help="Rows may be late by at most this time, such as '30 s'."),
]
OnLate = Annotated[
    LateRow, typer.Option("--on-late", help="Rows that are even later are an error, or left out.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="The character between the cells of CSV files, such as ; or \\t."),
]
ColumnType = Annotated[
    list[str] | None,
    typer.Option(
        "--column-type",
        metavar="COLUMN=TYPE",
        help="The type of a column of CSV or JSON lines, such as id=string; repeat it.",
    ),
]
DateFormat = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FORMAT", help="How times in CSV files are written, such as '%d.%m.%Y %H:%M:%S'; repeat it."
    ),
]
DecimalPoint = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="The decimal point of numbers in CSV files: . or ,"),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory that the run may use at a time, such as 500MB or 2GiB."),
]
Ambiguous = Annotated[
    ClockChoice,
    typer.Option(
        help="How to read a CSV time that local clocks showed twice: raise an error, or take the earlier or "
        "the later time."
    ),
]
ShowProgress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress",
        help="Show on standard error how far a long run is; the default on a terminal.",
        show_default=False,
    ),
]
NanIsNull = Annotated[
    bool | None,
    typer.Option(
        "--nan-is-null/--nan-is-number",
        help="Read NaN as a missing value, or as a number (the default, with a note where that matters).",
        show_default=False,
    ),
]
Param = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=VALUE",
        help="The value of a parameter of the query, such as p=10; repeat it.",
    ),
]
MaybeInputFormat = Annotated[
    InputFormat | None, typer.Option("--input-format", help="Format of standard input, where DATA is -.")
]

Device = Annotated[
    str, typer.Option(metavar="DEVICE", help="auto, cpu, cuda or cuda:N; several as cuda:0,cuda:1.")
]
Engine = Annotated[
    str, typer.Option(metavar="ENGINE", help="auto, or the name of an engine; `cer explain` names them.")
]


def bytes_of(text: str | None) -> int | None:
    """A number of bytes: `1000000`, `500MB` (powers of 1000), `2GiB` (powers of 1024)."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?)b?|b)?", text.strip().lower())
    if match is None:
        raise typer.BadParameter(f"`{text}` is not a size; write 500MB or 2GiB")
    power = "kmgt".index(match[2]) + 1 if match[2] else 0
    return int(Decimal(match[1]) * (1024 if match[3] else 1000) ** power)


def query_text(query: str) -> str:
    """The text of a query argument: itself, `@file`, or `@-` for standard input."""
    if not query.startswith("@"):
        return query
    name = "standard input" if query[1:] == STDIN else query[1:]
    try:
        if query[1:] == STDIN:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        with open(query[1:], encoding="utf-8-sig") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise typer.BadParameter(f"the query cannot be read from {name}: {reason}") from error


def one_query_text(query: str) -> str:
    """As `query_text`, for a command that runs one query.

    Raises
    ------
    BadParameter
        When the file has several queries.
    """
    from cer_gpu.backtesting.query_file import named_queries

    text, where = query_text(query), query.removeprefix("@")
    names = list(named_queries(text, where))
    if len(names) > 1:
        raise typer.BadParameter(
            f"{where} has {len(names)} queries ({names_text(names)}): `cer backtest` runs them together; "
            "this command takes one"
        )
    return text


def refuse_own_input(data: Sequence[str], output: str | None) -> None:
    """Raise when the output file is one of the inputs: writing it would lose the events."""
    if output is None or not os.path.exists(output):
        return
    for _, path in _named(data):
        if os.path.exists(path) and os.path.samefile(path, output):
            raise typer.BadParameter(f"{output} is one of the inputs: write the result to another file")


def events_of(
    data: Sequence[str], form: InputFormat | None = None, query: str = ""
) -> list[str] | dict[str, list[str]]:
    """Paths, or paths by event type where they are given as `TYPE=PATH`.

    Parameters
    ----------
    data : sequence of str
        As typed. Standard input is copied to a file that is deleted when the process ends.
    form : InputFormat, optional
        The format of standard input; by default its first bytes decide.
    query : str, optional
        The query as typed, which may be standard input, too.
    """
    given = _named(data)
    plain = [path for kind, path in given if kind is None]
    if len(plain) not in (0, len(given)):
        kind = next(kind for kind, _ in given if kind is not None)
        raise DataError(
            f"give every path an event type (TYPE=PATH), or none of them: `{plain[0]}` has none, and another "
            f"has `{kind}`"
        )
    piped = [path for _, path in given if path == STDIN]
    if len(piped) + (query == f"@{STDIN}") > 1:
        raise typer.BadParameter("standard input (-) can be read only once: name a file for the other")
    if form is not None and not piped:
        raise typer.BadParameter(f"--input-format is the format of standard input: name {STDIN} as data")
    copy = _copied(form) if piped else ""
    named: dict[str, list[str]] = {}
    for name, path in given:
        named.setdefault(name or "", []).append(copy if path == STDIN else path)
    return named[""] if plain else named


def _named(data: Sequence[str]) -> list[tuple[str | None, str]]:
    """Each path with its event type."""
    found: list[tuple[str | None, str]] = []
    for each in data:
        match = None if os.path.exists(each) else re.fullmatch(r"([^\W\d]\w*)=(.+)", each)
        found.append((match[1], match[2]) if match else (None, each))
    return found


def _copied(form: InputFormat | None) -> str:
    """A file with what standard input has."""
    from cer_gpu.engine.read.sources.compression import PACKED
    from cer_gpu.engine.read.sources.paths import sniff

    with named(temporary_folder(), TEMPORARY):
        folder = tempfile.mkdtemp(prefix="cer-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "standard input")
    with open(path, "wb") as file, NamedSink(file, path, TEMPORARY) as sink:
        shutil.copyfileobj(sys.stdin.buffer, sink)
    content = sniff(path)
    packed = next((suffix for suffix, packing in PACKED.items() if packing == content), "")
    suffix = {"parquet": "parquet", "ipc": "arrow", "csv": "csv", "json": "jsonl"}.get(content)
    if form is None and suffix is None:
        known = ", ".join(InputFormat)
        raise typer.BadParameter(f"name the format of standard input with --input-format: {known}")
    suffixed = f"{path}.{form.value if form is not None else suffix}{packed}"
    os.rename(path, suffixed)
    return suffixed


def given_params(given: Sequence[str] | None) -> dict[str, str]:
    """The values of parameters as text; the query says which of them are numbers."""
    from cer_gpu.language.parameters import WrittenParameter

    found: dict[str, str] = {}
    for each in given or ():
        name, there, value = each.partition("=")
        if not there:
            raise typer.BadParameter(f"--param takes NAME=VALUE, such as p=10, not `{each}`")
        found[name.removeprefix("$")] = WrittenParameter(value)
    return found


def engine_named(name: str) -> str:
    """Check the name of an engine, and return it."""
    from cer_gpu.plan.lower import ENGINES

    if name not in ENGINES:
        raise typer.BadParameter(f"there is no engine `{name}`: the engines are {', '.join(ENGINES)}")
    return name


@dataclass(frozen=True, slots=True)
class EventOptions:
    """The options of a command that reads events: what their columns mean, how text is read, what runs."""

    order_by: OrderBy = None
    order_unit: OrderUnit = None
    type_column: TypeColumn = "type"
    stream_column: StreamColumn = None
    sort: Sort = False
    ordered: Ordered = False
    until: Until = None
    late: Late = None
    on_late: OnLate = LateRow.error
    delimiter: Delimiter = None
    column_type: ColumnType = None
    date_format: DateFormat = None
    decimal_point: DecimalPoint = None
    ambiguous: Ambiguous = ClockChoice.raise_
    nan_is_null: NanIsNull = None
    param: Param = None
    input_format: MaybeInputFormat = None
    device: Device = "auto"
    engine: Engine = "auto"
    progress: ShowProgress = None

    def events(self, data: Sequence[str], query: str = "") -> list[str] | dict[str, list[str]]:
        """The events that DATA names; as `events_of`."""
        return events_of(data, self.input_format, query)

    def keywords(self) -> dict[str, Any]:
        """The keywords of `Query.run`."""
        return self._columns() | self._text() | self.of_query()

    def of_query(self) -> dict[str, Any]:
        """Those that do not speak of the events."""
        params = given_params(self.param)
        return {"params": params, "device": self.device, "engine": engine_named(self.engine)}

    def _columns(self) -> dict[str, Any]:
        """The keywords that say what the events' columns mean."""
        columns = [name.strip() for each in self.order_by or () for name in each.split(",") if name.strip()]
        if self.sort and not columns:
            raise typer.BadParameter("--sort needs the columns to sort by: --order-by")
        if self.ordered and not columns:
            raise typer.BadParameter("--ordered needs the column of time: --order-by")
        for option, given in (("--until", self.until), ("--late", self.late)):
            if given is not None and not columns:
                raise typer.BadParameter(f"{option} needs the column of time: --order-by")
        return {
            "order_by": columns or None,
            "order_unit": self.order_unit.value if self.order_unit else None,
            "type_column": self.type_column or None,
            "stream_column": self.stream_column,
            "sort": self.sort,
            "ordered": self.ordered,
            "until": self.until,
            "late": self.late,
            "on_late": self.on_late.value,
            "nan_is_null": self.nan_is_null,
        }

    def _text(self) -> dict[str, Any]:
        """The keywords that say how text files are read."""
        types: dict[str, str] = {}
        for each in self.column_type or ():
            name, given, kind = each.partition("=")
            if not given:
                raise typer.BadParameter(f"--column-type takes NAME=TYPE, such as id=string, not `{each}`")
            types[name] = kind
        found: dict[str, Any] = {
            "delimiter": self.delimiter,
            "column_types": types or None,
            "date_format": self.date_format or None,
            "decimal_point": self.decimal_point,
            "ambiguous": self.ambiguous.value,
        }
        from cer_gpu.engine.read.sources.text_form import text_form

        try:
            text_form(**found)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        return found


_HINTS = get_type_hints(EventOptions, include_extras=True)

_EVENT_OPTIONS = [
    Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=_HINTS[one.name])
    for one in fields(EventOptions)
]


def reads_events(*without: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A decorator of a command: the options of events stand in the place of its parameter `reading`.

    Parameters
    ----------
    *without : str
        Options that the command does not have.
    """

    def decorated(function: Callable[..., int]) -> Callable[..., int]:
        options = [one for one in _EVENT_OPTIONS if one.name not in without]

        @wraps(function)
        def command(*arguments: Any, **given: Any) -> int:
            typed = {one.name: given.pop(one.name) for one in options}
            with showing(typed.get("progress")):
                return function(*arguments, reading=EventOptions(**typed), **given)

        own = signature(function, eval_str=True)
        parameters = list(own.parameters.values())
        at = list(own.parameters).index("reading")
        parameters[at : at + 1] = options
        command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return decorated

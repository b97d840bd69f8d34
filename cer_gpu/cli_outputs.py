"""The options of the shell's `cer` about results: the format, the file, and what is drawn."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cer_gpu.api import Query


class Format(StrEnum):
    """How results are written."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    table = "table"


class ExplainOutput(StrEnum):
    """What `explain` prints: text, or a drawing of the automaton."""

    text = "text"
    mermaid = "mermaid"
    svg = "svg"


OutputFormat = Annotated[
    Format | None,
    typer.Option(
        "--format", help="By default the suffix of -o decides; without -o, table on a terminal, else jsonl."
    ),
]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write to this file, as a whole or not at all."),
]
EventId = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column whose values are written in place of positions."),
]
Funnel = Annotated[
    bool,
    typer.Option(
        "--funnel",
        help="Print how many partial matches reach each step and which condition stops the others.",
    ),
]
Drawn = Annotated[
    ExplainOutput | None,
    typer.Option(
        "--format", help="mermaid and svg draw the automaton. By default the suffix of -o decides, else text."
    ),
]

Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Also say what runs inside: class, automaton, steps of every engine."),
]

DRAWINGS = {".svg": ExplainOutput.svg, ".mmd": ExplainOutput.mermaid, ".mermaid": ExplainOutput.mermaid}
"""Suffix of an output file of `explain` to what is drawn."""

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".ps", ".eps")
"""Suffixes of pictures that are not drawn."""


def result_format(form: Format | None, output: str | None) -> str:
    """The format of results: as asked, or by the suffix of the file, or a table on a terminal."""
    from cer_gpu.output import format_of

    check_folder(output)
    if form is not None:
        chosen: str | None = form.value
    elif output is None and sys.stdout.isatty():
        chosen = "table"
    else:
        chosen = format_of(output)
    if chosen is None:
        raise typer.BadParameter(
            f"the suffix of {output} names no format: use .jsonl, .csv or .parquet, or pass --format"
        )
    if chosen == "parquet" and output is None and sys.stdout.isatty():
        raise typer.BadParameter("Parquet cannot be shown on a terminal: name a file with -o")
    return chosen


def drawing_format(form: ExplainOutput | None, output: str | None) -> str:
    """What `explain` writes: as asked, or by the suffix of the file, or text."""
    check_folder(output)
    if form is not None:
        return form.value
    suffix = os.path.splitext(output or "")[1].lower()
    if suffix in PICTURES:
        raise typer.BadParameter(
            f"{output}: automata can be drawn as SVG or Mermaid: name a file that ends in .svg or .mmd"
        )
    return DRAWINGS.get(suffix, ExplainOutput.text).value


def check_folder(output: str | None) -> None:
    """Raise when there is no folder for the output file, or it is one itself, before anything is run."""
    if output is None:
        return
    folder = os.path.dirname(os.path.realpath(output))
    if os.path.isdir(output):
        raise typer.BadParameter(f"{output} is a folder: name a file in it")
    if not os.path.isdir(folder):
        raise typer.BadParameter(f"{output}: there is no folder {folder}; make it first")
    if not os.path.exists(output) and not os.access(folder, os.W_OK):
        raise typer.BadParameter(f"there is no permission to write in the folder {folder}")


def print_text(text: str, output: str | None) -> None:
    """Print a text, or write it to a file."""
    from cer_gpu.output import output_file

    if output is None:
        print(text)
        return
    with output_file(output) as sink:
        sink.write(text.encode())


def print_funnel(query: Query, events: Any, options: dict[str, Any], form: Any, output: str | None) -> None:
    """Print how far matches get, step by step."""
    from cer_gpu.output import output_file, write_rows

    if events is None:
        raise typer.BadParameter("--funnel counts the events at each step: name the data, too")
    if form is not None:
        raise typer.BadParameter("--funnel prints a table and cannot be drawn: leave --format out")
    found = query.funnel(events, **options)
    with output_file(output) as sink:
        write_rows(found.to_reader(), result_format(None, output), sink, most=len(found))

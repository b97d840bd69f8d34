"""`cer watch`: prints the matches of what comes into a folder, or over standard input, as they end."""

from __future__ import annotations

import os
import select
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cer_gpu.cli_inputs import (
    STDIN,
    EventOptions,
    InputFormat,
    Memory,
    QueryText,
    bytes_of,
    one_query_text,
    reads_events,
)
from cer_gpu.cli_outputs import EventId, check_folder
from cer_gpu.errors import DataError

if TYPE_CHECKING:
    from cer_gpu.watched_stream import WatchedStream

PART = 1 << 20
"""Bytes of standard input that are taken at a time at most."""

Watched = Annotated[
    str,
    typer.Argument(
        metavar="FOLDER|-",
        help="A folder into which files are moved when they are complete; or - for the lines of standard "
        "input, JSON or CSV.",
    ),
]
State = Annotated[
    str,
    typer.Option(metavar="FILE", help="The file that keeps the state; the next call continues from it."),
]
Alerts = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Append matches to this file, each exactly once (JSON lines)."
    ),
]
Every = Annotated[float, typer.Option(metavar="SECONDS", help="How often to look for new files.")]
Once = Annotated[
    bool, typer.Option("--once", help="Read the files that are there, and stop; the next call continues.")
]
End = Annotated[
    bool,
    typer.Option(
        "--end",
        help="Read the files that are there, and end the stream: also print the matches that only its end "
        "decides.",
    ),
]
Clock = Annotated[
    bool,
    typer.Option(
        "--clock",
        help="The times are wall-clock times in UTC: matches that wait for time to pass are decided even if "
        "no row comes.",
    ),
]
NoReplay = Annotated[
    bool,
    typer.Option(
        "--no-replay",
        help="Standard input starts with the first line that was not read yet; by default, with all lines.",
    ),
]
Initial = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A state of cer_gpu.backtest(..., state=True), to begin where its events end; needs --late.",
    ),
]


@reads_events("sort", "until")
def watch(
    query: QueryText,
    folder: Watched,
    *,
    state: State,
    reading: EventOptions,
    memory: Memory = None,
    event_id: EventId = None,
    output: Alerts = None,
    every: Every = 1.0,
    once: Once = False,
    end: End = False,
    clock: Clock = False,
    no_replay: NoReplay = False,
    initial: Initial = None,
) -> int:
    """Print each match in the new files of a folder when it ends."""
    import cer_gpu
    from cer_gpu.watch_state import WatchState
    from cer_gpu.watched_stream import WatchedStream

    check_folder(output)
    check_folder(state)
    if folder != STDIN and not os.path.isdir(folder):
        raise DataError(f"there is no folder {folder}: name the folder into which files come, or - for lines")
    if clock and not reading.order_by:
        raise typer.BadParameter("--clock needs the column of time: --order-by")
    keywords = {name: value for name, value in reading.keywords().items() if name not in ("sort", "until")}
    if folder != STDIN and reading.order_by:
        keywords["ordered"] = True  # each file begins after the end of the one before
    compiled = cer_gpu.compile(one_query_text(query))
    about = {
        "source": "standard input" if folder == STDIN else os.path.realpath(folder),
        "output": "standard output" if output is None else os.path.realpath(output),
    }
    with WatchState(state, about, output) as kept:
        options = keywords | {"memory": bytes_of(memory), "event_id": event_id}
        stream = WatchedStream(compiled, options, kept, None if initial is None else _bytes_in(initial))
        kept.open_output()
        if kept.step.ended:
            raise DataError(f"the stream in {state} was ended with --end: begin another with another --state")
        if folder == STDIN:
            form = reading.input_format or InputFormat.jsonl
            for path, header, lines in _parts(form, kept.step.header, 0 if no_replay else kept.step.lines):
                stream.take(path, header=header, lines=lines)
        else:
            _take_files(stream, folder, kept.has, every, once or end, clock)
        if end:
            stream.end()
    return 0


def _bytes_in(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _take_files(stream: WatchedStream, folder: str, has: Any, every: float, ends: bool, clock: bool) -> None:
    """Take the files of a folder, in the order of their names; wait for others, unless this ends."""
    from cer_gpu.engine.read.sources.paths import is_data_file

    taken: set[str] = set()
    while True:
        new = sorted(name for name in os.listdir(folder) if name not in taken and is_data_file(name))
        for name in new:
            if not has(name):
                stream.take(os.path.join(folder, name), file=name)
            taken.add(name)
        if new:
            continue
        if clock:
            stream.advance()
        if ends:
            return
        time.sleep(every)


def _parts(form: InputFormat, header: bytes | None, skipped: int) -> Iterator[tuple[str, bytes | None, int]]:
    """What comes over standard input: a file with some lines, their header, and how many they are.

    Parameters
    ----------
    form : InputFormat
    header : bytes or None
        The header, if it was read before.
    skipped : int
        How many lines at the beginning were taken before.
    """
    if form not in (InputFormat.jsonl, InputFormat.csv, InputFormat.tsv):
        raise typer.BadParameter(f"--input-format {form.value}: lines are jsonl, csv or tsv")
    with tempfile.TemporaryDirectory(prefix="cer-") as folder:
        path = os.path.join(folder, f"standard input.{form.value}")
        for lines in _lines():
            if form is not InputFormat.jsonl:
                header = header or lines[0]
                lines = [line for line in lines if line != header]  # each file of several begins with it
            left = lines[skipped:]
            skipped -= len(lines) - len(left)
            if not left:
                continue
            with open(path, "wb") as file:
                file.writelines(chain([header] if header is not None else [], left))
            yield path, header, len(left)


def _lines() -> Iterator[list[bytes]]:
    """The complete lines of standard input that have come; the last one may have no end."""
    number, rest = sys.stdin.fileno(), b""
    while True:
        given = os.read(number, PART)
        while given and len(rest) + len(given) < PART and select.select([number], [], [], 0)[0]:
            more = os.read(number, PART)
            if not more:
                break
            given += more
        whole = rest + given
        if not given:
            if rest:
                yield [rest + b"\n"]
            return
        complete, _, rest = whole.rpartition(b"\n")
        if complete or whole.startswith(b"\n"):
            yield [line + b"\n" for line in complete.split(b"\n") if line.strip()]

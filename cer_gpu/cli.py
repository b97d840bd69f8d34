"""The shell's `cer`: run, count, hits, backtest, maintain, sql, watch, explain, check, device, warm, demo.

Results go to standard output and everything else to standard error. Exit status: 0 done, 1 the query is
wrong, 2 the data is wrong, 3 a limit was met, 4 other, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cer_gpu.cli_backtest import backtest
from cer_gpu.cli_inputs import (
    Data,
    EventOptions,
    MaybeData,
    Memory,
    QueryText,
    bytes_of,
    one_query_text,
    reads_events,
    refuse_own_input,
)
from cer_gpu.cli_maintain import maintain
from cer_gpu.cli_outputs import (
    Drawn,
    EventId,
    Funnel,
    Output,
    OutputFormat,
    Verbose,
    drawing_format,
    print_funnel,
    print_text,
    result_format,
)
from cer_gpu.cli_sql import check_statement, explain_statement, sql
from cer_gpu.cli_watch import watch
from cer_gpu.engine.memory import within_memory
from cer_gpu.errors import ArgumentError, CerError, DataError, LimitError, QueryError
from cer_gpu.patterns.statement_kind import is_statement
from cer_gpu.printable_text import printable
from cer_gpu.whole_file import FULL, STANDARD_OUTPUT, named

if TYPE_CHECKING:
    from cer_gpu.api import Query

DONE, WRONG_QUERY, WRONG_DATA, LIMITED, OTHER, INTERRUPTED = 0, 1, 2, 3, 4, 130

HELP = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="cer",
    help="Find every match of an event pattern in recorded data: files, data frames and Arrow tables.",
    epilog="For example: cer run 'SELECT * WHERE Buy ; Sell WITHIN 5 MINUTES' trades.csv --order-by ts",
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _version(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    if version:
        import cer_gpu

        print(cer_gpu.__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


class ClosedOutputError(Exception):
    """The reader of standard output has closed it (Typer would end the process on a BrokenPipeError)."""


def _command(function: Callable[..., int]) -> Callable[..., int]:
    """Make a command of a function that returns its exit status."""

    @app.command(context_settings=HELP)
    @wraps(function)
    def command(*args: Any, **options: Any) -> int:
        try:
            return function(*args, **options)
        except BrokenPipeError as error:
            raise ClosedOutputError from error

    return command


@_command
@reads_events()
def run(
    query: QueryText,
    data: Data,
    *,
    reading: EventOptions,
    limit: Annotated[
        int | None, typer.Option(min=0, metavar="NUMBER", help="Stop after this many matches.")
    ] = None,
    memory: Memory = None,
    event_id: EventId = None,
    tidy: Annotated[
        bool, typer.Option("--events", help="Write a row for each marked event, with its variable.")
    ] = False,
    form: OutputFormat = None,
    output: Output = None,
) -> int:
    """Print the matches."""
    from cer_gpu.output import output_file, write_matches, write_rows
    from cer_gpu.progress import shown_together

    chosen = result_format(form, output)
    refuse_own_input(data, output)
    matches = _compile(one_query_text(query)).run(
        reading.events(data, query),
        **reading.keywords(),
        limit=limit,
        memory=bytes_of(memory),
        event_id=event_id,
    )
    # Between lines on a terminal there is no room for a bar that stays.
    with output_file(output) as sink, shown_together() if not sink.isatty() else nullcontext():
        if tidy:
            write_rows(matches.event_batches(), chosen, sink)
        else:
            write_matches(matches, chosen, sink, most=limit)
    return DONE


@_command
@reads_events()
def count(
    query: QueryText,
    data: Data,
    *,
    reading: EventOptions,
    memory: Memory = None,
) -> int:
    """Print how many matches there are."""
    from cer_gpu.digits import decimal_text

    found = _compile(one_query_text(query)).count(
        reading.events(data, query),
        **reading.keywords(),
        memory=bytes_of(memory),
    )
    print(decimal_text(found))
    return DONE


@_command
@reads_events()
def hits(
    query: QueryText,
    data: Data,
    *,
    reading: EventOptions,
    memory: Memory = None,
    event_id: EventId = None,
    form: OutputFormat = None,
    output: Output = None,
) -> int:
    """Print where matches end."""
    from cer_gpu.output import output_file, write_rows

    chosen = result_format(form, output)
    refuse_own_input(data, output)
    table = _compile(one_query_text(query)).hits(
        reading.events(data, query),
        **reading.keywords(),
        memory=bytes_of(memory),
        event_id=event_id,
    )
    with output_file(output) as sink:
        write_rows(table.to_reader(), chosen, sink)
    return DONE


_command(backtest)
_command(maintain)
_command(sql)
_command(watch)


@_command
@reads_events("sort", "ordered", "until", "late", "on_late", "device")
def explain(
    query: QueryText,
    data: MaybeData = None,
    *,
    reading: EventOptions,
    funnel: Funnel = False,
    verbose: Verbose = False,
    form: Drawn = None,
    output: Output = None,
) -> int:
    """Explain which engine runs the query and why, draw its automaton, or count matches by step."""
    chosen = "funnel" if funnel else drawing_format(form, output)
    refuse_own_input(data or (), output)
    text = one_query_text(query)
    if is_statement(text):
        return explain_statement(text, data, reading, query, chosen, output)
    compiled = _compile(text)
    options = reading.keywords() if data else reading.of_query()
    events = reading.events(data, query) if data else None
    if funnel:
        print_funnel(compiled, events, options | {"engine": "auto"}, form, output)
        return DONE
    print_text(compiled.explain(chosen, events, verbose, **options), output)
    return DONE


@_command
@reads_events("sort", "ordered", "until", "late", "on_late", "device")
def check(
    query: QueryText,
    data: MaybeData = None,
    *,
    reading: EventOptions,
) -> int:
    """Print errors and notes about the query, or ok."""
    from cer_gpu.checked_query import check as findings_of
    from cer_gpu.diagnostics import render_all

    text = one_query_text(query)
    if is_statement(text):
        return check_statement(text, data, reading, query)
    try:
        events = reading.events(data, query) if data else None
        findings = findings_of(text, events, **reading.keywords())
    except QueryError as error:
        findings = error.diagnostics
    if findings:
        print(render_all(findings, text))
    if any(finding.severity == "error" for finding in findings):
        return WRONG_QUERY
    _compile(text)  # finds an automaton over budget
    print("ok")
    return DONE


@_command
def device() -> int:
    """Print a report on the GPUs: whether they give the results of the CPU."""
    import cer_gpu

    found = cer_gpu.device_report()
    print(found)
    return DONE if found.right else OTHER


@_command
def warm(
    ship: Annotated[
        bool,
        typer.Option(
            "--ship", help="Also store the kernels inside the package, for all users of the installation."
        ),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Compile the kernels of all kinds of queries, not of common ones.")
    ] = False,
) -> int:
    """Compile what common queries need, ahead of time."""
    from cer_gpu.warm import warm as compile_kernels

    compile_kernels(ship, every)
    return DONE


@_command
def demo() -> int:
    """Run a query on 336,776 real flights, and write a report."""
    from cer_gpu.demo import main as show

    show()
    return DONE


# ------------------------------------------------------------------------------ what the user typed


def _compile(text: str) -> Query:
    import cer_gpu

    return cer_gpu.compile(text)


# ------------------------------------------------------------------------------------ how it ends


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr)


_ENDED_BY = ("SIGTERM", "SIGHUP")
"""Signals that end the process when its terminal closes, or somebody asks it to end."""


def _terminate(signum: int, frame: object) -> None:
    for name in _ENDED_BY:  # a second one would interrupt what is cleaned up for the first
        signal.signal(getattr(signal, name, signum), signal.SIG_IGN)
    sys.exit(128 + signum)


def status_of(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (default: that of the process) and return its exit status."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            with within_memory("the command ran"):
                status = app(args=arguments, prog_name="cer", standalone_mode=False)
        if status == INTERRUPTED:  # Typer makes a status of a KeyboardInterrupt
            _say("interrupted")
        sys.stdout.flush()
        return status if isinstance(status, int) else DONE
    except QueryError as error:
        _say("\n".join([str(error), *getattr(error, "__notes__", ())]))
        return WRONG_QUERY
    except DataError as error:
        _say(f"error: {error}")
        return WRONG_DATA
    except LimitError as error:
        _say(f"error: {error}")
        return LIMITED
    except (CerError, ArgumentError) as error:
        _say(f"error: {error}")
        return OTHER
    except (BrokenPipeError, ClosedOutputError):
        _drop_output()  # it has seen enough
        return DONE
    except (KeyboardInterrupt, typer.Abort):
        _say("interrupted")
        return INTERRUPTED
    except OSError as error:
        _say(f"error: {_file_named(error)}")
        _drop_output()
        return OTHER
    except Exception as error:
        if hasattr(error, "exit_code") and hasattr(error, "show"):  # typer's usage errors
            _say(_usage(error, sys.argv[1:] if arguments is None else arguments))
        else:
            _say(traceback.format_exc().rstrip())
        return OTHER


def _file_named(error: OSError) -> OSError:
    """The error with a file: that of `print` names none, so that standard output is the full one."""
    if error.errno not in FULL:
        return error
    try:
        with named(STANDARD_OUTPUT) if error.filename is None else nullcontext():
            raise error
    except OSError as found:
        return found


def _drop_output() -> None:
    """Drop what standard output does not take: Python would try to write it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: Any, arguments: Sequence[str]) -> str:
    """The text of a usage error."""
    text = io.StringIO()
    error.show(text)
    shown = text.getvalue().rstrip()
    if "No such command" in shown and arguments and " " in arguments[0].strip():
        shown = f"{shown}\nA query follows a command: cer run QUERY DATA"
    return shown


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as a user reads it: without the line of code that gave it."""
    _say(f"warning: {message}")


def main() -> None:
    """Entry point of `cer`."""
    for name in _ENDED_BY:
        number = getattr(signal, name, signal.SIGTERM)  # Windows has no SIGHUP
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _terminate)
    sys.exit(status_of())

"""`cer backtest`: its queries, the values of their parameters, buckets of time and keys, and outcomes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cer_gpu.cli_inputs import Data, EventOptions, query_text, reads_events, refuse_own_input
from cer_gpu.cli_outputs import Output, OutputFormat, result_format
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    import pyarrow as pa

    from cer_gpu.api import Query
    from cer_gpu.backtesting.sweep import Variants
    from cer_gpu.row_pattern_query import RowPatternQuery

By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="SPAN|COLUMN",
        help="Print a row for each span of time, such as 1d or '5 min', or for each value of a column of "
        "PARTITION BY; repeat it for both.",
    ),
]
Swept = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep",
        metavar="NAME=VALUES",
        help="Try all of these values of a parameter, such as p=10,20,30; repeat it for other parameters.",
    ),
]

Asked = Annotated[
    list[str] | None,
    typer.Option(
        "--outcome",
        metavar="NAME=EXPRESSION",
        help="A number to compute for each hit, from what happened after it, such as later='AFTER 5 MINUTES "
        "(price) / price - 1'; repeat it. The rows that are printed then sum up these numbers.",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="TIME",
        help="Also sum up outcomes before this time and from it on, such as 2024-01-01.",
    ),
]

Durations = Annotated[
    bool,
    typer.Option("--durations", help="Also print how long matches last: median and 95th percentile."),
]
Funnel = Annotated[
    bool,
    typer.Option("--funnel", help="Add to the report how far matches get, and which condition stops them."),
]

Resume = Annotated[
    str | None,
    typer.Option(
        "--resume",
        metavar="FILE",
        help="Keep in this file how far the backtest has come, between files of events; the same command "
        "then continues from there after an interruption.",
    ),
]
Starts = Annotated[
    bool,
    typer.Option(
        "--starts",
        help="Also count the events at which matches begin, such as the signals that were followed.",
    ),
]
Report = Annotated[
    str | None,
    typer.Option("--report", metavar="PAGE.html", help="Also write tables and charts as one HTML page."),
]

QUERY_FILE = ".ceql"


def asked_queries(queries: str, sweep: Sequence[str] | None) -> dict[str, Query | RowPatternQuery | Variants]:
    """The queries of a file, or the query that was typed, each with the variants of its swept parameters.

    Raises
    ------
    BadParameter
        When a sweep is not NAME=VALUES, or names a parameter that no query has.
    DataError
        When the file is not one of named queries.
    """
    from cer_gpu.api import Query
    from cer_gpu.backtesting.query_file import named_queries
    from cer_gpu.backtesting.sweep import sweep as variants
    from cer_gpu.errors import CerError
    from cer_gpu.patterns.statement_kind import is_statement
    from cer_gpu.row_pattern_query import RowPatternQuery

    grid = _grid(sweep)
    is_file = queries.lower().endswith(QUERY_FILE) and not queries.startswith("@")
    text = query_text(f"@{queries}" if is_file else queries)
    found: dict[str, Query | RowPatternQuery | Variants] = {}
    known: dict[str, None] = {}
    for name, one in named_queries(text, queries.removeprefix("@") if is_file else "the query").items():
        try:
            query = RowPatternQuery(one) if is_statement(one) else Query(one)
        except CerError as error:
            error.add_note(f"in the query {brief(name)}")
            raise
        known.update(dict.fromkeys(query.parameters))
        own: dict[str, Any] = {each: values for each, values in grid.items() if each in query.parameters}
        found[name] = variants(query, **own) if own else query
    for name in grid:
        if name not in known:
            there = ", ".join(f"${each}" for each in known) or "none"
            raise typer.BadParameter(
                f"--sweep: no query has the parameter ${name}; the parameters are {there}"
            )
    return found


def _grid(sweep: Sequence[str] | None) -> dict[str, list[str]]:
    """The values of each swept parameter; the place of each says whether it is a number or a text."""
    from cer_gpu.language.parameters import WrittenParameter

    found: dict[str, list[str]] = {}
    for each in sweep or ():
        name, there, values = each.partition("=")
        if not there or not values:
            raise typer.BadParameter(f"--sweep takes NAME=VALUES, such as p=10,20,30, not `{each}`")
        found.setdefault(name.removeprefix("$"), []).extend(
            WrittenParameter(value) for value in values.split(",")
        )
    return found


def shown_rows(rows: pa.Table, asked: Mapping[str, object], swept: Mapping[str, Sequence[str]]) -> pa.Table:
    """The rows of a backtest as the shell prints them.

    What was swept and is written as numbers is numbers, and a query that has no name has no column for it.

    Parameters
    ----------
    rows : pyarrow.Table
    asked : mapping
        The queries by their names.
    swept : mapping of str to sequence of str
        The values of each parameter, as they were typed.
    """
    import pyarrow as pa

    from cer_gpu.backtesting.query_file import UNNAMED

    for name, values in swept.items():
        at = rows.schema.get_field_index(name)
        if at < 0 or not pa.types.is_string(rows.schema.field(at).type):
            continue
        kinds = set(map(_written_as, values))
        if kinds <= {int, float}:
            kind = pa.int64() if kinds == {int} else pa.float64()
            rows = rows.set_column(at, name, rows.column(at).cast(kind))
    return rows.drop_columns(["query"]) if list(asked) == [UNNAMED] else rows


def _written_as(value: str) -> type:
    """The type of a number that would be printed just so: `007` and `1e3` are texts."""
    for kind in (int, float):
        with suppress(ValueError):
            number = kind(value)
            if str(number) in (value, f"0{value}", value.replace("-.", "-0.", 1)) and abs(number) < 1 << 53:
                return kind
    return str


def outcomes_asked(given: Sequence[str] | None) -> dict[str, str] | None:
    """The outcomes that were typed, by their names.

    Raises
    ------
    BadParameter
        When an outcome is not NAME=EXPRESSION, or a name is given twice.
    """
    found: dict[str, str] = {}
    for each in given or ():
        name, there, text = (part.strip() for part in each.partition("="))
        if not there or not name.isidentifier():
            raise typer.BadParameter(
                f"--outcome takes NAME=EXPRESSION, such as later='AFTER 5 MINUTES (price)', not `{each}`"
            )
        if name in found:
            raise typer.BadParameter(f"--outcome: the name {name} is given twice")
        found[name] = text
    return found or None


def buckets_and_keys(by: Sequence[str] | None) -> list[Any] | None:
    """The values of --by; a number alone is a span in the unit of the order column."""
    if not by:
        return None
    return [int(one) if one.isdecimal() else one for one in by]


@reads_events()
def backtest(
    queries: Annotated[
        str, typer.Argument(metavar="QUERIES", help="A file of named queries (.ceql), or a query as in run.")
    ],
    data: Data,
    by: By = None,
    sweep: Swept = None,
    outcome: Asked = None,
    split: Split = None,
    durations: Durations = False,
    funnel: Funnel = False,
    starts: Starts = False,
    resume: Resume = None,
    *,
    reading: EventOptions,
    report: Report = None,
    form: OutputFormat = None,
    output: Output = None,
) -> int:
    """Print how often each of many queries fires, in one pass over the events."""
    from cer_gpu.backtesting.run import backtest as tried
    from cer_gpu.output import output_file, write_rows
    from cer_gpu.whole_file import refuse_no_folder

    for path in (output, report, resume):  # said before anything is run
        refuse_no_folder(path)
    chosen = result_format(form, output)
    refuse_own_input(data, output)
    asked, events, options = asked_queries(queries, sweep), reading.events(data, queries), reading.keywords()
    if funnel and report is None:
        raise typer.BadParameter("--funnel is shown in the report: add --report PAGE.html")
    if report is not None:
        from cer_gpu.backtesting.chart_style import bundler, charts

        charts(), bundler()  # what the report lacks is said before anything is run
    parted, wanted = buckets_and_keys(by), outcomes_asked(outcome)
    try:
        found = tried(asked, events, parted, wanted, split, durations, funnel, starts, resume, **options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    rows = shown_rows(found.outcomes if outcome else found.to_arrow(), asked, _grid(sweep))
    with output_file(output) as sink:
        write_rows(rows.to_reader(), chosen, sink, most=len(rows))
    if report is not None:
        found.report(report, title=os.path.basename(queries) if queries.endswith(QUERY_FILE) else "Backtest")
    return 0

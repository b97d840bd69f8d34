"""`cer sql`: runs a SELECT with MATCH_RECOGNIZE over files, and prints its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cer_gpu.cli_inputs import (
    Device,
    EventOptions,
    InputFormat,
    MaybeInputFormat,
    Memory,
    Param,
    bytes_of,
    events_of,
    given_params,
    query_text,
    refuse_own_input,
)
from cer_gpu.cli_outputs import Output, OutputFormat, print_text, result_format

if TYPE_CHECKING:
    import pyarrow as pa

    from cer_gpu.row_patterns import RowPatternResult

StatementText = Annotated[
    str, typer.Argument(metavar="SQL", help="The statement, or @FILE, or @- for standard input.")
]
Tables = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="NAME=FILE",
        help="A table that the statement names: files as for `run`, or - for standard input; repeat it. "
        "FROM 'trades.parquet' needs none.",
    ),
]
SqlDialect = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The SQL of the statement: oracle, snowflake, trino, flink, duckdb, spark and others. By "
        "default the standard's.",
    ),
]
MostRows = Annotated[int | None, typer.Option(min=0, metavar="NUMBER", help="Stop after this many rows.")]
MatchingExplained = Annotated[
    bool, typer.Option("--explain", help="Print how matches are found, instead of the rows.")
]


def sql(
    statement: StatementText,
    table: Tables = None,
    dialect: SqlDialect = None,
    param: Param = None,
    input_format: MaybeInputFormat = None,
    device: Device = "auto",
    limit: MostRows = None,
    memory: Memory = None,
    explain: MatchingExplained = False,
    form: OutputFormat = None,
    output: Output = None,
) -> int:
    """Print the rows of a SELECT with MATCH_RECOGNIZE."""
    from cer_gpu.output import output_file, write_rows

    refuse_own_input(table or (), output)
    chosen = "text" if explain else result_format(form, output)
    tables = _tables(table, input_format, statement)
    text, params = query_text(statement), given_params(param)
    if explain:
        print_text(_explained(text, tables, params, dialect, device), output)
        return 0
    result = _result(text, tables, params, dialect, device, bytes_of(memory))
    with output_file(output) as sink:
        write_rows(_first_rows(result, limit), chosen, sink, limit)
    return 0


def explain_statement(
    text: str,
    data: Sequence[str] | None,
    reading: EventOptions,
    query: str,
    form: str,
    output: str | None,
) -> int:
    """Print how matches of a statement are found, or draw the automaton.

    Parameters
    ----------
    text : str
    data : sequence of str or None
        As typed: tables as `NAME=FILE`.
    reading : EventOptions
    query : str
        The statement as typed.
    form : str
        "text", "mermaid" or "svg".
    output : str or None
        The file to write to.
    """
    if form == "funnel":
        raise typer.BadParameter("--funnel is for queries of CEQL: leave it out for SQL with MATCH_RECOGNIZE")
    tables = _tables(data, reading.input_format, query)
    params = given_params(reading.param)
    print_text(_explained(text, tables, params, None, reading.device, form), output)
    return 0


def check_statement(text: str, data: Sequence[str] | None, reading: EventOptions, query: str) -> int:
    """Print what is wrong with a statement, or ok; parameters as for `explain_statement`."""
    from cer_gpu.errors import QueryError
    from cer_gpu.patterns.statement import read_statement

    tables, params = _tables(data, reading.input_format, query), given_params(reading.param)
    try:
        if tables:
            _ = _result(text, tables, params).schema
        else:
            read_statement(text, None, params)
    except QueryError as error:
        print(error)
        return 1
    print("ok")
    return 0


def _explained(
    text: str,
    tables: Mapping[str, Any],
    params: Mapping[str, Any],
    dialect: str | None,
    device: str,
    form: str = "text",
) -> str:
    """How matches are found, or the automaton; without tables as far as the text tells."""
    from cer_gpu.patterns.choices import automaton_of
    from cer_gpu.patterns.explanation import explanation
    from cer_gpu.patterns.statement import read_statement
    from cer_gpu.row_pattern_drawing import drawn_choices

    clauses = read_statement(text, dialect, params).clauses
    if tables or all(clause.kind == "file" for clause in clauses):
        result = _result(text, tables, params, dialect, device)
    else:
        result = None
    automata = [automaton_of(clause.pattern) for clause in clauses]
    try:
        if result is not None:
            told = result.explain(form)
        elif form == "text":
            told = "\n".join(explanation(*both, text) for both in zip(clauses, automata, strict=True))
        else:
            told = drawn_choices(automata, form)
    except ValueError as error:  # there are several automata
        raise typer.BadParameter(str(error)) from error
    return told.rstrip("\n")


def _tables(given: Sequence[str] | None, form: InputFormat | None, statement: str) -> dict[str, list[str]]:
    """The files of each table, which are given as `NAME=FILE`."""
    for each in given or ():
        if not re.fullmatch(r"[^\W\d]\w*=.+", each):
            raise typer.BadParameter(
                f"a table of a statement is given as NAME=FILE, such as trades=trades.parquet, not `{each}`"
            )
    found = events_of(given or (), form, statement)
    assert isinstance(found, dict)
    return found


def _result(
    text: str,
    tables: Mapping[str, Any],
    params: Mapping[str, Any],
    dialect: str | None = None,
    device: str = "auto",
    memory: int | None = None,
) -> RowPatternResult:
    from cer_gpu.outer_select import GivenTables
    from cer_gpu.row_patterns import result_over

    try:
        return result_over(GivenTables(tables), text, dialect, params, memory, device)
    except ValueError as error:  # there is no such dialect, no such device
        raise typer.BadParameter(str(error)) from error


def _first_rows(result: RowPatternResult, limit: int | None) -> pa.RecordBatchReader:
    """The first rows of a statement, or all."""
    import pyarrow as pa

    rows = result.batches()
    if limit is None:
        return rows

    def some() -> Iterator[pa.RecordBatch]:
        left = limit
        for batch in rows:
            yield batch.slice(0, left)
            left -= batch.num_rows
            if left <= 0:
                return

    return pa.RecordBatchReader.from_batches(rows.schema, some() if limit else ())

"""What `cer backtest` is told: its queries, the values that they take, and how its rows are parted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cer_gpu.api import Query
    from cer_gpu.backtesting.sweep import Variants

By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="SPAN|COLUMN",
        help="A row for each span of time, such as 1d or '5 min', or each key of PARTITION BY; repeat it.",
    ),
]
Swept = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep",
        metavar="NAME=VALUES",
        help="Try all of these values of a parameter, such as p=10,20,30; repeat it for further ones.",
    ),
]

QUERY_FILE = ".ceql"


def asked_queries(queries: str, sweep: Sequence[str] | None) -> dict[str, Query | Variants]:
    """The queries of a file, or the one that was typed, with the variants of what is swept.

    Raises
    ------
    BadParameter
        For a sweep that is not NAME=VALUES, and of a parameter that no query has.
    DataError
        For a file of queries that is not one.
    """
    from cer_gpu.api import Query
    from cer_gpu.backtesting.query_file import named_queries
    from cer_gpu.backtesting.sweep import sweep as variants
    from cer_gpu.cli_inputs import query_text
    from cer_gpu.errors import CerError

    grid = _grid(sweep)
    is_file = queries.lower().endswith(QUERY_FILE) and not queries.startswith("@")
    text = query_text(f"@{queries}" if is_file else queries)
    found: dict[str, Query | Variants] = {}
    known: dict[str, None] = {}
    for name, one in named_queries(text, queries.removeprefix("@") if is_file else "the query").items():
        try:
            query = Query(one)
        except CerError as error:
            error.add_note(f"in the query {name!r}")
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
    from cer_gpu.language.parameters import Written

    found: dict[str, list[str]] = {}
    for each in sweep or ():
        name, there, values = each.partition("=")
        if not there or not values:
            raise typer.BadParameter(f"--sweep takes NAME=VALUES, such as p=10,20,30, not `{each}`")
        found.setdefault(name.removeprefix("$"), []).extend(Written(value) for value in values.split(","))
    return found


def parts_of(by: Sequence[str] | None) -> list[Any] | None:
    """What `by` says; a number alone is a span in the unit of the order column."""
    if not by:
        return None
    return [int(one) if one.isdecimal() else one for one in by]

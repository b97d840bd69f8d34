"""A backtest as one HTML page that needs no other file: `Backtest.report`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.backtesting.plots import Plots
from cer_gpu.backtesting.report_style import SCRIPT, STYLE
from cer_gpu.backtesting.row_pattern_query import RowPatternQuery
from cer_gpu.engine.answers.display import cells
from cer_gpu.errors import CerError

if TYPE_CHECKING:
    from cer_gpu.backtesting.provenance import BacktestResult

MOST_ROWS = 2000
"""Rows of a table of the page at most; those with most hits, or the first ones."""

MOST_DRAWN = 20
"""Queries whose automata are drawn."""


def page_of(result: BacktestResult, title: str) -> str:
    """The page: tables that sort, charts, the queries with their automata, and how it was run.

    Parameters
    ----------
    result : BacktestResult
    title : str

    Raises
    ------
    CerError
        When Altair, or the package that puts its charts into a page, is not installed.
    """
    charts = list(_charts(result))
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p class='about'>{escape(result.about.told)}</p>",
        *(f"<p class='note'>{escape(note)}</p>" for note in result.notes),
        *_table("What was found", result.to_arrow(), "hits"),
    ]
    if result.has_outcomes:
        parts += _table("Outcomes", result.outcomes, None)
    if result.has_funnel:
        parts += _table("How far runs get, and where they die", result.funnel, None)
    if charts:
        parts.append("<h2>Charts</h2>")
    # A title in the page breaks into lines where the page is narrow; in a chart it is cut off.
    parts += [
        f"<figure><figcaption>{escape(spec.pop('title', ''))}</figcaption>"
        f"<div class='chart' id='chart{number}'></div></figure>"
        for number, spec in enumerate(charts)
    ]
    parts += _queries(result)
    specs = json.dumps(charts).replace("</", "<\\/")
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>"
        + "\n".join(parts)
        + f"</main>\n<script>{_libraries() if charts else ''}</script>\n"
        f"<script>const charts = {specs};\n{SCRIPT}</script></body></html>\n"
    )


def _charts(result: BacktestResult) -> Iterator[dict[str, Any]]:
    """The charts that the result has something for, as Vega-Lite has them."""
    plots = Plots(result)
    asked: list[Callable[[], Any]] = []
    table = result.to_arrow()
    if len(table) > 1:
        asked.append(plots.hits)
    several = any(
        len(set(map(str, table.column(place).to_pylist()))) > 1
        for place in range(1, len(result.parameters) + 1)
    )
    if several:
        asked.append(plots.sweep)
    if result.has_funnel and len(result.funnel):
        asked.append(plots.funnel)
    if result.has_outcomes:
        for name in dict.fromkeys(result.outcomes.column("outcome").to_pylist()):
            asked.append(lambda name=name: plots.outcomes(name))  # type: ignore[misc]
            if several:
                asked.append(lambda name=name: plots.sweep(name))  # type: ignore[misc]
            if result.keeps_hits and len(result.outcome_hits):
                asked.append(lambda name=name: plots.distribution(name))  # type: ignore[misc]
    for one in asked:
        spec: dict[str, Any] = one().properties(background="transparent").to_dict()
        yield spec | {"width": "container"}


def _libraries() -> str:
    """What draws the charts, as one script."""
    try:
        from vl_convert import javascript_bundle
    except ImportError as error:
        raise CerError("a report needs vl-convert-python: pip install 'cer-gpu[report]'") from error
    bundle: str = javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script")


def _table(title: str, table: pa.Table, by: str | None) -> Iterator[str]:
    """A table of the page."""
    shown = table
    told = f"{len(table):,} rows"
    if len(table) > MOST_ROWS:
        shown = table.sort_by([(by, "descending")]) if by is not None else table
        shown = shown.slice(0, MOST_ROWS)
        which = "with most hits" if by is not None else "that come first"
        told = f"the {MOST_ROWS:,} of {len(table):,} rows {which}"
    yield f"<h2>{escape(title)} <small>{escape(told)}</small></h2>"
    numbers = [_is_number(field.type) for field in shown.schema]
    head = "".join(
        f"<th class='{'number' if number else ''}'><button type='button'>{escape(name)}</button></th>"
        for name, number in zip(shown.schema.names, numbers)
    )
    columns = [_shown(column) for column in shown.columns]
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td class='{'number' if number else ''}'>{escape(cell)}</td>"
            for cell, number in zip(row, numbers)
        )
        + "</tr>"
        for row in zip(*columns)
    )
    yield f"<div class='table'><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _shown(column: pa.ChunkedArray) -> list[str]:
    """The cells of a column: large numbers with commas, times with a space before the clock."""
    if pa.types.is_floating(column.type):
        return ["" if one is None or one != one else _rounded(one) for one in column.to_pylist()]
    if _is_number(column.type):
        return ["" if one is None else _grouped(one) for one in column.to_pylist()]
    texts = cells(column)
    return [text.replace("T", " ", 1) for text in texts] if pa.types.is_timestamp(column.type) else texts


def _grouped(value: Any) -> str:
    return f"{value:,}" if abs(value) >= 10_000 else str(value)  # a year is no large number


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"


def _queries(result: BacktestResult) -> Iterator[str]:
    """The texts of the queries, with their automata."""
    yield "<h2>Queries</h2>"
    for number, (name, query) in enumerate(result.about.queries.items()):
        yield f"<h3>{escape(name)}</h3><pre>{escape(query.text.strip())}</pre>"
        if isinstance(query, RowPatternQuery):
            yield f"<pre>{escape(query.explain())}</pre>"
        elif number < MOST_DRAWN:
            try:
                yield f"<figure class='automaton'>{query.explain('svg')}</figure>"
            except CerError as error:
                yield f"<p class='note'>The automaton is not drawn: {escape(str(error).splitlines()[0])}</p>"

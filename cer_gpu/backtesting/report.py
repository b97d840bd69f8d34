"""A backtest as one HTML page that needs no other file: `Backtest.report`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.backtesting.best_variants import best_variants
from cer_gpu.backtesting.chart_page import drawing_script
from cer_gpu.backtesting.outcomes.summary import LEAST_N
from cer_gpu.backtesting.plots import Plots
from cer_gpu.backtesting.report_style import SCRIPT, STYLE
from cer_gpu.backtesting.report_table import ReportTable
from cer_gpu.backtesting.variant_label import in_order, labels_of
from cer_gpu.errors import CerError

if TYPE_CHECKING:
    from cer_gpu.backtesting.provenance import BacktestResult

MOST_DRAWN = 20
"""Queries whose automata are drawn."""

MOST_VALUES = 30
"""Values of a parameter that are listed."""

VALUES = frozenset(
    ("mean", "p05", "p25", "median", "p75", "p95", "low", "high", "base_mean", "gain_low", "gain_high")
)
"""Figures of an outcome that are values of it, so that they are shown with as many decimals."""


def page_of(result: BacktestResult, title: str) -> str:
    """The page: the queries, a verdict, tables that sort, charts, automata, and how it was run.

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
        *_queries(result),
        *_verdicts(result),
        *(f"<p class='note'>{_with_code(note)}</p>" for note in result.notes),
        *_tables(result),
    ]
    if charts:
        parts.append("<h2>Charts</h2>")
    # A title in the page breaks into lines where the page is narrow; in a chart it is cut off.
    parts += [
        f"<figure><figcaption>{escape(spec.pop('title', ''))}</figcaption>"
        f"<div class='chart' id='chart{number}'></div></figure>"
        for number, spec in enumerate(charts)
    ]
    parts += _automata(result)
    parts += ["<h2>How it was run</h2>", f"<p class='about'>{escape(result.about.told)}</p>"]
    specs = json.dumps(charts).replace("</", "<\\/")
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>"
        + "\n".join(parts)
        + f"</main>\n<script>{drawing_script() if charts else ''}</script>\n"
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
        # The script of the page tells histograms side by side how wide they are.
        yield spec if "facet" in spec.get("encoding", {}) else spec | {"width": "container"}


def _with_code(text: str) -> str:
    """A text as HTML, with what stands between back-ticks as code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escape(text))


def _queries(result: BacktestResult) -> Iterator[str]:
    """The texts of the queries, and the values of their parameters."""
    for name, query in result.about.queries.items():
        heading = f"<h2>{escape(name)}</h2>" if len(result.about.queries) > 1 else ""
        yield f"{heading}<pre>{escape(query.text.strip())}</pre>"
    table = result.to_arrow()
    told = []
    for place, name in enumerate(result.parameters, 1):
        values = [str(value) for value in in_order(table.column(place).to_pylist()) if value is not None]
        most = f", ... ({len(values):,} in all)" if len(values) > MOST_VALUES else ""
        if values:
            said = escape(", ".join(values[:MOST_VALUES]) + most)
            told.append(f"<tr><th>{escape(name)}</th><td>{said}</td></tr>")
    if told:
        yield f"<table class='given'>{''.join(told)}</table>"


def _verdicts(result: BacktestResult) -> Iterator[str]:
    """What to make of the result, in words."""
    if not result.has_outcomes:
        yield f"<p class='verdict'>{escape(_found(result))}</p>"
        return
    for name in dict.fromkeys(result.outcomes.column("outcome").to_pylist()):
        best = best_variants(result, name, LEAST_N, 1, "mean", True)
        if not best.beats_base:  # less may be better: of a loss, or of the time until something happens
            least = best_variants(result, name, LEAST_N, 1, "mean", False)
            best = least if least.beats_base else best
        kind = "verdict better" if best.beats_base else "verdict"
        yield f"<p class='{kind}'><b>{escape(name)}</b>: {escape(best.verdict)}</p>"


def _found(result: BacktestResult) -> str:
    """How much was found, and by which query most of it."""
    table = result.to_arrow()
    sums: dict[str, int] = {}
    for label, hits in zip(labels_of(result, table), table.column("hits").to_pylist(), strict=True):
        sums[label] = sums.get(label, 0) + hits
    if not any(sums.values()):
        return "Nothing was found."
    most = max(sums, key=lambda one: sums[one])
    if len(sums) == 1:
        return f"Matches end at {sums[most]:,} events."
    empty = sum(not hits for hits in sums.values())
    none = f" {empty:,} {'query' if empty == 1 else 'queries'} found nothing." if empty else ""
    return f"Of {len(sums):,} queries, {most} has the most hits: {sums[most]:,}.{none}"


def _tables(result: BacktestResult) -> Iterator[str]:
    """The tables: what was found, each outcome, how far matches get."""
    count = len(result.parameters)
    yield from ReportTable("What was found", result.to_arrow(), count, "hits").html()
    if result.has_outcomes:
        table = result.outcomes
        names = table.column("outcome").to_pylist()
        for name in dict.fromkeys(names):
            own = table.filter(pa.array([one == name for one in names]))
            yield from ReportTable(f"Outcome {name}", own, count, "n", VALUES).html()
    if result.has_funnel:
        yield from ReportTable("How many partial matches reach each step", result.funnel, count).html()


def _automata(result: BacktestResult) -> Iterator[str]:
    """How the queries are evaluated: their automata."""
    parts = []
    for number, (name, query) in enumerate(result.about.queries.items()):
        heading = f"<h3>{escape(name)}</h3>" if len(result.about.queries) > 1 else ""
        if number < MOST_DRAWN:
            try:
                parts.append(f"{heading}<figure class='automaton'>{query.explain('svg')}</figure>")
            except CerError as error:
                why = escape(str(error).splitlines()[0])
                parts.append(f"{heading}<p class='note'>The automaton is not drawn: {why}</p>")
    yield f"<details><summary>The automata of the queries</summary>{''.join(parts)}</details>"

"""A backtest as one HTML page that needs no other file: `Backtest.report`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.backtesting.best_variants import best_variants
from cer_gpu.backtesting.chart_style import drawing_script
from cer_gpu.backtesting.outcomes.summary import LEAST_N
from cer_gpu.backtesting.plots import Plots
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


STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c1e21; --soft: #5b626a; --line: #d8dce1; --head: #f3f5f7; --bar: #9aa3ad;
  --shade: rgb(0 0 0 / 22%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e6e8ea; --soft: #a2abb4; --line: #343a41; --head: #1f2429; --bar: #6b747d;
    --shade: rgb(0 0 0 / 75%);
  }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1100px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h2 small, .about { color: var(--soft); font-weight: normal; font-size: .9rem; }
.note { border-left: 3px solid #d9a300; padding-left: .75rem; }
.verdict { border-left: 4px solid var(--bar); background: var(--head); padding: .6rem .9rem; }
.better { border-color: #2e9e5b; }
.table { overflow: auto; max-height: 32rem; border: 1px solid var(--line); border-radius: 6px; }
/* A scroll bar that is always there, and a shade at an edge behind which there is more. */
.table, figure, pre { scrollbar-color: var(--bar) var(--head); scrollbar-width: auto; }
.table {
  background:
    linear-gradient(to right, var(--paper) 40%, transparent) left / 40px 100% local no-repeat,
    linear-gradient(to left, var(--paper) 40%, transparent) right / 40px 100% local no-repeat,
    radial-gradient(farthest-side at 0 50%, var(--shade), transparent) left / 14px 100% scroll no-repeat,
    radial-gradient(farthest-side at 100% 50%, var(--shade), transparent) right / 14px 100% scroll no-repeat;
}
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.given { width: auto; margin: .5rem 0 1rem; }
.given th { position: static; background: none; padding: .15rem 1rem .15rem 0; font-weight: 600; }
.given td { border: 0; white-space: normal; }
details { margin-top: 2rem; }
summary { cursor: pointer; font-weight: 600; }
th { position: sticky; top: 0; background: var(--head); text-align: left; padding: 0; }
th button { all: unset; cursor: pointer; padding: .4rem .6rem; font-weight: 600; white-space: nowrap; }
th button:focus-visible { outline: 2px solid #3b82f6; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
td { padding: .25rem .6rem; border-top: 1px solid var(--line); white-space: nowrap; }
.number { text-align: right; }
figure { margin: 1.5rem 0; overflow-x: auto; }
figcaption { font-weight: 600; margin-bottom: .25rem; }
.chart { width: 100%; }
.chart.vega-embed { padding-right: 38px; box-sizing: border-box; }
.automaton { background: #fff; border-radius: 6px; }
.automaton svg { max-width: 100%; height: auto; }
@media (max-width: 700px) { .automaton svg { max-width: none; } }
pre { background: var(--head); padding: .75rem; border-radius: 6px; overflow-x: auto; white-space: pre-wrap; }
"""

SCRIPT = """
for (const table of document.querySelectorAll(".table table")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") !== "descending";
    heads.forEach(one => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const number = head.classList.contains("number");
    const value = row => {
      const { textContent: text, dataset: { sort } } = row.cells[at];
      return sort !== undefined ? Number(sort) : number ? parseFloat(text.replaceAll(",", "")) : text;
    };
    const rows = [...body.rows].map(row => [value(row), row]);
    rows.sort(([a], [b]) => {
      const missing = one => one === "" || Number.isNaN(one);
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
    });
    body.append(...rows.map(([, row]) => row));
  }));
}
const dark = matchMedia("(prefers-color-scheme: dark)");
function fitted(spec, wide) {
  const facet = spec.encoding && spec.encoding.facet;
  if (!facet) return spec;
  const columns = Math.max(1, Math.min(facet.columns, Math.floor(wide / 240)));
  const width = Math.max(120, Math.floor((wide - 70) / columns) - 22);
  return { ...spec, width, encoding: { ...spec.encoding, facet: { ...facet, columns } } };
}
async function draw() {
  const ink = getComputedStyle(document.body).color, line = dark.matches ? "#343a41" : "#d8dce1";
  const axis = { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line };
  const config = { axis, legend: { labelColor: ink, titleColor: ink }, title: { color: ink, anchor: "start" },
                   header: { labelColor: ink, titleColor: ink }, view: { stroke: line } };
  const actions = { export: true, source: false, compiled: false, editor: false };
  for (const [number, spec] of charts.entries())
    await vegaEmbed(
      "#chart" + number, fitted(spec, document.getElementById("chart" + number).clientWidth - 40),
      { config: { ...config, text: { color: ink } }, actions });
  document.body.dataset.drawn = charts.length;
}
dark.addEventListener("change", draw);
draw();
"""

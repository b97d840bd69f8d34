"""How the page of a report looks, light and dark, wide and narrow, and what its script does."""

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

"""How the page of a report looks, light and dark, wide and narrow, and what its script does."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c1e21; --soft: #646b73; --line: #d8dce1; --head: #f3f5f7;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171a; --ink: #e6e8ea; --soft: #98a1aa; --line: #343a41; --head: #1f2429; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1100px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h2 small, .about { color: var(--soft); font-weight: normal; font-size: .9rem; }
.note { border-left: 3px solid #d9a300; padding-left: .75rem; }
.table { overflow: auto; max-height: 32rem; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
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
.automaton { background: #fff; border-radius: 6px; }
.automaton svg { max-width: 100%; height: auto; }
@media (max-width: 700px) { .automaton svg { max-width: none; } }
pre { background: var(--head); padding: .75rem; border-radius: 6px; overflow-x: auto; white-space: pre-wrap; }
"""

SCRIPT = """
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") !== "descending";
    heads.forEach(one => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const number = head.classList.contains("number");
    const value = row => { const text = row.cells[at].textContent;
                           return number ? parseFloat(text.replaceAll(",", "")) : text; };
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
async function draw() {
  const ink = getComputedStyle(document.body).color, line = dark.matches ? "#343a41" : "#d8dce1";
  const axis = { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line };
  const config = { axis, legend: { labelColor: ink, titleColor: ink }, title: { color: ink, anchor: "start" },
                   view: { stroke: line } };
  const actions = { export: true, source: false, compiled: false, editor: false };
  for (const [number, spec] of charts.entries())
    await vegaEmbed("#chart" + number, spec, { config, actions });
  document.body.dataset.drawn = charts.length;
}
dark.addEventListener("change", draw);
draw();
"""

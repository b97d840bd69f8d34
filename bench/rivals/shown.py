"""The table of rivals for the documentation: `python -m bench.rivals.shown bench/results/FILE.json`.

It writes the tables of bench/RIVALS.md, the picture of docs/PERFORMANCE.md, and in README.md and
docs/PERFORMANCE.md the row of a table that sums them up. It reads what `python -m bench rivals --output FILE`
stored.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import altair as alt

from bench.rivals.one import LONG
from bench.rivals.section import FEWER, TEN_TIMES

ROOT = Path(__file__).resolve().parent.parent.parent

HEADING = "# The same questions, asked of other tools"

OURS = "cer-gpu"

LINE = re.compile(r"^\| \d+ questions\b.*$", re.MULTILINE)
"""The row of README.md and docs/PERFORMANCE.md."""

NAMES = {
    "duckdb": "DuckDB",
    "esper": "Esper",
    "flink-cep": "Flink CEP",
    "polars": "Polars",
    "siddhi": "Siddhi",
    "spark-sql": "Spark SQL",
}
"""How tools spell themselves."""

TEN = 10
"""So many times ahead we should be in some workloads."""

WHY = {
    "the last never occurs": (
        "It has no event of the last step, so there is nothing to join. cer-gpu sees in the dictionary "
        "that there is no such event, but still checks the order of time."
    ),
    "(a) iteration": (
        "It counts by a formula that was written by hand for this pattern, 2^n - 1 over a join of two steps."
    ),
    "(b) 3 steps by key, 100,000 keys": (
        "With so many keys hardly any rows join, and numbering the keys costs more than that."
    ),
    "(c) compared": (
        "A window holds few events of a key, so the join has few rows. cer-gpu looks values up in the "
        "order of prices, which pays off in windows with many events."
    ),
    "(d) no further event": (
        "One shift within each key is enough. cer-gpu does the same, and also checks the order of time."
    ),
    "(f) sessions": (
        "Only the ends of sessions are counted, and a shift within each key finds them. cer-gpu does the "
        "same, and also checks the order of time."
    ),
    "(e) view": (
        "With few rows for each key, joining everything again ten times is cheap. cer-gpu keeps what it "
        "needs to continue, to delete rows and to list."
    ),
}
"""Why another tool is faster, by a part of the names of workloads."""


class Cell(NamedTuple):
    """The result of one engine for one workload.

    Attributes
    ----------
    rate : float or None
        Million events a second.
    times : float or None
        How many times our time it took.
    megabytes : float or None
        The most memory.
    answers : int or None
        Complex events.
    version : str
        The version of the engine.
    note : str
        Why there is no result.
    """

    rate: float | None
    times: float | None
    megabytes: float | None
    answers: int | None
    version: str
    note: str


def cells(record: dict[str, Any]) -> dict[str, dict[str, Cell]]:
    """The cells, by workload and engine."""
    figures = [one for one in record["figures"] if one["section"].startswith("rivals: ")]
    ratios = {(one["section"], one["case"]): one["value"] for one in figures if one["unit"] == "times"}
    found: dict[str, dict[str, Cell]] = {}
    for one in figures:
        if one["unit"] == "times":
            continue
        section, note, engine = one["section"], one["note"], one["case"]
        row = found.setdefault(section.removeprefix("rivals: "), {})
        if one["value"] is None:
            row[engine] = Cell(None, None, None, None, "", note)
            continue
        number, memory = (
            float(re.search(rf"([\d,]+) {words}", note)[1].replace(",", ""))  # type: ignore[index]
            for words in ("complex events", "MB at most")
        )
        times = 1.0 if engine == OURS else ratios.get((section, f"{engine} / ours"))
        version = re.search(r"; (\S*) ?started and loaded", note)[1]  # type: ignore[index]
        row[engine] = Cell(one["value"], times, memory, int(number), version, "")
    return found


def page(record: dict[str, Any], name: str) -> str:
    """The page with all figures."""
    rows = cells(record)
    engines = [*dict.fromkeys(engine for row in rows.values() for engine in row if engine != OURS)]
    about, sizes = record["environment"], record["sizes"]
    known = {engine: one.version for row in rows.values() for engine, one in row.items() if one.version}
    versions = ", ".join(f"{engine} {known[engine]}" for engine in engines if engine in known)
    text = (
        f"{HEADING}\n\nEach row is a question that cer-gpu and other tools answered over the same events, "
        "with the same count. The columns of the tools say how many times cer-gpu's time they took, from "
        "loaded events to the count.\n\n"
        f"`python -m bench rivals` printed these figures (`bench/results/{name}`): {about['cores']} cores of "
        f"{about['processor']}, {about['memory_gib']:.0f} GiB, load {about['load']}, "
        f"Python {about['python']}, {versions}, commit {about['commit']}. Each figure is the median of "
        f"{sizes['runs']} run{'s' * (sizes['runs'] != 1)} after one that is not timed; a run of more than "
        f"{LONG:g} s is not repeated, and a tool is stopped after {sizes['patience']:g} s. Where a tool can "
        "compile queries or prepare statements, this is done before. Spark answers all questions in one "
        "process, the others each in a new one. A time in parentheses was not measured: the tool had already "
        "run out of time with fewer matches of the same question.\n\n"
    )
    reasons: list[str] = []
    lines = [["question", "matches", "cer-gpu, M events/s", *engines]]
    memory = [["question", OURS, *engines]]
    for workload, row in rows.items():
        ours = row[OURS]
        counted = f"{ours.answers:,}" if ours.answers is not None else ""
        line = [workload, counted, short(ours.rate) if ours.rate is not None else ours.note]
        least = min((one.megabytes for one in row.values() if one.megabytes is not None), default=None)
        for engine in engines:
            cell = row.get(engine)
            line.append("" if cell is None else _said(cell, reasons))
        lines.append(line)
        memory.append([workload, *(_megabytes(row.get(engine), least) for engine in (OURS, *engines))])
    notes = "".join(f"- [{number}] {why}\n" for number, why in enumerate(reasons, 1))
    return (
        f"{text}{table(lines)}\n{notes}{_behind(rows)}\n"
        f"## Memory\n\nThe peak of each process, with its loaded events, in MB:\n\n{table(memory)}"
    )


def _behind(rows: dict[str, dict[str, Cell]]) -> str:
    """Where another engine is first, by how much and why; and where we are not ten times ahead of all."""
    ahead: list[str] = []
    near: list[str] = []
    for workload, row in rows.items():
        named = [(one.times, name) for name, one in row.items() if name != OURS and one.times is not None]
        if not named or (least := min(named))[0] >= TEN:
            continue
        times, engine = least
        if times < 1:
            why = next((why for part, why in WHY.items() if part in workload), "")
            ahead.append(
                f"- {workload}: {engine} takes {short(times)} of cer-gpu's time. {why}".rstrip() + "\n"
            )
        elif workload.startswith(TEN_TIMES):
            near.append(f"{workload} ({engine}, {short(times)})")
    text = f"\nWhere another tool is faster:\n\n{''.join(ahead)}" if ahead else ""
    if near:
        text += (
            f"\nWhere cer-gpu is fastest, but less than {TEN} times as fast as the next: {'; '.join(near)}.\n"
        )
    return text


def line(record: dict[str, Any]) -> str:
    """The row that sums up: how often we are fastest, and how long the best other tool takes."""
    rows = cells(record)
    best = [
        min(rivals)
        for row in rows.values()
        if (rivals := [one.times for name, one in row.items() if name != OURS and one.times is not None])
    ]
    behind = sum(one < 1 for one in best)
    ahead = sum(row[OURS].rate is not None for row in rows.values()) - behind
    engines = {name for row in rows.values() for name, one in row.items() if one.times and name != OURS}
    names = _listed(sorted((NAMES.get(name, name) for name in engines), key=str.lower))
    return (
        f"| {len(rows)} questions, also asked of {names} | fastest on {ahead} | the best other tool takes "
        f"{short(min(best))} to {short(max(best))} times as long (median {short(median(best))}) |"
    )


def picture(rows: dict[str, dict[str, Cell]], path: Path) -> None:
    """Draw a point for each engine and workload: how many times our time it takes."""
    points = [
        {"question": workload, "engine": engine, "times": cell.times}
        for workload, row in rows.items()
        for engine, cell in row.items()
        if cell.times is not None and engine != OURS
    ]
    times = alt.X("times:Q", scale=alt.Scale(type="log"), title="times cer-gpu's time")
    names = alt.Y("question:N", sort=None, title=None, axis=alt.Axis(labelLimit=420, grid=True))
    drawn = alt.Chart(alt.Data(values=points)).mark_point(filled=True, size=60)
    drawn = drawn.encode(x=times, y=names, color=alt.Color("engine:N", title=None))
    one = alt.Chart(alt.Data(values=[{"times": 1}])).mark_rule(strokeDash=[4, 3]).encode(x=times)
    (drawn + one).properties(width=520).save(str(path))


def write(path: Path, root: Path = ROOT) -> None:
    """Write the tables, the picture and the rows."""
    record = json.loads(path.read_text(encoding="utf-8"))
    (root / "bench" / "RIVALS.md").write_text(page(record, path.name), encoding="utf-8")
    for name in ("README.md", "docs/PERFORMANCE.md"):
        text, found = LINE.subn(lambda _: line(record), (root / name).read_text(encoding="utf-8"))
        assert found == 1, f"{name} has one row that begins with `| N questions`"
        (root / name).write_text(text, encoding="utf-8")
    picture(cells(record), root / "docs" / "pictures" / "rivals.svg")


def _said(cell: Cell, reasons: list[str]) -> str:
    if cell.times is not None:
        return short(cell.times)
    if cell.rate is not None:
        return f"{short(cell.rate)} M/s"
    if cell.note.startswith("more than "):
        late = cell.note.removesuffix(FEWER).replace("more than ", "> ")
        return f"({late})" if cell.note.endswith(FEWER) else late
    if cell.note not in reasons:
        reasons.append(cell.note)
    return f"[{reasons.index(cell.note) + 1}]"


def _megabytes(cell: Cell | None, least: float | None) -> str:
    if cell is None or cell.megabytes is None:
        return ""
    return f"**{cell.megabytes:,.0f}**" if cell.megabytes == least else f"{cell.megabytes:,.0f}"


def table(lines: list[list[str]]) -> str:
    """Lines of cells as a table of Markdown; the first line is its head."""
    head, *rows = lines
    text = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in text)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def short(value: float) -> str:
    """A number with two digits."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


if __name__ == "__main__":
    write(Path(sys.argv[1]))

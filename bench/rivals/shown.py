"""The table of rivals for the documentation: `python -m bench.rivals.shown bench/results/FILE.json`.

It writes the section `Beside others` of docs/PERFORMANCE.md, its picture, and the line of README.md that
begins with `Beside others`, from what `python -m bench rivals --output FILE` stored.
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

HEADING = "## Beside others"

OURS = "cer-gpu"

LINE = "Beside others"

TEN = 10
"""So many times ahead we should be in some workloads."""

WHY = {
    "the last never occurs": "It keeps no event of the last step, so that there is nothing to join; ours "
    "sees in the dictionary that there is no such event, and checks the order of time.",
    "(a) iteration": "Choices are counted by a formula, 2^n - 1 over a join of two steps, which was written "
    "by hand for this pattern.",
    "(b) 3 steps by key, 100,000 keys": "With as many keys as events hardly any rows join, and to number the "
    "keys costs more than that.",
    "(c) compared": "Few events of a key are in a window, so that their join has few rows; ours looks values "
    "up in the order of prices, which is made for windows with many.",
    "(d) no further event": "One shift within each key tells it, and ours does the same and checks the order "
    "of time.",
    "(f) sessions": "Only the ends of sessions are counted, which a shift within each key tells; ours looks "
    "at the next event of each key, too, and checks the order of time.",
    "(e) view": "With few rows for each key to join anew ten times is cheap; ours keeps what it takes to go "
    "on, to delete rows, and to list.",
}
"""Why another engine is first, by a part of the names of workloads."""


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
    """The section for the documentation."""
    rows = cells(record)
    engines = [*dict.fromkeys(engine for row in rows.values() for engine in row if engine != OURS)]
    about, sizes = record["environment"], record["sizes"]
    known = {engine: one.version for row in rows.values() for engine, one in row.items() if one.version}
    versions = ", ".join(f"{engine} {known[engine]}" for engine in engines if engine in known)
    text = (
        f"{HEADING}\n\nThe same questions over the same events with the same counts, asked of what people "
        f"would use instead: how many times our time each takes, from loaded events to the count "
        f"(`python -m bench rivals`, `bench/results/{name}`; {about['cores']} cores of {about['processor']}, "
        f"{about['memory_gib']:.0f} GiB, load {about['load']}, Python {about['python']}, {versions}, "
        f"commit {about['commit']}; median of {sizes['runs']} after one that is not timed, or the first "
        f"where it takes more than {LONG:g} s; stopped after {sizes['patience']:g} s). Queries are compiled "
        "and statements prepared before, where an engine can do that. Spark answers all of them in one "
        "process, the others each in a new one. In parentheses: who had no time for fewer matches of the "
        "same question was not asked for more.\n\n"
        "![How many times our time each engine takes, workload by workload](pictures/rivals.svg)\n\n"
    )
    reasons: list[str] = []
    lines = [["question", "complex events", "ours, M events/s", *engines]]
    memory = [["question", OURS, *engines]]
    for workload, row in rows.items():
        ours = row[OURS]
        counted = f"{ours.answers:,}" if ours.answers is not None else ""
        line = [workload, counted, _short(ours.rate) if ours.rate is not None else ours.note]
        least = min((one.megabytes for one in row.values() if one.megabytes is not None), default=None)
        for engine in engines:
            cell = row.get(engine)
            line.append("" if cell is None else _said(cell, reasons))
        lines.append(line)
        memory.append([workload, *(_megabytes(row.get(engine), least) for engine in (OURS, *engines))])
    notes = "".join(f"- [{number}] {why}\n" for number, why in enumerate(reasons, 1))
    return (
        f"{text}{_table(lines)}\n{notes}{_behind(rows)}\n"
        f"The most memory of each process, with its loaded events, in MB:\n\n{_table(memory)}"
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
            ahead.append(f"- {workload}: {engine} takes {_short(times)} of our time. {why}".rstrip() + "\n")
        elif workload.startswith(TEN_TIMES):
            near.append(f"{workload} ({engine}, {_short(times)})")
    text = f"\nWhere another one is first:\n\n{''.join(ahead)}" if ahead else ""
    if near:
        text += f"\nFirst, but less than {TEN} times ahead: {'; '.join(near)}.\n"
    return text


def line(record: dict[str, Any]) -> str:
    """The line for the README: how many times our time the best and the median rival take."""
    rows = cells(record)
    best = [
        min(rivals)
        for row in rows.values()
        if (rivals := [one.times for name, one in row.items() if name != OURS and one.times is not None])
    ]
    behind = sum(one < 1 for one in best)
    ahead = sum(row[OURS].rate is not None for row in rows.values()) - behind
    engines = {name for row in rows.values() for name, one in row.items() if one.times and name != OURS}
    return (
        f"{LINE}: of {len(rows)} questions asked of {_listed(sorted(engines))}, {ahead} are answered first "
        f"here; the best of the others takes {_short(min(best))} to {_short(max(best))} times as long, "
        f"{_short(median(best))} in the middle."
    )


def picture(record: dict[str, Any], path: Path) -> None:
    """Draw a point for each engine and workload: how many times our time it takes."""
    points = [
        {"question": workload, "engine": engine, "times": cell.times}
        for workload, row in cells(record).items()
        for engine, cell in row.items()
        if cell.times is not None and engine != OURS
    ]
    times = alt.X("times:Q", scale=alt.Scale(type="log"), title="times our time")
    names = alt.Y("question:N", sort=None, title=None, axis=alt.Axis(labelLimit=420, grid=True))
    drawn = alt.Chart(alt.Data(values=points)).mark_point(filled=True, size=60)
    drawn = drawn.encode(x=times, y=names, color=alt.Color("engine:N", title=None))
    one = alt.Chart(alt.Data(values=[{"times": 1}])).mark_rule(strokeDash=[4, 3]).encode(x=times)
    (drawn + one).properties(width=520).save(str(path))


def write(path: Path, root: Path = ROOT) -> None:
    """Write the section, the picture and the line."""
    record = json.loads(path.read_text(encoding="utf-8"))
    performance, readme = root / "docs" / "PERFORMANCE.md", root / "README.md"
    before, _, rest = performance.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")
    after = rest.partition("\n## ")
    section = page(record, path.name)
    kept = f"\n## {after[2]}" if after[1] else ""
    performance.write_text(f"{before.rstrip()}\n\n{section}{kept}", encoding="utf-8")
    lines = readme.read_text(encoding="utf-8").splitlines()
    at = [number for number, text in enumerate(lines) if text.startswith(f"{LINE}:")]
    if at:
        lines[at[0]] = line(record)
    else:
        place = lines.index("## How fast")
        end = next(number for number in range(place + 2, len(lines)) if not lines[number])
        lines.insert(end, line(record))
    readme.write_text("\n".join(lines) + "\n", encoding="utf-8")
    picture(record, root / "docs" / "pictures" / "rivals.svg")


def _said(cell: Cell, reasons: list[str]) -> str:
    if cell.times is not None:
        return _short(cell.times)
    if cell.rate is not None:
        return f"{_short(cell.rate)} M/s"
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


def _table(lines: list[list[str]]) -> str:
    head, *rows = lines
    text = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in text)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


if __name__ == "__main__":
    write(Path(sys.argv[1]))

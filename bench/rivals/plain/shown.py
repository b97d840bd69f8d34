"""The tables of plain questions: `python -m bench.rivals.plain.shown bench/results/FILE.json ...`.

It writes bench/PLAIN.md and a picture for each size beside the results. It reads what `python -m bench plain
--output FILE` stored; of a size that several files have, the figures of the first are shown.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench.rivals.plain.engines import OPENERS
from bench.rivals.plain.section import CLOCK, OURS
from bench.rivals.shown import ROOT, Cell, picture, short, table
from bench.sizes import large

HEADING = "# Plain questions, asked of cer-gpu, DuckDB, chdb and Polars"

QUESTION = re.compile(r"plain: (.*), (\S+) events$")


class Row(NamedTuple):
    """The results of one question.

    Attributes
    ----------
    answers : str
        How many matches or rows there are.
    seconds, clock : float
        Ours: of the processor, and by the clock.
    times, clocked : dict of str to float
        For each other tool, how many times these it takes.
    """

    answers: str
    seconds: float
    clock: float
    times: dict[str, float]
    clocked: dict[str, float]

    @property
    def best(self) -> tuple[float, str]:
        """The tool that takes least of the processor, and how many times ours that is."""
        return min((times, tool) for tool, times in self.times.items())


def rows(record: dict[str, Any]) -> dict[str, dict[str, Row]]:
    """The rows, by size and question."""
    found: dict[str, dict[str, Row]] = {}
    for one in record["figures"]:
        asked = QUESTION.match(one["section"])
        if asked is None or one["value"] is None:
            continue
        question, size = asked.groups()
        kept = found.setdefault(size, {})
        if one["case"] == OURS:
            clock = re.search(r"([\d.]+) s by the clock", one["note"])
            answers = one["note"].partition(";")[0]
            kept[question] = Row(answers, one["value"], float(clock[1]), {}, {})  # type: ignore[index]
        elif question in kept and " / ours" in one["case"]:
            tool, _, kind = one["case"].partition(" / ours")
            row = kept[question]
            (row.clocked if kind == CLOCK else row.times)[tool] = one["value"]
    return found


def all_rows(records: Iterable[dict[str, Any]]) -> dict[str, dict[str, Row]]:
    """The rows of several records, of each size those of the first record that has it."""
    found: dict[str, dict[str, Row]] = {}
    for record in records:
        found = rows(record) | found
    return dict(sorted(found.items(), key=lambda one: (one[0][-1] == "M", float(one[0][:-1]))))


def varied(record: dict[str, Any]) -> dict[str, str]:
    """What all variants take, a sentence for each size."""
    found = {}
    for one in record["figures"]:
        asked = QUESTION.match(one["section"])
        if asked is not None and one["case"] == "all / one" and one["value"] is not None:
            question, size = asked.groups()
            times = short(one["value"])
            found[size] = f"{question} over {size} events take {times} times as long as one of them."
    return found


def page(records: dict[str, dict[str, Any]]) -> str:
    """The page with all figures, from records by the names of their files."""
    text = (
        f"{HEADING}\n\nEach row is a question that all tools answered over the same events, with the same "
        "number of rows and the same sums of their columns. cer-gpu's times are milliseconds of the "
        "processor, all threads together, and in parentheses those by the clock. The columns of other tools "
        "say how many times cer-gpu's processor time they took and, in parentheses, how many times its time "
        "by the clock. Each tool was asked in several forms (`bench/rivals/plain`); the fastest counts.\n"
    )
    text += "".join(_made(record, name) for name, record in records.items())
    for size, kept in all_rows(records.values()).items():
        tools = list(dict.fromkeys(tool for row in kept.values() for tool in row.times))
        lines = [["question", "answers", "cer-gpu, ms", *tools]]
        lines += [
            [
                question,
                row.answers,
                f"{short(row.seconds * 1000)} ({short(row.clock * 1000)})",
                *(
                    f"{short(row.times[tool])} ({short(row.clocked[tool])})" if tool in row.times else ""
                    for tool in tools
                ),
            ]
            for question, row in kept.items()
        ]
        text += f"\n## {size} events\n\n{table(lines)}\n{_behind(kept)}"
    said: dict[str, str] = {}
    for record in records.values():
        said = varied(record) | said
    return text + "".join(f"\n{line}\n" for line in said.values())


def _made(record: dict[str, Any], name: str) -> str:
    """How figures were made."""
    about, sizes = record["environment"], record["sizes"]
    versions = ", ".join(f"{tool} {about[tool]}" for tool in OPENERS if about.get(tool))
    events = " and ".join(f"{large(number)}" for number in sizes["asked"])
    return (
        f"\n`python -m bench plain` printed the figures of {events} events (`bench/results/{name}`): "
        f"{about['cores']} cores of {about['processor']}, {about['memory_gib']:.0f} GiB, load "
        f"{about['load']}, Python {about['python']}, {versions}, commit {about['commit']}. Each figure is "
        f"the best of {sizes['runs']} runs after one that is not timed; each tool has a process of its own, "
        "with its events loaded.\n"
    )


def _behind(kept: dict[str, Row]) -> str:
    """How often we are first, and where we are not."""
    behind = sorted((*row.best, question) for question, row in kept.items() if row.best[0] < 1)
    middle = median(row.best[0] for row in kept.values())
    text = (
        f"cer-gpu takes least processor time in {len(kept) - len(behind)} of {len(kept)} rows; the best "
        f"other tool takes {short(middle)} times as much in the median row.\n"
    )
    if behind:
        text += "\nWhere another tool takes less:\n\n"
    return text + "".join(f"- {question}: {tool}, {short(times)}\n" for times, tool, question in behind)


def write(paths: Iterable[Path], root: Path = ROOT) -> None:
    """Write the page and the pictures."""
    records = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    (root / "bench" / "PLAIN.md").write_text(page(records), encoding="utf-8")
    for size, kept in all_rows(records.values()).items():
        drawn = {
            question: {tool: Cell(None, times, None, None, "", "") for tool, times in row.times.items()}
            for question, row in kept.items()
        }
        picture(drawn, root / "bench" / "results" / f"plain-{size}.svg")


if __name__ == "__main__":
    write(map(Path, sys.argv[1:]))

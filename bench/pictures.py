"""The slopes of joins as pictures: `python -m bench.pictures RESULTS.json`, from what `join_update` wrote.

Draws `join-update.svg`, time for an event over the window, and `join-delay.svg`, steps between two answers,
beside the results. Altair and vl-convert draw without a browser (both BSD-3-Clause, well kept).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import altair as alt

SECTION = "join update"


def rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The figures of the section: what was measured, the window, the value."""
    found = []
    for figure in record["figures"]:
        if figure["section"] == SECTION:
            what, window = figure["case"].split(", window ")
            found.append({"what": what, "window": int(window.replace(",", "")), "value": figure["value"]})
    return found


def draw(data: list[dict[str, Any]], title: str, folder: Path, name: str) -> None:
    """One line for each thing measured, over the window on a logarithmic axis."""
    chart = (
        alt.Chart(alt.Data(values=data), width=480, height=260)
        .mark_line(point=True)
        .encode(
            x=alt.X("window:Q", scale=alt.Scale(type="log"), title="window (events)"),
            y=alt.Y("value:Q", scale=alt.Scale(zero=True), title=title),
            color=alt.Color("what:N", title=None),
        )
    )
    chart.save(str(folder / name))


def main(path: str) -> None:
    """Draw both pictures beside a file of results."""
    record = json.loads(Path(path).read_text(encoding="utf-8"))
    found = rows(record)
    folder = Path(path).parent
    draw([row for row in found if row["what"] != "delay"], "ns an event", folder, "join-update.svg")
    steps = "steps between answers / events of one"
    draw([row for row in found if row["what"] == "delay"], steps, folder, "join-delay.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])

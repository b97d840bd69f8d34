"""Pictures of results, written beside them: `python -m bench.pictures RESULTS.json`.

From the section `join_update`: `join-update.svg`, time for an event over the window, and `join-delay.svg`,
steps between two answers. From `bench/device.py`: `device-roofline.svg`, the runs under the rates that the
measured bandwidths allow, and `device-kernels.svg`, each kernel's share of a plain copy's bandwidth. From the
sections `timed`, `clocked` and `compared`: `timed.svg`, `timed-gaps.svg`, `timed-sessions.svg`, `clock.svg`,
`compared-runs.svg` and `compared-pairs.svg`, millions of events or answers a second. From `apart` and
`join_rivals`: `apart.svg` and `join-rivals.svg`, seconds beside those of rivals. From the section `views`:
`views-memory.svg`, megabytes over rows. Altair and vl-convert draw without a browser (both BSD-3-Clause, well
kept).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import altair as alt

SECTION = "join update"

REACH = 0.6
"""The share of a copy's bandwidth that a kernel should reach."""


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


def memory(record: dict[str, Any], folder: Path, name: str) -> None:
    """Draw megabytes over rows, both logarithmic, of views and of their answers."""
    found = []
    for figure in record["figures"]:
        if figure["section"] == "views: memory":
            what, family, rows = figure["case"].split(", ")
            found.append({"what": f"{what}, {family}", "rows": int(rows.split()[0]), "MB": figure["value"]})
    if not found:
        return
    chart = (
        alt.Chart(alt.Data(values=found), width=480, height=300)
        .mark_line(point=True)
        .encode(
            x=alt.X("rows:Q", scale=alt.Scale(type="log"), title="rows of each relation"),
            y=alt.Y("MB:Q", scale=alt.Scale(type="log"), title="megabytes"),
            color=alt.Color("what:N", title=None),
        )
    )
    chart.save(str(folder / name))


def rates(record: dict[str, Any], section: str, folder: Path, name: str) -> None:
    """Draw a bar for each rate of a section, if it has rates."""
    rows = [
        {"case": figure["case"], "rate": figure["value"], "unit": figure["unit"]}
        for figure in record["figures"]
        if figure["section"] == section and figure["unit"].startswith("M ")
    ]
    if not rows:
        return
    bars = (
        alt.Chart(alt.Data(values=rows), width=480)
        .mark_bar()
        .encode(
            x=alt.X("rate:Q", title="millions a second"),
            y=alt.Y("case:N", sort=None, title=None, axis=alt.Axis(labelLimit=720)),
            color=alt.Color("unit:N", title=None),
        )
    )
    bars.save(str(folder / name))


RATES = {
    "timed": "timed.svg",
    "timed: sizes of gaps": "timed-gaps.svg",
    "timed: sessions": "timed-sessions.svg",
    "clock: update": "clock.svg",
    "compared: runs": "compared-runs.svg",
    "compared: pairs": "compared-pairs.svg",
}
"""The sections that have a picture, and its file."""


def seconds(record: dict[str, Any], sections: str, folder: Path, name: str) -> None:
    """Draw a dot for the seconds of each system, section by section, on a logarithmic axis.

    Of ours the first figure of a section is drawn: what the rivals are asked, too.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for figure in record["figures"]:
        if not figure["section"].startswith(sections) or not figure["seconds"]:
            continue
        own = found.setdefault(figure["section"], [])
        if figure["unit"] == "s" or not own:
            (times,) = figure["seconds"].values()
            system = figure["case"] if figure["unit"] == "s" else "ours"
            own.append({"section": figure["section"], "system": system, "s": times["median"]})
    if not found:
        return
    dots = (
        alt.Chart(alt.Data(values=[row for own in found.values() for row in own]), width=480)
        .mark_point(filled=True, size=80)
        .encode(
            x=alt.X("s:Q", scale=alt.Scale(type="log"), title="seconds"),
            y=alt.Y("system:N", sort=None, title=None, axis=alt.Axis(grid=True)),
            color=alt.condition("datum.system == 'ours'", alt.value("#e4572e"), alt.value("#4c78a8")),
            row=alt.Row("section:N", sort=list(found), title=None),
        )
        .resolve_scale(y="independent")
    )
    dots.save(str(folder / name))


SECONDS = {"apart: window": "apart.svg", "join ": "join-rivals.svg"}
"""How the names of sections begin that have a picture of seconds, and its file."""


def roofline(record: dict[str, Any], folder: Path) -> None:
    """Draw events a second of the runs over the bytes that each event has to move, with copies' rates."""
    points = [
        {"run": run["case"], "bytes": run["bytes"] / run["events"], "rate": run["events_per_second"]}
        for run in record["runs"]
        if run["bytes"]
    ]
    names = {"device": "copy in the device's memory", "to_device": "copy from pinned memory"}
    low, high = (edge(point["bytes"] for point in points) for edge in (min, max))
    roofs = [
        {"roof": name, "bytes": size, "rate": record["copies"][key] / size}
        for key, name in names.items()
        for size in (low / 2, high * 2)
    ]
    axes = {
        "x": alt.X("bytes:Q", scale=alt.Scale(type="log"), title="bytes that an event must move"),
        "y": alt.Y("rate:Q", scale=alt.Scale(type="log"), title="events a second"),
    }
    dashes = alt.StrokeDash("roof:N", title=None)
    lines = alt.Chart(alt.Data(values=roofs)).mark_line().encode(**axes, strokeDash=dashes)
    marks = alt.Chart(alt.Data(values=points)).mark_point(filled=True, size=70)
    shown = marks.encode(**axes, color=alt.Color("run:N", title=None))
    (lines + shown).properties(width=480, height=300).save(str(folder / "device-roofline.svg"))


def kernels(record: dict[str, Any], folder: Path) -> None:
    """Draw a bar for each kernel: its share of a copy's bandwidth, with the line of the target."""
    rows = [
        {"kernel": kernel["case"], "share": kernel["share_of_copy"]}
        for kernel in record["kernels"]
        if kernel["bytes"]
    ]
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", axis=alt.Axis(format="%"), title="share of the bandwidth of a copy"),
            y=alt.Y("kernel:N", sort="-x", title=None),
        )
    )
    reach = alt.Chart(alt.Data(values=[{"share": REACH}])).mark_rule().encode(x="share:Q")
    (bars + reach).properties(width=480).save(str(folder / "device-kernels.svg"))


def main(path: str) -> None:
    """Draw the pictures of a file of results beside it."""
    record = json.loads(Path(path).read_text(encoding="utf-8"))
    folder = Path(path).parent
    if "kernels" in record:
        roofline(record, folder)
        kernels(record, folder)
        return
    for section, name in RATES.items():
        rates(record, section, folder, name)
    for sections, name in SECONDS.items():
        seconds(record, sections, folder, name)
    memory(record, folder, "views-memory.svg")
    found = rows(record)
    if not found:
        return
    draw([row for row in found if row["what"] != "delay"], "ns an event", folder, "join-update.svg")
    steps = "steps between answers / events of one"
    draw([row for row in found if row["what"] == "delay"], steps, folder, "join-delay.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])

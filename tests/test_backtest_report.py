"""Charts of a backtest, and its report, loaded by a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from browser import browser, document, picture
from test_backtest import ticks

import cer_gpu as cer
from cer_gpu.backtesting import time_series
from cer_gpu.backtesting.number_format import figures, lengths_of_time

SWEPT = (
    "SELECT * FROM S WHERE (A AS a FILTER a[x > $p]) ; (B AS b FILTER b[y <= $q]) PARTITION BY [k] "
    "WITHIN 1 HOUR"
)


@pytest.fixture(scope="module")
def swept() -> cer.Backtest:
    """A sweep with outcomes, by time."""
    return cer.backtest(
        cer.sweep(SWEPT, p=[3, 10, 15], q=[0.2, 0.9]),
        ticks(),
        order_by="ts",
        by="12 h",
        split="1970-01-02",
        outcomes={"later": "AFTER 20 MINUTES (x) - LAST(a.x)", "to c": "TIME TO (C)"},
        device="cpu",
    )


def values_of(chart: Any) -> list[dict[str, Any]]:
    """The rows that a chart shows."""
    spec = chart.to_dict()
    data = spec.get("data") or spec["layer"][0]["data"]
    found: list[dict[str, Any]] = data["values"] if "values" in data else spec["datasets"][data["name"]]
    return found


def test_hits_over_time_are_those_of_the_table(swept: cer.Backtest) -> None:
    table = swept.to_pandas()
    told = {(row["variant"], row["bucket"]): row["hits"] for row in values_of(swept.plot.hits())}
    for row in table.itertuples():
        assert told.pop((f"p={row.p} q={row.q}", row.bucket.isoformat())) == row.hits
    assert not any(told.values())


ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", None]


@pytest.mark.crossed
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("by", ["1 h", "6 h", "1 d", "3 d", "1 week", "1 month", "1 quarter", "1 year"])
def test_buckets_without_hits_are_zero(by: str, zone: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every bucket that an event in between would be in, and no other, has a row."""
    minutes = {"h": 1, "d": 24, "week": 100, "month": 400, "quarter": 700, "year": 2500}[by.split()[1]] * 15
    many = 14_000 if by == "1 h" else 3000
    start = pd.Timestamp("2018-09-20" if by == "1 h" else "2017-02-25", tz="UTC")
    times = start + pd.to_timedelta(np.arange(many) * minutes, "min")
    times = times.tz_localize(None) if zone is None else times.tz_convert(zone)
    rng = np.random.default_rng(len(by))
    hit = rng.random(many) < 0.004
    hit[[0, -1]] = True
    given: dict[str, Any] = {"order_by": "ts", "by": by, "device": "cpu"}
    events = pa.table({"type": np.where(hit, "A", "B"), "ts": pa.Array.from_pandas(times), "k": hit * 1})
    every = cer.backtest("SELECT * WHERE A OR B", events, **given).to_pandas()["bucket"]
    found = cer.backtest("SELECT * WHERE A", events, **given)
    for most in (1 << 20, 2):
        monkeypatch.setattr(time_series, "MOST_BUCKETS", most)
        rows = values_of(found.plot.hits())
        hits = dict.fromkeys(every, 0)
        hits |= dict(zip(found.to_pandas()["bucket"], found.to_pandas()["hits"], strict=True))
        if most == 2:  # the buckets with hits, those beside them, and no others
            some = [hits[one] > 0 for one in every]
            near = [any(some[max(0, place - 1) : place + 2]) for place in range(len(some))]
            hits = {one: hits[one] for one, kept in zip(every, near, strict=True) if kept}
        expected = [[one.tz_localize(None).isoformat(), number] for one, number in sorted(hits.items())]
        assert [[row["bucket"], row["hits"]] for row in rows] == expected
        assert 0 in hits.values()


@pytest.mark.parametrize("kind", [pa.int64(), pa.int32(), pa.float64(), pa.duration("s"), pa.date32()])
def test_buckets_of_numbers_and_dates(kind: pa.DataType) -> None:
    ts = pa.array([3, 4, 7, 31, 35, 61], pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    by = {pa.duration("s"): "10 s", pa.date32(): "10 d"}.get(kind, 10)
    keys = ["a", "b", "a", "a", "b", "a"]
    events = pa.table({"type": ["A"] * 6, "ts": ts, "k": keys, "x": [1, 2, 3, 4, 5, 6]})
    text = "SELECT * WHERE A AS a FILTER a[x > $x] PARTITION BY k"
    given: dict[str, Any] = {"order_by": "ts", "device": "cpu"}
    found = cer.backtest(cer.sweep(text, x=[0, 4]), events, by=[by, "k"], **given)
    rows = values_of(found.plot.hits())
    begins: list[Any] = [0, 10, 20, 30, 40, 50, 60]
    if kind == pa.date32():
        begins = [f"{np.datetime64(one, 'D')}T00:00:00" for one in begins]
    for x, hits in ((0, [3, 0, 0, 2, 0, 0, 1]), (4, [0, 0, 0, 1, 0, 0, 1])):
        own = [row for row in rows if row["variant"] == f"x={x}"]
        assert [row["bucket"] for row in own] == begins
        assert [row["hits"] for row in own] == hits
    none = cer.backtest("SELECT * WHERE A AS a FILTER a[x > 9]", events, by=by, **given)
    assert values_of(none.plot.hits()) == []


def test_a_heat_map_has_a_cell_for_each_pair(swept: cer.Backtest) -> None:
    rows = values_of(swept.plot.sweep())
    sums = swept.to_pandas().groupby(["p", "q"])["hits"].sum()
    assert {(row["p"], row["q"]): row["value"] for row in rows} == sums.to_dict()
    assert swept.plot.sweep().to_dict()["layer"][0]["mark"]["type"] == "rect"
    line = swept.plot.sweep("later", x="q")
    best = (
        swept.outcomes.to_pandas().query("outcome == 'later' and sample == 'all'").groupby("q")["mean"].max()
    )
    assert {row["q"]: row["value"] for row in values_of(line)} == best.to_dict()


def test_an_interval_for_each_variant_and_sample(swept: cer.Backtest) -> None:
    rows = values_of(swept.plot.outcomes("to c"))
    assert len(rows) == 6 * 3
    assert all(row["low"] <= row["mean"] <= row["high"] for row in rows)


def test_shares_of_a_distribution_add_up(swept: cer.Backtest) -> None:
    sums: dict[str, float] = {}
    for row in values_of(swept.plot.distribution("later")):
        sums[row["variant"]] = sums.get(row["variant"], 0) + row["share"]
    assert sums == pytest.approx({f"p={p} q={q}": 1 for p in (3, 10, 15) for q in (0.2, 0.9)})


def test_what_cannot_be_drawn_is_named(swept: cer.Backtest) -> None:
    with pytest.raises(ValueError, match="no parameter `w`; the parameters are p, q"):
        swept.plot.sweep(x="w")
    with pytest.raises(ValueError, match="the outcomes are later, to c"):
        swept.plot.outcomes("ret")
    with pytest.raises(cer.DataError, match="`name` holds string, and a line needs numbers"):
        swept.plot.episodes(ticks(), "name", order_by="ts")
    with pytest.raises(ValueError, match=r"no variant 'z'; the variants are p=3 q=0.2, p=3 q=0.9, .*q=0.9$"):
        swept.plot.episodes(ticks(), "x", "z", order_by="ts")
    many = cer.backtest(cer.sweep(SWEPT, p=list(range(12)), q=[0.9]), ticks(), device="cpu", order_by="ts")
    with pytest.raises(ValueError, match=r"p=0, p=1, .*p=9, \.\.\. \(12 in all\)"):
        many.plot.episodes(ticks(), "x", "z", order_by="ts")
    rule = cer.backtest("Q(x) <- A(x = x), B(x = x) WITHIN 9 EVENTS", ticks(), funnel=True, device="cpu")
    with pytest.raises(ValueError, match="there is no funnel to draw: a rule has no steps"):
        rule.plot.funnel()
    plain = cer.backtest("SELECT * FROM S WHERE A ; B WITHIN 9 EVENTS", ticks(), device="cpu")
    with pytest.raises(ValueError, match="no parameter has several values"):
        plain.plot.sweep()


@pytest.fixture(scope="module")
def page(swept: cer.Backtest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the sweep."""
    found = tmp_path_factory.mktemp("report") / "report.html"
    swept.report(found, title="Sweep <of> two & more")
    return found


def test_the_page_needs_no_network(page: Path) -> None:
    text = page.read_text()
    assert "<title>Sweep &lt;of&gt; two &amp; more</title>" in text
    head = text[: text.index("<script>")]
    assert not re.search(r"(?:src|href)\s*=", head)
    assert "<link" not in head
    assert "SELECT * FROM S WHERE" in head


def test_the_page_is_set_for_people(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    assert text.count("<figcaption>") == 8
    assert "<figcaption>later: mean, 95 % interval, and the base (red)</figcaption>" in text
    assert re.search(r"<td class=''>1970-01-02 12:00:00</td>", text)
    assert len(re.findall(r"<figure class='automaton'>(?:<\?xml[^>]*>)?\s*<svg", text)) == 1
    query = "SELECT * WHERE A ; B ; C WITHIN 1 DAY"
    found = cer.backtest({"many": query}, ticks(400), order_by="ts", device="cpu")
    many = found.to_arrow()["matches"][0].as_py()
    assert many >= 10_000
    found.report(tmp_path / "many.html")
    assert f"<td class='number'>{many:,}</td>" in (tmp_path / "many.html").read_text()


def test_names_in_notes_are_set_as_code(tmp_path: Path) -> None:
    found = cer.backtest({"both": "SELECT * WHERE A AS a ; B AS a WITHIN 1 HOUR"}, ticks(50), order_by="ts")
    found.report(tmp_path / "notes.html")
    assert "<p class='note'><code>a</code> is on both sides" in (tmp_path / "notes.html").read_text()


def rows_of(text: str, title: str) -> tuple[list[str], list[list[str]]]:
    """The heads and the cells of a table of a page."""
    section = text[text.index(f"<h2>{title} ") :]
    section = section[: section.index("</table>")]
    heads = re.findall(r"<button type='button'>([^<]*)</button>", section)
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in section.split("<tr>")[2:]]
    return heads, rows


def test_the_query_and_the_verdict_come_first(page: Path) -> None:
    text = page.read_text()
    order = [
        "<h1>",
        "SELECT * FROM S WHERE",
        "<table class='given'>",
        "<p class='verdict",
        "<h2>What was found",
    ]
    order += ["<h2>Outcome later", "<h2>Outcome to c", "<h2>Charts", "<details>", "<h2>How it was run"]
    places = [text.index(one) for one in order]
    assert places == sorted(places)
    assert "<th>p</th><td>3, 10, 15</td>" in text
    for word in ("lane", "symbol", "atom", "one-clock", "machine"):
        assert not re.search(rf"\b{word}s?\b", text[: text.index("<script>")].lower())


def test_rows_are_in_the_order_of_their_parameters(tmp_path: Path) -> None:
    text = "SELECT * FROM S WHERE (A AS a FILTER a[x > $p]) ; B AS b PARTITION BY [k] WITHIN $w"
    found = cer.backtest(
        cer.sweep(text, p=[10, 3], w=["50 min", "5 min", "300 min", "2 h"]),
        ticks(),
        order_by="ts",
        device="cpu",
        outcomes={"later": "AFTER 20 MINUTES (x)"},
        durations=True,
    )
    found.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<th>w</th><td>5 min, 50 min, 2 h, 300 min</td>" in page
    heads, rows = rows_of(page, "What was found")
    assert heads[:4] == ["p", "w", "hits", "matches"]
    assert "The same in every row: query = q1." in page
    spans = ["5 min", "50 min", "2 h", "300 min"]
    assert [row[:2] for row in rows] == [[str(p), w] for p in (3, 10) for w in spans]
    told = {(row["p"], row["w"]): row["hits"] for row in found.to_arrow().to_pylist()}
    assert [int(row[2].replace(",", "")) for row in rows] == [told[int(row[0]), row[1]] for row in rows]
    median = [row[heads.index("duration_median")] for row in rows]
    assert len({one.split()[1] for one in median}) == 1  # one unit
    _, outcome = rows_of(page, "Outcome later")
    heads, _ = rows_of(page, "Outcome later")
    assert "outcome" not in heads
    assert "sample" not in heads
    figures = [row[heads.index(name)] for row in outcome for name in ("mean", "p05", "median", "high")]
    assert len({len(one.partition(".")[2]) for one in figures}) == 1  # as many decimals
    labels = found.plot.outcomes("later").to_dict()["layer"][0]["encoding"]["y"]["sort"]
    assert labels == [f"p={p} w={w}" for p in (3, 10) for w in spans]
    heat = found.plot.sweep().to_dict()["layer"][0]["encoding"]
    assert (heat["x"]["sort"], heat["y"]["sort"]) == ([3, 10], spans[::-1])
    facets = found.plot.distribution("later").to_dict()["encoding"]["facet"]["sort"]
    assert facets == labels


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1.0, 20.0, None], ["1", "20", ""]),
        ([0.000226, -0.00281, float("nan"), 4.6e-5], ["0.000226", "-0.002810", "", "0.000046"]),
        ([1.01309, 0.999923, 1.0], ["1.013", "1.000", "1.000"]),
        ([12345.678, 2.0], ["12,346", "2"]),
        ([1e17, 2.0], ["1e+17", "2"]),
        ([-0.00001, 5.0], ["0.000", "5.000"]),
        ([], []),
    ],
)
def test_figures_have_one_format(values: list[Any], told: list[str]) -> None:
    assert figures(values) == told


def test_durations_have_one_unit() -> None:
    seconds = [None, 0.5, 75.0, 90.0]
    spans = [None if one is None else pd.Timedelta(one, "s").to_pytimedelta() for one in seconds]
    assert lengths_of_time(spans) == ["", "0.008 min", "1.250 min", "1.500 min"]


def test_what_a_report_needs_is_in_its_extra() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert {*extras["draw"]} <= {*extras["report"]}


needs_browser = pytest.mark.skipif(
    browser() is None, reason="no Chromium: `python tests/browser.py --install` installs it"
)


@needs_browser
def test_a_browser_draws_all_charts(page: Path, tmp_path: Path) -> None:
    shown = document(page, tmp_path)
    drawn = re.search(r'data-drawn="(\d+)"', shown)
    assert drawn is not None
    assert int(drawn[1]) == 8  # hits, the heat map, and three of each outcome
    assert shown.count("<canvas") + shown.count('class="marks"') >= 8


@needs_browser
@pytest.mark.parametrize("width", [1200, 390])
def test_light_and_dark_are_different_pictures(page: Path, tmp_path: Path, width: int) -> None:
    light = picture(page, tmp_path, width)
    dark = picture(page, tmp_path, width, "--blink-settings=preferredColorScheme=0")
    assert min(light.stat().st_size, dark.stat().st_size) > 10_000
    assert light.read_bytes() != dark.read_bytes()


def test_the_shell_writes_a_report(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from cer_gpu.cli import status_of

    pq.write_table(ticks(), tmp_path / "ticks.parquet")
    target = tmp_path / "out.html"
    asked = ["backtest", SWEPT, str(tmp_path / "ticks.parquet"), "--order-by", "ts", "--sweep", "p=3,9"]
    asked += ["--param", "q=0.5", "--report", str(target), "-o", str(tmp_path / "rows.csv")]
    assert status_of(asked) == 0
    assert "2 queries over 3,000 events" in target.read_text()
    assert status_of([*asked[:-3], str(tmp_path / "nowhere" / "out.html"), "-o", "-"]) != 0


def test_episodes_on_the_line_of_a_value(swept: cer.Backtest) -> None:
    chart = swept.plot.episodes(ticks(), "x", "p=3 q=0.9", order_by="ts")
    line, drawn, ends = chart.to_dict()["layer"]
    table, data = ticks(), [layer["data"]["values"] for layer in (line, drawn, ends)]
    matches = cer.compile(SWEPT).run(table, order_by="ts", params={"p": 3, "q": 0.9}).to_arrow()[:500]
    keys = matches["k"].to_pylist()
    most = max({*keys}, key=keys.count)
    x = table["x"].to_pylist()
    expected = [
        (x[start], x[end])
        for start, end, key in zip(matches["start"].to_pylist(), matches["end"].to_pylist(), keys)
        if key == most
    ]
    assert [(row["begin"], row["end"]) for row in data[1]] == expected
    own = [value for value, key in zip(x, table["k"].to_pylist()) if key == most]
    assert [row["value"] for row in data[0]] == own
    assert data[1][0]["from"] < data[1][0]["to"]
    assert f"k={most}" in chart.to_dict()["title"]
    with pytest.raises(ValueError, match="there is no variant 'z'"):
        swept.plot.episodes(ticks(), "x", "z", order_by="ts")
    with pytest.raises(ValueError, match="name the column of time"):
        swept.plot.episodes(ticks(), "x")

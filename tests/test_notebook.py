"""What notebooks show: results as tables, drawings, charts that need no network, and progress."""

from __future__ import annotations

import html
import io
import pickle
import re
import sys
import time
from base64 import b64decode
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from browser import browser, document

import cer_gpu as cer
from cer_gpu import notebook, progress, progress_bars
from cer_gpu.cli import status_of
from cer_gpu.notebook import HTML, MERMAID, SVG

EVENTS = pa.table({"type": list("ABAB"), "price": [1.5, 2.0, 3.0, 4.0], "ts": [1, 2, 3, 4]})
QUERY = "SELECT a[price], b FROM S WHERE A AS a ; B AS b"


class Formatter:
    """IPython's formatter of HTML, as far as it is used."""

    def __init__(self) -> None:
        self.type_printers: dict[type, Any] = {}

    def for_type(self, kind: type, printer: Any) -> None:
        self.type_printers[kind] = printer

    def __call__(self, value: Any) -> str | None:
        printer = self.type_printers.get(type(value))
        return None if printer is None else printer(value)


class Handle:
    def __init__(self, pages: list[str]) -> None:
        self.pages = pages

    def update(self, page: Any) -> None:
        self.pages.append(page._repr_html_())


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is displayed below the cell of a notebook."""
    shown: list[str] = []

    def display(page: Any, display_id: bool) -> Handle:
        assert display_id
        shown.append(page._repr_html_())
        return Handle(shown)

    found = SimpleNamespace(
        kernel=object(), display_formatter=SimpleNamespace(formatters={HTML: Formatter()})
    )
    ipython, part = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: found  # type: ignore[attr-defined]
    part.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", part)
    return shown


def bundle(shown: Any) -> dict[str, str]:
    found: dict[str, str] = shown._repr_mimebundle_()
    return found


def test_tables_of_results_are_rows(pages: list[str]) -> None:
    query = cer.compile(QUERY)
    formatter = notebook.shell().display_formatter.formatters[HTML]
    for table in (query.hits(EVENTS, order_by="ts"), query.counts(EVENTS), query.funnel(EVENTS)):
        page = formatter(table)
        assert page is not None
        assert page.count("<tr>") == len(table) + 1
        assert all(f"<th>{name}</th>" in page for name in table.schema.names)
        assert formatter(table.slice(0)) is None  # a table that somebody else made
    assert formatter(EVENTS) is None
    pages_of = formatter.type_printers[pa.Table]
    del table
    query.hits(EVENTS)
    assert len(pages_of._own) <= 1  # tables that are gone are not kept


def test_nothing_is_registered_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert notebook.shell() is None
    terminal = ModuleType("IPython")
    terminal.get_ipython = lambda: SimpleNamespace()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", terminal)
    assert notebook.shell() is None  # IPython in a terminal has no kernel
    assert len(cer.compile(QUERY).hits(EVENTS)) == 2


def test_texts_are_shown_as_what_they_are() -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a[price < 3]")
    for text, kind in (
        (query.explain(), HTML),
        (query.explain("svg"), SVG),
        (query.explain("mermaid"), MERMAID),
        (cer.timeline(query, EVENTS), SVG),
    ):
        assert isinstance(text, str)
        told = bundle(text)
        assert set(told) == {"text/plain", kind} | ({HTML} if kind == SVG else set())
        assert told["text/plain"] == text
        assert told[kind] == (f"<pre>{html.escape(text)}</pre>" if kind == HTML else text)
        if kind == SVG:
            found = re.search(r'src="data:image/svg\+xml;base64,([^"]*)"', told[HTML])
            assert found is not None
            assert b64decode(found[1]).decode() == text
        again = pickle.loads(pickle.dumps(text))
        assert (again, bundle(again)) == (text, told)
        printed: list[str] = []
        text._repr_pretty_(SimpleNamespace(text=printed.append), False)  # type: ignore[attr-defined]
        assert printed == [text]


def charts() -> list[Any]:
    swept = cer.sweep("SELECT * FROM S WHERE A AS a FILTER a[price > $p]", p=[1, 2])
    found = cer.backtest(swept, EVENTS, order_by="ts", device="cpu", outcomes={"later": "price"}, funnel=True)
    plot = found.plot
    return [
        *(plot.hits(), plot.sweep(), plot.outcomes(), plot.distribution(), plot.funnel()),
        plot.episodes(EVENTS, "price", order_by="ts"),
    ]


def page_of(chart: Any) -> str:
    frame = bundle(chart)[HTML]
    found = re.fullmatch(r"<iframe srcdoc='([^']*)' style='[^']*'></iframe>", frame)
    assert found is not None
    return html.unescape(found[1])


def test_charts_carry_their_script() -> None:
    import altair

    for chart in charts():
        assert isinstance(chart, altair.Chart | altair.LayerChart)
        page = page_of(chart)
        assert "vegaEmbed" in page
        head = page[: page.index("<script>")]
        assert not re.search(r"(?:src|href)\s*=", head)
        assert isinstance(chart.properties(width=300).to_dict(), dict)
        assert "'" not in chart.to_dict().get("title", "")


@pytest.mark.skipif(browser() is None, reason="no Chromium: `python tests/browser.py --install` installs it")
def test_a_browser_draws_the_chart_of_a_notebook(tmp_path: Path) -> None:
    page = tmp_path / "chart.html"
    page.write_text(page_of(charts()[3]), encoding="utf-8")
    shown = document(page, tmp_path)
    assert 'data-drawn="1"' in shown
    assert "<canvas" in shown or 'class="marks"' in shown


# -------------------------------------------------------------------------------------- progress


def long_run() -> list[int]:
    run = progress.Progress(40)

    def work() -> Any:
        for _ in range(3):
            time.sleep(0.05)
            run.advance(10)
            yield 1

    return list(run.over(work()))


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is shown at once, and each change of it."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress_bars.NotebookBar, "every", 0.0)
    monkeypatch.setattr(progress_bars.ProgressLines, "every", 0.0)


@pytest.mark.usefixtures("soon")
def test_a_notebook_has_a_bar_that_goes(pages: list[str]) -> None:
    assert long_run() == [1, 1, 1]
    assert "<progress value='20' max='40'" in "".join(pages)
    assert "events read: 20 of 40 (50 %)" in "".join(pages)
    assert pages[-1] == ""
    with progress.showing(False):
        before = len(pages)
        long_run()
        assert len(pages) == before


@pytest.mark.usefixtures("soon")
def test_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    long_run()
    assert stream.getvalue() == ""
    with progress.showing(True):
        long_run()
    assert "events read: 20 of 40 (50 %)\n" in stream.getvalue()
    assert not progress.is_shown()


@pytest.mark.usefixtures("soon")
def test_the_shell_is_told_whether_to_show_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow.parquet as pq

    pq.write_table(EVENTS, tmp_path / "events.parquet")
    looked: list[bool] = []
    is_shown = progress.is_shown
    monkeypatch.setattr(progress, "is_shown", lambda: looked.append(is_shown()) or looked[-1])
    monkeypatch.setattr("cer_gpu.engine.run.bound_query.is_shown", progress.is_shown)
    for option, wanted in ((["--progress"], True), (["--no-progress"], False), ([], False)):
        looked.clear()
        asked = ["run", QUERY, str(tmp_path / "events.parquet"), "--format", "csv", *option]
        assert status_of(asked) == 0
        assert set(looked) == {wanted}
        assert len(capsys.readouterr().out.splitlines()) == 4
    for command in ("count", "hits", "backtest"):
        assert status_of([command, QUERY, str(tmp_path / "events.parquet"), "--no-progress"]) == 0

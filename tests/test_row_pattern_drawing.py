"""The automaton of a row pattern as a picture, in Python, in the shell and in a report."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.cli import status_of

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

TABLE = pa.table({"i": [1, 2, 3], "x": [1, 2, 3]})
SQL = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY i MEASURES COUNT(*) AS n PATTERN (a b* (c | d)?))"


def edges_of(text: str) -> dict[tuple[str, str], str]:
    """The arrows of a Mermaid flowchart between the names of nodes, with their texts."""
    names = dict(re.findall(r'(n\d+)\(+"([^"]*)"\)+', text))
    found = re.findall(r'(n\d+) -->(?:\|"([^"]*)"\|)? (n\d+)', text)
    return {(names[source], names[target]): label for source, label, target in found}


def test_choices_are_numbered_by_preference() -> None:
    edges = edges_of(cer.match_recognize(SQL, t=TABLE).explain("mermaid"))
    assert edges[" ", "A"] == ""
    assert [edges["A", to] for to in ("B", "C", "D", "end")] == ["1", "2", "3", "4"]
    assert [edges["B", to] for to in ("B", "C", "D", "end")] == ["1", "2", "3", "4"]
    assert edges["C", "end"] == ""
    assert len(edges) == 11


def test_a_reluctant_choice_ends_first() -> None:
    edges = edges_of(cer.RowPatternQuery(SQL.replace("b* (c | d)?", "b*?")).explain("mermaid"))
    assert (edges["A", "end"], edges["A", "B"]) == ("1", "2")


def test_svg() -> None:
    pytest.importorskip("graphlay")
    drawn = cer.match_recognize(SQL, t=TABLE, params=None).explain("svg")
    assert "<svg" in drawn
    assert drawn == cer.RowPatternQuery(SQL).explain("svg")


def test_what_cannot_be_drawn_is_refused() -> None:
    found = cer.match_recognize(SQL.replace("b* (c | d)?", "b{200}"), t=TABLE)
    with pytest.raises(cer.LimitError, match="201 places"):
        found.explain("mermaid")
    with pytest.raises(ValueError, match=r'format is "text", "mermaid" or "svg"'):
        found.explain("png")
    clause = "MATCH_RECOGNIZE (ORDER BY i MEASURES COUNT(*) AS n PATTERN (a))"
    two = cer.match_recognize(f"SELECT * FROM t {clause} u, t {clause} v", t=TABLE)
    with pytest.raises(ValueError, match="a picture shows one automaton"):
        two.explain("mermaid")


def test_in_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["explain", SQL, "--format", "mermaid"]) == 0
    without = capsys.readouterr().out
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path)
    assert status_of(["explain", SQL, f"t={path}", "--format", "mermaid"]) == 0
    assert capsys.readouterr().out == without
    assert edges_of(without)["A", "B"] == "1"
    pytest.importorskip("graphlay")
    assert status_of(["explain", SQL, "-o", str(tmp_path / "a.svg")]) == 0
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_in_a_report(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("graphlay")
    table = TABLE.append_column("ts", pa.array([1, 2, 3], pa.timestamp("s")))
    cer.backtest({"q": SQL}, table, order_by="ts").report(tmp_path / "report.html")
    assert "<figure class='automaton'>" in (tmp_path / "report.html").read_text()

"""Worked examples of the papers on the engine, from Python and from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_papers_thesis import FIGURE_2_1, PHI_1, PHI_2, PHI_3
from test_papers_timed_cel import (
    FIGURE_1,
    FIRES,
    PADRES,
    PHI_1_TIMED,
    PHI_NON_DET,
    SASE,
    SHELVES,
    TRADES,
    answers,
)
from test_papers_timed_cel import PHI_1 as TIMED_PHI_1
from test_papers_timed_cel import PHI_2 as TIMED_PHI_2
from test_papers_timed_cel import PHI_3 as TIMED_PHI_3

import cer_gpu as cer
from cer_gpu.cli import status_of
from cer_gpu.reference.events import Event


def table_of(events: tuple[Event, ...]) -> pa.Table:
    names = list(dict.fromkeys(name for event in events for name in event.attributes))
    columns = {name: [event.attributes.get(name) for event in events] for name in names}
    return pa.table({"type": [event.type for event in events], **columns})


THESIS = {
    "phi_1": (PHI_1, [{1, 2}, {1, 8}, {5, 8}]),
    "phi_2": (PHI_2, [{1, 2}, {2, 5}, {1, 8}, {5, 8}]),
    "phi_3": (PHI_3, [{3, 4, 6, 7}, {3, 4, 7}, {3, 6, 7}]),
}
"""Chapter 2 of the CEPL thesis on the stream of Figure 2.1: the sets of positions, by end."""


def ordered(sets: list[set[int]]) -> list[tuple[int, ...]]:
    return sorted(tuple(sorted(positions)) for positions in sets)


@pytest.mark.parametrize("name", THESIS)
def test_thesis_chapter_2_from_python(name: str) -> None:
    pattern, expected = THESIS[name]
    query = cer.compile(f"SELECT * WHERE {pattern}")
    table = table_of(FIGURE_2_1)
    found = [{position for marks in ce.marks.values() for position in marks} for ce in query.run(table)]
    assert ordered(found) == ordered(expected)
    assert query.count(table) == len(expected)


@pytest.mark.parametrize("name", THESIS)
def test_thesis_chapter_2_from_the_shell(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pattern, expected = THESIS[name]
    path = tmp_path / "figure_2_1.parquet"
    pq.write_table(table_of(FIGURE_2_1), path)
    assert status_of(["run", f"SELECT * WHERE {pattern}", str(path)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = [{position for marks in line["marks"].values() for position in marks} for line in lines]
    assert ordered(found) == ordered(expected)


TIMED_QUERY = f"SELECT * WHERE {TIMED_PHI_1.format(op='>=')}"
TIMED_2_3 = [(1, 8, {"X": (1,), "Y": (8,)}), (4, 8, {"X": (4,), "Y": (8,)})]
"""C2 and C1 of Example 2.2 of the timed CEL paper, counted from 0."""


def test_timed_cel_example_2_3_from_python() -> None:
    query = cer.compile(TIMED_QUERY)
    found = [(ce.start, ce.end, dict(ce.marks)) for ce in query.run(table_of(FIGURE_1), order_by="time")]
    assert found == TIMED_2_3


def test_timed_cel_example_2_3_from_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figure_1.parquet"
    pq.write_table(table_of(FIGURE_1), path)
    assert status_of(["run", TIMED_QUERY, str(path), "--order-by", "time"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["start_time"], line["end_time"]) for line in lines] == [(1.33, 7.2), (4.5, 7.2)]
    assert [{name: line[name] for name in ("start", "end", "marks")} for line in lines] == [
        {"start": start, "end": end, "marks": {name: list(positions) for name, positions in marks.items()}}
        for start, end, marks in TIMED_2_3
    ]


@pytest.mark.parametrize(
    ("pattern", "events"),
    [
        (PHI_1_TIMED.format(op=">="), FIGURE_1),
        (TIMED_PHI_2, FIGURE_1),
        (TIMED_PHI_3, FIGURE_1),
        (TIMED_PHI_3, FIRES),
        (PADRES, TRADES),
        (PADRES.replace("WITHIN [<= 15 s]", "WITHIN 15 SECONDS"), TRADES),
        (PHI_NON_DET.replace("A", "T"), FIGURE_1),
        (PHI_NON_DET.replace("A", "H"), FIRES),
    ],
)
def test_timed_cel_from_python(pattern: str, events: tuple[Event, ...]) -> None:
    """Examples 3.1, 3.2 and 4.2, the query in the language of Padres, the formula of section 5."""
    query = cer.compile(f"SELECT * WHERE {pattern}")
    table = table_of(events)
    found = [(ce.start, ce.end, dict(ce.marks)) for ce in query.run(table, order_by="time", order_unit="s")]
    assert found == [(one.start, one.end, one.marks) for one in answers(pattern, events)]
    assert query.count(table, order_by="time", order_unit="s") == len(found)


def test_timed_cel_sase_from_python() -> None:
    found = cer.compile(SASE).run(table_of(SHELVES), order_by="time", order_unit="s")
    assert [(ce.start, ce.end) for ce in found] == [(0, 3), (0, 6)]

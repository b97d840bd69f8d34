"""Worked examples of the timed CEL paper that the automaton of steps evaluates, through the engine."""

from __future__ import annotations

import pyarrow as pa
from test_papers_timed_cel import FIGURE_1, PADRES, PHI_2, TRADES, answers

import cer_gpu as cer
from cer_gpu.reference.events import Event


def found(text: str, events: tuple[Event, ...]) -> list[tuple[int, int, dict[str, tuple[int, ...]]]]:
    """The complex events of a pattern on a stream, by the engine."""
    names = sorted({name for event in events for name in event.attributes})
    columns = {name: [event.attributes.get(name) for event in events] for name in names}
    table = pa.table({"type": [event.type for event in events], **columns})
    query = cer.compile(f"SELECT * WHERE {text}")
    assert "timed: takes it" in query.explain(verbose=True)
    rows = list(query.run(table, order_by="time", order_unit="s"))
    assert query.count(table, order_by="time", order_unit="s") == len(rows)
    return [(row.start, row.end, dict(row.marks)) for row in rows]


def test_example_2_3_a_chain_of_contiguous_events_with_gaps() -> None:
    assert found(PHI_2, FIGURE_1) == [(3, 7, {"T": (4, 5, 6), "X": (3,), "Y": (7,)})]


def test_the_padres_query_of_section_3() -> None:
    wanted = [(one.start, one.end, dict(one.marks)) for one in answers(PADRES, TRADES)]
    assert wanted
    assert found(PADRES, TRADES) == wanted

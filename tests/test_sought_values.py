"""Texts that a query looks for and that no event has are noted, as misspelt types are."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cer_gpu as cer

EVENTS = pa.table(
    {"type": ["A", "B", "A"], "ts": [1, 2, 3], "symbol": ["AAPL", "AAPL", "MSFT"], "n": [1, 2, 3]}
)


def noted(text: str, events: object = EVENTS, **keywords: object) -> list[str]:
    found = cer.compile(text).run(events, order_by="ts", **keywords)
    assert len(found) >= 0
    return [note for note in found.notes if note.startswith("no event has")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A AS a FILTER a.symbol = 'APPL'", "`symbol = 'APPL'`: did you mean `AAPL`?"),
        ("A AS a FILTER 'msft' = a.symbol", "`'msft' = symbol`: there is `MSFT`, and names are case-"),
        ("A AS a FILTER a.symbol IN {'x', 'y'} OR a.n > 1", "`symbol IN {'x', 'y'}`"),
        ("B FOLLOWED BY (A AS a FILTER a.symbol = 'APPL')", "`symbol = 'APPL'`"),
    ],
)
def test_a_text_that_no_event_has_is_noted(text: str, said: str) -> None:
    coded = EVENTS.set_column(2, "symbol", EVENTS["symbol"].dictionary_encode())
    for events in (EVENTS, coded, [EVENTS.slice(0, 1), EVENTS.slice(1)]):
        with pytest.warns(UserWarning, match="no event has"):
            [note] = noted(f"SELECT * WHERE {text}", events)
        assert said in note


@pytest.mark.parametrize(
    "text",
    [
        "A AS a FILTER a.symbol = 'AAPL'",
        "A AS a FILTER a.symbol IN {'APPL', 'MSFT'}",
        "A AS a FILTER a.symbol != 'APPL'",
        "A AS a FILTER NOT a.symbol = 'APPL'",
        "A AS a FILTER a.n = 7",
        "A NOT FOLLOWED BY (B AS b FILTER b.symbol = 'APPL')",
        "(A ; A) UNLESS (B AS b FILTER b.symbol = 'APPL')",
        "A NOT PRECEDED BY (B AS b FILTER b.symbol = 'APPL')",
        "A : NOT (B FILTER B.symbol = 'APPL')",
    ],
)
def test_one_that_events_have_or_need_not_have_is_not(text: str) -> None:
    assert noted(f"SELECT * WHERE {text}") == []


def test_nor_is_one_that_is_given() -> None:
    text = "SELECT * WHERE A AS a FILTER a.symbol = $symbol"
    assert noted(text, params={"symbol": "APPL"}) == []


def test_count_and_hits_say_it_too() -> None:
    query = cer.compile("SELECT * WHERE A AS a FILTER a.symbol = 'APPL'")
    for ask in (query.count, query.hits):
        with pytest.warns(UserWarning, match="did you mean `AAPL`"):
            ask(EVENTS, order_by="ts")

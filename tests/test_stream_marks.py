"""Marks `S>T` of an atom `T` under FROM: filters, measures, lists and PROJECT may speak of them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.errors import QueryError
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

EVENTS = pa.table(
    {
        "type": ["BUY", "BUY", "SELL", "BUY", "SELL", "BUY", "SELL"],
        "stream": ["S1", "S2", "S1", "S1", "S2", "S3", "S2"],
        "price": [6, 1, 3, 2, 9, 9, 7],
    }
)

BOTH = "(S1>BUY OR S2>BUY)"


def answers(text: str) -> list[tuple[int, int, dict[str, list[int]]]]:
    found = cer.compile(text).run(EVENTS, stream_column="stream")
    return [(one.start, one.end, {name: [*marked] for name, marked in one.marks.items()}) for one in found]


def bought(text: str) -> list[tuple[int, int]]:
    return [(start, end) for start, end, _ in answers(text)]


def test_a_filter_speaks_of_the_events_of_one_stream() -> None:
    query = "SELECT * FROM S1 WHERE BUY ; SELL FILTER S1>BUY[price > 5]"
    assert answers(query) == [(0, 2, {"BUY": [0], "S1>BUY": [0], "SELL": [2]})]
    # BUY of S2 is none of S1: the filter holds of no event.
    two = "SELECT * FROM S1, S2 WHERE BUY ; SELL FILTER S1>BUY[price > 5]"
    assert sorted(bought(two)) == [(0, 2), (0, 4), (0, 6), (1, 2), (1, 4), (1, 6)]


def test_marks_are_as_they_were_where_nothing_speaks_of_a_stream() -> None:
    assert answers("SELECT * FROM S1 WHERE BUY ; SELL") == [(0, 2, {"BUY": [0], "SELL": [2]})]


@pytest.mark.parametrize(
    ("text", "atom"),
    [
        ("SELECT * FROM S1, S2 WHERE {} ; SELL FILTER S1>BUY[price > 5]", "BUY"),
        ("SELECT * FROM S1, S2 WHERE {}+ ; SELL FILTER COUNT(S1>BUY) > 1", "BUY"),
        ("SELECT * FROM S1, S2 WHERE {}+ AS b ; SELL FILTER SUM(S1>BUY.price) > 7", "BUY"),
        ("SELECT S1>BUY[price] FROM S1, S2 WHERE {} ; SELL", "BUY"),
        ("SELECT NONE, COUNT(S1>BUY) AS n FROM S1, S2 WHERE {}+ : SELL", "BUY"),
        ("SELECT * FROM S1, S2 WHERE PROJECT({} ; SELL | S1>BUY)", "BUY"),
        ("SELECT * FROM S1, S2 WHERE {} ; SELL AS s FILTER S2>BUY.price < s.price", "BUY"),
        ("SELECT MAX * FROM S1, S2 WHERE ({} AS b FILTER NOT S2>BUY[price > 5])+ ; SELL", "BUY"),
        ("SELECT * FROM S1, S2 WHERE SELL UNLESS ({} FILTER S1>BUY[price = 2])", "BUY"),
        ("SELECT * FROM S1, S2 WHERE (SELL FOLLOWED BY ({} FILTER S1>BUY[price = 2]))", "BUY"),
    ],
)
def test_an_atom_is_that_of_any_of_the_streams(text: str, atom: str) -> None:
    short, written = text.format(atom), text.format(BOTH)
    assert answers(short) == answers(written)
    assert parse(to_text(parse(short))) == parse(short)


def test_dotted_names_of_two_streams() -> None:
    query = "SELECT * FROM S1, S2 WHERE BUY ; SELL FILTER S1>BUY.price > S2>SELL.price"
    held = [(0, 2), (1, 2), (1, 4), (1, 6), (3, 4), (3, 6), (0, 4), (0, 6)]
    prices = EVENTS.column("price").to_pylist()
    streams = EVENTS.column("stream").to_pylist()
    wanted = [
        (buy, sell)
        for buy, sell in held
        if (streams[buy], streams[sell]) != ("S1", "S2") or prices[buy] > prices[sell]
    ]
    assert sorted(bought(query)) == sorted(wanted)


def test_a_stream_that_from_does_not_list_is_refused() -> None:
    for text in (
        "SELECT * FROM S1 WHERE BUY FILTER S2>BUY[price > 5]",
        "SELECT * WHERE BUY FILTER S1>BUY[price > 5]",
        "SELECT * FROM S1 WHERE BUY FILTER S1>SELL[price > 5]",
    ):
        with pytest.raises(QueryError, match="CER022"):
            cer.compile(text)

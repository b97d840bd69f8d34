"""PREV and functions in streams of single events, which are read by their values."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from test_stream_singly import events_of_all_kinds, pushed_and_wanted, what_was_read

from cer_gpu import Query

QUERIES = [
    "SELECT * WHERE A ; B AS b FILTER b[price >= PREV(price)] WITHIN 9 EVENTS",
    "SELECT * WHERE A ; B AS b FILTER b[price > PREV(price, 2) OR PREV(flag) IS NULL] PARTITION BY key",
    "SELECT b[price] WHERE A ; B AS b FILTER b[name = PREV(name)] WITHIN 3000 [ts]",
    "SELECT * WHERE A ; B AS b FILTER b[ABS(price - 1) < 1 OR FLOOR(price) = 2] WITHIN 9 EVENTS",
    "SELECT * WHERE A AS a ; B FILTER a[UPPER(name) = 'X' AND COALESCE(price, 9) > 1] PARTITION BY key",
    "SELECT NEXT * WHERE (A ; B AS b FILTER b[ABS(price) > PREV(price)]) FOLLOWED BY [<= 4000] A",
]


@pytest.mark.crossed
@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("kind", ["batch", "coded"])
def test_single_events_are_read_by_their_values(
    text: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all of them; some batches of several between; what they give is what a run over all gives."""
    read = what_was_read(monkeypatch)
    events = events_of_all_kinds(Random(text), 300)
    if "PARTITION" not in text:
        events = events.sort_by("ts")
    if kind == "coded":
        events = events.set_column(4, "name", events["name"].dictionary_encode())
    sizes = ([1] * 20 + [3] + [1] * 27) * 6  # 300 rows

    def given(rows: pa.Table) -> Any:
        return rows.combine_chunks().to_batches()[0]

    got, wanted, _ = pushed_and_wanted(Query(text), events, sizes, given)
    assert sorted(map(repr, got)) == sorted(map(repr, wanted))
    assert len(wanted) > 10
    assert sum(one is not False for one in read) > 100


def test_what_does_not_fit_is_found_in_single_events_too() -> None:
    """The general way reads the event once more, but PREV has seen it."""
    values = [5, 3, -(2**63), 7, 9]
    events = pa.table(
        {"type": ["A"] * 5, "ts": range(5), "v": pa.array(values, pa.int64()), "w": [1, 1, 0, 1, 1]}
    )
    query = Query("SELECT * WHERE A AS a FILTER a[w = 1 AND ABS(v) > PREV(v)]")
    with query.stream(order_by="ts") as stream:
        found = [ce.end for at in range(5) for ce in stream.push(events.slice(at, 1))]
    assert found == [3, 4]


def test_empty_batches_change_nothing() -> None:
    events = pa.table({"type": ["A", "A"], "v": [1, 2]})
    with Query("SELECT * WHERE A AS a FILTER a[v > PREV(v)]").stream() as stream:
        pushed = [
            events.slice(0, 0),
            events.slice(0, 0),
            events.slice(0, 1),
            events.slice(1, 0),
            events.slice(1),
        ]
        assert [ce.end for batch in pushed for ce in stream.push(batch)] == [1]

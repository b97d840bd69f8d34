"""FOLLOWED BY and PRECEDED BY in streams of single events, which are read by their values."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from test_stream_singly import by_type, events_of_all_kinds, pushed_and_wanted, what_was_read

from cer_gpu import Query

QUERIES = [
    "SELECT * WHERE A FOLLOWED BY [<= 2000] B",
    "SELECT * WHERE A FOLLOWED BY (B ; A) WITHIN 9 EVENTS",
    "SELECT a[price, key] WHERE A AS a NOT FOLLOWED BY [<= 1000] B PARTITION BY key",
    "SELECT a[name] WHERE A AS a NOT FOLLOWED BY [<= 3 EVENTS] (B FILTER B[price > 1]) PARTITION BY key",
    "SELECT * WHERE A ; B PRECEDED BY [>= 1000, <= 9000] A PARTITION BY key WITHIN 5000 [ts]",
    "SELECT * WHERE A ; B NOT PRECEDED BY [<= 2 EVENTS] A FOLLOWED BY A WITHIN 9 EVENTS",
    "SELECT NEXT * WHERE A ; B FOLLOWED BY [<= 2000] B PARTITION BY key WITHIN 2 [price] CONSUME BY ANY",
]


@pytest.mark.crossed
@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("kind", ["batch", "tables by type"])
def test_single_events_are_read_by_their_values(
    text: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all of them; and what they give is what a run over all gives."""
    read = what_was_read(monkeypatch)
    events = events_of_all_kinds(Random(text), 300)
    if "PARTITION" not in text:
        events = events.sort_by("ts")

    def given(row: pa.Table) -> Any:
        return row.to_batches()[0] if kind == "batch" else by_type(row)

    got, wanted, early = pushed_and_wanted(Query(text), events, [1] * 300, given)
    assert sorted(map(repr, got)) == sorted(map(repr, wanted))
    assert len(wanted) > 10
    assert early > len(wanted) // 2
    if kind == "batch" or "SELECT a[" not in text:  # texts that are kept are read from merged tables
        assert sum(one is not False for one in read) > 100

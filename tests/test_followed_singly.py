"""FOLLOWED BY and PRECEDED BY in streams of single events, which are read by their values."""

from random import Random
from typing import Any

import pytest
from test_stream_singly import KEYWORDS, by_type, events_of_all_kinds

from cer_gpu import Query
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.singly import SingleEvent

QUERIES = [
    "SELECT * WHERE A FOLLOWED BY [<= 2000] B",
    "SELECT * WHERE A FOLLOWED BY (B ; A) WITHIN 9 EVENTS",
    "SELECT a[price, key] WHERE A AS a NOT FOLLOWED BY [<= 1000] B PARTITION BY key",
    "SELECT a[name] WHERE A AS a NOT FOLLOWED BY [<= 3 EVENTS] (B FILTER B[price > 1]) PARTITION BY key",
    "SELECT * WHERE A ; B PRECEDED BY [>= 1000, <= 9000] A PARTITION BY key WITHIN 5000 [ts]",
    "SELECT * WHERE A ; B NOT PRECEDED BY [<= 2 EVENTS] A FOLLOWED BY A WITHIN 9 EVENTS",
    "SELECT NEXT * WHERE A ; B FOLLOWED BY [<= 2000] B PARTITION BY key WITHIN 2 [price] CONSUME BY ANY",
]


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("kind", ["batch", "tables by type"])
def test_single_events_are_read_by_their_values(
    text: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all of them; and what they give is what a run over all gives."""
    read: list[SingleEvent | bool] = []
    singly = Intake.singly

    def noted(of: Intake, *arguments: Any) -> SingleEvent | bool:
        read.append(singly(of, *arguments))
        return read[-1]

    monkeypatch.setattr(Intake, "singly", noted)
    events = events_of_all_kinds(Random(text), 300)
    if "PARTITION" not in text:
        events = events.sort_by("ts")
    wanted = Query(text).run(events, **KEYWORDS).to_arrow().to_pylist()
    got: list[object] = []
    stream = Query(text).stream(**KEYWORDS)
    for at in range(300):
        row: Any = events.slice(at, 1)
        got += stream.push(row.to_batches()[0] if kind == "batch" else by_type(row)).to_arrow().to_pylist()
    early = len(got)
    last = stream.close()
    assert last is not None
    got += last.to_arrow().to_pylist()
    assert sorted(map(repr, got)) == sorted(map(repr, wanted))
    assert len(wanted) > 10
    assert early > len(wanted) // 2
    if kind == "batch" or "SELECT a[" not in text:  # texts that are kept are read from merged tables
        assert sum(one is not False for one in read) > 100

"""What a backtest leaves open goes on as a stream: no match is lost in between, and none comes twice."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from engine_oracle import OPTIONS
from generate import ORDER
from test_live import case, numbered

import cer_gpu as cer
from cer_gpu.errors import DataError, LimitError

UNTIL = "2100-01-01"


def rows(matches: Any) -> list[str]:
    return [] if matches is None else list(map(str, matches.to_arrow().to_pylist()))


@pytest.mark.draws("seed", 24)
def test_history_and_stream_give_what_one_run_gives(seed: int) -> None:
    answered = later = 0
    for number in range(12):
        rng = Random(f"handover {seed} {number}")
        text, events = case(rng, number)
        table = numbered(sorted(events, key=lambda one: one.attributes[ORDER].count))
        times = table[ORDER].cast(pa.int64()).to_pylist()
        cut = rng.choice([at for at in range(1, len(table)) if times[at] > times[at - 1]] or [len(table)])
        history, live = table.slice(0, cut), table.slice(cut)
        until = history[ORDER][-1].as_py()
        options = {**OPTIONS, "event_id": "row"}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event |about 10")
            try:
                query = cer.compile(text)
                wanted = query.run(table, **options, until=UNTIL)
                counted = query.run(history, **options, until=until)
                found = cer.backtest({"q": query}, history, **OPTIONS, until=until, state={"event_id": "row"})
                stream = query.stream(found.states["q"], late="2 s", **options)
                if rng.random() < 0.5:
                    stream = query.stream(stream.snapshot(), late="2 s", **options)
                if rng.random() < 0.5:  # other columns than those of history, beside those that are read
                    live = live.append_column("more", pa.array([1.0] * len(live)))
                given = [stream.push(live)] if len(live) else []
                given.append(stream.advance(UNTIL))
                new = [line for one in given for line in rows(one)]
                assert found.to_arrow()["matches"].to_pylist() == [len(counted.to_arrow())]
            except LimitError:
                continue
        assert sorted(rows(counted) + new) == sorted(rows(wanted)), text
        answered += bool(rows(counted))
        later += bool(new)
    assert answered + later


def trades(*events: tuple[str, int, str]) -> pa.Table:
    types, times, keys = zip(*events, strict=True)
    return pa.table({"type": types, "ts": pa.array(times, pa.timestamp("ms")), "k": keys})


HISTORY = trades(("A", 1, "x"), ("A", 2, "y"), ("B", 3, "x"))

STEPS = "SELECT * WHERE A AS a ; B AS b PARTITION BY [k] WITHIN 10 SECONDS"


def test_the_stream_goes_on_after_the_last_event() -> None:
    query = cer.compile(STEPS)
    state = cer.backtest({"steps": query}, HISTORY, order_by="ts", state=True).states["steps"]
    stream = query.stream(state, order_by="ts", late="1 s", on_late="drop")
    more = trades(("B", 3, "x"), ("B", 4, "y"), ("B", 5, "x"))  # the first one is of the history
    found = [stream.push(more), stream.close()]
    assert [(one.start, one.end) for part in found if part is not None for one in part] == [(1, 3), (0, 4)]
    assert not any(stream.metrics)
    again = query.stream(state, order_by="ts", late="0 s", on_late="drop")
    again.push(more)
    assert (again.metrics.events, again.metrics.late, again.metrics.waiting) == (6, 1, 0)
    assert again.metrics.hits == 3
    assert again.metrics.open_events > 0
    assert again.metrics.open_bytes > 0


def test_a_state_of_history_is_refused_where_it_does_not_fit() -> None:
    query = cer.compile(STEPS)
    state = cer.backtest({"steps": query}, HISTORY, order_by="ts", state={"event_id": "ts"}).states["steps"]
    with pytest.raises(ValueError, match="continue it with late='0 s' or more"):
        query.stream(state, order_by="ts", event_id="ts")
    with pytest.raises(DataError, match="stored with another event_id"):
        query.stream(state, order_by="ts", late="0 s")
    stream = query.stream(state, order_by="ts", event_id="ts", late="0 s")
    wider = HISTORY.set_column(2, "k", pa.array([1, 2, 3]))
    with pytest.raises(DataError, match="`k` is int64, and was string; cast the columns of each batch"):
        stream.push(wider)
    with pytest.raises(ValueError, match=r"hand_over\(\) needs rows that wait"):
        query.stream(order_by="ts").hand_over()


@pytest.mark.parametrize(
    ("text", "table", "keywords", "error"),
    [
        ("SELECT * WHERE A NOT FOLLOWED BY [<= 1 s] B", HISTORY, {}, "pass until=, the time up to"),
        ("SELECT * WHERE A ; B", HISTORY, {"order_by": None}, "state=True needs order_by"),
        (STEPS, trades(("A", 5, "x"), ("A", 1, "y")), {}, "in the order of time, over all partitions"),
        (
            "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (a) DEFINE a AS type = 'A')",
            HISTORY,
            {},
            "is for queries of CEQL",
        ),
    ],
)
def test_what_has_no_state(text: str, table: pa.Table, keywords: dict[str, Any], error: str) -> None:
    with pytest.raises((ValueError, DataError), match=error):
        cer.backtest({"q": text}, table, **{"order_by": "ts", "state": True} | keywords)

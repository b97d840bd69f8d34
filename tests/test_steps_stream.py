"""Timed patterns of steps on streams: the same answers however they are cut, and nothing kept in vain."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.steps import cpu_walk
from engine_oracle import OPTIONS, Row, found
from generate import stream, stream_to_table
from random_steps import keyed_query, session_query, timed_query
from snapshots import stored

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.machines import open_runs, open_state, steps_stream, stream_state
from cer_gpu.enumeration.steps import StepEnds
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language.printer import to_text

MOST = 2_000
"""Queries with more complex events are passed over."""


@pytest.fixture(params=[1, 7])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drop what is not open at every event or every seventh, follow two at a time, and keep little room."""
    monkeypatch.setattr(stream_state, "LEAST", request.param)
    monkeypatch.setattr(stream_state, "LOOK", request.param)
    monkeypatch.setattr(open_runs, "STEP", 2)
    monkeypatch.setattr(open_state, "ROOM", 2)


def pushed(query: Query, table: pa.Table, rng: Random) -> list[Row]:
    """What a stream gives of small batches; it is stored and continued, and read late, now and then."""
    pushes, low = [], 0
    ours = query.stream(engine="timed", **OPTIONS)
    while low < len(table):
        size = rng.choice((0, 1, 1, 1, 2, 5))
        matches = ours.push(table.slice(low, size))
        pushes.append(matches if rng.random() < 0.5 else found(matches))
        low += size
        ours = stored(ours, lambda state: query.stream(state, engine="timed", **OPTIONS), rng, often=0.1)
    rows = [row for push in pushes for row in (push if isinstance(push, list) else found(push))]
    last = ours.close()
    return rows if last is None else rows + found(last)


def agree(seed: str, queries: int) -> int:
    """How many complex events pushes gave, all of them those of a run."""
    rng, total = Random(seed), 0
    for _ in range(queries):
        drawn = rng.choice((timed_query, timed_query, session_query, keyed_query))(rng)
        table = stream_to_table(stream(rng, rng.randrange(10, 60), lap_falls=rng.random() < 0.3))
        text = to_text(drawn)
        try:
            query = Query(text)
            wanted = found(query.run(table, engine="timed", limit=MOST, **OPTIONS))
        except (LimitError, QueryError):  # over the budget, or for the general machine
            continue
        if len(wanted) == MOST:
            continue
        rows = pushed(query, table, rng)
        if "FOLLOWED BY" in text:
            # What is held back for a while is given for each partition in its order.
            rows, wanted = sorted(rows), sorted(wanted)
        assert rows == wanted, text
        total += len(wanted)
    return total


@pytest.mark.draws("seed", 2)
def test_pushes_give_what_a_run_gives(seed: int, few: None) -> None:
    assert agree(f"pushes of steps {seed}", 18) > 20


def test_they_do_where_all_are_counted_by_sums(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_walk, "WALKED", -(1 << 40))
    assert agree("sums", 18) > 20


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE A ;[<= 30] B ;[2, 40] C",
        "SELECT * WHERE A ;[<= 30] B ;[<= 40] C WITHIN 70 [ts]",
        "SELECT * WHERE A+[<= 9] ;[<= 20] C",
        "SELECT * WHERE A ;[<= 30] (B OR C){1,2}[<= 9] PARTITION BY k",
    ],
)
def test_what_no_window_leaves_out_is_counted_as_it_comes(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one by one nor by the events of the window: an end knows how many complex events it has."""
    rng = np.random.default_rng(3)
    table = pa.table(
        {"type": rng.choice(list("ABC"), 200), "ts": np.cumsum(rng.integers(0, 8, 200)), "k": [1, 2] * 100}
    )
    query = cer.compile(text)
    wanted = query.run(table, order_by="ts").to_arrow()
    assert len(wanted) > 200

    def counted(*_: object) -> None:
        raise AssertionError("counted anew")

    monkeypatch.setattr(steps_stream, "walked_counts", counted)
    with query.stream(order_by="ts") as ours:
        parts = [ours.push(table.slice(low, 3)).to_arrow() for low in range(0, 200, 3)]
    assert pa.concat_tables(parts).equals(wanted)


COUNTED = [
    "C+[<= 5] ;[< 3] A+",
    "A+[>= 2] ; B",
    "A ;[<= 4] B ;[>= 1] C",
    "A ;[<= 4] (B OR C)+[<= 3] ;[<= 5] A",
    "(A ;[<= 5] B)+[<= 6]",
    "A+ ;[<= 3] B+ ; C",
    "A{2,3}[<= 6] ; B ;[2, 9] C",
    "(A OR B) ;[<= 6] A :[<= 4] C",
]


@pytest.mark.parametrize("pattern", COUNTED)
def test_numbers_that_are_known_are_those_counted_anew(
    pattern: str, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With windows, consumption and partitions, and snapshots now and then."""
    rng, known = Random(pattern), [0]
    counted = steps_stream._counts

    def compared(ends: StepEnds, earlier: np.ndarray, number: np.ndarray) -> np.ndarray:
        found = counted(ends, earlier, number)
        assert found.tolist() == counted(ends, earlier, np.full_like(number, -1)).tolist()
        known[0] += int((number >= 0).sum())
        return found

    monkeypatch.setattr(steps_stream, "_counts", compared)
    for _ in range(12):
        within = rng.choice(("", f" WITHIN {rng.randrange(3, 15)} [ts]", " WITHIN 6 EVENTS"))
        consumed = rng.choice(("", "", " CONSUME BY PARTITION"))
        n = 25
        times = np.cumsum([rng.choice((0, 1, 1, 2, 3)) for _ in range(n)])
        types, keys = [rng.choice("ABC") for _ in range(n)], [rng.randrange(2) for _ in range(n)]
        table = pa.table({"type": types, "id": keys, "ts": times, "stream": ["S"] * n})
        query = Query(f"SELECT * WHERE {pattern}{rng.choice(('', ' PARTITION BY id'))}{within}{consumed}")
        assert pushed(query, table, rng) == found(query.run(table, engine="timed", **OPTIONS))
    assert known[0] > 5


def test_a_gap_may_reach_further_back_than_the_window() -> None:
    """The third C continues the second alone: the first one is no longer in the window, but in reach."""
    table = pa.table({"type": ["C", "C", "C", "A"], "ts": [0, 2100, 2200, 2300]})
    query = cer.compile("SELECT * WHERE C+[<= 2500] ;[<= 2000] A WITHIN 500 [ts]")
    with query.stream(order_by="ts") as ours:
        ours.push(table.slice(0, 3))
        assert [ce.marks["C"] for ce in ours.push(table.slice(3))] == [(1, 2), (1,), (2,)]


def test_few_of_very_many_are_listed_at_once() -> None:
    """A chain with a limit: of millions that end at an event the first are found, and no others."""
    types = ["A"] * 400 + ["B"] * 400 + ["C"] * 400 + ["D"]
    table = pa.table({"type": types, "ts": range(len(types))})
    query = cer.compile("SELECT * WHERE A ;[<= 2000] B ;[<= 2000] C ;[<= 2000] D LIMIT 3")
    wanted = [(ce.start, ce.end, ce.marks) for ce in query.run(table, order_by="ts")]
    with query.stream(order_by="ts") as ours:
        ours.push(table.slice(0, 1200))
        assert [(ce.start, ce.end, ce.marks) for ce in ours.push(table.slice(1200))] == wanted
    assert [one[2]["C"] for one in wanted] == [(800,), (801,), (802,)]


SESSIONS = [
    "Click+[<= 20] AS s",
    "Click+[<= 20] AS s PARTITION BY k",
    "Click+[<= 20] AS s PARTITION BY k WITHIN 3 EVENTS",
    "Click{3,}[<= 20] AS s CONSUME BY ANY",
    "Click{3,}[<= 20] AS s PARTITION BY k CONSUME BY ANY",
]


@pytest.mark.parametrize("pattern", SESSIONS)
def test_sessions_are_listed_from_their_first_click(pattern: str, few: None) -> None:
    rng = np.random.default_rng(7)
    table = pa.table({"ts": np.cumsum(rng.integers(0, 8, 200)), "k": rng.integers(0, 4, 200)})
    query = cer.compile(f"SELECT MAX * FROM Click WHERE {pattern}")
    wanted = [(ce.start, ce.end, ce.marks["s"]) for ce in query.run(table, order_by="ts")]
    with query.stream(order_by="ts") as ours:
        pushes = [ours.push(table.slice(low, 3)) for low in range(0, 200, 3)]
        got = [(ce.start, ce.end, ce.marks["s"]) for matches in pushes for ce in matches]
    assert got == wanted
    assert max(len(marks) for _, _, marks in wanted) >= 3


def kept_after(text: str, moments: np.ndarray) -> list[int]:
    """How many events a stream keeps after each of some pushes of single events, all of type A."""
    query = cer.compile(text)
    with query.stream(order_by="ts") as ours:
        kept = []
        for moment in moments.tolist():
            ours.push(pa.table({"type": ["A"], "ts": [moment]}))
            kept.append(ours._state.count)
        return kept


def test_what_no_gap_allows_any_more_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_state, "LEAST", 8)
    monkeypatch.setattr(stream_state, "LOOK", 8)
    # Twenty events in a row, and then none for long: sessions that a gap parts.
    moments = np.add.outer(100_000 * np.arange(10), np.arange(20)).ravel()
    kept = kept_after("SELECT * WHERE A AS x ;[<= 50] A AS y ;[<= 50] B", moments)
    assert max(kept) < 80
    endless = kept_after("SELECT * WHERE A AS x ;[<= 50] A AS y ; B", moments)
    assert endless[-1] == len(moments)


def test_a_push_keeps_what_is_open_and_explain_says_so() -> None:
    query = cer.compile("SELECT NEXT * WHERE A+[<= 5 min]")
    assert "a push costs only what is new in it, however many partial matches are open" in query.explain(
        verbose=True
    )
    with cer.compile("SELECT * WHERE A ;[<= 5] B ;[<= 5] C").stream(order_by="ts") as ours:
        ours.push(pa.table({"type": ["A"], "ts": [1]}))
        assert isinstance(ours._state, stream_state.StreamState)


def test_many_complex_events_of_an_end_are_counted_before_they_are_listed() -> None:
    """2^16 ways to leave clicks out: more than are found one by one before sums are asked."""
    clicks = 18
    table = pa.table({"type": ["A"] * clicks, "ts": range(clicks)})
    with cer.compile("SELECT * WHERE A+[<= 3]").stream(order_by="ts") as ours:
        sizes = [len(ours.push(table.slice(at, 1)).to_arrow()) for at in range(clicks)]
    ways = [1]
    for at in range(1, clicks):
        ways.append(1 + sum(ways[max(at - 3, 0) :]))
    assert sizes == ways

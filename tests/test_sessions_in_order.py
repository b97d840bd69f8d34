"""Sessions of several partitions found in the order of the stream, without grouping events by partition."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.steps.contract import Sessions
from cer_gpu.kernels.steps.cpu_sessions import last_sessions, marked_back, ordered_sessions

import cer_gpu as cer
from cer_gpu.engine.machines import closed_sessions
from cer_gpu.engine.machines.closed_sessions import ClosedReach, ClosedSessions
from cer_gpu.engine.read import eviction
from cer_gpu.engine.run import bound_query, chunks, session_run


def test_the_sessions_of_each_lane_by_definition() -> None:
    rng = np.random.default_rng(3)
    alone = np.array([0, 1, 0], np.uint8)
    ends = 0
    for number in range(200):
        n, floating, timed = int(rng.integers(0, 14)), number % 2 == 0, number % 3 != 0
        times = np.cumsum(rng.integers(0, 4, n)).astype(np.float64 if floating else np.uint64)
        if floating and n:
            times[-1:] = rng.choice([times[-1], np.inf, np.nan])
        sessions = Sessions(times.dtype.type(2), timed, number % 5 == 0, number % 4 == 0, 1)
        lanes, symbols = rng.integers(0, 3, n).astype(np.int32), rng.integers(0, 3, n).astype(np.uint8)
        places = np.cumsum(rng.integers(1, 3, n))
        report = int(rng.integers(0, n + 1))
        own: dict[int, list[int]] = {}
        wanted = []
        for event in range(n):
            session = own.get(int(lanes[event]), [])
            if session:
                with np.errstate(invalid="ignore"):
                    gap = times[event] - times[session[-1]]
                goes_on = not timed or gap <= 2 or (np.isnan(gap) and sessions.loose)
                if not goes_on or (sessions.near and places[event] != places[session[-1]] + 1):
                    session = []
            own[int(lanes[event])] = [*session, event]
            wanted.append(own[int(lanes[event])])
        found = ordered_sessions(sessions, alone, symbols, lanes, times, places, report)
        assert found.first.tolist() == [session[0] for session in wanted]
        assert found.number.tolist() == [len(session) for session in wanted]
        assert found.event.tolist() == [event for event in range(report, n) if symbols[event] == 1]
        first = np.append(0, np.cumsum(found.number))
        marks = np.empty(int(first[-1]), np.int64)
        marked_back(np.arange(n), found.before, first, marks)
        assert marks.tolist() == [event for session in wanted for event in session]
        assert last_sessions(found).tolist() == sorted(event for session in own.values() for event in session)
        ends += len(found.event)
    assert ends > 100


CLOSED = "Click+[<= 4] AS s NOT FOLLOWED BY [<= 4] Click PARTITION BY k"

QUERIES = {
    "closed": f"SELECT MAX * FROM Click WHERE {CLOSED}",
    "sizes": f"SELECT MAX NONE, COUNT(s) AS clicks FROM Click WHERE {CLOSED}",
    "values": f"SELECT MAX s[price], SUM(s.price) AS total FROM Click WHERE {CLOSED}",
    "each end": "SELECT MAX * FROM Click WHERE Click+[<= 4] AS s PARTITION BY k",
    "neighbours": "SELECT MAX * WHERE Click:+[<= 4] AS s PARTITION BY k",
    "closed neighbours": f"SELECT MAX * WHERE {CLOSED.replace('+', ':+')}",
    "filtered": "SELECT MAX * WHERE Click+[<= 4] AS s FILTER s[price > 2] PARTITION BY k",
    "limited": "SELECT MAX * FROM Click WHERE Click+[<= 4] AS s PARTITION BY k LIMIT 0",
}


@pytest.fixture
def in_order(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many events each chunk in the order of the stream has had, or each part that is no chunk."""
    sizes: list[int] = []
    made = chunks.chunk_in_order

    def noted(*given: Any) -> Any:
        chunk = made(*given)
        sizes.append(len(chunk.events))
        return chunk

    added = ClosedSessions.add

    def noted_closed(sessions: ClosedSessions, lanes: np.ndarray, *given: Any) -> Any:
        sizes.append(len(lanes))
        return added(sessions, lanes, *given)

    monkeypatch.setattr(chunks, "chunk_in_order", noted)
    monkeypatch.setattr(ClosedSessions, "add", noted_closed)
    return sizes


@pytest.mark.crossed
@pytest.mark.parametrize("times", ["int64", "float64"])
@pytest.mark.parametrize("name", QUERIES)
def test_they_are_those_that_are_found_by_partition(
    name: str, times: str, in_order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, n = np.random.default_rng(8), 300
    table = pa.table(
        {
            "type": rng.choice(["Click", "Click", "Other"], n)
            if "FROM" not in QUERIES[name]
            else ["Click"] * n,
            "ts": np.cumsum(rng.integers(0, 4, n)).astype(times),
            "k": np.repeat(np.arange(6), 50) * 4 + rng.integers(0, 5, n),  # later ones are new
            "price": rng.integers(0, 9, n),
        }
    )
    query = cer.compile(QUERIES[name])
    by_lane = {"order_by": "ts", "memory": 1 << 30}
    wanted = query.run(table, **by_lane).to_arrow()
    asked = [query.hits(table, **by_lane), query.counts(table, **by_lane), query.count(table, **by_lane)]
    assert not in_order
    assert asked[2] == len(wanted)
    for size in (3, 40, 1 << 20):
        monkeypatch.setattr(chunks, "CHUNK", size)
        monkeypatch.setattr(bound_query, "CARRIED_BATCH", min(size, 64))
        found = query.run(table, order_by="ts").to_arrow()
        assert found.sort_by("end") == wanted.sort_by("end")
        if name != "closed":
            assert found.column("end") == wanted.column("end")
        assert [query.hits(table, order_by="ts"), query.counts(table, order_by="ts")] == asked[:2]
        assert query.count(table, order_by="ts") == asked[2]
    assert len(wanted) > 30 or name == "limited"
    assert len(in_order) >= 10 or name == "limited"


@pytest.mark.parametrize("typed", [False, True])
def test_neighbours_are_closed_where_every_row_is_of_a_session(
    typed: bool, in_order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, n = np.random.default_rng(9), 300
    columns = {"ts": np.cumsum(rng.integers(0, 4, n)), "k": rng.choice([0, 1, 2, None], n)}
    types = {"type": rng.choice(["Click", "Click", "Other"], n)} if typed else {}
    query = cer.compile(f"SELECT MAX NONE, COUNT(s) AS clicks FROM Click WHERE {CLOSED.replace('+', ':+')}")
    table, told = pa.table({**columns, **types}), {} if typed else {"type_column": None}
    wanted = query.run(table, order_by="ts", memory=1 << 30, **told).to_arrow()
    made = []
    close = closed_sessions.closed_reach

    def noted(asked: Any) -> Any:
        made.append(close(asked))
        return made[-1]

    monkeypatch.setattr(session_run, "closed_reach", noted)
    monkeypatch.setattr(bound_query, "CARRIED_BATCH", 40)
    assert query.run(table, order_by="ts", **told).to_arrow() == wanted
    assert len(wanted) > 30
    assert [one is not None for one in made] == [not typed]


def test_only_the_last_session_of_a_partition_is_kept(
    in_order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "CHUNK", 10)
    monkeypatch.setattr(bound_query, "CARRIED_BATCH", 10)
    n = 2_000
    table = pa.table({"ts": np.arange(n) * 3, "k": np.arange(n) % 3})
    query = cer.compile("SELECT MAX * FROM Click WHERE Click+[<= 2] AS s PARTITION BY k")
    assert len(query.run(table, order_by="ts").to_arrow()) == n
    assert len(in_order) == n // 10
    assert max(in_order) <= 10 + 3


@pytest.mark.parametrize("size", [10, 1 << 20])
def test_counting_follows_no_session(size: int, in_order: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """One match ends at each event that may end one, so that only these events are counted."""
    monkeypatch.setattr(chunks, "CHUNK", size)
    monkeypatch.setattr(bound_query, "CARRIED_BATCH", size)
    rng, n = np.random.default_rng(4), 500
    table = pa.table(
        {
            "ts": np.cumsum(rng.integers(0, 4, n)),
            "k": rng.integers(0, 5, n),
            "price": rng.integers(0, 9, n),
        }
    )
    for name in ("closed", "sizes", "values", "each end"):
        query = cer.compile(QUERIES[name])
        number = query.count(table, order_by="ts")
        assert not in_order
        assert number == len(query.run(table, order_by="ts").to_arrow()) > 50
        in_order.clear()


@pytest.mark.parametrize("listed", [False, True])
def test_closed_sessions_by_definition(listed: bool) -> None:
    rng = np.random.default_rng(5)
    number = 0
    for case in range(150):
        n, gap, reach = int(rng.integers(1, 60)), int(rng.integers(0, 6)), int(rng.integers(0, 6))
        times = np.cumsum(rng.integers(0, 3, n)) - 5
        lanes = rng.integers(0, 4, n).astype(np.int32)
        positions = np.cumsum(rng.integers(1, 3, n))
        wanted = []
        for lane in range(4):
            own = np.flatnonzero(lanes == lane).tolist()
            session: list[int] = []
            for k, event in enumerate(own):
                session = (
                    [*session, event] if session and times[event] - times[session[-1]] <= gap else [event]
                )
                if k + 1 == len(own) or times[own[k + 1]] - times[event] > reach:
                    wanted.append(session)
        wanted.sort(key=lambda session: session[-1])
        sessions = ClosedSessions(ClosedReach(np.uint64(gap), np.uint64(reach)), listed)
        found, begin = [], 0
        while begin <= n:
            stop = min(n, begin + int(rng.integers(1, 9)))
            if begin < n:
                now = None if case % 3 == 0 else int(times[stop - 1])
                part = slice(begin, stop)
                passed = sessions.passed(times[part], now, bool(case % 2))
                closed = sessions.add(lanes[part], times[part], positions[part], 4, passed)
                begin = stop
            else:
                closed, begin = sessions.rest(), n + 1
            count = len(closed.event)
            first, place = np.zeros(count + 1, np.int64), positions[:0]
            if listed:
                first, place = closed.positions(0, count)
            rows = closed.rows(0, count)
            for k in range(count):
                row = [one[k] for one in rows]
                found.append((*row, place[first[k] : first[k + 1]].tolist()))
            if not case % 4:
                sessions._make_room(8)  # as it is once the room is full
        assert found == [
            (
                positions[own[0]], positions[own[-1]], lanes[own[0]], times[own[0]], times[own[-1]], len(own),
                positions[own].tolist() if listed else [],
            )
            for own in wanted
        ]  # fmt: skip
        number += len(found)
    assert number > 1_500


def test_no_event_comes_before_what_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_sessions, "STRIP", 4)
    rng = np.random.default_rng(7)
    for count in range(1, 30):
        times = np.cumsum(rng.integers(0, 3, count))
        for now in (None, int(times[-1]) - 2, int(times[-1]) + 2):
            passed = ClosedSessions.passed(times, now, ascending=True).tolist()
            assert passed == ClosedSessions.passed(times, now, ascending=False).tolist()
            if now is not None:
                later = [[*times[stop:], now] for stop in range(4, count, 4)] + [[now]]
                assert passed == [min(one) for one in later]


TOLD = {
    "sizes": "MAX NONE, COUNT(s) AS clicks, DURATION AS long",
    "times": "MAX NONE, START_TIME AS first, END_TIME AS last, 2 * COUNT(s) + 1 AS odd",
    "shown": "MAX *, COUNT(s) AS clicks",
    "nothing": "MAX NONE",
}


@pytest.mark.crossed
@pytest.mark.parametrize("unit", [None, "s", "ms", "us", "ns"])
@pytest.mark.parametrize("told", TOLD)
def test_closed_sessions_of_keys_that_are_forgotten(
    told: str, unit: str | None, in_order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, n = np.random.default_rng(11), 600
    times: Any = pa.array(np.cumsum(rng.integers(0, 4, n)) - 50)
    gap = "4" if unit is None else f"4 {unit}"
    if unit is not None:
        times = times.cast(pa.timestamp(unit))
    key = [None if one == 3 else f"user {one}" for one in np.arange(n) // 15 * 3 + rng.integers(0, 5, n)]
    table = pa.table({"type": rng.choice(["Click", "Click", "Other"], n), "ts": times, "user": key})
    query = cer.compile(
        f"SELECT {TOLD[told]} WHERE Click+[<= {gap}] AS s NOT FOLLOWED BY [<= {gap}] Click PARTITION BY user"
    )
    by_lane = query.run(table, order_by="ts", memory=1 << 30)
    wanted, events = by_lane.to_arrow(), by_lane.events()
    assert len(wanted) > 40
    assert not in_order
    renumbered = []
    keep = ClosedSessions.keep

    def noted(sessions: ClosedSessions, used: np.ndarray, *numbers: Any) -> None:
        renumbered.append(len(used))
        keep(sessions, used, *numbers)

    monkeypatch.setattr(ClosedSessions, "keep", noted)
    monkeypatch.setattr(eviction, "REMEMBERED", 4)
    for size, ordered in product((7, 64, 1 << 20), (False, True)):
        monkeypatch.setattr(bound_query, "CARRIED_BATCH", size)
        asked: dict[str, Any] = {"order_by": "ts", "ordered": ordered}
        assert query.run(table, **asked).to_arrow() == wanted
        assert query.count(table, **asked) == len(wanted)
        assert query.run(table, **asked).head(7).to_arrow() == wanted.slice(0, 7)
        assert query.run(table, **asked).events() == events
    assert len(in_order) > 180
    assert len(renumbered) > 20

"""SUPPRESS: after an end, none is reported for some time."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any
from unittest.mock import patch

import fuzz
import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.suppress import contract, cpu
from engine_oracle import check, check_quickly, expected, found, pieces, select
from generate import stream, stream_to_table, with_keys
from random_suppressed import suppressed
from snapshots import stored

import cer_gpu as cer
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree

DAY = timedelta(days=1)
START = datetime(2026, 1, 1)

# ----------------------------------------------------------------------------------- what it means


def admissions() -> pa.Table:
    rows = [
        (0, "ann"),
        (3, "bob"),
        (10, "ann"),
        (30, "ann"),
        (31, "ann"),
        (33, "bob"),
        (61, "ann"),
        (62, "ann"),
    ]
    return pa.table(
        {
            "type": ["Admission"] * len(rows),
            "patient": [patient for _, patient in rows],
            "ts": pa.array([START + day * DAY for day, _ in rows], pa.timestamp("ms")),
        }
    )


def ends(text: str, table: pa.Table, **keywords: Any) -> list[int]:
    """The positions where complex events end, as each question tells them."""
    query = cer.compile(text)
    found = query.hits(table, order_by="ts", **keywords)["position"].to_pylist()
    counts = query.counts(table, order_by="ts", **keywords)
    listed = Counter(ce.end for ce in query.run(table, order_by="ts", **keywords))
    assert dict(zip(counts["position"].to_pylist(), counts["count"].to_pylist(), strict=True)) == listed
    assert query.count(table, order_by="ts", **keywords) == listed.total()
    assert found == sorted(listed)
    return found


def test_an_admission_counts_only_30_days_after_the_last_that_did() -> None:
    # That of day 30 is at most 30 days after day 0; that of day 61 just 30 days after day 31.
    assert ends("SELECT * WHERE Admission AS a PARTITION BY patient SUPPRESS FOR 30 d", admissions()) == [
        0, 1, 4, 7,
    ]  # fmt: skip


def test_an_alert_once_an_hour() -> None:
    minutes = [0, 10, 59, 60, 61, 100, 121, 122]
    table = pa.table({"type": ["Error"] * 8, "ts": pa.array([60 * one for one in minutes], pa.int64())})
    text = "SELECT * WHERE Error SUPPRESS FOR {}"
    assert ends(text.format("1 h"), table, order_unit="s") == [0, 4, 7]
    assert ends(text.format("59 min 60 s"), table, order_unit="s") == [0, 4, 7]
    assert ends(text.format(3600), table) == [0, 4, 7]
    assert ends(text.format("3599.5"), table) == [0, 3, 6]
    assert ends(text.format("$w"), table, params={"w": 3600}) == [0, 4, 7]
    assert ends(text.format("$w"), table, params={"w": "1 h"}, order_unit="s") == [0, 4, 7]
    assert ends(text.format("$w h"), table, params={"w": 1}, order_unit="s") == [0, 4, 7]
    assert ends(text.format(0), table) == list(range(8))


def test_one_compiled_query_takes_several_lengths() -> None:
    query = cer.compile("SELECT * WHERE Admission PARTITION BY patient SUPPRESS FOR $w")
    found = [query.count(admissions(), order_by="ts", params={"w": w}) for w in ("1 d", "30 d", "100 d")]
    assert found == [6, 4, 2]


@pytest.mark.parametrize(
    ("by", "wanted"), [("", [0, 1, 4, 7]), (" BY PARTITION", [0, 1, 4, 7]), (" BY ANY", [0, 4, 7])]
)
def test_partitions_are_on_their_own_unless_by_any(by: str, wanted: list[int]) -> None:
    text = f"SELECT * WHERE Admission PARTITION BY patient SUPPRESS FOR 30 d{by}"
    assert ends(text, admissions()) == wanted


def test_without_partitions_the_stream_is_one() -> None:
    for by in ("", " BY PARTITION", " BY ANY"):
        assert ends(f"SELECT * WHERE Admission SUPPRESS FOR 30 d{by}", admissions()) == [0, 4, 7]


def of_types(types: str, times: list[int]) -> pa.Table:
    return pa.table({"type": list(types), "ts": pa.array(times, pa.int64())})


def test_all_complex_events_of_an_end_are_reported_or_none() -> None:
    table = of_types("AABBAB", [0, 1, 2, 3, 4, 9])
    query = cer.compile("SELECT * WHERE A AS a ; B AS b SUPPRESS FOR 5")
    assert [(ce.start, ce.end) for ce in query.run(table, order_by="ts")] == [
        (0, 2), (1, 2), (0, 5), (1, 5), (4, 5),
    ]  # fmt: skip


def test_of_ends_at_one_time_the_first_is_reported() -> None:
    assert ends("SELECT * WHERE A SUPPRESS FOR 0", of_types("AAAA", [0, 0, 1, 1])) == [0, 2]


def test_what_is_suppressed_consumes_nothing() -> None:
    table = of_types("AABAB", [0, 1, 2, 3, 4])
    text = "SELECT * WHERE A AS a ; B AS b CONSUME BY ANY SUPPRESS FOR {}"
    assert ends(text.format(1), table) == [2, 4]
    # The B at 4 is suppressed, so the A at 3 is open still.
    longer = of_types("AABABB", [0, 1, 2, 3, 4, 9])
    query = cer.compile(text.format(2))
    assert [(ce.start, ce.end) for ce in query.run(longer, order_by="ts")] == [(0, 2), (1, 2), (3, 5)]


def test_it_looks_at_what_the_window_and_the_strategy_keep_before_limit() -> None:
    table = of_types("AABABB", [0, 1, 2, 8, 9, 10])
    # No A; B within 1 ends at 2 but (1, 2); of two at one end LIMIT keeps one.
    assert ends("SELECT * WHERE A ; B WITHIN 1 [ts] SUPPRESS FOR 7", table) == [2]
    assert ends("SELECT STRICT * WHERE A ; B SUPPRESS FOR 6", table) == [2, 4]
    limited = cer.compile("SELECT * WHERE A ; B SUPPRESS FOR 5 LIMIT 1")
    assert [(ce.start, ce.end) for ce in limited.run(table, order_by="ts")] == [(0, 2), (0, 4)]
    assert ends("SELECT * WHERE A ; B SUPPRESS FOR 5 LIMIT 0", table) == []


def test_a_look_ahead_counts_at_its_end_once_it_is_decided() -> None:
    # The A at 0 is followed by a B in time; those at 4 and 9 are not, and the one at 4 suppresses that at 5.
    table = of_types("ABAAAB", [0, 1, 4, 5, 9, 30])
    text = "SELECT * WHERE A NOT FOLLOWED BY [<= 3] B SUPPRESS FOR 4"
    assert ends(text, table) == [2, 4]
    stream = cer.compile(text).stream(order_by="ts")
    given = [[ce.end for ce in stream.push(table.slice(row, 1))] for row in range(len(table))]
    assert given == [[], [], [], [], [2], [4]]


def test_whole_numbers_far_apart() -> None:
    low, high = -(2**63), 2**63 - 1
    table = pa.table({"type": ["A"] * 3, "ts": pa.array([low, 0, high], pa.int64())})
    assert ends("SELECT * WHERE A SUPPRESS FOR 5", table) == [0, 1, 2]
    assert ends(f"SELECT * WHERE A SUPPRESS FOR {2**63 - 1}", table) == [0, 1]
    days = pa.table({"type": ["A"] * 3, "ts": pa.array([low, 0, high], pa.int64())})
    assert ends("SELECT * WHERE A SUPPRESS FOR 300000 d", days, order_unit="ns") == [0]


def test_floats() -> None:
    table = pa.table({"type": ["A"] * 4, "ts": pa.array([-0.5, 0.0, 0.75, 1e300])})
    assert ends("SELECT * WHERE A SUPPRESS FOR 0.5", table) == [0, 2, 3]


# ------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT * WHERE A SUPPRESS FOR 3 EVENTS", "CER016"),
        ("SELECT * WHERE A SUPPRESS FOR -1 s", "CER041"),
        ("SELECT * WHERE A SUPPRESS FOR 1 s SUPPRESS FOR 1 s", "CER008"),
        ("SELECT * WHERE A SUPPRESS FOR 1 s WITHIN 1 s", "CER008"),
        ("SELECT * WHERE A SUPPRESS FOR 1 s BY NONE", "CER001"),
        ("Q(x) <- A(x) SUPPRESS FOR 1 s", "CER001"),
    ],
)
def test_refused(text: str, code: str) -> None:
    with pytest.raises(QueryError) as raised:
        cer.compile(text)
    assert [one.code for one in raised.value.diagnostics] == [code]


def test_it_needs_the_column_of_times() -> None:
    text = "SELECT * WHERE Admission SUPPRESS FOR 1 {}"
    with pytest.raises(QueryError, match="CER044"):
        cer.compile(text.format("h")).count(admissions())
    with pytest.raises(QueryError, match="CER042"):
        cer.compile(text.format("")).count(admissions(), order_by="ts")
    with pytest.raises(QueryError, match="CER045"):
        cer.compile(text.format("h")).count(of_types("A", [1]), order_by="ts")
    with pytest.raises(QueryError, match="CER066"):
        cer.compile("SELECT * WHERE A SUPPRESS FOR $w").count(
            of_types("A", [1]), order_by="ts", params={"w": "soon"}
        )


def test_its_words_are_still_names() -> None:
    table = of_types("AB", [1, 2]).append_column("for", pa.array([3, 4]))
    text = "SELECT suppress[for] WHERE A AS suppress FILTER suppress.for > 2 SUPPRESS FOR 1"
    assert ends(text, table) == [0]


# -------------------------------------------------------------------------------------- the kernel


@pytest.mark.draws("seed", 6)
def test_the_kernel_is_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, lanes = 60, 4
    kind = (np.int64, np.uint64, np.float64)[seed % 3]
    time = np.sort(rng.integers(0, 50, count)).astype(kind)
    if seed % 2:
        time = rng.permutation(time)
    lane = rng.integers(0, lanes, count).astype(np.int32)
    event = np.sort(rng.choice(count, 40, replace=False))
    order = rng.permutation(40) if seed % 4 == 3 else np.empty(0, np.int64)
    for by_lane in (False, True):
        room = lanes if by_lane else 1

        def quiet(by_lane: bool = by_lane, room: int = room) -> contract.QuietTimes:
            most = kind(np.inf if kind is np.float64 else np.iinfo(kind).max)
            last, there = np.zeros(room, kind), np.zeros(room, np.uint8)
            return contract.QuietTimes(time, kind(6), most, by_lane, last, there)

        which, own, other = np.empty(40, np.int64), quiet(), quiet()
        count = cpu.suppress(event, order, lane, own, which)
        wanted = [
            h
            for h in (order.tolist() if len(order) else range(40))
            if contract.is_reported(other, event[h], lane[event[h]])
        ]
        assert which[:count].tolist() == wanted
        assert own.last.tolist() == other.last.tolist()
        assert 0 < count < 40


# ---------------------------------------------------------------------------------- random queries


@pytest.mark.draws("seed", 3)
@pytest.mark.parametrize("kind", sorted(fuzz.KINDS))
def test_random_queries(kind: str, seed: int) -> None:
    rng = Random(f"suppressed {kind} {seed}")
    answered, refused = 0, list[Exception | None]()
    for turn in range(60):
        if turn >= 10 and answered > 1:
            break
        query = suppressed(rng, fuzz.query_of(rng, kind), 0.3)
        events = stream(rng, rng.randrange(4, 10 if kind == "whole" else 14))
        if rng.random() < 0.3:
            events = with_keys(rng, events)
        engine = "general" if kind == "general" else "auto"
        refused.append(None)
        try:
            with fuzz.sizes(turn % 2 == 0), patch.dict(fuzz.OPTIONS, engine=engine):
                answered += bool((check if turn % 3 else check_quickly)(query, events, rng))
        except (LimitError, QueryError) as error:
            refused[-1] = error
    assert answered
    assert sum(one is not None for one in refused) < len(refused) // 2


def by_itself(rng: Random, rows: int) -> pa.Table:
    """Keys each of which is in the order of time on its own, and the stream is not."""
    clock = {key: rng.randrange(60) for key in range(5)}
    columns = []
    for _ in range(rows):
        key = rng.randrange(5)
        clock[key] += rng.choice([0, 1, 2, 6])
        columns.append((rng.choice("AABC"), key, clock[key]))
    return pa.table(dict(zip(("type", "k", "ts"), map(list, zip(*columns, strict=True)), strict=True)))


def by_hand(rows: list[tuple[int, int, int]], length: int, alone: bool) -> list[int]:
    """The positions of some ends (position, key, time) that are reported."""
    last: dict[int, int] = {}
    kept = []
    for position, key, time in rows:
        own = key if alone else 0
        if own not in last or time > last[own] + length:
            last[own] = time
            kept.append(position)
    return kept


@pytest.mark.draws("seed", 4)
@pytest.mark.parametrize("by", ["PARTITION", "ANY"])
def test_partitions_of_which_each_has_times_of_its_own(seed: int, by: str) -> None:
    rng = Random(f"times of their own {seed} {by}")
    table = by_itself(rng, 80)
    for base in (
        "SELECT * WHERE A PARTITION BY k",
        "SELECT * WHERE A ; B PARTITION BY k WITHIN 9 [ts]",
        "SELECT * WHERE A ; B PARTITION BY k",
        "SELECT * WHERE A AS a ; B AS b FILTER b.ts > a.ts PARTITION BY k WITHIN 5 EVENTS",
        "SELECT * WHERE A NOT FOLLOWED BY [<= 4] B PARTITION BY k",
        "SELECT * WHERE A ;[<= 3] B PARTITION BY k",
        "SELECT LAST * WHERE A+ ; B PARTITION BY k WITHIN 9 [ts]",
    ):
        rows = [
            (position, table["k"][position].as_py(), table["ts"][position].as_py())
            for position in cer.compile(base).hits(table, order_by="ts")["position"].to_pylist()
        ]
        length = rng.choice((0, 3, 8, 20))
        wanted = by_hand(rows, length, by == "PARTITION")
        text = f"{base} SUPPRESS FOR {length} BY {by}"
        with fuzz.sizes(seed % 2 == 0):
            assert ends(text, table) == wanted
            query = cer.compile(text)
            running, given = query.stream(order_by="ts"), []
            for part in pieces(table, sorted(rng.randrange(81) for _ in range(rng.choice((1, 5, 40))))):
                given += [ce.end for ce in running.push(part)]
                running = stored(running, partial(query.stream, order_by="ts"), rng)
            given += [ce.end for ce in running.close() or ()]
        assert sorted(set(given)) == wanted


def test_a_stream_forgets_keys_that_suppress_nothing_any_more() -> None:
    query = cer.compile("SELECT * WHERE A PARTITION BY k WITHIN 5 [ts] SUPPRESS FOR 50")
    few = "cer_gpu.engine.read.eviction.REMEMBERED", "cer_gpu.engine.machines.stream_state.LEAST"
    with patch(few[0], 64), patch(few[1], 64):
        for keywords in ({"ordered": True}, {}):
            stream, most = query.stream(order_by="ts", **keywords), 0
            for turn in range(40):
                rows = range(100 * turn, 100 * turn + 100)
                keys = [f"key {row // 2}" for row in rows]
                table = pa.table({"type": ["A"] * 100, "k": keys, "ts": pa.array(rows, pa.int64())})
                assert [ce.end for ce in stream.push(table)] == [row for row in rows if row % 2 == 0]
                most = max(most, stream._run.intake.lane_count)
            # Without the promise another key may still come with an earlier time.
            assert (most < 400) == bool(keywords)


def test_the_reference_and_the_engine_with_unions_of_clauses() -> None:
    rng = Random("unions")
    for text in (
        "SELECT * WHERE A ; B PARTITION BY id WITHIN 4 EVENTS CONSUME BY PARTITION SUPPRESS FOR 1 s BY ANY",
        "SELECT * WHERE A AS a ; B AS b PARTITION BY id WITHIN 2 s CONSUME BY ANY SUPPRESS FOR 1 s",
        "SELECT NEXT * WHERE A+ AS a ; B AS b CONSUME BY ANY SUPPRESS FOR 2 s LIMIT 1",
        "SELECT * WHERE LAST(A ; B) ; C CONSUME BY ANY SUPPRESS FOR 2 s",
        "SELECT * WHERE A AS a ; B AS b FILTER a.id = b.id CONSUME BY PARTITION SUPPRESS FOR 2 s",
        "SELECT * WHERE (A ; B) UNLESS C PARTITION BY id CONSUME BY PARTITION SUPPRESS FOR 2 s",
    ):
        query = select(text)
        assert isinstance(query, tree.SelectQuery)
        answers = 0
        for _ in range(12):
            events = stream(rng, 14)
            answers += check(query, events, rng)
            assert found(cer.compile(text).run(stream_to_table(events), order_by="ts")) == expected(
                query, events
            )
        assert answers


def test_a_backtest_counts_what_is_left() -> None:
    table = admissions()
    texts = {
        str(days): f"SELECT * WHERE Admission PARTITION BY patient SUPPRESS FOR {days} d"
        for days in range(1, 40)
    }
    told = cer.backtest(texts, table, order_by="ts")
    found = dict(zip(*(told.to_arrow()[name].to_pylist() for name in ("query", "matches")), strict=True))
    assert found == {name: cer.compile(text).count(table, order_by="ts") for name, text in texts.items()}

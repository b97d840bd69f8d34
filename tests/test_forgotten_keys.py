"""Keys of PARTITION BY that nothing to come can need are forgotten, and that is never seen in an answer."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine import memory
from cer_gpu.engine.machines import stream_state
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.engine.machines.open_runs import FollowedEvents
from cer_gpu.engine.read import eviction, lookahead, partitions
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.run import bound_query, chunks, event_run, tails

SEQUENCE = "SELECT a, b WHERE A AS a ; B AS b PARTITION BY k WITHIN {}"
FEW = 1 << 16
"""Bytes that may be kept in these tests before it is looked what is still needed."""


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "KEPT", FEW)
    monkeypatch.setattr(memory, "free_memory", lambda: 0)
    monkeypatch.setattr(eviction, "REMEMBERED", 64)
    monkeypatch.setattr(chunks, "LEAST_PURGED", 64)


@pytest.fixture(name="left")
def _left(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many keys are left, each time that some are forgotten."""
    found: list[int] = []
    forget = partitions.Partitions.forget

    def noted(of: partitions.Partitions, used: np.ndarray) -> np.ndarray:
        found.append(len(used))
        return forget(of, used)

    monkeypatch.setattr(partitions.Partitions, "forget", noted)
    return found


def new_keys(number: int, kinds: str = "AB", size: int = 100) -> pa.Table:
    """A batch of keys that were never there: of each an A, or whatever `kinds` says, one a millisecond."""
    first = number * size
    keys = [f"key {first + at // len(kinds)}" for at in range(size)]
    return pa.table(
        {"type": list(kinds * size)[:size], "k": keys, "ts": pa.array(range(first, first + size), pa.int64())}
    )


def push_all(stream: Any, kinds: str, batches: int) -> None:
    for number in range(batches):
        stream.push(new_keys(number, kinds))


@pytest.mark.crossed
@pytest.mark.parametrize("window", ["5 [ts]", "5 EVENTS"])
@pytest.mark.parametrize("strategy", ["", "NEXT"])
@pytest.mark.parametrize("kinds", ["AB", "NN", "NA"])
def test_a_stream_of_ever_new_keys_stays_small(
    window: str, strategy: str, kinds: str, left: list[int]
) -> None:
    if kinds != "NN" and window == "5 EVENTS":
        pytest.skip("every A waits for a further B of its key, at any time")
    query = cer.compile(SEQUENCE.format(window).replace("SELECT", f"SELECT {strategy}"))
    with query.stream(order_by="ts") as stream:
        for number in range(150):
            found = [(ce.start, ce.end) for ce in stream.push(new_keys(number, kinds))]
            first = 100 * number
            assert found == [(first + at, first + at + 1) for at in range(0, 100, 2) if kinds == "AB"]
            assert stream._run.intake.nbytes < 2 * FEW
    assert left


def test_joined_partitions_are_forgotten_too(left: list[int]) -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k PARTITION BY k WITHIN 5 [ts]")
    with query.stream(order_by="ts") as stream:
        assert sum(len(list(stream.push(new_keys(number)))) for number in range(60)) == 3000
        assert stream._run.intake.nbytes < 2 * FEW
    assert left


@pytest.mark.parametrize("given", ["table", "reader", "sorted"])
def test_a_run_over_ever_new_keys_forgets_them(
    given: str, left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bound_query, "BATCH", 100)
    monkeypatch.setattr(chunks, "CHUNK", 100)
    monkeypatch.setattr(lookahead, "BLOCK", 128)
    whole = pa.concat_tables([new_keys(number, "AB") for number in range(150)])
    events = whole.to_reader() if given == "reader" else whole
    assert cer.compile(SEQUENCE.format("5 [ts]")).count(events, order_by="ts", sort=given == "sorted") == 7500
    assert left
    assert max(left) < 2000


def test_a_row_may_be_as_late_as_it_likes() -> None:
    """By the time of other partitions, of which there were more than are kept in memory."""
    with cer.compile(SEQUENCE.format("5 [ts]")).stream(order_by="ts") as stream:
        push_all(stream, "NA", 60)
        assert len(stream._run.intake.away) > 1000
        late = pa.table({"type": ["B"], "k": ["key 0"], "ts": pa.array([3], pa.int64())})
        assert [(ce.start, ce.end) for ce in stream.push(late)] == [(1, 6000)]


@pytest.mark.parametrize("strategy", ["", "LAST"])
def test_of_a_stream_that_is_promised_to_be_in_order_what_time_has_passed_is_forgotten(strategy: str) -> None:
    query = cer.compile(SEQUENCE.format("5 [ts]").replace("SELECT", f"SELECT {strategy}"))
    stream = query.stream(order_by="ts", ordered=True)
    for number in range(60):
        assert len(list(stream.push(new_keys(number)))) == 50
        assert stream._run.intake.nbytes < 2 * FEW
    assert not len(stream._run.intake.away)
    with pytest.raises(cer.DataError, match=r"row 6000 .*out of order by `ts`.*ordered=True"):
        stream.push(pa.table({"type": ["B"], "k": ["key 0"], "ts": pa.array([3], pa.int64())}))
    assert len(list(stream.push(new_keys(60)))) == 50


@pytest.mark.parametrize("given", ["table", "reader"])
def test_a_run_over_what_is_promised_to_be_in_order_is_held_to_it(given: str) -> None:
    query = cer.compile(SEQUENCE.format("5 [ts]"))
    table = pa.concat_tables([new_keys(0), new_keys(1)])

    def count(events: pa.Table) -> int:
        return query.count(events if given == "table" else events.to_reader(), order_by="ts", ordered=True)

    assert count(table) == 100
    with pytest.raises(cer.DataError, match=r"row 100 .*out of order by `ts`.*ordered=True"):
        count(pa.concat_tables([new_keys(1), new_keys(0)]))
    with pytest.raises(ValueError, match="ordered=True needs"):
        query.count(table, ordered=True)


def test_what_has_come_late_before_is_waited_for() -> None:
    """Key after key, each from time 0 on: no order over partitions is ever presumed, whatever is kept."""
    query = cer.compile(SEQUENCE.format("5 [ts]"))
    with query.stream(order_by="ts") as stream:
        for number in range(60):
            batch = new_keys(number, "NA")
            stream.push(batch.set_column(2, "ts", pa.array(range(100), pa.int64())))
        keys = [f"key {100 * number + 99 // 2}" for number in range(60)]
        last = pa.table({"type": ["B"] * 60, "k": keys, "ts": pa.array([99] * 60, pa.int64())})
        assert len(list(stream.push(last))) == 60


def test_too_much_that_is_still_needed_is_an_error_where_memory_is_said() -> None:
    query = cer.compile(SEQUENCE.format("1000000 [ts]"))
    many = pa.concat_tables([new_keys(number, "NA") for number in range(60)])
    one = pa.table({"type": ["A"] * 20_000, "k": ["one"] * 20_000, "ts": range(20_000)})
    assert query.count(many, order_by="ts", memory=100_000) == 0  # what is not at hand is on disk
    with pytest.raises(cer.LimitError, match=r"events may still be part.*memory=100,000 is allowed"):
        query.count(one, order_by="ts", memory=100_000)
    stream = query.stream(order_by="ts", memory=100_000)

    stream.push(one)
    with pytest.raises(cer.LimitError, match=r"events may still be part.*memory=100,000 is allowed"):
        stream.push(one.slice(19_999))


def test_answers_may_be_listed_after_their_keys_are_forgotten(left: list[int]) -> None:
    for strategy in ("", "NEXT"):
        query = cer.compile(SEQUENCE.format("5 [ts]").replace("SELECT", f"SELECT {strategy}"))
        with query.stream(order_by="ts") as stream:
            pushed = [stream.push(new_keys(number)) for number in range(60)]
            assert left
            keys = [ce.partition for each in pushed for ce in each]
        assert keys == [(f"key {100 * number + at}",) for number in range(60) for at in range(50)]
        left.clear()


# ------------------------------------------------------------------- the same answer with and without


QUERIES = [
    SEQUENCE.format("12 [ts]"),
    SEQUENCE.format("3 EVENTS"),
    SEQUENCE.format("12 [ts] CONSUME BY PARTITION"),
    SEQUENCE.format("12 [ts] CONSUME BY ANY"),
    SEQUENCE.format("2 EVENTS CONSUME BY PARTITION"),
    SEQUENCE.format("12 [v]"),
    SEQUENCE.format("12 [ts]").replace("SELECT", "SELECT LAST"),
    "SELECT * WHERE (A AS a : B AS b) PARTITION BY k WITHIN 12 [ts]",
    "SELECT * WHERE LAST(A AS a ; B AS b) ; A AS c PARTITION BY k WITHIN 20 [ts]",
    "SELECT * WHERE STRICT(A AS a ; B AS b) ; N PARTITION BY k WITHIN 4 EVENTS CONSUME BY PARTITION",
    "SELECT * WHERE A AS a ; B AS b FILTER a.v = b.v PARTITION BY k WITHIN 12 [ts]",
    "SELECT * WHERE A AS a : B AS b FILTER a.v = b.v PARTITION BY k, w WITHIN 3 EVENTS CONSUME BY PARTITION",
    "SELECT * WHERE A AS a ; B AS b FILTER a.v = b.v AND a.k = b.k WITHIN 6 [ts]",
    "SELECT * WHERE A AS a NOT FOLLOWED BY [<= 6] B PARTITION BY k WITHIN 12 [ts]",
    "SELECT a, b WHERE (A AS a FOLLOWED BY [1, 4 ] B) ; B AS b PARTITION BY k WITHIN 12 [ts] CONSUME BY ANY",
    "SELECT a[v], b WHERE (A AS a FOLLOWED BY [<= 2 EVENTS] (B FOLLOWED BY [<= 9] A)) ; B AS b "
    "PARTITION BY k WITHIN 12 [ts]",
    "SELECT * WHERE A ; (B PRECEDED BY [<= 9] (A ; N)) PARTITION BY k WITHIN 12 [ts]",
    "SELECT * WHERE A NOT PRECEDED BY [2, 9] (B ; A) PARTITION BY k WITHIN 12 [ts]",
    "SELECT * WHERE B FOLLOWED BY LAST(A ; B) PARTITION BY k WITHIN 12 [ts]",
]


def keyed(rng: Random, in_order: bool, rows: int) -> pa.Table:
    """Keys that come and go; in order as a whole, or each by itself."""
    time, columns = 0, []
    clock: dict[int, int] = {}
    for row in range(rows):
        time += rng.choice([0, 1, 1, 6])
        key = row // 8 + rng.randrange(4)
        own = time if in_order else max(clock.get(key, 0), time - rng.randrange(30))
        clock[key] = own
        columns.append((rng.choice("AABBN"), f"k{key}", rng.randrange(2), rng.randrange(3), own))
    return pa.table(dict(zip(("type", "k", "w", "v", "ts"), map(list, zip(*columns)), strict=True)))


def cuts(table: pa.Table, rng: Random) -> Iterator[pa.Table]:
    at = 0
    while at < len(table):
        size = rng.randrange(1, 9)
        yield table.slice(at, size)
        at += size


@pytest.mark.crossed
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("text", QUERIES)
def test_forgetting_changes_no_answer(
    text: str, in_order: bool, left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "v AND" in text and not in_order:
        pytest.skip("without PARTITION BY the whole stream is in order")
    rng = Random(f"{text} {in_order}")
    query = cer.compile(text)
    table = keyed(rng, in_order, 300)
    wanted = query.run(table, order_by="ts").to_arrow().to_pylist()
    counted, hits = query.count(table, order_by="ts"), query.hits(table, order_by="ts").to_pylist()
    assert len(wanted) == counted
    assert counted > 5
    monkeypatch.setattr(bound_query, "BATCH", 7)
    monkeypatch.setattr(chunks, "CHUNK", 5)
    monkeypatch.setattr(chunks, "LEAST_PURGED", 2)
    monkeypatch.setattr(eviction, "REMEMBERED", 4)
    monkeypatch.setattr(lookahead, "BLOCK", 4)
    assert query.run(table, order_by="ts").to_arrow().to_pylist() == wanted
    assert query.count(table, order_by="ts") == counted
    assert query.hits(table, order_by="ts").to_pylist() == hits
    kept = ("[v]", "LAST(", "STRICT(", "FOLLOWED")  # all keys are needed, or wait
    assert left or "PARTITION BY" not in text or any(words in text for words in kept)
    with query.stream(order_by="ts") as stream:
        pushed = [*(stream.push(part) for part in cuts(table, rng)), stream.close()]
    found = [row for each in pushed if each is not None for row in each.to_arrow().to_pylist()]
    if "FOLLOWED" in text:  # each partition's in its order
        found.sort(key=lambda row: (row["end"], row["start"]))
    assert found == wanted


def test_what_is_read_and_not_yet_followed_keeps_its_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are forgotten between the pieces of a batch, of which all have been read by then."""
    query = cer.compile("SELECT a, b WHERE A AS a ;[<= 3] B AS b PARTITION BY k")
    table, options = new_keys(0, "AB", 800), {"order_by": "ts", "engine": "general"}
    wanted = query.run(table, **options).to_arrow()
    assert len(wanted) == 400
    monkeypatch.setattr(event_run, "AT_ONCE", 30)
    monkeypatch.setattr(bound_query, "BATCH", 100)
    monkeypatch.setattr(stream_state, "LOOK", 20)
    monkeypatch.setattr(eviction, "REMEMBERED", 4)
    push = ConfigurationRuns.push

    def noted(runs: ConfigurationRuns, following: FollowedEvents) -> object:
        assert following.events.lanes[following.first : following.stop].max() < len(following.bounds.low)
        return push(runs, following)

    monkeypatch.setattr(ConfigurationRuns, "push", noted)
    for given in (table, table.to_reader(max_chunksize=170)):
        assert query.run(given, **options).to_arrow().equals(wanted)


# ------------------------------------------------------------------------------------- tails of lanes


def relevant(rows: list[tuple[int, int]]) -> EventArrays:
    """Events of (lane, position), with a payload that says the position too."""
    lanes, positions = (np.array(column, np.int64) for column in zip(*rows))
    none = np.empty(0, np.int64)
    payload = pa.table({"text": pa.array([f"t{position}" for position in positions]).dictionary_encode()})
    return EventArrays(
        np.ones(len(rows), np.uint8), positions, lanes.astype(np.int32), positions * 2, none.astype(np.uint8),
        none, np.empty((0, 0), np.int32), payload,
    )  # fmt: skip


def shown(events: EventArrays | None) -> list[tuple[int, int, int, str]]:
    if events is None:
        return []
    assert events.payload is not None
    texts = events.payload.column("text").to_pylist()
    return list(zip(events.lanes.tolist(), events.positions.tolist(), events.keys.tolist(), texts))


@pytest.mark.draws("seed", 4)
@pytest.mark.parametrize("most", [0.75, 2.0])
def test_tails_are_taken_as_they_were_put(seed: int, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other lanes may be taken with those that are asked for; with `most` above 1 none is."""
    monkeypatch.setattr(tails, "MOST", most)
    rng = Random(f"tails {seed}")
    kept, model = tails.Tails(), {}
    position = 0
    for _ in range(120):
        chosen = sorted(rng.sample(range(25), rng.choice([1, 2, 12])))
        taken = kept.take(np.array(chosen))
        others = sorted({lane for lane, *_ in shown(taken)}.difference(chosen))
        assert most == 0.75 or not others
        chosen = sorted([*chosen, *others])
        expected = [event for lane in chosen for event in model.pop(lane, [])]
        assert sorted(shown(taken)) == [(lane, at, 2 * at, f"t{at}") for lane, at in expected]
        rows = []
        for lane in chosen:
            model[lane] = [(lane, position + at) for at in range(rng.randrange(4))]
            position += len(model[lane])
            rows += model[lane]
        if rows:
            kept.put(relevant(rows))
        held = {lane: events for lane, events in model.items() if events}
        assert len(kept) == sum(map(len, held.values()))
        assert kept.lanes.tolist() == sorted(held)
        assert kept.size_of(np.arange(40)) == len(kept)
        assert len(kept._levels) <= 8
        if rng.random() < 0.05:
            kept.reset(kept.everything())
    assert sorted(shown(kept.everything())) == sorted(
        (lane, at, 2 * at, f"t{at}") for events in model.values() for lane, at in events
    )


def test_what_is_copied_grows_with_what_is_taken_not_with_what_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied = [0]
    take = EventArrays.take

    def noted(events: EventArrays, order: np.ndarray) -> Any:
        copied[0] += len(order)
        return take(events, order)

    kept = tails.Tails()
    kept.put(relevant([(lane, lane) for lane in range(20_000)]))
    monkeypatch.setattr(EventArrays, "take", noted)
    for position in range(200):
        kept.take(np.array([position]))
        kept.put(relevant([(position, 20_000 + position)]))
    assert copied[0] < 5000

"""Micro-batches that are cut, late, killed and repeated give what one run over all rows gives."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pytest
import random_whole
from cer_gpu.spark import blob_keeper
from cer_gpu.spark.first_states import handed_state
from engine_oracle import OPTIONS, cuts, pieces
from generate import ORDER, stream, stream_to_table
from micro_batches import END, MicroBatches
from random_rules import random_rule, random_rule_events
from random_steps import keyed_query
from test_late import drawn

import cer_gpu as cer
from cer_gpu.errors import DataError, LimitError
from cer_gpu.language.printer import to_text

SEEDS, QUERIES = 24, 8

UNTIL = "2100-01-01"

MICROSECONDS = pa.timestamp("us")

SPANS = (0, 250, 1000, 5000)


def numbered(events: Sequence[Any]) -> pa.Table:
    """Events in the order of time, with their numbers as ids."""
    table = stream_to_table(events)
    return table.append_column("row", pa.array(range(len(table))))


def case(rng: Random, number: int) -> tuple[str, list[Any]]:
    """The text of a query, and events."""
    kind = number % 4
    if kind == 0:
        rule = random_rule(rng)
        return to_text(rule), random_rule_events(rng, rule, rng.randrange(4, 13))
    events = stream(rng, rng.randrange(4, 16))
    if kind == 1:
        return to_text(random_whole.query(rng)), events
    if kind == 2:
        return to_text(keyed_query(rng)), events
    query, events = drawn(rng, rng.randrange(6))
    return to_text(query), events


@pytest.fixture(autouse=True)
def _snapshots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of three seeds make a snapshot wherever they may."""
    many = hasattr(request.node, "callspec") and request.node.callspec.params.get("seed", 0) % 3
    monkeypatch.setattr(blob_keeper, "LEAST", 0 if many else 1 << 16)


def comparable(table: pa.Table) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def agree(live: MicroBatches, found: list[str], wanted: pa.Table) -> bool:
    """Whether a stream that time has passed found what `run` does.

    What time alone cannot decide, such as FOLLOWED BY without `[...]`, holds back also later matches.
    """
    aheads = [outlook.reach for outlook in live.live.task.query.query.outlooks if outlook.waits]
    if all(reach.kind == "time" and reach.high is not None for reach in aheads):
        return found == comparable(wanted)
    return not Counter(found) - Counter(comparable(wanted))


@pytest.mark.draws("seed", SEEDS)
def test_micro_batches_that_are_killed_give_what_one_run_gives(seed: int) -> None:
    answered = kills = 0
    for number in range(QUERIES):
        rng = Random(f"live {seed} {number}")
        text, events = case(rng, number)
        late = rng.choice(SPANS)
        table = numbered(sorted(events, key=lambda one: one.attributes[ORDER].count))
        times = table[ORDER].cast(pa.int64()).to_pylist()
        order = sorted(range(len(table)), key=lambda row: times[row] + rng.randrange(late + 1))
        come = table.take(pa.array(order, pa.int64()))
        options = {**OPTIONS, "order_by": (ORDER, "row"), "event_id": "row"}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event |about 10")
            try:
                query = cer.compile(text)
                wanted = query.run(table, **options, until=UNTIL).to_arrow()
                live = MicroBatches(
                    query,
                    come.schema,
                    rng,
                    **options,
                    late=f"{late} ms",
                    on_late="error",
                    buckets=None if rng.random() < 0.5 else 1,
                )
                for part in pieces(come, cuts(rng, len(come))):
                    tasks = pieces(part, cuts(rng, len(part)))
                    live.push(tasks)
                    if rng.random() < 0.3:
                        live.idle()
                live.idle(END)
            except LimitError:
                continue
        assert agree(live, comparable(live.table()), wanted), text
        answered += bool(len(wanted))
        kills += live.kills
    assert answered
    assert kills


@pytest.mark.draws("seed", SEEDS)
def test_a_history_is_gone_on_with(seed: int) -> None:
    answered = later = 0
    begins: set[int] = set()
    for number in range(QUERIES):
        rng = Random(f"live history {seed} {number}")
        text, events = case(rng, number)
        table = numbered(sorted(events, key=lambda one: one.attributes[ORDER].count))
        table = table.set_column(table.schema.get_field_index(ORDER), ORDER, table[ORDER].cast(MICROSECONDS))
        times = table[ORDER].cast(pa.int64()).to_pylist()
        cut = rng.choice([at for at in range(1, len(table)) if times[at] > times[at - 1]] or [len(table)])
        history, new = table.slice(0, cut), table.slice(cut)
        until = history[ORDER][-1].as_py()
        ordered: Any = {**OPTIONS, "order_by": (ORDER, "row")}
        options = {**ordered, "event_id": "row"}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event |about 10")
            try:
                query = cer.compile(text)
                wanted = query.run(table, **options, until=UNTIL).to_arrow()
                known = query.run(history, **options, until=until).to_arrow()
                initial: Any = history
                if rng.random() < 0.3:
                    states = cer.backtest(
                        {"q": query}, history, **ordered, until=until, state={"event_id": "row"}
                    )
                    initial = states.states["q"]
                buckets = 1 if isinstance(initial, bytes) or rng.random() < 0.3 else None
                made = MicroBatches(query, table.schema, rng, initial, **options, buckets=buckets)
                if isinstance(initial, bytes):
                    begins.add(handed_state(made.live, initial)[1] - times[cut - 1])
                for part in pieces(new, cuts(rng, len(new))):
                    made.push([part])
                if rng.random() < 0.5:
                    made.push([history])  # it comes again, and is too late
                made.idle(END)
            except LimitError:
                continue
        both = comparable(known) + comparable(made.table().select(known.column_names))
        assert agree(made, sorted(both), wanted), text
        answered += bool(len(known))
        later += bool(len(wanted) - len(known))
    assert answered + later
    assert begins <= {1}  # a microsecond after the history


@pytest.mark.draws("seed", SEEDS)
def test_another_stream_goes_on_after_one_that_has_stopped(seed: int) -> None:
    """With other buckets, from the watermark of the last micro-batch, in front of which rows come again."""
    answered = later = 0
    for number in range(QUERIES):
        rng = Random(f"live after {seed} {number}")
        text, events = case(rng, number)
        late = rng.choice(SPANS)
        table = numbered(sorted(events, key=lambda one: one.attributes[ORDER].count))
        times = table[ORDER].cast(pa.int64()).to_pylist()
        order = sorted(range(len(table)), key=lambda row: times[row] + rng.randrange(late + 1))
        come = table.take(pa.array(order, pa.int64()))
        options = {**OPTIONS, "order_by": (ORDER, "row"), "event_id": "row", "late": f"{late} ms"}
        cut, again = sorted(rng.randrange(1, len(come)) for _ in range(2))[::-1]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event |about 10")
            try:
                query = cer.compile(text)
                wanted = query.run(table, **{**options, "late": None}, until=UNTIL).to_arrow()
                made = MicroBatches(query, come.schema, rng, **options, buckets=None)
                for part in pieces(come.slice(0, cut), cuts(rng, cut)):
                    made.push([part])
                made.idle()
                stopped = made.watermark
                if stopped <= 0:
                    continue
                waiting = [row for row in range(cut) if times[order[row]] >= stopped]
                first = min([again, *waiting])
                buckets = rng.choice([1, 3]) if made.live.buckets > 1 else 1
                other = MicroBatches(
                    query, come.schema, rng, come.slice(0, cut), stopped, **options, buckets=buckets
                )
                for part in pieces(come.slice(first), cuts(rng, len(come) - first)):
                    other.push([part])
                other.idle(END)
            except LimitError:
                continue
        both = comparable(pa.concat_tables([made.table(), other.table()]))
        assert agree(made, both, wanted), text
        answered += bool(len(made.table()))
        later += bool(len(other.table()))
    assert answered + later


# ------------------------------------------------------------------------------------------ some by hand

STEPS = "SELECT * FROM S WHERE A AS a ; B AS b PARTITION BY [k] WITHIN 10 SECONDS"


def rows_of(*events: tuple[str, int, Any]) -> pa.Table:
    """Events of a type, at a second, of a key."""
    types, times, keys = zip(*events, strict=True)
    stamps = pa.array([1_700_000_000_000_000 + 1_000_000 * time for time in times], pa.timestamp("us", "UTC"))
    return pa.table({"type": types, "ts": stamps, "k": pa.array(keys, pa.string()), "id": times})


def live(text: str, *batches: pa.Table, end: bool = True, **keywords: Any) -> MicroBatches:
    """A query after some micro-batches."""
    initial = keywords.pop("initial", None)
    options = {"order_by": "ts", "event_id": "id"} | keywords
    made = MicroBatches(cer.compile(text), batches[0].schema, None, initial, **options)
    for batch in batches:
        made.push([batch])
    if end:
        made.idle(END)
    return made


def test_hits_and_counts() -> None:
    batch = rows_of(("A", 1, "x"), ("A", 2, "x"), ("B", 3, "x"), ("A", 4, "y"), ("B", 5, "x"), ("B", 30, "y"))
    hits = live(STEPS, batch, what="hits").table()
    assert hits.column_names == ["position", "k", "time", "latest_start"]
    assert [hits["position"].to_pylist(), hits["latest_start"].to_pylist()] == [[3, 5], [2, 2]]
    counts = live(STEPS, batch, what="counts").table()
    assert [counts["position"].to_pylist(), counts["count"].to_pylist()] == [[3, 5], ["2", "2"]]


def test_ids_are_times_by_default() -> None:
    batch = rows_of(("A", 1, "x"), ("B", 3, "x"))
    found = live(STEPS, batch, event_id=None).table()
    assert found["start"].to_pylist() == [batch["ts"][0].as_py()]
    assert found["end"].to_pylist() == found["end_time"].to_pylist() == [batch["ts"][1].as_py()]


def test_a_match_comes_when_the_watermark_has_passed_it() -> None:
    made = live(STEPS, rows_of(("A", 1, "x"), ("B", 3, "x")), end=False, late="2 s")
    assert len(made.table()) == 0
    made.push([rows_of(("B", 2, "x"))])  # the watermark is at 1 s: it is not too late
    made.push([rows_of(("C", 9, "x"))])
    made.idle()
    assert made.table()["end"].to_pylist() == [2, 3]


def test_rows_that_are_too_late_are_counted_or_an_error() -> None:
    batches = rows_of(("A", 20, "x")), rows_of(("A", 1, "x"), ("B", 21, "x")), rows_of(("C", 40, "x"))
    made = live(STEPS, *batches)
    assert made.table()["start"].to_pylist() == [20]
    assert sum(one["late"] for one in made.metrics if one) == 1
    with pytest.raises(DataError, match="is before 2023-11-14 22:13:40Z, to which the stream was advanced"):
        live(STEPS, *batches, on_late="error")


def test_keys_whose_windows_are_over_are_forgotten() -> None:
    batches = [rows_of(*(("A", 20 * day, f"{day} {key}") for key in range(2000))) for day in range(60)]
    made = live(STEPS, *batches, buckets=1, end=False)
    assert max(one["open"] for one in made.metrics) <= 8000
    assert max(one["bytes"] for one in made.metrics) < 6_000_000  # with all keys it would be 16 million


def test_a_process_that_has_missed_a_snapshot_begins_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob_keeper, "LEAST", 10_000)
    batches = [rows_of(("A", 2 * turn, "x"), ("B", 2 * turn + 1, "x")) for turn in range(60)]
    made = live(STEPS, batches[0], buckets=1, end=False)
    processes: list[dict[Any, Any]] = [{}, {}]
    rng = Random(1)
    for batch in batches[1:]:
        monkeypatch.setattr(blob_keeper, "_kept", processes[rng.random() < 0.8])
        made.push([batch])
    made.idle(END)
    wanted = cer.compile(STEPS).run(pa.concat_tables(batches), order_by="ts", event_id="id").to_arrow()
    assert len(wanted) > 200
    assert comparable(made.table()) == comparable(wanted)


@pytest.mark.parametrize(
    ("changed", "keywords", "reason"),
    [
        (STEPS.replace("10", "20"), {}, "the state was stored with another query"),
        (STEPS, {"buckets": 8}, "the state was stored with another buckets: 16, and here it is 8"),
        (STEPS, {"buckets": 32}, "no state for some keys, so it is of a stream with fewer buckets"),
        (STEPS, {"event_id": "ts"}, "the state was stored with another event_id"),
        (STEPS, {"what": "hits"}, "the state was stored with another product"),
    ],
)
def test_a_changed_query_is_refused(changed: str, keywords: dict[str, Any], reason: str) -> None:
    batch = rows_of(("A", 1, "x"), ("A", 1, "y"))
    made = live(STEPS, batch, end=False)
    made.restart(cer.compile(changed), batch.schema, **{"order_by": "ts", "event_id": "id"} | keywords)
    with pytest.raises(DataError, match=reason):
        made.push([rows_of(("B", 2, "z"))])  # a bucket that had no rows before


def test_a_state_that_is_handed_over_fits_one_bucket() -> None:
    batch = rows_of(("A", 1, "x"), ("B", 2, "x"))
    found = cer.backtest({"q": STEPS}, batch, order_by="ts", state={"event_id": "id"})
    state = found.states["q"]
    made = live(STEPS, rows_of(("B", 5, "x"), ("B", 2, "x")), initial=state, buckets=1)
    assert made.table()["end"].to_pylist() == [5]
    with pytest.raises(DataError, match="the keys are dealt to 16 buckets: pass the history itself"):
        live(STEPS, batch, initial=state)
    with pytest.raises(DataError, match="initial was stored with another event_id"):
        live(STEPS, batch, initial=state, buckets=1, event_id="ts")
    with pytest.raises(DataError, match="a snapshot is of a stream that reads its rows in another way"):
        live(STEPS, batch, initial=cer.compile(STEPS).stream(order_by="ts").snapshot(), buckets=1)


def test_times_of_other_kinds() -> None:
    given = rows_of(("A", 1, "x"), ("B", 3, "x"), ("A", 50, "x"), ("C", 90, "x"))
    stamps = given["ts"].cast(pa.int64())
    for unit, kind in (("s", pa.int64()), ("ms", pa.float64()), ("us", pa.int64()), ("ns", pa.int64())):
        scale = {"s": 1e-6, "ms": 1e-3, "us": 1, "ns": 1e3}[unit]
        times = pa.array([int(value * scale) for value in stamps.to_pylist()]).cast(kind)
        batch = given.set_column(1, "ts", times)
        made = live(STEPS, batch.slice(0, 1), batch.slice(1), end=False, order_unit=unit, late="20 s")
        made.idle()
        assert made.table()["end"].to_pylist() == [3]
    plain = given.set_column(1, "ts", given["ts"].cast(pa.timestamp("us")))
    assert live(STEPS, plain).table()["end"].to_pylist() == [3]
    days = given.set_column(1, "ts", pa.array([1, 3, 5, 9], pa.int32()).cast(pa.date32()))
    text = STEPS.replace("10 SECONDS", "5 DAYS")
    made = live(text, days.slice(0, 2), days.slice(2), end=False)
    made.idle()
    assert made.table()["end"].to_pylist() == [3]


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"late": "soon"}, "late='soon' is not a span of time"),
        ({"late": 5}, "late=5: write the span with a unit"),
        ({"what": "count"}, "what must be one of run, hits, counts"),
        ({"on_late": "wait"}, "on_late must be one of error, drop"),
        ({"buckets": 0}, "buckets must be a whole number, 1 or more"),
        ({"limit": 3}, "no keyword 'limit' for a stream"),
        ({"until": "2024"}, "no keyword 'until' for a stream"),
        ({"order_by": None}, "name the time column with order_by"),
    ],
)
def test_wrong_keywords(keywords: dict[str, Any], error: str) -> None:
    with pytest.raises((ValueError, TypeError, DataError), match=error):
        live(STEPS, rows_of(("A", 1, "x")), **keywords)


def test_what_cannot_be_a_stream() -> None:
    batch = rows_of(("A", 1, "x"))
    with pytest.raises(DataError, match="a rule with aggregates cannot be a stream"):
        live("Q(x; COUNT(*)) <- A(k = x), B(k = x) WITHIN 5 SECONDS", batch)
    with pytest.raises(DataError, match="`id` is int64: a stream needs a column of time"):
        live("SELECT * WHERE A ; B WITHIN 5 EVENTS", batch, order_by="id")
    with pytest.raises(ValueError, match="buckets=4: the query has no key"):
        live("SELECT * WHERE A ; B WITHIN 5 SECONDS", batch, buckets=4)

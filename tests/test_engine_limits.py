"""Counts past 64 bits, queries with more answers than anybody can hold, budgets."""

from __future__ import annotations

import itertools
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from counting import calls

import cer_gpu as cer
from cer_gpu.digits import decimal_text, digits
from cer_gpu.engine.machines import chunk
from cer_gpu.engine.read.classify import Classifier
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run import chunks as runner

KLEENE = "SELECT a WHERE A+ AS a ; B"


def letters(text: str) -> pa.Table:
    return pa.table({"type": list(text)})


def test_a_count_past_64_bits_is_exact() -> None:
    query = cer.compile(KLEENE)
    for n in (62, 63, 64, 65, 200):
        assert query.count(letters("A" * n + "B")) == 2**n - 1
    windowed = cer.compile(KLEENE + " WITHIN 100 EVENTS")
    assert windowed.count(letters("A" * 300 + "B")) == 2**100 - 1


def test_counts_past_64_bits_are_decimals() -> None:
    found = cer.compile(KLEENE).counts(letters("A" * 70 + "BC" + "B"))
    assert found["count"].to_pylist() == [Decimal(2**70 - 1)] * 2
    with pytest.raises(cer.LimitError, match=r"has 91 digits.*`count`"):
        cer.compile(KLEENE).counts(letters("A" * 300 + "B"))


def test_counts_of_more_digits_than_python_prints() -> None:
    """Python converts no number of more than 4,300 digits to text."""
    events, query = letters("A" * 20_000 + "B"), cer.compile(KLEENE)
    assert query.count(events) == query.count(events, limit=10**5000 * 10**5000) == 2**20_000 - 1
    with pytest.raises(cer.LimitError, match=r"has 6,021 digits.*`count`"):
        query.counts(events)
    with pytest.warns(UserWarning, match="stopped at limit=a number of 5,001 digits"):
        assert query.count(events, limit=10**5000) == 10**5000
    with pytest.raises(
        ValueError, match=r"limit must be a whole number, 0 or more, not a number of 5,001 digits"
    ):
        query.count(events, limit=-(10**5000))


NUMBERS = [0, 1, 9, 10, 99, 10**15, 2**64, 10**76 - 1, 10**76, 7**9000, -(3**9999)]


@pytest.mark.parametrize("number", NUMBERS, ids=range(len(NUMBERS)))
def test_digits(number: int) -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        text = str(number)
    finally:
        sys.set_int_max_str_digits(limit)
    assert decimal_text(number) == text
    assert digits(number) == len(text.removeprefix("-"))


def test_a_query_with_10_to_the_15_answers() -> None:
    events = letters("A" * 50 + "B")
    query = cer.compile(KLEENE)
    assert query.count(events) == 2**50 - 1
    first = list(itertools.islice(query.run(events), 4))
    assert [ce.marks["a"] for ce in first] == [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]
    stopped = query.run(events, limit=1000)
    assert len(stopped.to_arrow()) == 1000
    assert stopped.limited
    assert query.hits(events).to_pylist() == [{"position": 50, "latest_start": 49}]
    with pytest.warns(UserWarning, match="stopped at limit=7"):
        assert query.count(events, limit=7) == 7


def test_iterations_over_one_result_are_apart() -> None:
    found = cer.compile("SELECT * WHERE A").run(letters("A" * (1 << 18)), limit=200_000)
    reader = found.batches()
    first = reader.read_next_batch()
    assert len(found.to_arrow()) == 200_000
    assert found.limited
    rest = reader.read_all()
    assert len(first) + len(rest) == 200_000
    assert first["start"].to_pylist() + rest["start"].to_pylist() == list(range(200_000))


def test_limited_is_of_the_iteration_that_ended_last() -> None:
    found = cer.compile("SELECT * WHERE A").run(letters("AAA"), limit=2)
    assert not found.limited
    assert len(found.to_arrow()) == 2
    next(iter(found))
    assert found.limited


def test_lazy_results_are_in_order_and_batched() -> None:
    reader = cer.compile(KLEENE).run(letters("A" * 40 + "B")).batches()
    batch = reader.read_next_batch()
    assert 0 < len(batch) <= 1 << 17
    marks = batch.column("a").to_pylist()
    assert marks == sorted(marks)
    assert len({tuple(mark) for mark in marks}) == len(marks)


def test_a_count_without_practical_meaning_is_refused() -> None:
    events = pa.table({"type": pa.array(["A"] * 140_000).dictionary_encode()})
    with pytest.raises(cer.LimitError, match="WITHIN"):
        cer.compile("SELECT A WHERE A+").count(events)


def test_an_automaton_over_budget_fails_fast_and_names_the_operator() -> None:
    pattern = "PROJECT((A OR B) :+ : A" + " : (A OR B)" * 30 + " | B)"
    with pytest.raises(cer.LimitError, match="is too large: at most") as error:
        cer.compile(f"SELECT * WHERE {pattern}")
    assert "part of the pattern that is too large" in str(error.value)


def test_a_memory_budget_for_what_is_open() -> None:
    events = pa.table({"type": pa.array(["A"] * 300_000)})  # a dictionary would tell that there is no B
    query = cer.compile("SELECT * WHERE A ; B")
    assert query.count(events, memory=1_000_000) == 0
    with pytest.raises(cer.LimitError, match=r"memory=1,000,000 is allowed"):
        list(query.run(events, memory=1_000_000))
    narrow = cer.compile("SELECT * WHERE A ; B WITHIN 100 EVENTS")
    assert list(narrow.run(events, memory=1_000_000)) == []


def test_devices_and_keywords() -> None:
    events = letters("AB")
    query = cer.compile("SELECT * WHERE A ; B")
    assert query.run(events).device == "cpu"
    assert "CPU" in query.run(events).device_reason
    with pytest.raises(cer.DeviceError, match="give 'auto', 'cpu', 'cuda', or a device by its number"):
        query.count(events, device="gpu")
    with pytest.raises(ValueError, match="limit"):
        query.count(events, limit=-1)
    with pytest.raises(ValueError, match="order_unit"):
        query.count(events, order_unit="hours")
    with pytest.raises(ValueError, match="order_by"):
        query.count(events, sort=True)


def test_types_that_do_not_occur_are_pointed_out() -> None:
    with pytest.warns(UserWarning, match="no event has the type `Sel`: did you mean `Sell`"):
        assert cer.compile("SELECT * WHERE Sel").count(pa.table({"type": ["Buy", "Sell"]})) == 0


def test_exact_counts_of_many_lanes_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk, "SEGMENT", 16)
    monkeypatch.setattr(runner, "CARRIED", 500)
    keys = 40
    lengths = [2 * key + 3 for key in range(keys)]
    rounds = [key for turn in range(max(lengths)) for key in range(keys) if turn < lengths[key]]
    events = pa.table({"type": ["A"] * len(rounds), "key": rounds})
    wanted = sum(2**length - 1 for length in lengths)
    assert cer.compile("SELECT A WHERE A+ PARTITION BY key").count(events) == wanted


@pytest.mark.parametrize("answer", ["run", "count", "counts", "hits"])
def test_memory_that_runs_out_is_a_limit(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(self: Classifier, batch: pa.RecordBatch, before: int) -> object:
        return np.ones(1 << 58)

    monkeypatch.setattr(Classifier, "in_groups", greedy)
    query = cer.compile("SELECT * WHERE A")
    found = getattr(query, answer)
    with pytest.raises(cer.LimitError, match=r"ran out while running the query.*Unable to alloc.*memory="):
        list(found(letters("AB"))) if answer == "run" else found(letters("AB"))
    with pytest.raises(cer.LimitError, match=r"ran out while running a batch"):
        query.stream().push(letters("AB"))


@pytest.mark.crossed
@pytest.mark.parametrize("asked", [{"limit": 10**30}, {"memory": 100}, {"memory": 0}, {"memory": 10**30}])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE A ; B",
        "SELECT * WHERE A ; B PARTITION BY key WITHIN 9 EVENTS",
        "SELECT MAX * WHERE A ; B+ WITHIN 4 EVENTS",
        "SELECT * WHERE A AS a ; B AS b FILTER a.key = b.key WITHIN 9 [ts]",
        "SELECT * WHERE A ; B CONSUME BY ANY",
        "Q(t) <- A(t, k), B(u, k) WITHIN 9 EVENTS",
    ],
)
def test_numbers_of_any_size_may_be_asked_for(text: str, asked: dict[str, int]) -> None:
    types = "AABC" * 30
    events = pa.table({"type": list(types), "ts": range(120), "key": [n % 3 for n in range(120)]})
    query = cer.compile(text)
    for answer in ("run", "count", "counts", "hits"):
        whole = getattr(query, answer)(events)
        try:
            found = getattr(query, answer)(events, **asked)
            found = list(found) if answer == "run" else found
        except cer.LimitError:
            assert asked.get("memory", 10**30) <= 100
        else:
            assert found == (list(whole) if answer == "run" else whole)


@pytest.mark.parametrize(
    "keywords",
    [{"order_by": 3}, {"order_by": ["ts", None]}, {"type_column": 3}, {"stream_column": b"x"}],
)
def test_columns_are_named_by_text(keywords: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=rf"{next(iter(keywords))} must be the name of a column, a str, not"):
        cer.compile("SELECT * WHERE A").count(letters("A"), **keywords)


@pytest.mark.parametrize("kind", ["number", "text"])
def test_what_prev_keeps_of_partitions_counts(kind: str) -> None:
    keys = 20_000
    values = np.arange(keys) if kind == "number" else [f"a text of some length, {key}" for key in range(keys)]
    events = pa.table({"type": ["A"] * keys, "key": np.arange(keys), "v": values}).to_batches(
        max_chunksize=2000
    )
    condition = "v > PREV(v, 3)" if kind == "number" else "v LIKE 'x' AND PREV(v, 3) LIKE 'y'"
    query = cer.compile(
        f"SELECT * FROM S WHERE S AS a FILTER a[{condition}] PARTITION BY key WITHIN 5 EVENTS"
    )
    plain = cer.compile("SELECT * FROM S WHERE S AS a FILTER a[key < 0] PARTITION BY key WITHIN 5 EVENTS")
    source = pa.Table.from_batches(events)
    assert plain.count(source.to_reader(2000), memory=1_500_000) == 0
    with pytest.raises(cer.LimitError, match=r"memory=1,500,000 is allowed"):
        query.count(source.to_reader(2000), memory=1_500_000)
    assert query.count(source.to_reader(2000), memory=20_000_000) == 0


def keyed(keys: int) -> pa.Table:
    """An A of each key, then a B of each."""
    return pa.table({"type": ["A"] * keys + ["B"] * keys, "key": [*range(keys)] * 2, "ts": range(2 * keys)})


BY_KEY = "SELECT * WHERE A ; B PARTITION BY key WITHIN 1000000 [ts]"


def test_a_small_memory_reads_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch, and what is made of it event by event, takes a part of the memory that is said."""
    asked: list[int] = []
    batches = Source.batches

    def noting(self: Source, columns: Any, rows: int, lying: Any = ()) -> Any:
        asked.append(rows)
        return batches(self, columns, rows, lying)

    monkeypatch.setattr(Source, "batches", noting)
    query, events = cer.compile(BY_KEY), keyed(10)
    for memory in (10_000, 1 << 20, 20_000_000, None):
        assert query.count(events, order_by="ts", memory=memory) == 10
    least, small, usual, whole = asked
    assert least <= small < 1 << 13
    assert usual < 1 << 17
    assert whole >= 1 << 20


def test_the_work_of_a_small_memory_grows_with_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all keys fit, neither what is kept nor what is on disk is gone through for each batch."""
    copied = [0]
    take = EventArrays.take

    def noting(self: EventArrays, order: np.ndarray) -> EventArrays:
        copied[0] += len(order)
        return take(self, order)

    def work(keys: int) -> tuple[int, int]:
        query, events, found = cer.compile(BY_KEY), keyed(keys), []
        copied[0] = 0
        made = calls(lambda: found.append(query.count(events, order_by="ts", memory=1_000_000)))
        assert found == [keys]
        return made, copied[0]

    monkeypatch.setattr(EventArrays, "take", noting)
    work(100)
    for few, many in zip(work(16_000), work(64_000), strict=True):
        assert 0 < many < 6.5 * few

"""Runs by partition, whose events are not grouped: against the reference, and against runs that are."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.counts.cpu_ends import counted_in_order
from cer_gpu.kernels.hits.contract import hits_reference
from cer_gpu.kernels.hits.cpu import hits_in_order
from cer_gpu.kernels.monitor.contract import Monitor
from cer_gpu.kernels.runs.contract import accepting_runs
from cer_gpu.kernels.runs.forced_runs import is_forced
from cer_gpu.kernels.runs.programs import counts_program, hits_program
from engine_oracle import check
from generate import stream
from random_ordered import random_neighbours
from random_tables import kleene, random_case, tables_of

import cer_gpu as cer
from cer_gpu.engine.machines import ungrouped_automaton
from cer_gpu.engine.machines.automaton import AutomatonRunner
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.lane_registers import LaneRegisterRunner
from cer_gpu.engine.machines.ungrouped_automaton import UngroupedRunner
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.enumeration.forced_runs import ForcedRuns
from cer_gpu.enumeration.sequences import EdgeAnswers
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

NONE = np.zeros(0, np.int64)

RISING = "(T AS x FILTER x.price > PRIOR(x).price)"


@pytest.mark.draws("seed", 6)
def test_hits_and_counts_of_lanes_are_those_of_their_runs(seed: int) -> None:
    rng = random.Random(seed)
    total = 0
    for _ in range(40):
        case = random_case(rng)
        tables, symbols = case.tables, case.symbols
        lanes = np.array([rng.randrange(3) for _ in symbols], np.int32)
        positions = np.cumsum([rng.randrange(1, 4) for _ in symbols]).astype(np.int64)
        program, counting = hits_program(tables), counts_program(tables)
        vectors = np.zeros((3, tables.n_live), np.int64)
        registers = np.full((3, tables.n_live), -1, np.int64)
        counted: dict[int, int] = {}
        latest: dict[int, int] = {}
        count = len(symbols)
        for low, high in pairwise(sorted({0, count, rng.randrange(count + 1), rng.randrange(count + 1)})):
            part = symbols[low:high], lanes[low:high]
            found = counted_in_order(counting, *part, vectors)
            assert found is not None
            counted |= dict(zip((found[0] + low).tolist(), found[1].tolist(), strict=True))
            ends = hits_in_order(program, part[0], positions[low:high], part[1], registers)
            latest |= dict(zip((ends[0] + low).tolist(), ends[1].tolist(), strict=True))
        wanted: dict[int, int] = {}
        starts: dict[int, int] = {}
        for lane in range(3):
            own = np.flatnonzero(lanes == lane)
            for _, end, _ in accepting_runs(tables, symbols[own], 0, len(own)):
                wanted[int(own[end])] = wanted.get(int(own[end]), 0) + 1
            for end, start in hits_reference(tables, symbols[own], NONE, NONE, 0, 0, 0, len(own)):
                starts[int(own[end])] = int(positions[own[start]])
        assert counted == wanted
        assert latest == starts
        total += sum(wanted.values())
    assert total > 100


@pytest.mark.parametrize("none", [False, True])
def test_forced_runs_are_those_of_random_automata(none: bool) -> None:
    """One complex event for each end, with all events from its start, or no marks at all."""
    rng = random.Random(none)
    forced = marks = 0
    for _ in range(600):
        case = random_case(rng)
        label = np.zeros_like(case.tables.label) if none else np.maximum(case.tables.label, 1)
        tables = case.tables._replace(label=label)
        if not is_forced(tables):
            continue
        symbols = np.array([rng.randint(1, 3) for _ in range(12)], np.uint8)
        runs = sorted(accepting_runs(tables, symbols, 0, 12), key=lambda run: run[1])
        start, event = (np.array([run[at] for run in runs], np.int64) for at in (0, 1))
        assert len({*event.tolist()}) == len(runs)
        positions = 3 * np.arange(12)
        found = ForcedRuns(tables, symbols, positions, np.zeros(1, np.int64), event, positions[start])
        for block in found.blocks(np.arange(len(runs)), size=3):
            for row, hit in enumerate(block.hit.tolist()):
                own = slice(block.first[row], block.first[row + 1])
                marked = tuple(zip(block.event[own].tolist(), block.label[own].tolist(), strict=True))
                assert (block.start[row], marked) == (runs[hit][0], runs[hit][2])
                marks += len(marked)
        forced += len(runs) > 0
    assert forced > 10
    assert (marks > 30) != none


def test_what_is_forced_depends_on_the_symbols_that_a_monitor_gives() -> None:
    """Symbol 3 begins a run and goes on with another one, so that two end at once where it comes third."""
    steps = [
        (0, 2, 1, 1, False),
        (0, 3, 1, 1, False),
        (1, 3, 1, 2, False),
        (2, 3, 1, 2, True),
        (1, 1, 1, 2, False),
    ]
    tables = tables_of(4, [*steps, (2, 1, 1, 2, True)])
    assert not is_forced(tables)
    follow = np.array([[0, 1, 1, 1], [1, 1, 0, 1]], np.int32)
    symbol = np.array([[0, 2, 2, 2], [0, 1, 0, 1]], np.uint16)
    assert is_forced(tables, Monitor(follow, symbol))


@pytest.mark.crossed
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT MAX * FROM S WHERE (A AS x FILTER x.v > PRIOR(x).v) :{2,}",
        "SELECT MAX NONE FROM S WHERE (A AS x FILTER x.v > PRIOR(x).v) :{2,}",
        "SELECT * FROM S WHERE A AS x : (B OR C) AS y : A AS z",
        "SELECT STRICT x FROM S WHERE A AS x ; A AS x ; A AS x",
        "SELECT MAX * FROM S WHERE A AS x : (B AS y) :+ LIMIT 1",
        "SELECT MAX * FROM S WHERE A AS x : (B AS y) :+ WITHIN 2 SECONDS",
        "SELECT * FROM S WHERE A AS x : B AS y CONSUME BY ANY",
        "SELECT MAX * FROM S WHERE A :+ WITHIN 2 [lap]",
    ],
)
def test_forced_runs_agree_with_the_reference(
    text: str, keyed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def note(kind: Any) -> None:
        init = kind.__init__

        def noted(self: Any, *given: Any) -> None:
            made.append(self)
            init(self, *given)

        monkeypatch.setattr(kind, "__init__", noted)

    note(ForcedRuns)
    note(EdgeAnswers)
    query = parse(text)
    assert isinstance(query, t.SelectQuery)
    if keyed:
        query = replace(query, partition=(("id",),))
    rng = random.Random(text)
    types = "AAAABC" if "B" in text else "AAAAAB"
    answers = 0
    for _ in range(6):
        events = [replace(one, type=rng.choice(types)) for one in stream(rng, 24, holes=0.03)]
        answers += check(query, [replace(one, stream="S") for one in events], rng)
    assert answers > 3
    assert made or "[lap]" in text


def test_numbers_past_62_bits_leave_the_lanes_as_they_were() -> None:
    program = counts_program(kleene())
    symbols, lanes = np.ones(63, np.uint8), np.zeros(63, np.int32)
    vectors = np.zeros((1, 2), np.int64)
    assert counted_in_order(program, symbols, lanes, vectors) is None
    assert not vectors.any()
    assert counted_in_order(program, symbols[:60], lanes[:60], vectors) is not None
    assert vectors[0, 1] == 2**60 - 1


@pytest.mark.parametrize("near", [None, 0])
@pytest.mark.draws("seed", 4)
def test_neighbours_by_key_agree_with_the_reference(
    seed: int, near: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the registers of all lanes are too many, and where chunks have a few events."""
    if near is not None:
        monkeypatch.setattr(ungrouped_automaton, "NEAR", near)
        monkeypatch.setattr("cer_gpu.engine.run.bound_query.BATCH", 5)
        monkeypatch.setattr("cer_gpu.engine.run.chunks.CARRIED", 2)
    rng = random.Random(f"lanes {seed}")
    answers = 0
    for _ in range(20):
        query = random_neighbours(rng)
        key = rng.choice([(("id",),), (("s",),), (("p",),), (("id",), ("s",)), (("lap", "id"),)])
        query = replace(query, partition=key, window=None, consume=t.Consume.NONE)
        answers += check(query, stream(rng, rng.randrange(10, 19), lap_falls=rng.random() < 0.3), rng)
    assert answers > 12


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.draws("seed", 4)
def test_hits_under_a_window_are_those_of_runs_grouped_by_lane(
    seed: int, ordered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In chunks and pieces of a few events, and also where lanes become too many on the way."""
    rng = random.Random(f"windows {seed}")
    found: list[tuple[bool, int]] = []
    ends = LaneRegisterRunner.ends

    def noted(runner: LaneRegisterRunner, chunk: Chunk, bounded: bool = True) -> Ends:
        runs = ends(runner, chunk, bounded)
        found.append((chunk.in_order, len(runs)))
        return runs

    monkeypatch.setattr(LaneRegisterRunner, "ends", noted)
    for _ in range(60):
        count, keys = rng.randrange(60, 300), rng.choice((2, 3, 40))
        draw = np.random.default_rng(rng.randrange(1 << 30))
        times = np.cumsum(draw.integers(0, 3, count))
        by_key = draw.integers(0, keys, count)
        if not ordered:  # each key by itself is
            times = times[np.argsort(np.argsort(by_key % 2, kind="stable"), kind="stable")]
        table = pa.table(
            {"type": draw.choice(list("ABC"), count), "key": by_key, "ts": times, "n": np.arange(count)}
        )
        pattern = rng.choice(("A ; B ; C", "A ; B", "A {2} ; C", "A : B", "(A OR B) ; C+"))
        window = f"{rng.choice((3, 15, 60))} {rng.choice(('SECONDS', 'EVENTS'))}"
        text = f"SELECT * WHERE {pattern} PARTITION BY key WITHIN {window}"
        query = cer.compile(text)
        given = {"order_by": "ts", "order_unit": "s"}
        with monkeypatch.context() as here:
            here.setattr("cer_gpu.plan.automaton.AutomatonMachine._runs_in_order", lambda *_: False)
            wanted = query.hits(table, **given)
        near = rng.choice((64 * rng.randrange(40), 1 << 21, 1 << 21))
        monkeypatch.setattr("cer_gpu.engine.machines.lane_registers.NEAR", near)
        monkeypatch.setattr("cer_gpu.engine.run.bound_query.BATCH", rng.choice((5, 40, 1 << 22)))
        monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", rng.choice((3, 30, 200)))
        monkeypatch.setattr("cer_gpu.engine.read.intake.Intake.shows_time", rng.random() < 0.5)
        monkeypatch.setattr("cer_gpu.engine.machines.chunk.SEGMENT", rng.choice((2, 1 << 16)))
        monkeypatch.setattr("cer_gpu.engine.workers.usable_cores", lambda: rng.choice((1, 3)))
        source = table if rng.random() < 0.5 else table.to_reader(max_chunksize=rng.choice((3, 50)))
        assert query.hits(source, **given).equals(wanted), text
    assert {in_order for in_order, _ in found} == {True, False}
    assert sum(ends for in_order, ends in found if in_order) > 100


@pytest.mark.draws("seed", 3)
def test_strict_is_contiguity_where_all_events_are_marked(seed: int) -> None:
    rng = random.Random(f"strict {seed}")
    answers = regular = 0
    for _ in range(16):
        query = random_neighbours(rng)

        def loose(pattern: t.Pattern) -> t.Pattern:
            if isinstance(pattern, t.Iteration | t.Sequence):
                pattern = replace(pattern, contiguous=rng.random() < 0.3)
            if isinstance(pattern, t.Sequence):
                return replace(pattern, left=loose(pattern.left), right=loose(pattern.right))
            inner = getattr(pattern, "pattern", None)
            return pattern if inner is None else replace(pattern, pattern=loose(inner))

        pattern = loose(query.pattern)
        if rng.random() < 0.3:
            query = replace(query, pattern=t.Selector(t.Strategy.STRICT, pattern))
        else:
            query = replace(query, pattern=pattern, strategy=t.Strategy.STRICT)
        said = cer.compile(to_text(query))._plan.said
        regular += next(name for name, refusal in said if refusal is None) == "regular"
        answers += check(query, stream(rng, rng.randrange(8, 13)), rng)
    assert answers > 15
    assert regular > 6


def _ticks(keys: pa.Array, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    prices = rng.integers(0, 30, len(keys)).astype(float)
    prices[rng.random(len(keys)) < 0.02] = np.nan
    nulls = rng.random(len(keys)) < 0.02
    return pa.table({"price": pa.array(prices, mask=nulls), "key": keys, "n": np.arange(len(keys))})


KEYS = {
    "numbers": lambda some: pa.array(some, pa.int32()),
    "far apart": lambda some: pa.array(some * 10**15),
    "floats": lambda some: pa.array(np.where(some == 3, np.nan, some / 4)),
    "texts": lambda some: pa.array([f"key {one}" for one in some]),
    "dictionary": lambda some: pa.array([f"key {one}" for one in some]).dictionary_encode(),
    "truths": lambda some: pa.array(some % 2 == 0),
    "nulls": lambda some: pa.array(some, mask=some % 5 == 1),
    "times": lambda some: pa.array(some.astype("M8[s]")),
}


@pytest.mark.parametrize("kind", KEYS)
def test_rising_runs_by_keys_of_every_kind(kind: str) -> None:
    """In one piece, in batches, and pushed: the same as a run over the events of each key alone."""
    some = np.random.default_rng(8).integers(0, 9, 4000)
    ticks = _ticks(KEYS[kind](some))
    parted = cer.compile(f"SELECT * FROM T WHERE {RISING} :{{3,}} PARTITION BY key")
    alone = cer.compile(f"SELECT * FROM T WHERE {RISING} :{{3,}}")
    numbers, length = [], {}
    before: dict[str, float] = {}
    for key, price in zip(map(repr, ticks["key"].to_pylist()), ticks["price"].to_pylist(), strict=True):
        if key == "None":
            numbers.append(0)
            continue
        last = before.get(key)
        rises = price is not None and last is not None and price > last
        length[key] = length.get(key, 0) + 1 if rises else 1
        numbers.append(max(length[key] - 2, 0))
        before[key] = price
    places = [place for place, number in enumerate(numbers) if number]
    assert sum(numbers) > 100
    assert parted.count(ticks) == sum(numbers)
    for rows in (7, 1000):
        reader = ticks.to_reader(max_chunksize=rows)
        assert parted.counts(reader)["position"].to_pylist() == places
    counts = parted.counts(ticks)
    assert counts["count"].to_pylist() == [number for number in numbers if number]
    assert parted.hits(ticks)["position"].to_pylist() == places
    for asked in ("hits", "counts", "count"):
        strict = cer.compile(f"SELECT STRICT * FROM T WHERE {RISING} {{3,}} PARTITION BY key")
        told, wanted = getattr(strict, asked)(ticks), getattr(parted, asked)(ticks)
        assert repr(told) == repr(wanted)  # in which one NaN is like another
    most = cer.compile(f"SELECT MAX * FROM T WHERE {RISING} :{{3,}} PARTITION BY key")
    assert most.counts(ticks)["position"].to_pylist() == places
    assert most.count(ticks) == len(places)
    listed = most.run(ticks).to_arrow()
    assert listed["end"].to_pylist() == places
    assert [len(one) - 2 for one in listed["x"].to_pylist()] == counts["count"].to_pylist()
    key = ticks["key"][places[0]]
    if kind == "numbers":
        own = ticks.filter(pa.compute.equal(ticks["key"], key))
        assert alone.count(own) == sum(
            number for number, one in zip(numbers, ticks["key"], strict=True) if one == key
        )


def test_lanes_of_memory_that_is_filled_again_are_found_again() -> None:
    """What PREV has found of a batch is used once, for the same rows."""
    encoder = LaneEncoder((("key",),), pa.schema({"key": pa.int64()}))
    keys = np.array([5, 6, 5], np.int64)
    batch = pa.record_batch({"key": pa.array(keys)})
    assert encoder.noted(batch).tolist() == [0, 1, 0]
    assert encoder.encode(batch, np.array([1, 2])).tolist() == [1, 0]
    keys[:] = 6, 7, 5
    assert encoder.encode(batch).tolist() == [1, 2, 0]
    assert encoder.noted(batch).tolist() == [1, 2, 0]
    assert encoder.encode(batch.slice(1)).tolist() == [2, 0]
    keys[:] = 8, 8, 8
    assert encoder.noted(batch).tolist() == [3, 3, 3]


def test_small_automata_by_partition_are_not_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large ones are; of small ones the events of all partitions are run as they come."""
    runs: list[type] = []
    for kind in (AutomatonRunner, UngroupedRunner):
        monkeypatch.setattr(kind, "counts", _noting(kind, runs))
    ticks = _ticks(pa.array(np.arange(600) % 7))
    for least, kind in ((4, UngroupedRunner), (40, AutomatonRunner)):
        runs.clear()
        cer.compile(f"SELECT * FROM T WHERE {RISING} :{{{least},}} PARTITION BY key").count(ticks)
        assert runs[0] is kind


def _noting(kind: type, runs: list[type]) -> object:
    counts = kind.counts  # type: ignore[attr-defined]

    def noted(self: AutomatonRunner, chunk: object) -> object:
        runs.append(kind)
        return counts(self, chunk)

    return noted

"""Counts of automata whose states repeat themselves, and of large numbers: as by matrices of integers."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.counts import cpu, cpu_shifts
from cer_gpu.kernels.counts.contract import counts_reference
from cer_gpu.kernels.counts.cpu_shifts import ShiftedCounter, combined, primes_below
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.runs.programs import backward_program, forward_program

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.machines import numbers
from cer_gpu.plan.automaton import AutomatonMachine

RANGES = {
    "A {30,} ; B": (29, 1),
    "C ; A {30,} ; B": (30, 1),
    "A {20,30} ; B ; C": (20, 1),
    "C ? ; A {20,} ; B ? ; C": (20, 1),
    "A :{20,} : B": (19, 1),
    "(A ; B) {20,}": (37, 2),
    "(A ; B : C) {20,} ; A": (57, 3),
    "A {20,} ; B {20,}": (19, 1),
    "(A AS a) {20,} ; A AS b ; B": (19, 1),
    "(A OR B) {20,} ; C": (19, 1),
    "A {20,} OR B {30,}": (36, 2),
    "A ; B ; C": (0, 1),
    "(A {20,} ; B) +": (0, 1),
}
"""The states of a pattern that repeat themselves, and after how many."""


def programs_of(pattern: str):
    machine = Query(f"SELECT * WHERE {pattern}")._plan.compiled.machine
    assert isinstance(machine, AutomatonMachine)
    tables = machine.tables
    return tables, forward_program(tables), backward_program(tables)


def by_integers(programs, symbols, hits: SegmentHits) -> list[int]:
    """The counts by the matrices of all states, in Python integers."""
    tables, forward, backward = programs
    n, out = tables.n_live, np.zeros(len(hits.event), object)
    for low, high in pairwise(hits.first):
        shapes = (forward.n_registers, n), (backward.n_registers, n), (high - low, n)
        room = cpu.WindowCountRoom(*(np.zeros(shape, object) for shape in shapes))
        cpu._counts_segment.plainly(*programs, symbols, 0, hits, low, high, room, out)
    return out.tolist()


def hits_of(rng: np.random.Generator, count: int, widest: int) -> SegmentHits:
    """Some hits with windows, in four segments, one of which has none."""
    event = np.flatnonzero(rng.random(count) < 0.2)
    lowest = np.maximum.accumulate(np.maximum(event - rng.integers(widest // 2, widest, len(event)), 0))
    cuts = [0, len(event) // 9, len(event) // 9, len(event) // 7, len(event)]
    for cut in cuts[1:-1]:
        lowest[cut:] = np.maximum(lowest[cut:], event[cut - 1] + 1)
    return SegmentHits(np.array(cuts), event, lowest)


@pytest.mark.parametrize("pattern", RANGES)
def test_counts_are_those_of_all_states(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = programs_of(pattern)
    counter = ShiftedCounter(*programs)
    assert (counter.found.stop - counter.found.low, counter.found.period) == RANGES[pattern]
    rng = np.random.default_rng(len(pattern))
    largest = 0
    relevant = programs[0].n_symbols - 1
    lasts = relevant if counter.found.period == 1 else 1
    for often, last in product(range(1, relevant + 1), range(1, lasts + 1)):
        count, room = 130, 1 if often == last else cpu_shifts.ROOM
        monkeypatch.setattr(cpu_shifts, "ROOM", room)
        if counter.found.period > 1:
            kept = (np.arange(count) + often) % relevant + 1
        else:
            kept = np.where(np.arange(count) < 80, often, last)
        drawn = rng.integers(0, programs[0].n_symbols, count)
        symbols = np.where(rng.random(count) < (0.98 if ":" in pattern else 0.75), kept, drawn).astype(
            np.uint8
        )
        hits = hits_of(rng, count, 120)
        wanted = by_integers(programs, symbols, hits)
        assert counter.counts(symbols, hits, exact=True).tolist() == wanted
        roughly = counter.counts(symbols, hits, exact=False).tolist()
        assert roughly == [2**62 if number >= 2**52 else number for number in wanted]
        largest = max(largest, *wanted)
    assert largest > 10 or ":" in pattern


def test_counts_are_those_by_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.kernels.counts.shifts.SHIFTED", 3)
    for pattern in ("A {4,} ; B", "C ; A {4,6} ; B", "A {5,} ; C ? ; B"):
        programs = programs_of(pattern)
        counter = ShiftedCounter(*programs)
        assert counter.repeats
        rng = np.random.default_rng(3)
        for _ in range(20):
            symbols = rng.integers(0, programs[0].n_symbols, 11).astype(np.uint8)
            event = np.arange(11)
            lowest = np.maximum(event - 9, 0)
            found = counter.counts(symbols, SegmentHits(np.array([0, 11]), event, lowest), exact=True)
            assert found.tolist() == counts_reference(programs[0], symbols, 0, 11, event, lowest)


def test_remainders_tell_numbers() -> None:
    primes = primes_below(1 << 50, 5)
    assert all(pow(3, prime - 1, prime) == 1 for prime in primes)
    assert len(set(primes)) == 5
    assert primes_below(60, 4) == [59, 53, 47, 43]
    rng = np.random.default_rng(5)
    wanted = [int.from_bytes(rng.bytes(29), "big") for _ in range(70)]
    remainders = np.array([[number % prime for prime in primes] for number in wanted])
    assert combined(primes, remainders).tolist() == wanted


@pytest.mark.parametrize("more", ["WITHIN 240 EVENTS", "WITHIN 200 [n]", "PARTITION BY k WITHIN 500 [n]"])
def test_queries_count_what_their_states_would(more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    count = 700
    events = pa.table(
        {"type": rng.choice(["A", "B", "C"], count), "n": np.arange(count), "k": rng.integers(0, 3, count)}
    )
    for pattern in ("A {20,} ; B", "C ; A {20,30} ; B ; C", "C ? ; A {20,} ; B"):
        query = cer.compile(f"SELECT * WHERE {pattern} {more}")
        found = query.counts(events)
        with monkeypatch.context() as without:
            without.setattr(numbers, "MANY_STATES", 1 << 30)
            assert query.counts(events) == found
        assert [int(one) > 0 for one in found["count"].to_pylist()] == [True] * len(found)
        assert found["position"] == query.hits(events)["position"]
        assert max(map(int, found["count"].to_pylist())) > 2**55


def test_the_error_names_the_repetition(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    events = pa.table({"type": rng.choice(["A", "B"], 3000), "n": rng.integers(0, 9, 3000)})
    monkeypatch.setattr(numbers, "COUNT_STEPS", 10_000)
    monkeypatch.setattr("cer_gpu.engine.machines.attribute_windows.COUNT_STEPS", 10_000)
    for window in ("WITHIN 900 EVENTS", "WITHIN 2 [n]"):
        query = cer.compile(f"SELECT * WHERE B {{2}} ; A {{200,}} ; B {window}")
        with pytest.raises(
            cer.LimitError, match=r"`A\{200,\}` is counted over up to [\d,]+ events at a time"
        ):
            query.count(events)
        assert len(query.hits(events))
    query = cer.compile("SELECT * WHERE B {2} ; A {200,} ; B")
    monkeypatch.setattr(numbers, "COUNT_BITS", 500)
    with pytest.raises(cer.LimitError, match=r"partial matches of `A\{200,\}` are open"):
        query.count(events)

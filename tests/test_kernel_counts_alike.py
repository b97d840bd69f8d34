"""Counts of automata that read one kind of events: the same as by the matrices of their states."""

from __future__ import annotations

from math import comb

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.counts import cpu_single_symbol
from cer_gpu.kernels.counts.contract import counts_reference
from cer_gpu.kernels.counts.cpu import counts
from cer_gpu.kernels.runs.programs import backward_program, forward_program

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.machines import numbers
from cer_gpu.plan.automaton import AutomatonMachine

CHOSEN = {
    "A": (0, 0),
    "A+": (0, None),
    "A ; A": (1, 1),
    "A {3,}": (2, None),
    "A {2,5}": (1, 4),
    "A {30,}": (29, None),
    "A {30,60}": (29, 59),
    "A AS a ; A+ AS b": (1, None),
    "A+ AS a ; A+ AS b": None,
    "(A ; A)+": None,
    "A+ AS a ; A AS b ; A+ AS c": None,
}


def tables_of(pattern: str):
    found = Query(f"SELECT * WHERE {pattern}")._plan.compiled.machine
    assert isinstance(found, AutomatonMachine)
    return found.tables


@pytest.mark.parametrize("pattern", CHOSEN)
def test_the_length_of_a_window_says_all(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_of(pattern)
    subsets = cpu_single_symbol.subsets_of(tables)
    assert subsets == CHOSEN[pattern]
    forward, backward = forward_program(tables), backward_program(tables)
    rng = np.random.default_rng(len(pattern))
    for strip in (cpu_single_symbol.STRIP, 7):
        monkeypatch.setattr(cpu_single_symbol, "STRIP", strip)
        for n in (1, 9, 130):
            event = np.arange(n)
            lowest = np.maximum.accumulate(np.maximum(event - rng.integers(0, n, n), 0))
            ones = np.ones(n, np.uint8)
            wanted = counts(tables, forward, backward, ones, np.array([0, n]), event, lowest)
            length = rng.permutation(event - lowest + 1)
            by_length = dict(zip((event - lowest + 1).tolist(), wanted.tolist()))
            found = cpu_single_symbol.alike_counts(tables, length)
            assert found.tolist() == [by_length[one] for one in length.tolist()]
            capped = cpu_single_symbol.alike_counts(tables, length, exact=False)
            assert capped.dtype == np.int64
            for number, exactly in zip(capped.tolist(), found.tolist()):
                assert number == exactly or (number == 2**62 and max(found) > 2**62)
            bits = sum(int(one).bit_length() - 1 for one in set(found.tolist()))
            assert cpu_single_symbol.alike_bits(tables, length) >= bits
            if subsets is not None:
                least, most = subsets
                for one, number in zip(length.tolist(), found.tolist()):
                    assert number == sum(
                        comb(one - 1, k) for k in range(least, (one if most is None else most) + 1)
                    )
        few = np.arange(8)
        lowest = np.maximum(few - 4, 0)
        found = cpu_single_symbol.alike_counts(tables, few - lowest + 1)
        ones = np.ones(8, np.uint8)
        assert found.tolist() == counts_reference(tables, ones, 0, 8, few.tolist(), lowest.tolist())


def test_other_automata_are_not_counted_by_length() -> None:
    for pattern in ("A ; B", "A {3,} ; B", "A OR B"):
        assert cpu_single_symbol.subsets_of(tables_of(pattern)) is None or pattern == "A OR B"


def test_counts_in_windows_of_time_and_in_partitions() -> None:
    rng = np.random.default_rng(7)
    n = 4000
    ts, key, kind = np.cumsum(rng.integers(0, 3, n)), rng.integers(0, 3, n), rng.random(n) < 0.7
    events = pa.table({"type": np.where(kind, "A", "B"), "ts": pa.array(ts, pa.timestamp("s")), "key": key})
    query = cer.compile("SELECT * WHERE A {40,90} PARTITION BY key WITHIN 9 MINUTES")
    found = query.counts(events, order_by="ts")
    wanted = {}
    for k in range(3):
        places = np.flatnonzero(kind & (key == k))
        for turn, place in enumerate(places):
            before = turn - int(np.searchsorted(ts[places], ts[place] - 540))
            number = sum(comb(before, chosen) for chosen in range(39, 90))
            if number:
                wanted[int(place)] = number
    assert dict(zip(found["position"].to_pylist(), map(int, found["count"].to_pylist()))) == wanted
    assert max(wanted.values()) > 2**62


def test_numbers_without_practical_meaning_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "COUNTS_BITS", 1 << 20)
    events = pa.table({"type": ["A"] * 5000})
    query = cer.compile("SELECT * WHERE A {200,} WITHIN 4000 EVENTS")
    with pytest.raises(cer.LimitError, match=r"up to 4,001 events lie in a window; give a shorter WITHIN"):
        query.count(events)
    assert len(query.hits(events)) == 4801
    with pytest.warns(UserWarning, match=r"about 10\^274 matches"):
        assert cer.compile("SELECT * WHERE A {200,} WITHIN 900 EVENTS").count(events) > 2**800

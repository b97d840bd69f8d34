"""Hits and counts against the runs of random automata, listed by definition."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.counts import cpu as counting
from cer_gpu.kernels.counts.contract import counts_reference
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.hits import cpu as hitting
from cer_gpu.kernels.hits.contract import hits_reference
from cer_gpu.kernels.jit import SELDOM
from cer_gpu.kernels.runs.contract import accepting_runs
from cer_gpu.kernels.runs.programs import (
    backward_program,
    counts_program,
    forward_program,
    hits_program,
    longest_run,
)
from cer_gpu.kernels.windows import cpu as windows
from random_tables import Case, kleene, random_case, tables_of

import cer_gpu as cer
from cer_gpu.enumeration.structure import Structure

NONE = np.zeros(0, dtype=np.int64)


def listed_hits(case: Case) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """The hits of a case by definition, and where each segment's begin."""
    first, found = [0], []
    for low, middle, high in zip(case.begin, case.report, case.stop):
        found += hits_reference(case.tables, case.symbols, NONE, case.keys, case.size, low, middle, high)
        first.append(len(found))
    return np.array(first), found


@pytest.mark.draws("seed", 8)
def test_hits_and_counts_are_those_of_the_runs(seed: int) -> None:
    rng = random.Random(seed)
    total = 0
    for _ in range(60):
        case = random_case(rng)
        tables = case.tables
        first, expected = listed_hits(case)
        registers = np.full((case.begin.size, tables.n_live), -1, dtype=np.int64)
        bounds = case.begin, case.report, case.stop
        event, latest = hitting.hits(
            hits_program(tables), case.symbols, NONE, case.keys, case.size, *bounds, registers
        )
        assert list(zip(event.tolist(), latest.tolist())) == expected
        lowest = windows.lowest_starts(case.keys, case.begin, first, event, case.size)
        assert lowest.tolist() == case.lowest[event].tolist()
        programs = forward_program(tables), backward_program(tables)
        counts = counting.counts(tables, *programs, case.symbols, first, event, lowest)
        reference: list[int] = []
        for g, (low, high) in enumerate(zip(case.begin, case.stop)):
            part = slice(first[g], first[g + 1])
            reference += counts_reference(tables, case.symbols, low, high, event[part], lowest[part])
        assert counts.tolist() == reference
        assert counts.dtype == np.int64
        assert (counts > 0).all()
        total += int(counts.sum())
    assert total > 100


@pytest.mark.draws("seed", 4)
def test_carried_registers_and_vectors_do_not_show_where_batches_are_cut(seed: int) -> None:
    rng = random.Random(100 + seed)
    for _ in range(60):
        case = random_case(rng, longest=8)
        tables, n = case.tables, case.symbols.size
        none = np.zeros(1, dtype=np.int64)
        starts = 10 * np.arange(n)
        program, counting_program = hits_program(tables), counts_program(tables)
        runs = accepting_runs(tables, case.symbols, 0, n)
        registers = np.full((1, tables.n_live), -1, dtype=np.int64)
        vectors = np.zeros((1, tables.n_live), dtype=np.int64)
        cuts = sorted({0, n, *(rng.randint(0, n) for _ in range(3))})
        found, counted = [], []
        for low, high in pairwise(cuts):
            bounds = none + low, none + low, none + high
            event, latest = hitting.hits(program, case.symbols, starts, NONE, 0, *bounds, registers)
            found += list(zip(event.tolist(), latest.tolist()))
            ended, number, vectors = counted_ends(
                counting_program, case.symbols, none + low, none + high, vectors
            )
            counted += list(zip(ended.tolist(), number.tolist()))
        ends = sorted({end for _, end, _ in runs})
        assert found == [(end, 10 * max(i for i, j, _ in runs if j == end)) for end in ends]
        assert counted == [(end, sum(1 for _, j, _ in runs if j == end)) for end in ends]


def test_hits_of_segments_of_every_length() -> None:
    """`A ; B` (symbols 1 and 2): the latest start at each B is the last A before it in the segment."""
    tables = tables_of(
        3, [(0, 1, 1, 1, False), (1, 1, 0, 1, False), (1, 2, 0, 1, False), (1, 2, 2, -1, True)]
    )
    lengths = np.array([0, 1, 63, 64, SELDOM, SELDOM + 1, 3, 2 * SELDOM + 7])
    stop = np.cumsum(lengths)
    begin = stop - lengths
    report = begin + lengths // 3
    symbols = np.random.default_rng(7).integers(1, 3, stop[-1]).astype(np.uint8)
    expected = []
    for low, middle, high in zip(begin.tolist(), report.tolist(), stop.tolist()):
        last = -1
        for event in range(low, high):
            if symbols[event] == 1:
                last = event
            elif last >= 0 and event >= middle:
                expected.append((event, last))
    registers = np.full((lengths.size, tables.n_live), -1, dtype=np.int64)
    found = hitting.hits(hits_program(tables), symbols, NONE, NONE, 0, begin, report, stop, registers)
    assert list(zip(*(column.tolist() for column in found))) == expected


def test_counts_past_two_to_the_63_are_exact() -> None:
    """`A+ ; B` has 2**n - 1 complex events at a B after n A events."""
    tables = kleene()
    n = 130
    symbols = np.array([1] * n + [2, 2], dtype=np.uint8)
    event = np.array([n, n + 1])
    programs = forward_program(tables), backward_program(tables)
    first = np.array([0, 2])
    for window in (10, 61, 62, 63, 64, 100, n):
        lowest = np.maximum(event - window, 0)
        counts = counting.counts(tables, *programs, symbols, first, event, lowest)
        assert counts.tolist() == [2 ** (n - int(low)) - 1 for low in lowest]
        assert (counts.dtype == np.int64) == (window < 62)


def test_ends_and_counts_past_two_to_the_63_are_found_in_one_pass() -> None:
    """Beside segments with small numbers, before and after one with large ones."""
    tables = kleene()
    program = counts_program(tables)
    symbols = np.array([1, 2, *[1] * 130, 2, 2, 1, 1, 2], dtype=np.uint8)
    begin, stop = np.array([0, 2, 134]), np.array([2, 134, 137])
    vectors = np.zeros((3, tables.n_live), dtype=np.int64)
    event, number, after = counted_ends(program, symbols, begin, stop, vectors)
    assert event.tolist() == [1, 132, 133, 136]
    assert number.tolist() == [1, 2**130 - 1, 2**130 - 1, 3]
    again, more, _ = counted_ends(program, symbols, begin, stop, after)
    assert again.tolist() == event.tolist()
    assert more.tolist() == [3, 2**260 - 1, 2**260 - 1, 15]


def test_one_segment_past_the_limit_leaves_the_others_as_they_are() -> None:
    tables = kleene()
    symbols = np.array([1, 1, 2, *[1] * 70, 2, 1, 2], dtype=np.uint8)
    begin, stop = np.array([0, 3, 74]), np.array([3, 74, 76])
    event, first = np.array([2, 73, 75]), np.arange(4)
    programs = forward_program(tables), backward_program(tables)
    expected = [3, 2**70 - 1, 1]
    arguments = tables, *programs, symbols, first, event, begin
    assert counting.counts(*arguments).tolist() == expected
    assert counting.counts(*arguments, exact=False).tolist() == [3, 2**62, 1]
    vectors = np.zeros((3, tables.n_live), dtype=np.int64)
    ended, counts, after = counted_ends(counts_program(tables), symbols, begin, stop, vectors)
    assert ended.tolist() == event.tolist()
    assert counts.tolist() == expected
    assert after.tolist() == [[1, 3], [1, 2**70 - 1], [1, 1]]
    assert not vectors.any()


def test_programs_read_old_values_in_cycles_and_repeated_loops() -> None:
    """Two states that swap, and one that keeps each run in four ways."""
    steps = [(0, 1, 0, 1, False), (0, 1, 1, 2, False), (1, 1, 0, 2, True), (2, 1, 0, 1, False)]
    steps += [(0, 2, 0, 3, False), *((3, 2, label, 3, label == 1) for label in range(4))]
    steps += [(1, 2, 2, 3, False), (3, 1, 1, 2, True), (3, 1, 2, 3, True)]
    tables = tables_of(3, steps)
    rng = random.Random(5)
    for _ in range(20):
        symbols = np.array([rng.randint(1, 2) for _ in range(7)], dtype=np.uint8)
        ends = sorted({end for _, end, _ in accepting_runs(tables, symbols, 0, 7)})
        event, first = np.array(ends, dtype=np.int64), np.array([0, len(ends)])
        lowest = np.zeros(event.size, dtype=np.int64)
        counts = counting.counts(
            tables, forward_program(tables), backward_program(tables), symbols, first, event, lowest
        )
        assert counts.tolist() == counts_reference(tables, symbols, 0, 7, event, lowest)


def test_no_transition_and_no_event() -> None:
    tables = tables_of(2, [])
    none = np.zeros(0, dtype=np.int64)
    registers = np.full((0, tables.n_live), -1, dtype=np.int64)
    symbols = none.astype(np.uint8)
    event, _ = hitting.hits(hits_program(tables), symbols, none, none, 0, none, none, none, registers)
    assert event.size == 0
    programs = forward_program(tables), backward_program(tables)
    assert counting.counts(tables, *programs, symbols, np.zeros(1, np.int64), none, none).size == 0


def test_no_run_is_longer_than_longest_run_says() -> None:
    rng, bounded = random.Random(3), 0
    for _ in range(300):
        states, forward = rng.randint(1, 6), rng.random() < 0.7
        moves = {
            (source, symbol): rng.randint(source + 1 if forward else 1, states)
            for source in range(states)
            for symbol in range(1, 4)
            if rng.random() < 0.5
        }
        sources = {source for source, _ in moves}
        tables = tables_of(
            4,
            [
                (source, symbol, 1, to if to in sources else -1, to not in sources)
                for (source, symbol), to in moves.items()
            ],
        )
        # The states that paths of so many transitions lead to: with n states, one of n has a circle.
        reached, length = sources, 1
        while reached and length <= states:
            reached = {to for (source, _), to in moves.items() if source in reached} & sources
            length += bool(reached)
        assert longest_run(tables) == (None if reached else length)
        bounded += not reached
    assert 50 < bounded < 290


@pytest.mark.parametrize(
    ("pattern", "window", "nodes"),
    [
        ("A : B : C", "", 3),
        ("A : (B OR C) : C", "", 3),
        ("(A : B) OR (C : C : C)", "WITHIN 1000 EVENTS", 3),
        ("A : B : C", "PARTITION BY k", 3),
    ],
)
def test_of_runs_of_few_events_only_the_events_of_hits_become_nodes(
    monkeypatch: pytest.MonkeyPatch, pattern: str, window: str, nodes: int
) -> None:
    """A contiguous pattern of three events: without its bound each A, and each A : B, would have nodes.

    Only A is marked: if all events were, no structure would be needed.
    """
    made: list[int] = []

    def build(structure: Structure, *given: Any) -> None:
        whole(structure, *given)
        made.append(structure.n_nodes - 1)

    whole = Structure.build
    monkeypatch.setattr(Structure, "build", build)
    rng = np.random.default_rng(5)
    table = pa.table({"type": rng.choice(list("ABC"), 20_000), "k": rng.integers(0, 3, 20_000)})
    query = cer.compile(f"SELECT A FROM S WHERE {pattern} {window}")
    found = query.run(table).to_arrow().num_rows
    assert found == query.count(table) > 500
    assert 0 < sum(made) <= 2 * nodes * found

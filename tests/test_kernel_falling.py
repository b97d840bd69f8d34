"""Windows over an attribute that goes up and down: ranks, hits, counts and the structure, by definition."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from cer_gpu.kernels.attribute_windows import cpu_counts, cpu_hits, cpu_lists, cpu_order
from cer_gpu.kernels.attribute_windows.contract import (
    AutomatonPrograms,
    Ranks,
    hits_reference,
    ranks_reference,
)
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.runs.barriers import NO_END, NO_START, barred, bars_of, with_bars
from cer_gpu.kernels.runs.contract import TransitionTables, accepting_runs, first_open_reference
from cer_gpu.kernels.runs.cpu import first_open
from cer_gpu.kernels.runs.programs import backward_program, forward_program
from cer_gpu.kernels.windows import cpu as windows
from cer_gpu.kernels.windows.contract import settle_body
from forest_validator import check, longest_walk
from random_tables import Case, kleene, random_case, random_tables, sequence

from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.ranked_structure import AdmittedStarts, RankedStructure, joined_by_event
from cer_gpu.enumeration.structure import Structure

SHARE = Workers(2).map


def machine_of(tables: TransitionTables) -> AutomatonPrograms:
    return AutomatonPrograms(tables, forward_program(tables), backward_program(tables))


def ranks_of(keys: np.ndarray, size: float, begin: np.ndarray, stop: np.ndarray) -> Ranks:
    ranks = cpu_order.unranked(keys.size)
    keys, size = cpu_order.unsigned(keys, size)
    cpu_order.rank_lanes(keys, size, begin, stop, ranks, np.empty(keys.size, np.int64))
    return ranks


def one_lane(keys: np.ndarray, size: float) -> Ranks:
    return ranks_of(keys, size, np.array([0]), np.array([keys.size]))


def random_keys(rng: random.Random, n: int, kind: type) -> np.ndarray:
    values = [rng.randint(0, 6) for _ in range(n)]
    if kind is np.float64:
        return np.array([rng.choice((value, value, math.inf, -math.inf)) for value in values])
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.draws("seed", 3)
def test_hits_and_counts_are_those_of_the_runs(
    seed: int, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(200 + seed)
    total = 0
    for _ in range(50):
        monkeypatch.setattr(cpu_lists, "RANGE", rng.choice((1, 2, 4, 1 << 14)))
        case = random_case(rng)
        keys = random_keys(rng, case.symbols.size, kind)
        ranks = ranks_of(keys, 2, case.begin, case.stop)
        with np.errstate(invalid="ignore"):
            order = ranks_reference(keys, 2, case.begin.tolist(), case.stop.tolist())
        assert [array.tolist() for array in ranks] == list(order)
        bounds = case.begin, case.report, case.stop
        expected = []
        for low, middle, high in zip(*(array.tolist() for array in bounds)):
            expected += hits_reference(case.tables, case.symbols, ranks.rank, ranks.least, low, middle, high)
        machine = machine_of(case.tables)
        event, latest = cpu_hits.latest_starts(machine, case.symbols, ranks, *bounds, SHARE)
        assert list(zip(event.tolist(), latest.tolist())) == [(j, start) for j, start, _ in expected]
        event, number = cpu_counts.counts(machine, case.symbols, ranks, *bounds, SHARE)
        assert list(zip(event.tolist(), number.tolist())) == [(j, count) for j, _, count in expected]
        total += len(expected)
    assert total > 20


def test_differences_do_not_wrap_around() -> None:
    keys = np.array([-(2**63), 2**63 - 1, 0], dtype=np.int64)
    symbols, machine = np.array([1, 2, 2], dtype=np.uint8), machine_of(sequence(1, 2))
    one = np.array([0]), np.array([0]), np.array([3])
    for size, expected in ((2**62, []), (2**63, [2]), (2**70, [1, 2])):
        ranks = one_lane(keys, size)
        assert cpu_hits.latest_starts(machine, symbols, ranks, *one, SHARE)[0].tolist() == expected
        assert cpu_counts.counts(machine, symbols, ranks, *one, SHARE)[0].tolist() == expected


def test_counts_past_two_to_the_62_are_exact() -> None:
    """`A+ ; B` has 2**n - 1 complex events at a B after n A events; the last B admits only the last ten."""
    machine, n = machine_of(kleene()), 130
    symbols = np.array([1] * n + [2, 2], dtype=np.uint8)
    keys = np.array([0] * (n - 10) + [5] * 10 + [1, 9])
    one = np.array([0]), np.array([0]), np.array([n + 2])
    for size, expected in ((8, [2**n - 1, 2**10 - 1]), (3, [2**n - 1])):
        ranks = one_lane(keys, size)
        _, number = cpu_counts.counts(machine, symbols, ranks, *one, SHARE)
        assert number.tolist() == expected
        _, number = cpu_counts.counts(machine, symbols, ranks, *one, SHARE, exact=False)
        assert number.tolist() == [min(count, 2**62) for count in expected]
        assert number.dtype == np.int64


class Reads(np.ndarray):
    """An array that counts how often one of its numbers is read."""

    count = 0

    def __getitem__(self, at: object) -> object:
        Reads.count += 1
        return np.asarray(self)[at]  # type: ignore[index]


def test_the_work_grows_with_the_events_by_their_logarithm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by their square, however often the attribute goes up and down."""
    rng = random.Random(5)
    machine = machine_of(kleene())
    registers = max(machine.forward.n_registers, machine.backward.n_registers)

    def work(n: int) -> int:
        symbols = np.array([rng.randint(1, 2) for _ in range(n)], np.uint8)
        ranks = one_lane(np.array([rng.randint(0, n) for _ in range(n)]), n // 2)
        lists, count = cpu_lists.empty_lists(n), np.zeros(n, object)
        cells = np.zeros((n, machine.tables.n_live), object)
        states = (
            np.zeros((registers, machine.tables.n_live), object),
            np.zeros(machine.tables.n_live, object),
        )
        monkeypatch.setattr(Reads, "count", 0)
        whole = np.array([[0], [n], [0]])
        numbers = cpu_counts.Numbers(cells, *states, False)
        cpu_counts._exact_ranges(machine, symbols.view(Reads), ranks, *whole, lists, numbers, count)
        _, known = cpu_counts.counts(machine, symbols, ranks, *np.array([[0], [0], [n]]), SHARE)
        assert count[count > 0].tolist() == known.tolist()
        return Reads.count

    few, many = work(128), work(1024)
    assert few > 128
    assert many < 8 * few * math.log2(1024) / math.log2(128) * 1.5


def test_a_segment_of_large_counts_leaves_the_others_as_they_are() -> None:
    machine = machine_of(kleene())
    symbols = np.array([1, 1, 2, *[1] * 70, 2, 1, 2], dtype=np.uint8)
    begin, stop = np.array([0, 3, 74]), np.array([3, 74, 76])
    ranks = ranks_of(-np.arange(76), 0, begin, stop)
    event, number = cpu_counts.counts(machine, symbols, ranks, begin, begin, stop, SHARE)
    assert event.tolist() == [2, 73, 75]
    assert number.tolist() == [3, 2**70 - 1, 1]


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_missing_keys_are_filled_in_and_falls_are_found(kind: type) -> None:
    rng = random.Random(4)
    seen = set()
    for _ in range(100):
        first = sorted(rng.randint(0, 8) for _ in range(3))
        begin, stop = np.array(first[:2]), np.array(first[1:])
        keys = random_keys(rng, first[2], kind)
        keyed = np.array([rng.random() < 0.7 for _ in keys] if rng.random() < 0.7 else [], np.uint8)
        given, wanted = keys.copy(), keys.copy()
        falls, expected = np.empty(2, np.uint8), np.empty(2, np.uint8)
        settle_body(wanted, keyed, begin, stop, expected)
        windows.settle(keys, keyed, begin, stop, falls)
        assert keys.tolist() == wanted.tolist()
        assert falls.tolist() == expected.tolist()
        for g, (low, high) in enumerate(zip(begin, stop)):
            there = [i for i in range(low, high) if not keyed.size or keyed[i]]
            assert [keys[i] for i in there] == [given[i] for i in there]
            assert bool(falls[g]) == any(given[j] < given[i] for i, j in pairwise(there))
            assert bool(falls[g]) or all(keys[i] <= keys[i + 1] for i in range(low, high - 1))
            seen.add((bool(falls[g]), len(there) < high - low))
    assert len(seen) == 4


def test_no_run_starts_or_ends_where_it_is_barred() -> None:
    rng = random.Random(5)
    total = 0
    for _ in range(40):
        case = random_case(rng)
        n = case.symbols.size
        bars = np.array([rng.choice((0, 0, 1, 2, 3)) for _ in range(n)], np.uint8)
        symbols = with_bars(case.symbols, bars, 4)
        assert with_bars(symbols, bars, 4).tolist() == symbols.tolist()
        found = accepting_runs(barred(case.tables), symbols, 0, n)
        kept = [
            (start, end, marks)
            for start, end, marks in accepting_runs(case.tables, case.symbols, 0, n)
            if not bars[start] & NO_START and not bars[end] & NO_END
        ]
        assert sorted(found) == sorted(kept)
        total += len(kept)
    assert total > 50
    assert with_bars(np.array([200], np.uint8), np.array([3], np.uint8), 256).tolist() == [968]


def test_what_is_barred() -> None:
    keys = np.array([0.0, math.inf, -math.inf, math.nan, 1.0])
    keyed = np.array([1, 1, 1, 0, 1], np.uint8)
    assert bars_of(keys, keyed).tolist() == [0, NO_END, NO_START, NO_START | NO_END, 0]
    assert bars_of(np.array([0, 1]), keyed[:0]).tolist() == [0, 0]


def test_the_first_run_that_is_still_open() -> None:
    rng = random.Random(6)
    seen = set()
    for _ in range(60):
        case = random_case(rng)
        symbols = with_bars(case.symbols, np.array([rng.choice((0, 1)) for _ in case.symbols], np.uint8), 4)
        tables = barred(case.tables)
        wanted = first_open_reference(tables, symbols, case.begin.tolist(), case.stop.tolist())
        assert first_open(tables, symbols, case.begin, case.stop).tolist() == wanted
        seen |= set((np.array(wanted) - case.begin).tolist())
    assert len(seen) > 4


def built(case: Case, ranks: Ranks) -> tuple[Structure, list[list[tuple[int, tuple[tuple[int, int], ...]]]]]:
    """The structure of all hits of a case, and what each holds by definition, in canonical order."""
    machine = machine_of(case.tables)
    bounds = case.begin, case.report, case.stop
    event, number = cpu_counts.counts(machine, case.symbols, ranks, *bounds, SHARE)
    first = np.append(np.searchsorted(event, case.report), event.size)
    lowest = case.begin[np.searchsorted(case.begin, event, side="right") - 1]
    structure = RankedStructure(case.tables, AdmittedStarts(ranks.rank, lowest))
    structure.build(
        case.symbols, case.begin, case.stop, CountedHits(first, event, ranks.least[event], number)
    )
    answers: list[list[tuple[int, tuple[tuple[int, int], ...]]]] = [[] for _ in event]
    place = {j: h for h, j in enumerate(event.tolist())}
    for low, high in zip(case.begin, case.stop):
        for start, end, marks in accepting_runs(case.tables, case.symbols, low, high):
            if end in place and ranks.rank[start] >= ranks.least[end]:
                answers[place[end]].append((start, marks))

    def canonical(row: tuple[int, tuple[tuple[int, int], ...]]) -> tuple[object, ...]:
        return row[0], tuple(at for at, _ in row[1]), tuple(label for _, label in row[1])

    return structure, [sorted(rows, key=canonical) for rows in answers]


def rows_of(structure: Structure, **options: int) -> list[list[tuple[int, tuple[tuple[int, int], ...]]]]:
    rows: list[list[tuple[int, tuple[tuple[int, int], ...]]]] = [[] for _ in structure.hits.event]
    for block in structure.blocks(**options):  # type: ignore[arg-type]
        for k, hit in enumerate(block.hit):
            marks = slice(block.first[k], block.first[k + 1])
            found = tuple(zip(block.event[marks].tolist(), block.label[marks].tolist()))
            rows[hit].append((int(block.start[k]), found))
    return rows


@pytest.mark.draws("seed", 3)
def test_the_structure_lists_what_each_end_admits(seed: int) -> None:
    rng = random.Random(300 + seed)
    total = 0
    for _ in range(40):
        case = random_case(rng)
        ranks = ranks_of(random_keys(rng, case.symbols.size, np.float64), 2, case.begin, case.stop)
        structure, expected = built(case, ranks)
        check(structure)
        assert rows_of(structure) == expected
        whole = joined_by_event([structure, Structure(case.tables)], structure.admitted)  # type: ignore[attr-defined]
        assert rows_of(whole, limit=2) == [rows[:2] for rows in expected]
        for hit, rows in enumerate(expected):
            blocks = structure.ordered(hit, None, 3)
            assert [int(start) for block in blocks for start in block.start] == [start for start, _ in rows]
        total += sum(map(len, expected))
    assert total > 100


def test_the_walk_between_two_outputs_does_not_grow_with_the_stream() -> None:
    """Nor do the nodes for an event, but by the logarithm of its length."""
    rng = random.Random(11)
    seen = 0
    for _ in range(8):
        tables = random_tables(rng)
        per_event = []
        for n in (30, 300, 3000):
            symbols = np.array([rng.randint(1, 3) for _ in range(n)], dtype=np.uint8)
            ranks = one_lane(np.array([rng.randint(0, n) for _ in range(n)]), 3)
            one = np.array([0]), np.array([0]), np.array([n])
            event, number = cpu_counts.counts(machine_of(tables), symbols, ranks, *one, SHARE, exact=False)
            structure = RankedStructure(tables, AdmittedStarts(ranks.rank, np.zeros_like(event)))
            structure.build(
                symbols,
                one[0],
                one[2],
                CountedHits(np.array([0, event.size]), event, ranks.least[event], number),
            )
            check(structure)
            per_event.append(structure.n_nodes / n)
            for hit in range(0, event.size, 97):
                assert longest_walk(structure, hit, 2000) <= 4
                seen += 1
        assert per_event[2] <= 2 * math.log2(3000) / math.log2(30) * per_event[0] + 1
    assert seen > 50

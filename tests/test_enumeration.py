"""The persistent structure, its bulk and its ordered enumeration, against the runs listed by definition."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import islice, pairwise

import numpy as np
import pytest
from cer_gpu.kernels.arena.order import sort_by_start
from cer_gpu.kernels.counts.cpu import counts
from cer_gpu.kernels.forest.contract import Block, CountedHits
from cer_gpu.kernels.hits import cpu as hitting
from cer_gpu.kernels.lists import cpu as marks
from cer_gpu.kernels.lists.contract import lists_reference
from cer_gpu.kernels.runs.contract import TransitionTables, accepting_runs
from cer_gpu.kernels.runs.programs import backward_program, forward_program, hits_program
from forest_validator import check, check_duplicate_free, longest_walk
from random_tables import Case, kleene, random_case, random_tables, sequence, tables_of

from cer_gpu.enumeration import structure as module
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.ordered_enumeration import ordered_blocks
from cer_gpu.enumeration.structure import Structure, joined

Listed = list[tuple[int, tuple[int, ...], tuple[int, ...]]]


def listed(case: Case) -> tuple[CountedHits, list[Listed]]:
    """The hits of a case and the complex events of each in canonical order, by definition."""
    first, event, answers = [0], [], []
    for low, middle, high in zip(case.begin, case.report, case.stop):
        found: dict[int, Listed] = {}
        for start, end, marked in accepting_runs(case.tables, case.symbols, low, high):
            if end >= middle and start >= case.lowest[end]:
                row = start, tuple(e for e, _ in marked), tuple(label for _, label in marked)
                found.setdefault(end, []).append(row)
        event += sorted(found)
        answers += [sorted(found[end]) for end in sorted(found)]
        first.append(len(event))
    ends = np.array(event, dtype=np.int64)
    number = np.array([len(answer) for answer in answers], dtype=np.int64)
    return CountedHits(np.array(first), ends, case.lowest[ends], number), answers


def collected(blocks: Iterable[Block], n_hits: int) -> list[Listed]:
    answers: list[Listed] = [[] for _ in range(n_hits)]
    for block in blocks:
        assert block.start.size > 0
        for k in range(block.start.size):
            part = slice(block.first[k], block.first[k + 1])
            row = int(block.start[k]), tuple(block.event[part].tolist()), tuple(block.label[part].tolist())
            answers[block.hit[k]].append(row)
    return answers


@pytest.mark.draws("seed", 8)
def test_bulk_and_ordered_enumeration_list_the_runs_in_order(seed: int) -> None:
    rng = random.Random(seed)
    total = 0
    for _ in range(40):
        case = random_case(rng)
        hits, answers = listed(case)
        structure = Structure(case.tables)
        structure.build(case.symbols, case.begin, case.stop, hits)
        check(structure)
        check_duplicate_free(structure)
        n = hits.event.size
        assert collected(structure.blocks(), n) == answers
        limit, size = rng.randint(0, 4), rng.randint(1, 5)
        assert collected(structure.blocks(limit=limit, size=size), n) == [rows[:limit] for rows in answers]
        order = np.array(rng.sample(range(n), n // 2), dtype=np.int64)
        some = [rows if h in order else [] for h, rows in enumerate(answers)]
        blocks = list(structure.blocks(order, size=size))
        assert collected(blocks, n) == some
        seen = np.concatenate([np.zeros(0, dtype=np.int64), *(block.hit for block in blocks)])
        assert list(dict.fromkeys(seen.tolist())) == order.tolist()
        for h in range(n):
            lowest, end = int(hits.lowest[h]), int(hits.event[h])
            rest = ordered_blocks(case.tables, case.symbols, 0, lowest, end, size=size)
            assert collected(rest, 1) == [answers[h]]
            rest = ordered_blocks(case.tables, case.symbols, 0, lowest, end, limit=limit, size=size)
            assert collected(rest, 1) == [answers[h][:limit]]
        total += sum(map(len, answers))
    assert total > 100


def test_many_nodes_below_one_hit() -> None:
    """`A ; B` after 3,000 A's: the arena begins with room for fewer nodes, and grows."""
    steps = [(0, 1, 1, 1, False), (1, 1, 0, 1, False), (1, 2, 2, -1, True)]
    symbols = np.array([1] * 3000 + [2], dtype=np.uint8)
    one = np.zeros(1, dtype=np.int64)
    hits = CountedHits(np.array([0, 1]), one + 3000, one, one + 3000)
    structure = Structure(tables_of(3, steps))
    structure.build(symbols, one, one + 3001, hits)
    assert structure.n_nodes > 2 * 1024
    check(structure)
    assert collected(structure.blocks(), 1) == [[(k, (k, 3000), (1, 2)) for k in range(3000)]]


def test_parts_built_apart_are_joined() -> None:
    rng = random.Random(7)
    for _ in range(20):
        case = random_case(rng)
        hits, answers = listed(case)
        parts = []
        for g in range(case.begin.size):
            low, high = hits.first[g], hits.first[g + 1]
            some = CountedHits(
                np.array([0, high - low]), hits.event[low:high], hits.lowest[low:high], hits.counts[low:high]
            )
            part = Structure(case.tables)
            part.build(case.symbols, case.begin[g : g + 1], case.stop[g : g + 1], some)
            parts.append(part)
        whole = joined(parts)
        check(whole)
        assert whole.hits.first.tolist() == hits.first.tolist()
        assert collected(whole.blocks(), hits.event.size) == answers


def counted(
    tables: TransitionTables, symbols: np.ndarray, event: np.ndarray, lowest: np.ndarray
) -> CountedHits:
    """Hits of one segment, counted."""
    first = np.array([0, event.size])
    programs = forward_program(tables), backward_program(tables)
    return CountedHits(first, event, lowest, counts(tables, *programs, symbols, first, event, lowest))


def test_large_hits_are_sorted_and_the_order_is_that_of_ordered_enumeration(monkeypatch) -> None:
    """Thousands at one end: radix and merge sort, several blocks, and the switch from bulk to ordered."""
    rng = np.random.default_rng(3)
    tables = kleene()
    symbols = np.array([*rng.integers(0, 2, 24), 2], dtype=np.uint8)
    event = np.array([24])
    hits = counted(tables, symbols, event, np.zeros(1, dtype=np.int64))
    structure = Structure(tables)
    structure.build(symbols, np.array([0]), np.array([25]), hits)
    bulk = collected(structure.blocks(size=1000), 1)
    assert len(bulk[0]) == 2 ** int((symbols == 1).sum()) - 1 > 500
    assert bulk == [sorted(bulk[0])]
    assert bulk == collected(ordered_blocks(tables, symbols, 0, 0, 24, size=777), 1)
    monkeypatch.setattr(module, "BULK_COUNT", 100)
    blocks = list(structure.blocks(size=50))
    assert max(block.start.size for block in blocks) <= 100
    assert collected(blocks, 1) == bulk
    monkeypatch.setattr(module, "BULK_COUNT", 1 << 16)
    monkeypatch.setattr(module, "BULK_MARKS", 64)
    assert collected(structure.blocks(), 1) == bulk


@pytest.mark.parametrize("most", [0, 1, 200, 300, 70_000, 2**31 - 1])
def test_starts_are_sorted_by_all_of_their_bits(most: int) -> None:
    rng = np.random.default_rng(most)
    for _ in range(20):
        starts = rng.integers(0, most, int(rng.integers(1, 400)), np.int32, endpoint=True)
        order = np.arange(len(starts), dtype=np.int32)
        expected = np.argsort(starts, kind="stable").tolist()
        sort_by_start(order, np.empty_like(order), len(order), starts, np.zeros(256, np.int64))
        assert order.tolist() == expected


def test_marks_inside_one_start_are_sorted() -> None:
    """All complex events of one end start at one event, so that only the marks order them."""
    tables = sequence(1, 2, 3, 4)
    symbols = np.array([1, *[2, 3] * 40, 4], dtype=np.uint8)
    hits = counted(tables, symbols, np.array([81]), np.zeros(1, dtype=np.int64))
    structure = Structure(tables)
    structure.build(symbols, np.array([0]), np.array([82]), hits)
    rows = collected(structure.blocks(), 1)[0]
    assert len(rows) == 40 * 41 // 2
    assert rows == sorted(rows)


def test_ends_with_more_complex_events_than_can_be_listed() -> None:
    """2**200 at one end: the first ones come at once, in order, and limits hold."""
    tables = kleene()
    symbols = np.array([1] * 200 + [2], dtype=np.uint8)
    hits = counted(tables, symbols, np.array([200]), np.zeros(1, dtype=np.int64))
    assert hits.counts.tolist() == [2**200 - 1]
    structure = Structure(tables)
    structure.build(symbols, np.array([0]), np.array([201]), hits)
    rows = collected(structure.blocks(limit=2000, size=300), 1)[0]
    assert len(rows) == 2000
    assert rows == sorted(set(rows))
    assert rows[0] == (0, (*range(200), 200), (*[1] * 200, 2))
    assert rows[1] == (0, (*range(199), 200), (*[1] * 199, 2))
    some = islice(structure.blocks(size=10), 20)
    assert collected(some, 1)[0] == rows[:20]


def test_admissible_starts_are_the_only_ones() -> None:
    rng = random.Random(9)
    total = 0
    for _ in range(60):
        case = random_case(rng)
        hits, answers = listed(case)
        for hit, rows in enumerate(answers):
            low, end = int(hits.lowest[hit]), int(hits.event[hit])
            admissible = np.array([rng.random() < 0.6 for _ in range(low, end + 1)], dtype=np.uint8)
            expected = [row for row in rows if admissible[row[0] - low]]
            blocks = ordered_blocks(case.tables, case.symbols, 0, low, end, admissible=admissible, size=3)
            assert collected(blocks, 1)[0] == expected
            total += len(expected)
    assert total > 50


def test_attribute_windows_do_not_wrap_around() -> None:
    keys = np.array([-(2**63), 2**63 - 1, 0, -1], dtype=np.int64)
    valid = np.ones(4, dtype=np.uint8)

    def keeps(keys: np.ndarray, size: float, low: int, end: int) -> list[bool]:
        window = AttributeWindow(keys, valid[: keys.size], size)
        return window.keeps(np.arange(low, end + 1), np.full(end + 1 - low, end)).tolist()

    assert keeps(keys, 2**62, 0, 2) == [False, True, True]
    assert keeps(keys, 2**63, 0, 2) == [True, True, True]
    assert keeps(keys, 2.5, 1, 3) == [True, True, True]
    assert keeps(keys.astype(np.float64), 2.5, 0, 2) == [False, True, True]
    assert keeps(np.array([np.nan, 1.0]), 5, 0, 1) == [False, True]
    assert keeps(np.array([np.inf, -np.inf, np.inf]), 5, 0, 2) == [False, False, False]
    assert keeps(np.array([np.inf, -np.inf, 1.0]), 5, 0, 1) == [True, False]


def adversarial(rng: random.Random, tables: TransitionTables, length: int, window: int) -> Structure:
    """A structure over a long random stream, with a hit wherever a complex event ends; nothing is counted."""
    symbols = np.array([rng.randint(1, 3) for _ in range(length)], dtype=np.uint8)
    lowest = np.maximum(np.arange(length) - window, 0)
    one = np.array([0]), np.array([0]), np.array([length])
    registers = np.full((1, tables.n_live), -1, dtype=np.int64)
    none, keys = np.zeros(0, dtype=np.int64), np.arange(length)
    event, _ = hitting.hits(hits_program(tables), symbols, none, keys, window, *one, registers)
    structure = Structure(tables)
    ends = CountedHits(np.array([0, event.size]), event, lowest[event], np.zeros(event.size, dtype=np.int64))
    structure.build(symbols, one[0], one[2], ends)
    return structure


def test_the_walk_between_two_outputs_does_not_grow_with_the_stream() -> None:
    rng = random.Random(11)
    seen = 0
    for _ in range(12):
        tables = random_tables(rng)
        for length, window in ((30, 6), (1000, 8), (1000, 400)):
            structure = adversarial(rng, tables, length, window)
            check(structure)
            for hit in range(0, structure.hits.event.size, 97):
                assert longest_walk(structure, hit, 2000) <= 4
                seen += 1
    assert seen > 100


def test_nodes_for_an_event_do_not_grow_with_the_stream() -> None:
    rng = random.Random(12)
    for _ in range(8):
        tables = random_tables(rng)
        per_event = [adversarial(rng, tables, n, n).n_nodes / n for n in (200, 2000)]
        assert per_event[1] <= 1.5 * per_event[0] + 1


def test_a_wrong_count_is_noticed() -> None:
    tables = sequence(1, 2)
    symbols = np.array([1, 1, 2], dtype=np.uint8)
    for wrong in (1, 3):
        hits = CountedHits(np.array([0, 1]), np.array([2]), np.array([0]), np.array([wrong]))
        structure = Structure(tables)
        structure.build(symbols, np.array([0]), np.array([3]), hits)
        with pytest.raises(RuntimeError, match=f"the {wrong} matches counted at event 2"):
            list(structure.blocks())


def test_list_columns() -> None:
    rng = random.Random(13)
    for _ in range(50):
        lengths = [rng.randint(0, 4) for _ in range(rng.randint(0, 6))]
        first = np.cumsum([0, *lengths])
        event = np.array([rng.randint(0, 99) for _ in range(first[-1])], dtype=np.int64)
        label = np.array([rng.randint(1, 3) for _ in event], dtype=np.int32)
        variables = rng.randint(0, 3)
        has = np.array([[0] * variables, *([rng.randint(0, 1) for _ in range(variables)] for _ in range(3))])
        has = has.reshape(4, variables).astype(np.uint8)
        columns = marks.list_columns(first, event, label, has)
        rows = []
        for offsets, values in columns:
            assert offsets.dtype == np.int32
            assert values.size == offsets[-1]
            rows.append([values[low:high].tolist() for low, high in pairwise(offsets)])
        assert rows == lists_reference(first, event, label, has)

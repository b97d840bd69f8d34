"""The join kernels against all run trees, listed by definition; large counts, and numbers of slots."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.joins import cpu_counts as join_counts
from cer_gpu.kernels.joins import cpu_hits as join_hits
from cer_gpu.kernels.joins import cpu_nodes as join_nodes
from cer_gpu.kernels.joins.contract import KeyedEvents, offsets
from cer_gpu.kernels.joins.cpu_slots import EMPTY, localise
from cer_gpu.kernels.loop.contract import MOST_RUNS
from cer_gpu.kernels.loop.products import COUNT
from join_oracle import (
    LABEL_ATOMS,
    JoinCase,
    Listed,
    Step,
    join_tables,
    listed,
    random_join_case,
    some_hits,
)
from products_validator import check
from products_walk import walked_answers

import cer_gpu as cer
from cer_gpu.enumeration import products as module
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.enumeration.blocks import TupleBlock
from cer_gpu.enumeration.products import JoinAnswers, Products
from cer_gpu.errors import LimitError


def built(case: JoinCase, found: Listed, capacity: int | None = None) -> Products:
    products = Products(case.tables, capacity)
    products.build(case.events, case.begin, case.stop, found.first, found.event, found.lowest)
    return products


def collected(blocks: Iterable[Block | TupleBlock], n_hits: int) -> list[list[tuple]]:
    """The rows of every hit, in the order in which they come."""
    rows: list[list[tuple]] = [[] for _ in range(n_hits)]
    for block in blocks:
        assert block.start.size > 0
        for k in range(block.start.size):
            if isinstance(block, TupleBlock):
                marked = tuple(block.event[k].tolist())
            else:
                part = slice(block.first[k], block.first[k + 1])
                marked = tuple(block.event[part].tolist()), tuple(block.label[part].tolist())
            rows[block.hit[k]].append((int(block.start[k]), *marked))
    return rows


def shifted(rows: list[list[tuple]], low: int, chains: bool) -> list[list[tuple]]:
    """The same rows with all events `low` later."""
    if chains:
        return [
            [(start + low, tuple(e + low for e in events), labels) for start, events, labels in some]
            for some in rows
        ]
    return [[tuple(e + low for e in row) for row in some] for some in rows]


@pytest.mark.parametrize("chains", [False, True])
@pytest.mark.draws("seed", 4)
def test_hits_counts_and_answers_are_those_of_the_run_trees(seed: int, chains: bool) -> None:
    rng = random.Random(seed)
    total = gathered = 0
    for _ in range(200):
        case = random_join_case(rng, chains)
        found = listed(case)
        bounds = case.begin, case.report, case.stop
        event, latest = join_hits.hits(case.tables, case.events, case.keys, case.size, *bounds)
        assert event.tolist() == found.event.tolist()
        assert latest.tolist() == found.latest.tolist()
        every = listed(replace(case, keys=case.keys[:0]))
        event, number = join_hits.counted_ends(case.tables, case.events, *bounds)
        assert event.tolist() == every.event.tolist()
        assert number.tolist() == [len(rows) for rows in every.rows]
        if rng.random() < 0.3:
            found = some_hits(found, [rng.random() < 0.6 for _ in found.rows])
        products = built(case, found, rng.choice((None, 0, 1, 7)))
        check(products)
        counts = [len(rows) for rows in found.rows]
        assert products.hits.counts.tolist() == counts
        assert products.exact_counts().tolist() == counts
        for hit, rows in enumerate(found.rows):
            roots = products.root_node[products.root_first[hit] : products.root_first[hit + 1]]
            lowest = int(found.lowest[hit])
            assert join_counts.count_exactly(products.arena, products.children, roots, lowest) == len(rows)
            walked = [min(event for event, _ in answer.marks) for answer in walked_answers(products, hit)]
            assert sorted(walked) == [row[0] for row in rows]
        answers = JoinAnswers([products], [0], case.label_atoms)
        assert answers.count.tolist() == counts
        assert collected(answers.blocks(np.arange(len(counts))), len(counts)) == found.rows
        total += sum(counts)
        gathered += int((products.arena[:, join_nodes.CHILDREN] > 1).any())
    assert total > 500
    assert chains or gathered > 20


@pytest.mark.parametrize("chains", [False, True])
def test_parts_are_joined_in_any_order_of_hits_with_small_blocks_and_limits(
    chains: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(20 + chains)
    total = 0
    for _ in range(30):
        parts, lows, rows, low = [], [], [], 0
        for _ in range(rng.randint(1, 3)):
            case = random_join_case(rng, chains)
            found = listed(case)
            parts.append(built(case, found))
            lows.append(low)
            rows += shifted(found.rows, low, chains)
            low += len(case.events.symbols)
        answers = JoinAnswers(parts, lows, case.label_atoms)
        n = len(rows)
        monkeypatch.setattr(module, "BULK_ROWS", rng.choice((1, 5, 1 << 20)))
        order = np.array(rng.sample(range(n), rng.randint(0, n)), dtype=np.int64)
        limit = rng.choice((None, 0, 1, 3))
        blocks = list(answers.blocks(order, limit))
        kept = set(order.tolist())
        assert collected(blocks, n) == [part[:limit] if h in kept else [] for h, part in enumerate(rows)]
        seen = [hit for block in blocks for hit in block.hit.tolist()]
        assert list(dict.fromkeys(seen)) == ([h for h in order.tolist() if rows[h]] if limit != 0 else [])
        total += len(seen)
    assert total > 40


def test_answers_of_windows_that_are_no_interval_are_held_against_them() -> None:
    rng = random.Random(31)
    total = 0
    for _ in range(40):
        case = random_join_case(rng)
        found = listed(case)
        n = len(case.events.symbols)
        keys = np.array([rng.randint(0, 6) for _ in range(n)], dtype=np.int64)
        keyed = np.array([rng.random() < 0.8 for _ in range(n)], dtype=np.uint8)
        answers = JoinAnswers([built(case, found)], [0], LABEL_ATOMS, AttributeWindow(keys, keyed, 2))
        expected = [
            [row for row in rows if keyed[row[0]] and keyed[end] and keys[end] - keys[row[0]] <= 2]
            for end, rows in zip(found.event, found.rows, strict=True)
        ]
        assert answers.exact_counts().tolist() == [len(rows) for rows in expected]
        assert collected(answers.blocks(np.arange(len(expected))), len(expected)) == expected
        total += sum(map(len, expected))
    assert total > 50


# ------------------------------------------------------------------------------------- large numbers


def pairs_of_runs(depth: int) -> tuple[JoinCase, Listed]:
    """Two runs, then any two runs of the level before, level after level: 2^(2^depth), at two hits."""
    steps = [Step(1, 1, False, [], [(0, -1)])]
    for level in range(depth):
        steps.append(Step(2 + level, 0, level == depth - 1, [(level, -1), (level, -1)], [(level + 1, -1)]))
    tables = join_tables(2 + depth, steps, [False] * (depth + 1))
    symbols = np.array([1, 1, *range(2, 2 + depth), 1, 1 + depth], np.uint8)
    space = np.full(depth + 1, -1, np.int32)
    none = np.empty(0, np.int64)
    events = KeyedEvents(
        symbols, np.empty((0, len(symbols)), np.int32), none, offsets(space, none)
    )  # fmt: skip
    zero = np.zeros(1, np.int64)
    case = JoinCase(tables, events, LABEL_ATOMS, zero, zero, zero + len(symbols), none, 0)
    ends = np.array([1 + depth, 3 + depth])
    return case, Listed(np.array([0, 2]), ends, np.zeros(2, np.int64), none, [])


@pytest.mark.parametrize("depth", [1, 5, 6, 7, 9])
def test_counts_past_two_to_the_62_are_exact(depth: int) -> None:
    case, found = pairs_of_runs(depth)
    products = built(case, found)
    # at the second hit the first level has three runs
    exact = [2 ** (2**depth), (3 if depth == 1 else 2) ** (2**depth)]
    assert products.exact_counts().tolist() == exact
    assert products.hits.counts.tolist() == [min(number, join_counts.LARGEST) for number in exact]
    assert JoinAnswers([products], [0], LABEL_ATOMS).exact_counts().tolist() == exact
    if depth > 5:
        with pytest.raises(LimitError, match="matches end at one event"):
            list(JoinAnswers([products], [0], LABEL_ATOMS).blocks(np.arange(2)))


def test_sums_and_cut_products_past_two_to_the_62() -> None:
    """Both parts of a union at the limit; and a window that cuts a product to fewer answers."""
    n, depth = 70, 6
    steps = [Step(1, 1, False, [], [(0, -1)])]
    steps += [Step(2, 0, False, [(0, -1)] * depth * 2, [(1, -1)]), Step(3, 2, True, [(1, -1)], [])]
    tables = join_tables(4, steps, [False, False])
    symbols = np.array([1] * n + [2, 2, 2, 3, 3, 3], np.uint8)
    none = np.empty(0, np.int64)
    events = KeyedEvents(
        symbols, np.empty((0, len(symbols)), np.int32), none, offsets(np.full(2, -1, np.int32), none)
    )
    lowest = np.array([0, n - 40, n - 2])
    products = Products(tables)
    ends = np.array([n + 3, n + 4, n + 5])
    products.build(events, np.array([0]), np.array([len(symbols)]), np.array([0, 3]), ends, lowest)
    check(products)
    assert products.exact_counts().tolist() == [3 * (n - int(low)) ** (2 * depth) for low in lowest]
    assert products.hits.counts.tolist() == [join_counts.LARGEST] * 2 + [3 * 2 ** (2 * depth)]


# --------------------------------------------------------------------------------- numbers of slots


def test_slots_are_numbered_in_the_order_of_first_sight() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        columns, n = int(rng.integers(1, 4)), int(rng.integers(0, 40))
        slots = rng.integers(-1, rng.choice([3, 50, 2**31 - 1]), (columns, n)).astype(np.int32)
        known: dict[int, int] = {}
        expected = [
            [-1 if slot < 0 else known.setdefault(slot, len(known)) for slot in event]
            for event in slots.T.tolist()
        ]
        room = 1 << max(slots.size, 1).bit_length() + 1
        count = localise(slots, np.full(room, EMPTY, np.int64), np.empty(room, np.int32))
        assert slots.T.tolist() == expected
        assert count == len(known)


def test_sizes_of_the_tables() -> None:
    steps = [
        Step(1, 1, False, [(0, -1)], [(0, -1), (1, -1)]),
        Step(1, 1, True, [(0, -1), (1, -1)], [(1, -1)]),
    ]
    tables = join_tables(3, [*steps, Step(2, 1, True)], [False, False])
    assert (tables.n_fired, tables.n_reads, tables.n_stores) == (2, 3, 3)
    none = join_tables(2, [], [])
    assert (none.n_fired, none.n_reads, none.n_stores) == (0, 0, 0)
    space = np.array([1, -1, 0, 1], np.int32)
    assert offsets(space, np.array([5, 3])).tolist() == [0, 3, 4, 9, 12]


def test_numbers_of_runs_are_multiplied_up_to_the_largest() -> None:
    """What may not fit is told: it is counted again with integers of any size."""
    pairs, both = COUNT["times"].py_func, COUNT["plus"].py_func
    rng = random.Random(5)
    for _ in range(2000):
        one, other = (min(rng.getrandbits(rng.randrange(63)), MOST_RUNS) for _ in range(2))
        assert pairs(one, other) == min(one * other, MOST_RUNS)
        assert both(one, other) == min(one + other, MOST_RUNS)


def test_numbers_past_64_bits_are_exact() -> None:
    """Rules without a window whose numbers of answers do not fit are counted with the structure."""
    rounds = 4000
    table = pa.table({"type": [*"ABCDE"] * rounds, "k": [1] * 5 * rounds, "v": [2] * 5 * rounds})
    query = cer.compile(
        "SELECT * WHERE A AS a ; B AS b ; C AS c ; D AS d ; E AS e ; A AS f ; B AS g "
        "FILTER a.k = b.k AND b.v = c.v AND c.k = d.k AND d.v = e.v AND e.k = f.k AND f.v = g.v"
    )
    # Rounds do not fall from step to step, and rise from `e` to `f`.
    assert query.count(table, device="cpu") == comb(rounds + 5, 7)
    assert comb(rounds + 5, 7) - comb(rounds + 4, 7) > MOST_RUNS

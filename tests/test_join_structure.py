"""The structure of joins: its invariants on random rules, its unions, its delay, and large counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import log2
from random import Random

import numpy as np
import products_validator as validator
import products_walk as walk
import pyarrow as pa
import pytest
from cer_gpu.kernels.joins import cpu_nodes as nodes
from engine_oracle import OPTIONS
from generate import stream, stream_to_table
from random_correlated import random_correlated
from random_rules import random_rule, random_rule_events

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.joins import JoinRunner
from cer_gpu.enumeration import products
from cer_gpu.enumeration.products import JoinAnswers, Products
from cer_gpu.language.printer import to_text


@pytest.fixture
def structures(monkeypatch: pytest.MonkeyPatch) -> list[Products]:
    """The structures that runs build."""
    built: list[Products] = []
    original = JoinRunner.structure

    def noted(self: JoinRunner, chunk: Chunk, hits: Ends, listed: bool = False) -> JoinAnswers:
        found = original(self, chunk, hits)  # what is listed at once is not kept
        built.extend(found._units)
        return found

    monkeypatch.setattr(JoinRunner, "structure", noted)
    return built


def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that are full after a few nodes."""
    original = Products.__init__
    monkeypatch.setattr(Products, "__init__", lambda self, tables: original(self, tables, 4))


@pytest.mark.parametrize("small", [False, True])
def test_the_invariants_hold_on_random_rules(
    small: bool, draws: Callable[[int], range], structures: list[Products], monkeypatch: pytest.MonkeyPatch
) -> None:
    if small:
        tiny(monkeypatch)
    rng = Random(f"structures {small}")
    longest, answers = 0.0, 0
    drawn = draws(180)
    for _ in drawn:
        rule = random_rule(rng)
        events = stream_to_table(random_rule_events(rng, rule, rng.randrange(4, 24)))
        structures.clear()
        count = Query(to_text(rule)).count(events, order_by="ts")
        for part in structures:
            validator.check(part)
            if count < 3_000:
                validator.check_answers(part)
                answers += int(part.hits.counts.sum())
                longest = max([longest, *(walk.longest_walk(part, h) for h in range(len(part.hits.event)))])
    assert answers > 16 * len(drawn)
    assert 1 < longest <= walk.STEPS


def test_the_invariants_hold_on_random_chains(
    draws: Callable[[int], range], structures: list[Products]
) -> None:
    rng = Random("chains")
    answers = 0
    drawn = draws(150)
    for _ in drawn:
        query = random_correlated(rng)
        table = stream_to_table(stream(rng, rng.randrange(8, 17), types=("A", "B", "C")))
        try:
            compiled = Query(to_text(query))
        except (cer.QueryError, cer.LimitError):
            continue
        structures.clear()
        compiled.count(table, **OPTIONS)
        for part in structures:
            validator.check(part)
            if part.hits.counts.sum() < 3_000:
                validator.check_answers(part)
                answers += int(part.hits.counts.sum())
    assert answers > 0.5 * len(drawn)


@pytest.mark.parametrize("column", [nodes.LATEST, nodes.WEIGHT, nodes.LEFT, nodes.EVENT])
def test_a_planted_fault_is_found(column: int, structures: list[Products]) -> None:
    table = pa.table({"type": list("AABBAABBCC"), "k": [1] * 10})
    cer.compile("Q(x) <- A(k = x), B(k = x), C(k = x) WITHIN 10 EVENTS").count(table)
    [part] = structures
    validator.check(part)
    validator.check_answers(part)
    part.arena[4, column] += 1
    with pytest.raises(validator.InvariantError):
        validator.check(part)


# ----------------------------------------------------------------------------------------------- union


class Heap:
    """A heap that grows by `union`, one fresh node after another."""

    def __init__(self, capacity: int) -> None:
        self.arena = np.zeros((capacity, nodes.COLUMNS), np.int32)
        self.progress = np.zeros(nodes.WORDS, np.int64)
        self.path = np.zeros((nodes.PATH, 2), np.int64)
        self.root = -1

    def add(self, latest: int, bound: int = 0) -> int:
        """Put a node in; how many nodes were written for it."""
        fresh = int(self.progress[nodes.NODES])
        self.progress[nodes.NODES] += 1
        self.arena[fresh] = [1, fresh, 0, 0, -1, -1, latest, 1]
        if self.root < 0:
            self.root = fresh
        else:
            self.root = int(nodes.union(self.arena, self.progress, self.path, self.root, fresh, bound))
        return int(self.progress[nodes.NODES]) - fresh

    def members(self, root: int) -> list[int]:
        """The max-starts of a heap, as its nodes come."""
        found, pending = [], [root]
        while pending:
            row = self.arena[pending.pop()]
            found.append(int(row[nodes.LATEST]))
            for side in (nodes.LEFT, nodes.RIGHT):
                if row[side] >= 0:
                    assert self.arena[row[side], nodes.LATEST] <= row[nodes.LATEST]
                    pending.append(int(row[side]))
        return sorted(found)


def sequences(n: int) -> Iterator[list[int]]:
    """Orders of max-starts that are hard on a heap."""
    yield list(range(n))
    yield list(range(n, 0, -1))
    yield [n + k if k % 2 else k for k in range(n)]
    yield [2 * n - k if k % 3 else 3 * n + k for k in range(n)]
    rng = Random("max-starts")
    yield [rng.randrange(n) for _ in range(n)]


@pytest.mark.parametrize("number", range(5))
def test_a_union_copies_few_nodes_whatever_the_order(number: int) -> None:
    """Proposition 5.3, with weights for direction bits: no perfect balance is assumed."""
    latest = list(sequences(2_000))[number]
    heap = Heap(64 * len(latest))
    for count, value in enumerate(latest, 1):
        assert heap.add(value) <= 2 + log2(count) + 1
    assert heap.members(heap.root) == sorted(latest)


def test_unions_are_persistent_and_keep_what_is_inside_the_window() -> None:
    heap = Heap(10_000)
    rng = Random("persistent")
    roots, added = [], []
    for step in range(200):
        added.append(rng.randrange(50) + step)
        heap.add(added[-1], bound=step // 2)
        roots.append((heap.root, step // 2, list(added)))
    for root, bound, members in roots:
        inside = [value for value in heap.members(root) if value >= bound]
        assert inside == sorted(value for value in members if value >= bound)


def bit_path(steps: list[int]) -> int:
    """The longest path of the paper's union: a root on top of another, else down where a bit says."""
    left: list[int] = []
    right: list[int] = []
    bits: list[int] = []
    value: list[int] = []
    root, longest = -1, 0
    for latest in steps:
        node = len(value)
        value.append(latest)
        left.append(-1)
        right.append(-1)
        bits.append(1)
        if root < 0 or latest >= value[root]:
            left[node] = root
            root = node
            continue
        at, length = root, 0
        while True:
            length += 1
            sides = left if bits[at] == 0 else right
            bits[at] ^= 1
            if sides[at] < 0:
                sides[at] = node
                break
            at = sides[at]
        longest = max(longest, length)
    return longest


def test_direction_bits_make_long_paths() -> None:
    """Appendix C takes the tree to be balanced; roots put on top make it a list that bits may point down."""
    n = 300
    alternating = [value for k in range(n) for value in (1_000 + k, 0)] + [0]
    assert bit_path(alternating) >= n - 1
    heap = Heap(64 * len(alternating))
    assert max(heap.add(value) for value in alternating) <= 3 + log2(len(alternating))


# ----------------------------------------------------------------------------------------- many answers


def test_counts_past_64_bits_are_exact() -> None:
    count = 40
    types = "".join(name * count for name in "ABCDEFGHIJKLMN") + "Z"
    table = pa.table({"type": list(types), "k": [1] * len(types)})
    body = ", ".join(f"{name}(k = x)" for name in "ABCDEFGHIJKLMN")
    query = cer.compile(f"Q(x) <- {body}, Z(k = x)")
    assert query.count(table) == count**14
    assert query.counts(table).to_pydict() == {"position": [len(types) - 1], "count": [count**14]}
    with pytest.raises(cer.LimitError, match=r"there are at least 10\^18 matches"):
        query.run(table).to_arrow()
    with pytest.raises(cer.LimitError, match="can be listed"):
        next(query.run(table).batches())


def test_shared_parts_are_counted_once() -> None:
    """The number of answers is found from the nodes, not by listing: 2^60 of them here, in a moment."""
    types = "AB" * 60
    table = pa.table({"type": list(types), "k": [number // 2 for number in range(len(types))]})
    query = cer.compile("SELECT * WHERE (A AS a ; B AS b FILTER a.k = b.k)+")
    assert query.count(table) == 2**60 - 1


def test_neighbours_by_position_in_a_window() -> None:
    table = pa.table({"type": list("ABCABC"), "k": [1, 1, 1, 1, 1, 1]})
    query = cer.compile("Q(x) <- A(k = x), B(k = x), C(k = x) WITHIN 2 EVENTS")
    found = [answer.positions for answer in query.run(table)]
    assert found == [(0, 1, 2), (3, 1, 2), (3, 4, 2), (3, 4, 5)]
    assert all(later >= earlier for earlier, later in pairwise(max(row) for row in found))


def test_more_nodes_than_can_be_numbered_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny(monkeypatch)
    monkeypatch.setattr(products, "MOST_NODES", 64)
    events = pa.table({"type": ["A", "B", "C"] * 40, "x": [1] * 120})
    query = cer.compile("Q(x) <- A(x = x), B(x = x), C(x = x) WITHIN 90 EVENTS")
    with pytest.raises(cer.LimitError, match="take more than 64 nodes"):
        query.count(events)

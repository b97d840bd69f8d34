"""Bisimilar states are merged, no others, and the subsets that are explored become few."""

from __future__ import annotations

from random import Random

import pytest

from cer_gpu.automata.bisimulation import coarsest, merged_moves, symbols_of
from cer_gpu.automata.cea import CEA, Transition, TypeTest
from cer_gpu.automata.construct import construct, trim
from cer_gpu.automata.determinise import determinise, predicates
from cer_gpu.errors import LimitError
from cer_gpu.language.parser import parse
from cer_gpu.language.tree import SelectQuery
from cer_gpu.logic.lp import to_lp

SYMBOLS, LABELS = 3, 2


def random_moves(rng: Random, n: int) -> tuple[list[list[tuple[int, int, int]]], list[bool]]:
    moves = [
        [
            (rng.randrange(1, 1 << SYMBOLS), rng.randrange(LABELS), rng.randrange(n))
            for _ in range(rng.randrange(4))
        ]
        for _ in range(n)
    ]
    return moves, [rng.random() < 0.3 for _ in range(n)]


def by_definition(moves: list[list[tuple[int, int, int]]], final: list[bool]) -> set[tuple[int, int]]:
    """The largest bisimulation: pairs are dropped until each can answer every move of the other."""
    n = len(moves)
    related = {(p, q) for p in range(n) for q in range(n) if final[p] == final[q]}

    def steps(state: int) -> set[tuple[int, int, int]]:
        return {
            (symbol, label, target)
            for mask, label, target in moves[state]
            for symbol in range(SYMBOLS)
            if mask >> symbol & 1
        }

    def answers(p: int, q: int) -> bool:
        return all(
            any(s == t and k == m and (to, at) in related for t, m, at in steps(q)) for s, k, to in steps(p)
        )

    while True:
        left = {(p, q) for p, q in related if answers(p, q) and answers(q, p)}
        if left == related:
            return related
        related = left


def test_the_blocks_are_the_largest_bisimulation() -> None:
    rng = Random("bisimilar")
    merged = 0
    for _ in range(200):
        moves, final = random_moves(rng, rng.randrange(1, 9))
        block = coarsest(final, moves, symbols_of)
        n = len(moves)
        assert {(p, q) for p in range(n) for q in range(n) if block[p] == block[q]} == by_definition(
            moves, final
        )
        assert list(dict.fromkeys(block)) == list(range(len(set(block))))
        for p, q in by_definition(moves, final):
            assert merged_moves(moves[p], block) == merged_moves(moves[q], block)
        merged += n - len(set(block))
    assert merged > 50


FILTERED = (
    "((A AS x OR (B AS x)+ FILTER NOT x[p > 1] OR x[r > 3]) AS y ; B FILTER NOT y[s > 4])+ "
    "FILTER NOT x[t > 5] AND NOT x[u > 6]"
)


def test_copies_of_a_part_under_other_filters_are_merged() -> None:
    query = parse(f"SELECT * WHERE {FILTERED}")
    assert isinstance(query, SelectQuery)
    cea = trim(construct(to_lp(query.pattern)))
    tests = predicates(cea)
    found = determinise(cea, [frozenset({i}) for i in range(len(tests))], tests)
    assert cea.n_states > 1_000
    assert found.n_states < cea.n_states // 10


def test_an_exploration_of_large_subsets_ends_by_its_effort() -> None:
    # Each of the subsets has hundreds of states: before the budget is passed this would take half a minute.
    rng, n = Random("dense"), 400
    kinds = TypeTest("A"), TypeTest("B")
    moves = [
        Transition(source, kind, frozenset({"x"}), rng.randrange(n))
        for source in range(n)
        for kind in kinds
        for _ in range(2)
    ]
    cea = CEA(n, 0, frozenset({n - 1}), tuple(moves))
    with pytest.raises(
        LimitError, match="determinisation over 2 classes of events takes too long to construct"
    ):
        determinise(cea, [frozenset({0}), frozenset({1})], kinds)

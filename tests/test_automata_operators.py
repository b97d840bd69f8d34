"""Operators and selectors on match automata: what they mean, and their laws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import product
from random import Random
from typing import TypeAlias

import pytest
from match_oracle import (
    Found,
    by_reference,
    machine,
    monitored_runs,
    pattern_of,
    positions,
    random_deterministic,
    random_formula,
    random_machine,
    random_word,
    runs,
    selected,
)

from cer_gpu.automata import match
from cer_gpu.automata.match import Budget
from cer_gpu.automata.operators import selectors
from cer_gpu.automata.operators.monitors import monitored
from cer_gpu.language import tree as t
from cer_gpu.language.tree import Strategy
from cer_gpu.reference.selection import is_interval, last_key, next_key

# ------------------------------------------------------------------------------------------ meaning


@pytest.mark.draws("block", 8)
def test_one_run_for_each_complex_event_and_the_monitor_splits_off(block: int) -> None:
    rng = Random(f"meaning-{block}")
    answers, watched = 0, 0
    for turn in range(120):
        pattern = random_formula(rng, turn % 4)
        whole = machine(pattern)
        split = monitored(whole, Budget())
        watched += split.needed
        for _ in range(3):
            word = random_word(rng, 7)
            got = runs(whole, word)
            assert len(got) == len(set(got))
            assert set(got) == by_reference(pattern, word), pattern
            parted = monitored_runs(split, word)
            assert len(parted) == len(set(parted))
            assert set(parted) == set(got), pattern
            answers += len(got)
    assert answers >= 600
    assert watched >= 5


def chosen(strategy: Strategy, candidates: Iterable[Found]) -> set[Found]:
    """What a selector leaves, by its definition."""
    of_end: dict[int, list[Found]] = {}
    for found in candidates:
        of_end.setdefault(found[1], []).append(found)
    left: set[Found] = set()
    for group in of_end.values():
        sets = {positions(found) for found in group}
        if strategy is Strategy.STRICT:
            best = {one for one in sets if is_interval(one)}
        elif strategy is Strategy.MAX:
            best = {one for one in sets if not any(one < other for other in sets)}
        else:
            best = {max(sets, key=next_key if strategy is Strategy.NEXT else last_key)}
        left.update(found for found in group if positions(found) in best)
    return left


@pytest.mark.parametrize("strategy", [Strategy.NEXT, Strategy.LAST, Strategy.MAX, Strategy.STRICT])
def test_selectors_choose_by_their_definition(strategy: Strategy) -> None:
    rng = Random(f"selectors-{strategy}")
    dropped = 0
    for turn in range(60):
        operand = random_machine(rng) if turn % 2 else match.of_deterministic(random_deterministic(rng))
        best = selected(strategy, operand, Budget())
        for _ in range(4):
            word = [rng.randrange(len(operand.class_of)) for _ in range(7)]
            got, candidates = runs(best, word), runs(operand, word)
            assert len(got) == len(set(got))
            assert set(got) == chosen(strategy, candidates)
            dropped += len(candidates) - len(got)
    assert dropped >= 300


def test_is_single_says_what_all_words_show() -> None:
    rng = Random("single")
    told: Counter[bool] = Counter()
    for _ in range(150):
        operand = match.of_deterministic(random_deterministic(rng))
        of_place = [
            Counter((found[1], positions(found)) for found in runs(operand, word))
            for word in product(range(2), repeat=6)
        ]
        single = all(number == 1 for counted in of_place for number in counted.values())
        assert selectors.is_single(operand) == single
        told[single] += 1
    assert min(told[True], told[False]) >= 20


# --------------------------------------------------------------------------------------------- laws


CHOICES = (Strategy.NEXT, Strategy.LAST, Strategy.MAX)
S = t.Selector

Law: TypeAlias = Callable[[t.Pattern, t.Pattern, t.Pattern], tuple[t.Pattern, t.Pattern]]

LAWS: dict[str, Law] = {
    "AND: idempotent": lambda p, q, r: (t.And(p, p), p),
    "AND: commutative": lambda p, q, r: (t.And(p, q), t.And(q, p)),
    "AND: associative": lambda p, q, r: (t.And(t.And(p, q), r), t.And(p, t.And(q, r))),
    "OR: idempotent": lambda p, q, r: (t.Or(p, p), p),
    "OR: commutative": lambda p, q, r: (t.Or(p, q), t.Or(q, p)),
    "OR: associative": lambda p, q, r: (t.Or(t.Or(p, q), r), t.Or(p, t.Or(q, r))),
    "AND over OR": lambda p, q, r: (t.And(p, t.Or(q, r)), t.Or(t.And(p, q), t.And(p, r))),
    "OR over AND": lambda p, q, r: (t.Or(p, t.And(q, r)), t.And(t.Or(p, q), t.Or(p, r))),
    "absorption": lambda p, q, r: (t.And(p, t.Or(p, q)), t.Or(p, t.And(p, q))),
    "ALL: commutative": lambda p, q, r: (t.All(p, q), t.All(q, p)),
    "ALL: associative": lambda p, q, r: (t.All(t.All(p, q), r), t.All(p, t.All(q, r))),
    "ALL over OR": lambda p, q, r: (t.All(p, t.Or(q, r)), t.Or(t.All(p, q), t.All(p, r))),
    "UNLESS: De Morgan": lambda p, q, r: (t.Unless(p, t.Or(q, r)), t.And(t.Unless(p, q), t.Unless(p, r))),
    "UNLESS: twice": lambda p, q, r: (t.Unless(p, t.Or(q, r)), t.Unless(t.Unless(p, q), r)),
    "UNLESS: left OR": lambda p, q, r: (t.Unless(t.Or(p, q), r), t.Or(t.Unless(p, r), t.Unless(q, r))),
    "UNLESS: left AND": lambda p, q, r: (t.Unless(t.And(p, q), r), t.And(t.Unless(p, r), q)),
    "STRICT: part": lambda p, q, r: (S(Strategy.STRICT, p), t.And(S(Strategy.STRICT, p), p)),
    "STRICT over OR": lambda p, q, r: (
        S(Strategy.STRICT, t.Or(p, q)),
        t.Or(S(Strategy.STRICT, p), S(Strategy.STRICT, q)),
    ),
    "NXT is among MAX": lambda p, q, r: (
        S(Strategy.NEXT, p),
        t.And(S(Strategy.NEXT, p), S(Strategy.MAX, p)),
    ),
    "LAST is among MAX": lambda p, q, r: (
        S(Strategy.LAST, p),
        t.And(S(Strategy.LAST, p), S(Strategy.MAX, p)),
    ),
    "; over OR": lambda p, q, r: (
        t.Sequence(p, t.Or(q, r)),
        t.Or(t.Sequence(p, q), t.Sequence(p, r)),
    ),
}
LAWS |= {
    f"{strategy.selector}: idempotent": lambda p, q, r, s=strategy: (S(s, p), S(s, S(s, p)))
    for strategy in (*CHOICES, Strategy.STRICT)
}
LAWS |= {
    f"{strategy.selector}: the best of the best": lambda p, q, r, s=strategy: (
        S(s, t.Or(p, q)),
        S(s, t.Or(S(s, p), S(s, q))),
    )
    for strategy in CHOICES
}


@pytest.mark.parametrize("law", LAWS)
def test_equivalent_formulas_have_one_automaton(law: str) -> None:
    # Minimal automata with the same complex events are equal values.
    rng = Random(f"laws-{law}")
    alive = 0
    for turn in range(30):
        p, q, r = (random_formula(rng, (turn + i) % 3 % 2, 3) for i in range(3))
        if turn % 2:  # something for AND to have in common
            q, r = t.Or(q, p), t.Or(p, r) if turn % 4 == 1 else r
        left, right = (machine(side, 50_000) for side in LAWS[law](p, q, r))
        assert left == right, (p, q, r)
        alive += bool(left.automaton.final)
    assert alive >= 5


def test_nothing_is_left_unless_itself() -> None:
    rng = Random("nothing")
    for turn in range(40):
        p, q = random_formula(rng, turn % 3, 4), random_formula(rng, turn % 2, 3)
        assert not machine(t.Unless(p, p)).automaton.final
        assert not machine(t.Unless(t.And(p, q), q)).automaton.final
        assert not machine(t.Unless(p, t.Or(q, p))).automaton.final


def test_the_automata_of_different_formulas_differ() -> None:
    for one, other in (
        ("A ; B", "A : B"),
        ("A", "A AS x"),
        ("A AND A", "A ALL A AS x"),
        ("A UNLESS B", "NOT (A)"),
    ):
        left, right = (machine(pattern_of(text)) for text in (one, other))
        assert left != right

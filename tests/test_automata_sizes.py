"""Operators and selectors on match automata: the sizes that the theorems give, and their budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any, TypeAlias

import pytest
from match_oracle import (
    WHAT,
    machine,
    pattern_of,
    positions,
    random_deterministic,
    random_machine,
    runs,
    selected,
)

import cer_gpu as cer
from cer_gpu.automata import match
from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.binary_operators import (
    Alternative,
    PatternConjunction,
    UnlessOperator,
    UnorderedPair,
)
from cer_gpu.automata.configurations.member import END
from cer_gpu.automata.explore import explore
from cer_gpu.automata.match import Budget, MatchAutomaton
from cer_gpu.automata.operators import compose, selectors
from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.tree import Strategy

# -------------------------------------------------------------------------------------------- sizes

Steps: TypeAlias = Callable[[Any, int], Iterable[tuple[Label, Any]]]


def reachable(starts: Iterable[Any], follow: Steps, n_classes: int) -> set[Any]:
    """The states of a nondeterministic automaton that is given by its steps."""
    seen = set(starts)
    pending = list(seen)
    while pending:
        state = pending.pop()
        for symbol in range(n_classes):
            new = {target for _, target in follow(state, symbol)} - seen
            seen |= new
            pending += new
    return seen


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The states of every product that an operator determinises."""
    sizes: list[int] = []

    def measured(
        starts: Iterable[Any], follow: Steps, final: Any, class_of: Any, n_classes: int, *rest: Any
    ) -> MatchAutomaton:
        starts = list(starts)
        sizes.append(len(reachable(starts, follow, n_classes) - {END}))
        return match.build(starts, follow, final, class_of, n_classes, *rest)

    monkeypatch.setattr(compose, "build", measured)
    monkeypatch.setattr(selectors, "build", measured)
    return sizes


BINARY = {
    "AND": (PatternConjunction, lambda a, b: a * b),
    "ALL": (UnorderedPair, lambda a, b: (a + 1) * (b + 1)),
    "UNLESS": (UnlessOperator, lambda a, b: a * b * 2**b),
    "OR": (lambda *sides: Alternative(sides), lambda a, b: a + b),
}
"""The bound on the states of the product (Theorem 7.2, Proposition 6.1)."""


@pytest.mark.parametrize("name", BINARY)
def test_products_are_as_small_as_theorem_7_2_says(name: str, products: list[int]) -> None:
    operator, bound = BINARY[name]
    rng = Random(f"sizes-{name}")
    for turn in range(80):
        left, right = random_machine(rng, turn % 3), random_machine(rng, turn // 3 % 3)
        products.clear()
        made = compose.combined(operator, [left, right], Budget(), WHAT)
        (size,) = products
        assert size <= bound(left.automaton.n_states, right.automaton.n_states)
        if (
            name == "AND"
        ):  # a product of deterministic automata is deterministic: no subsets but a copy of one
            assert made.automaton.n_states <= size + 1


def test_the_bound_of_and_is_reached_by_cycles_of_coprime_lengths() -> None:
    lengths = (2, 3, 5)
    parts = [t.Iteration(repeated(n), contiguous=True) for n in lengths]
    least = [machine(part).automaton.n_states - 2 for part in parts]  # two states wait for the start
    assert least == [2, 3, 5]
    whole = machine(t.And(t.And(parts[0], parts[1]), parts[2]))
    assert whole.automaton.n_states - 2 == 2 * 3 * 5


def repeated(n: int) -> t.Pattern:
    made: t.Pattern = t.EventType("A")
    for _ in range(n - 1):
        made = t.Sequence(made, t.EventType("A"), contiguous=True)
    return made


SELECTIONS = {
    Strategy.STRICT: lambda n: 3 * n,
    Strategy.NEXT: lambda n: n * 3**n,
    Strategy.LAST: lambda n: n * 4**n,
    Strategy.MAX: lambda n: n * 3**n,
}
"""The bound on the states before determinisation; LAST keeps a third set."""


@pytest.mark.parametrize("strategy", SELECTIONS)
def test_selections_are_as_small_as_theorems_7_3_to_7_5_say(strategy: Strategy, products: list[int]) -> None:
    rng = Random(f"sizes-{strategy}")
    for turn in range(60):
        operand = random_machine(rng, turn % 3)
        products.clear()
        made = selected(strategy, operand, Budget())
        (size,) = products
        assert size <= SELECTIONS[strategy](operand.automaton.n_states)
        # Every run of the operand is one run here, so that subsets are of one state each.
        assert made.automaton.n_states <= size + 1


# ------------------------------------------------------------------------------- NXT by Theorem 7.3

Preorder: TypeAlias = tuple[frozenset[int], ...]


class TotalPreorders:
    """The automaton of Theorem 7.3 for NXT, over the sets of marked positions: labels are • or nothing."""

    def __init__(self, operand: MatchAutomaton) -> None:
        self.operand = operand
        self.leaving = operand.leaving()
        self.start: tuple[Preorder, int] = ((frozenset({0}),), 0)

    def reached(self, states: Iterable[int], symbol: int, marked: bool) -> frozenset[int]:
        return frozenset(
            target
            for state in states
            for label, target in self.leaving[state][symbol]
            if match.marks(label) == marked
        )

    def follow(self, state: tuple[Preorder, int], symbol: int) -> Iterator[tuple[bool, Any]]:
        order, p = state
        place = next(i for i, members in enumerate(order) if p in members)
        following = [self.reached(members, symbol, marked) for members in order for marked in (True, False)]
        seen: frozenset[int] = frozenset()
        after: list[frozenset[int]] = []  # (iii)
        for members in following:
            after += [members - seen] if members - seen else []
            seen |= members
        higher = frozenset().union(*following[: 2 * place])
        for marked in (True, False):
            for q in self.reached([p], symbol, marked):  # (i)
                if q in higher:  # (ii)
                    continue
                if not marked and q in following[2 * place]:  # (iv)
                    continue
                if q in self.reached([one for one in order[place] if one < p], symbol, marked):  # (v)
                    continue
                yield marked, (tuple(after), q)

    def final(self, state: tuple[Preorder, int]) -> bool:
        accepting, (order, p) = self.operand.automaton.final, state
        first = next((members for members in order if members & accepting), frozenset())
        return p in accepting and p in first

    def states(self) -> set[Any]:
        return reachable([self.start], self.follow, self.operand.automaton.n_symbols)  # type: ignore[arg-type]

    def runs(self, word: Sequence[int]) -> list[tuple[int, frozenset[int]]]:
        active: list[tuple[tuple[Preorder, int], frozenset[int]]] = [(self.start, frozenset())]
        found = []
        for position, symbol in enumerate(word):
            active = [
                (target, marked | {position} if marks else marked)
                for state, marked in active
                for marks, target in self.follow(state, self.operand.class_of[symbol])
            ]
            found += [(position, marked) for state, marked in active if self.final(state)]
        return found


@pytest.mark.draws("block", 3)
def test_next_is_the_automaton_of_total_preorders(block: int, products: list[int]) -> None:
    rng = Random(f"preorders-{block}")
    answers = 0
    for turn in range(40):
        operand = (
            random_machine(rng, turn % 3) if turn % 4 else match.of_deterministic(random_deterministic(rng))
        )
        thesis = TotalPreorders(operand)
        products.clear()
        ours = selectors.select(Strategy.NEXT, operand, Budget(), WHAT)
        (size,) = products
        assert size <= len(thesis.states())
        for _ in range(5):
            word = [rng.randrange(len(operand.class_of)) for _ in range(7)]
            ambiguous = Counter(thesis.runs(word))
            # N-ambiguous, that is: no state gives a set twice.
            assert max(ambiguous.values(), default=0) <= operand.automaton.n_states
            assert set(ambiguous) == {(found[1], positions(found)) for found in runs(ours, word)}
            answers += len(ambiguous)
    assert answers >= 150


# ------------------------------------------------------------------------------------------- budget


def cycle(n: int) -> str:
    return f"({' : '.join('A' * n)}) :+"


EITHER = "(A OR B)"
TWELVE = f" : {EITHER}" * 12
CYCLES = " OR ".join(cycle(n) for n in (2, 3, 5, 7))

EXPLODING = {
    "AND": " AND ".join(cycle(n) for n in (2, 3, 5, 7, 11)),
    "ALL": " ALL ".join(f"(A ; B AS x{i} ; C)" for i in range(5)),
    "UNLESS": f"{EITHER}+ UNLESS (A{TWELVE} : A)",
    "OR": " OR ".join(f"STRICT({cycle(n)})" for n in (2, 3, 5, 7, 11)),
    "NXT": f"NXT({CYCLES})",
    "LAST": f"LAST({CYCLES})",
    "MAX": f"MAX({CYCLES})",
    ";": f"STRICT(A) ; PROJECT(A{TWELVE} : B AS z | z)",
    ":": f"STRICT({EITHER} :+) : (A{TWELVE})",
    "+": f"PROJECT(STRICT(A{TWELVE} : B AS z) | z)+",
    ":+": f"(STRICT(A{TWELVE}) OR {EITHER}) :+",
    "PROJECT": f"PROJECT(STRICT({EITHER} :+ : A AS y{TWELVE}) | A, B)",
    "AS": f"STRICT({EITHER} :+ : A AS y{TWELVE}) AS y",
    "FILTER": f"STRICT(({' OR '.join(f'A AS x{i}' for i in range(10))})+) FILTER "
    + " OR ".join(f"x{i}[v = 1]" for i in range(10)),
}
"""For each operator a formula whose operands fit the budget and whose automaton does not.

STRICT is not among them: it has three times the states of its operand at most.
"""


@pytest.fixture
def explored(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The states and the transitions that explorations under a budget have built."""
    built: Counter[str] = Counter()

    def counted(initial: Any, follow: Any, *rest: Any) -> Any:
        seen = {initial}

        def counting(state: Any) -> Iterator[Any]:
            for edge, target in follow(state):
                built["transitions"] += 1
                built["states"] += target not in seen
                seen.add(target)
                yield edge, target

        built["states"] += 1
        built["explorations"] += 1
        return explore(initial, counting, *rest)

    monkeypatch.setattr(match, "explore", counted)
    monkeypatch.setattr("cer_gpu.automata.determinise.explore", counted)
    return built


@pytest.mark.parametrize("operator", EXPLODING)
def test_an_automaton_over_budget_is_refused_before_it_is_built(
    operator: str, explored: Counter[str]
) -> None:
    size = 4_000
    with pytest.raises(LimitError) as caught:
        machine(pattern_of(EXPLODING[operator]), size)
    message = str(caught.value)
    assert f"This comes from `{operator}` in\n" in message
    assert "or more are needed" in message
    # All explorations of a formula share one budget; each may pass it by the transition that tells.
    assert explored["states"] + explored["transitions"] <= size + explored["explorations"]


LARGER = {
    "AND": " AND ".join(cycle(n) for n in (2, 3, 5, 7, 11, 13)),
    "ALL": " ALL ".join(f"(A ; B AS x{i} ; C)" for i in range(8)),
    # Around the whole pattern a selector is the strategy, which makes no automaton larger.
    **{operator: f"({EXPLODING[operator]}) ; D" for operator in ("NXT", "LAST", "MAX", "UNLESS")},
}
"""Over the budget of a query, which is larger."""


@pytest.mark.parametrize("operator", LARGER)
def test_a_query_over_budget_is_refused_when_it_is_compiled(operator: str, explored: Counter[str]) -> None:
    with pytest.raises(LimitError, match=f"This comes from `{operator}` in"):
        cer.compile(f"SELECT * WHERE {LARGER[operator]}")
    assert explored["states"] + explored["transitions"] <= match.COMPOSED_BUDGET + explored["explorations"]

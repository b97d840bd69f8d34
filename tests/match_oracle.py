"""Match automata of formulas without filters, random ones, and what their runs say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random
from typing import TypeAlias

from automata_oracle import Event as PlainEvent
from automata_oracle import symbol_set
from random_formulas import nested

from cer_gpu.automata.cea import DeterministicCEA, Step
from cer_gpu.automata.configurations.selectors import StrictSelector
from cer_gpu.automata.match import BEFORE, Budget, MatchAutomaton
from cer_gpu.automata.operators import compose, formula, selectors
from cer_gpu.automata.operators.monitors import MonitorSplit
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.tree import Strategy
from cer_gpu.language.walk import nodes
from cer_gpu.logic.formulas import atoms
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import matches
from cer_gpu.reference.simulate import Marks, symbol_runs

KINDS = ("A", "B", "C", "D")
"""The event type of each symbol."""

Found: TypeAlias = tuple[int, int, Marks]

WHAT = "the automaton under test"


def machine(pattern: t.Pattern, size: int = 20_000) -> MatchAutomaton:
    """The match automaton of a formula without filters, over the event types as symbols."""
    tests = formula.tests_of(pattern)
    symbols = [symbol_set(tests, PlainEvent(kind, {})) for kind in KINDS]
    return compose.compose(pattern, symbols, tests, Budget(size)).match


def random_formula(rng: Random, depth: int, size: int = 5) -> t.Pattern:
    while True:
        made = nested(rng, depth, 1)
        conditional = any(isinstance(node, t.OtherEvent) and node.condition for node in nodes(made))
        if atoms(made) <= size and not conditional:
            return made


def random_machine(rng: Random, depth: int = 1, size: int = 4) -> MatchAutomaton:
    return machine(random_formula(rng, depth, size))


def random_word(rng: Random, n: int) -> list[int]:
    return rng.choices(range(len(KINDS)), (4, 4, 3, 1), k=n)


def runs(automaton: MatchAutomaton, word: Sequence[int]) -> list[Found]:
    """The complex events of the accepting runs, one for each run."""
    leaving, final = automaton.leaving(), automaton.automaton.final
    active: list[tuple[int, int | None, Marks]] = [(0, None, frozenset())]
    found: list[Found] = []
    for position, symbol in enumerate(word):
        following: list[tuple[int, int | None, Marks]] = []
        for state, start, marks in active:
            for label, target in leaving[state][automaton.class_of[symbol]]:
                if label == BEFORE:
                    assert start is None, "nothing is before the start any more"
                    following.append((target, None, marks))
                else:
                    begun = position if start is None else start
                    following.append((target, begun, marks | {(position, label)} if label else marks))
        active = following
        for state, start, marks in active:
            if state in final:
                assert start is not None, "a complex event has a start"
                found.append((start, position, marks))
    return found


def monitored_runs(found: MonitorSplit, word: Sequence[int]) -> list[Found]:
    """The complex events of the monitor with the automaton that reads what it gives."""
    state, given = 0, []
    for symbol in word:
        read = found.symbol_of[symbol]
        given.append(found.symbol[state][read])
        state = found.follow[state][read]
    return list(symbol_runs(found.automaton, given))


def by_reference(pattern: t.Pattern, word: Sequence[int]) -> set[Found]:
    answers = set()
    for one in matches(pattern, [Event(KINDS[symbol], {}) for symbol in word]):
        labels: dict[int, set[str]] = {}
        for variable, position in one.marks:
            labels.setdefault(position, set()).add(variable)
        marks = frozenset((position, frozenset(label)) for position, label in labels.items())
        answers.add((one.start, one.end, marks))
    return answers


def positions(found: Found) -> frozenset[int]:
    return frozenset(position for position, _ in found[2])


def selected(strategy: Strategy, operand: MatchAutomaton, budget: Budget) -> MatchAutomaton:
    if strategy is Strategy.STRICT:
        return compose.combined(StrictSelector, [operand], budget, WHAT)
    return selectors.select(strategy, operand, budget, WHAT)


def random_deterministic(rng: Random) -> DeterministicCEA:
    """Up to four states, two symbols, and two labels besides the empty one."""
    labels = (frozenset[str](), frozenset({"x"}), frozenset({"y"}))
    n = rng.randrange(2, 5)
    steps = [
        Step(source, symbol, label, rng.randrange(1, n))
        for symbol, source, label in product(range(2), range(n), range(3))
        if rng.random() < 0.35
    ]
    final = {state for state in range(1, n) if rng.random() < 0.5} or {n - 1}
    return DeterministicCEA(n, 2, labels, tuple(steps), frozenset(final))


def pattern_of(text: str) -> t.Pattern:
    query = parse(f"SELECT * WHERE {text}")
    assert isinstance(query, t.SelectQuery)
    return query.pattern

"""Determinisation: the same complex events, each by one run; budgets; reproducible numbering."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from automata_oracle import (
    A,
    B,
    C,
    complex_events,
    random_events,
    random_formula,
    symbol_set,
    symbols_of,
)

from cer_gpu.automata.cea import (
    CEA,
    DeterministicCEA,
    InitialStateError,
    NotDeterministicError,
    Step,
    Transition,
    TypeTest,
    UnknownLabelError,
    UnknownPredicateError,
    UnknownStateError,
    UnknownSymbolError,
)
from cer_gpu.automata.construct import construct, trim
from cer_gpu.automata.determinise import determinise, predicates
from cer_gpu.automata.explore import coreachable, explore
from cer_gpu.automata.minimise import merge_symbols, minimise
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.plan.regular_automata import cause
from cer_gpu.reference.simulate import symbol_runs


def determinised(pattern: tree.Pattern, budget: int = 10_000) -> DeterministicCEA:
    cea = trim(construct(pattern))
    return determinise(cea, symbols_of(cea), predicates(cea), budget, "PROJECT")


@pytest.mark.draws("block", 10)
def test_every_step_keeps_the_complex_events_and_repeats_none(block: int) -> None:
    rng = random.Random(f"determinise-{block}")
    answers = 0
    for _ in range(300):
        pattern = random_formula(rng, rng.randint(1, 5))
        cea = trim(construct(pattern))
        tests, symbols = predicates(cea), symbols_of(cea)
        det = determinise(cea, symbols, tests)
        small = minimise(det)
        merged = merge_symbols(small)
        for _ in range(3):
            events = random_events(rng, 7)
            expected = complex_events(pattern, events)
            word = [symbols.index(symbol_set(tests, event)) for event in events]
            for machine, letters in (
                (det, word),
                (small, word),
                (merged.automaton, [merged.symbol[letter] for letter in word]),
            ):
                got = list(symbol_runs(machine, letters))
                assert len(got) == len(set(got))
                assert set(got) == expected
            answers += len(expected)
    assert answers > 1_000


@pytest.mark.parametrize(
    "pattern",
    [
        tree.Project(tree.Sequence(tree.Sequence(A, B), C), ("A",)),
        tree.Project(tree.Iteration(tree.Or(A, tree.As(A, "x"))), ("A",)),
        tree.Project(tree.Iteration(tree.Iteration(A), True), ()),
        tree.As(tree.Iteration(tree.Sequence(tree.Iteration(A), B)), "x"),
        tree.Iteration(tree.Iteration(tree.Iteration(tree.Or(A, tree.Sequence(A, A))))),
        tree.Sequence(tree.OtherEvent(A), tree.OtherEvent(B)),
    ],
)
def test_ambiguous_formulas_give_each_complex_event_once(pattern: tree.Pattern) -> None:
    rng = random.Random("ambiguous")
    cea = trim(construct(pattern))
    tests, symbols = predicates(cea), symbols_of(cea)
    det = determinise(cea, symbols, tests)
    for _ in range(10):
        events = random_events(rng, 7)
        got = list(symbol_runs(det, [symbols.index(symbol_set(tests, event)) for event in events]))
        assert len(got) == len(set(got))
        assert set(got) == complex_events(pattern, events)


def test_every_result_of_determinise_is_deterministic() -> None:
    rng = random.Random("io")
    for _ in range(100):
        det = determinised(random_formula(rng, 4))
        keys = [(step.source, step.symbol, step.label) for step in det.transitions]
        assert len(keys) == len(set(keys))
        assert all(step.target != 0 for step in det.transitions)


def distance_from_the_end(n: int, marked: tree.Pattern = A) -> tree.Pattern:
    """An A, then n events of A or B: nothing kept, so subsets have to remember the last n events."""
    either = tree.Or(A, B)
    tail: tree.Pattern = tree.Sequence(tree.Iteration(either, True), marked, True)
    for _ in range(n):
        tail = tree.Sequence(tail, either, True)
    return tree.Project(tail, ())


def test_the_budget_stops_an_exploding_determinisation_at_once() -> None:
    with pytest.raises(LimitError) as caught:
        determinised(distance_from_the_end(40), budget=20_000)
    message = str(caught.value)
    assert message.startswith(
        "PROJECT over 3 classes of events is too large: at most 20,000 states and transitions"
    )
    assert "or more are needed" in message
    assert "Shorten the pattern" in message


def test_the_budget_is_not_passed_by_one() -> None:
    size = determinised(distance_from_the_end(3)).size
    assert determinised(distance_from_the_end(3), budget=size).size == size
    with pytest.raises(LimitError):
        determinised(distance_from_the_end(3), budget=size - 1)


@pytest.mark.parametrize("marked", [A, tree.As(A, "y")], ids=["also without PROJECT", "with PROJECT only"])
def test_cause_names_the_operand_that_explodes(marked: tree.Pattern) -> None:
    harmless: tree.Pattern = A
    for _ in range(20):
        harmless = tree.Sequence(harmless, B)
    exploding = tree.As(distance_from_the_end(30, marked), "x")
    formula = tree.Or(tree.Iteration(harmless), tree.Sequence(C, exploding))
    cea = trim(construct(formula))
    blamed = cause(formula, symbols_of(cea), predicates(cea), 16_000)
    assert isinstance(blamed, tree.Sequence)
    assert blamed.contiguous
    assert blamed.right == tree.Or(A, B)


def test_cause_passes_over_an_operand_that_tests_what_the_whole_does_not() -> None:
    exploding = tree.As(distance_from_the_end(30), "x")
    formula = tree.Or(C, exploding)
    cea = trim(construct(formula))
    # As where a look-ahead of an operand alone is not that of the whole formula.
    known = tuple(one for one in predicates(cea) if getattr(one, "name", None) != "A")
    symbols = [frozenset(range(len(known)))]
    assert cause(formula, symbols, known, 16_000) is formula


def test_numbering_does_not_depend_on_the_order_of_sets() -> None:
    program = """
import random
from automata_oracle import random_formula, symbols_of
from cer_gpu.automata.construct import construct
from cer_gpu.automata.determinise import determinise, predicates
from cer_gpu.automata.minimise import merge_symbols, minimise, registers
from cer_gpu.automata.construct import trim

rng = random.Random("hash")
for _ in range(60):
    cea = trim(construct(random_formula(rng, 4)))
    for machine in (
        det := determinise(cea, symbols_of(cea), predicates(cea)),
        small := minimise(det),
        merge_symbols(small).automaton,
    ):
        labels = [sorted(label) for label in machine.labels]
        print(labels, [tuple(step) for step in machine.transitions], sorted(machine.final))
        print(registers(machine))
    print(merge_symbols(small).symbol, [(m.source, m.target, sorted(m.label)) for m in cea.transitions])
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parent,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 10_000


def test_explore_numbers_breadth_first_and_keeps_every_edge() -> None:
    found = explore("a", lambda s: [(0, "b"), (1, "a")] if s == "a" else [(0, "c")], "c".__eq__, None, "test")
    assert found.states == ("a", "b", "c")
    assert found.edges == ((0, 0, 1), (0, 1, 0), (1, 0, 2), (2, 0, 2))
    assert found.final == {2}


def test_explore_stops_on_an_infinite_machine() -> None:
    with pytest.raises(LimitError, match="counting is too large: at most 50 states"):
        explore(0, lambda n: [(None, n + 1)], lambda n: False, 50, "counting")


def test_coreachable() -> None:
    assert coreachable(5, [(0, 1), (1, 2), (3, 1), (2, 4)], [2]) == {0, 1, 2, 3}


IS_A = TypeTest("A")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((1, 1, frozenset(), ()), "initial state 1"),
        ((1, 0, frozenset({3}), ()), "final state 3"),
        ((2, 0, frozenset(), (Transition(0, IS_A, frozenset(), 7),)), "from state 0 to state 7"),
        ((2, 0, frozenset(), (), ((5, 1),)), "epsilon transition from state 5 to state 1"),
    ],
)
def test_a_cea_names_the_state_it_lacks(parts: tuple, message: str) -> None:
    with pytest.raises(UnknownStateError, match=message):
        CEA(*parts)


EMPTY, WITH_A = frozenset[str](), frozenset({"A"})


@pytest.mark.parametrize(
    ("labels", "steps", "final", "error"),
    [
        ((WITH_A,), (), (), UnknownLabelError),
        ((EMPTY, frozenset({"B"}), WITH_A), (), (), UnknownLabelError),
        ((EMPTY,), (Step(0, 0, 1, 1),), (), UnknownLabelError),
        ((EMPTY,), (Step(0, 2, 0, 1),), (), UnknownSymbolError),
        ((EMPTY,), (Step(0, 0, 0, 2),), (), UnknownStateError),
        ((EMPTY,), (), (2,), UnknownStateError),
        ((EMPTY,), (), (0,), InitialStateError),
        ((EMPTY,), (Step(1, 0, 0, 0),), (), InitialStateError),
        ((EMPTY,), (Step(0, 0, 0, 1), Step(0, 0, 0, 1)), (), NotDeterministicError),
        ((EMPTY,), (Step(0, 1, 0, 1), Step(0, 0, 0, 1)), (), NotDeterministicError),
    ],
)
def test_a_deterministic_cea_is_validated(
    labels: tuple, steps: tuple, final: tuple, error: type[Exception]
) -> None:
    with pytest.raises(error):
        DeterministicCEA(2, 2, labels, steps, frozenset(final))


def test_determinise_refuses_what_the_predicates_do_not_cover() -> None:
    cea = construct(A)
    with pytest.raises(UnknownPredicateError, match="TypeTest"):
        determinise(cea, [frozenset()], [])
    with pytest.raises(UnknownSymbolError, match="symbol 1 names predicate 4"):
        determinise(cea, [frozenset(), frozenset({4})], [IS_A])

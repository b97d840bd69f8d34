"""Minimisation, registers, and merged and neutral symbols."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from automata_oracle import A, B, C, D, Event, random_formula, symbol_set, symbols_of

from cer_gpu.automata.cea import DeterministicCEA, Step
from cer_gpu.automata.construct import construct, trim
from cer_gpu.automata.determinise import determinise, predicates
from cer_gpu.automata.minimise import MergedSymbols, merge_symbols, minimise, registers
from cer_gpu.language import tree
from cer_gpu.reference.simulate import symbol_runs

LABELS = (frozenset[str](), frozenset({"x"}), frozenset({"y"}))


def random_machine(rng: random.Random) -> DeterministicCEA:
    n_states, n_symbols = rng.randint(2, 9), rng.randint(1, 4)
    keys = sorted(
        (symbol, source, label)
        for symbol in range(n_symbols)
        for source in range(n_states)
        for label in range(len(LABELS))
        if rng.random() < 0.35
    )
    steps = [Step(source, symbol, label, rng.randrange(1, n_states)) for symbol, source, label in keys]
    final = frozenset(state for state in range(1, n_states) if rng.random() < 0.3)
    return DeterministicCEA(n_states, n_symbols, LABELS, tuple(steps), final)


def classes_by_rounds(det: DeterministicCEA, accept_on_transitions: bool) -> list[object]:
    """State equivalence by refining all states round after round, as slow as it is plain."""
    of: list[object] = [0 if accept_on_transitions else state in det.final for state in range(det.n_states)]
    for _ in range(det.n_states):
        signatures = [
            (
                of[state],
                tuple(
                    (step.symbol, step.label, of[step.target], step.target in det.final)
                    for step in det.transitions
                    if step.source == state
                ),
            )
            for state in range(det.n_states)
        ]
        numbers = {signature: number for number, signature in enumerate(dict.fromkeys(signatures))}
        of = [numbers[signature] for signature in signatures]
    return of


def words(rng: random.Random, n_symbols: int) -> list[list[int]]:
    return [[rng.randrange(n_symbols) for _ in range(6)] for _ in range(6)]


@pytest.mark.draws("block", 5)
def test_random_machines_are_minimised(block: int) -> None:
    rng = random.Random(f"minimise-{block}")
    smaller = 0
    for _ in range(100):
        det = random_machine(rng)
        small = minimise(det)
        for word in words(rng, det.n_symbols):
            assert Counter(symbol_runs(small, word)) == Counter(symbol_runs(det, word))
        assert minimise(small) == small
        assert len(set(classes_by_rounds(small, False)[1:])) == small.n_states - 1
        live = [state for state, register in enumerate(registers(small)) if register > 0]
        behaviours = classes_by_rounds(small, True)
        assert len({behaviours[state] for state in live}) == max(0, *registers(small))
        smaller += small.n_states < det.n_states
    assert smaller > 20


def test_equal_languages_become_equal_values() -> None:
    def machine(pattern: tree.Pattern) -> DeterministicCEA:
        cea = trim(construct(pattern))
        tests = predicates(cea)
        events = [Event(name, {}) for name in "ABCD"]
        return minimise(determinise(cea, [symbol_set(tests, event) for event in events], tests))

    for contiguous in (False, True):
        left = tree.Sequence(tree.Sequence(A, B, contiguous), C, contiguous)
        right = tree.Sequence(A, tree.Sequence(B, C, contiguous), contiguous)
        assert machine(left) == machine(right)
    assert machine(tree.Iteration(tree.Iteration(A))) == machine(tree.Iteration(A))
    assert machine(tree.Or(A, tree.Or(B, A))) == machine(tree.Or(B, A))
    assert machine(tree.Iteration(A)) != machine(tree.Iteration(A, True))
    assert machine(tree.Project(D, ())).labels == (frozenset(),)


def merged(pattern: tree.Pattern) -> dict[str, int]:
    """The new symbol of the events of each type."""
    cea = trim(construct(pattern))
    tests, symbols = predicates(cea), symbols_of(cea)
    result = merge_symbols(minimise(determinise(cea, symbols, tests)))
    return {name: result.symbol[symbols.index(symbol_set(tests, Event(name, {"v": 0})))] for name in "ABCD"}


@pytest.mark.parametrize(
    ("pattern", "neutral"),
    [
        (A, "BCD"),
        (tree.Sequence(tree.Sequence(A, B), C), "D"),
        (tree.Sequence(A, B, True), ""),
        (tree.Sequence(tree.Sequence(A, B), C, True), ""),
        (tree.Iteration(A), "BCD"),
        (tree.Sequence(A, tree.Iteration(B)), "CD"),
        (tree.As(tree.Iteration(tree.Sequence(tree.Iteration(A), B)), "x"), "CD"),
        (tree.Or(A, tree.Sequence(A, tree.Iteration(tree.OtherEvent(B), True), True)), ""),
        (tree.Sequence(A, tree.OtherEvent(B)), "B"),
        (tree.Filter(A, tree.Every("A", tree.Truth(False))), "ABCD"),
    ],
)
def test_neutral_symbols(pattern: tree.Pattern, neutral: str) -> None:
    assert {name for name, symbol in merged(pattern).items() if symbol == 0} == set(neutral)


def test_symbols_without_a_difference_are_merged_and_numbered_from_one() -> None:
    either = tree.Project(tree.Or(B, C), ())
    assert merged(tree.Sequence(A, either, True)) == {"D": 1, "A": 2, "B": 3, "C": 3}
    assert merged(tree.Sequence(A, either)) == {"D": 0, "A": 1, "B": 2, "C": 2}


def without_neutral(result: MergedSymbols, word: list[int]) -> tuple[list[int], list[int]]:
    """The letters of a word that are not neutral, and their positions."""
    letters = [result.symbol[letter] for letter in word]
    kept = [position for position, letter in enumerate(letters) if letter]
    return [letters[position] for position in kept], kept


@pytest.mark.parametrize("source", ["formulas", "machines"])
def test_neutral_events_can_be_dropped(source: str) -> None:
    rng = random.Random(f"neutral-{source}")
    dropped = 0
    for _ in range(200):
        if source == "machines":
            det = random_machine(rng)
        else:
            cea = trim(construct(random_formula(rng, 3)))
            det = determinise(cea, symbols_of(cea), predicates(cea))
        for machine in (det, minimise(det)):
            result = merge_symbols(machine)
            for word in words(rng, det.n_symbols):
                kept, positions = without_neutral(result, word)
                got = [
                    (positions[start], positions[end], frozenset((positions[i], label) for i, label in marks))
                    for start, end, marks in symbol_runs(result.automaton, kept)
                ]
                assert Counter(got) == Counter(symbol_runs(machine, word))
                dropped += len(word) - len(kept)
    assert dropped > 50


def test_registers_run_as_the_states_do() -> None:
    rng = random.Random("registers")
    for _ in range(200):
        det = minimise(random_machine(rng))
        register = registers(det)
        moves: dict[tuple[int, int, int], tuple[int, bool]] = {}
        for step in det.transitions:
            key = (register[step.source], step.symbol, step.label)
            move = (register[step.target], step.target in det.final)
            assert moves.setdefault(key, move) == move
        for word in words(rng, det.n_symbols):
            ends = []
            for start in range(len(word)):
                active = [0]
                for position in range(start, len(word)):
                    taken = [
                        moves[key]
                        for state in active
                        for label in range(len(det.labels))
                        if (key := (state, word[position], label)) in moves
                    ]
                    ends += [(start, position)] * sum(accepting for _, accepting in taken)
                    active = [state for state, _ in taken if state >= 0]
            assert sorted(ends) == sorted((start, end) for start, end, _ in symbol_runs(det, word))

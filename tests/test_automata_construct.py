"""Formulas to CEA: the complex events of the definition, in linear size; trimming."""

from __future__ import annotations

import random

import pytest
from automata_oracle import (
    EVERY_EVENT,
    A,
    B,
    C,
    Event,
    complex_events,
    holds,
    nodes,
    random_events,
    random_formula,
)

from cer_gpu.automata.cea import CEA, TypeTest
from cer_gpu.automata.construct import construct, trim
from cer_gpu.automata.determinise import predicates
from cer_gpu.language import tree
from cer_gpu.reference.simulate import runs


def found(cea: CEA, events: list[Event]) -> set:
    tests = predicates(cea)
    return runs(cea, lambda i, position: holds(tests[i], events[position]), len(events))


def compare(attribute: str, op: str, constant: int) -> tree.Condition:
    return tree.Comparison(op, tree.Attribute(attribute), tree.Number(constant))


@pytest.mark.draws("block", 10)
def test_random_formulas_have_the_complex_events_of_the_definition(block: int) -> None:
    rng = random.Random(f"construct-{block}")
    for _ in range(100):
        pattern = random_formula(rng, rng.randint(1, 4))
        events = random_events(rng, 6)
        cea = construct(pattern)
        expected = complex_events(pattern, events)
        assert found(cea, events) == expected
        assert found(trim(cea), events) == expected


# Figure 2.1 of the thesis.
STREAM = [
    Event(kind, {"id": sensor, {"T": "tmp", "H": "hum"}[kind]: value})
    for kind, sensor, value in zip(
        "HTHHTTTHH", (2, 0, 0, 1, 1, 0, 1, 1, 0), (35, 45, 20, 25, 40, 42, 25, 70, 18), strict=True
    )
]
T, H = tree.EventType("T"), tree.EventType("H")


def filtered(event_type: tree.EventType, *conditions: tree.Condition) -> tree.Pattern:
    pattern: tree.Pattern = event_type
    for condition in conditions:
        pattern = tree.Filter(pattern, tree.Every(event_type.name, condition))
    return pattern


HOT = tree.As(filtered(T, compare("tmp", ">", 40), compare("id", "=", 0)), "x")
DRY = tree.As(filtered(H, compare("hum", "<=", 25), compare("id", "=", 0)), "y")


def positions(complex_event_set: set) -> set[frozenset[int]]:
    return {frozenset(position for position, _ in marks) for _, _, marks in complex_event_set}


def test_thesis_chapter_2_phi_1_prime() -> None:
    answers = found(trim(construct(tree.Sequence(HOT, DRY))), STREAM)
    assert positions(answers) == {frozenset({1, 2}), frozenset({1, 8}), frozenset({5, 8})}
    assert (1, 2, frozenset({(1, frozenset({"T", "x"})), (2, frozenset({"H", "y"}))})) in answers


def test_thesis_chapter_2_phi_2_in_normal_form() -> None:
    pattern = tree.Or(tree.Sequence(HOT, DRY), tree.Sequence(DRY, HOT))
    answers = found(trim(construct(pattern)), STREAM)
    assert positions(answers) == {frozenset(pair) for pair in ({1, 2}, {1, 8}, {5, 8}, {2, 5})}


def test_thesis_chapter_2_phi_3_in_normal_form() -> None:
    low = tree.As(filtered(H, compare("hum", "<=", 29), compare("id", "=", 1)), "x")
    high = tree.As(filtered(H, compare("hum", ">", 60), compare("id", "=", 1)), "z")
    middle = tree.Iteration(tree.As(filtered(T, compare("id", "=", 1)), "y"))
    answers = found(trim(construct(tree.Sequence(tree.Sequence(low, middle), high))), STREAM)
    assert positions(answers) == {frozenset(found) for found in ({3, 6, 7}, {3, 4, 7}, {3, 4, 6, 7})}


def test_theorem_7_1_size_is_linear() -> None:
    rng = random.Random("size")
    patterns = [random_formula(rng, depth) for depth in (2, 4, 6, 8) for _ in range(20)]
    for depth in (1, 10, 100):
        nested: tree.Pattern = A
        named: tree.Pattern = A
        for level in range(depth):
            nested = tree.Iteration(nested if level % 2 else tree.As(nested, f"x{level}"))
            named = tree.Project(tree.As(tree.Or(named, B), f"x{level}"), (f"x{level}", "A"))
        patterns += [nested, named]
    for pattern in patterns:
        assert construct(pattern).size <= 2 + 8 * nodes(pattern)


def test_a_sequence_of_thousands_is_built_without_recursion() -> None:
    pattern: tree.Pattern = A
    for _ in range(5_000):
        pattern = tree.Sequence(pattern, B)
    cea = trim(construct(pattern))
    assert cea.size == 5_001 + 1 + 5_001 + 5_000


def test_start_and_end_are_those_of_the_run_even_if_unmarked() -> None:
    other = tree.OtherEvent(A)
    pattern = tree.Sequence(tree.Sequence(other, A, True), other, True)
    events = [Event("B", {}), Event("A", {}), Event("C", {})]
    assert found(construct(pattern), events) == {(0, 2, frozenset({(1, frozenset({"A"}))}))}


def test_as_does_not_name_what_project_unmarked() -> None:
    inner = tree.Project(tree.Sequence(A, B), ("A",))
    events = [Event("A", {}), Event("B", {})]
    assert found(construct(tree.As(inner, "x")), events) == {(0, 1, frozenset({(0, frozenset({"A", "x"}))}))}


def test_stream_marks_both_names() -> None:
    (move,) = construct(tree.EventType("A", "S")).transitions
    assert move.predicate == TypeTest("A", "S")
    assert move.label == {"A", "S>A"}


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (tree.And(A, B), "And"),
        (tree.All(A, B), "All"),
        (tree.Unless(A, B), "Unless"),
        (tree.Selector(tree.Strategy.MAX, A), "Selector"),
        (tree.Timed(A, tree.Interval(None, tree.Bound(1))), "Timed"),
        (tree.Sequence(A, B, False, tree.Interval(None, tree.Bound(1))), "Sequence with a gap"),
        (tree.Iteration(A, False, tree.Interval(None, tree.Bound(1))), "Iteration with a gap"),
        (tree.Filter(tree.Or(A, B), tree.Every("A", tree.Truth(True))), "Filter over Or"),
        (tree.Filter(A, tree.Every("x", tree.Truth(True))), "Filter of 'x' on 'A'"),
        (tree.Filter(A, compare("v", ">", 1)), "Comparison in a filter"),
        (tree.OtherEvent(A, tree.Every("B", tree.Truth(True))), "Filter of 'B' on 'A'"),
    ],
)
def test_other_nodes_are_refused_by_name(pattern: tree.Pattern, name: str) -> None:
    with pytest.raises(TypeError, match=name):
        construct(tree.Sequence(C, pattern))


def test_trim_keeps_what_runs_use() -> None:
    dead = tree.Filter(B, tree.Every("B", tree.Truth(False)))
    whole = trim(construct(tree.Or(tree.Sequence(A, dead), tree.Sequence(A, C))))
    assert whole == trim(construct(tree.Sequence(A, C)))
    nothing = trim(construct(tree.Sequence(A, dead)))
    assert nothing == CEA(1, 0, frozenset(), ())


def test_predicates_are_distinct_in_the_order_of_the_transitions() -> None:
    cea = construct(tree.Sequence(tree.Sequence(B, A), B))
    tests = predicates(cea)
    assert len(tests) == 3
    assert [move.predicate for move in cea.transitions if move.predicate not in tests] == []
    ranks = [tests.index(move.predicate) for move in cea.transitions]
    assert [rank for i, rank in enumerate(ranks) if rank not in ranks[:i]] == [0, 1, 2]


def test_an_integer_and_a_float_literal_are_two_predicates() -> None:
    def over(constant: float) -> tree.Pattern:
        total = tree.Arithmetic("+", tree.Attribute("v"), tree.Number(constant))
        return tree.Filter(A, tree.Every("A", tree.Comparison(">", total, tree.Number(5))))

    assert len(predicates(construct(tree.Or(over(1), over(1.0))))) == 2
    assert len(predicates(construct(tree.Or(over(1), over(1))))) == 1


def test_the_generator_reaches_every_event() -> None:
    rng = random.Random("events")
    assert {repr(event) for _ in range(100) for event in random_events(rng, 5)} == set(map(repr, EVERY_EVENT))

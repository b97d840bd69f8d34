"""LP-normal form: equivalent to the formula it comes from, in the form, and of the size foreseen."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import generate
import pytest

from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.walk import nodes
from cer_gpu.logic.correlations import unfolded
from cer_gpu.logic.formulas import atoms, correlates
from cer_gpu.logic.lp import cost, is_lp, to_lp
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import matches


def formula(text: str) -> t.Pattern:
    return parse(f"SELECT * WHERE {text}").pattern


def assert_equivalent(seed: int, *, full: bool) -> tuple[t.Pattern, bool]:
    """Compare a random formula with its normal form; give the form, and whether anything matched."""
    rng = Random(seed)
    pattern = generate.pattern(rng, atoms=5, full=full)
    try:
        rewritten = to_lp(pattern, budget=2_000)
    except LimitError:
        return t.EventType("A"), False
    assert atoms(rewritten) <= cost(pattern)
    found = False
    for _ in range(2):
        events = generate.stream(rng, rng.randrange(4, 11))
        expected = matches(pattern, events, order=generate.ORDER)
        assert matches(rewritten, events, order=generate.ORDER) == expected, (pattern, rewritten, events)
        found = found or bool(expected)
    return rewritten, found


def test_random_unary_formulas_are_equivalent_and_in_the_form(draws: Callable[[int], range]) -> None:
    results = [assert_equivalent(seed, full=False) for seed in draws(1_000)]
    assert all(is_lp(rewritten) for rewritten, _ in results)
    assert sum(found for _, found in results) > 0.35 * len(results)


def test_random_formulas_of_the_whole_language_are_equivalent(draws: Callable[[int], range]) -> None:
    results = [assert_equivalent(10_000 + seed, full=True) for seed in draws(700)]
    assert sum(found for _, found in results) > 0.25 * len(results)
    # What is not in the form must look at what a selector chose, or has a correlation that is in the way.
    for rewritten, _ in results:
        chosen = any(isinstance(node, t.Selector) for node in nodes(rewritten))
        assert is_lp(rewritten) or chosen or correlates(rewritten)


EXAMPLES = {
    "AND goes to each side": (
        "(A AS x ; B AS y) FILTER x[v > 1] AND y[v < 2]",
        "(A FILTER A[v > 1]) AS x ; (B FILTER B[v < 2]) AS y",
    ),
    "OR of two variables is OR of formulas": (
        "(A AS x ; B AS y) FILTER x[v > 1] OR y[v < 2]",
        "(A FILTER A[v > 1]) AS x ; B AS y OR A AS x ; (B FILTER B[v < 2]) AS y",
    ),
    "OR on one event stays a predicate": (
        "(A AS x ; B) FILTER x[v > 1] OR x[v < 0] OR A[id = 2]",
        "(A FILTER A[v > 1 OR v < 0]) AS x ; B OR (A FILTER A[id = 2]) AS x ; B",
    ),
    "names of one event are one name": (
        "A AS x FILTER x[v > 1] OR A[id = 2]",
        "(A FILTER A[v > 1 OR id = 2]) AS x",
    ),
    "NOT on one event is a predicate": (
        "(A AS x ; B) FILTER NOT x[v > 1]",
        "(A FILTER A[NOT v > 1]) AS x ; B",
    ),
    "NOT on two events is one or the other": (
        "(A ; B) AS x FILTER NOT x[v > 1]",
        "((A FILTER A[NOT v > 1]) ; B OR A ; (B FILTER B[NOT v > 1])) AS x",
    ),
    "a universal demand goes into every repetition": (
        "A+ FILTER A[v > 1]",
        "(A FILTER A[v > 1])+",
    ),
    "an outer variable": (
        "A AS x ; (B FILTER x[v > 1])",
        "(A FILTER A[v > 1]) AS x ; B",
    ),
    "a name that marks nothing there": (
        "(A AS x OR B AS y) FILTER NOT x[v > 1]",
        "(A FILTER A[NOT v > 1]) AS x",
    ),
    "PROJECT hides": (
        "PROJECT(A AS x ; B | B) AS y FILTER y[v > 1]",
        "PROJECT(A AS x ; (B FILTER B[v > 1]) | B) AS y",
    ),
    "NOT (T FILTER c)": (
        "NOT (A FILTER A[v > 1] OR NOT A[id = 2])",
        "NOT (A FILTER A[v > 1 OR NOT id = 2])",
    ),
    "a correlation stays": (
        "(A AS x ; B AS y) FILTER x.v = y.v AND x[v > 1]",
        "(A FILTER A[v > 1]) AS x ; B AS y FILTER x.v = y.v",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    before, after = EXAMPLES[name]
    assert to_lp(formula(before)) == formula(after)


def test_one_repetition_violates() -> None:
    pattern = formula("A+ FILTER NOT A[v > 1]")
    rewritten = to_lp(pattern)
    assert is_lp(rewritten)
    events = [Event("A", {"v": v}) for v in (5, 0, 7)]
    found = {match.positions() for match in matches(rewritten, events)}
    assert found == {frozenset(one) for one in ({1}, {0, 1}, {1, 2}, {0, 1, 2})}


def columns(letters: str, values: list[int]) -> list[Event]:
    return [Event(letter, {"v": v}) for letter, v in zip(letters, values)]


def test_or_on_many_events_is_not_or_of_predicates() -> None:
    pattern = formula("A+ FILTER A[v > 1] OR A[v < 0]")
    found = {match.positions() for match in matches(to_lp(pattern), columns("AA", [5, -1]))}
    assert found == {frozenset({0}), frozenset({1})}


def test_a_branch_that_goes_does_not_take_a_variable_along() -> None:
    # In the disjunct of A the filter on C cannot fail, so it goes; the correlation still speaks of its x.
    pattern = formula("((A AS x OR C) FILTER NOT C[v > 1]) ; (B AS y FILTER y.v = x.v)")
    events = columns("CAB", [0, 7, 7])
    assert {match.positions() for match in matches(to_lp(pattern), events)} == {frozenset({0, 2})}
    assert matches(to_lp(pattern), events) == matches(pattern, events)


def test_a_correlated_repetition_is_not_taken_out() -> None:
    pattern = formula("(A AS x ; (B AS y FILTER y.v = x.v))+ FILTER NOT A[v > 1]")
    events = columns("ABAB", [1, 1, 2, 2])
    assert len(matches(pattern, events)) == 2
    assert matches(to_lp(pattern), events) == matches(pattern, events)


def test_an_unsatisfiable_formula_becomes_one_atom() -> None:
    pattern = t.Filter(t.Sequence(t.EventType("A"), t.EventType("B")), t.Truth(False))
    rewritten = to_lp(pattern)
    assert rewritten == t.Filter(t.EventType("A"), t.Every("A", t.Truth(False)))
    assert is_lp(rewritten)


def test_a_filter_over_a_choice_stays() -> None:
    pattern = formula("NXT(A+) FILTER A[v > 1]")
    assert to_lp(pattern) == pattern
    assert not is_lp(pattern)
    assert is_lp(to_lp(formula("STRICT(A+) FILTER A[v > 1]")))


def test_the_budget_names_the_operator() -> None:
    pattern = formula(
        "(A AS a ; B AS b ; C AS c ; D AS d) FILTER "
        + " AND ".join(f"(a[v = {i}] OR b[v = {i}] OR c[v = {i}] OR d[v = {i}])" for i in range(12))
    )
    with pytest.raises(LimitError, match=r"16,777,216 event types.*20,000.*OR in a FILTER"):
        to_lp(pattern)


def test_the_budget_of_outer_predicates() -> None:
    pattern = formula("A+ AS x ; (B FILTER " + " AND ".join(f"x[v != {i}]" for i in range(40)) + ")")
    with pytest.raises(LimitError, match="a FILTER that reads a variable from outside"):
        cost(pattern)


def test_the_budget_of_nested_iterations() -> None:
    pattern = formula("(((((((((A+)+)+)+)+)+)+)+)+)+ FILTER NOT A[v > 1]")
    with pytest.raises(LimitError, match=r"NOT x\[...\].* around `\+` \(4 alternatives\)"):
        to_lp(pattern)


def test_a_variable_that_no_pattern_defines() -> None:
    with pytest.raises(ValueError, match="variables that no pattern defines: z"):
        to_lp(t.Filter(t.EventType("A"), t.Every("z", t.Truth(False))))


def test_a_demand_on_an_optional_element_that_cannot_be_met_leaves_no_way_out() -> None:
    pattern = formula(
        "C AS c ; (A AS a FILTER c[v > 2])+ ? FILTER (c.id < a.id OR a[v < 3]) AND NOT a[NOT v > 4]"
    )
    written = unfolded(pattern)
    answered = 0
    for seed in range(12):
        events = generate.stream(Random(seed), 6, types="AC")
        expected = matches(pattern, events, order=generate.ORDER)
        answered += bool(expected)
        assert matches(to_lp(written), events, order=generate.ORDER) == expected
    assert answered > 1

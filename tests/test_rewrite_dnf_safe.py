"""Disjunctive normal form and safe form, and their equivalences: for sets, and for the thesis' valuations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from random import Random

import generate
import pytest

from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.walk import children
from cer_gpu.logic.formulas import atoms
from cer_gpu.reference.conditions import condition_holds
from cer_gpu.reference.dnf import cost, is_dnf, to_dnf
from cer_gpu.reference.events import Event
from cer_gpu.reference.safe_formulas import defined_once, is_safe, to_safe
from cer_gpu.reference.semantics import matches


def formula(text: str) -> t.Pattern:
    return parse(f"SELECT * WHERE {text}").pattern


def test_random_formulas_are_equivalent_to_their_disjunctive_normal_form(
    draws: Callable[[int], range],
) -> None:
    changed = found = 0
    seeds = draws(1_200)
    for seed in seeds:
        rng = Random(seed)
        pattern = generate.pattern(rng, atoms=5, full=seed % 2 == 0)
        rewritten = to_dnf(pattern)
        assert is_dnf(rewritten)
        assert atoms(rewritten) <= cost(pattern)
        events = generate.stream(rng, rng.randrange(4, 10))
        expected = matches(pattern, events, order=generate.ORDER)
        assert matches(rewritten, events, order=generate.ORDER) == expected, (pattern, rewritten, events)
        changed += not is_dnf(pattern)
        found += bool(expected)
    assert changed > len(seeds) / 6
    assert found > len(seeds) / 3


def test_a_filter_is_dropped_where_its_variable_marks_nothing() -> None:
    assert to_dnf(formula("(A AS x OR B AS y) FILTER x[v > 1]")) == formula(
        "(A AS x FILTER x[v > 1]) OR B AS y"
    )


def test_project_binds_what_it_hides() -> None:
    hiding = formula("A AS x ; PROJECT((B AS x OR C) ; (D FILTER x[v > 1]) | C, D)")
    assert to_dnf(hiding) == formula(
        "A AS x ; PROJECT(B AS x ; (D FILTER x[v > 1]) | C, D) OR A AS x ; PROJECT(C ; D | C, D)"
    )


def test_the_budget_names_the_operator() -> None:
    pattern = formula(" ; ".join(["(A OR B)"] * 20))
    with pytest.raises(LimitError, match=r"20,971,520 event types.*OR inside ;"):
        to_dnf(pattern)


def test_names_outside_iterations() -> None:
    assert defined_once(formula("A AS x ; (B AS y)+ AS z")) == {"x", "z"}
    assert not is_safe(formula("A AS x AND A AS x"))
    assert is_safe(formula("A AS x OR B AS x"))
    assert is_safe(formula("(A AS x)+ ; A AS x"))


def test_to_safe_is_for_the_core() -> None:
    with pytest.raises(ValueError, match="Unless is not an operator of the core"):
        to_safe(formula("A AS x UNLESS B AS y"))


# ------------------------------------------------------------------------- the thesis' valuations

NAMES = ("x", "y", "z")


def by_valuation(pattern: t.Pattern, events: list[Event]) -> set[frozenset[int]]:
    """`M in [[p]](S)` of the thesis, section 3.2: there is a valuation, one position for each variable."""
    names = tuple(sorted(names_outside_iterations(pattern)))
    return {m for valuation in valuations(names, events) for m in holding(pattern, events, 0, valuation)}


def valuations(names: tuple[str, ...], events: list[Event]) -> Iterator[dict[str, int]]:
    for chosen in product(range(len(events)), repeat=len(names)):
        yield dict(zip(names, chosen))


def holding(
    pattern: t.Pattern, events: list[Event], first: int, valuation: Mapping[str, int]
) -> set[frozenset[int]]:
    match pattern:
        case t.As(pattern=t.EventType(name=kind), variable=x):
            at = valuation[x]
            return {frozenset({at})} if first <= at and events[at].type == kind else set()
        case t.Filter(pattern=inner, condition=condition):
            if not condition_holds(condition, lambda x, _: [events[valuation[x]]]):
                return set()
            return holding(inner, events, first, valuation)
        case t.Or(left=left, right=right):
            return holding(left, events, first, valuation) | holding(right, events, first, valuation)
        case t.Sequence(left=left, right=right):
            return {
                m1 | m2
                for m1 in holding(left, events, first, valuation)
                for m2 in holding(right, events, max(m1) + 1, valuation)
            }
        case t.Iteration(pattern=body):
            renewed = tuple(sorted(names_outside_iterations(body)))
            found: set[frozenset[int]] = set()
            for again in valuations(renewed, events):
                inside = {**valuation, **again}
                for m in holding(body, events, first, inside):
                    found.add(m)
                    found |= {m | rest for rest in holding(pattern, events, max(m) + 1, inside)}
            return found
    raise AssertionError(pattern)


def names_outside_iterations(pattern: t.Pattern) -> set[str]:
    match pattern:
        case t.As(variable=x):
            return {x}
        case t.Iteration():
            return set()
        case _:
            return set().union(*(names_outside_iterations(child) for child in children(pattern)))


def core(rng: Random, size: int) -> t.Pattern:
    """A formula of the thesis' core: every atom is `R AS x`."""
    if size == 1:
        made: t.Pattern = t.As(t.EventType(rng.choice("AB")), rng.choice(NAMES))
    elif rng.random() < 0.2:
        made = t.Iteration(core(rng, size - 1))
    else:
        split = rng.randrange(1, size)
        sides = core(rng, split), core(rng, size - split)
        made = t.Or(*sides) if rng.random() < 0.4 else t.Sequence(*sides)
    bound = sorted(bound_in(made))
    if bound and rng.random() < 0.3:
        threshold = t.Comparison("<", t.Attribute("v"), t.Number(rng.randrange(10)))
        made = t.Filter(made, t.Every(rng.choice(bound), threshold))
    return made


def bound_in(pattern: t.Pattern) -> set[str]:
    """`bound` of the thesis, section 5.1: well-formed filters speak of these."""
    match pattern:
        case t.As(variable=x):
            return {x}
        case t.Iteration():
            return set()
        case t.Or(left=left, right=right):
            return bound_in(left) & bound_in(right)
        case _:
            return set().union(*(bound_in(child) for child in children(pattern)))


def test_theorem_5_2_safe_form_is_equivalent_for_valuations(draws: Callable[[int], range]) -> None:
    unsafe = found = 0
    seeds = draws(300)
    for seed in seeds:
        rng = Random(seed)
        pattern = core(rng, rng.randrange(2, 5))
        events = [Event(rng.choice("AB"), {"v": rng.randrange(10)}) for _ in range(3)]
        safe = to_safe(pattern)
        assert is_safe(safe)
        expected = by_valuation(pattern, events)
        given = matches_of_safe(safe, events)
        assert given == expected, (pattern, safe, events)
        unsafe += not is_safe(pattern)
        found += bool(expected)
    assert unsafe > len(seeds) / 6
    assert found > len(seeds) / 4


def matches_of_safe(pattern: t.Pattern, events: list[Event]) -> set[frozenset[int]]:
    """A safe formula means the same for sets: the reference answers for it."""
    return {match.positions() for match in matches(pattern, events)}

"""The reference semantics of rules on the case files, and its edges."""

from __future__ import annotations

import math

import pytest
from case_files import RULES, cases, events_of

from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.reference.events import Event
from cer_gpu.reference.homomorphisms import answers

CASES = tuple(cases(*RULES))


def test_there_are_four_families_of_rules() -> None:
    assert len(CASES) == 64


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict) -> None:
    found = answers(rule(case["query"]), events_of(case), order=case["order_by"])
    assert sorted(found) == sorted(tuple(answer["positions"]) for answer in case["expected"])


def rule(text: str) -> t.Rule:
    parsed = parse(text)
    assert isinstance(parsed, t.Rule)
    return parsed


def test_answers_are_sorted_by_end_start_positions() -> None:
    found = answers(rule("Q(x) <- T(a = x), T(a = x)"), [Event("T", {"a": 1})] * 2)
    assert found == ((0, 0), (0, 1), (1, 0), (1, 1))


@pytest.mark.parametrize("hole", [{"a": None}, {"a": math.nan}, {}], ids=["null", "NaN", "missing"])
def test_what_equals_nothing_is_a_value_of_a_variable_that_occurs_once(hole: dict) -> None:
    events = [Event("T", hole)]
    assert answers(rule("Q(x) <- T(a = x)"), events) == ((0,),)
    assert answers(rule("Q(x) <- T(a = x), T(a = x)"), events) == ()
    assert answers(rule("Q(x) <- T(a = x), x != 3.0"), events) == ()
    assert answers(rule("Q() <- T(a = 3.0)"), events) == ()


def test_attributes_by_position_have_no_meaning_without_a_schema() -> None:
    with pytest.raises(ValueError, match="by position"):
        answers(rule("Q(x) <- T(x)"), [Event("T", {"a": 1})])


def test_comparisons_between_atoms_and_arithmetic() -> None:
    events = [Event("T", {"a": 1}), Event("S", {"a": 3}), Event("T", {"a": 4})]
    assert answers(rule("Q(x, y) <- T(a = x), S(a = y), x + 1 < y"), events) == ((0, 1),)

"""The reference semantics on the case files, computed by brute force from the language."""

from __future__ import annotations

import pytest
from case_files import PATTERNS, assert_answers, cases, events_of, found_in

from cer_gpu.language.parser import parse
from cer_gpu.logic.lp import to_lp
from cer_gpu.reference.semantics import evaluate, matches

CASES = tuple(cases())


def test_there_are_twenty_one_families_of_patterns() -> None:
    assert len(PATTERNS) == 21


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict) -> None:
    found = evaluate(parse(case["query"]), events_of(case), order=case["order_by"])
    assert_answers(case, found_in(found))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_lp_normal_form_of_case(case: dict) -> None:
    pattern, events = parse(case["query"]).pattern, events_of(case)
    rewritten = to_lp(pattern)
    assert matches(rewritten, events, order="ts") == matches(pattern, events, order="ts")

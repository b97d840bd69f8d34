"""Timed CEA of formulas: what they give on streams is what the reference gives (Proposition 4.3)."""

from __future__ import annotations

from random import Random

import pytest
from random_timed import of_automaton, of_formula, small_formula, stream


@pytest.mark.draws("seed", 5)
def test_a_formula_and_its_automaton_give_the_same(seed: int) -> None:
    rng = Random(seed)
    answers = 0
    for _ in range(50):
        made, timed = small_formula(rng, 400)
        for _ in range(2):
            events = stream(rng, rng.randrange(3, 9))
            found = of_automaton(timed, events)
            assert found == of_formula(made, events), made
            answers += len(found)
    assert answers > 80

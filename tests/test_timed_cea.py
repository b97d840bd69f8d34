"""Timed CEA of formulas: what they give on streams is what the reference gives (Proposition 4.3)."""

from __future__ import annotations

from random import Random

import pytest
from random_timed import formula, of_automaton, of_formula, stream

from cer_gpu.automata.timed.construction import timed_cea


@pytest.mark.parametrize("seed", range(6))
def test_a_formula_and_its_automaton_give_the_same(seed: int) -> None:
    rng = Random(seed)
    answers = 0
    for _ in range(60):
        made = formula(rng, rng.randrange(1, 5))
        timed = timed_cea(made)
        for _ in range(2):
            events = stream(rng, rng.randrange(3, 9))
            found = of_automaton(timed, events)
            assert found == of_formula(made, events), made
            answers += len(found)
    assert answers > 80

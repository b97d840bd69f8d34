"""FOLLOWED BY, PRECEDED BY and their negations: every way to run them agrees with the reference."""

from __future__ import annotations

import warnings
from random import Random

import pytest
from engine_oracle import check
from generate import pattern, query_around, stream
from random_besides import with_besides
from random_formulas import formula
from test_engine_selection import tiny_pieces  # noqa: F401

from cer_gpu.errors import LimitError
from cer_gpu.language import tree

SEEDS, QUERIES = 3, 15


def agree(seed: str) -> None:
    rng = Random(seed)
    answered, refused = 0, 0
    for number in range(QUERIES):
        inner = formula(rng, 1) if number % 3 == 0 else pattern(rng, atoms=3)
        strategy = rng.choice(list(tree.Strategy)) if rng.random() < 0.3 else tree.Strategy.ALL
        query = query_around(rng, with_besides(rng, inner), strategy)
        events = stream(rng, rng.randrange(4, 13), lap_falls=rng.random() < 0.3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                answered += check(query, events, rng) > 0
            except LimitError:  # some random automata are over the budget
                refused += 1
    assert answered >= QUERIES // 6
    assert refused <= QUERIES // 4


@pytest.mark.parametrize("seed", range(SEEDS))
def test_run_count_hits_and_stream_agree_with_the_reference(seed: int) -> None:
    agree(f"beside {seed}")


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"beside in pieces {seed}")

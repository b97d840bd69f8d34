"""Random regular queries on random streams: every way of running them agrees with the reference."""

from __future__ import annotations

import warnings
from random import Random

import pytest
from engine_oracle import check
from generate import stream, unary_query

BATCHES = 40
QUERIES = 60


@pytest.mark.parametrize("seed", range(BATCHES))
def test_run_count_hits_and_stream_agree_with_the_reference(seed: int) -> None:
    rng = Random(f"engine {seed}")
    answered = 0
    for _ in range(QUERIES):
        query = unary_query(rng)
        events = stream(rng, rng.randrange(4, 13))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event has the type")
            answered += check(query, events, rng) > 0
    assert answered > QUERIES // 10

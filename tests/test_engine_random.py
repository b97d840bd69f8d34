"""Random regular queries on random streams: every way of running them agrees with the reference."""

from __future__ import annotations

import warnings
from random import Random

import pytest
from engine_oracle import check
from generate import stream, unary_query

from cer_gpu.engine.answers import batches as enumerate
from cer_gpu.engine.machines import chunk
from cer_gpu.engine.read import classify
from cer_gpu.engine.run import bound_query
from cer_gpu.engine.run import chunks as runner
from cer_gpu.errors import LimitError

BATCHES = 10
QUERIES = 55
"""Over five hundred queries; `make fuzz` draws as many as one likes."""


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, chunks, segments and groups of a few events, so that small streams cross their borders."""
    monkeypatch.setattr(classify, "BLOCK", 4)
    monkeypatch.setattr(bound_query, "BATCH", 5)
    monkeypatch.setattr(runner, "CHUNK", 3)
    monkeypatch.setattr(runner, "CARRIED", 2)
    monkeypatch.setattr(chunk, "SEGMENT", 2)
    monkeypatch.setattr(enumerate, "GROUP", 3)
    monkeypatch.setattr(enumerate, "BULK_COUNT", 2)


def agree(seed: str, queries: int) -> None:
    rng = Random(seed)
    answered, refused = 0, 0
    for _ in range(queries):
        query = unary_query(rng)
        events = stream(rng, rng.randrange(4, 13), lap_falls=rng.random() < 0.3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                answered += check(query, events, rng) > 0
            except LimitError:  # about one random query in a hundred has an automaton over budget
                refused += 1
    assert answered >= queries // 4
    assert refused <= queries // 10


@pytest.mark.draws("seed", BATCHES // 2)
def test_run_count_hits_and_stream_agree_with_the_reference(seed: int) -> None:
    agree(f"whole {seed}", QUERIES)


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", BATCHES // 2)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"pieces {seed}", QUERIES)

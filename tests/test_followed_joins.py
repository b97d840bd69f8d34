"""FOLLOWED BY and PRECEDED BY beside equalities: every way to run them agrees with the reference."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from random_besides import with_besides
from random_correlated import random_correlated
from test_engine_correlated import agree
from test_engine_selection import tiny_pieces  # noqa: F401

import cer_gpu as cer
from cer_gpu.language import tree

QUERIES = 40


def correlated_besides(rng: Random) -> tree.SelectQuery:
    query = random_correlated(rng)
    return replace(query, pattern=with_besides(rng, query.pattern))


@pytest.mark.draws("seed", 2)
def test_run_count_hits_and_stream_agree_with_the_reference(seed: int) -> None:
    found = agree(f"beside joins {seed}", QUERIES, correlated_besides)
    assert found["chain"] > 10
    assert found["answered"] > 1


@pytest.mark.usefixtures("tiny_pieces")
def test_they_agree_in_tiny_pieces_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.read.eviction.REMEMBERED", 1)
    assert agree("beside joins in pieces", QUERIES, correlated_besides)["answered"] > 1


def test_a_download_from_the_host_of_a_log_on_without_a_log_off() -> None:
    events = pa.table(
        {
            "type": ["On", "On", "Load", "Load", "Off", "Load"],
            "host": ["a", "b", "b", "a", "c", "b"],
            "ts": range(6),
        }
    )
    text = "SELECT * WHERE (On AS o ; Load AS d FILTER o.host = d.host) NOT FOLLOWED BY [<= 2] Off"
    query = cer.compile(text)
    assert [(ce.start, ce.end) for ce in query.run(events, order_by="ts")] == [(1, 5)]
    assert "chain" in query.explain(verbose=True)

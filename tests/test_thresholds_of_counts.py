"""Iterations with thresholds on counts: a window that slides, against the definition and the reference."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.loop.contract import LoopSegments
from cer_gpu.kernels.thresholds import cpu_hits
from cer_gpu.kernels.thresholds.contract import CountedEvents, Thresholds, starts_reference
from engine_oracle import check
from generate import stream
from random_thresholds import thresholds_query
from test_ordered_random import tiny_pieces

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.language.printer import to_text
from cer_gpu.language.tree import SelectQuery

__all__ = ["tiny_pieces"]


@pytest.mark.draws("seed", 4)
def test_hits_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(60):
        count, tests = int(rng.integers(1, 30)), int(rng.integers(1, 4))
        thresholds = Thresholds(
            np.array([0, 1, int(rng.integers(2))], np.uint8),
            int(rng.integers(2)),
            rng.integers(0, 3, tests).astype(np.uint8),
            rng.integers(0, 2, tests),
            rng.integers(0, 5, tests),
        )
        events = CountedEvents(
            rng.integers(0, 3, count).astype(np.uint8),
            np.cumsum(rng.integers(1, 3, count)),
            rng.integers(-1, 4, (2, count)).astype(np.int32),
        )
        cut = int(rng.integers(0, count + 1))
        begin, stop = np.array([0, cut]), np.array([cut, count])
        report = np.minimum(begin + rng.integers(0, 4, 2), stop)
        keys, size = np.cumsum(rng.integers(0, 3, count)), int(rng.integers(1, 20))
        wanted = []
        for low, first, end in zip(begin, report, stop, strict=True):
            for i in range(first, end):
                starts = starts_reference(thresholds, events, low, i)
                starts = [start for start in starts if keys[i] - keys[start] <= size]
                wanted += [(i, max(starts))] if starts else []
        got = cpu_hits.hits(thresholds, events, keys, size, LoopSegments(begin, report, stop))
        assert list(zip(*(part.tolist() for part in got), strict=True)) == wanted
        found += len(wanted)
    assert found > 100


def agree(seed: str, query_of: Callable[[Random], SelectQuery] = thresholds_query, longest: int = 13) -> None:
    """Random queries that the engine takes, over up to `longest` events, have the reference's answers."""
    rng = Random(seed)
    taken = answered = 0
    while taken < 12:
        query = query_of(rng)
        if Query(to_text(query))._plan.chosen.engine_for("hits") != "threshold":
            continue
        events = stream(rng, rng.randrange(6, longest + 1), holes=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answered += check(query, events, rng) > 0
        taken += 1
    assert answered > 0


@pytest.mark.draws("seed", 4)
def test_random_thresholds_agree_with_the_reference(seed: int) -> None:
    agree(f"thresholds {seed}")


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 4)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"thresholds pieces {seed}")


def test_a_scan_over_many_events_is_found_without_partial_matches() -> None:
    """Each choice of events is a partial match of its own: 50,000 events were too many for the memory."""
    rng = np.random.default_rng(3)
    count, window = 50_000, 300
    dst = rng.integers(0, 40, count)
    table = pa.table({"type": ["c"] * count, "dst": dst})
    query = cer.compile(
        f"SELECT NONE WHERE (c AS c)+ FILTER COUNT(DISTINCT c.dst) >= 30 WITHIN {window} EVENTS"
    )
    hits = query.hits(table)
    last = np.full(40, -1)
    wanted = {}
    for position, value in enumerate(dst.tolist()):
        last[value] = position
        start = int(np.sort(last)[-30])
        if start >= 0 and position - start <= window:
            wanted[position] = start
    assert (
        dict(zip(*(hits[name].to_pylist() for name in ("position", "latest_start")), strict=True)) == wanted
    )

"""Thresholds on aggregates: the kernels against the definition."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from cer_gpu.kernels.loop.contract import LoopSegments
from cer_gpu.kernels.thresholds import cpu_extremes, cpu_sums
from cer_gpu.kernels.thresholds.contract import (
    FIT,
    MEAN,
    SUM,
    TOO_LARGE,
    AggregatedEvents,
    AggregateThreshold,
    starts_of_aggregate_reference,
)

INEXACT = (0.1, 0.2, 0.3, -0.1, -0.2, 0.7, 1e16, -1e16, 1.0, 1e-9)
"""Floats whose sums depend on their order, and lie near the bounds of the tests."""

WILD = (math.inf, -math.inf, 1.5, -2.0, 1e308, -1e308, 5e-324)


def drawn(rng: Random, numbers: str, count: int) -> list[int | float | None]:
    """Values of events, a sixth of them missing."""
    made = {
        "whole": lambda: rng.randrange(-9, 10),
        "large": lambda: rng.randrange(-(2**58), 2**58),
        "quarters": lambda: rng.randrange(-40, 40) / 4,
        "inexact": lambda: rng.choice(INEXACT),
        "wild": lambda: rng.choice(WILD),
    }[numbers]
    return [None if rng.random() < 0.16 else made() for _ in range(count)]


BOUNDS = {
    "whole": lambda rng: rng.randrange(-12, 13),
    "large": lambda rng: rng.randrange(-(2**59), 2**59),
    "quarters": lambda rng: rng.randrange(-80, 80) / 8,
    "inexact": lambda rng: rng.choice((0.3, 0.6, 0.1, 0.0, 1.0, -0.1, 0.15, 1e16, -0.30000000000000004)),
    "wild": lambda rng: rng.choice((0.0, 1.5, -1.0, 1e308)),
}


def case(rng: Random, kind: int, numbers: str) -> int:
    """Compare the hits of random events with the definition; how many there are."""
    count = rng.randrange(1, 12)
    values, bound = drawn(rng, numbers, count), BOUNDS[numbers](rng)
    whole = numbers in ("whole", "large")
    high = float(bound)
    exact = numbers in ("whole", "quarters") and rng.random() < 0.5 and (kind != MEAN or numbers == "whole")
    exact |= numbers == "large"
    threshold = AggregateThreshold(
        np.array([0, 1, rng.randrange(2)], np.uint8), rng.randrange(2), kind, high,
        float(bound - int(high)) if whole else 0.0, rng.randrange(2), int(exact), math.inf,
    )  # fmt: skip
    words = np.array([0 if value is None else value for value in values])
    floats = words.astype(np.float64)
    rests = (words - floats.astype(np.int64)).astype(np.float64) if whole else np.empty(0)
    floats[[value is None for value in values]] = np.nan
    nrng = np.random.default_rng(rng.randrange(2**32))
    events = AggregatedEvents(
        nrng.integers(0 if rng.random() < 0.5 else 1, 3, count).astype(np.uint8),
        np.cumsum(nrng.integers(1, 3 if rng.random() < 0.5 else 2, count)),
        floats,
        rests,
    )
    cut = rng.randrange(count + 1)
    begin, stop = np.array([0, cut]), np.array([cut, count])
    report = np.minimum(begin + nrng.integers(0, 3, 2), stop)
    keys, size = np.cumsum(nrng.integers(0, 3, count)), rng.choice((1, 3, 6, 20))
    windowed = rng.random() < 0.7
    wanted = []
    for low, first, end in zip(begin, report, stop, strict=True):
        for i in range(first, end):
            starts = starts_of_aggregate_reference(threshold, events, values, low, i)
            starts = [start for start in starts if not windowed or keys[i] - keys[start] <= size]
            wanted += [(i, max(starts))] if starts else []
    kernel = cpu_sums if kind in (SUM, MEAN) else cpu_extremes
    *got, status = kernel.hits(
        threshold, events, keys if windowed else keys[:0], size if windowed else 0,
        LoopSegments(begin, report, stop),
    )  # fmt: skip
    assert status == FIT
    assert list(zip(*(part.tolist() for part in got), strict=True)) == wanted
    return len(wanted)


@pytest.mark.draws("seed", 3)
@pytest.mark.parametrize("numbers", BOUNDS)
@pytest.mark.parametrize("kind", range(5))
def test_hits_are_those_of_the_definition(kind: int, numbers: str, seed: int) -> None:
    if kind == MEAN and numbers == "large":
        return  # the mean of whole numbers is one of floats
    rng = Random(f"aggregates {seed} {kind} {numbers}")
    assert sum(case(rng, kind, numbers) for _ in range(150)) > 50


@pytest.mark.parametrize("contiguous", [0, 1])
def test_sizes_beyond_the_limit_are_told(contiguous: int) -> None:
    events = AggregatedEvents(
        np.ones(4, np.uint8), np.arange(4), np.array([2.0**61, -(2.0**61), 2.0**61, 1.0]), np.zeros(4)
    )
    for size, wanted in ((0, FIT), (1, TOO_LARGE)):
        threshold = AggregateThreshold(np.ones(2, np.uint8), contiguous, SUM, 3.0, 0.0, 1, 1, 2.0**62)
        segments = LoopSegments(np.array([0]), np.array([0]), np.array([4]))
        assert cpu_sums.hits(threshold, events, np.arange(4), size, segments)[2] == wanted

"""Summaries of outcomes: how their values are spread at the hits of a query, and at all events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

QUANTILES = {"p05": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}

RESAMPLES = 1000
"""Resamples of the bootstrap, fewer where there are many values."""

DRAWN = 1 << 25
"""Values that the bootstrap draws at most, but for `LEAST_RESAMPLES`."""

LEAST_RESAMPLES = 200

MOST_VALUES = 1 << 17
"""Of more values the mean is so near to normal that its error says what resamples would."""

NORMAL = 1.959964
"""How many standard errors a 95 % interval reaches, where values are many."""


class Summary(NamedTuple):
    """The spread of some values; NaN where there are none.

    Attributes
    ----------
    n : int
        How many there are; those that are missing are not counted.
    mean, p05, p25, median, p75, p95 : float
    positive : float
        The share of values above 0.
    low, high : float
        Between these the mean lies with 95 % confidence: percentiles of a bootstrap.
    """

    n: int
    mean: float
    p05: float
    p25: float
    median: float
    p75: float
    p95: float
    positive: float
    low: float
    high: float


_NOTHING = Summary._make((0, *(float("nan"),) * 9))


def summary(values: np.ndarray, confident: bool = True) -> Summary:
    """The spread of some values, float64; NaN is no value. `confident` asks for `low` and `high`."""
    there = values[~np.isnan(values)]
    count = len(there)
    if not count:
        return _NOTHING
    quantiles = np.quantile(there, list(QUANTILES.values())).tolist()
    low, high = _interval(there) if confident else (float("nan"), float("nan"))
    p05, p25, median, p75, p95 = quantiles
    positive = float((there > 0).mean())
    return Summary(count, float(there.mean()), p05, p25, median, p75, p95, positive, low, high)


def _interval(values: np.ndarray) -> tuple[float, float]:
    """Between which numbers the mean lies with 95 % confidence."""
    count = len(values)
    if count == 1:
        return float("nan"), float("nan")
    if count > MOST_VALUES:
        error = NORMAL * float(values.std(ddof=1)) / count**0.5
        return float(values.mean()) - error, float(values.mean()) + error
    rng = np.random.default_rng(0)
    resamples = max(LEAST_RESAMPLES, min(RESAMPLES, DRAWN // count))
    means = np.empty(resamples)
    for k in range(resamples):
        means[k] = values[rng.integers(0, count, count)].mean()
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high

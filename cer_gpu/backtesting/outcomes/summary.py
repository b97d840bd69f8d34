"""Summaries of outcomes: how their values are spread at the hits of a query, and at all events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

QUANTILES = {"p05": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}

LEAST_N = 30
"""From so many values on a variant is compared with others: of fewer, the interval says little."""

RESAMPLES = 1000
"""Resamples of the bootstrap, fewer where there are many values."""

DRAWN = 1 << 25
"""The most values that the bootstrap draws, unless `LEAST_RESAMPLES` need more."""

LEAST_RESAMPLES = 200

MOST_VALUES = 1 << 17
"""For more values, the interval is taken from the normal distribution, which is as good as resampling."""

NORMAL = 1.959964
"""How many standard errors a 95 % interval reaches, where values are many."""


class Summary(NamedTuple):
    """The spread of some values; NaN where there are none.

    Attributes
    ----------
    n : int
        How many values there are, without missing ones.
    mean, p05, p25, median, p75, p95 : float
    positive : float
        The share of values above 0.
    low, high : float
        The 95 % confidence interval of the mean: percentiles of a bootstrap, or of the normal distribution
        for more than `MOST_VALUES` values. NaN for a single value.
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
    """The spread of some float64 values; NaN counts as missing. `confident` asks for `low` and `high`."""
    return summary_of_counts(*np.unique(values[~np.isnan(values)], return_counts=True), confident)


def summary_of_counts(values: np.ndarray, numbers: np.ndarray, confident: bool = True) -> Summary:
    """The spread of values, given how often each occurs, so the order of events changes no figure.

    Parameters
    ----------
    values : ndarray, shape (values,), float64
        Different values, ascending, without NaN.
    numbers : ndarray, shape (values,), int64
        How often each occurs, at least once.
    confident : bool
        Whether to compute `low` and `high`.
    """
    count = int(numbers.sum())
    if not count:
        return _NOTHING
    behind = np.cumsum(numbers)
    mean = float((values * numbers).sum() / count)
    low, high = _interval(values, numbers, mean) if confident else (float("nan"), float("nan"))
    p05, p25, median, p75, p95 = (_quantile(values, behind, share) for share in QUANTILES.values())
    positive = float(numbers[values > 0].sum() / count)
    return Summary(count, mean, p05, p25, median, p75, p95, positive, low, high)


def _quantile(values: np.ndarray, behind: np.ndarray, share: float) -> float:
    """A quantile, linear between the two nearest values; `behind` counts the values up to each."""
    place = share * (int(behind[-1]) - 1)
    below, above = (
        float(values[np.searchsorted(behind, at, side="right")]) for at in (np.floor(place), np.ceil(place))
    )
    part = place - float(np.floor(place))
    # From the nearer end, so that equal values give their own value.
    return below + (above - below) * part if part < 0.5 else above - (above - below) * (1 - part)


def _interval(values: np.ndarray, numbers: np.ndarray, mean: float) -> tuple[float, float]:
    """Between which numbers the mean lies with 95 % confidence."""
    count = int(numbers.sum())
    if count == 1:
        return float("nan"), float("nan")
    if count > MOST_VALUES:
        spread = float((numbers * (values - mean) ** 2).sum() / (count - 1))
        error = NORMAL * (spread / count) ** 0.5
        return mean - error, mean + error
    each = np.repeat(values, numbers)
    rng = np.random.default_rng(0)
    resamples = max(LEAST_RESAMPLES, min(RESAMPLES, DRAWN // count))
    means = np.empty(resamples)
    for k in range(resamples):
        means[k] = each[rng.integers(0, count, count)].mean()
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high

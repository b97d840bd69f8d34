"""Summaries of outcomes: how their values are spread at the hits of a query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

QUANTILES = {"p05": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}

LEAST_N = 30
"""From so many values on a variant is compared with others: of fewer, the interval says little."""


class Summary(NamedTuple):
    """The spread of some values; NaN where there are none.

    Attributes
    ----------
    n : int
        How many values there are, without missing ones.
    mean, p05, p25, median, p75, p95 : float
    positive : float
        The share of values above 0.
    """

    n: int
    mean: float
    p05: float
    p25: float
    median: float
    p75: float
    p95: float
    positive: float


_NOTHING = Summary._make((0, *(float("nan"),) * 7))


def summary(values: np.ndarray) -> Summary:
    """The spread of some float64 values; NaN counts as missing."""
    return summary_of_counts(*np.unique(values[~np.isnan(values)], return_counts=True))


def summary_of_counts(values: np.ndarray, numbers: np.ndarray) -> Summary:
    """The spread of values, given how often each occurs, so the order of events changes no figure.

    Parameters
    ----------
    values : ndarray, shape (values,), float64
        Different values, ascending, without NaN.
    numbers : ndarray, shape (values,), int64
        How often each occurs, at least once.
    """
    count = int(numbers.sum())
    if not count:
        return _NOTHING
    behind = np.cumsum(numbers)
    mean = float((values * numbers).sum() / count)
    p05, p25, median, p75, p95 = (_quantile(values, behind, share) for share in QUANTILES.values())
    positive = float(numbers[values > 0].sum() / count)
    return Summary(count, mean, p05, p25, median, p75, p95, positive)


def _quantile(values: np.ndarray, behind: np.ndarray, share: float) -> float:
    """A quantile, linear between the two nearest values; `behind` counts the values up to each."""
    place = share * (int(behind[-1]) - 1)
    below, above = (
        float(values[np.searchsorted(behind, at, side="right")]) for at in (np.floor(place), np.ceil(place))
    )
    part = place - float(np.floor(place))
    # From the nearer end, so that equal values give their own value.
    return below + (above - below) * part if part < 0.5 else above - (above - below) * (1 - part)

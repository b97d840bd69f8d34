"""Numbers and times of a report in one format: as many decimals for all values that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from math import floor, isfinite, log10
from statistics import median

LARGEST, SMALLEST = 15, 12
"""Numbers of more digits before the point, or whose first digit is further behind it, have an exponent."""

SECONDS = {"d": 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}
"""The units of durations, the largest first."""


def decimals(values: Sequence[float]) -> int | None:
    """How many decimals show four digits of the greatest number and two of a middle one.

    None where some number is so large or so small that it needs an exponent.
    """
    sizes = [abs(value) for value in values if value and isfinite(value)]
    if not sizes:
        return 0
    if all(value == floor(value) for value in sizes) and max(sizes) < 10**LARGEST:
        return 0
    first, middle = floor(log10(max(sizes))), floor(log10(median(sizes)))
    wanted = max(3 - first, 1 - middle, 0)
    return None if first >= LARGEST or wanted > SMALLEST else wanted


def figures(values: Sequence[float | None], like: Sequence[float] | None = None) -> list[str]:
    """Numbers as text, all with as many decimals; a missing one or NaN is empty.

    Parameters
    ----------
    values : sequence of float or None
    like : sequence of float, optional
        The numbers that decide how many decimals there are; by default `values`.
    """
    known = [value for value in (values if like is None else like) if value is not None and value == value]
    places = decimals(known)
    grouped = any(abs(value) >= 10_000 for value in known if isfinite(value))  # a year is no large number
    return [_figure(value, places, grouped) for value in values]


def _figure(value: float | None, places: int | None, grouped: bool) -> str:
    if value is None or value != value:
        return ""
    if places is None or not isfinite(value):
        return f"{value:.4g}"
    text = f"{value:,.{places}f}" if grouped else f"{value:.{places}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def percents(values: Sequence[float | None]) -> list[str]:
    """Shares as text in percent, with one decimal."""
    # Adding 0 makes 0 of what rounds to -0.
    return [
        "" if value is None or value != value else f"{round(100 * value, 1) + 0.0:.1f} %" for value in values
    ]


def lengths_of_time(values: Sequence[timedelta | None]) -> list[str]:
    """Durations as text, all in the unit in which a middle one is at least 1."""
    seconds = [None if value is None else value / timedelta(seconds=1) for value in values]
    sizes = [abs(value) for value in seconds if value]
    middle = median(sizes) if sizes else 0.0
    unit = next((name for name, size in SECONDS.items() if middle >= size), "s")
    told = figures([None if value is None else value / SECONDS[unit] for value in seconds])
    return [f"{text} {unit}" if text else "" for text in told]

"""The operations on a run of sorted rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cer_gpu.kernels.views import cpu_climb, cpu_levels, cpu_list, cpu_search
from cer_gpu.kernels.views.contract import CountedRows, RowTests

Pairs = tuple[np.ndarray, np.ndarray]
"""Numbers of rows that ask, and of rows that they ask for: int64 [n] each."""


def places_of(run: CountedRows, keys: np.ndarray) -> np.ndarray:
    """`contract.find_reference`: int64 [m]."""
    places = np.empty(len(keys), np.int64)
    cpu_search.find(run.keys, keys, places)
    return places


def ranges_asked(run: CountedRows, asking: np.ndarray, shared: int, op: int) -> np.ndarray:
    """`contract.bounds_reference`: int64 [m, 2]."""
    found = np.empty((len(asking), 2), np.int64)
    cpu_search.bounds(run.keys, asking, shared, op, found)
    return found


def add_totals(
    run: CountedRows, asking: np.ndarray, shared: int, tests: RowTests, found: np.ndarray, touched: np.ndarray
) -> None:
    """`contract.totals_reference`."""
    scratch = np.empty((len(tests.ops), 2), np.int64)
    cpu_climb.totals(run, asking, shared, tests, scratch, found, touched)


def pairs_of(
    run: CountedRows, asking: np.ndarray, shared: int, tests: RowTests, ranges: np.ndarray, most: int
) -> Iterator[Pairs]:
    """`contract.matching_reference`, at most `most` at a time."""
    at = np.zeros(2, np.int64)
    scratch = np.empty((len(tests.ops), 2), np.int64)
    while at[0] < len(ranges):
        parents, places = np.empty(most, np.int64), np.empty(most, np.int64)
        arguments = (asking, shared, tests, ranges, at, scratch, parents, places)
        made = cpu_list.matching(run.keys, *arguments)
        if made:
            yield parents[:made], places[:made]


LEAST_NARROW = 1 << 12
"""The least number of rows of a run that is made narrow."""

MOST_COUNT = 2**15 - 1
"""The greatest multiplicity in a narrow run."""


def is_narrow(run: CountedRows) -> bool:
    """Whether a run is narrow."""
    return bool(run.counts.dtype == np.int16)


def narrowed(run: CountedRows) -> CountedRows | None:
    """The run in fewer bytes; None where a value does not fit."""
    keys, counts = np.empty(run.keys.shape, np.int32), np.empty(run.counts.shape, np.int16)
    fits = cpu_levels.narrow(run.keys, run.counts, keys, counts)
    return CountedRows(keys, counts, run.sums) if fits else None


def widened(run: CountedRows) -> CountedRows:
    """The run with int64 values."""
    return CountedRows(wide(run.keys), wide(run.counts), run.sums)


def of_one_form(one: CountedRows, other: CountedRows) -> tuple[CountedRows, CountedRows]:
    """Both runs narrow, where that is possible and one of them is; otherwise none of them."""
    if is_narrow(one) == is_narrow(other):
        return one, other
    if is_narrow(other):
        return of_one_form(other, one)[::-1]
    fitting = narrowed(other)
    return (widened(one), other) if fitting is None else (one, fitting)


def wide(values: np.ndarray) -> np.ndarray:
    """Values of a run as int64; the same array where they are."""
    return values.astype(np.int64, copy=False)

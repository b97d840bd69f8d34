"""Long runs in less than half of the bytes, where all their values fit: int32 keys and int16 multiplicities.

A run is one or the other as a whole. The kernels read both; what is made of a run's rows is int64.
"""

from __future__ import annotations

import numpy as np

from cer_gpu.kernels.views import cpu_levels
from cer_gpu.kernels.views.contract import CountedRows

LEAST = 1 << 12
"""The least number of rows of a run that is made narrow."""

MOST = 2**15 - 1
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

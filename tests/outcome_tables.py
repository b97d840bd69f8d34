"""Tables of outcomes that were summed up in another order: the same but for the rounding of sums."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

SUMMED = (
    *("low", "high", "base_mean", "base_positive"),
    *("gain_low", "gain_high", "positive_gain_low", "positive_gain_high"),
)
"""Columns that sums by key and block are the reason of."""


def assert_same_outcomes(found: pa.Table, expected: pa.Table) -> None:
    """Assert that two tables of `Backtest.outcomes` say the same."""
    assert found.schema == expected.schema
    names = [name for name in SUMMED if name in expected.schema.names]
    assert found.drop_columns(names).to_pylist() == expected.drop_columns(names).to_pylist()
    for name in names:
        own, right = (np.array(one[name].to_pylist(), np.float64) for one in (found, expected))
        scale = 1 + np.abs(np.array(expected["mean"].to_pylist(), np.float64))
        np.testing.assert_allclose(own / scale, right / scale, rtol=1e-9, atol=1e-11, err_msg=name)

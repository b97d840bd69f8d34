"""Monitors against their reference."""

import numpy as np
import pytest
from cer_gpu.kernels.monitor.contract import Monitor, rename_reference
from cer_gpu.kernels.monitor.cpu import rename


@pytest.mark.parametrize("n_lanes", [1, 4])
def test_symbols_are_renamed_lane_by_lane(n_lanes):
    rng = np.random.default_rng(n_lanes)
    follow = rng.integers(0, 3, (3, 5), dtype=np.int32)
    symbol = rng.integers(0, 300, (3, 5), dtype=np.uint16)
    monitor = Monitor(follow, symbol)
    symbols = rng.integers(0, 5, 200, dtype=np.uint8)
    lanes = rng.integers(0, n_lanes, 200 if n_lanes > 1 else 0, dtype=np.int32)
    state = rng.integers(0, 3, n_lanes, dtype=np.int32)
    expected_state = state.tolist()
    expected = rename_reference(monitor, symbols, lanes, expected_state)
    assert rename(monitor, symbols, lanes, state).tolist() == expected
    assert state.tolist() == expected_state

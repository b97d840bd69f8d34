"""Positions of events, added where none is left out."""

from __future__ import annotations

import numpy as np
import pytest

from cer_gpu.engine.answers.positions import PositionLookup


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_positions_are_those_of_the_chunk_that_is_asked_for(dtype: type) -> None:
    placed = PositionLookup()
    chunks = [
        np.arange(5, 15),
        np.array([3, 4, 5, 7, 8]),
        np.array([0, 5, 1, 3]),
        np.array([2, 9, 0, 5]),
        np.array([7]),
        np.arange(100, 104),
    ]
    for positions in [*chunks, *chunks[::-1]]:
        index = np.arange(len(positions))[::-1].astype(dtype)
        for _ in range(2):
            found = placed(positions, index)
            assert found.dtype == np.int64
            assert found.tolist() == positions[::-1].tolist()
    assert placed(np.empty(0, np.int64), np.empty(0, dtype)).tolist() == []

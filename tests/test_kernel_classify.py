"""Classification and lanes: each kernel against its reference, or against what it says in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from cer_gpu.kernels.classify import cpu as classify
from cer_gpu.kernels.classify.contract import NONE_MISSING, add_cuts_reference
from cer_gpu.kernels.lanes import cpu as lanes

DTYPES = [np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64]
ROWS = classify.STRIP + 37


def column(rng: np.random.Generator, dtype: type, rows: int = ROWS) -> np.ndarray:
    values = rng.integers(0, 100, rows).astype(dtype)
    if values.dtype.kind == "f":
        values[rng.random(rows) < 0.1] = np.nan
    return values


@pytest.mark.crossed
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cuts", [0, 1, classify.FEW_CUTS, classify.FEW_CUTS + 1, 40])
@pytest.mark.parametrize("masked", [False, True])
def test_cuts(dtype: type, cuts: int, masked: bool) -> None:
    rng = np.random.default_rng([cuts, masked])
    values = column(rng, dtype)
    valid = (rng.random(ROWS) < 0.8).astype(np.uint8) if masked else NONE_MISSING
    bounds = np.sort(rng.choice(100, cuts, replace=cuts > 100)).astype(dtype)
    for width in (np.uint16, np.uint32):
        # Shares that fall: the few-cuts kernel adds differences modulo the width of the index.
        shares = rng.integers(0, 1000, cuts + 1).astype(width)
        before = rng.integers(0, 1000, ROWS).astype(width)
        found, expected = before.copy(), before.copy()
        classify.add_cuts(found, values, valid, bounds, shares)
        add_cuts_reference(expected, values, valid, bounds, shares)
        assert np.array_equal(found, expected)


@pytest.mark.crossed
@pytest.mark.parametrize("telling", [0, 1, classify.FEW_CODES, classify.FEW_CODES + 1])
@pytest.mark.parametrize("masked", [False, True])
def test_codes(telling: int, masked: bool) -> None:
    rng = np.random.default_rng([telling, masked])
    codes = rng.integers(0, 20, ROWS).astype(np.int32)
    valid = (rng.random(ROWS) < 0.8).astype(np.uint8) if masked else NONE_MISSING
    shares = np.zeros(20, np.uint16)
    shares[rng.choice(20, telling, replace=False)] = rng.integers(1, 9, telling)
    index = np.full(ROWS, 5, np.uint16)
    classify.add_codes(index, codes, valid, shares, np.uint16(7))
    present = valid if masked else np.ones(ROWS, np.uint8)
    assert index.tolist() == [5 + (int(shares[c]) if p else 7) for c, p in zip(codes, present)]


def test_compaction_keeps_what_is_not_neutral() -> None:
    rng = np.random.default_rng(3)
    index = rng.integers(0, 8, ROWS).astype(np.uint16)
    table = np.array([0, 3, 0, 0, 1, 0, 2, 0], np.uint8)
    positions, symbols = np.empty(ROWS, np.int64), np.empty(ROWS, np.uint8)
    kept = classify.compact(index, table, 1000, positions, symbols)
    expected = [(1000 + i, int(table[k])) for i, k in enumerate(index) if table[k]]
    assert list(zip(positions[:kept].tolist(), symbols[:kept].tolist())) == expected
    states = np.empty(ROWS, np.int32)
    classify.lookup(index, table, states)
    assert np.array_equal(states, table[index])


@pytest.mark.parametrize("at", [None, 0, 1, classify.STRIP, classify.STRIP + 1, ROWS - 1])
def test_the_first_decrease(at: int | None) -> None:
    values = np.repeat(np.arange(10, 10 + ROWS), 2)[:ROWS]
    if at is not None:
        values[at] = 0
    assert classify.first_decrease(values, 10) == (-1 if at is None else at)
    assert classify.first_decrease(values[:0], 10) == -1


@pytest.mark.draws("seed", 5)
def test_lanes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 200
    laned = rng.integers(-1, 6, n).astype(np.int32)
    counters, out = np.array([3, 0, 0, 0, 0, 9], np.int64), np.empty(n, np.int64)
    lanes.ordinals(laned, counters, out)
    first = [3, 0, 0, 0, 0, 9]
    assert out.tolist() == [
        -1 if lane < 0 else first[lane] + (laned[:i] == lane).sum() for i, lane in enumerate(laned)
    ]
    assert counters.tolist() == [first[lane] + (laned == lane).sum() for lane in range(6)]

    whole = np.abs(laned)
    starts, place = np.zeros(7, np.int64), np.empty(n, np.int32)
    lanes.group(whole, starts, place)
    order = np.argsort(whole, kind="stable")
    assert starts.tolist() == np.searchsorted(whole[order], range(7)).tolist()
    moved, back = np.empty(n, np.int32), np.empty(n, np.int64)
    lanes.scatter(whole, place, moved)
    assert np.array_equal(moved, whole[order])
    lanes.gather(moved, place.astype(np.int64), back)
    assert np.array_equal(back, whole)


@pytest.mark.draws("seed", 5)
def test_the_order_inside_lanes(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    laned = rng.integers(-1, 4, 60).astype(np.int32)
    values = np.cumsum(rng.random(60) < 0.7)
    wrong = int(np.flatnonzero(laned >= 0)[-1])
    values[wrong] = -1
    last, seen = np.zeros(4, values.dtype), np.zeros(4, np.uint8)
    alone = not (laned[:wrong] == laned[wrong]).any()
    assert lanes.lane_decrease(laned, values, last, seen) == (-1 if alone else wrong)
    if alone:
        last[laned[wrong]] = seen[laned[wrong]] = 0
    for lane in range(4):
        of_lane = values[:wrong][laned[:wrong] == lane]
        assert (bool(seen[lane]), int(last[lane])) == (len(of_lane) > 0, int(max(of_lane, default=0)))

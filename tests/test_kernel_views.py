"""The kernels of views are their references."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cer_gpu.kernels.views import contract, cpu
from cer_gpu.kernels.views.contract import NULL, TOP, CountedRows

from cer_gpu.engine.views.levels import collapsed


def rows(rng: np.random.Generator, count: int, width: int, values: int = 4) -> CountedRows:
    keys = rng.integers(0, values, (count, width))
    keys[rng.random(keys.shape) < 0.1] = NULL
    keys = np.unique(keys, axis=0) if width else keys[: min(count, 1)]
    counts = rng.integers(0, 5, len(keys))
    sums = np.empty(len(keys) + 1, np.int64)
    contract.sum_reference(counts, sums)
    return CountedRows(np.ascontiguousarray(keys), counts, sums)


def both(name: str, *arguments: Any) -> list[Any]:
    """What a kernel and its reference leave, each of copies of the arguments."""
    found = []
    for function in (
        getattr(cpu, "sum_up" if name == "sum" else name),
        getattr(contract, f"{name}_reference"),
    ):
        copies = [_copied(one) for one in arguments]
        found.append((function(*copies), copies))
    return found


def _copied(value: Any) -> Any:
    if isinstance(value, CountedRows):
        return CountedRows(*(array.copy() for array in value))
    return value.copy()


def same(one: Any, other: Any) -> bool:
    if isinstance(one, (tuple, list)):
        return all(map(same, one, other))
    return bool(np.array_equal(one, other))


CASES = [(seed, width, count) for seed in range(3) for width in range(4) for count in (0, 1, 30)]


@pytest.mark.parametrize(("seed", "width", "count"), CASES)
def test_finding_and_summing(seed: int, width: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    held = rows(rng, count, width)
    probes = np.ascontiguousarray(rng.integers(-1, 5, (12, width)))
    kernel, reference = both("find", held.keys, probes, np.empty(12, np.int64))
    assert same(kernel, reference)
    ranges = np.sort(rng.integers(0, len(held.counts) + 1, (12, 2)), axis=1)
    kernel, reference = both("total", held, ranges, np.ones(12, np.int64))
    assert same(kernel, reference)
    size = int((ranges[:, 1] - ranges[:, 0]).sum())
    kernel, reference = both("spread", ranges, np.empty(size, np.int64), np.empty(size, np.int64))
    assert same(kernel, reference)
    kernel, reference = both("sum", held.counts, np.empty(len(held.counts) + 1, np.int64))
    assert same(kernel, reference)
    places = rng.permutation(len(held.counts))[:9].astype(np.int64)
    places[rng.random(len(places)) < 0.2] = -1
    amounts = np.where(places >= 0, -held.counts[places], 3) if len(held.counts) else places
    amounts[::2] = 2
    kernel, reference = both("add", held, places, amounts)
    assert same(kernel, reference)


@pytest.mark.parametrize(("seed", "width", "count"), CASES)
def test_bounds(seed: int, width: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    held = rows(rng, count, width)
    for prefix in range(width + 1):
        prefixes = np.ascontiguousarray(rng.integers(0, 4, (12, prefix)))
        limits = rng.integers(-1, 6, (12, 2))
        limits[:2, 0], limits[:3, 1] = NULL + 1, TOP
        for chosen in (limits, np.empty((12, 0), np.int64)):
            if prefix == width and chosen.shape[1]:
                continue
            kernel, reference = both("bounds", held.keys, prefixes, chosen, np.empty((12, 2), np.int64))
            for _, copies in (kernel, reference):
                np.maximum(copies[3][:, 0], copies[3][:, 1], out=copies[3][:, 1])
            assert same(kernel, reference)


@pytest.mark.parametrize(("seed", "width", "count"), CASES)
def test_merging(seed: int, width: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rows(rng, count, width)
    chosen = rng.random(len(whole.counts)) < 0.4
    one = CountedRows(whole.keys[chosen], whole.counts[chosen], whole.sums)
    other = CountedRows(whole.keys[~chosen], whole.counts[~chosen], whole.sums)
    size = len(whole.counts)
    kernel, reference = both("merge", one, other, np.zeros((size, width), np.int64), np.zeros(size, np.int64))
    made = kernel[0]
    assert made == reference[0] == (whole.counts != 0).sum()
    for (_, left), (_, right) in ((kernel, reference),):
        assert same(left[2][:made], right[2][:made])
        assert same(left[3][:made], right[3][:made])


@pytest.mark.parametrize("spread", [3, 1000, 2**40, 2**62])
@pytest.mark.parametrize("width", range(4))
def test_equal_rows_are_collapsed_whether_they_fit_in_one_number_or_not(spread: int, width: int) -> None:
    rng = np.random.default_rng(width)
    for count in (0, 1, 2, 200):
        keys = rng.choice(np.array([-spread, -1, 0, 1, spread]), (count, width))
        counts = rng.integers(-2, 3, count)
        wanted: dict[tuple[int, ...], int] = {}
        for key, amount in zip(map(tuple, keys.tolist()), counts.tolist()):
            wanted[key] = wanted.get(key, 0) + amount
        found, sums = collapsed(keys, counts)
        assert list(zip(map(tuple, found.tolist()), sums.tolist())) == sorted(wanted.items())

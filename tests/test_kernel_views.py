"""The kernels of views are their references."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cer_gpu.kernels.views import contract, cpu_climb, cpu_levels, cpu_list, cpu_search
from cer_gpu.kernels.views.contract import NULL, CountedRows, RowTests

from cer_gpu.engine.views.levels import collapsed


def rows(rng: np.random.Generator, count: int, width: int, values: int = 4) -> CountedRows:
    keys = rng.integers(0, values, (count, width))
    keys[rng.random(keys.shape) < 0.1] = NULL
    keys = np.unique(keys, axis=0) if width else keys[: min(count, 1)]
    counts = rng.integers(0, 5, len(keys))
    sums = np.empty(contract.sums_of(len(keys)), np.int64)
    contract.sum_reference(counts, sums)
    return CountedRows(np.ascontiguousarray(keys), counts, sums)


CPU = {**vars(cpu_search), **vars(cpu_levels), **vars(cpu_climb), **vars(cpu_list)}


def both(name: str, *arguments: Any) -> list[Any]:
    """What a kernel and its reference leave, each of copies of the arguments."""
    found = []
    for function in (CPU["sum_up" if name == "sum" else name], getattr(contract, f"{name}_reference")):
        copies = [_copied(one) for one in arguments]
        found.append((function(*copies), copies))
    return found


def _copied(value: Any) -> Any:
    if isinstance(value, (CountedRows, RowTests)):
        return type(value)(*(array.copy() for array in value))
    return value.copy() if isinstance(value, np.ndarray) else value


def same(one: Any, other: Any) -> bool:
    if isinstance(one, (tuple, list)):
        return all(map(same, one, other))
    return bool(np.array_equal(one, other))


def agree(name: str, *arguments: Any) -> Any:
    """Both leave and return the same, which is returned."""
    kernel, reference = both(name, *arguments)
    assert same(kernel, reference)
    return reference


CASES = [(seed, width, count) for seed in range(3) for width in range(4) for count in (0, 1, 30)]


@pytest.mark.parametrize(("seed", "width", "count"), CASES)
def test_finding_and_changing(seed: int, width: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    held = rows(rng, count, width)
    probes = np.ascontiguousarray(rng.integers(-1, 5, (12, width)))
    agree("find", held.keys, probes, np.empty(12, np.int64))
    agree("sum", held.counts, np.empty(contract.sums_of(len(held.counts)), np.int64))
    for marked in (held.keys, probes):
        for size in (1, 64):
            marks, found = rng.integers(0, 4, size).astype(np.uint8), np.empty(len(marked), np.uint8)
            agree("noted", marked, rng.integers(0, 2, len(marked)).astype(np.uint8), marks, found)
    agree("ascending", probes)
    agree("ascending", held.keys)
    for many in (1, 12):
        keys = np.unique(probes[:many], axis=0) if width else probes[:1]
        amounts = rng.integers(0, 5, len(keys))
        missing = rng.integers(0, 2, len(keys)).astype(np.uint8)
        for some in (held, held._replace(sums=np.empty(0, np.int64))):
            agree("put", some, keys, amounts, missing)
        size = len(held.counts) + len(keys)
        made = np.zeros((size, width), np.int64), np.zeros(size, np.int64)
        new = CountedRows(keys, amounts - 2, np.empty(0, np.int64))
        (one, mine), (other, theirs) = both("merge", held, new, *made)
        assert one == other
        assert same([array[:one] for array in mine[2:]], [array[:one] for array in theirs[2:]])
        there = int((missing != 0).sum())
        agree("chosen", keys, amounts, missing, np.zeros((there, width), np.int64), np.zeros(there, np.int64))


@pytest.mark.parametrize(("seed", "width", "count"), CASES)
def test_bounds(seed: int, width: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    held = rows(rng, count, width)
    for prefix in range(width + 1):
        asking = np.ascontiguousarray(rng.integers(-1, 5, (12, prefix + 1)))
        asking[:2, prefix] = NULL
        if seed and prefix:
            # Rows with one prefix follow each other, in the order of the value or not.
            asking = asking[np.lexsort(asking.T[: prefix + seed % 2][::-1])]
        for op in range(-1, 5 if prefix < width else 0):
            (_, one), (_, other) = both("bounds", held.keys, asking, prefix, op, np.zeros((12, 2), np.int64))
            sizes = other[4][:, 1] - other[4][:, 0]
            assert same(one[4][:, 1] - one[4][:, 0], sizes)
            assert same(one[4][sizes > 0], other[4][sizes > 0])


@pytest.mark.parametrize(("seed", "width", "count"), CASES)
def test_sorting(seed: int, width: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    if not count or not width:
        return
    keys = rng.integers(-900, 900, (count, width))
    _, (_, low, high) = agree("spans", keys, np.empty(width, np.int64), np.empty(width, np.int64))
    _, left = agree("pack", keys, low, high - low + 1, np.empty(count, np.int64))
    scratch = np.empty((3, count), np.int64)
    kernel, reference = both("sort", left[3], 36, np.empty(2048, np.int64), *scratch)
    assert same(kernel[1][4], reference[1][4])
    agree("multiply", keys[:, 0].copy(), keys[:, -1].copy(), np.empty(count, np.int64))
    large = np.full(count, 2**40)
    assert agree("multiply", keys[:, 0].copy(), large, np.empty(count, np.int64))[0]
    assert both("multiply", large, large, np.empty(count, np.int64))[0][0] is False


@pytest.mark.parametrize(("seed", "width", "count"), CASES)
def test_merging(seed: int, width: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rows(rng, count, width)
    chosen = rng.random(len(whole.counts)) < 0.4
    one = CountedRows(whole.keys[chosen], whole.counts[chosen], whole.sums)
    other = CountedRows(whole.keys[~chosen], whole.counts[~chosen], whole.sums)
    size = len(whole.counts)
    made, _ = agree("merge", one, other, np.zeros((size, width), np.int64), np.zeros(size, np.int64))
    assert made == (whole.counts != 0).sum()
    both_long = (np.zeros((2 * size, width), np.int64), np.zeros(2 * size, np.int64))
    agree("unite", one, whole, *both_long)
    agree("unite", whole, other, *both_long)
    for few in (1, 4):
        agree("unite", whole, CountedRows(other.keys[:few], other.counts[:few], other.sums), *both_long)
    part = len(one.counts)
    keys, counts = (np.concatenate([mine, theirs]) for mine, theirs in zip(one[:2], other[:2]))
    agree("insert", keys, counts, part, other.keys, other.counts)
    twice = np.repeat(whole.keys, 2, axis=0)
    agree("collapse", twice, np.repeat(whole.counts, 2), *both_long)


TESTS = [
    *([op] for op in range(6)),
    *([op, other] for op in (0, 3, 4) for other in range(6)),
    [0, 2, 5],
    [5, 5],
    [],
]


@pytest.mark.crossed
@pytest.mark.parametrize("shared", [0, 1])
@pytest.mark.parametrize("ops", TESTS, ids=str)
@pytest.mark.parametrize("plain", [True, False])
def test_rows_that_join(ops: list[int], shared: int, plain: bool) -> None:
    rng = np.random.default_rng(len(ops))
    many = len(ops)
    columns = shared + np.arange(many)
    if not plain and many:
        columns[1:] = min(shared + many, 3)
    tests = RowTests(np.array(ops, np.int64), columns.copy(), columns)
    turned = RowTests(np.array([[2, 3, 0, 1, 4, 5][op] for op in ops], np.int64), columns, columns.copy())
    for count in (0, 1, 25):
        held, others = rows(rng, count, 4), rows(rng, rng.choice([1, 12]), 4)
        scratch = np.empty((many, 2), np.int64)
        asked = len(others.counts)
        for asking in (others.keys, rng.permutation(others.keys), np.repeat(others.keys, 3, axis=0)[1::2]):
            found, touched = np.zeros(len(asking), np.int64), np.zeros(len(asking), np.uint8)
            agree_without("totals", 4, held, asking, shared, tests, scratch, found, touched)
        made = np.zeros((asked, 4), np.int64)
        groups, left = agree("reach", held.keys, others.keys, shared, turned, made)
        ranges = left[4][:groups]
        most = int((ranges[:, 1] - ranges[:, 0]).sum())
        for width in (4, 1):
            made = np.zeros((most, width), np.int64), np.zeros(most, np.int64)
            arguments = (held, others, shared, tests, turned, ranges, scratch, *made)
            agree_without("affected", 6, *arguments)
        whole = np.empty((asked, 2), np.int64)
        cpu_search.bounds(held.keys, others.keys, shared, -1, whole)
        at = np.zeros(2, np.int64)
        while at[0] < asked:
            made = np.zeros(5, np.int64), np.zeros(5, np.int64)
            arguments = (held.keys, others.keys, shared, tests, whole, at, scratch, *made)
            _, left = agree_without("matching", 6, *arguments, upto=7)
            at = left[5]


def agree_without(name: str, scratch: int, *arguments: Any, upto: int = 99) -> Any:
    """As `agree`, whatever is left in the scratch space."""
    kernel, reference = both(name, *arguments)
    assert kernel[0] == reference[0]
    made = kernel[0] if isinstance(kernel[0], int) else None
    for number, (one, other) in enumerate(zip(kernel[1], reference[1])):
        if number != scratch:
            end = made if number >= min(upto, 7) and name in ("affected", "matching") else None
            assert same(one[:end] if end is not None else one, other[:end] if end is not None else other)
    return reference


def test_a_product_that_does_not_fit() -> None:
    one = CountedRows(np.zeros((1, 1), np.int64), np.array([2**40]), np.empty(0, np.int64))
    tests = RowTests(*(np.empty(0, np.int64) for _ in range(3)))
    made = np.zeros((1, 1), np.int64), np.zeros(1, np.int64)
    ranges, scratch = np.array([[0, 1, 0, 1]]), np.empty((0, 2), np.int64)
    assert agree("affected", one, one, 0, tests, tests, ranges, scratch, *made)[0] == -1


@pytest.mark.draws("seed", 3)
def test_ranges_become_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    held = rows(rng, 30, 2)
    ranges = np.sort(rng.integers(0, len(held.counts) + 1, (12, 2)), axis=1)
    size = int((ranges[:, 1] - ranges[:, 0]).sum())
    agree("spread", ranges, np.empty(size, np.int64), np.empty(size, np.int64))
    for numbers in (np.sort(rng.integers(0, 9, 40)), np.zeros(0, np.int64), np.array([0, 0, 8])):
        assert agree("ended", numbers, np.empty(10, np.int64))[0]
    assert not both("ended", np.array([2, 1]), np.empty(10, np.int64))[0][0]
    values = rng.integers(0, 9, (3, 20))
    for own in ([], [1], [1, 0]):
        for counted in (True, False):
            made = np.empty((3 + len(own), size), np.int64)
            agree("expand", ranges, 4, values, held, np.array(own, np.int64), counted, made)


@pytest.mark.crossed
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


def test_sums_of_long_ranges() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 9, 60_000)
    sums = np.empty(contract.sums_of(len(counts)), np.int64)
    agree("sum", counts, sums)
    cpu_levels.sum_up(counts, sums)
    held = CountedRows(np.arange(len(counts)).reshape(-1, 1), counts, sums)
    keys = np.unique(rng.integers(0, len(counts), 50)).reshape(-1, 1)
    agree("put", held, keys, np.ones(len(keys), np.int64), np.ones(len(keys), np.uint8))
    tests = RowTests(np.array([0]), np.array([0]), np.array([0]))
    found, touched = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.uint8)
    cpu_climb.totals(held, keys, 0, tests, np.empty((1, 2), np.int64), found, touched)
    assert found.tolist() == [int(counts[key + 1 :].sum()) for key in keys[:, 0].tolist()]

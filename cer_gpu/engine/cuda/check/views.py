"""The check of views: sorted rows are collapsed, merged and changed, and other rows are looked up in them."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.cuda.check.inputs import Answers, ComparedArray, Inputs, mixed, there
from cer_gpu.kernels.views import cpu_climb, cpu_levels, cpu_list, cpu_search, cuda, cuda_rows
from cer_gpu.kernels.views.contract import BLOCK, CountedRows, RowTests, sums_of

GROUPS = 2
"""The number of different first values: the rows with one of them fill more than two blocks of sums."""

LESS, UNLIKE = 0, 5
"""Codes of `<` and `!=`."""


def kept_rows(inputs: Inputs) -> Answers:
    """Rows sorted and collapsed, two levels merged, multiplicities changed."""
    keys, counts = _drawn(inputs, 7)
    made = cuda_rows.collapsed(*there((keys, counts)), inputs.stream)
    held = _collapsed(keys, counts)
    yield ComparedArray("rows", made[0], held.keys)
    yield ComparedArray("multiplicities", made[1], held.counts)

    first = np.arange(len(held.counts)) % 3 == 0
    parts = [CountedRows(held.keys[some], held.counts[some], held.sums[:0]) for some in (first, ~first)]
    size = len(held.counts)
    here = np.empty_like(held.keys), np.empty_like(held.counts)
    left = cpu_levels.merge(*parts, *here)
    pair = [CountedRows(*there(part)) for part in parts]
    found = cuda_rows.merged(*pair, True, inputs.stream)
    sums = np.empty(sums_of(left), np.int64)
    cpu_levels.sum_up(here[1][:left], sums)
    yield ComparedArray("merged rows", found.keys, here[0][:left])
    yield ComparedArray("merged multiplicities", found.counts, here[1][:left])
    yield ComparedArray("sums of blocks", found.sums, sums)

    some = np.arange(0, size, 2)
    asked = held.keys[some] + np.array([0, 1]) * (mixed(len(some), 3) == 0)[:, None]
    amounts = mixed(len(some), 5) - 2
    rows = CountedRows(*there(held))
    missing = (mixed(len(some), 4) > 0).astype(np.uint8)
    still = missing.copy()
    changed = cuda_rows.put(rows, *there((asked, amounts)), still, inputs.stream)
    changed_here = cpu_levels.put(held, asked, amounts, missing)
    yield ComparedArray("changed multiplicities", rows.counts, held.counts)
    yield ComparedArray("changed sums of blocks", rows.sums, held.sums)
    yield ComparedArray("rows that are missing", still, missing)
    yield ComparedArray("emptied rows", np.array([changed]), np.array([changed_here]))


def asked_rows(inputs: Inputs) -> Answers:
    """What rows ask of other rows: by value, by range, sums, what a change touches, and pairs."""
    held = _collapsed(*_drawn(inputs, 7))
    others = _collapsed(*(part[: 2 * inputs.stream.threads + 3] for part in _drawn(inputs, 11)))
    rows, asking = CountedRows(*there(held)), CountedRows(*there(others))
    stream, many = inputs.stream, len(others.counts)

    places = np.empty(many, np.int64)
    cpu_search.find(held.keys, others.keys, places)
    yield ComparedArray("places", cuda.places_of(rows.keys, asking.keys, stream), places)

    ranges = np.empty((many, 2), np.int64)
    cpu_search.bounds(held.keys, others.keys, 1, LESS, ranges)
    sizes = ranges[:, 1] - ranges[:, 0]
    found = cuda.ranges_asked(rows.keys, asking.keys, 1, LESS, stream).copy_to_host()
    yield ComparedArray("rows in ranges", found[:, 1] - found[:, 0], sizes)
    yield ComparedArray("ranges", found[sizes > 0], ranges[sizes > 0])

    below, unlike = _tests(LESS), _tests(UNLIKE)
    for tests in (below, unlike):
        sums, touched = np.zeros(many, np.int64), np.zeros(many, np.uint8)
        cpu_climb.totals(held, others.keys, 1, tests, np.empty((1, 2), np.int64), sums, touched)
        made = cuda.totals_of(rows, asking.keys, 1, RowTests(*there(tests)), stream)
        yield ComparedArray("sums", made[0], sums)
        yield ComparedArray("rows with a partner", made[1], touched)

    whole = np.array([[0, len(held.counts)]])
    reached = np.empty((many, 4), np.int64)
    turned = _tests(2)
    reached = reached[: cpu_climb.reach(held.keys, others.keys, 1, turned, reached)]
    size = int((reached[:, 1] - reached[:, 0]).sum())
    keys, amounts = np.empty((size, 2), np.int64), np.empty(size, np.int64)
    scratch = np.empty((1, 2), np.int64)
    left = cpu_climb.affected(held, others, 1, below, turned, reached, scratch, keys, amounts)
    tests = RowTests(*there(below))
    there_keys, there_amounts, fits = cuda.affected_rows(rows, whole, asking, 1, tests, 2, stream)
    yield ComparedArray("affected rows", there_keys, keys[:left])
    yield ComparedArray("their changes", there_amounts, amounts[:left])
    yield ComparedArray("whether they fit", np.array([fits]), np.array([True]))

    few = ranges[: inputs.stream.threads + 1]
    beside = np.stack([mixed(many, 50), mixed(many, 9)])
    own = np.array([1])
    listed = np.empty((3, int((few[:, 1] - few[:, 0]).sum())), np.int64)
    cpu_list.expand(few, 1, beside, held, own, True, listed)
    made = cuda.expanded(few, 1, *there((beside,)), rows, *there((own,)), True, stream)
    yield ComparedArray("rows next to others", made, listed)

    begin, end = (np.searchsorted(held.keys[:, 0], others.keys[:8, 0], side) for side in ("left", "right"))
    asked, parts = others.keys[:8], np.stack([begin, np.minimum(end, begin + 40)], axis=1)
    pairs = np.empty((2, int((parts[:, 1] - parts[:, 0]).sum())), np.int64)
    arguments = (unlike, parts, np.zeros(2, np.int64), scratch, *pairs)
    left = cpu_list.matching(held.keys, asked, 1, *arguments)
    tests = RowTests(*there(unlike))
    found = cuda.pairs_found(rows.keys, *there((asked,)), 1, tests, *there((parts,)), 50, stream)
    both = [np.stack([parent.copy_to_host(), place.copy_to_host()]) for parent, place in found]
    yield ComparedArray("pairs", np.concatenate([pairs[:, :0], *both], axis=1), pairs[:, :left])


def _drawn(inputs: Inputs, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in no order, some of them several times or with the multiplicity 0."""
    rows = max(6 * BLOCK, 2 * inputs.stream.threads + 3)
    keys = np.stack([mixed(rows, GROUPS + seed)[:] % GROUPS, mixed(rows + seed, rows)[seed:]], axis=1)
    return np.ascontiguousarray(keys), mixed(rows, seed) - 1


def _collapsed(keys: np.ndarray, counts: np.ndarray) -> CountedRows:
    order = np.lexsort(keys.T[::-1])
    made_keys, made = np.empty_like(keys), np.empty_like(counts)
    size = cpu_levels.collapse(np.ascontiguousarray(keys[order]), counts[order], made_keys, made)
    sums = np.empty(sums_of(size), np.int64)
    cpu_levels.sum_up(made[:size], sums)
    return CountedRows(made_keys[:size], made[:size], sums)


def _tests(op: int) -> RowTests:
    return RowTests(np.array([op]), np.array([1]), np.array([1]))

"""Runs in fewer bytes are read, changed and merged as runs of int64."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest
from cer_gpu.kernels.views import contract, cpu_climb, cpu_levels, cpu_list, cpu_search
from cer_gpu.kernels.views.contract import CountedRows, RowTests
from random_views import random_rule
from test_views_random import KEYED, run, tables_made

import cer_gpu
from cer_gpu.engine.views import levels, runs
from cer_gpu.engine.views.levels import Levels

KERNELS = {**vars(cpu_search), **vars(cpu_levels), **vars(cpu_climb), **vars(cpu_list)}


def rows(rng: np.random.Generator, count: int, width: int) -> CountedRows:
    keys = np.unique(rng.integers(-3, 4, (count, width)), axis=0)
    counts = rng.integers(0, 4, len(keys))
    sums = np.empty(contract.sums_of(len(keys)), np.int64)
    contract.sum_reference(counts, sums)
    return CountedRows(keys, counts, sums)


def in_both_forms(name: str, *arguments: Any) -> None:
    """A kernel leaves and gives the same, whether rows among its arguments are narrow or not."""
    found = []
    for form in (lambda rows: rows, runs.narrowed):
        given: list[Any] = []
        for one in arguments:
            if isinstance(one, CountedRows):
                own = form(one)
                assert own is not None
                given.append(CountedRows(*(array.copy() for array in own)))
            else:
                given.append(one.copy() if isinstance(one, np.ndarray) else one)
        result = KERNELS[name](*given)
        arrays = [
            array
            for one in given
            for array in (one if isinstance(one, CountedRows) else (one,))
            if isinstance(array, np.ndarray)
        ]
        found.append((result, arrays))
    (one, before), (other, after) = found
    assert one == other
    for mine, theirs in zip(before, after):
        assert np.array_equal(mine, theirs), name


@pytest.mark.draws("seed", 4)
@pytest.mark.parametrize("width", [2, 3])
def test_kernels_read_both_forms(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    held, others = rows(rng, 60, width), rows(rng, 12, width)
    many = len(others.counts)
    probes, amounts = others.keys, rng.integers(-1, 3, many)
    missing = rng.integers(0, 2, many).astype(np.uint8)
    nowhere = np.empty(0, np.int64)
    short = held.keys.astype(np.int32)
    in_both_forms("put", held, probes, amounts, missing)
    size = len(held.counts) + many
    made = np.zeros((size, width), np.int64), np.zeros(size, np.int64)
    in_both_forms("merge", held, CountedRows(probes, amounts, nowhere), *made)
    there = rng.random(len(held.counts)) < 0.5
    parts = [CountedRows(held.keys[some], held.counts[some], nowhere) for some in (there, ~there)]
    in_both_forms("merge", *parts, *made)
    marks = [np.zeros(64, np.uint8) for _ in range(2)]
    for keys, own in zip((held.keys, short), marks):
        every = np.ones(len(keys), np.uint8)
        KERNELS["noted"](keys, every, own, every.copy())
    assert np.array_equal(*marks)
    column = np.array([1])
    for op in (0, 3, 4, 5):
        tests = RowTests(np.array([op]), column, column)
        turned = RowTests(np.array([[2, 3, 0, 1, 4, 5][op]]), column, column)
        scratch, sums, touched = (
            np.zeros((1, 2), np.int64),
            np.zeros(many, np.int64),
            np.zeros(many, np.uint8),
        )
        in_both_forms("totals", held, probes, 1, tests, scratch, sums, touched)
        found = []
        for keys in (held.keys, short):
            ranges = np.zeros((many, 4), np.int64)
            found.append(ranges[: KERNELS["reach"](keys, probes, 1, turned, ranges)])
            asked = np.zeros((many, 2), np.int64)
            KERNELS["bounds"](keys, probes, 1, op if op < 5 else -1, asked)
            pairs = np.zeros((2, 400), np.int64)
            at, steps = np.zeros(2, np.int64), (probes, 1, tests, asked)
            found.append(pairs[:, : KERNELS["matching"](keys, *steps, at, scratch, pairs[0], pairs[1])])
            spots = np.zeros(len(probes), np.int64)
            KERNELS["find"](keys, probes, spots)
            found += [asked, spots]
        for one, other in zip(found[:4], found[4:]):
            assert np.array_equal(one, other)
        groups = found[0]
        most = int((groups[:, 1] - groups[:, 0]).sum())
        made = np.zeros((most, width), np.int64), np.zeros(most, np.int64)
        affected = []
        for own in (held, runs.narrowed(held)):
            written = KERNELS["affected"](own, others, 1, tests, turned, groups, scratch, *made)
            affected.append((written, *(array[:written].copy() for array in made)))
        assert affected[0][0] == affected[1][0]
        for one, other in zip(affected[0][1:], affected[1][1:]):
            assert np.array_equal(one, other)
        beside = rng.integers(0, 9, (3, many))
        ranges = found[2]
        total = int((ranges[:, 1] - ranges[:, 0]).sum())
        out = np.zeros((4, total), np.int64)
        in_both_forms("expand", ranges, 0, beside, held, column, True, out)


def test_what_does_not_fit_is_not_made_narrow() -> None:
    keys, counts, sums = np.array([[5, -7], [6, 2**31 - 1]]), np.array([1, 2**15 - 1]), np.empty(0, np.int64)
    found = runs.narrowed(CountedRows(keys, counts, sums))
    assert found is not None
    assert np.array_equal(found.keys, keys)
    assert np.array_equal(found.counts, counts)
    for odd in (2**31, -(2**31) - 1, contract.NULL):
        assert runs.narrowed(CountedRows(np.where(keys == 6, odd, keys), counts, sums)) is None
    assert runs.narrowed(CountedRows(keys, counts + 1, sums)) is None


@pytest.mark.draws("seed", 12)
def test_levels_hold_what_was_put_in(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"narrow {seed}")
    monkeypatch.setattr(levels, "ROOM", 2)
    monkeypatch.setattr(levels, "MARKED", rng.choice([1, 1 << 12]))
    monkeypatch.setattr(levels, "LEAST_NARROW", rng.choice([1, 3]))
    large = [2**31 - 1, 2**31, -(2**31) - 1]
    values = [*range(-4, 5), *(rng.sample(large, rng.randint(0, 3)))]
    steps = [1, 2, 2**14, 2**15] if seed % 2 else [1, 2]
    store, wanted = Levels(2), Counter[tuple[int, int]]()
    forms = set()
    for _ in range(60):
        batch = {
            (rng.choice(values), rng.choice(values)): rng.choice(steps) for _ in range(rng.randint(1, 6))
        }
        for row in rng.sample(list(wanted), min(len(wanted), rng.randint(0, 3))):
            batch[row] = -rng.choice([wanted[row], 1])
        ordered = sorted(batch)
        store.add(np.array(ordered), np.array([batch[row] for row in ordered]))
        wanted.update(batch)
        wanted = +wanted
        forms |= {runs.is_narrow(one) for one in store.runs if isinstance(one, CountedRows)}
        rows = np.array(sorted({*wanted, *((a, b) for a in (0, 9) for b in (1, 2**40))}))
        assert store.counts_of(rows).tolist() == [wanted[tuple(row)] for row in rows.tolist()]
        assert store.total == wanted.total()
        assert len(store) == len(wanted)
        for one in store.runs:
            assert isinstance(one, CountedRows)
            sums = np.empty_like(one.sums)
            contract.sum_reference(one.counts.astype(np.int64), sums)
            assert np.array_equal(one.sums, sums)
    assert True in forms
    keys, counts = store.ordered()
    assert keys.dtype == counts.dtype == np.int64
    assert dict(zip(map(tuple, keys.tolist()), counts.tolist())) == wanted


@pytest.mark.draws("seed", 12)
def test_answers_of_random_views(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"narrow views {seed}")
    monkeypatch.setattr(levels, "ROOM", 2)
    monkeypatch.setattr(levels, "LEAST_NARROW", 1)
    monkeypatch.setattr(levels, "MOST_COUNT", rng.choice([2, runs.MOST_COUNT]))
    for _ in range(2):
        text, relations = random_rule(rng, rng.randint(1, 4))
        run(cer_gpu.maintain(text), text, relations, rng)


@pytest.mark.parametrize("text", KEYED)
def test_answers_listed_from_tables(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    for seed in range(3):
        monkeypatch.setattr(levels, "LEAST_NARROW", 1)
        made += tables_made(text, Random(f"narrow {text} {seed}"), monkeypatch)
    assert made

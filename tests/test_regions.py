"""Regions between the constants of an axis: classes and complements against loops over regions."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from cer_gpu.plan.regions import Regions, ValueSet, classes_of
from cer_gpu.plan.thresholds import exact_array, joined


def drawn_set(rng: Random, count: int) -> np.ndarray:
    """Some of `count` regions, as the ascending regions with which they begin or end."""
    return np.array(sorted(rng.sample(range(count + 1), 2 * rng.randrange(min(3, count // 2) + 1))), np.int64)


def has(one: np.ndarray, region: int) -> bool:
    return bool(np.searchsorted(one, region, side="right") % 2)


@pytest.mark.parametrize("sets", [1, 3, 15, 63])
def test_classes_are_told_apart_as_the_sets_tell_regions_apart(sets: int) -> None:
    rng = Random(sets)
    for _ in range(60):
        count = 2 * rng.randrange(1, 9)
        drawn = [drawn_set(rng, count) for _ in range(sets)]
        signatures = [tuple(has(one, region) for one in drawn) for region in range(count)]
        wanted = list(dict.fromkeys(signatures))
        found = classes_of(drawn, count)
        which = np.searchsorted(found.starts, np.arange(count), side="right") - 1
        assert found.numbers[which].tolist() == [wanted.index(one) for one in signatures]
        assert found.members == tuple(
            frozenset(number for number, inside in enumerate(wanted) if inside[place])
            for place in range(sets)
        )


def test_a_complement_has_what_its_set_has_not() -> None:
    rng = Random(0)
    for size in range(8):
        regions = Regions([ValueSet(np.arange(size))])
        for _ in range(20):
            one = drawn_set(rng, regions.count)
            other = regions.complement(one)
            assert other.dtype == np.int64
            assert (np.diff(other) > 0).all()
            assert all(has(other, region) != has(one, region) for region in range(regions.count))


def test_constants_are_joined_exactly() -> None:
    rng = Random(1)
    values = [0, 7, -3, 0.5, 2.0**53, 2**53, 2**53 + 1, -(2**63), 2**63, 1e300]
    for _ in range(200):
        parts = [exact_array(rng.choices(values, k=rng.randrange(1, 4))) for _ in range(rng.randrange(1, 4))]
        wanted = exact_array([value for part in parts for value in part.tolist()])
        found = joined(parts)
        assert found.dtype == wanted.dtype
        assert found.tolist() == wanted.tolist()
    assert joined([]).dtype == np.int64

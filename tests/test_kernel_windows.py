"""Lowest admissible starts and consumption, against their definitions."""

from __future__ import annotations

import random

import numpy as np
import pytest
from cer_gpu.kernels.consume import cpu as consume
from cer_gpu.kernels.forest.cpu_heaps import KeyNumbers
from cer_gpu.kernels.streams import cpu_records
from cer_gpu.kernels.streams.contract import first_admitted_reference
from cer_gpu.kernels.windows import cpu as windows
from cer_gpu.kernels.windows.contract import lowest_starts_reference


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint64, np.float64, np.float32])
def test_lowest_starts(kind: type) -> None:
    rng = random.Random(1)
    for _ in range(100):
        cuts = sorted(rng.randint(0, 12) for _ in range(3))
        begin, stop = np.array([0, *cuts]), np.array([*cuts, 12])
        parts = [sorted(rng.randint(0, 20) for _ in range(high - low)) for low, high in zip(begin, stop)]
        keys = np.array([key for part in parts for key in part], dtype=kind)
        ends = [[j for j in range(low, high) if rng.random() < 0.6] for low, high in zip(begin, stop)]
        event = np.array([j for part in ends for j in part], dtype=np.int64)
        first = np.cumsum([0, *map(len, ends)])
        size = rng.choice((0, 1, 3, 2.5, 100, 2**70))
        lowest = windows.lowest_starts(keys, begin, first, event, size)
        assert lowest.tolist() == lowest_starts_reference(keys.tolist(), begin, first, event, size)


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.float64])
def test_events_near_the_last_of_their_lane(kind: type) -> None:
    rng = random.Random(2)
    for _ in range(100):
        lanes = np.array([rng.randrange(3) for _ in range(rng.randrange(12))], np.int32)
        now, keys = [0, 0, 0], []
        for lane in lanes.tolist():
            now[lane] += rng.choice((0, 1, 3))
            keys.append(now[lane])
        size = rng.choice((0, 1, 3, 2.5, 100))
        near = windows.near_last(np.array(keys, kind), lanes, size)
        assert near.tolist() == [now[lane] - key <= size for lane, key in zip(lanes.tolist(), keys)]


def lowest_of_all(keys: np.ndarray, size: float) -> list[int]:
    """The lowest start of every event of one segment."""
    n = len(keys)
    return windows.lowest_starts(keys, np.array([0]), np.array([0, n]), np.arange(n), size).tolist()


@pytest.mark.parametrize(
    ("size", "expected"), [(2**63 - 1, [0, 0, 1, 2]), (2**63, [0, 0, 0, 1]), (2**64 - 1, [0, 0, 0, 0])]
)
def test_lowest_starts_over_the_whole_range_of_integers(size: int, expected: list[int]) -> None:
    assert lowest_of_all(np.array([-(2**63), -1, 0, 2**63 - 1], dtype=np.int64), size) == expected


def test_a_difference_is_subtracted_not_rearranged() -> None:
    """In floats 0.4 <= 0.1 + 0.3, but 0.4 - 0.1 > 0.3."""
    assert lowest_of_all(np.array([0.1, 0.4]), 0.3) == [0, 1]


def simulate(hits: list[tuple[int, int, int]], partitioned: bool) -> list[tuple[bool, int]]:
    """Consumption as LANGUAGE section 2 says it: what is reported later starts after the last report."""
    reported: list[tuple[int, int]] = []
    answer = []
    for position, start, lane in hits:
        before = max((p for p, other in reported if other == lane or not partitioned), default=-1)
        answer.append((start > before, before))
        if start > before:
            reported.append((position, lane))
    return answer


@pytest.mark.parametrize("partitioned", [False, True])
def test_consumption(partitioned: bool) -> None:
    rng = random.Random(2)
    for _ in range(200):
        positions = sorted(rng.sample(range(60), rng.randint(0, 15)))
        hits = [(p, rng.randint(max(0, p - 12), p), rng.randrange(3)) for p in positions]
        position, start, lane = (
            (np.array(part, dtype=np.int64) for part in zip(*hits))
            if hits
            else [np.zeros(0, dtype=np.int64)] * 3
        )
        keep, before = np.zeros(len(hits), dtype=np.uint8), np.zeros(len(hits), dtype=np.int64)
        cut = rng.randint(0, len(hits))
        floor, floors = -1, np.full(3, -1, dtype=np.int64)
        for part in (slice(0, cut), slice(cut, None)):
            arrays = position[part], start[part]
            if partitioned:
                consume.consume_partition(*arrays, lane[part], floors, keep[part], before[part])
            else:
                floor = consume.consume_any(*arrays, floor, keep[part], before[part])
        assert list(zip((keep != 0).tolist(), before.tolist())) == simulate(hits, partitioned)


@pytest.mark.parametrize("lanes", [1, 3])
def test_the_first_admitted_where_keys_go_up_and_down(lanes: int) -> None:
    rng = random.Random(lanes)
    for _ in range(60):
        n = rng.randint(1, 60)
        lane = np.array([rng.randrange(lanes) for _ in range(n if lanes > 1 else 0)], np.int32)
        own = np.cumsum([rng.choice((-3, 0, 1, 2)) for _ in range(n)])
        numbers = KeyNumbers(own, own - rng.randrange(6))
        keyed = np.array([rng.random() < 0.9 for _ in range(n)], np.uint8)
        last, records = np.full(lanes, -1), np.empty((n, cpu_records.FIELDS), np.int64)
        found: list[int] = []
        while len(found) < n:
            first = len(found)
            stop = min(first + rng.randint(1, 9), n)
            new, admitted = (
                KeyNumbers(*(each[first:stop] for each in numbers)),
                np.empty(stop - first, np.int64),
            )
            cpu_records.first_admitted(lane, keyed, new, first, stop, last, records, admitted)
            found += admitted.tolist()
        assert found == [first_admitted_reference(lane, keyed, numbers, event) for event in range(n)]

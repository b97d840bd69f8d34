"""Long lanes in units, on the device: the hits and counts of the CPU's kernels, which run them in one go."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise, product
from typing import Any

import numpy as np
import pytest
from cer_gpu.kernels.counts import cuda_ends as ends
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device import words
from cer_gpu.kernels.device.geometry import Geometry
from cer_gpu.kernels.device.scan import neighbours
from cer_gpu.kernels.hits import cpu as hitting
from cer_gpu.kernels.hits import cuda_long_segments as flows
from cer_gpu.kernels.hits.cuda_blocks import HitUnits, device_program
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.runs.programs import counts_program, hits_program
from cuda_device import TINY, USABLE
from numba import cuda
from random_tables import Case, kleene, random_case, sequence
from test_cuda_kernels import hits_of

from cer_gpu.engine.cuda.check.runs import composed_maps

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

NONE = np.zeros(0, np.int64)


def units_of(rng: random.Random, case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random cuts of every segment: where the units begin and stop, and of which segment they are."""
    begin, stop, segment = [], [], []
    for number, (low, high) in enumerate(zip(case.begin.tolist(), case.stop.tolist())):
        cuts = sorted({low, high, *(rng.randint(low, high) for _ in range(rng.randint(0, 8)))})
        for one, other in list(pairwise(cuts)) or [(low, high)]:
            begin.append(one)
            stop.append(other)
            segment.append(number)
    return tuple(np.array(part, np.int64) for part in (begin, stop, segment))


@pytest.mark.draws("seed", 3)
def test_hits_of_units(seed: int) -> None:
    rng = random.Random(700 + seed)
    total = 0
    blocks = [*TINY, Geometry(20, 2)]
    for number in range(20):
        case = random_case(rng, longest=14)
        tables, geometry = case.tables, blocks[number % 4]
        segments, n = case.begin.size, case.symbols.size
        starts = np.cumsum(np.array([rng.randint(1, 5) for _ in range(n)], np.int64)) + 10
        registers = np.array(
            [[rng.choice((-1, 3, 10)) for _ in range(tables.n_live)] for _ in range(segments)], np.int64
        )
        program, after = hits_program(tables), registers.copy()
        event, latest = hitting.hits(
            program, case.symbols, starts, NONE, 0, case.begin, case.begin, case.stop, after
        )
        begin, stop, segment = units_of(rng, case)
        left = cuda.to_device(registers)
        offsets, found = flows.long_hits(
            device_program(program, geometry),
            words.to_device(case.symbols),
            *[cuda.to_device(part) for part in (starts, begin, stop, segment)],
            left,
            geometry,
        )
        assert hits_of(found) == [event.tolist(), latest.tolist()]
        assert np.array_equal(left.copy_to_host(), after)
        assert offsets.copy_to_host().tolist() == [*np.searchsorted(event, begin).tolist(), event.size]
        total += event.size
    assert total > 60


@pytest.mark.parametrize("threads", [4, 5, 9, 32])
@pytest.mark.parametrize("units", [1, 2, 3, 8, 9, 10, 29])
def test_maps_of_tiles_are_composed_by_one_block(threads: int, units: int) -> None:
    """With tiles that are not full."""
    rng = np.random.default_rng(units)
    n = 4
    flow = rng.integers(0, 1 << n, (units, n)).astype(np.uint64)
    inside = rng.integers(-1, 9, (units, n))
    flow[0] = 0
    none = cuda.to_device(np.zeros(units, np.int64))
    given = HitUnits(none, none, none, cuda.to_device(NONE))
    for size in (1, 2, 3, 32):
        tiles = -(-units // size)
        parts = [
            composed_maps(flow[low : low + size], inside[low : low + size]) for low in range(0, units, size)
        ]
        behind = [np.concatenate(part).T.ravel() for part in zip(*parts)]
        maps = flows.Maps(*(cuda.to_device(part) for part in behind), units)
        before, each = cuda.device_array((tiles, n), np.int64), neighbours(tiles, threads // n)
        flows.scan_maps_kernel[1, threads, 0, 8 * n](
            given, size, each, maps, flows.new_maps(n, tiles), before
        )
        expected = np.concatenate([np.full((1, n), -1), composed_maps(flow, inside)[1][size - 1 :: size]])
        assert np.array_equal(before.copy_to_host(), expected[:tiles])


def test_sets_of_many_states() -> None:
    """A sequence of 40 steps, each waiting for its own symbol: sets of more than 32 states."""
    tables = sequence(*[1] * 40)
    symbols = np.array([*range(1, 41), *range(30, 41), 40], np.uint8)
    program, left = hits_program(tables), np.full((1, tables.n_live), -1, np.int64)
    bounds = np.array([0]), np.array([0]), np.array([len(symbols)])
    event, latest = hitting.hits(program, symbols, NONE, NONE, 0, *bounds, left)
    begin = np.arange(0, len(symbols), 5)
    units = begin, np.append(begin[1:], len(symbols)), np.zeros(len(begin), np.int64)
    registers = cuda.to_device(np.full((1, tables.n_live), -1, np.int64))
    _, found = flows.long_hits(
        device_program(program, TINY[0]),
        words.to_device(symbols),
        *[cuda.to_device(part) for part in (NONE, *units)],
        registers,
        TINY[0],
    )
    assert hits_of(found) == [event.tolist(), latest.tolist()]
    assert event.tolist() == [39, 50, 51]
    assert np.array_equal(registers.copy_to_host(), left)


@pytest.mark.draws("seed", 3)
def test_counts_of_units(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room in shared memory for tables, for the symbols of some units, or for nothing."""
    rng = random.Random(720 + seed)
    total = 0
    for number in range(20):
        rooms = rng.choice((0, rng.randint(5, 60), 1000))
        monkeypatch.setattr(ends, "shared_room", lambda *_, rooms=rooms: rooms)
        case = random_case(rng, longest=12)
        tables, geometry = case.tables, TINY[number % 3]
        vectors = np.array(
            [[rng.randint(0, 4) for _ in range(tables.n_live)] for _ in range(case.begin.size)], np.int64
        )
        program = counts_program(tables)
        event, expected, rest = counted_ends(program, case.symbols, case.begin, case.stop, vectors)
        found, after, status = counted_on_device(tables, case.symbols, units_of(rng, case), vectors, geometry)
        assert hits_of(found) == [event.tolist(), expected.tolist()]
        # of state 0 there is one run whatever the vector says, and an empty segment leaves the vector
        assert np.array_equal(after[:, 1:], rest[:, 1:])
        assert not status.any()
        total += int(expected.sum())
    assert total > 60


@pytest.mark.parametrize("threads", [3, 4, 7, 32])
def test_matrices_of_tiles_are_multiplied_by_one_block(threads: int) -> None:
    rng = np.random.default_rng(threads)
    n = 3
    for units, size in product((1, 2, 3, 9, 10, 28), (1, 2, 3, 32)):
        matrix = rng.integers(0, 3, (units, n, n))
        matrix[0, :, 1:] = 0
        wanted = multiplied_tiles(matrix, size)
        assert scanned_tiles(matrix, size, threads) == [
            [min(value, 1 << 62) for value in row] for row in wanted
        ]
    ones = np.ones((70, n, n), np.int64)
    ones[0, :, 1:] = 0
    assert scanned_tiles(ones, 1, threads)[-1][0] == 1 << 62


def multiplied_tiles(matrix: np.ndarray, size: int) -> list[list[int]]:
    """The numbers before each tile of units, in Python's integers."""
    vector, before = np.array([1, 0, 0], object), []
    for unit, one in enumerate(matrix.astype(object)):
        if unit % size == 0:
            before.append(vector.tolist())
        vector = one @ vector
    return before


def scanned_tiles(matrix: np.ndarray, size: int, threads: int) -> list[list[int]]:
    """The numbers before each tile of units, as one block finds them."""
    units, n, _ = matrix.shape
    of_tile = [
        np.minimum(each, 1 << 62)
        for low in range(0, units, size)
        for each in accumulate(matrix[low : low + size].astype(object), lambda before, one: one @ before)
    ]
    tiles, none = -(-units // size), cuda.to_device(np.zeros(units, np.int64))
    before, whole = cuda.device_array((tiles, n), np.int64), cuda.device_array((tiles, n, n), np.int64)
    given = HitUnits(none, none, none, cuda.to_device(NONE))
    there = cuda.to_device(np.array(of_tile).astype(np.int64))
    each = neighbours(tiles, threads // n)
    ends.scan_tiles_kernel[1, threads, 0, 8 * n](given, size, each, there, whole, before)
    found: list[list[int]] = before.copy_to_host().tolist()
    return found


def counted_on_device(
    tables: TransitionTables,
    symbols: np.ndarray,
    units: tuple[np.ndarray, ...],
    vectors: np.ndarray,
    geometry: Geometry,
) -> tuple[Any, np.ndarray, np.ndarray]:
    """What `cuda_ends.counted_ends` finds: the ends on the device, what is open afterwards, the status."""
    program = counts_program(tables)
    fitting = ends.ends_geometry(program.n_registers, tables.n_live, geometry)
    assert fitting is not None
    found, after, status = ends.counted_ends(
        device_program(program, fitting),
        words.to_device(symbols),
        *[cuda.to_device(part) for part in units],
        cuda.to_device(vectors),
        fitting,
        geometry,
    )
    return found, after.copy_to_host(), status.copy_to_host()


def test_a_sum_of_units_too_large_is_the_status_of_its_segment() -> None:
    """`A+ ; B` over 70 A events in units of 9: the segment after it is counted."""
    symbols = np.array([1] * 70 + [2] + [1, 2], np.uint8)
    begin = np.array([*range(0, 71, 9), 71])
    stop = np.append(begin[1:], 73)
    segment = np.append(np.zeros(begin.size - 1, np.int64), 1)
    tables = kleene()
    vectors = np.zeros((2, tables.n_live), np.int64)
    found, after, status = counted_on_device(tables, symbols, (begin, stop, segment), vectors, TINY[0])
    assert status.tolist() == [1, 0]
    assert hits_of(found) == [[70, 72], [1 << 62, 1]]
    assert after[1].tolist() == [1, 1]


def test_numbers_that_are_too_large_before_a_segment_stay_so() -> None:
    """2^62 open partial matches of `A+ ; B`: at the next end, and in the segment's numbers, are 2^62."""
    tables = kleene()
    vectors = np.array([[1, 1 << 62], [1, 1]])
    units = np.array([0, 2]), np.array([2, 4]), np.array([0, 1])
    found, after, status = counted_on_device(tables, np.array([1, 2] * 2, np.uint8), units, vectors, TINY[0])
    assert status.tolist() == [1, 0]
    assert hits_of(found) == [[1, 3], [1 << 62, 3]]
    assert after[1].tolist() == [1, 3]

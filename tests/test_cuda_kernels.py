"""The kernels of the device against those of the CPU and their references.

They run where CUDA can be used: on a GPU, or in Numba's simulator, which `test_cuda_simulator` switches on in
a process of its own. Blocks are tiny and grids too small for the work, so that everything crosses blocks and
every loop goes round.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cer_gpu.kernels.classify import cpu as on_cpu
from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.classify.contract import NONE_MISSING, add_cuts_reference
from cer_gpu.kernels.counts import cpu as counting
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device import jit, scan, words
from cer_gpu.kernels.device.geometry import SHARED, Geometry, lane_geometry
from cer_gpu.kernels.hits import cpu as hitting
from cer_gpu.kernels.hits import cuda as hits
from cer_gpu.kernels.runs.programs import backward_program, counts_program, forward_program, hits_program
from cer_gpu.kernels.windows import cpu as windows
from cer_gpu.kernels.windows import cuda as cuda_windows
from cuda_device import TINY, USABLE
from numba import cuda
from random_tables import kleene, random_case, sequence, tables_of

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

# The simulator subtracts keys as NumPy does, which warns where unsigned differences wrap, as they may.
pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

NONE = np.zeros(0, np.int64)
NUMBERS = [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64]


def padded_index(rng: np.random.Generator, rows: int, dtype: type, below: int) -> np.ndarray:
    """Random numbers, with numbers that no table holds behind the rows."""
    index = np.full(words.padded(rows), np.iinfo(dtype).max, dtype)
    index[:rows] = rng.integers(0, below, rows)
    return index


@pytest.mark.parametrize("geometry", TINY)
@pytest.mark.parametrize("n", [0, 1, 3, 4, 15, 16, 37])
def test_offsets(geometry: Geometry, n: int) -> None:
    numbers = np.random.default_rng(n).integers(0, 9, n)
    found = scan.offsets_of(cuda.to_device(numbers), geometry).copy_to_host()
    assert found.tolist() == [0, *np.cumsum(numbers).tolist()]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_cuts(dtype: type, masked: bool, wide: bool) -> None:
    rng = np.random.default_rng([masked, wide])
    for cuts, rows in ((0, 1), (1, 7), (5, 23), (40, 37)):
        values = rng.integers(0, 100, rows).astype(dtype)
        if values.dtype.kind == "f":
            values[rng.random(rows) < 0.2] = np.nan
        valid = (rng.random(rows) < 0.7).astype(np.uint8) if masked else NONE_MISSING
        bounds = np.sort(rng.choice(100, cuts, replace=False)).astype(dtype)
        width = np.uint32 if wide else np.uint16
        shares = rng.integers(0, 1000, cuts + 1).astype(width)
        index = padded_index(rng, rows, width, 1000)
        expected = index.copy()
        add_cuts_reference(expected, values, valid, bounds, shares)
        found = cuda.to_device(index)
        arrays = [cuda.to_device(part) for part in (values, valid, bounds, shares)]
        classify.add_cuts(found, *arrays, TINY[cuts % 3])
        assert np.array_equal(found.copy_to_host(), expected)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8])
def test_codes(dtype: type, masked: bool) -> None:
    rng = np.random.default_rng(masked)
    for width in (np.uint16, np.uint32):
        codes = rng.integers(0, 20, 45).astype(dtype)
        valid = (rng.random(45) < 0.8).astype(np.uint8) if masked else NONE_MISSING
        shares = rng.integers(0, 9, 20).astype(width)
        index = padded_index(rng, 45, width, 100)
        expected = index.copy()
        on_cpu.add_codes_body(expected, codes, valid, shares, width(7))
        found = cuda.to_device(index)
        arrays = [cuda.to_device(part) for part in (codes, valid, shares)]
        classify.add_codes(found, *arrays, width(7), TINY[0])
        assert np.array_equal(found.copy_to_host(), expected)


def test_an_index_begins_with_zeros_and_goes_on_from_states() -> None:
    for dtype in (np.uint16, np.uint32):
        following = classify.new_index(13, dtype, TINY[0])
        assert following.copy_to_host().tolist() == [0] * 16
        rows = 13
        index, table = np.arange(16, dtype=np.uint16) % 5, np.array([3, 0, 1, 2, 9], np.int32)
        index[rows:] = 9000
        classify.restate(cuda.to_device(index), rows, cuda.to_device(table), 4, following, TINY[0])
        assert following.copy_to_host().tolist() == [*(4 * table[index[:rows]]).tolist(), 0, 0, 0]


@pytest.mark.parametrize("geometry", TINY)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 32, 33, 111])
def test_compaction(geometry: Geometry, wide: bool, rows: int) -> None:
    rng = np.random.default_rng([rows, wide])
    index = padded_index(rng, rows, np.uint32 if wide else np.uint16, 50)
    for share, dtype in ((0.0, np.uint8), (0.3, np.uint8), (0.7, np.uint16), (1.0, np.uint16)):
        table = np.where(rng.random(50) < share, rng.integers(1, 200, 50), 0).astype(dtype)
        positions, symbols = np.empty(rows, np.int64), np.empty(rows, dtype)
        kept = on_cpu.compact(index[:rows], table, 1000, positions, symbols)
        found = classify.compact(cuda.to_device(index), rows, cuda.to_device(table), 1000, geometry)
        assert found[2] == kept
        assert found[0].copy_to_host().tolist() == positions[:kept].tolist()
        assert found[1].copy_to_host()[:kept].tolist() == symbols[:kept].tolist()


@pytest.mark.draws("seed", 4)
def test_hits_and_counts_under_windows(seed: int) -> None:
    rng = random.Random(seed)
    total = 0
    for number in range(25):
        case = random_case(rng, longest=14)
        tables, geometry = case.tables, TINY[number % 3]
        program = hits_program(tables)
        bounds = case.begin, case.report, case.stop
        registers = np.full((case.begin.size, tables.n_live), -1, np.int64)
        after = registers.copy()
        event, latest = hitting.hits(program, case.symbols, NONE, case.keys, case.size, *bounds, after)
        keys, size = windows.comparable(case.keys, case.size)
        symbols, keys = words.to_device(case.symbols), cuda.to_device(keys)
        left = cuda.to_device(registers)
        starts, *bounds = [cuda.to_device(part) for part in (NONE, *bounds)]
        first, *found = hits.hits(
            hits.device_program(program, geometry), symbols, starts, keys, size, *bounds, left, geometry
        )
        assert [part.copy_to_host().tolist() for part in found] == [event.tolist(), latest.tolist()]
        assert np.array_equal(left.copy_to_host(), after)

        offsets = first.copy_to_host()
        assert offsets[-1] == event.size
        lowest = cuda_windows.lowest_starts(keys, bounds[0], first, found[0], size, geometry)
        assert lowest.copy_to_host().tolist() == case.lowest[event].tolist()
        programs = forward_program(tables), backward_program(tables)
        expected = counting.counts(tables, *programs, case.symbols, offsets, event, case.lowest[event])
        machine = counts.device_tables(tables, *programs)
        number_of, status = counts.counts(machine, symbols, first, found[0], lowest, geometry)
        assert number_of.copy_to_host().tolist() == expected.tolist()
        assert not status.copy_to_host().any()
        total += int(expected.sum())
    assert total > 60


@pytest.mark.draws("seed", 3)
def test_what_a_batch_leaves_goes_into_the_next(seed: int) -> None:
    rng = random.Random(50 + seed)
    total = 0
    for number in range(15):
        case = random_case(rng, longest=10)
        tables, geometry = case.tables, TINY[number % 3]
        segments, n = case.begin.size, case.symbols.size
        starts = np.cumsum(np.array([rng.randint(1, 5) for _ in range(n)], np.int64)) + 10
        # starts of earlier batches: less than all of this one
        registers = np.array(
            [[rng.choice((-1, 3, 10)) for _ in range(tables.n_live)] for _ in range(segments)], np.int64
        )
        vectors = np.where(registers < 0, 0, rng.randint(1, 4))
        program, forward = hits_program(tables), forward_program(tables)
        after = registers.copy()
        bounds = case.begin, case.begin, case.stop
        event, latest = hitting.hits(program, case.symbols, starts, NONE, 0, *bounds, after)
        low, _, high = [cuda.to_device(part) for part in bounds]
        symbols, left = words.to_device(case.symbols), cuda.to_device(registers)
        none = cuda.to_device(NONE.view(np.uint64))
        first, *found = hits.hits(
            hits.device_program(program, geometry),
            symbols,
            cuda.to_device(starts),
            none,
            0,
            low,
            low,
            high,
            left,
            geometry,
        )
        assert [part.copy_to_host().tolist() for part in found] == [event.tolist(), latest.tolist()]
        assert np.array_equal(left.copy_to_host(), after)

        _, expected, rest = counted_ends(counts_program(tables), case.symbols, case.begin, case.stop, vectors)
        machine = counts.device_tables(tables, forward, backward_program(tables))
        moved = cuda.to_device(vectors)
        status = cuda.to_device(np.zeros(segments, np.uint8))
        number_of = counts.forward_counts(
            machine, symbols, low, high, first, found[0], moved, status, geometry
        )
        assert number_of.copy_to_host().tolist() == expected.tolist()
        assert np.array_equal(moved.copy_to_host(), rest)
        total += int(expected.sum())
    assert total > 100


def test_a_sum_too_large_is_a_status() -> None:
    """`A+ ; B` over 70 A events: the segment that overflows says so, the others are counted."""
    tables = kleene()
    symbols = np.array([1, 2] + [1] * 70 + [2], np.uint8)
    first, event = np.array([0, 1, 2]), np.array([1, 72])
    begin, stop = np.array([0, 2]), np.array([2, 73])
    machine = counts.device_tables(tables, forward_program(tables), backward_program(tables))
    device = [cuda.to_device(part) for part in (first, event, begin)]
    found, status = counts.counts(machine, words.to_device(symbols), *device, TINY[0])
    assert status.copy_to_host().tolist() == [0, 1]
    assert found.copy_to_host()[0] == 1

    vectors = cuda.to_device(np.zeros((2, tables.n_live), np.int64))
    status = cuda.to_device(np.zeros(2, np.uint8))
    limits = [cuda.to_device(part) for part in (begin, stop, first, event)]
    found = counts.forward_counts(machine, words.to_device(symbols), *limits, vectors, status, TINY[0])
    assert status.copy_to_host().tolist() == [0, 1]
    assert found.copy_to_host()[0] == 1
    assert vectors.copy_to_host()[1].tolist() == [0, 0]


def test_no_transition_and_no_event() -> None:
    tables = tables_of(2, [])
    program = hits.device_program(hits_program(tables), TINY[0])
    none, keys = cuda.to_device(NONE), cuda.to_device(NONE.view(np.uint64))
    for segments in (0, 3):
        zeros = cuda.to_device(np.zeros(segments, np.int64))
        left = cuda.to_device(np.full((segments, tables.n_live), -1, np.int64))
        symbols = words.to_device(np.zeros(0, np.uint8))
        first, event, _ = hits.hits(program, symbols, none, keys, 0, *[zeros] * 3, left, TINY[0])
        assert first.copy_to_host().tolist() == [0] * (segments + 1)
        assert event.shape == (0,)
        assert cuda_windows.lowest_starts(keys, zeros, first, event, 0).shape == (0,)
        machine = counts.device_tables(tables, forward_program(tables), backward_program(tables))
        assert counts.counts(machine, symbols, first, event, event)[0].shape == (0,)


def test_registers_fit_into_shared_memory() -> None:
    for n_registers in (1, 5, 48, 49, 96, 192):
        chosen = lane_geometry(n_registers)
        assert 8 * n_registers * chosen.threads <= SHARED
        assert chosen.threads % 32 == 0
    assert lane_geometry(193) is None


def test_columns_become_hits() -> None:
    """`A ; B ; C` on the device from the column to the hits: nothing between comes back."""
    rng = np.random.default_rng(8)
    prices = rng.integers(0, 40, 150).astype(np.float64)
    bounds, shares = np.array([10.0, 20.0, 30.0]), np.arange(4, dtype=np.uint16)
    table = np.array([1, 2, 0, 3], np.uint8)
    tables = sequence(1, 2, 3)
    index = classify.new_index(150, np.uint16, TINY[0])
    columns = [cuda.to_device(part) for part in (prices, NONE_MISSING, bounds, shares)]
    classify.add_cuts(index, *columns, TINY[0])
    positions, symbols, kept = classify.compact(index, 150, cuda.to_device(table), 0, TINY[0])
    keys, size = positions.view(np.uint64), 12
    cuts = np.arange(0, kept, 20)
    # every segment begins 20 relevant events early: more than the window's 12 positions hold
    bounds = [cuda.to_device(part) for part in (np.maximum(cuts - 20, 0), cuts, np.append(cuts[1:], kept))]
    left = cuda.to_device(np.full((cuts.size, tables.n_live), -1, np.int64))
    program = hits.device_program(hits_program(tables), TINY[0])
    none = cuda.to_device(NONE)
    _, event, latest = hits.hits(program, symbols, none, keys, size, *bounds, left, TINY[0])
    at = positions.copy_to_host()
    found = list(zip(at[event.copy_to_host()].tolist(), at[latest.copy_to_host()].tolist()))

    class_of = table[(prices[:, None] >= np.array([10.0, 20.0, 30.0])).sum(axis=1)]
    expected = []
    for end in np.flatnonzero(class_of == 3).tolist():
        admitted = range(max(end - size, 0), end)
        starts = [i for i in admitted if class_of[i] == 1 and (class_of[i:end] == 2).any()]
        if starts:
            expected.append((end, max(starts)))
    assert found == expected
    assert len(expected) > 10


def test_one_thread_launches_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba loads a kernel at its first launch, and two threads that do so at once end in an error."""
    inside, most = [], []

    def launch(number: int) -> None:
        inside.append(number)
        most.append(len(inside))
        time.sleep(0.005)
        inside.remove(number)

    made = jit.KernelLauncher(lambda: None)
    monkeypatch.setattr(made, "compiled", {(1, 1): launch})
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: made[1, 1](number), range(12)))
    assert len(most) == 12
    assert max(most) == 1

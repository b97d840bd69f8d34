"""The kernels of the device against those of the CPU and their references.

They run where CUDA can be used: on a GPU, or in Numba's simulator, which `test_cuda_simulator` switches on in
a process of its own. Blocks are tiny and grids too small for the work, so that everything crosses blocks and
every loop goes round.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.counts import cpu as counting
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.counts import cuda_ends as ends
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device import jit, scan, words
from cer_gpu.kernels.device.geometry import SHARED, Geometry, lane_geometry
from cer_gpu.kernels.device.memory import address_of
from cer_gpu.kernels.hits import cpu as hitting
from cer_gpu.kernels.hits import cuda as hits
from cer_gpu.kernels.hits.cuda_blocks import device_program
from cer_gpu.kernels.runs.programs import backward_program, counts_program, forward_program, hits_program
from cer_gpu.kernels.windows import cpu as windows
from cer_gpu.kernels.windows import cuda as cuda_windows
from cuda_device import TINY, USABLE
from numba import cuda, int64
from random_tables import kleene, random_case, sequence, tables_of

from cer_gpu.engine.read.adders import Adder
from cer_gpu.engine.read.sources.columns import Values

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

# The simulator subtracts keys as NumPy does, which warns where unsigned differences wrap, as they may.
pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

NONE = np.zeros(0, np.int64)
NOTED = scan.NOTED
NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


@pytest.mark.parametrize("geometry", TINY)
@pytest.mark.parametrize("n", [0, 1, 3, 4, 15, 16, 37])
def test_offsets(geometry: Geometry, n: int) -> None:
    numbers = np.random.default_rng(n).integers(0, 9, n)
    found = scan.offsets_of(cuda.to_device(numbers), geometry).copy_to_host()
    assert found.tolist() == [0, *np.cumsum(numbers).tolist()]


def a_column(rng: np.random.Generator, rows: int, stride: int) -> tuple[Adder, int]:
    """A column of a random type, and how many classes it has."""
    valid = (rng.random(rows) < 0.7).astype(np.uint8) if rng.random() < 0.4 else NONE_MISSING
    dtype = np.dtype(rng.choice(NUMBERS))
    if rng.random() < 0.3 and dtype.kind != "f":
        shares = (stride * rng.integers(0, 4, 9)).astype(np.uint16)
        codes = rng.integers(0, 9, rows).astype(dtype)
        if len(valid):
            codes[valid == 0] = np.iinfo(dtype).max  # the code of a null is arbitrary
        return Adder(Values(codes, valid), shares, None, int(stride * rng.integers(0, 4))), 4
    cuts = int(rng.choice([0, 1, 3, 40]))
    values = rng.integers(-60, 60, rows).astype(dtype)
    bounds = np.unique(rng.integers(-60, 60, cuts).astype(dtype))
    if dtype.kind == "f":
        for special in (np.nan, np.inf, -np.inf, -0.0, 0.0):
            values[rng.random(rows) < 0.1] = special
        bounds[bounds == 0] = rng.choice([-0.0, 0.0])
    elif rows:
        values[rng.integers(0, rows)] = np.iinfo(dtype).min
        values[rng.integers(0, rows)] = np.iinfo(dtype).max
    shares = (stride * np.arange(len(bounds) + 1)).astype(np.uint16)
    return Adder(Values(values, valid), shares, bounds, None), len(bounds) + 1


@pytest.mark.parametrize("geometry", TINY)
@pytest.mark.parametrize("rows", [0, 1, 15, 16, 63, 64, 65, 200])
def test_columns_become_positions_and_symbols(
    geometry: Geometry, rows: int, draws: Callable[[int], range]
) -> None:
    """Columns of all types that begin anywhere in memory, in one stage or several, and any share is kept."""
    for seed in draws(36):
        rng = np.random.default_rng([seed, rows, geometry.threads])
        stages: list[list[Adder]] = []
        strides, tables = [], []
        here, states = np.zeros(rows, np.int64), 1
        for number in range(1 + seed % 3):
            adders, cells = [], 1
            for _ in range(rng.integers(0 if number else 1, 4)):
                adder, classes = a_column(rng, rows, cells)
                adders.append(adder)
                cells *= classes
            index = (cells * here).astype(np.uint32)
            for adder in adders:
                adder.add(index, 0, rows)
            stages.append(adders)
            strides.append(cells)
            tables.append(rng.integers(0, 5, states * cells).astype(np.int32))
            here, states = tables[-1][index].astype(np.int64), 5
        dtype = (np.uint8, np.uint16)[seed % 2]
        symbol_of = [np.arange(5) % 4, np.zeros(5), np.ones(5), np.array([0, 0, 0, 0, 200])][seed % 4]
        tables[-1] = symbol_of.astype(np.int32)[tables[-1]]
        symbols = symbol_of[here].astype(dtype)
        offsets = np.cumsum([0, *map(len, tables)])[:-1].tolist()
        layout, head = classify.words_of_plan(stages, strides, offsets)
        columns, addresses = [], []
        for adder in (adder for stage in stages for adder in stage):
            skipped = int(rng.integers(0, 3))
            for part in (adder.column.data, adder.column.valid):
                whole = np.concatenate([part[:1].repeat(skipped), part, part[:1].repeat(skipped)])
                columns.append(cuda.to_device(whole))
                address = address_of(columns[-1]) + skipped * part.itemsize if len(part) else 0
                addresses.append(address)
        classify.address_columns(layout, list(zip(addresses[::2], addresses[1::2])))
        plan = classify.reading_plan(cuda.to_device(layout), head, cuda.to_device(np.concatenate(tables)))
        plan = plan._replace(held=plan.held & seed)
        found, of_each, kept = classify.classify(plan, rows, 1000, np.dtype(dtype), geometry)
        at = np.flatnonzero(symbols)
        assert kept == len(at)
        assert found.copy_to_host().tolist() == (1000 + at).tolist()
        assert of_each.copy_to_host()[:kept].tolist() == symbols[at].tolist()
        assert of_each.dtype == dtype


@cuda.jit
def sums_before(tiles: Any, tile: int, out: Any) -> None:
    noted = cuda.shared.array(NOTED, int64)
    before = scan.look_back(tiles, tile, noted)
    out[cuda.threadIdx.x] = before + scan.look_back(tiles, tile, noted)


@pytest.mark.parametrize("threads", [4, 40])
def test_a_tile_looks_back_to_the_nearest_sum_of_all(threads: int) -> None:
    """As if blocks ran at once: some tiles before it have published their own sums alone."""
    rng = np.random.default_rng(threads)
    for tile in (0, 1, 3, 4, 5, 31, 32, 33, 71, 72, 73, 120):
        own = rng.integers(0, 100, tile + 1)
        for whole in {0, 1, tile // 2, max(tile - threads, 0), max(tile - 1, 0)}:
            words_of_tiles = np.append(9999, scan.OWN | own)
            words_of_tiles[1] = scan.WHOLE | own[0]
            # Behind the nearest sum of all tiles there may be anything that was published.
            if whole < tile:
                words_of_tiles[whole + 1] = scan.WHOLE | own[: whole + 1].sum()
            out = cuda.to_device(np.full(threads, -1))
            sums_before[1, threads](cuda.to_device(words_of_tiles), tile, out)
            assert out.copy_to_host().tolist() == [2 * own[:tile].sum()] * threads


def hits_of(found: Any) -> list[list[int]]:
    """Events and latest starts of hits."""
    rows = found.copy_to_host()
    columns: list[list[int]] = rows[hits.HEAD :][: rows[hits.TOTAL, 0]].T.tolist()
    return columns


@pytest.mark.draws("seed", 4)
def test_hits_and_counts_under_windows(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room in shared memory for tables, for the symbols of some segments, or for nothing."""
    rng = random.Random(seed)
    total = 0
    chosen = counts.lane_geometry
    for number in range(25):
        rooms = rng.choice((0, rng.randint(5, 60), 1000))
        monkeypatch.setattr(hits, "shared_room", lambda *_, rooms=rooms: rooms)
        monkeypatch.setattr(counts, "TILE", 8 * rng.choice((0, 1, 2, 100)))
        monkeypatch.setattr(counts, "lane_geometry", chosen if number % 2 else lambda *_: None)
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
        first, found = hits.hits(
            device_program(program, geometry), symbols, starts, keys, size, *bounds, left, geometry
        )
        assert hits_of(found) == [event.tolist(), latest.tolist()]
        assert np.array_equal(left.copy_to_host(), after)

        offsets = first.copy_to_host()
        assert offsets[-1] == event.size
        event_there = cuda.to_device(event)
        lowest = cuda_windows.lowest_starts(keys, bounds[0], first, event_there, size, geometry)
        assert lowest.copy_to_host().tolist() == case.lowest[event].tolist()
        programs = forward_program(tables), backward_program(tables)
        expected = counting.counts(tables, *programs, case.symbols, offsets, event, case.lowest[event])
        machine = counts.device_tables(tables, *programs)
        pairs = cuda.to_device(np.stack([event, case.lowest[event]], axis=1))
        number_of, status = counts.counts(machine, symbols, first, pairs, geometry)
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
        program, after = hits_program(tables), registers.copy()
        bounds = case.begin, case.begin, case.stop
        event, latest = hitting.hits(program, case.symbols, starts, NONE, 0, *bounds, after)
        low, _, high = [cuda.to_device(part) for part in bounds]
        symbols, left = words.to_device(case.symbols), cuda.to_device(registers)
        none = cuda.to_device(NONE.view(np.uint64))
        _, found = hits.hits(
            device_program(program, geometry),
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
        assert hits_of(found) == [event.tolist(), latest.tolist()]
        assert np.array_equal(left.copy_to_host(), after)

        _, expected, rest = counted_ends(counts_program(tables), case.symbols, case.begin, case.stop, vectors)
        program = counts_program(tables)
        fitting = ends.ends_geometry(program.n_registers, tables.n_live, geometry)
        units = low, high, cuda.to_device(np.arange(segments))
        counted, moved, _ = ends.counted_ends(
            device_program(program, fitting), symbols, *units, cuda.to_device(vectors), fitting, geometry
        )
        assert hits_of(counted) == [event.tolist(), expected.tolist()]
        assert np.array_equal(moved.copy_to_host()[:, 1:], rest[:, 1:])
        total += int(expected.sum())
    assert total > 100


def test_a_sum_too_large_is_a_status() -> None:
    """`A+ ; B` over 70 A events: the segment that overflows says so, the others are counted."""
    tables = kleene()
    symbols = np.array([1, 2] + [1] * 70 + [2], np.uint8)
    first, event = np.array([0, 1, 2]), np.array([1, 72])
    begin = np.array([0, 2])
    machine = counts.device_tables(tables, forward_program(tables), backward_program(tables))
    device = [cuda.to_device(part) for part in (first, np.stack([event, begin], axis=1))]
    found, status = counts.counts(machine, words.to_device(symbols), *device, TINY[0])
    assert status.copy_to_host().tolist() == [0, 1]
    assert found.copy_to_host()[0] == 1


def test_no_transition_and_no_event() -> None:
    tables = tables_of(2, [])
    program = device_program(hits_program(tables), TINY[0])
    none, keys = cuda.to_device(NONE), cuda.to_device(NONE.view(np.uint64))
    for segments in (0, 3):
        zeros = cuda.to_device(np.zeros(segments, np.int64))
        left = cuda.to_device(np.full((segments, tables.n_live), -1, np.int64))
        symbols = words.to_device(np.zeros(0, np.uint8))
        first, found = hits.hits(program, symbols, none, keys, 0, *[zeros] * 3, left, TINY[0])
        assert first.copy_to_host().tolist() == [0] * (segments + 1)
        assert hits_of(found) == [[], []]
        assert cuda_windows.lowest_starts(keys, zeros, first, none, 0).shape == (0,)
        machine = counts.device_tables(tables, forward_program(tables), backward_program(tables))
        pairs = cuda.to_device(np.zeros((0, 2), np.int64))
        assert counts.counts(machine, symbols, first, pairs)[0].shape == (0,)


def test_registers_fit_into_shared_memory() -> None:
    for n_registers in (1, 5, 47, 48, 96, 191):
        chosen = lane_geometry(n_registers)
        assert 8 * n_registers * chosen.threads <= SHARED
        assert chosen.threads % 32 == 0
    assert lane_geometry(192) is None


@pytest.mark.parametrize("n_steps", [60, 90, 180])
def test_registers_that_fill_shared_memory_leave_room_for_what_is_declared(n_steps: int) -> None:
    tables = sequence(*[1] * n_steps)
    symbols = np.tile(np.arange(1, n_steps + 1), 3).astype(np.uint8)
    program, left = hits_program(tables), np.full((1, tables.n_live), -1, np.int64)
    geometry = lane_geometry(program.n_registers)
    bounds = np.array([0]), np.array([0]), np.array([len(symbols)])
    event, latest = hitting.hits(program, symbols, NONE, NONE, 0, *bounds, left.copy())
    _, found = hits.hits(
        device_program(program, geometry),
        words.to_device(symbols),
        *[cuda.to_device(part) for part in (NONE, NONE.view(np.uint64))],
        0,
        *[cuda.to_device(part) for part in (*bounds, left)],
        geometry,
    )
    assert hits_of(found) == [event.tolist(), latest.tolist()]


def test_columns_become_hits() -> None:
    """`A ; B ; C` on the device from the column to the hits: nothing between comes back."""
    rng = np.random.default_rng(8)
    prices = rng.integers(0, 40, 150).astype(np.float64)
    bounds, shares = np.array([10.0, 20.0, 30.0]), np.arange(4, dtype=np.uint16)
    table = np.array([1, 2, 0, 3], np.uint8)
    tables = sequence(1, 2, 3)
    adder = Adder(Values(prices, NONE_MISSING), shares, bounds, None)
    layout, head = classify.words_of_plan([[adder]], [1], [0])
    there = cuda.to_device(prices)
    classify.address_columns(layout, [(address_of(there), 0)])
    plan = classify.reading_plan(cuda.to_device(layout), head, cuda.to_device(table.astype(np.int32)))
    positions, symbols, kept = classify.classify(plan, 150, 0, table.dtype, TINY[0])
    keys, size = positions.view(np.uint64), 12
    cuts = np.arange(0, kept, 20)
    # every segment begins 20 relevant events early: more than the window's 12 positions hold
    bounds = [cuda.to_device(part) for part in (np.maximum(cuts - 20, 0), cuts, np.append(cuts[1:], kept))]
    left = cuda.to_device(np.full((cuts.size, tables.n_live), -1, np.int64))
    program = device_program(hits_program(tables), TINY[0])
    none = cuda.to_device(NONE)
    event, latest = hits_of(hits.hits(program, symbols, none, keys, size, *bounds, left, TINY[0])[1])
    at = positions.copy_to_host()
    found = list(zip(at[event].tolist(), at[latest].tolist()))

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

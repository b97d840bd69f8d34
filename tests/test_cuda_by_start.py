"""Counts under windows that are no interval of events, on the device: those of the CPU's kernel."""

from __future__ import annotations

import random

import numpy as np
import pytest
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.counts_by_start import cpu as on_cpu
from cer_gpu.kernels.counts_by_start import cuda as counts_by_start
from cer_gpu.kernels.device import words
from cer_gpu.kernels.runs.programs import backward_program, forward_program
from cuda_device import TINY, USABLE
from numba import cuda
from random_tables import kleene, random_case

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]


@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.parametrize("seed", range(2))
def test_counts_by_start_are_those_of_the_cpu(seed: int, kind: type) -> None:
    rng = random.Random(800 + seed)
    total = 0
    for number in range(25):
        case = random_case(rng, longest=11)
        n = case.symbols.size
        keys = np.array([rng.randint(-3, 3) for _ in range(n)], kind)
        valid = np.array([rng.random() < 0.9 for _ in range(n)], np.uint8)
        programs = forward_program(case.tables), backward_program(case.tables)
        bounds = case.begin, case.report, case.stop
        first, wanted = on_cpu.counts_by_start(
            case.tables, programs[0], case.symbols, keys, valid, 2, case.lowest, *bounds
        )
        keys, size = on_cpu.unsigned(keys, 2)
        offsets, found, status = counts_by_start.counts_by_start(
            counts.device_tables(case.tables, *programs),
            words.to_device(case.symbols),
            *[cuda.to_device(part) for part in (keys, valid)],
            size,
            cuda.to_device(case.lowest),
            *bounds,
            TINY[number % 3],
            TINY[number % 3],
        )
        assert offsets.tolist() == first.tolist()
        assert [part.copy_to_host().tolist() for part in found] == [part.tolist() for part in wanted]
        assert not status.copy_to_host().any()
        total += len(wanted[0])
    assert total > 40


@pytest.mark.parametrize(("many", "large"), [(62, 0), (63, 1), (90, 1)])
def test_a_sum_by_start_too_large_is_a_status(many: int, large: int) -> None:
    """`A+ ; B` over 62 A events: 2^62 - 1 is the last number that fits, as a sum over 62 starts."""
    tables = kleene()
    symbols = np.array([1, 2] + [1] * many + [2], np.uint8)
    n = len(symbols)
    keys, size = on_cpu.unsigned(np.zeros(n, np.int64), 0)
    programs = forward_program(tables), backward_program(tables)
    begin, stop = np.array([0, 2]), np.array([2, n])
    _, found, status = counts_by_start.counts_by_start(
        counts.device_tables(tables, *programs),
        words.to_device(symbols),
        *[cuda.to_device(part) for part in (keys, np.ones(n, np.uint8))],
        size,
        cuda.to_device(np.zeros(n, np.int64)),
        begin,
        begin,
        stop,
        TINY[0],
        TINY[2],
    )
    assert status.copy_to_host().tolist() == [0, large]
    assert found[2].copy_to_host()[0] == 1
    if not large:
        assert found[2].copy_to_host()[1] == 2**many - 1


def test_halves_that_add_up_to_too_much_are_a_status() -> None:
    """Two segments, of one event and of two; the third event's halves are 2^62, each below it."""
    low, high = np.array([5, (1 << 33) + 7, 1 << 31]), np.array([0, 3, (1 << 31) - 1])
    begin, report, first = np.array([0, 4]), np.array([0, 5]), np.array([0, 1, 3])
    there = [cuda.to_device(part) for part in (low, high, np.array([0, 4, 4]), begin, report, first)]
    found, status = cuda.to_device(np.zeros(3, np.int64)), cuda.to_device(np.zeros(2, np.uint8))
    counts_by_start.sum_halves_kernel[2, 2](*there, found, status)
    assert status.copy_to_host().tolist() == [0, 1]
    assert there[0].copy_to_host()[:2].tolist() == [5, (7 << 31) + 7]
    assert found.copy_to_host().tolist() == [1, 0, 1]

"""What NEXT and LAST leave, on the device: the arrays of the CPU's kernel."""

from __future__ import annotations

import random

import numpy as np
import pytest
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.device import words
from cer_gpu.kernels.runs.programs import backward_program, forward_program
from cer_gpu.kernels.selection import cpu as on_cpu
from cer_gpu.kernels.selection import cuda as best
from cer_gpu.kernels.selection.contract import DONE, NO_ANSWER
from cuda_cases import built, long_case
from cuda_device import TINY, USABLE
from numba import cuda
from random_tables import kleene, random_case

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]


@pytest.mark.parametrize("latest", [False, True])
def test_the_best_are_those_of_the_cpu(latest: bool) -> None:
    rng = random.Random(340)
    total = 0
    for number in range(24):
        case = long_case(rng) if number % 2 else random_case(rng, longest=11)
        hits = built(case).hits
        ends = hits.first, hits.event, hits.lowest
        wanted = on_cpu.best(case.tables, case.symbols, *ends, latest)
        programs = forward_program(case.tables), backward_program(case.tables)
        span = int((case.stop - case.begin).max())
        found, status = best.best(
            counts.device_tables(case.tables, *programs),
            words.to_device(case.symbols),
            *[cuda.to_device(part) for part in ends],
            latest,
            span,
            TINY[number % 3],
        )
        assert set(status.copy_to_host().tolist()) == {DONE}
        for name, part in found._asdict().items():
            assert np.array_equal(part.copy_to_host(), getattr(wanted, name)), name
        total += len(wanted.arena)
    assert total > 200


def test_a_hit_without_an_answer_is_the_status_of_its_segment() -> None:
    tables, symbols = kleene(), np.array([2, 2, 1, 2], np.uint8)
    programs = forward_program(tables), backward_program(tables)
    ends = np.array([0, 1, 2]), np.array([1, 3]), np.array([0, 2])
    _, status = best.best(
        counts.device_tables(tables, *programs),
        words.to_device(symbols),
        *[cuda.to_device(part) for part in ends],
        False,
        2,
        TINY[0],
    )
    assert status.copy_to_host().tolist() == [NO_ANSWER, DONE]


def test_room_is_what_every_event_may_need() -> None:
    room, threads = best.room_of(3, 280)
    assert room == 9 * 561
    assert threads > 5000
    assert best.room_of(40, 1 << 20)[1] == 0

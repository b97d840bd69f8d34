"""How the simulator runs the threads of a block: barriers, memory, device functions, errors."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_device import USABLE
from numba import config, cuda, int64

if not (USABLE and config.ENABLE_CUDASIM):
    pytest.skip("only the simulator has threads of Python", allow_module_level=True)

from numba.cuda.simulator.kernel import FakeCUDAKernel

from bench import simulated


@cuda.jit
def turned(rounds, out):
    """Threads hand a number around, a place in each round."""
    held = cuda.shared.array(0, int64)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    held[thread] = 100 * cuda.blockIdx.x + thread
    for _ in range(rounds):
        cuda.syncthreads()
        found = held[(thread + 1) % threads]
        cuda.syncthreads()
        held[thread] = found
    out[cuda.grid(1)] = held[thread]


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_a_barrier_parts_what_was_before_from_what_comes_after(threads: int, rounds: int) -> None:
    out = np.zeros(4 * threads, np.int64)
    turned[4, threads, 0, 8 * threads](rounds, out)
    block, thread = np.divmod(np.arange(out.size), threads)
    assert out.tolist() == (100 * block + (thread + rounds) % threads).tolist()


@cuda.jit
def leaving(out):
    """Thread i ends after i barriers; the last one counts those that were at its barriers."""
    thread = cuda.threadIdx.x
    for one in range(thread):
        cuda.syncthreads()
        out[thread] += one + 1


def test_threads_that_have_ended_are_not_waited_for() -> None:
    out = np.zeros(6, np.int64)
    leaving[1, 6](out)
    assert out.tolist() == [0, 1, 3, 6, 10, 15]


@cuda.jit
def asking(values, out):
    i = cuda.grid(1)
    positive = values[i] > 0
    found = (
        cuda.syncthreads_count(positive),
        cuda.syncthreads_and(positive),
        cuda.syncthreads_or(positive),
    )
    for place in range(3):
        out[i, place] = found[place]


def test_a_barrier_that_counts() -> None:
    values = np.array([1, 0, 2, 0, 0, 0, 3, 4, 5])
    out = np.zeros((9, 3), np.int64)
    asking[3, 3](values, out)
    assert out.tolist() == [[2, 0, 1]] * 3 + [[0, 0, 0]] * 3 + [[3, 1, 1]] * 3


@cuda.jit
def placed(out):
    i = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    out[cuda.blockIdx.x, i] += 1


def test_a_block_in_three_directions() -> None:
    out = np.zeros((2, 24), np.int64)
    placed[2, (2, 3, 4)](out)
    assert out.tolist() == [[1] * 24] * 2


@cuda.jit
def failing(out, bad):
    thread = cuda.threadIdx.x
    if cuda.blockIdx.x == 1 and thread == bad:
        raise ValueError("no such number")
    cuda.syncthreads()
    out[cuda.grid(1)] = thread


def test_an_error_names_its_thread_and_later_launches_run() -> None:
    for bad in range(3):
        out = np.full(9, -1, np.int64)
        with pytest.raises(ValueError, match=rf"^tid=\[{bad}, 0, 0\] ctaid=\[1, 0, 0\]: no such number$"):
            failing[3, 3](out, bad)
    out = np.full(3, -1, np.int64)
    failing[1, 3](out, 0)
    assert out.tolist() == [0, 1, 2]


@cuda.jit(device=True)
def own_place():
    return cuda.grid(1)


@cuda.jit
def doubled(out):
    out[own_place()] = 2 * own_place()


def test_a_module_has_its_own_globals_after_a_launch() -> None:
    before = doubled.py_func.__globals__["cuda"]
    out = np.zeros(6, np.int64)
    doubled[2, 3](out)
    assert out.tolist() == [0, 2, 4, 6, 8, 10]
    assert doubled.py_func.__globals__["cuda"] is before is cuda


def test_threads_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros((2, 24), np.int64)
    placed[2, (2, 3, 4)](out)
    made: list[object] = []
    monkeypatch.setattr(simulated, "KeptThread", lambda: made.append(None))
    placed[2, (2, 3, 4)](out)
    assert isinstance(placed, FakeCUDAKernel)
    assert made == []


@cuda.jit
def careless(total, times):
    for _ in range(times):
        total[0] += 1


@cuda.jit
def careful(total, times):
    for _ in range(times):
        cuda.atomic.add(total, 0, 1)


def test_races_show() -> None:
    """Additions that are not atomic are lost now and then, as on a device."""
    total = np.zeros(1, np.int64)
    careless[1, 4](total, 2000)
    assert 0 < total[0] < 8000
    total[0] = 0
    careful[1, 4](total, 2000)
    assert total[0] == 8000


@cuda.jit
def handing(turn, out):
    """Each thread waits until the one after it has written."""
    thread = cuda.threadIdx.x
    while cuda.atomic.add(turn, 0, 0) != thread:
        pass
    out[thread] = cuda.blockDim.x - thread
    cuda.atomic.sub(turn, 0, 1)


def test_a_thread_that_waits_lets_others_run() -> None:
    out = np.zeros(5, np.int64)
    handing[1, 5](np.array([4]), out)
    assert out.tolist() == [5, 4, 3, 2, 1]

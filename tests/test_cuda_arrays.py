"""Arrays of a device come from a pool: a batch gets the memory that the batches before it have given back."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any
from weakref import finalize

import numpy as np
import pytest
from cer_gpu.kernels.device import arrays
from cuda_device import USABLE
from numba import cuda
from test_cuda_devices import OPTIONS, QUERIES, small, trades

import cer_gpu as cer

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = pytest.mark.gpu

SIMULATED = USABLE.devices == ("simulator",)


class Pool:
    """Stands in for CuPy: it gives out memory again that no array uses any more.

    Attributes
    ----------
    asked, taken : int
        How many arrays it was asked for, and how often there was no memory for one yet.
    """

    def __init__(self) -> None:
        self.asked = self.taken = 0
        self._unused: dict[int, list[bytearray]] = {}
        self.cuda = SimpleNamespace(Stream=SimpleNamespace(null=nullcontext()), alloc_pinned_memory=bytearray)
        self.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 0)

    def empty(self, shape: Any, dtype: Any) -> Any:
        size = 1 << (int(np.prod(shape)) * np.dtype(dtype).itemsize).bit_length()
        self.asked += 1
        unused = self._unused.setdefault(size, [])
        if not unused:
            self.taken += 1
            unused.append(bytearray(size))
        memory = unused.pop()
        whole = np.frombuffer(memory, np.uint8)
        finalize(whole, unused.append, memory)
        made = cuda.device_array(0, dtype)
        made._ary = whole[: int(np.prod(shape)) * np.dtype(dtype).itemsize].view(dtype).reshape(shape)
        made.data = SimpleNamespace(ptr=0)
        return made


def pool_without_cupy(monkeypatch: pytest.MonkeyPatch) -> Pool:
    """A pool in place of CuPy's, in the simulator."""
    pool = Pool()
    monkeypatch.setattr(arrays, "pooled", lambda: pool)
    monkeypatch.setattr(
        cuda, "from_cuda_array_interface", lambda described, owner, sync: owner, raising=False
    )
    return pool


def pool_of_cupy(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """CuPy's pool: how many arrays it was asked for, and how many addresses it gave."""
    cupy = arrays.pooled()
    counted, given, empty = SimpleNamespace(asked=0, taken=0), set(), cupy.empty

    def noted(*arguments: Any) -> Any:
        made = empty(*arguments)
        given.add(made.data.ptr)
        counted.asked, counted.taken = counted.asked + 1, len(given)
        return made

    monkeypatch.setattr(cupy, "empty", noted)
    return counted


@pytest.mark.parametrize("name", ["time", "partitions", "carried", "one key"])
def test_a_batch_uses_the_memory_of_the_batches_before_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)
    pool = (pool_without_cupy if arrays.pooled() is None else pool_of_cupy)(monkeypatch)
    query, table = cer.compile(QUERIES[name]), trades(800)
    assert query.count(table, device="cuda", **OPTIONS) == query.count(table, device="cpu", **OPTIONS)
    assert pool.asked > 2 * pool.taken > 0


def given_back_is_given_out_again() -> None:
    first = arrays.device_array((1 << 20, 2), np.int64)
    assert first.shape == (1 << 20, 2)
    address = first.device_ctypes_pointer.value
    del first
    again = arrays.device_array(1 << 21, np.int64)
    assert again.device_ctypes_pointer.value == address
    part = again[5:7].view(np.uint64)
    del again
    other = arrays.device_array(1 << 21, np.int64)
    assert other.device_ctypes_pointer.value != address  # a part of it is still in use
    assert part.copy_to_host().shape == (2,)


def test_arrays_of_the_device_and_of_locked_pages_are_what_is_copied_to_them() -> None:
    if not SIMULATED and arrays.pooled() is not None:
        given_back_is_given_out_again()
    assert arrays.unused_bytes() >= 0
    host = arrays.locked_bytes(1 << 20)
    host[:] = 7
    there = arrays.device_array(1 << 20, np.uint8)
    there.copy_to_device(host)
    assert (there.copy_to_host() == 7).all()
    assert arrays.device_array((0, 3), np.int64).shape == (0, 3)

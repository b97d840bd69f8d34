"""Faults of kernels and of the host, planted on virtual devices: each is found, and its right form passes.

`test_virtual_device` runs these tests in a process of their own.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from virtual_device import VirtualDevice, installed

if installed() is None:
    pytest.skip("test_virtual_device runs these tests", allow_module_level=True)

from numba import cuda, int64
from numba.cuda.cudadrv.driver import CudaAPIError

pytestmark = [pytest.mark.gpu, pytest.mark.virtual_device_faults]

THREADS = 64


def told(device: VirtualDevice) -> str:
    """The only fault, without its numbers."""
    cuda.synchronize()
    (fault,) = device.faults()
    return re.sub(r"0x[0-9a-f]+|\d+", "#", fault.partition(": ")[2])


# ------------------------------------------------------------------------------------- accesses


@cuda.jit
def copy_from(source: Any, target: Any, by: int) -> None:
    at = cuda.grid(1)
    if at < target.size:
        target[at] = source[at + by]


@cuda.jit
def copy_to(source: Any, target: Any, by: int) -> None:
    at = cuda.grid(1)
    if at < source.size:
        target[at + by] = source[at]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.float64])
@pytest.mark.parametrize("by", [1, -1])
def test_an_index_off_by_one(device: VirtualDevice, dtype: type, by: int) -> None:
    there = [cuda.to_device(np.arange(100, dtype=dtype)) for _ in range(2)]
    copy_from[2, THREADS](*there, 0)
    copy_to[2, THREADS](*there, 0)
    cuda.synchronize()
    assert device.faults() == []
    # An index below zero counts from the end in Python: the address is what is wrong here.
    there[0] = there[0][: 100 if by > 0 else 1]
    for kernel, verb in ((copy_from, "reads"), (copy_to, "writes")):
        device.reset()
        arrays = there if verb == "reads" else there[::-1]
        if by > 0:
            kernel[2, THREADS](*arrays, by)
        else:
            kernel[1, 1](*arrays, -2)
        where = "behind the end of an allocation" if by > 0 else "before the beginning of an allocation"
        assert told(device) == f"thread # of block # {verb} # bytes at # {where} (line # of the PTX)"


def test_an_access_behind_a_part_of_the_pool_that_was_asked_for(device: VirtualDevice) -> None:
    """The pool rounds up to 512 bytes: of these, no more may be accessed than were asked for."""
    import cupy

    target, source = cupy.empty(100, np.int64), cuda.to_device(np.arange(101))
    copy_to[2, THREADS](source[:100], cuda.as_cuda_array(target), 0)
    cuda.synchronize()
    assert device.faults() == []
    copy_to[2, THREADS](source, cuda.as_cuda_array(target), 0)
    assert "behind the end of an allocation" in told(device)
    device.reset()
    fill[1, 1](cuda.as_cuda_array(target), 101)  # one array alone, which is looked up once
    assert told(device).startswith("thread # of block # writes # bytes at #")


@cuda.jit
def fill(target: Any, count: int) -> None:
    for at in range(count):
        target[at] = at


def test_memory_that_was_given_back_to_the_pool(device: VirtualDevice) -> None:
    import cupy

    lazy = replace(device.settings, lazy=True)
    for settings in (device.settings, lazy):
        device.configure(settings)
        device.reset()
        kept = cupy.empty(50, np.int64)
        alias = described(kept.data.ptr, 50)
        target = cuda.device_array(50, np.int64)
        copy_to[1, THREADS](alias, target, 0)
        del kept
        cuda.synchronize()
        assert device.faults() == []  # the launch comes before it was given back
        copy_to[1, THREADS](alias, target, 0)
        assert "in memory that was given back" in told(device)
        device.reset()
        assert target.copy_to_host().tolist()
        again = cupy.empty(50, np.int64)  # the same memory
        copy_to[1, THREADS](alias, target, 0)
        cuda.synchronize()
        assert device.faults() == []
        assert again.get().view(np.uint8).tolist() == [0xDD] * 400


def described(address: int, size: int) -> Any:
    """An array of int64 over an address."""
    interface = {"shape": (size,), "typestr": "<i8", "data": (address, False), "version": 2}
    return cuda.from_cuda_array_interface(interface, sync=False)


def test_memory_that_was_freed(device: VirtualDevice) -> None:
    driver, address = ctypes.CDLL("libcuda.so.1"), ctypes.c_ulonglong()
    target = cuda.device_array(50, np.int64)
    driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(400))
    source = described(address.value, 50)
    copy_to[1, THREADS](source, target, 0)
    driver.cuMemFree_v2(address)
    assert device.faults() == []
    copy_to[1, THREADS](source, target, 0)
    assert "in memory that was given back" in told(device)


def test_memory_of_another_device(device: VirtualDevice) -> None:
    device.configure(replace(device.settings, devices=2))
    source = cuda.to_device(np.arange(50))
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 1)
    driver.cuCtxPushCurrent_v2(context)
    there = ctypes.c_ulonglong()
    driver.cuMemAlloc_v2(ctypes.byref(there), ctypes.c_size_t(400))
    driver.cuCtxPopCurrent_v2(None)
    copy_to[1, THREADS](source, described(there.value, 50), 0)
    assert "in the memory of another device" in told(device)


def test_an_address_that_is_no_multiple_of_the_size(device: VirtualDevice) -> None:
    source = cuda.to_device(np.arange(50))
    odd = described(source.__cuda_array_interface__["data"][0] + 4, 20)
    copy_to[1, THREADS](odd, cuda.device_array(50, np.int64), 0)
    assert "which is not a multiple of its size" in told(device)


# ------------------------------------------------------------------------------ shared and local memory


def neighbours(barrier: bool) -> Any:
    """A kernel that reverses a block through shared memory."""

    @cuda.jit
    def reverse(target: Any) -> None:
        table = cuda.shared.array(64, int64)
        at = cuda.threadIdx.x
        table[at] = at + 1
        if barrier:
            cuda.syncthreads()
        target[at] = table[cuda.blockDim.x - 1 - at]

    return reverse


@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
def test_a_barrier_that_is_missing(device: VirtualDevice, order: str) -> None:
    right, wrong = neighbours(True), neighbours(False)
    target = cuda.device_array(64, np.int64)
    device.configure(replace(device.settings, order=order))
    right[1, 64](target)
    assert target.copy_to_host().tolist() == [*range(64, 0, -1)]
    assert device.faults() == []
    wrong[1, 64](target)
    fault = told(device)
    assert fault.startswith("a race: thread # of block # ")
    assert "what another" in fault
    assert "of shared memory, and nothing lies between them" in fault
    # Without the search for races it is an answer that depends on the order, or on what was never written.
    device.configure(replace(device.settings, races=False))
    device.reset()
    wrong[1, 64](target)
    assert target.copy_to_host().tolist() != [*range(64, 0, -1)]
    assert device.faults() == []


def test_shared_memory_holds_nothing_at_first(device: VirtualDevice) -> None:
    @cuda.jit
    def unwritten(target: Any) -> None:
        table = cuda.shared.array(8, int64)
        if cuda.threadIdx.x == 0:
            table[1] = 5
        cuda.syncthreads()
        target[cuda.grid(1)] = table[cuda.threadIdx.x]

    target = cuda.device_array(4, np.int64)
    unwritten[2, 2](target)
    assert target.copy_to_host().tolist() == [-0x5A5A5A5A5A5A5A5B, 5] * 2


@pytest.mark.parametrize("length", [8, 0])
def test_an_index_behind_the_end_of_shared_memory(device: VirtualDevice, length: int) -> None:
    """Between two arrays there are bytes that belong to neither; `length` 0 is for dynamic memory."""

    @cuda.jit
    def two(target: Any, at: int) -> None:
        first, second = cuda.shared.array(8, int64), cuda.shared.array(length, int64)
        first[at if length else 0] = 1
        second[at] = 2
        target[0] = first[0] + second[at]

    target = cuda.device_array(1, np.int64)
    two[1, 1, 0, 64](target, 7)
    cuda.synchronize()
    assert device.faults() == []
    two[1, 1, 0, 64](target, 8)
    fault = told(device)
    assert "writes # bytes at # outside of any variable in shared memory" in fault


def test_an_index_behind_the_end_of_local_memory(device: VirtualDevice) -> None:
    @cuda.jit
    def own(target: Any, at: int) -> None:
        kept = cuda.local.array(300, int64)
        for one in range(300):
            kept[one] = one
        kept[at] = 7
        target[cuda.grid(1)] = kept[target[cuda.grid(1)]]

    target = cuda.to_device(np.array([3, 299]))
    own[1, 2](target, 299)
    assert target.copy_to_host().tolist() == [3, 7]
    assert device.faults() == []
    own[1, 1](target, 700)
    assert "outside of" in told(device)


def test_threads_that_miss_a_barrier(device: VirtualDevice) -> None:
    @cuda.jit
    def some(target: Any) -> None:
        at = cuda.threadIdx.x
        if at >= target.size:
            return
        cuda.syncthreads()
        target[at] = at

    some[1, 64](cuda.device_array(64, np.int64))
    cuda.synchronize()
    assert device.faults() == []
    some[1, 64](cuda.device_array(50, np.int64))
    assert told(device) == "# threads of block # have ended while others wait at a barrier"


# --------------------------------------------------------------------------------------- global memory


def counting(atomic: bool) -> Any:
    """A kernel that counts the threads of all blocks."""

    @cuda.jit
    def count(target: Any) -> None:
        if atomic:
            cuda.atomic.add(target, 0, 1)
        else:
            target[0] += 1

    return count


@pytest.mark.parametrize("shape", [(1, 64), (64, 1)])
def test_a_sum_that_is_not_atomic(device: VirtualDevice, shape: tuple[int, int]) -> None:
    target = cuda.to_device(np.zeros(1, np.int64))
    counting(True)[shape](target)
    assert target.copy_to_host().tolist() == [64]
    assert device.faults() == []
    counting(False)[shape](target)
    assert "a race: thread # of block # reads what another writes, at # of global memory" in told(device)


def test_several_threads_may_write_the_same(device: VirtualDevice) -> None:
    """A flag that is set by all who see a reason; not so where they write different numbers."""

    @cuda.jit
    def flag(target: Any, by: int) -> None:
        target[0] = 1 + by * cuda.grid(1)

    target = cuda.to_device(np.zeros(1, np.int64))
    flag[2, 32](target, 0)
    cuda.synchronize()
    assert device.faults() == []
    flag[2, 32](target, 1)
    assert "writes what another writes" in told(device)


def test_what_one_launch_writes_the_next_may_read(device: VirtualDevice) -> None:
    source, target = cuda.to_device(np.arange(100)), cuda.device_array(100, np.int64)
    for _ in range(2):
        copy_from[2, THREADS](source, target, 0)
        copy_from[2, THREADS](target, source, 0)
    cuda.synchronize()
    assert device.faults() == []
    copy_from[2, THREADS](source[1:], source[:99], 0)
    assert "what another" in told(device)


# -------------------------------------------------------------------------------- the host: waits, launches


def test_a_copy_that_is_not_waited_for(device: VirtualDevice) -> None:
    """At once it looks right; as late as it may be, what was there before is read."""
    driver = ctypes.CDLL("libcuda.so.1")
    host = cuda.pinned_array(50, np.int64)
    host[:] = np.arange(50)
    for lazy, waits, right in ((False, False, True), (True, True, True), (True, False, False)):
        device.configure(replace(device.settings, lazy=lazy))
        source, target = cuda.to_device(np.zeros(50, np.int64)), cuda.device_array(50, np.int64)
        stream = ctypes.c_void_p()
        driver.cuStreamCreate(ctypes.byref(stream), 1)
        copying = cuda.external_stream(stream.value)
        source.copy_to_device(host, stream=copying)
        copied = cuda.event()
        copied.record(copying)
        if waits:
            copied.wait()
        copy_from[1, THREADS](source, target, 0)
        assert (target.copy_to_host().tolist() == [*range(50)]) == right
        driver.cuStreamDestroy_v2(stream)


def test_a_buffer_that_is_written_before_it_was_copied(device: VirtualDevice) -> None:
    host, target = cuda.pinned_array(50, np.int64), cuda.device_array(50, np.int64)
    stream = cuda.stream()
    for lazy, waits, right in ((False, False, True), (True, True, True), (True, False, False)):
        device.configure(replace(device.settings, lazy=lazy))
        host[:] = 1
        target.copy_to_device(host, stream=stream)
        if waits:
            stream.synchronize()
        host[:] = 2
        stream.synchronize()
        assert (target.copy_to_host().tolist() == [1] * 50) == right


def test_a_launch_with_too_many_threads(device: VirtualDevice) -> None:
    with pytest.raises(Exception, match="INVALID_VALUE"):
        copy_from[1, 2048](cuda.device_array(1, np.int64), cuda.device_array(1, np.int64), 0)
    assert told(device).startswith("launched with #, #, # blocks of #, #, # threads")


def test_memory_that_is_freed_twice(device: VirtualDevice) -> None:
    driver = ctypes.CDLL("libcuda.so.1")
    cuda.current_context()
    address = ctypes.c_ulonglong()
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(8)) == 0
    assert driver.cuMemFree_v2(address) == 0
    assert driver.cuMemFree_v2(address) == 1
    assert "is freed, which was not allocated" in device.faults()[0]


@pytest.mark.parametrize("fail", [lambda there: copy_from[1, 1](*there, 5)])
def test_an_illegal_access_can_end_the_use_of_the_device(
    device: VirtualDevice, fail: Callable[[list[Any]], None]
) -> None:
    there = [cuda.device_array(5, np.int64) for _ in range(2)]
    device.configure(replace(device.settings, lose=True))
    fail(there)
    for _ in range(2):
        with pytest.raises(CudaAPIError, match=r"ILLEGAL_ADDRESS|700"):
            cuda.synchronize()
    device.reset()
    cuda.synchronize()


# ------------------------------------------------------------------------------------------ what is counted


def test_traffic_and_calls_are_counted(device: VirtualDevice) -> None:
    source, target = cuda.to_device(np.arange(100, dtype=np.int32)), cuda.device_array(100, np.int32)
    device.reset()
    copy_from[2, THREADS](source, target, 0)
    copy_from[2, THREADS](source, target, 0)
    cuda.synchronize()
    ((name, traffic),) = device.traffic().items()
    assert "copy_from" in name
    assert traffic == (2, 256, 200, 800, 200, 800, 0)
    calls = device.calls()
    assert calls["cuLaunchKernel"] + calls.get("cuLaunchKernelEx", 0) >= 2
    assert calls["cuCtxSynchronize"] >= 1
    device.reset()
    assert device.traffic() == {}
    counting(True)[2, 32](cuda.to_device(np.zeros(1, np.int64)))
    cuda.synchronize()
    (traffic,) = device.traffic().values()
    assert (traffic.atomics, traffic.bytes_written) == (64, 512)

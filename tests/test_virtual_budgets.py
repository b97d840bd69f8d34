"""What plans of `bench/device.py` cost on any device: bytes, launches, waits, allocations, calls.

`test_virtual_device` runs these tests in a process of their own. A bound is what was counted when it was set,
with a little room: whoever makes a plan cheaper lowers it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from virtual_device import installed

if installed() is None:
    pytest.skip("test_virtual_device runs these tests", allow_module_level=True)

from cer_gpu.kernels.classify.cuda import TILES
from cer_gpu.kernels.device.geometry import Geometry
from numba import cuda

import cer_gpu as cer
from bench.device_runs import (
    KEPT,
    PRICED,
    WINDOWLESS,
    OnDevice,
    Sizes,
    answer_of,
    on_device,
    page_locked_table,
)
from bench.queries import ThreeSteps
from cer_gpu.engine.cuda.classify import CudaClassifier
from cer_gpu.engine.cuda.machines import comparisons, general, units
from cer_gpu.engine.run.options import read_options
from cer_gpu.engine.workers import Workers

pytestmark = pytest.mark.gpu

EVENTS = 100_000
"""Events of a plan."""


class Cost(NamedTuple):
    """What a run costs once all is compiled and the pool of memory is filled.

    ===============  ====================================================================
    `bytes_an_event`   that all kernels together read and write
    `launches`
    `waits`          of the host: synchronisations, and copies to it that it waits for
    `allocations`    of the driver, beside the pool
    `calls`          of the driver
    ===============  ====================================================================
    """

    bytes_an_event: float
    launches: int
    waits: int
    allocations: int
    calls: int


WAITS = ("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyDtoH_v2")
ALLOCATIONS = ("cuMemAlloc_v2", "cuMemAllocAsync", "cuMemHostAlloc", "cuMemAllocHost_v2")
LAUNCHES = "cuLaunchKernel"
"""Which `cuLaunchKernelEx` calls, too."""


def cost(run: Callable[[], object]) -> Cost:
    """What a run costs after the first one: the least of some, since threads of the host may be late.

    Python's collector does not run meanwhile: what holds memory of a device until it comes by is a fault.
    """
    gc.collect()
    gc.disable()
    try:
        run()
        cuda.synchronize()
        return Cost(*map(min, zip(*(_next_cost(run) for _ in range(3)))))
    finally:
        gc.enable()


def _next_cost(run: Callable[[], object]) -> Cost:
    device = installed()
    assert device is not None
    device.reset()
    run()
    cuda.synchronize()
    traffic, calls = device.traffic().values(), device.calls()
    moved = sum(one.bytes_read + one.bytes_written for one in traffic)
    return Cost(
        round(moved / EVENTS, 1),
        sum(one.launches for one in traffic),
        sum(calls.get(name, 0) for name in WAITS) - 1,
        sum(calls.get(name, 0) for name in ALLOCATIONS),
        sum(calls.values()) - 1,
    )


def resident() -> OnDevice:
    """Three filtered steps in a window, over columns that lie on the device."""
    return on_device(ThreeSteps(KEPT, within=1000).text, page_locked_table(EVENTS, PRICED))


def from_host(ask: str, text: str) -> Callable[[], Any]:
    """The same from page-locked memory of the host."""
    table = page_locked_table(EVENTS, PRICED)
    return partial(getattr(cer.compile(text), ask), table, device="cuda")


def of_kind(kind: str) -> Callable[[], Any]:
    """A run of the bench through the host; a device that is real takes it from 1,024 partitions on."""
    sizes = Sizes(keyed=EVENTS, joined=EVENTS, gapped=EVENTS, carried=EVENTS, keys=2000)
    return partial(answer_of(kind, sizes), "cuda")


PLANS: dict[str, Callable[[], Callable[[], Any]]] = {
    "resident: hits": lambda: resident().hits,
    "resident: count": lambda: resident().count,
    "pinned: hits": lambda: from_host("hits", ThreeSteps(KEPT, within=1000).text),
    "pinned: count": lambda: from_host("count", ThreeSteps(KEPT, within=1000).text),
    "pinned, no window: count": lambda: from_host("count", WINDOWLESS),
    "keyed: count": lambda: of_kind("keyed: count"),
    "join: count": lambda: of_kind("join: count"),
    "gaps: count": lambda: of_kind("gaps: count"),
    "general: count": lambda: of_kind("general: count"),
    "risen: count": lambda: of_kind("risen: count"),
}

BUDGETS = {
    "resident: hits": Cost(16, 6, 6, 0, 120),
    "resident: count": Cost(23, 6, 8, 0, 140),
    "pinned: hits": Cost(16, 7, 10, 1, 405),
    "pinned: count": Cost(23, 7, 10, 1, 420),
    "pinned, no window: count": Cost(24, 15, 10, 1, 440),
    "keyed: count": Cost(65, 5, 14, 1, 330),
    "join: count": Cost(440, 9, 15, 1, 485),
    "gaps: count": Cost(134, 5, 20, 1, 370),
    "general: count": Cost(610, 3, 17, 1, 465),
    "risen: count": Cost(36, 3, 11, 1, 370),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_keeps_its_budget(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (units, comparisons, general):
        monkeypatch.setattr(module, "LEAST", 1)
    found, most = cost(PLANS[name]()), BUDGETS[name]
    for what, here, bound in zip(Cost._fields, found, most):
        if what in ("bytes_an_event", "launches"):
            assert bound / 1.2 - 1 <= here <= bound, (what, found)  # far below it, the bound is to be lowered
        else:  # how often the host waits and allocates depends on its threads
            assert here <= 1.5 * bound + 4, (what, found)


@pytest.mark.parametrize("codes", [np.int8, np.int32])
@pytest.mark.parametrize("prices", [np.float32, np.float64])
def test_columns_are_read_once_in_their_own_width(codes: type, prices: type) -> None:
    """Classification reads columns once and writes 9 bytes for what is kept: all else is less than 2 %."""
    rng = np.random.default_rng(5)
    types = pa.DictionaryArray.from_arrays(rng.integers(0, 10, EVENTS).astype(codes), list("ABCDEFGHIJ"))
    batch = pa.record_batch({"type": types, "price": (100 * rng.random(EVENTS)).astype(prices)})
    query = cer.compile(ThreeSteps(KEPT).text)
    bound = query._bound(pa.table(batch), read_options(device="cuda"), "hits")
    few = Geometry(TILES.threads, 4)  # over more events, a block loads its tables as seldom
    classifier = CudaClassifier(bound._query.reading, bound._units, Workers(), few)
    there = classifier.resident(batch, 0)
    device = installed()
    assert device is not None
    device.reset()
    kept = classifier.events(there, 0).kept
    ((name, found),) = device.traffic().items()
    assert "classify_kernel" in name
    assert found.launches == 1
    least = EVENTS * (np.dtype(codes).itemsize + np.dtype(prices).itemsize) + 9 * kept
    assert kept > 0
    assert least < found.bytes_read + found.bytes_written < 1.02 * least

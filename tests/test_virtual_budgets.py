"""What plans of `bench/device.py` cost on any device: bytes, launches, waits, allocations, calls.

`test_virtual_device` runs these tests in a process of their own. A bound is what was counted when it was set,
with a little room: whoever makes a plan cheaper lowers it.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from virtual_device import installed

if installed() is None:
    pytest.skip("test_virtual_device runs these tests", allow_module_level=True)

from cer_gpu.kernels.classify.cuda import TILES
from cer_gpu.kernels.device.geometry import Geometry

import cer_gpu as cer
from bench.device_model import DeviceRun, cost, counted_runs, pinned_run
from bench.device_runs import (
    KEPT,
    WINDOWLESS,
    Sizes,
    page_locked_table,
)
from bench.queries import ThreeSteps
from cer_gpu.engine.cuda import memory
from cer_gpu.engine.cuda.classify import CudaClassifier
from cer_gpu.engine.cuda.machines import comparisons, general, units
from cer_gpu.engine.run.options import read_options
from cer_gpu.engine.workers import Workers

pytestmark = pytest.mark.gpu

EVENTS = 100_000
"""Events of a plan."""

LAUNCHES = 8
"""No batch of so many events takes more launches."""


class Budget(NamedTuple):
    """What a run may cost, as `Cost`, but bytes for each event."""

    bytes_an_event: float
    launches: int
    waits: int
    allocations: int
    calls: int


RUNS = {
    **dict(counted_runs(Sizes())),
    **{
        f"pinned, no window: {ask}": DeviceRun(partial(pinned_run, WINDOWLESS, ask), EVENTS, 12)
        for ask in ("count", "counts")
    },
}

BUDGETS = {
    "resident: hits": Budget(14, 3, 1, 0, 64),
    "resident: count": Budget(17, 4, 1, 0, 83),
    "pinned: hits": Budget(14, 3, 18, 1, 250),
    "pinned: count": Budget(17, 4, 29, 1, 335),
    "pinned, no window: count": Budget(14, 5, 24, 1, 290),
    "pinned, no window: counts": Budget(14, 5, 24, 1, 290),
    "resident, no window: count": Budget(14, 5, 1, 0, 87),
    "resident, no window: hits": Budget(14.1, 7, 2, 0, 110),
    "no window: hits": Budget(14.1, 7, 24, 1, 300),
    "keyed: count": Budget(27, 4, 34, 1, 310),
    "join: count": Budget(440, 7, 54, 1, 475),
    "gaps: hits": Budget(98, 5, 47, 1, 370),
    "gaps: count": Budget(122, 5, 47, 1, 370),
    "gaps, window: count": Budget(230, 8, 70, 1, 515),
    "general: count": Budget(610, 3, 56, 1, 465),
    "risen: count": Budget(36, 3, 48, 1, 370),
}


@pytest.mark.parametrize("name", BUDGETS)
def test_a_plan_keeps_its_budget(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (units, comparisons, general):
        monkeypatch.setattr(module, "LEAST", 1)
    counted, most = cost(RUNS[name].make(EVENTS)), BUDGETS[name]
    found = Budget(round(counted.moved / EVENTS, 1), *counted[1:])
    for what, here, bound in zip(Budget._fields, found, most):
        if what in ("bytes_an_event", "launches"):
            assert bound / 1.2 - 1 <= here <= bound, (what, found)  # far below it, the bound is to be lowered
        elif what == "allocations":
            assert here <= bound, (what, found)
        else:  # how often the host waits depends on its threads
            assert here <= 1.2 * bound + 2, (what, found)
    assert found.launches <= LAUNCHES


@pytest.mark.parametrize(
    ("window", "ask", "launches"),
    [
        (" WITHIN 1000 EVENTS", "hits", 3),
        (" WITHIN 1000 EVENTS", "count", 4),
        (" WITHIN 1000 EVENTS", "counts", 4),
        (" WITHIN 1000 [ts]", "hits", 4),
        (" WITHIN 1000 [ts]", "count", 5),
        (" WITHIN 1000 [ts]", "counts", 5),
        ("", "hits", 7),
        ("", "count", 5),
        ("", "counts", 5),
    ],
)
def test_the_host_learns_no_size_before_the_answer(
    window: str, ask: str, launches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one batch more costs where the columns are page-locked.

    The host waits for the answer, and before it uses a buffer again for the copy from it, which is done.
    """
    rows = 20_000
    monkeypatch.setattr(memory, "ROWS", rows)
    question = partial(getattr(cer.compile(WINDOWLESS + window), ask), device="cuda", order_by="ts")
    few, many = (
        cost(partial(question, page_locked_table(batches * rows, ("type", "price", "ts"))))
        for batches in (4, 5)
    )
    assert many.launches - few.launches == launches
    assert many.allocations == few.allocations
    assert many.waits - few.waits == 2


@pytest.mark.parametrize("codes", [np.int8, np.int32])
@pytest.mark.parametrize("prices", [np.float32, np.float64])
def test_columns_are_read_once_in_their_own_width(codes: type, prices: type) -> None:
    """Classification reads columns once and writes 9 bytes for what is kept: all else is less than 2 %."""
    rng = np.random.default_rng(5)
    types = pa.DictionaryArray.from_arrays(rng.integers(0, 10, EVENTS).astype(codes), list("ABCDEFGHIJ"))
    batch = pa.record_batch({"type": types, "price": (100 * rng.random(EVENTS)).astype(prices)})
    query = cer.compile(ThreeSteps(KEPT).text)
    bound = query.bound_to(pa.table(batch), read_options(device="cuda"), "hits")
    few = Geometry(TILES.threads, 4)  # over more events, a block loads its tables as seldom
    classifier = CudaClassifier(bound.compiled.reading, bound.units, Workers(), few)
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

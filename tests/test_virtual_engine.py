"""The engine on two virtual devices whose streams do their work as late as they may: waits, buffers, memory.

`test_virtual_device` runs these tests in a process of their own.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from virtual_device import VirtualDevice, installed

if installed() is None:
    pytest.skip("test_virtual_device runs these tests", allow_module_level=True)

from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.device.words import copied
from numba import cuda
from test_cuda_devices import OPTIONS, QUERIES, agree, small, trades

import cer_gpu as cer
from cer_gpu.engine.cuda import staging

pytestmark = pytest.mark.gpu

STAGED = ["time", "events", "partitions", "carried"]
"""Queries whose events are copied while kernels run."""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("where", ["cuda", "cuda:0,cuda:1"])
def test_every_kind_of_query(device: VirtualDevice, name: str, where: str) -> None:
    device.configure(replace(device.settings, order="random", seed=len(name)))
    agree(QUERIES[name], trades(400 if name in STAGED else 80), where)


def wrong_counts() -> int:
    """How many of the queries have another count than on the CPU."""
    table = trades(800)
    queries = [cer.compile(QUERIES[name]) for name in STAGED]
    return sum(
        query.count(table, device="cuda", **OPTIONS) != query.count(table, device="cpu", **OPTIONS)
        for query in queries
    )


class _Event:
    """An event for which no stream waits."""

    def __init__(self, event: Any) -> None:
        self.record, self.synchronize = event.record, event.synchronize

    def wait(self, stream: Any = 0) -> None:
        return None


@pytest.fixture
def _plan_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan of a reading needs no wait: by one that is not there a kernel might read without end."""
    written: list[np.ndarray] = []
    address_columns, reading_plan = classify.address_columns, classify.reading_plan

    def noted(words: np.ndarray, addresses: list[tuple[int, int]]) -> None:
        address_columns(words, addresses)
        written.append(words)

    monkeypatch.setattr(classify, "address_columns", noted)
    monkeypatch.setattr(
        classify, "reading_plan", lambda _, head, cells: reading_plan(copied(written.pop()), head, cells)
    )


@pytest.mark.virtual_device_faults
@pytest.mark.usefixtures("_plan_there")
@pytest.mark.parametrize("missing", ["copied", "wait"])
def test_a_wait_that_is_missing(device: VirtualDevice, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels do not wait for their events, or a buffer is filled while kernels still read from it."""
    assert wrong_counts() == 0
    assert device.faults() == []
    if missing == "copied":
        monkeypatch.setattr(staging.Upload, "wait", lambda _: None)
    else:
        made = SimpleNamespace(
            **{name: getattr(cuda, name) for name in dir(cuda) if not name.startswith("_")}
        )
        made.event = lambda *given: _Event(cuda.event(*given))
        monkeypatch.setattr(staging, "cuda", made)
    assert wrong_counts() > 0
    # Where work is done at once, nothing of it shows.
    device.configure(replace(device.settings, lazy=False))
    assert wrong_counts() == 0

"""What the check of a device compiles: no kernel of the CPU, and the kernels that a query launches."""

from __future__ import annotations

from typing import Any

import pytest
from cuda_device import USABLE, forms_launched
from test_cuda_devices import OPTIONS, small, trades

import cer_gpu as cer
from cer_gpu.compiling.kernel import Kernel
from cer_gpu.engine.cuda.check import findings
from cer_gpu.engine.cuda.check.comparison import check
from cer_gpu.engine.cuda.check.families import families_of
from cer_gpu.engine.cuda.machines import comparisons, general, units

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]


def test_a_check_calls_no_kernel_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be compiled first."""

    def called(kernel: Kernel, *arguments: Any) -> None:
        raise AssertionError(f"{kernel.name} is called")

    monkeypatch.setattr(Kernel, "__call__", called)
    assert check().fault is None


ASKED = {
    "automaton": ["SELECT * WHERE A ; B WITHIN 9 EVENTS", "SELECT * WHERE A ; B", "SELECT * WHERE A : B"],
    "joins": [
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.volume = b.volume AND b.price = c.price "
        "WITHIN 9 EVENTS"
    ],
    "steps": [
        "SELECT * WHERE A ;[<= 6 seconds] B ;[2 seconds, 9 seconds] C WITHIN 20 seconds",
        "SELECT * WHERE A ;[<= 6 seconds] B ;[2 seconds, 9 seconds] C",
    ],
    "comparisons": ["SELECT * WHERE A AS a ; B AS b FILTER b.price > a.price PARTITION BY volume"],
    "general": [
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER b.price > a.price AND c.price < a.price "
        "PARTITION BY volume WITHIN 30 seconds"
    ],
}
"""Queries of each engine that runs on devices."""


@pytest.mark.parametrize("engine", ASKED)
def test_the_kernels_that_an_engine_launches_are_checked(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    for module in (units, comparisons, general):
        monkeypatch.setattr(module, "LEAST", 1)
    asking: set[str] = set()
    monkeypatch.setattr(findings, "fault_of", lambda number, *engines: asking.update(engines))
    with forms_launched() as found:
        for text in ASKED[engine]:
            for asked_for in ("hits", "count", "run"):
                getattr(cer.compile(text), asked_for)(trades(100), device="cuda", **OPTIONS)
    assert asking == {engine}
    assert found
    assert set(found) - set(check(families=families_of(asking)).kernels) == set()

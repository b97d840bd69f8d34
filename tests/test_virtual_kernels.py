"""Every kernel on virtual devices, in several orders of its threads: it has the results of the CPU.

`test_virtual_device` runs these tests in a process of their own.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path

import numpy as np
import pytest
from ptx_definitions import BY_FORM

from virtual_device import VirtualDevice, installed

if installed() is None:
    pytest.skip("test_virtual_device runs these tests", allow_module_level=True)

from cer_gpu.kernels.device.geometry import Geometry
from cer_gpu.kernels.device.jit import KernelLauncher
from cuda_registry import KERNELS
from numba import cuda

from cer_gpu.engine.cuda.check import inputs as check_inputs
from cer_gpu.engine.cuda.check.comparison import SIMULATED, check
from cer_gpu.engine.cuda.check.cpu_answers import stored_answers
from cer_gpu.engine.cuda.check.inputs import Inputs

pytestmark = pytest.mark.gpu

REAL = Inputs().lane, Inputs().stream
"""The blocks that the engine launches."""

ORDERS = {
    "ascending": REAL,
    "descending": (Geometry(32, 5), Geometry(64, 3)),
    "random": (Geometry(96, 1), Geometry(32, 2)),
}
"""For each order of threads, the blocks of kernels with a thread for each segment, and for each row."""


@pytest.fixture(params=ORDERS)
def order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An order of threads, with random inputs of its own."""
    if request.param != "ascending":
        rng = np.random.default_rng(len(request.param))
        monkeypatch.setattr(check_inputs, "mixed", lambda n, below: rng.integers(0, below, n))
    return str(request.param)


def test_every_kernel_has_the_results_of_the_cpu(device: VirtualDevice, order: str) -> None:
    device.configure(replace(device.settings, order=order, seed=11, lazy=order == "random"))
    inputs = Inputs(*ORDERS[order])
    found = check(inputs)
    assert found.fault is None, found.fault
    if order == "ascending":
        assert_stored(inputs)
    assert set(found.kernels) == {kernel.name for kernel in KERNELS}
    launched = {name for kernel in KERNELS for name in device.traffic() if f"{kernel.name}_kernel" in name}
    assert len(launched) >= len(KERNELS)
    assert set(device.traffic()) == launched


def assert_stored(inputs: Inputs) -> None:
    """Assert that the stored answers of the CPU are those that it has just computed."""
    stored = stored_answers(inputs.lane.threads).stored
    computed = inputs.cpu.computed
    assert stored is not None
    assert set(stored) == set(computed), STALE
    for name, array in computed.items():
        assert stored[name].dtype == array.dtype, f"{name}: {STALE}"
        assert np.array_equal(stored[name], array), f"{name}: {STALE}"


STALE = "run `python -m virtual_device -m cer_gpu.engine.cuda.check`"


def test_the_answers_for_the_simulator_are_those_of_the_cpu() -> None:
    inputs = Inputs(SIMULATED, SIMULATED)
    assert check(inputs).fault is None
    assert_stored(inputs)


WITHOUT_REGISTERS = re.compile(
    r"(ld|st)(\.(global|shared|param|local|volatile|v2))*\.[bsuf]\d+|bra(\.uni)?|ret|bar\.sync"
    r"|cvta(\.to)?\.(global|shared)\.u64|mov\.[bu](16|32|64)"
    r"|atom(\.global|\.shared)?\.(add|cas|exch|min|max)\.[bsu]64|bfi\.b64"
)
"""Instructions that `test_virtual_opcodes` tests one by one: memory, control flow, atomics, fields."""


def test_every_instruction_of_a_kernel_is_tested_by_itself(device: VirtualDevice) -> None:
    """Of all kernels that have been loaded by now."""
    assert len(device.forms) > 120
    assert (
        sorted(form for form in device.forms if form not in BY_FORM and not WITHOUT_REGISTERS.fullmatch(form))
        == []
    )


def test_a_kernel_is_compiled_anew_where_a_function_that_it_calls_has_changed(
    device: VirtualDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba compares the file of the kernel alone with what lies on disk."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_kernel.py").write_text(
        "from own_function import more\n\ndef own_kernel(target):\n    target[0] = more(1)\n"
    )
    for text, result, loaded in (("x + 1", 2, 0), ("x + 1", 2, 1), ("x + 20", 21, 0), ("x + 20", 21, 1)):
        function = tmp_path / "own_function.py"
        function.write_text(
            f"from numba import cuda\n\n@cuda.jit(device=True)\ndef more(x):\n    return {text}\n"
        )
        Path(cache_from_source(str(function))).unlink(missing_ok=True)
        for name in ("own_function", "own_kernel"):
            sys.modules.pop(name, None)
        kernel = KernelLauncher(import_module("own_kernel").own_kernel)
        target = cuda.device_array(1, np.int64)
        kernel[1, 1](target)
        assert target.copy_to_host().tolist() == [result]
        assert sum(kernel.compiled.stats.cache_hits.values()) == loaded

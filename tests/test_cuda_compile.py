"""Every kernel is compiled ahead of time for two architectures, without a GPU and without a driver.

The forms for all types of keys, codes and sums for one architecture, one form for the other: two and a half
minutes of a processor. By default one kernel is compiled, and with `--all` every one.
"""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from cuda_arguments import F64
from cuda_registry import KERNELS
from linked_code import DFMA, DFMA_OF_DIVISION, LOCAL, linked_kernel
from numba import config, types
from numba.cuda import compiler

if config.ENABLE_CUDASIM:
    pytest.skip("the simulator compiles nothing", allow_module_level=True)

ARCHITECTURES = [(8, 0), (9, 0)]
BY_NAME = {kernel.name: kernel for kernel in KERNELS}
REGISTER_FILE = 65_536
"""Registers of a multiprocessor, of both architectures: a block must find room."""

each_form = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=["sm_80", "sm_90"])
each_kernel = pytest.mark.parametrize(
    # one process of a parallel run has all tests of a kernel, and lowers it once
    "name",
    [
        pytest.param(name, marks=[pytest.mark.xdist_group(f"kernel {name}"), *[pytest.mark.large] * (at > 0)])
        for at, name in enumerate(BY_NAME)
    ],
)


def forms(name: str, architecture: tuple[int, int]) -> tuple[tuple[types.Type, ...], ...]:
    """The types for which a kernel is compiled: all for one architecture, the first ones for the other."""
    signatures = BY_NAME[name].signatures
    return signatures if architecture == ARCHITECTURES[-1] else signatures[:1]


@lru_cache(max(len(kernel.signatures) for kernel in KERNELS))
def lowered(name: str, signature: tuple[types.Type, ...]) -> Any:
    """A form of a kernel in LLVM's language, of which each architecture makes its own PTX."""
    # a kernel that calls a device function asks the present device for nothing but this
    device = SimpleNamespace(compute_capability=ARCHITECTURES[-1])
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device):
        library, _ = compiler._compile_pyfunc_with_fixup(
            BY_NAME[name].function.py_func, signature, cc=ARCHITECTURES[-1], abi="numba", device=False
        )
    return library


@lru_cache(2)
def compiled(name: str, architecture: tuple[int, int]) -> tuple[str, ...]:
    """The PTX of the forms of a kernel."""
    return tuple(
        lowered(name, signature).get_asm_str(cc=architecture) for signature in forms(name, architecture)
    )


@each_form
@each_kernel
def test_every_kernel_compiles(name: str, architecture: tuple[int, int]) -> None:
    for ptx, signature in zip(compiled(name, architecture), forms(name, architecture), strict=True):
        assert f".target sm_{architecture[0]}{architecture[1]}" in ptx
        assert ".visible .entry" in ptx
        # signed and unsigned words in one sum would become floating numbers, without a warning
        assert "f64" not in ptx or "float" in str(signature)


@each_form
@each_kernel
def test_registers_of_linked_code(name: str, architecture: tuple[int, int]) -> None:
    """Threads of a block find room in the register file, and none of their registers spill.

    What runs is what nvJitLink makes of the PTX. Its registers are not those that ptxas reports, which may
    have another version, and leaves calls to the linker: 152 and 117 for `step_counts`, for example.
    """
    for signature in forms(name, architecture):
        linked = linked_kernel(lowered(name, signature).get_cubin(cc=architecture).code)
        assert 0 < linked.registers * BY_NAME[name].threads <= REGISTER_FILE
        assert linked.stack == 0
        assert not any(linked.operations[operation] for operation in LOCAL)


@each_form
@each_kernel
def test_linked_code_rounds_each_operation(name: str, architecture: tuple[int, int]) -> None:
    """No multiplication and addition of doubles are fused, or a device would round where the CPU does not.

    PTX leaves that to the assembler, so it is seen in linked code alone. Divisions have fused operations
    whose result is the quotient, rounded once.
    """
    for ptx, signature in zip(compiled(name, architecture), forms(name, architecture), strict=True):
        linked = linked_kernel(lowered(name, signature).get_cubin(cc=architecture).code)
        assert linked.operations[DFMA] <= DFMA_OF_DIVISION * ptx.count("div.rn.f64")


def test_a_fused_operation_is_seen() -> None:
    def body(target: Any, x: float, y: float) -> None:
        target[0] = target[0] * x + y

    library, _ = compiler._compile_pyfunc_with_fixup(
        body, (F64, types.float64, types.float64), cc=ARCHITECTURES[-1], abi="numba", device=False
    )
    linked = linked_kernel(library.get_cubin(cc=ARCHITECTURES[-1]).code)
    assert linked.operations[DFMA] == 1
    assert linked.registers > 0

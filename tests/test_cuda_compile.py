"""Every kernel is compiled ahead of time for two architectures, without a GPU and without a driver.

The forms for all types of keys, codes and sums for one architecture, one form for the other: two and a half
minutes of a processor, or less than half of it after `test_virtual_device`, which keeps on disk what it has
lowered. By default one kernel is compiled, and with `--all` every one.
"""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from cer_gpu.kernels.device.jit import _compiled, _name_by_source
from cuda_arguments import F64
from cuda_registry import KERNELS
from linked_code import (
    DFMA,
    DFMA_OF_DIVISION,
    DFMA_OF_RARE_DIVISION,
    LOCAL,
    LinkedKernel,
    linked_kernel,
)
from numba import config, types
from numba.cuda import compiler
from numba.cuda.core import config as cuda_config
from numba.cuda.cudadrv import devices

from virtual_device.driver_library import refusal
from virtual_device.folders import cache_folder

if config.ENABLE_CUDASIM:
    pytest.skip("the simulator compiles nothing", allow_module_level=True)

ARCHITECTURES = [(8, 0), (9, 0, "a")]
"""The second one is that of the virtual device, as Numba names it to the compiler."""

DEVICE = SimpleNamespace(compute_capability=(9, 0))
"""A kernel that calls a device function asks the present device for nothing but this."""

BY_NAME = {kernel.name: kernel for kernel in KERNELS}
REGISTER_FILE = 65_536
"""Registers of a multiprocessor, of both architectures: a block must find room."""

each_form = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=["sm_80", "sm_90a"])
each_kernel = pytest.mark.parametrize(
    # one process of a parallel run has all tests of a kernel, and lowers it once
    "name",
    [
        pytest.param(name, marks=[pytest.mark.xdist_group(f"kernel {name}"), *[pytest.mark.large] * (at > 0)])
        for at, name in enumerate(BY_NAME)
    ],
)


def forms(name: str, architecture: tuple[int | str, ...]) -> tuple[tuple[types.Type, ...], ...]:
    """The types for which a kernel is compiled: all for one architecture, the first ones for the other."""
    signatures = BY_NAME[name].signatures
    return signatures if architecture == ARCHITECTURES[-1] else signatures[:1]


@lru_cache(max(len(kernel.signatures) for kernel in KERNELS))
def lowered(name: str, signature: tuple[types.Type, ...]) -> Any:
    """A form of a kernel in LLVM's language, of which each architecture makes its own PTX."""
    kernel = kept(name, signature)
    if kernel is not None:
        library = kernel._codelibrary
        library._cubin_cache.clear()  # what a virtual device links is PTX again: here it is linked for a GPU
        return library
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=DEVICE):
        library, _ = compiler._compile_pyfunc_with_fixup(
            BY_NAME[name].function.py_func,
            signature,
            cc=DEVICE.compute_capability,
            abi="numba",
            device=False,
        )
    return library


def kept(name: str, signature: tuple[types.Type, ...]) -> Any:
    """A form that a virtual device has compiled from the present source, and keeps on disk; else None."""
    if refusal() is not None:
        return None
    folder, context = str(cache_folder("numba")), SimpleNamespace(device=DEVICE)
    with (
        mock.patch.object(cuda_config, "CACHE_DIR", folder),
        mock.patch.object(devices, "get_context", return_value=context),
    ):
        body = BY_NAME[name].function.py_func
        kernel = _compiled(body)
        _name_by_source(kernel, body)
        return kernel._cache.load_overload(signature, kernel.targetctx)


@lru_cache(2)
def linked(name: str, architecture: tuple[int | str, ...]) -> tuple[LinkedKernel, ...]:
    """The forms of a kernel, linked; for the second architecture optimised then, as it is for a launch.

    That takes longer than all else, so the first one is linked from PTX.
    """
    found = []
    for signature in forms(name, architecture):
        library = lowered(name, signature)
        library._lto = architecture == ARCHITECTURES[-1]
        found.append(linked_kernel(library.get_cubin(cc=architecture).code))
    return tuple(found)


@lru_cache(2)
def compiled(name: str, architecture: tuple[int | str, ...]) -> tuple[str, ...]:
    """The PTX of the forms of a kernel."""
    return tuple(
        lowered(name, signature).get_asm_str(cc=architecture) for signature in forms(name, architecture)
    )


@each_form
@each_kernel
def test_every_kernel_compiles(name: str, architecture: tuple[int | str, ...]) -> None:
    for ptx, signature in zip(compiled(name, architecture), forms(name, architecture), strict=True):
        assert f".target sm_{''.join(map(str, architecture))}\n" in ptx
        assert ".visible .entry" in ptx
        # signed and unsigned words in one sum would become floating numbers, without a warning
        assert "f64" not in ptx or "float" in str(signature)


@each_form
@each_kernel
def test_registers_of_linked_code(name: str, architecture: tuple[int | str, ...]) -> None:
    """Threads of a block find room in the register file, and none of their registers spill.

    What runs is what nvJitLink makes of the code. Its registers are not those that ptxas reports, which may
    have another version, and leaves calls to the linker.
    """
    for code in linked(name, architecture):
        assert 0 < code.registers * BY_NAME[name].threads <= REGISTER_FILE
        assert code.stack == 0
        assert not any(code.operations[operation] for operation in LOCAL)


@each_form
@each_kernel
def test_linked_code_rounds_each_operation(name: str, architecture: tuple[int | str, ...]) -> None:
    """No multiplication and addition of doubles are fused, or a device would round where the CPU does not.

    PTX leaves that to the assembler, so it is seen in linked code alone. Divisions have fused operations
    whose result is the quotient, rounded once.
    """
    for ptx, code in zip(compiled(name, architecture), linked(name, architecture), strict=True):
        divisions = ptx.count("div.rn.f64")
        rare = DFMA_OF_RARE_DIVISION if divisions else 0
        assert code.operations[DFMA] <= DFMA_OF_DIVISION * divisions + rare


def test_a_fused_operation_is_seen() -> None:
    def body(target: Any, x: float, y: float) -> None:
        target[0] = target[0] * x + y

    library, _ = compiler._compile_pyfunc_with_fixup(
        body, (F64, types.float64, types.float64), cc=DEVICE.compute_capability, abi="numba", device=False
    )
    code = linked_kernel(library.get_cubin(cc=ARCHITECTURES[-1]).code)
    assert code.operations[DFMA] == 1
    assert code.registers > 0

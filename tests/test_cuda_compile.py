"""Every kernel is compiled ahead of time for two architectures, without a GPU and without a driver.

The forms for all types of keys, codes and sums for one architecture, one form for the other: about four
minutes of a processor. By default one kernel is compiled, and with `--all` every one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from cuda_registry import KERNELS
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


@lru_cache(2)
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


def ptxas() -> str | None:
    """The assembler: on the path, or of a wheel."""
    on_path = shutil.which("ptxas")
    if on_path is not None:
        return on_path
    try:
        import nvidia
    except ImportError:
        return None
    found = [tool for folder in nvidia.__path__ for tool in Path(folder).glob("c*/bin/ptxas")]
    return str(found[0]) if found else None


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
def test_registers_do_not_spill(name: str, architecture: tuple[int, int], tmp_path: Path) -> None:
    assembler = ptxas()
    if assembler is None:
        pytest.skip("ptxas is not installed")
    for ptx in compiled(name, architecture):
        source = tmp_path / "kernel.ptx"
        source.write_text(ptx)
        target = f"-arch=sm_{architecture[0]}{architecture[1]}"
        command = [assembler, "--verbose", target, str(source), "--output-file", str(tmp_path / "kernel.o")]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        stack = re.findall(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said
        )
        assert stack
        assert set(stack) == {("0", "0", "0")}, said
        registers = max(int(used) for used in re.findall(r"Used (\d+) registers", said))
        assert registers * BY_NAME[name].threads <= REGISTER_FILE

"""Every kernel is compiled ahead of time for two architectures, without a GPU and without a driver.

One form of each kernel: `make test-kernels` compiles the forms for all types of keys, codes and sums, which
takes ten minutes of a processor.
"""

from __future__ import annotations

import errno
import os
import pickle
import re
import shutil
import subprocess
import warnings
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from cer_gpu.kernels.compiled_ahead import registry
from cer_gpu.kernels.compiled_ahead.registry import KERNELS, CudaKernel
from cer_gpu.kernels.device.jit import Launched
from numba import config, types
from numba.cuda import compiler

if config.ENABLE_CUDASIM:
    pytest.skip("the simulator compiles nothing", allow_module_level=True)

ARCHITECTURES = [(8, 0), (9, 0)]
BY_NAME = {kernel.name: kernel for kernel in KERNELS}
EVERY_FORM = bool(os.environ.get("EVERY_FORM"))
REGISTER_FILE = 65_536
"""Registers of a multiprocessor, of both architectures: a block must find room."""

each_form = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=["sm_80", "sm_90"])
each_kernel = pytest.mark.parametrize(
    # one process of a parallel run has all tests of a kernel, and lowers it once
    "name",
    [pytest.param(name, marks=pytest.mark.xdist_group(f"kernel {name}")) for name in BY_NAME],
)


def forms(name: str, architecture: tuple[int, int]) -> tuple[tuple[types.Type, ...], ...]:
    """The types for which a kernel is compiled: one form, or with `EVERY_FORM` all for one architecture."""
    signatures = BY_NAME[name].signatures
    return signatures if EVERY_FORM and architecture == ARCHITECTURES[-1] else signatures[:1]


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


def test_the_registry_holds_every_kernel() -> None:
    """A function that can be launched, in any module of the kernels, is in the registry."""
    folder = Path(registry.__file__).parent.parent
    with_kernels = sorted(path for path in folder.rglob("*.py") if "@kernel\n" in path.read_text())
    names = [".".join(path.relative_to(folder).with_suffix("").parts) for path in with_kernels]
    assert "hits.cuda" in names
    modules = [import_module(f"cer_gpu.kernels.{name}") for name in names]
    launched = {name for module in modules for name in vars(module) if name.endswith("_kernel")}
    assert launched == {kernel.function.py_func.__name__ for kernel in KERNELS}
    assert all(isinstance(kernel, CudaKernel) and kernel.signatures for kernel in KERNELS)


def failing(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def damaged(*_: object) -> None:
    raise pickle.UnpicklingError("invalid load key")


def test_a_disk_that_fails_costs_a_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = BY_NAME["fill"].function.compiled._cache
    context = SimpleNamespace(refresh=lambda: None)
    for fails in (failing, damaged):
        monkeypatch.setattr(kept, "_save_overload", fails)
        monkeypatch.setattr(kept, "_load_overload", fails)
        assert kept.save_overload((), None) is None
        assert kept.load_overload((), context) is None


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = type(BY_NAME["fill"].function.compiled._cache)
    monkeypatch.setattr(kept._impl_class, "_locator_classes", [])
    made = Launched(BY_NAME["fill"].function.py_func)
    assert made.compiled._cache.cache_path is None


def test_few_blocks_are_nothing_to_warn_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert BY_NAME["fill"].function[1, 32] is not None


def test_a_form_replaces_what_its_module_has() -> None:
    """A name that the module does not have would leave the CPU's own function in a kernel of the device."""
    from cer_gpu.kernels.device.bodies import form_of
    from cer_gpu.kernels.forest import cpu_nodes

    with pytest.raises(ValueError, match=r"cpu_nodes has no _room to replace"):
        form_of([cpu_nodes.build], _room=None)

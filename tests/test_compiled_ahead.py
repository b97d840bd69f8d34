"""The registry of the kernels of devices, and how what is compiled of them is kept on disk."""

from __future__ import annotations

import errno
import pickle
import warnings
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from cer_gpu.kernels.device import jit
from cer_gpu.kernels.device.jit import KernelLauncher
from cuda_arguments import CudaKernel
from cuda_registry import KERNELS

BY_NAME = {kernel.name: kernel for kernel in KERNELS}


def test_the_registry_holds_every_kernel() -> None:
    """A function that can be launched, in any module of the kernels, is in the registry."""
    folder = Path(jit.__file__).parent.parent
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
    kept = BY_NAME["gather"].function.compiled._cache
    context = SimpleNamespace(refresh=lambda: None)
    for fails in (failing, damaged):
        monkeypatch.setattr(kept, "_save_overload", fails)
        monkeypatch.setattr(kept, "_load_overload", fails)
        assert kept.save_overload((), None) is None
        assert kept.load_overload((), context) is None


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = type(BY_NAME["gather"].function.compiled._cache)
    monkeypatch.setattr(kept._impl_class, "_locator_classes", [])
    made = KernelLauncher(BY_NAME["gather"].function.py_func)
    assert made.compiled._cache.cache_path is None


def test_few_blocks_are_nothing_to_warn_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert BY_NAME["gather"].function[1, 32] is not None


def test_a_device_function_replaces_what_its_kernel_calls() -> None:
    """A name that nothing calls would leave the CPU's own function in a kernel of the device."""
    from cer_gpu.kernels.device.bodies import on_device
    from cer_gpu.kernels.forest import cpu_nodes

    with pytest.raises(ValueError, match=r"cpu_nodes:build calls no _room to replace"):
        on_device(cpu_nodes.build, _room=None)

"""Whether a device can be used, and why not: whatever is or is not installed, without raising."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numba
import pytest
from cer_gpu.kernels.cuda.usable import cuda_usable


def test_here_it_is_said_in_one_line() -> None:
    found = cuda_usable()
    assert found.reason
    assert "\n" not in found.reason
    assert bool(found) == bool(found.devices)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(numba, "cuda", raising=False)
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    found = cuda_usable()
    assert not found
    assert found.reason.startswith("numba-cuda cannot be imported (")
    assert found.reason.endswith("install cer-gpu[cuda]")


def fake(monkeypatch: pytest.MonkeyPatch, **members: object) -> None:
    monkeypatch.setattr(
        numba, "cuda", SimpleNamespace(**{"implementation": "NVIDIA", **members}), raising=False
    )
    monkeypatch.setattr(numba.config, "ENABLE_CUDASIM", 0, raising=False)


def broken() -> bool:
    raise OSError("libcuda.so.1: cannot open\nshared object file")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"implementation": "Built-in"}, "numba-cuda is not installed: install cer-gpu[cuda]"),
        (
            {"is_available": lambda: False, "cuda_error": lambda: "\nNo driver.\nDo this.\n"},
            "the CUDA driver cannot be used: No driver",
        ),
        ({"is_available": lambda: False, "cuda_error": lambda: None}, "no CUDA device is there"),
        ({"is_available": lambda: True, "gpus": []}, "no CUDA device is there"),
        ({"is_available": broken}, "the CUDA driver fails: OSError: libcuda.so.1: cannot open"),
    ],
)
def test_why_not(members: dict[str, object], reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, **members)
    found = cuda_usable()
    assert found.devices == ()
    assert found.reason == reason


def test_devices_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [SimpleNamespace(name=b"First"), SimpleNamespace(name="Second")]
    fake(monkeypatch, is_available=lambda: True, gpus=gpus)
    found = cuda_usable()
    assert found.devices == ("First", "Second")
    assert found.reason == "First can be used"
    assert found


def test_the_simulator_counts_as_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch)
    monkeypatch.setattr(numba.config, "ENABLE_CUDASIM", 1, raising=False)
    assert cuda_usable().devices == ("simulator",)

"""Whether a device can be used, and why not: whatever is or is not installed, without raising."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from enum import Enum, IntEnum
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from cer_gpu.kernels.device import availability
from cer_gpu.kernels.device.availability import cuda_usable, lost_context, out_of_memory

from cer_gpu.engine import devices
from cer_gpu.engine.devices import tried_on


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
    assert found.reason.endswith("install the extra `cuda` of cer-gpu")


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
        ({"implementation": "Built-in"}, "numba-cuda is not installed: install the extra `cuda` of cer-gpu"),
        (
            {"is_available": lambda: False, "cuda_error": lambda: "\nNo driver.\nDo this.\n"},
            "the CUDA driver cannot be used: No driver",
        ),
        ({"is_available": lambda: False, "cuda_error": lambda: None}, "no CUDA device was found"),
        ({"is_available": lambda: True, "gpus": []}, "no CUDA device was found"),
        ({"is_available": broken}, "the CUDA driver raised OSError: libcuda.so.1: cannot open"),
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


def test_a_numpy_that_numba_cuda_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, is_available=lambda: True, gpus=[SimpleNamespace(name="First")])
    monkeypatch.delattr(np, "row_stack", raising=False)
    monkeypatch.setattr(availability, "version", lambda package: "0.30.4")
    found = cuda_usable()
    assert found.devices == ()
    assert found.reason == f"numba-cuda 0.30.4 does not work with NumPy {np.__version__}: install 'numpy<2.5'"
    monkeypatch.setattr(availability, "version", lambda package: "0.31.0")
    assert cuda_usable().devices == ("First",)


def test_the_simulator_counts_as_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch)
    monkeypatch.setattr(numba.config, "ENABLE_CUDASIM", 1, raising=False)
    assert cuda_usable().devices == ("simulator",)


class Code(IntEnum):
    OUT_OF_MEMORY = 2
    LAUNCH_FAILED = 719


class OpaqueCode(Enum):
    OUT_OF_MEMORY = 2


def error_of(
    module: str, base: type[Exception] = Exception, text: str = "no memory", **members: object
) -> Exception:
    """An error of a package, as one of its modules would raise it."""
    made = type("FailedError", (base,), {"__module__": module})(text)
    for name, value in members.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    "error",
    [
        error_of("numba.cuda.cudadrv.driver", code=2),
        error_of("numba.cuda.cudadrv.driver", code=Code.OUT_OF_MEMORY),
        error_of("numba.cuda.cudadrv.driver", code=OpaqueCode.OUT_OF_MEMORY),
        error_of("cupy.cuda.memory", MemoryError),
        error_of("cupy_backends.cuda.api.runtime", RuntimeError, status=2),
        error_of("cupy_backends.cuda.api.driver", RuntimeError, status=2),
        MemoryError("std::bad_alloc: out_of_memory: CUDA error at: device_buffer.hpp"),
        error_of("cuda.core._utils.cuda_utils", text="CUDA_ERROR_OUT_OF_MEMORY: The API call failed"),
        RuntimeError("CUDA error at: memory.cpp:12: cudaErrorMemoryAllocation out of memory"),
    ],
)
def test_no_memory_on_the_device(error: Exception) -> None:
    assert out_of_memory(error)


def unallocated() -> Exception:
    """What NumPy raises where the host has no memory for an array."""
    with pytest.raises(MemoryError) as caught:
        np.empty(1 << 60, np.uint8)
    return caught.value


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        unallocated(),
        error_of("numba.cuda.cudadrv.driver", code=700),
        error_of("cupy_backends.cuda.api.runtime", RuntimeError, status=700),
        error_of("requests", status=2),
        RuntimeError("an illegal address"),
    ],
)
def test_other_errors_are_not_the_lack_of_it(error: Exception) -> None:
    assert not out_of_memory(error)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (error_of("numba.cuda.cudadrv.driver", code=700), "ILLEGAL_ADDRESS"),
        (error_of("numba.cuda.cudadrv.driver", code=Code.LAUNCH_FAILED), "LAUNCH_FAILED"),
        (error_of("cupy_backends.cuda.api.runtime", RuntimeError, status=710), "ASSERT"),
        (
            error_of("cuda.core._utils.cuda_utils", text="CUDA_ERROR_ILLEGAL_ADDRESS: a"),
            "ILLEGAL_ADDRESS",
        ),
        (RuntimeError("CUDA error at: a.cpp:7: cudaErrorLaunchFailure unspecified"), "LAUNCH_FAILED"),
        (error_of("rmm", text="cudaErrorEccUncorrectable uncorrectable ECC error"), "ECC_UNCORRECTABLE"),
    ],
)
def test_the_end_of_a_context(error: Exception, name: str) -> None:
    told = lost_context(error)
    assert told is not None
    assert told.startswith(f"CUDA_ERROR_{name} (")
    assert not out_of_memory(error)


@pytest.mark.parametrize(
    "error",
    [
        error_of("numba.cuda.cudadrv.driver", code=2),
        error_of("numba.cuda.cudadrv.driver", code=1),
        error_of("requests", code=None, status=700, text="CUDA_ERROR_ILLEGAL_ADDRESS"),
        error_of("cuda.core._utils.cuda_utils", text="CUDA_ERROR_INVALID_VALUE: This indicates"),
        error_of("cuda.core._utils.cuda_utils", text="nothing known"),
        RuntimeError("an illegal address"),
        MemoryError(),
    ],
)
def test_other_errors_end_no_context(error: Exception) -> None:
    assert lost_context(error) is None


def test_the_hosts_lack_of_memory_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would come again with less work on the device, and the CPU has no more of it."""
    monkeypatch.setattr(devices, "on", nullcontext)

    def action() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        tried_on(0, action)


def test_numbas_own_error_is_known() -> None:
    driver = pytest.importorskip("numba.cuda.cudadrv.driver")
    assert out_of_memory(driver.CudaAPIError(2, "CUDA_ERROR_OUT_OF_MEMORY"))
    assert not out_of_memory(driver.CudaAPIError(700, "CUDA_ERROR_ILLEGAL_ADDRESS"))

"""The report of devices: what is missing where there is none, and what the check found where there is one."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from importlib import metadata

import pytest
from cer_gpu.kernels.device import availability
from cer_gpu.kernels.device.availability import UsableDevices

import cer_gpu as cer
from cer_gpu.cli import DONE, OTHER, status_of
from cer_gpu.engine import versions
from cer_gpu.engine.cuda.check.fault import Fault
from cer_gpu.engine.run import device_report as module
from cer_gpu.engine.run.device_report import DeviceReport, DeviceStatus

KERNELS = tuple(f"kernel_{number}" for number in range(47))
FAULT = Fault("hits", ("find_hits",), "event[3] is 17, on the CPU 18 (1 of 432 differ)")


def found(number: int, fault: Fault | None = None, kernels: tuple[str, ...] = KERNELS) -> DeviceStatus:
    return DeviceStatus(f"cuda:{number}", "NVIDIA H200", "9.0", 3 << 39, 3 << 38, fault, kernels, 0.84)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., DeviceReport]:
    """The report of a machine: its driver's error, what can be used, what is found of each device."""

    def report(driver: str | None, able: UsableDevices, *devices: DeviceStatus) -> DeviceReport:
        monkeypatch.setattr(module, "no_driver", lambda: driver)
        monkeypatch.setattr(availability, "simulated", lambda: False)
        monkeypatch.setattr(availability, "cuda_usable", lambda: able)
        monkeypatch.setattr(module, "_found", lambda number, name: devices[number])
        monkeypatch.setattr(module, "all_versions", lambda: {"cer-gpu": "1.2", "driver": "580.65"})
        monkeypatch.setattr(platform, "platform", lambda: "Linux-6.1")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        return cer.device_report()

    return report


def test_without_a_driver(machine: Callable[..., DeviceReport]) -> None:
    told = machine(
        "no NVIDIA driver is installed (libcuda.so.1 was not found)", UsableDevices((), "not asked")
    )
    assert (
        str(told)
        == repr(told)
        == (
            "Linux-6.1\n"
            "cer-gpu 1.2, driver 580.65\n"
            "\n"
            "No GPU is used: no NVIDIA driver is installed (libcuda.so.1 was not found).\n"
            "To use a GPU, install NVIDIA's driver: `nvidia-smi` then lists the GPU (in a container, start "
            "it with `--gpus all`). Then install the extra `cuda`: in a clone of cer-gpu, `pip install "
            "'.[cuda]'` (`'.[cuda12]'` for a driver of CUDA 12)."
        )
    )
    assert told.right
    assert told.devices == ()


def test_with_a_driver_and_without_the_packages(
    machine: Callable[..., DeviceReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = machine(None, UsableDevices((), "numba-cuda is not installed"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert str(told) == (
        "Linux-6.1\n"
        "cer-gpu 1.2, driver 580.65\n"
        "CUDA_VISIBLE_DEVICES=3\n"
        "\n"
        "No GPU is used: numba-cuda is not installed.\n"
        "To use a GPU, see that `nvidia-smi` lists it, that CUDA_VISIBLE_DEVICES does not hide it, and "
        "install the extra `cuda`: in a clone of cer-gpu, `pip install '.[cuda]'` (`'.[cuda12]'` for a "
        "driver of CUDA 12)."
    )


def test_devices_that_are_right(machine: Callable[..., DeviceReport]) -> None:
    told = machine(None, UsableDevices(("NVIDIA H200",) * 2, ""), found(0), found(1, kernels=()))
    assert str(told) == (
        "Linux-6.1\n"
        "cer-gpu 1.2, driver 580.65\n"
        "\n"
        "cuda:0  NVIDIA H200, compute capability 9.0, 768.0 of 1536.0 GiB free\n"
        "        right: 47 kernels give the CPU's results (0.8 s)\n"
        "cuda:1  NVIDIA H200, compute capability 9.0, 768.0 of 1536.0 GiB free\n"
        "        not checked: it has no memory left for the check\n"
        "device='auto' uses cuda:0 for events in its memory, and where it takes less time."
    )
    assert told.right
    assert json.loads(json.dumps(told.to_dict()))["devices"][0]["capability"] == "9.0"


def test_a_device_that_is_wrong(
    machine: Callable[..., DeviceReport], capsys: pytest.CaptureFixture[str]
) -> None:
    told = machine(None, UsableDevices(("NVIDIA H200",), ""), found(0, FAULT))
    assert str(told).splitlines()[-2:] == [
        f"        WRONG and not used: kernel find_hits (hits): {FAULT.difference}",
        "device='auto' uses the CPU.",
    ]
    assert not told.right
    assert json.loads(json.dumps(told.to_dict()))["devices"][0]["fault"]["kernels"] == ["find_hits"]
    assert status_of(["device"]) == OTHER
    assert capsys.readouterr().out == f"{told}\n"


def test_the_command_on_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    if versions.driver_versions():
        pytest.skip("this machine has a driver, whose devices would be checked")
    assert status_of(["device"]) == DONE
    out = capsys.readouterr().out
    for part in (
        f"cer-gpu {cer.__version__}",
        f"Python {platform.python_version()}",
        "numba ",
        "pip install",
    ):
        assert part in out


def test_versions_are_told_where_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    told = versions.all_versions()
    assert told["cer-gpu"] == cer.__version__
    assert list(told)[:3] == ["cer-gpu", "Python", "numpy"]
    assert all(told.values())

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    monkeypatch.setattr(versions, "own_version", versions.own_version.__wrapped__)
    assert versions.package_versions() == {"cer-gpu": "unknown", "Python": platform.python_version()}


class Driver:
    """Libraries that answer as NVIDIA's do."""

    def __init__(self, status: int) -> None:
        self._status = status

    def cuDriverGetVersion(self, number: object) -> int:  # noqa: N802
        number._obj.value = 13010  # type: ignore[attr-defined]
        return self._status

    def nvmlInit_v2(self) -> int:  # noqa: N802
        return self._status

    def nvmlShutdown(self) -> int:  # noqa: N802
        return 0

    def nvmlSystemGetDriverVersion(self, text: object, size: int) -> int:  # noqa: N802
        assert size == 80
        text.value = b"580.65.06"  # type: ignore[attr-defined]
        return 0


def test_versions_of_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions.ctypes, "CDLL", lambda name: Driver(0))
    assert versions.driver_versions() == {"driver": "580.65.06", "CUDA of the driver": "13.1"}
    monkeypatch.setattr(versions.ctypes, "CDLL", lambda name: Driver(3))
    assert versions.driver_versions() == {}

    def missing(name: str) -> Driver:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(versions.ctypes, "CDLL", missing)
    assert versions.driver_versions() == {}

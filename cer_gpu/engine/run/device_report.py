"""A report on the machine's CUDA devices, as text for a bug report."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cer_gpu.engine.device_loss import device_loss
from cer_gpu.engine.devices import no_driver, tried_on
from cer_gpu.engine.versions import all_versions
from cer_gpu.extras import to_install
from cer_gpu.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from cer_gpu.engine.cuda.check.fault import Fault

VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """A CUDA device, and the result of its check against the CPU.

    Attributes
    ----------
    device : str
        "cuda:0".
    name : str
    capability : str
        Its compute capability: "9.0".
    memory, free : int
        Bytes in all, and free; 0 if the device does not report them.
    fault : Fault or None
        What is wrong with the device; None if nothing is.
    kernels : tuple of str
        The kernels that were checked; empty if there was no memory for the check.
    seconds : float
        How long the check took, compilation included.
    """

    device: str
    name: str
    capability: str
    memory: int
    free: int
    fault: Fault | None
    kernels: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        size = f", {self.free / 2**30:.1f} of {self.memory / 2**30:.1f} GiB free" if self.memory else ""
        return f"{self.device}  {self.name}, compute capability {self.capability}{size}\n{_result(self)}"


def _result(found: DeviceStatus) -> str:
    if found.fault is not None:
        return f"        WRONG and not used: {found.fault}"
    if not found.kernels:
        return "        not checked: it has no memory left for the check"
    return f"        right: {len(found.kernels)} kernels give the CPU's results ({found.seconds:.1f} s)"


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """The CUDA devices of this machine; `print(report)` and a notebook show it as text.

    Attributes
    ----------
    versions : dict of str to str
        The versions of the project, Python, the packages, the driver and the CUDA libraries, by name.
    system : str
        The operating system.
    devices : tuple of DeviceStatus
        Empty if no device can be used.
    reason : str
        Why no device can be used, or which one `device="auto"` uses.
    remedy : str
        What to install or to check; empty if a device can be used.
    """

    versions: dict[str, str]
    system: str
    devices: tuple[DeviceStatus, ...]
    reason: str
    remedy: str

    def __str__(self) -> str:
        told = [f"{name} {version}" for name, version in self.versions.items()]
        lines = [self.system, ", ".join(told)]
        if os.environ.get(VISIBLE) is not None:
            lines.append(f"{VISIBLE}={os.environ[VISIBLE]}")
        lines += ["", *map(str, self.devices), self.reason, *([self.remedy] if self.remedy else [])]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    @property
    def right(self) -> bool:
        """Whether every device that was checked gives the results of the CPU."""
        return all(found.fault is None for found in self.devices)

    def to_dict(self) -> dict[str, Any]:
        """The report as a dict that JSON can hold."""
        return asdict(self)


def device_report() -> DeviceReport:
    """Look for CUDA devices, and check all kernels of each again: the results are compared with the CPU's.

    The result of the check is stored, and later runs use a device only if it was right. The first check
    compiles all kernels, which takes one to two minutes; later ones take a few seconds.

    Returns
    -------
    DeviceReport
        `print` it: the text is what a bug report needs. It names no user, path or host.
    """
    from cer_gpu.kernels.device.availability import cuda_usable, simulated

    system, absent = platform.platform(), no_driver()
    if absent is not None and not simulated():
        return DeviceReport(all_versions(), system, (), f"No GPU is used: {absent}.", _remedy(True))
    if (loss := device_loss()) is not None:
        return DeviceReport(all_versions(), system, (), f"No GPU is used: {loss}.", "Start a new process.")
    usable = cuda_usable()
    if not usable:
        return DeviceReport(all_versions(), system, (), f"No GPU is used: {usable.reason}.", _remedy(False))
    found = tuple(_found(number, name) for number, name in enumerate(usable.devices))
    if simulated():
        chosen = "device='auto' uses the CPU: the simulator is for tests."
    elif found[0].fault is not None:
        chosen = "device='auto' uses the CPU."
    else:
        chosen = "device='auto' uses cuda:0 for events in its memory, and where it takes less time."
    return DeviceReport(all_versions(), system, found, chosen, "")


def _found(number: int, name: str) -> DeviceStatus:
    from numba import cuda

    from cer_gpu.engine.cuda.check.findings import checked_anew
    from cer_gpu.engine.cuda.memory import memory_bytes

    begin = time.perf_counter()
    checked = checked_anew(number)
    seconds = time.perf_counter() - begin
    told = tried_on(number, memory_bytes)
    free, memory = (0, 0) if told is None else told
    return DeviceStatus(
        f"cuda:{number}",
        name,
        ".".join(map(str, cuda.gpus[number].compute_capability)),
        memory,
        free,
        None if checked is None else checked.fault,
        () if checked is None else checked.kernels,
        seconds,
    )


def _remedy(driver: bool) -> str:
    """What to do where no device can be used."""
    if driver:
        first = "To use a GPU, install NVIDIA's driver: `nvidia-smi` then lists the GPU"
        return f"{first} (in a container, start it with `--gpus all`). Then {_PACKAGES}."
    return f"To use a GPU, see that `nvidia-smi` lists it, that {VISIBLE} does not hide it, and {_PACKAGES}."


_PACKAGES = f"{to_install('cuda')} (`'.[cuda12]'` for a driver of CUDA 12)"

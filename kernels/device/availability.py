"""Whether this machine can run the kernels on a CUDA device, and why not."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np

OUT_OF_MEMORY = 2
"""What the driver and the runtime return where no memory is left: CUDA_ERROR_OUT_OF_MEMORY."""

LOST = {
    214: ("ECC_UNCORRECTABLE", "an error in its memory that cannot be corrected"),
    220: ("NVLINK_UNCORRECTABLE", "an error of NVLink that cannot be corrected"),
    226: ("CONTAINED", "an error of the hardware that was contained"),
    700: ("ILLEGAL_ADDRESS", "an access outside of its memory"),
    702: ("LAUNCH_TIMEOUT", "a kernel that ran too long"),
    709: ("CONTEXT_IS_DESTROYED", "its context was destroyed"),
    710: ("ASSERT", "an assertion in a kernel"),
    714: ("HARDWARE_STACK_ERROR", "an error of a kernel's stack"),
    715: ("ILLEGAL_INSTRUCTION", "an illegal instruction"),
    716: ("MISALIGNED_ADDRESS", "an access at a misaligned address"),
    717: ("INVALID_ADDRESS_SPACE", "an access in the wrong kind of memory"),
    718: ("INVALID_PC", "a jump outside of a kernel"),
    719: ("LAUNCH_FAILED", "a kernel that failed"),
    721: ("TENSOR_MEMORY_LEAK", "memory that a kernel did not give back"),
}
"""The errors of the driver that end a context, by their numbers: names without `CUDA_ERROR_`, and meanings.

After one of them every later call returns it, and the process must be started again to use CUDA (`cuda.h`).
"""

ALLOCATORS = ("cupy", "cupy_backends", "rmm")
"""Packages whose errors may say that a device has no memory left, or was lost."""

_NUMBERS = {name.replace("_", ""): number for number, (name, _) in LOST.items()}
_NUMBERS |= {"LAUNCHFAILURE": 719, "OUTOFMEMORY": OUT_OF_MEMORY, "MEMORYALLOCATION": OUT_OF_MEMORY}


@dataclass(frozen=True, slots=True)
class UsableDevices:
    """The CUDA devices of this machine that can be used.

    Attributes
    ----------
    devices : tuple of str
        Their names, in the order of their numbers; empty if none can be used.
    reason : str
        Why none can be used, or which one can be: a clause without a full stop.
    """

    devices: tuple[str, ...]
    reason: str

    def __bool__(self) -> bool:
        return bool(self.devices)


def out_of_memory(error):
    """Whether an exception says that a device had no memory left, or the host no page-locked memory.

    CuPy's pool raises a MemoryError of its own, and RMM a plain one with the name of its C++ exception. Any
    other MemoryError is the host's: less work on the device would not help.
    """
    if isinstance(error, MemoryError):
        return _package_of(error) in ALLOCATORS or str(error).startswith("std::bad_alloc")
    return _number_of(error) == OUT_OF_MEMORY


def lost_context(error):
    """What ended the context of a device, as an exception tells it; None for any other exception."""
    number = _number_of(error)
    if number not in LOST:
        return None
    name, meaning = LOST[number]
    return f"CUDA_ERROR_{name} ({meaning})"


def _number_of(error: Exception) -> object:
    """The number of the driver's error in an exception.

    Numba's errors carry it, those of CuPy's bindings the status of the driver or the runtime. Launches are
    made by cuda.core, whose errors begin with the name; RMM raises a RuntimeError with the runtime's name.
    """
    code, package = _member(error, "code"), _package_of(error)
    if isinstance(code, int):
        return code
    status = _member(error, "status")
    if package in ALLOCATORS and isinstance(status, int):
        return status
    if package in ALLOCATORS or package == "cuda" or type(error) is RuntimeError:
        words = str(error).replace("_", "").replace(":", " ").upper().split()
        named = [word.removeprefix("CUDAERROR") for word in words if word.startswith("CUDAERROR")]
        return next((_NUMBERS[name] for name in named if name in _NUMBERS), None)
    return None


def _package_of(error: Exception) -> str:
    return type(error).__module__.partition(".")[0]


def _member(error: Exception, name: str) -> object:
    """A number that an exception carries, which may be a member of an enumeration."""
    value = getattr(error, name, None)
    return getattr(value, "value", value)


def cuda_usable() -> UsableDevices:
    """Find the CUDA devices.

    It does not raise: an error of a broken installation becomes the reason.

    Returns
    -------
    Usable
    """
    try:
        from numba import cuda
    except Exception as error:
        return UsableDevices((), f"numba-cuda cannot be imported ({_line(error)}): {_REMEDY}")
    try:
        return _devices(cuda)
    except Exception as error:
        return UsableDevices((), f"the CUDA driver raised {_line(error)}")


def simulated():
    """Whether Numba's CUDA simulator takes the place of a device."""
    from numba import config

    return bool(getattr(config, "ENABLE_CUDASIM", False))


_REMEDY = "install the extra `cuda` of cer-gpu"


def _devices(cuda) -> UsableDevices:
    if simulated():
        return UsableDevices(("simulator",), "Numba's CUDA simulator is switched on")
    if getattr(cuda, "implementation", "") != "NVIDIA":
        return UsableDevices((), f"numba-cuda is not installed: {_REMEDY}")
    if not cuda.is_available():
        trouble = cuda.cuda_error()
        why = (
            f"the CUDA driver cannot be used: {_first_line(trouble)}"
            if trouble
            else "no CUDA device was found"
        )
        return UsableDevices((), why)
    names = tuple(_name(gpu) for gpu in cuda.gpus)
    if not names:
        return UsableDevices((), "no CUDA device was found")
    unfit = _unfit_numpy()
    if unfit is not None:
        return UsableDevices((), unfit)
    return UsableDevices(names, f"{names[0]} can be used")


def _unfit_numpy() -> str | None:
    """Why the NumPy that is installed keeps numba-cuda from compiling anything; None if it does not.

    numba-cuda 0.30 names `numpy.row_stack`, which NumPy 2.5 no longer has. It is the last series of its line:
    its maintainers will not follow newer versions of NumPy.
    """
    told = _version("numba-cuda")
    if hasattr(np, "row_stack") or told is None or tuple(map(int, told.split(".")[:2])) > (0, 30):
        return None
    return f"numba-cuda {told} does not work with NumPy {np.__version__}: install 'numpy<2.5'"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _name(gpu) -> str:
    name = gpu.name
    return name.decode() if isinstance(name, bytes) else str(name)


def _first_line(text: object) -> str:
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else "it gives no reason"


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {_first_line(error)}"

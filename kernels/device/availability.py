"""Whether this machine can run the kernels on a CUDA device, and why not."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np

OUT_OF_MEMORY = 2
"""What the driver and the runtime return where no memory is left: CUDA_ERROR_OUT_OF_MEMORY."""

ALLOCATORS = ("cupy", "cupy_backends", "rmm")
"""Packages whose errors may say that a device has no memory left."""


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

    Numba's errors carry the driver's code, those of CuPy's bindings the status of the driver or the runtime;
    CuPy's pool raises a MemoryError of its own, and RMM a plain one with the name of its C++ exception.
    Any other MemoryError is the host's: less work on the device would not help.
    """
    if isinstance(error, MemoryError):
        return _package_of(error) in ALLOCATORS or str(error).startswith("std::bad_alloc")
    return _number(error, "code") == OUT_OF_MEMORY or (
        _package_of(error) in ALLOCATORS and _number(error, "status") == OUT_OF_MEMORY
    )


def _package_of(error: Exception) -> str:
    return type(error).__module__.partition(".")[0]


def _number(error: Exception, name: str) -> object:
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

"""CUDA devices before and while they are used: the driver, a device's context, its memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from cer_gpu.caller_warnings import warn
from cer_gpu.engine.versions import driver_library

Result = TypeVar("Result")


def usable_devices() -> tuple[int, str]:
    """How many CUDA devices this process can use; and why it can use none, or which ones.

    Imports the libraries that speak to a device.
    """
    from cer_gpu.kernels.device.availability import cuda_usable

    found = cuda_usable()
    return len(found.devices), found.reason


def no_driver() -> str | None:
    """Why there can be no device, by a look at the driver alone, in well under a millisecond.

    Importing the libraries that speak to a device takes a quarter of a second, which a machine without one
    saves.

    Returns
    -------
    str or None
        None if there may be a device.
    """
    library = driver_library()
    try:
        driver = ctypes.CDLL(library)
        count = ctypes.c_int(0)
        code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    except (OSError, AttributeError):
        return f"no NVIDIA driver is installed ({library} was not found)"
    if code:
        return f"the NVIDIA driver cannot be used: it reports error {code}"
    return None if count.value else "no CUDA device was found"


def on(number: int) -> AbstractContextManager[Any]:
    """A context in which this thread allocates and launches on a CUDA device."""
    from numba import cuda

    return cuda.gpus[number]


def with_memory(action: Callable[[], Result]) -> Result | None:
    """The result of an action on a device; None if there was no memory for it."""
    from cer_gpu.kernels.device.availability import out_of_memory

    try:
        return action()
    except Exception as error:
        if not out_of_memory(error):
            raise
    # Not in the handler: there the error would keep what its frames hold.
    return None


def say_no_memory(number: int, what: str) -> None:
    """Warn that a device has no memory left for something, and that the CPU does it."""
    warn(f"cuda:{number} has no memory left for {what}: the CPU does this part")

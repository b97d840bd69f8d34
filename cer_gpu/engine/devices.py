"""CUDA devices before and while they are used: the driver, a device's context, its memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from cer_gpu.caller_warnings import warn
from cer_gpu.engine.device_loss import LostDeviceError, device_loss, hold, note_loss, say_loss
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


@contextmanager
def on(number: int) -> Iterator[None]:
    """A context in which this thread allocates and launches on a CUDA device.

    Raises
    ------
    LostDeviceError
        Where the device is lost meanwhile, or a device of this process was lost before.
    """
    from numba import cuda

    from cer_gpu.kernels.device.availability import lost_context

    loss, done = device_loss(), False
    if loss is not None:
        raise LostDeviceError(loss)
    try:
        with cuda.gpus[number]:
            yield
            done = True
    except LostDeviceError:
        raise
    except Exception as error:
        told = lost_context(error)
        if told is None:
            raise
        first = device_loss() is None
        loss = note_loss(number, told)
        if first:
            _leave_memory()
        if not done:  # else leaving the context has raised the error, and the work is done
            raise LostDeviceError(loss) from error


def _leave_memory() -> None:
    """Let Numba give no memory of a device back: that would raise an error in the midst of other work."""
    from numba import cuda

    for gpu in cuda.gpus:
        context = getattr(gpu, "primary_context", None)
        if context is not None:
            hold(context.defer_cleanup())


def tried_on(number: int, action: Callable[[], Result]) -> Result | None:
    """The result of an action on a CUDA device; None if that has no memory for it, or was lost."""

    def there() -> Result:
        with on(number):
            return action()

    return tried(there)


def tried(action: Callable[[], Result]) -> Result | None:
    """The same for an action that chooses its devices by `on`.

    Another device may be chosen for the first time only where none is: Numba then drops the one that is.
    """
    from cer_gpu.kernels.device.availability import out_of_memory

    try:
        return action()
    except LostDeviceError:
        return None
    except Exception as error:
        if not out_of_memory(error):
            raise
    # Not in the handler: there the error would keep what its frames hold.
    return None


def say_by_cpu(number: int, what: str) -> None:
    """Warn that the CPU does something, since a device has no memory left for it, or was lost."""
    loss = device_loss()
    if loss is None:
        warn(f"cuda:{number} has no memory left for {what}: the CPU does this part")
    else:
        say_loss(loss)

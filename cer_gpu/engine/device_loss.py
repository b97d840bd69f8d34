"""The loss of a CUDA device: an error of the driver that ended its context.

After an illegal access, for example, every later CUDA call of the process returns the same error, and what
lay in the memory of the device is gone. So the first loss is noted for the whole process, which from then on
uses no device.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from threading import Lock
from typing import Any

from cer_gpu.caller_warnings import warn
from cer_gpu.errors import DeviceError
from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class DeviceLoss:
    """The loss of a device.

    Attributes
    ----------
    number : int
        The number of the device.
    error : str
        The error of the driver and its meaning.
    """

    number: int
    error: str

    def __str__(self) -> str:
        return f"cuda:{self.number} failed with {self.error}, after which CUDA is of no use to this process"


class LostDeviceError(DeviceError):
    """The device of this process was lost, and what lay in its memory with it."""

    def __init__(self, loss: DeviceLoss) -> None:
        super().__init__(
            f"{loss}. What lay in the memory of a device is gone: start a new process and read it again there"
        )


class _ProcessLoss:
    """The first loss of this process."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.loss: DeviceLoss | None = None
        self.said = False
        self.held = ExitStack()


_FIRST = _ProcessLoss()


def device_loss() -> DeviceLoss | None:
    """The loss after which this process uses no device; None while there was none."""
    return _FIRST.loss


def note_loss(number: int, error: str) -> DeviceLoss:
    """Note that a device was lost; the first loss of this process."""
    with _FIRST.lock:
        if _FIRST.loss is None:
            _FIRST.loss = DeviceLoss(number, error)
        return _FIRST.loss


def hold(context: AbstractContextManager[Any]) -> None:
    """Enter a context for as long as the loss lasts: to the end of the process."""
    with _FIRST.lock:
        _FIRST.held.enter_context(context)


def say_loss(loss: DeviceLoss) -> None:
    """Warn once in this process that the CPU goes on after a loss, and say what to do."""
    with _FIRST.lock:
        said, _FIRST.said = _FIRST.said, True
    if not said:
        warn(
            f"{loss}. The CPU does the rest of the run, and all later runs of this process. To use a GPU "
            "again, start a new process; `cer device` checks the GPU"
        )


def forget_loss() -> None:
    """Forget the loss: for tests, whose devices come back."""
    with _FIRST.lock:
        _FIRST.loss, _FIRST.said = None, False
        _FIRST.held.close()

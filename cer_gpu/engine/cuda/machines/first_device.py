"""Shared by the backends that use one device only, and leave to the CPU what the device has no memory for."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from cer_gpu.engine.cuda.machines.automaton import DevicesAutomaton
from cer_gpu.engine.cuda.memory import free_bytes
from cer_gpu.engine.cuda.pool import SHARE
from cer_gpu.engine.devices import on, say_no_memory, with_memory
from cer_gpu.engine.machines.unit_runner import RunnerDevices
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry

Result = TypeVar("Result")
Runner = TypeVar("Runner")


class FirstDevice(RunnerDevices[Runner]):
    """A device on which an automaton runs, the first one of those that were asked for.

    Parameters
    ----------
    device : int
        Its number.
    lane, stream : Geometry
        How kernels are launched with one thread for each unit (or segment), or for each row.
    """

    chunks = DevicesAutomaton.chunks
    what: ClassVar[str]
    """What the device had no memory for, in the words of the warning."""

    def __init__(self, device: int, lane: Geometry = LANE, stream: Geometry = STREAM) -> None:
        self._device = device
        self._lane, self._stream = lane, stream
        self._full = False
        """Whether there has been too little memory."""

    def _on_device(self, run: Callable[[], Result | None]) -> Result | None:
        """The result of what runs there; None, and a warning the first time, where memory is too little."""
        with on(self._device):
            found = with_memory(run)
        if found is None and not self._full:
            self._full = True
            say_no_memory(self._device, self.what)
        return found


def fits(needed: int) -> bool:
    """Whether the current device has `needed` bytes of memory, beside what is in use."""
    return needed <= free_bytes() // SHARE

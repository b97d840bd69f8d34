"""Kernels of the device, timed one by one: their launches in real runs are recorded, and launched again."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from cer_gpu.kernels.cuda.registry import KERNELS, Kernel
from cer_gpu.kernels.cuda.usable import simulated
from numba import cuda

Bytes = Callable[[tuple[Any, ...]], int]

TABLES = 1 << 16
"""Bytes up to which an array is a table that the caches hold."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A recorded launch.

    Attributes
    ----------
    kernel : str
        Its name in the registry.
    function : object
        The kernel.
    configuration : tuple
        Blocks, threads, stream, shared memory.
    arguments : tuple
        With arrays as they were before the launch, in memory of their own.
    """

    kernel: str
    function: Any
    configuration: tuple[Any, ...]
    arguments: tuple[Any, ...]

    @property
    def moved(self) -> int:
        """Bytes that it must move: see `must_move`."""
        return must_move(self.kernel, self.arguments)


class _Recorder:
    """Stands where a kernel does, and keeps its largest launch."""

    def __init__(self, kernel: Kernel, kept: dict[str, Launch]) -> None:
        self._kernel, self._kept = kernel, kept

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        def launch(*arguments: Any) -> None:
            name, function = self._kernel.name, self._kernel.function
            kept = self._kept.get(name)
            if kept is None or must_move(name, arguments) > kept.moved:
                self._kept[name] = Launch(name, function, configuration, _copies(arguments))
            function[configuration](*arguments)

        return launch


@contextmanager
def recording() -> Iterator[dict[str, Launch]]:
    """Record the largest launch of each kernel meanwhile, by the kernel's name."""
    kept: dict[str, Launch] = {}
    places = []
    for kernel in KERNELS:
        for module in [
            found for name, found in sys.modules.items() if name.startswith("cer_gpu.kernels.cuda")
        ]:
            for name, value in list(vars(module).items()):
                if value is kernel.function:
                    places.append((module, name, value))
                    setattr(module, name, _Recorder(kernel, kept))
    try:
        yield kept
    finally:
        for module, name, value in places:
            setattr(module, name, value)


def seconds(launch: Launch, runs: int, warm: int = 2) -> tuple[float, ...]:
    """The device's time for each run of a launch after `warm` others, the arrays put back before each."""
    working = _copies(launch.arguments)
    taken = []
    for number in range(warm + runs):
        for own, before in zip(_arrays(working), _arrays(launch.arguments)):
            if own.size:
                own.copy_to_device(before)
        spent = timed(lambda: launch.function[launch.configuration](*working))
        if number >= warm:
            taken.append(spent)
    return tuple(taken)


def timed(action: Callable[[], Any]) -> float:
    """Seconds of what an action launches, between two events of the device; in the simulator, of the host."""
    if simulated():
        begin = time.perf_counter()
        action()
        return time.perf_counter() - begin
    first, last = cuda.event(), cuda.event()
    cuda.synchronize()
    first.record()
    action()
    last.record()
    last.synchronize()
    return cuda.event_elapsed_time(first, last) / 1e3


def bandwidths(size: int, runs: int) -> dict[str, float]:
    """Bytes a second of plain copies: inside the device (read and written), and to it from pinned memory."""
    one, other = cuda.device_array(size, np.uint8), cuda.device_array(size, np.uint8)
    host = cuda.pinned_array(size, np.uint8)
    host[:] = 1
    one.copy_to_device(host)
    inside = [timed(lambda: other.copy_to_device(one)) for _ in range(runs + 1)][1:]
    to_device = [timed(lambda: one.copy_to_device(host)) for _ in range(runs + 1)][1:]
    back = [timed(lambda: one.copy_to_host(host)) for _ in range(runs + 1)][1:]
    return {
        "device": 2 * size / median(inside),
        "to_device": size / median(to_device),
        "to_host": size / median(back),
    }


def must_move(kernel: str, arguments: tuple[Any, ...]) -> int:
    """Bytes that a launch must move between the memory and the processors at least.

    Each array is read or written once as a whole; tables that the caches hold are not counted. Where a kernel
    reads and writes an array, or only a part of it, `PARTS` says so.
    """
    part = PARTS.get(kernel)
    return _whole(arguments) if part is None else part(arguments)


def _whole(arguments: tuple[Any, ...]) -> int:
    return sum(array.nbytes for array in _arrays(arguments) if array.nbytes > TABLES)


def _in_place(arguments: tuple[Any, ...]) -> int:
    """The first array is read and written, the others are read."""
    return _whole(arguments) + (arguments[0].nbytes if arguments[0].nbytes > TABLES else 0)


def _scatter(arguments: tuple[Any, ...]) -> int:
    """Of the index, what is kept is read: a sector of 32 bytes for each, or all of it where that is less."""
    index, table, _, bits, offsets, position, _ = arguments
    kept = position.nbytes // 8
    return (
        min(index.nbytes, 32 * kept) + bits.nbytes + offsets.nbytes + position.nbytes + kept * table.itemsize
    )


def _gather(arguments: tuple[Any, ...]) -> int:
    """Of the values, those asked for: a sector of 32 bytes for each, or all where that is less."""
    values, rows, _, out = arguments
    return min(values.nbytes, 32 * rows.size) + rows.nbytes + out.nbytes


def _searched(arguments: tuple[Any, ...]) -> int:
    """The events of the hits are read and their starts written; their windows are near one another."""
    keys, _, _, event, _, lowest = arguments
    return min(keys.nbytes, 32 * event.size) + event.nbytes + lowest.nbytes


PARTS: dict[str, Bytes] = {
    "add_cuts": _in_place,
    "add_codes": _in_place,
    "add_totals": _in_place,
    "scatter": _scatter,
    "gather": _gather,
    "lowest_starts": _searched,
}
"""Kernels that do not move each of their arrays once."""


def _arrays(arguments: tuple[Any, ...]) -> Iterator[Any]:
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _arrays(argument)
        elif hasattr(argument, "copy_to_host"):
            yield argument


def _copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same arguments with copies of the arrays; an array that occurs twice stays one."""
    made: dict[int, Any] = {}

    def copy(argument: Any) -> Any:
        if isinstance(argument, tuple):
            return tuple(copy(part) for part in argument)
        if not hasattr(argument, "copy_to_host"):
            return argument
        if id(argument) not in made:
            made[id(argument)] = cuda.device_array(argument.shape, argument.dtype)
            if argument.size:
                made[id(argument)].copy_to_device(argument)
        return made[id(argument)]

    return tuple(copy(argument) for argument in arguments)

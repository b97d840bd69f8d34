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
from cer_gpu.kernels.device.registry import KERNELS, Kernel
from cer_gpu.kernels.device.usable import simulated
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
        for module in [found for name, found in sys.modules.items() if name.startswith("cer_gpu.kernels")]:
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

    Each array is read or written once as a whole; tables that the caches hold, and what threads put down for
    themselves (`SCRATCH`), are not counted. Where a kernel reads and writes an array, or only a part of it,
    `PARTS` says so.
    """
    own = SCRATCH.get(kernel, ())
    shared = tuple(argument for at, argument in enumerate(arguments) if at not in own)
    part = PARTS.get(kernel)
    return _whole(shared) if part is None else part(shared)


def _whole(arguments: tuple[Any, ...]) -> int:
    once = {id(array): array.nbytes for array in _arrays(arguments)}
    return sum(size for size in once.values() if size > TABLES)


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


def _composed(arguments: tuple[Any, ...]) -> int:
    """Maps are read and written."""
    flow, inside, _ = arguments
    return 2 * (flow.nbytes + inside.nbytes)


def _last(arguments: tuple[Any, ...]) -> int:
    """Only the last of each group is read, and written."""
    return 2 * sum(array.nbytes for array in arguments[-2:] if hasattr(array, "nbytes"))


def _added(arguments: tuple[Any, ...]) -> int:
    """What is inside is read and written, what flows is read."""
    flow, inside, _, before = arguments
    return flow.nbytes + 2 * inside.nbytes + before.nbytes


def _ended(arguments: tuple[Any, ...]) -> int:
    """The segments of all tiles are read, and a row for each segment is copied."""
    segment, _, _, registers = arguments
    return segment.nbytes + 2 * registers.nbytes


def _parted(arguments: tuple[Any, ...]) -> int:
    """Of the counts, those of the hits: a sector of 32 bytes for each, or all where that is less."""
    hits, count = arguments[0], arguments[3]
    return hits.nbytes + min(count.nbytes, 32 * hits.size) + _whole(arguments[6:])


def _weighed(arguments: tuple[Any, ...]) -> int:
    """A node is read for each entry of the tables that is written."""
    forest, *_, ways = arguments
    return min(forest[0].nbytes, 32 * ways.size) + ways.nbytes


def _merged(arguments: tuple[Any, ...]) -> int:
    """The order is read and written, and the starts are compared; marks only where starts are equal."""
    unit_first, units, _, starts, *_, order, merged = arguments
    return unit_first.nbytes + units.nbytes + starts.nbytes + order.nbytes + merged.nbytes


def _moved(arguments: tuple[Any, ...]) -> int:
    """Hits are read and written."""
    _, _, *bounds, event, start = arguments
    return sum(array.nbytes for array in bounds) + 2 * (event.nbytes + start.nbytes)


PARTS: dict[str, Bytes] = {
    "add_cuts": _in_place,
    "add_codes": _in_place,
    "add_totals": _in_place,
    "scatter": _scatter,
    "gather": _gather,
    "lowest_starts": _searched,
    "compose": _composed,
    "last_maps": _last,
    "add_maps": _added,
    "last_products": lambda arguments: 2 * arguments[2].nbytes,
    "end_segments": _ended,
    "parts": _parted,
    "weigh": _weighed,
    "merge": _merged,
    "move_hits": _moved,
}
"""Kernels that do not move each of their arrays once."""

SCRATCH: dict[str, tuple[int, ...]] = {
    "counts": (7, 8, 9),
    "forward_counts": (8,),
    "matrices": (6,),
    "count_nodes": (7, 8, 9, 10, 11),
    "fill_nodes": (11, 12, 13),
    "measure": (4, 5),
    "walk": (4, 5, 13, 14),
    "count_best": (6, 7, 8, 9, 10, 11, 16),
    "fill_best": (6, 7, 8, 9, 10, 11, 16),
    "by_start": (10,),
    "join_hits": (10, 12, 13, 14),
    "join_nodes": (10, 12, 14, 17, 19, 20, 21),
    "join_counts": (4, 6, 9, 11, 12, 13, 14, 15, 16),
}
"""Which arguments of a kernel are memory of its threads: nothing of it has to reach the device's memory."""


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

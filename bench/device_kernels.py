"""Times the kernels of a device one by one: their launches in real runs are recorded and repeated."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from cer_gpu.kernels.classify.cuda import DATA, FIELDS, LAST, SHIFT, STAGE_FIELDS, VALID
from cer_gpu.kernels.device.availability import simulated
from cer_gpu.kernels.device.memory import address_of
from cer_gpu.kernels.device.scan import SUM
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.hits.cuda import TOTAL
from numba import cuda

TESTS = Path(__file__).resolve().parents[1] / "tests"
"""Where the list of kernels is, with the types of their arguments."""

sys.path.append(str(TESTS))

from cuda_arguments import CudaKernel  # noqa: E402
from cuda_registry import KERNELS  # noqa: E402

Bytes = Callable[[dict[str, Any]], int]
"""Gives bytes from the arguments of a launch, by their names."""

BY_NAME = {kernel.name: kernel for kernel in KERNELS}

TABLES = 1 << 16
"""Up to this many bytes an array is a table that the caches hold."""


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
    owned : tuple of device array
        What the arguments point to.
    """

    kernel: str
    function: Any
    configuration: tuple[Any, ...]
    arguments: tuple[Any, ...]
    owned: tuple[Any, ...] = ()

    @property
    def moved(self) -> int:
        """Bytes that it has to move: see `must_move`."""
        return must_move(self.kernel, self.arguments)


class _Recorder:
    """Stands where a kernel does, and keeps its largest launch."""

    def __init__(self, kernel: CudaKernel, kept: dict[str, Launch]) -> None:
        self._kernel, self._kept = kernel, kept

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        def launch(*arguments: Any) -> None:
            name, function = self._kernel.name, self._kernel.function
            kept = self._kept.get(name)
            if kept is None or must_move(name, arguments) > kept.moved:
                here, owned = _own_columns(arguments) if name == "classify" else (arguments, [])
                self._kept[name] = Launch(name, function, configuration, _copies(here), tuple(owned))
            function[configuration](*arguments)

        return launch


@contextmanager
def recording() -> Iterator[dict[str, Launch]]:
    """Record the largest launch of each kernel inside a `with` block, by the kernel's name."""
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
    """The least number of bytes that a launch has to move between the memory and the processors.

    Each array is read or written once as a whole. Tables that the caches hold, and scratch of the threads
    (`SCRATCH`), do not count. If a kernel reads and writes an array, or only a part of it, `PARTS` has the
    rule.
    """
    named = dict(_named(parameters_of(kernel), arguments))
    own = SCRATCH.get(kernel, frozenset())
    missing = own.difference(*(name.split(".") for name in named))
    if missing:
        raise KeyError(f"the kernel {kernel} has no arguments {sorted(missing)}")
    shared = {name: value for name, value in named.items() if own.isdisjoint(name.split("."))}
    part = PARTS.get(kernel)
    return _whole(shared.values()) if part is None else part(shared)


def parameters_of(kernel: str) -> tuple[str, ...]:
    """The names of a kernel's parameters."""
    return tuple(signature(BY_NAME[kernel].function.py_func).parameters)


def _named(names: Iterable[str], arguments: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Arguments by their names; fields of a named tuple as `hits.first`."""
    for name, argument in zip(names, arguments, strict=True):
        if isinstance(argument, tuple):
            fields = getattr(argument, "_fields", map(str, range(len(argument))))
            yield from _named([f"{name}.{field}" for field in fields], argument)
        else:
            yield name, argument


def _whole(arguments: Iterable[Any]) -> int:
    once = {id(array): array.nbytes for array in _arrays(tuple(arguments))}
    return sum(size for size in once.values() if size > TABLES)


def _in_place(name: str) -> Bytes:
    """An array is read and written, the others are read."""

    def moved(named: dict[str, Any]) -> int:
        return _whole(named.values()) + (named[name].nbytes if named[name].nbytes > TABLES else 0)

    return moved


def _bytes(named: dict[str, Any], *names: str) -> int:
    return sum(named[name].nbytes for name in names)


def _columns_of(plan: np.ndarray) -> np.ndarray:
    """The fields of the columns in a plan of `classify`, which is changed with them."""
    first = 1 + STAGE_FIELDS * int(plan[0])
    stages = plan[1:first].reshape(-1, STAGE_FIELDS)
    return plan[first : int(stages[-1, LAST])].reshape(-1, FIELDS)


def _classified(named: dict[str, Any]) -> int:
    """The columns are read once; what is kept, 9 bytes for each event, is not known before the launch."""
    columns = _columns_of(named["reading.plan"].copy_to_host())
    widths = [(1 << int(column[SHIFT])) + (column[VALID] != 0) for column in columns]
    return int(sum(widths)) * int(named["rows"])


def _own_columns(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]]:
    """The arguments of `classify` with a plan that points to copies of the columns, and these."""
    reading, rows, *others = arguments
    plan, owned = reading.plan.copy_to_host(), []
    for column in _columns_of(plan):
        for field, size in ((DATA, rows << int(column[SHIFT])), (VALID, rows)):
            if column[field]:
                owned.append(_bytes_at(int(column[field]), size))
                column[field] = address_of(owned[-1])
    return (reading._replace(plan=copied(plan)), rows, *others), owned


def _bytes_at(address: int, size: int) -> Any:
    """A copy on the device of the bytes at an address there."""
    made = cuda.device_array(size, np.uint8)
    if simulated():
        there: Any = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
    else:
        there = cuda.from_cuda_array_interface(
            {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 2}, sync=False
        )
    made.copy_to_device(there)
    return made


def _gather(named: dict[str, Any]) -> int:
    """The values that are asked for are read: a sector of 32 bytes for each, or all if that is less."""
    rows = _noted(named["tiles"]) if named["tiles"].size else named["rows"].size
    return min(named["values"].nbytes, 32 * rows) + 16 * rows


def _noted(tiles: Any) -> int:
    """How many events a launch before has kept."""
    return int(tiles.copy_to_host()[-1]) & SUM


def _cut(named: dict[str, Any]) -> int:
    """Three numbers of each unit are written."""
    events = _noted(named["tiles"])
    return 24 * -(-events // max(named["least"], -(-events // named["most"]), 1))


def _found(named: dict[str, Any]) -> int:
    """Symbols are read; how many hits are written is not known before the launch."""
    words = named["events.words"]
    told = int(named["found"][TOTAL, 1]) if named["units.number"].size else words.nbytes
    return min(words.nbytes, told * named["events.width"])


def _counted(named: dict[str, Any]) -> int:
    """Event and lowest start of each hit are read, and its number is written."""
    head = named["head"]
    return 24 * (int(head[TOTAL, 0]) if head.size else named["hits.pairs"].shape[0])


def _searched(named: dict[str, Any]) -> int:
    """The events of the hits are read and their starts written; their windows are near one another."""
    return min(named["keys"].nbytes, 32 * named["event"].size) + _bytes(named, "event", "lowest")


def _moved(named: dict[str, Any]) -> int:
    """Hits are read and written."""
    hits = _bytes(named, "out_event", "out_start")
    return _bytes(named, "out_first", "offsets") + 2 * hits


PARTS: dict[str, Bytes] = {
    "classify": _classified,
    "add_totals": _in_place("offsets"),
    "gather": _gather,
    "find_hits": _found,
    "cut_units": _cut,
    "counts": _counted,
    "lowest_starts": _searched,
    "move_hits": _moved,
}
"""Kernels that do not move each of their arrays once: the rule for each."""

_ENTRIES = frozenset(("value", "queue", "scratch"))

SCRATCH: dict[str, frozenset[str]] = {
    "scan_tiles": frozenset(("whole",)),
    "scan_maps": frozenset(("whole",)),
    "step_hits": _ENTRIES | {"rooms", "out", "progress"},
    "step_counts": _ENTRIES | {"rooms", "sums", "carries", "out", "progress"},
    "step_short": _ENTRIES | {"rooms", "sums", "starts"},
    "configurations": frozenset(("slab", "found")),
    **dict.fromkeys(("abreast", "abreast_masked", "abreast_carried"), frozenset(("rooms",))),
    "compared_hits": frozenset(("rooms",)),
    "compared_counts": frozenset(("rooms",)),
    "compared_short": frozenset(("rooms",)),
    "join_hits": frozenset(("cells", "entered", "out", "progress")),
    "join_nodes": frozenset(("cells", "arena", "children", "root_node", "scratch", "path", "progress")),
    "join_counts": frozenset(
        ("arena", "children", "root_node", "total", "earliest", "jump", "memo_hit", "memo", "stack")
    ),
}
"""The arguments, or fields of them, that are scratch of a kernel's threads: they need not be moved."""


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
            parts = [copy(part) for part in argument]
            return type(argument)(*parts) if hasattr(argument, "_fields") else tuple(parts)
        if not hasattr(argument, "copy_to_host"):
            return argument
        if id(argument) not in made:
            made[id(argument)] = cuda.device_array(argument.shape, argument.dtype)
            if argument.size:
                made[id(argument)].copy_to_device(argument)
        return made[id(argument)]

    return tuple(copy(argument) for argument in arguments)

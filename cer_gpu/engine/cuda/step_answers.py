"""The complex events of timed steps, listed on CUDA devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np

from cer_gpu.engine.cuda.structure import ANSWERS, MOST_MARKS, groups_of
from cer_gpu.engine.devices import on, with_memory
from cer_gpu.enumeration.blocks import MarkBlock
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.steps import cuda_walk as step_walk
from cer_gpu.kernels.steps.cuda_nodes import UnitNodes

ByHost = Callable[[int, int | None, int], Iterator[MarkBlock]]
"""Lists the complex events of an end on the CPU: given its number, the limit, and the size of a block."""


class DeviceUnits(NamedTuple):
    """The runs of some units of a chunk on a device.

    Attributes
    ----------
    device : int
        The number of the device.
    made : UnitNodes
    lowest : device array, shape (high - low,), int64
        The least admissible start of each end.
    low, high : int
        The numbers of its ends: low .. high - 1.
    """

    device: int
    made: UnitNodes
    lowest: Any
    low: int
    high: int


class DeviceStepAnswers:
    """The complex events at some ends; `Answers`.

    One thread finds and sorts the complex events of an end. If an end has more than are found in one go, or
    one with more events than a thread has room for, the CPU lists them.

    Parameters
    ----------
    parts : sequence of DeviceUnits
    count : ndarray, shape (ends,), int64
        How many complex events each end has.
    by_host : callable
        See `ByHost`.
    lane, stream : Geometry
        How kernels are launched with one thread for each end, or for each complex event.
    """

    sharing: Literal["ahead"] = "ahead"

    def __init__(
        self,
        parts: Sequence[DeviceUnits],
        count: np.ndarray,
        by_host: ByHost,
        lane: Geometry = LANE,
        stream: Geometry = STREAM,
    ) -> None:
        self._parts = [part for part in parts if part.high > part.low]
        self._first = np.array([part.low for part in self._parts], np.int64)
        self.count = count
        self._by_host = by_host
        self._lane, self._stream = lane, stream
        # Threads that list take turns, since one launch has work for the whole device.
        self._turn = Lock()

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing the first `limit` of each end takes: all are found and sorted."""
        return self.count

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[MarkBlock]:
        """The complex events of some ends, end after end in the given order; as `Answers.blocks`."""
        size = ANSWERS if size is None else max(1, min(size, ANSWERS))
        count = self.count[order]
        alone = count > size
        owner = np.searchsorted(self._first, order, side="right") - 1
        for low, high in groups_of(np.where(alone, size, count), size):
            if alone[low]:
                yield from self._by_host(int(order[low]), limit, size)
                continue
            # Neighbouring ends are of one device, mostly.
            cuts = low + 1 + np.flatnonzero(np.diff(owner[low:high]))
            for begin, stop in zip([low, *cuts.tolist()], [*cuts.tolist(), high]):
                yield from self._listed(self._parts[owner[begin]], order[begin:stop], limit, size)

    def _listed(
        self, part: DeviceUnits, ends: np.ndarray, limit: int | None, size: int
    ) -> Iterator[MarkBlock]:
        def there() -> tuple[Block | None]:
            return (self._found(part, ends, limit),)

        with self._turn, on(part.device):
            found = with_memory(there)
        if found is not None and found[0] is not None:
            yield found[0]
        elif len(ends) == 1:
            yield from self._by_host(int(ends[0]), limit, size)
        else:
            for half in np.array_split(ends, 2):
                yield from self._listed(part, half, limit, size)

    def _found(self, part: DeviceUnits, ends: np.ndarray, limit: int | None) -> Block | None:
        """The complex events of some ends of a part; None where they find no room."""
        own = ends - part.low
        walked = step_walk.measure(part.made, own, self.count[ends], part.lowest, limit, self._lane)
        if walked.worst == step_walk.MISMATCH:
            wrong = int(ends[np.argmin(walked.marks.copy_to_host())])
            raise RuntimeError(
                f"the structure does not hold {self.count[wrong]} complex events of end {wrong}, as many as "
                "were counted"
            )
        found = step_walk.fill(part.made, walked, MOST_MARKS, self._stream) if walked.worst == 0 else None
        if found is None:
            return None
        block = Block(*(array.copy_to_host() for array in found))
        return block._replace(hit=block.hit + part.low)

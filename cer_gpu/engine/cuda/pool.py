"""The CUDA devices of a run: they share work, copy events once, and halve work where memory runs out.

The CPU does what is left where that does not help, or where a device was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

import numpy as np

from cer_gpu.engine.cuda.memory import free_bytes
from cer_gpu.engine.device_loss import device_loss
from cer_gpu.engine.devices import say_by_cpu, tried_on
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import in_parts
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.device.availability import simulated

Result = TypeVar("Result")
There = TypeVar("There")

SHARE = 2
"""A launch may take this fraction of the free memory: half; the rest is for what it finds."""


@dataclass(frozen=True, slots=True)
class DeviceChunk(Generic[There]):
    """The events `low <= event < high` of the chunk `of` on a device.

    Attributes
    ----------
    of : Chunk
    low, high : int
    chunk : Chunk
        The same events as a chunk of their own, numbered from 0 on.
    there : object
        The copy on the device.
    """

    of: Chunk
    low: int
    high: int
    chunk: Chunk
    there: There


class DevicePool(Generic[There]):
    """The devices that a run was given.

    Parameters
    ----------
    numbers : sequence of int
        The numbers of the devices, at least one.
    copy : callable
        Copies to the current device what kernels read of the events of a chunk.
    what : str
        What memory may run out for, in the words of the warning.
    """

    def __init__(self, numbers: Sequence[int], copy: Callable[[Chunk], There], what: str) -> None:
        self.numbers = tuple(numbers)
        self._copy = copy
        self._what = what
        self._copies: list[DeviceChunk[There] | None] = [None] * len(self.numbers)
        # A thread works on one device at a time; the simulator runs one launch at a time.
        self.dealers = Workers(1 if simulated() else len(self.numbers))
        self._warned = False

    def __len__(self) -> int:
        return len(self.numbers)

    def copied(self, at: int, chunk: Chunk, low: int = 0, high: int | None = None) -> DeviceChunk[There]:
        """A copy of some events of a chunk on a device; of more events, if these are there already.

        Parameters
        ----------
        at : int
            Which device of the pool; it must be the current one.
        chunk : Chunk
        low, high : int
            Events `low <= event < high`; all from `low` on for None.
        """
        high = len(chunk.events) if high is None else high
        found = self._copies[at]
        if found is None or found.of is not chunk or low < found.low or high > found.high:
            self._copies[at] = None  # free its memory before taking more
            whole = low == 0 and high == len(chunk.events)
            part = chunk if whole else chunk_of(chunk, low, high)
            found = self._copies[at] = DeviceChunk(chunk, low, high, part, self._copy(part))
        return found

    def dealt(
        self,
        work: np.ndarray,
        run: Callable[[int, int, int], Result],
        by_host: Callable[[int, int], Result],
    ) -> list[Result]:
        """Results for ranges of items, in their order; each device computes one range.

        If a device has no memory for its range, it takes half of it at a time; what it cannot take at all the
        CPU does, with a warning. Where a device is lost, the CPU does all that is not done yet.

        Parameters
        ----------
        work : ndarray, shape (items,)
            How much there is to do for each item.
        run : callable
            Called with the device of the pool, the first item and one past the last item.
        by_host : callable
            Does the same on the CPU; called with the first item and one past the last.
        """

        def host(at: int, low: int, high: int) -> Result:
            self.warn(at)
            return by_host(low, high)

        found = self._shared(work, lambda at, low, high: self._halving(at, [(low, high)], run, host))
        assert found is not None
        return found

    def fitted(
        self, chunk: Chunk, work: np.ndarray, size: np.ndarray, run: Callable[[int, int, int], Result]
    ) -> list[Result] | None:
        """As `dealt`, for items whose memory is known; None if one does not fit, or a device is lost.

        Parameters
        ----------
        chunk : Chunk
            All of its events are copied first.
        work, run
            As for `dealt`.
        size : ndarray, shape (items,)
            The bytes that each item takes.
        """

        def share(at: int, first: int, last: int) -> list[Result] | None:
            # The copy of the chunk does not count as memory of the launch.
            def beside() -> int:
                self.copied(at, chunk)
                return free_bytes()

            free = tried_on(self.numbers[at], beside)
            if free is None:
                return None
            fitting = in_parts(size[first:last], free // SHARE)
            return self._halving(at, [(first + low, first + high) for low, high, _ in fitting], run, None)

        return self.or_none(self._shared(work, share))

    def or_host(self, action: Callable[[], Result], by_host: Callable[[], Result]) -> Result:
        """The result of an action on the first device; if it cannot do it, of `by_host`, with a warning."""
        found = tried_on(self.numbers[0], lambda: (action(),))
        if found is not None:
            return found[0]
        self.forget(0)
        self.warn(0)
        return by_host()

    def or_none(self, found: Result | None) -> Result | None:
        """The argument; if it is None, because devices could not do it, first warn and free their memory."""
        if found is None:
            for at in range(len(self)):
                self.forget(at)
            self.warn(0)
        return found

    def forget(self, at: int) -> None:
        """Free the memory that the events of a chunk take on a device."""
        self._copies[at] = None

    def warn(self, at: int) -> None:
        """Say once that the CPU does what a device cannot do."""
        if not self._warned:
            self._warned = True
            say_by_cpu(self.numbers[at], self._what)

    def _shared(
        self, work: np.ndarray, share: Callable[[int, int, int], list[Result] | None]
    ) -> list[Result] | None:
        """The results of all devices for their shares, one after another; None where one gives None."""
        bounds = bounds_of(work, len(self))

        def run(at: int) -> list[Result] | None:
            return share(at, bounds[at], bounds[at + 1])

        given = [at for at in range(len(self)) if bounds[at] < bounds[at + 1]] or [0]
        shares = [run(given[0])] if len(given) == 1 else self.dealers.map("running on devices", run, given)
        parts: list[Result] = []
        for found in shares:
            if found is None:
                return None
            parts += found
        return parts

    def _halving(
        self,
        at: int,
        ranges: list[tuple[int, int]],
        run: Callable[[int, int, int], Result],
        by_host: Callable[[int, int, int], Result] | None,
    ) -> list[Result] | None:
        """Results for ranges on one device, each halved as often as memory runs out.

        What does not fit even so, or is left when a device is lost, `by_host` does; without `by_host` the
        result is None.
        """
        parts, waiting = [], ranges[::-1]
        while waiting:
            low, high = waiting.pop()
            found = tried_on(self.numbers[at], lambda: (run(at, low, high),))  # noqa: B023
            if found is not None:
                parts.append(found[0])
                continue
            if by_host is not None:
                self.forget(at)
            if high - low > 1 and device_loss() is None:
                middle = (low + high) // 2
                waiting += [(middle, high), (low, middle)]
            elif by_host is None:
                return None
            else:
                parts.append(by_host(at, low, high))
        return parts


def chunk_of(chunk: Chunk, low: int, high: int) -> Chunk:
    """Some events of a chunk as a chunk of their own, with what a device reads of them."""
    events, part = chunk.events, slice(low, high)
    keys = events.keys[part] if len(events.keys) else events.keys
    symbols, positions = events.symbols[part], events.positions[part]
    own = EventArrays(symbols, positions, keys=keys)
    return replace(chunk, events=own, measured=chunk.measured[part])


def bounds_of(work: np.ndarray, devices: int) -> list[int]:
    """Bounds of as many ranges of items as there are devices, with about as much to do in each.

    Parameters
    ----------
    work : ndarray, shape (items,)

    Returns
    -------
    list of int
        devices + 1 numbers, ascending from 0 to the number of items.
    """
    done = np.cumsum(work)
    total = int(done[-1]) if len(done) else 0
    shares = [total * number / devices for number in range(1, devices)]
    return [0, *np.searchsorted(done, shares, side="left").tolist(), len(work)]

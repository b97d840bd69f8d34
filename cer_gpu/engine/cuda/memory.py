"""How much of a stream a device is given at a time: what it has memory for, less once that has run out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from numba import cuda

from cer_gpu.engine.devices import say_no_memory, with_memory

Result = TypeVar("Result")

Batch = Any
"""Of the host or where it lies on the device: it has a length and can be sliced."""

ROWS = 1 << 22
"""Rows of a batch at most: the copy of some tens of megabytes is as fast, byte for byte, as a larger one."""

LEAST = 1 << 14
"""Rows of a batch at least: below, the CPU is faster than the launches."""

BYTES_OF_ROW = 64
"""What a row takes on the device, about: its columns twice, index, bits, position and symbol."""

SHARE = 4
"""The part of the free memory that batches may take: a quarter, the rest is for what is found in them."""


def free_bytes() -> int:
    """How much memory the device that is current has left; less than a terabyte in the simulator."""
    return memory_bytes()[0]


def memory_bytes() -> tuple[int, int]:
    """How much memory the device that is current has left, and in all; a terabyte in the simulator."""
    free, total = cuda.current_context().get_memory_info()
    return int(min(free, 1 << 40)), int(min(total, 1 << 40))


class Shrinking:
    """How many rows a device takes at a time.

    Parameters
    ----------
    device : int
        Its number.

    Attributes
    ----------
    rows : int
        At most so many.
    exhausted : bool
        Whether it takes none any more.
    """

    def __init__(self, device: int) -> None:
        self.device = device
        self.rows = min(ROWS, self._fitting())
        self.exhausted = False

    def widen(self) -> None:
        """Take as many rows as there is memory for: those that lie on the device need not be copied."""
        self.rows = self._fitting()

    def _fitting(self) -> int:
        return max(LEAST, free_bytes() // (SHARE * BYTES_OF_ROW))

    def cut(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, cut into ones of at most as many rows as the device takes when they are asked for."""
        for batch in batches:
            at = 0
            while at < len(batch):
                cut = batch.slice(at, self.rows) if at or self.rows < len(batch) else batch
                at += len(cut)
                yield cut

    def halving(
        self,
        batch: Batch,
        before: int,
        run: Callable[[Batch, int], Result],
        by_host: Callable[[Batch, int], Result],
        clear: Callable[[], None],
    ) -> Iterator[Result]:
        """Results for a batch, or for parts of it one after another, where it is too large for the device.

        Parameters
        ----------
        batch : RecordBatch
        before : int
            Its first row's position in the stream.
        run : callable
            What is done with a part and its position, on the device. Where there is no memory for it, it is
            done again with less: until it is done it must change nothing.
        by_host : callable
            The same on the host.
        clear : callable
            Frees what was brought to the device ahead.
        """
        parts = [(batch, before)]
        while parts:
            part, first = parts.pop()
            found = None if self.exhausted else with_memory(lambda: (run(part, first),))  # noqa: B023
            if found is None and not self.exhausted:
                clear()
                if len(part) > LEAST:
                    half = len(part) // 2
                    self.rows = min(self.rows, half)
                    parts += [(part.slice(half), first + half), (part.slice(0, half), first)]
                    continue
                self.give_up()
            yield by_host(part, first) if found is None else found[0]

    def give_up(self) -> None:
        """From now on the CPU does what is to be done: say so."""
        if not self.exhausted:
            say_no_memory(self.device, f"batches of {LEAST:,} events")
        self.exhausted, self.rows = True, ROWS

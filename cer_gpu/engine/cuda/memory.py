"""How many rows a device gets at a time: as many as it has memory for, and fewer once that ran out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from numba import cuda

from cer_gpu.engine.device_loss import device_loss
from cer_gpu.engine.devices import say_by_cpu, tried_on
from cer_gpu.kernels.device.arrays import unused_bytes

Result = TypeVar("Result")

Batch = Any
"""A batch on the host or on the device: it has a length and can be sliced."""

ROWS = 1 << 24
"""The most rows of a batch: its fixed costs are then small beside the rest."""

LEAST = 1 << 14
"""The least number of rows of a batch: for fewer, the CPU is faster than the launches."""

BYTES_OF_ROW = 64
"""About how many bytes a row takes on the device: its columns twice, position and symbol."""

SHARE = 4
"""Batches may take this fraction of the free memory: a quarter; the rest is for what is found in them."""


def free_bytes() -> int:
    """How many bytes of memory the current device has left; less than a terabyte in the simulator."""
    return memory_bytes()[0]


def memory_bytes() -> tuple[int, int]:
    """How many bytes of memory the current device has left, and in all; a terabyte in the simulator.

    Memory that CuPy's pool keeps for further arrays counts as left.
    """
    free, total = cuda.current_context().get_memory_info()
    free += unused_bytes()
    return int(min(free, 1 << 40)), int(min(total, 1 << 40))


class BatchRows:
    """How many rows a device takes at a time.

    Parameters
    ----------
    device : int
        The number of the device.

    Attributes
    ----------
    rows : int
        The most rows at a time.
    exhausted : bool
        Whether the CPU does everything from here on: the device has no memory left, or was lost.
    """

    def __init__(self, device: int) -> None:
        self.device = device
        self.rows = min(ROWS, self._fitting())
        self.exhausted = False

    def widen(self) -> None:
        """Take as many rows as there is memory for: for rows that are on the device already."""
        self.rows = self._fitting()

    def _fitting(self) -> int:
        return max(LEAST, free_bytes() // (SHARE * BYTES_OF_ROW))

    def cut(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, cut to at most as many rows as the device takes at the time."""
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
        """The results for a batch, or for the batches that it is cut into if it is too large for the device.

        Parameters
        ----------
        batch : RecordBatch
        before : int
            The position in the stream of its first row.
        run : callable
            Runs a batch on the device, given the position of its first row. If there is no memory for it, it
            is called again with fewer rows, so it must change nothing before it is done. If the device is
            lost, the host does the batch and all that follow.
        by_host : callable
            Does the same on the host.
        clear : callable
            Frees what was copied to the device ahead.
        """
        parts = [(batch, before)]
        while parts:
            part, first = parts.pop()
            gives_up = not self.exhausted
            there = tried_on(self.device, lambda: (run(part, first),)) if gives_up else None  # noqa: B023
            if there is not None:
                yield there[0]
                continue
            if gives_up:
                clear()
                if len(part) > LEAST and device_loss() is None:
                    half = len(part) // 2
                    self.rows = min(self.rows, half)
                    parts += [(part.slice(half), first + half), (part.slice(0, half), first)]
                    continue
                self.exhausted, self.rows = True, ROWS
            found = by_host(part, first)
            if gives_up:  # which is said once it is known: what lay only on a lost device raises an error
                say_by_cpu(self.device, f"batches of {LEAST:,} events")
            yield found

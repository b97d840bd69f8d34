"""Copies from the host to a device while kernels run: from page-locked buffers, on a stream of their own.

Two buffers take turns. While the kernels read from one, the next arrays are copied to the other: a copy from
page-locked memory needs no thread of the host. Arrays that are page-locked already are copied directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any
from weakref import finalize

import numpy as np
from numba import cuda

from cer_gpu.engine.device_loss import device_loss
from cer_gpu.engine.workers import Workers
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.device.arrays import device_array, locked_bytes
from cer_gpu.kernels.device.availability import simulated
from cer_gpu.kernels.device.memory import address_of

ALIGNED = 256
"""Arrays begin in a buffer at multiples of this many bytes, as allocations of the device do."""

PART = 1 << 20
"""Bytes that one thread copies at a time into page-locked memory."""


@dataclass(slots=True)
class _Buffer:
    """Bytes on the device, as many in page-locked memory of the host, and what says when they are copied.

    There are none on the host before an array is copied that is not page-locked itself: to lock them takes as
    long as to copy them many times.
    """

    there: Any
    copied: Any
    host: np.ndarray
    sources: list[np.ndarray] = field(default_factory=list)


class Staging:
    """Copies arrays to the current device.

    Parameters
    ----------
    workers : Workers
        The threads that copy into page-locked memory.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._stream, self._kept = copy_stream()
        self._buffers: list[_Buffer | None] = [None, None]
        self._turn = 0
        # Where a run ends early, copies may still be under way to memory that is given back.
        finalize(self, _finish, self._stream, self._kept).atexit = False

    def upload(self, arrays: Sequence[np.ndarray], placed: Callable[[list[int]], None]) -> Upload:
        """Begin to copy some one-dimensional arrays.

        The arrays of the upload before the last one are overwritten, once the kernels launched so far are
        done.

        Parameters
        ----------
        arrays : sequence of ndarray
        placed : callable
            Called with the addresses that they will have on the device, before the first one is read: so one
            of them may hold addresses of the others.
        """
        places = np.cumsum([0] + [-(-array.nbytes // ALIGNED) * ALIGNED for array in arrays]).tolist()
        buffer = self._buffer(places[-1])
        first = address_of(buffer.there)
        placed([first + place if array.size else 0 for array, place in zip(arrays, places)])
        launched = cuda.event()
        launched.record()
        launched.wait(self._stream)
        sources = self._page_locked(arrays, places, buffer)
        there = []
        for array, place, source in zip(arrays, places, sources):
            if not len(source):
                there.append(device_array(0, array.dtype))
                continue
            part = buffer.there[place : place + len(source)]
            part.copy_to_device(source, stream=self._stream)
            there.append(part.view(array.dtype))
        buffer.copied.record(self._stream)
        buffer.sources = sources  # kept until the copy is done
        return Upload(tuple(there), buffer.copied)

    def _page_locked(
        self, arrays: Sequence[np.ndarray], places: list[int], buffer: _Buffer
    ) -> list[np.ndarray]:
        """The bytes of arrays in page-locked memory: their own, or copies at given places of a buffer."""
        sources, moved = [], []
        for array, place in zip(arrays, places):
            own = array.view(np.uint8)
            if len(own) and not page_locked(own):
                if not len(buffer.host):
                    buffer.host = locked_bytes(len(buffer.there))
                copy = buffer.host[place : place + len(own)]
                moved += [(copy[at : at + PART], own[at : at + PART]) for at in range(0, len(own), PART)]
                own = copy
            sources.append(own)
        self._workers.map("copying to the device", lambda pair: np.copyto(*pair), moved)
        return sources

    def clear(self) -> None:
        """Free the memory of both buffers; what was uploaded is gone."""
        try:
            cuda.synchronize()
        finally:
            self._buffers = [None, None]

    def _buffer(self, size: int) -> _Buffer:
        """The next buffer, with room for `size` bytes; no copy from it is still running."""
        self._turn = 1 - self._turn
        buffer = self._buffers[self._turn]
        if buffer is not None:
            buffer.copied.synchronize()
        if buffer is None or len(buffer.there) < size:
            if buffer is not None:
                cuda.synchronize()  # kernels may still read the memory that is freed
            buffer = self._buffers[self._turn] = None
            room = max(size + size // 8, ALIGNED)
            buffer = _Buffer(device_array(room, np.uint8), cuda.event(), np.empty(0, np.uint8))
            self._buffers[self._turn] = buffer
        return buffer


@dataclass(frozen=True, slots=True)
class Upload:
    """Arrays on their way to the device.

    Attributes
    ----------
    arrays : tuple of device array
    copied : event
        Says when the copies are done.
    """

    arrays: tuple[Any, ...]
    copied: Any

    def wait(self) -> None:
        """Let kernels that are launched from now on wait until the arrays are copied."""
        self.copied.wait()


def _finish(stream: Any, _: Any) -> None:
    if device_loss() is None:
        stream.synchronize()


def copy_stream() -> tuple[Any, Any]:
    """A CUDA stream whose copies do not wait for kernels of the default stream, and the object that owns it.

    Numba's streams wait for it; CuPy's need not.
    """
    if not simulated():
        try:
            import cupy
        except ImportError:
            return cuda.stream(), None
        made = cupy.cuda.Stream(non_blocking=True)
        return cuda.external_stream(made.ptr), made
    return cuda.stream(), None


def page_locked(array: np.ndarray) -> bool:
    """Whether an array is page-locked, as far as CuPy can tell."""
    if simulated():
        return False
    try:
        from cupy.cuda import runtime
    except ImportError:
        return False
    return runtime.pointerGetAttributes(array.ctypes.data).type == runtime.memoryTypeHost

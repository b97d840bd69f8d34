"""Streams, and memory of the host that is page-locked."""

from __future__ import annotations

import ctypes

driver = ctypes.CDLL("libcuda.so.1")

from cupy.cuda import memory, runtime  # noqa: E402

OUT_OF_MEMORY = 2
"""The number of the error."""

__all__ = ["Stream", "alloc_pinned_memory", "driver", "memory", "runtime"]


class Stream:
    """A stream. A `with` block changes nothing, since all that is done here is done on the null stream."""

    null: Stream

    def __init__(self, non_blocking: bool = False, null: bool = False) -> None:
        self.ptr = 0
        if not null:
            made = ctypes.c_void_p()
            driver.cuStreamCreate(ctypes.byref(made), int(non_blocking))
            self.ptr = made.value or 0

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __del__(self) -> None:
        if self.ptr:
            driver.cuStreamDestroy_v2(ctypes.c_void_p(self.ptr))


Stream.null = Stream(null=True)


class _Pinned:
    def __init__(self, size: int) -> None:
        made = ctypes.c_void_p()
        code = driver.cuMemHostAlloc(ctypes.byref(made), ctypes.c_size_t(size), 0)
        if code not in (0, OUT_OF_MEMORY):
            raise runtime.CUDARuntimeError(code)
        if code or made.value is None:
            raise memory.OutOfMemoryError(f"no {size:,} bytes of page-locked memory: error {code}")
        self.ptr, self.buffer = made.value, (ctypes.c_uint8 * size).from_address(made.value)

    def __del__(self) -> None:
        if hasattr(self, "ptr"):
            driver.cuMemFreeHost(ctypes.c_void_p(self.ptr))


def alloc_pinned_memory(size: int) -> object:
    """Page-locked memory, as a buffer of bytes."""
    block = _Pinned(max(size, 1))
    block.buffer._owner = block  # type: ignore[attr-defined]
    return block.buffer

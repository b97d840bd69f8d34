"""The pool of memory: as CuPy's it hands out again what was given back, whoever may still use it elsewhere.

What was given back is filled with 0xDD in the order of the null stream, and accesses of it are reported.
"""

from __future__ import annotations

import ctypes
import weakref
from threading import RLock

ROUND = 512


class OutOfMemoryError(MemoryError):
    """A device has no memory left."""


class PoolBlock:
    """Memory that is given back once nobody holds the block."""

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


class MemoryPool:
    """Free memory of each device, by its size."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, int], list[int]] = {}
        self._bytes: dict[int, int] = {}
        self._lock = RLock()

    def malloc(self, size: int) -> PoolBlock:
        """A block of at least so many bytes; kernels may access no more of them."""
        from cupy.cuda import driver

        room, device = -(-size // ROUND) * ROUND, self._device()
        with self._lock:
            free = self._free.setdefault((device, room), [])
            if free:
                ptr = free.pop()
                self._bytes[device] -= room
            else:
                ptr = self._taken(device, room)
            driver.virtual_pool(ctypes.c_ulonglong(ptr), ctypes.c_size_t(size))
            block = PoolBlock(ptr)
            weakref.finalize(block, self._give_back, device, ptr, room).atexit = False
            return block

    def free_bytes(self) -> int:
        """How many bytes of the present device the pool holds that nobody uses."""
        return self._bytes.get(self._device(), 0)

    def free_all_blocks(self) -> None:
        """Give the device all that nobody uses."""
        with self._lock:
            self._drop(self._device())

    def _taken(self, device: int, room: int) -> int:
        from cupy.cuda import driver, runtime

        found = ctypes.c_ulonglong()
        code = driver.cuMemAlloc_v2(ctypes.byref(found), ctypes.c_size_t(room))
        if code:
            self._drop(device)
            code = driver.cuMemAlloc_v2(ctypes.byref(found), ctypes.c_size_t(room))
        if code == 2:
            raise OutOfMemoryError(f"Out of memory allocating {room:,} bytes")
        if code:
            raise runtime.CUDARuntimeError(code)
        return found.value

    def _drop(self, device: int) -> None:
        from cupy.cuda import driver

        for (owner, _), free in self._free.items():
            if owner == device:
                for ptr in free:
                    driver.cuMemFree_v2(ctypes.c_ulonglong(ptr))
                free.clear()
        self._bytes[device] = 0

    def _give_back(self, device: int, ptr: int, room: int) -> None:
        from cupy.cuda import driver

        with self._lock:
            driver.virtual_pool(ctypes.c_ulonglong(ptr), ctypes.c_size_t(0))
            self._free[device, room].append(ptr)
            self._bytes[device] = self._bytes.get(device, 0) + room

    def _device(self) -> int:
        """The present device; the first one where there is none, as for CUDA's runtime."""
        from cupy.cuda import driver

        device = ctypes.c_int(-1)
        if driver.cuCtxGetDevice(ctypes.byref(device)):
            context = ctypes.c_void_p()
            driver.cuInit(0)
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
            driver.cuCtxSetCurrent(context)
            device.value = 0
        return device.value


POOL = MemoryPool()

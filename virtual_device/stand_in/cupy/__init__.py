"""A stand-in for what is used here of CuPy, on the virtual device, whose memory is memory of the host."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np

from cupy import cuda
from cupy.cuda import memory

__all__ = ["asarray", "ascontiguousarray", "cuda", "cumsum", "empty", "get_default_memory_pool", "isfinite"]
__all__ += ["lexsort", "ndarray"]
__version__ = "0+virtual"


def _finish() -> None:
    """Wait for the null stream, on which all that CuPy does is done here."""
    cuda.driver.cuStreamSynchronize(None)


class ndarray:  # noqa: N801  CuPy's name
    """An array over memory of a virtual device."""

    def __init__(self, host: np.ndarray, owner: object) -> None:
        self._host, self._owner = host, owner
        self.shape, self.dtype, self.size, self.ndim = host.shape, host.dtype, host.size, host.ndim
        self.data = SimpleNamespace(ptr=host.ctypes.data)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.data.ptr, False),
            "version": 3,
            "strides": None if self._host.flags.c_contiguous else self._host.strides,
            "stream": 1,
        }

    @property
    def T(self) -> ndarray:  # noqa: N802  CuPy's name
        return ndarray(self._host.T, self._owner)

    def __len__(self) -> int:
        return len(self._host)

    def __getitem__(self, key: Any) -> ndarray:
        _finish()
        return ndarray(np.asarray(self._host[key]), self._owner)

    def __setitem__(self, key: Any, value: Any) -> None:
        _finish()
        self._host[key] = value._host if isinstance(value, ndarray) else value

    def __lt__(self, other: ndarray) -> ndarray:
        _finish()
        return ndarray(np.asarray(self._host < other._host), None)

    def all(self) -> ndarray:
        _finish()
        return ndarray(np.asarray(self._host.all()), None)

    def any(self) -> ndarray:
        _finish()
        return ndarray(np.asarray(self._host.any()), None)

    def __bool__(self) -> bool:
        _finish()
        return bool(self._host)

    def get(self) -> np.ndarray:
        _finish()
        return self._host.copy()


def empty(shape: Any, dtype: Any = np.float64) -> ndarray:
    dtype = np.dtype(dtype)
    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(int(one) for one in shape)
    size = int(np.prod(shape)) * dtype.itemsize
    block = memory.POOL.malloc(max(size, 1))
    return ndarray(_host(block.ptr, size).view(dtype).reshape(shape), block)


def asarray(array: Any, dtype: Any = None) -> ndarray:
    """An array of the device as it is; a copy of one of the host."""
    if isinstance(array, ndarray):
        return array
    if not hasattr(array, "__cuda_array_interface__"):
        copied = np.asarray(array, dtype)
        made = empty(copied.shape, copied.dtype)
        _finish()
        made._host[...] = copied
        return made
    found = array.__cuda_array_interface__
    own = np.dtype(found["typestr"])
    size = int(np.prod(found["shape"])) * own.itemsize
    if not size:
        return ndarray(np.empty(found["shape"], own), array)
    if found.get("strides") is not None:
        raise NotImplementedError("only contiguous arrays")
    return ndarray(_host(found["data"][0], size).view(own).reshape(found["shape"]), array)


def _host(address: int, size: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def ascontiguousarray(array: ndarray) -> ndarray:
    _finish()
    made = empty(array.shape, array.dtype)
    _finish()
    made._host[...] = array._host
    return made


def cumsum(array: ndarray, out: ndarray) -> ndarray:
    _finish()
    np.cumsum(array._host, out=out._host)
    return out


def lexsort(keys: ndarray) -> ndarray:
    made = empty(keys.shape[1], np.int64)
    _finish()
    made._host[...] = np.lexsort(keys._host)
    return made


def isfinite(array: ndarray) -> ndarray:
    _finish()
    return ndarray(np.isfinite(array._host), None)


def get_default_memory_pool() -> memory.MemoryPool:
    return memory.POOL

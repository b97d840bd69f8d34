"""Arrow data on a device, through Arrow's C device interface: its structures, and views of its columns.

The layouts are those of the Arrow specification ("The Arrow C Device data interface").
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_void_p
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.errors import DataError

CUDA_KINDS = (2, 13)
"""Device memory and managed memory of CUDA, as the specification numbers them."""


class ArrowArray(ctypes.Structure):
    """An array and its buffers."""


class ArrowSchema(ctypes.Structure):
    """A type; read by pyarrow."""

    _fields_ = (("room", c_int64 * 9),)


class ArrowDeviceArray(ctypes.Structure):
    """An array with the device that its buffers lie on."""


class ArrowDeviceArrayStream(ctypes.Structure):
    """A stream of record batches on a device."""


ArrowArray._fields_ = (
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", CFUNCTYPE(None, POINTER(ArrowArray))),
    ("private_data", c_void_p),
)
ArrowDeviceArray._fields_ = (
    ("array", ArrowArray),
    ("device_id", c_int64),
    ("device_type", c_int32),
    ("sync_event", c_void_p),
    ("reserved", c_int64 * 3),
)
_STREAM = POINTER(ArrowDeviceArrayStream)
ArrowDeviceArrayStream._fields_ = (
    ("device_type", c_int32),
    ("get_schema", CFUNCTYPE(c_int, _STREAM, POINTER(ArrowSchema))),
    ("get_next", CFUNCTYPE(c_int, _STREAM, POINTER(ArrowDeviceArray))),
    ("get_last_error", CFUNCTYPE(c_char_p, _STREAM)),
    ("release", CFUNCTYPE(None, _STREAM)),
    ("private_data", c_void_p),
)


class DeviceBatch:
    """A batch of device arrays; it is released when nothing refers to it any more."""

    def __init__(self, array: ArrowDeviceArray, owner: Any) -> None:
        self.array = array
        self._owner = owner

    def __del__(self) -> None:
        if self._owner is None and self.array.array.release:
            self.array.array.release(byref(self.array.array))


def pointer_of(capsule: Any, name: bytes) -> int:
    """The address that a capsule of the interface holds."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    return int(get(capsule, name))


def device_batches(events: Any, where: str) -> tuple[pa.Schema, list[DeviceBatch]] | pa.RecordBatchReader:
    """The record batches of an object with `__arrow_c_device_stream__` or `__arrow_c_device_array__`.

    Returns
    -------
    schema : pyarrow.Schema
    batches : list of Owned
        A reader in place of both, if the data is on the host.

    Raises
    ------
    DataError
        If the stream fails.
    """
    if hasattr(events, "__arrow_c_device_stream__"):
        capsule = events.__arrow_c_device_stream__()
        stream = ArrowDeviceArrayStream.from_address(pointer_of(capsule, b"arrow_device_array_stream"))
        told = ArrowSchema()
        _check(stream, stream.get_schema(byref(stream), byref(told)), where)
        schema = pa.Schema._import_from_c(ctypes.addressof(told))
        if stream.device_type not in CUDA_KINDS:
            return pa.RecordBatchReader.from_batches(schema, _of_host(stream, schema, capsule, where))
        return schema, list(_read(stream, where))
    schema_capsule, capsule = events.__arrow_c_device_array__()
    array = ArrowDeviceArray.from_address(pointer_of(capsule, b"arrow_device_array"))
    if array.device_type not in CUDA_KINDS:
        batch = pa.RecordBatch._import_from_c_device_capsule(schema_capsule, capsule)
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])
    return pa.Schema._import_from_c_capsule(schema_capsule), [DeviceBatch(array, capsule)]


def _read(stream: ArrowDeviceArrayStream, where: str) -> Iterator[DeviceBatch]:
    while True:
        array = ArrowDeviceArray()
        _check(stream, stream.get_next(byref(stream), byref(array)), where)
        if not array.array.release:
            return
        yield DeviceBatch(array, None)


def _of_host(
    stream: ArrowDeviceArrayStream, schema: pa.Schema, owner: Any, where: str
) -> Iterator[pa.RecordBatch]:
    """The batches of a stream of the host; `owner` keeps it open meanwhile."""
    for batch in _read(stream, where):
        yield pa.RecordBatch._import_from_c_device(ctypes.addressof(batch.array), schema)
    del owner


def _check(stream: ArrowDeviceArrayStream, code: int, where: str) -> None:
    if code:
        told = stream.get_last_error(byref(stream))
        raise DataError(f"{where} gave no Arrow data: {told.decode() if told else f'error {code}'}")


def buffers_of(array: ArrowArray) -> list[int]:
    """The addresses of an array's buffers; 0 for a missing one."""
    return [array.buffers[number] or 0 for number in range(array.n_buffers)]


class _Memory:
    """Memory of a device at an address, for what reads `__cuda_array_interface__`."""

    def __init__(self, address: int, count: int, dtype: np.dtype, owner: Any) -> None:
        self._owner = owner
        self.__cuda_array_interface__ = {
            "shape": (count,),
            "typestr": dtype.str,
            "data": (address, False),
            "version": 3,
        }


def device_view(address: int, count: int, dtype: np.dtype, owner: Any) -> Any:
    """Numbers at an address of the device, as a device array that keeps their owner alive."""
    from numba import cuda

    from cer_gpu.kernels.device.availability import simulated

    if not count or not address:
        return cuda.device_array(0, dtype)
    if simulated():  # whose device memory is the host's
        size = count * dtype.itemsize
        seen = (ctypes.c_uint8 * size).from_address(address)
        return cuda.to_device(np.frombuffer(memoryview(seen), dtype).copy())
    return cuda.as_cuda_array(_Memory(address, count, dtype, owner), sync=False)


def host_copy(address: int, size: int, owner: Any) -> np.ndarray:
    """A copy on the host of `size` bytes at an address of the device."""
    return device_view(address, size, np.dtype(np.uint8), owner).copy_to_host()

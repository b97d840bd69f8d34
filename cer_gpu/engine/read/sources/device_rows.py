"""Events whose columns are on a CUDA device: used there, or copied to the host if the run needs that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.devices import on
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.arrow_types import DICTIONARY, convert, is_text, normal_schema, normal_type
from cer_gpu.engine.read.sources.device_interface import (
    ArrowArray,
    DeviceBatch,
    buffers_of,
    device_batches,
    device_view,
    host_copy,
)
from cer_gpu.engine.read.sources.rows import Rows
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass

_NONE = np.empty(0, np.uint8)


@dataclass(frozen=True, slots=True)
class DeviceColumn:
    """A column on a device.

    Attributes
    ----------
    kind : pyarrow.DataType
        A normal type; dictionary<int32, string> for strings, whose codes are on the device.
    data : device array, shape (n,)
        Booleans as uint8, times as integers in their unit.
    valid : device array, shape (n,) or (0,), uint8
        0 at a null; empty if there is none.
    texts : pyarrow.Array or None
        The strings of the codes.
    """

    kind: pa.DataType
    data: Any
    valid: Any
    texts: pa.Array | None = None

    def slice(self, start: int, count: int) -> DeviceColumn:
        """Some rows, without a copy."""
        part = slice(start, start + count)
        valid = self.valid[part] if len(self.valid) else self.valid
        return DeviceColumn(self.kind, self.data[part], valid, self.texts)

    def to_arrow(self) -> pa.Array:
        """A copy on the host."""
        data = self.data.copy_to_host()
        mask = ~self.valid.copy_to_host().astype(bool) if len(self.valid) else None
        if self.texts is not None:
            codes = pa.array(data.astype(np.int32, copy=False), mask=mask)
            return pa.DictionaryArray.from_arrays(codes, self.texts)
        if pa.types.is_boolean(self.kind):
            return pa.array(data.astype(bool), mask=mask)
        plain = pa.array(data, mask=mask)
        return plain if plain.type == self.kind else plain.view(self.kind)


@dataclass(frozen=True, slots=True)
class DeviceTable:
    """Rows of columns on a device.

    Attributes
    ----------
    columns : mapping of str to DeviceColumn
    rows : int
    """

    columns: Mapping[str, DeviceColumn]
    rows: int

    def __len__(self) -> int:
        return self.rows

    def slice(self, start: int, count: int | None = None) -> DeviceTable:
        """Some rows, without a copy."""
        left = self.rows - start
        size = left if count is None else min(count, left)
        return DeviceTable({name: one.slice(start, size) for name, one in self.columns.items()}, size)

    def on_host(self, names: Sequence[str]) -> pa.RecordBatch:
        """A copy of some columns on the host."""
        return pa.RecordBatch.from_arrays([self.columns[name].to_arrow() for name in names], list(names))


class DeviceRows(Rows):
    """Tables on a device, one after another; reading copies them to the host."""

    def __init__(self, tables: Sequence[DeviceTable], schema: pa.Schema, where: str, device: int = 0) -> None:
        self.tables = tuple(tables)
        self.schema = normal_schema(schema, where)
        self.rows = sum(len(table) for table in tables)
        self.where = where
        self.device = device

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        for table in self.tables:
            for start in range(0, len(table), rows):
                with on(self.device):
                    batch = table.slice(start, rows).on_host(wanted.names)
                yield batch


def on_device(events: Any) -> bool:
    """Whether events may be on a device: `open_device` finds out."""
    if isinstance(events, Mapping):
        arrays = [one for one in events.values() if not isinstance(one, (pa.Array, pa.ChunkedArray))]
        return bool(arrays) and all(hasattr(one, "__cuda_array_interface__") for one in arrays)
    names = ("__arrow_c_device_stream__", "__arrow_c_device_array__", "to_pylibcudf")
    return any(hasattr(events, name) for name in names)


def open_device(events: Any, where: str) -> DeviceRows | pa.RecordBatchReader:
    """Open events that are on a CUDA device.

    Parameters
    ----------
    events : object
        With `__arrow_c_device_stream__` or `__arrow_c_device_array__`; a cuDF DataFrame; or a mapping of
        column names to objects with `__cuda_array_interface__`, with Arrow arrays among them.

    Returns
    -------
    DeviceRows or pyarrow.RecordBatchReader
        A reader, if the data turns out to be on the host: the object may not give it a second time.

    Raises
    ------
    DataError
        For columns that do not fit together, lie on several devices, or have a type that cannot be used.
    """
    if isinstance(events, Mapping):
        return _from_arrays(events, where)
    names = None
    if hasattr(events, "to_pylibcudf"):
        names = [str(name) for name in events.columns]
        events, _ = events.to_pylibcudf()
    found = device_batches(events, where)
    if isinstance(found, pa.RecordBatchReader):
        return found
    schema, batches = found
    if names is not None:  # which a table of pylibcudf has not
        schema = pa.schema([field.with_name(name) for name, field in zip(names, schema, strict=True)])
    number = _one_device([max(batch.array.device_id, 0) for batch in batches], where)
    with made_on(number):
        tables = [_table(schema, batch, where) for batch in batches]
    kinds = [
        (field.name, DICTIONARY if columns.is_text(field.type) else normal_type(field.type))
        for field in schema
    ]
    return DeviceRows(tables, pa.schema(kinds), where, number)


def _one_device(numbers: Sequence[int], where: str) -> int:
    different = sorted(set(numbers))
    if len(different) > 1:
        several = ", ".join(f"cuda:{number}" for number in different)
        raise DataError(f"{where} lies on several devices ({several}): copy it to one")
    return different[0] if different else 0


@contextmanager
def made_on(number: int) -> Iterator[None]:
    """A context on a device, after waiting for its work: the data may still be in the making."""
    from numba import cuda

    with on(number):
        cuda.synchronize()
        yield


def _from_arrays(events: Mapping[str, Any], where: str) -> DeviceRows:
    # CuPy's arrays tell their device; the interface itself does not.
    arrays = [one for one in events.values() if hasattr(one, "__cuda_array_interface__")]
    devices = [getattr(one, "device", None) for one in arrays]
    number = _one_device([int(getattr(device, "id", 0)) for device in devices], where)
    with made_on(number):
        found = {str(name): _array_column(one, f"column `{name}` of {where}") for name, one in events.items()}
    lengths = {len(one.data) for one in found.values()}
    if len(lengths) > 1:
        raise DataError(f"the columns of {where} have different lengths: {sorted(lengths)}")
    schema = pa.schema([(name, one.kind) for name, one in found.items()])
    return DeviceRows([DeviceTable(found, lengths.pop())], schema, where, number)


def _array_column(events: Any, where: str) -> DeviceColumn:
    if isinstance(events, pa.ChunkedArray):
        events = events.combine_chunks()
    if isinstance(events, pa.Array):
        return _host_column(events, where)
    told = events.__cuda_array_interface__
    dtype = np.dtype(told["typestr"])
    strides = told.get("strides")
    if len(told["shape"]) != 1 or strides not in (None, (dtype.itemsize,)):
        raise DataError(f"{where} is not a contiguous array of one dimension: copy it first")
    if told.get("mask") is not None:
        raise DataError(f"{where} has a mask: pass the table through Arrow's C device interface")
    kind = pa.from_numpy_dtype(dtype) if dtype.kind in "biufmM" else None
    if kind is None or normal_type(kind) != kind or pa.types.is_uint64(kind):
        raise DataError(f"{where} is of type {dtype}, which cannot be used on a device: convert it")
    data = device_view(told["data"][0], told["shape"][0], _stored(dtype), events)
    return DeviceColumn(kind, data, _brought(_NONE))


def _host_column(array: pa.Array, where: str) -> DeviceColumn:
    """A column of the host, brought to the device."""
    if columns.is_text(array.type):
        array = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        found = columns.codes(array, where)
        return DeviceColumn(DICTIONARY, _brought(found.data), _brought(found.valid), array.dictionary)
    kind = normal_type(array.type)
    if pa.types.is_decimal(kind) or pa.types.is_uint64(kind):
        raise DataError(f"{where} is of type {kind}, which cannot be used on a device: convert it")
    values = columns.numbers(convert(array, kind, where), where)
    return DeviceColumn(kind, _brought(values.data), _brought(values.valid))


def _stored(dtype: np.dtype) -> np.dtype:
    """What a column is read as: booleans as uint8, times as int64."""
    return np.dtype({"b": np.uint8, "m": np.int64, "M": np.int64}.get(dtype.kind, dtype))


def _table(schema: pa.Schema, owned: DeviceBatch, where: str) -> DeviceTable:
    whole = owned.array.array
    found = {
        field.name: _column(
            field.type, whole.children[number].contents, owned, f"column `{field.name}` of {where}"
        )
        for number, field in enumerate(schema)
    }
    return DeviceTable(found, whole.length)


def _column(kind: pa.DataType, array: ArrowArray, owned: DeviceBatch, where: str) -> DeviceColumn:
    first, count = array.offset, array.length
    addresses = buffers_of(array)
    missing = addresses[0] and array.null_count
    there = _brought(_bits(addresses[0], first, count, owned) if missing else _NONE)
    if pa.types.is_dictionary(kind) and is_text(kind.value_type):
        dtype = np.dtype(kind.index_type.to_pandas_dtype())
        codes = device_view(addresses[1] + first * dtype.itemsize, count, dtype, owned)
        return DeviceColumn(
            DICTIONARY, codes, there, _strings(kind.value_type, array.dictionary.contents, owned)
        )
    if is_text(kind) and not pa.types.is_string_view(kind):
        texts = _strings(kind, array, owned).dictionary_encode()
        codes = texts.indices.fill_null(0).to_numpy()
        return DeviceColumn(DICTIONARY, _brought(codes), there, texts.dictionary)
    if pa.types.is_boolean(kind):
        return DeviceColumn(kind, _brought(_bits(addresses[1], first, count, owned)), there)
    if normal_type(kind) != kind or not pa.types.is_primitive(kind) or pa.types.is_uint64(kind):
        raise DataError(f"{where} is of type {kind}, which cannot be used on a device: convert it")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        dtype = np.dtype(kind.to_pandas_dtype())
    else:
        dtype = np.dtype(f"i{kind.bit_width // 8}")
    return DeviceColumn(kind, device_view(addresses[1] + first * dtype.itemsize, count, dtype, owned), there)


def _strings(kind: pa.DataType, array: ArrowArray, owned: DeviceBatch) -> pa.Array:
    """Strings on the host."""
    addresses, first, count = buffers_of(array), array.offset, array.length
    width = 8 if pa.types.is_large_string(kind) else 4
    offsets = host_copy(addresses[1], (first + count + 1) * width, owned) if addresses[1] else _NONE
    if not len(offsets):
        return pa.array([], kind)
    last = int(offsets.view(f"i{width}")[-1])
    data = host_copy(addresses[2], last, owned) if addresses[2] else _NONE
    bits = host_copy(addresses[0], -(-(first + count) // 8), owned) if addresses[0] else None
    buffers = [None if part is None else pa.py_buffer(part) for part in (bits, offsets, data)]
    return pa.Array.from_buffers(kind, count, buffers, offset=first)


def _bits(address: int, first: int, count: int, owned: DeviceBatch) -> np.ndarray:
    """A bitmap on the device as bytes on the host."""
    packed = host_copy(address, -(-(first + count) // 8), owned)
    return np.unpackbits(packed, count=first + count, bitorder="little")[first:]


def _brought(values: np.ndarray) -> Any:
    from numba import cuda

    return cuda.to_device(np.ascontiguousarray(values))


def ascends(data: Any) -> bool:
    """Whether no number on a device is less than the one before it, and all are finite.

    Parameters
    ----------
    data : device array, shape (n,)
    """
    library = _cupy()
    if library is np:
        return _ascends(data.copy_to_host(), library)
    with library.cuda.Stream.null:  # where all kernels are launched, whatever stream the caller is on
        return _ascends(library.asarray(data), library)


def _ascends(there: Any, library: Any) -> bool:
    if there.dtype.kind == "f" and not bool(library.isfinite(there).all()):
        return False
    return not bool((there[1:] < there[:-1]).any())


def _cupy() -> Any:
    """CuPy, and NumPy where that is not installed."""
    from cer_gpu.kernels.device.availability import simulated

    if not simulated():
        try:
            import cupy
        except ImportError:
            return np
        return cupy
    return np

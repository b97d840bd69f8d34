"""Arrow arrays as NumPy arrays, without copying where their layout allows it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources import arrow_types
from cer_gpu.errors import DataError
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.late import compute as pc

NO_TEXTS = pa.nulls(1, pa.string())
"""The dictionary of a column of nulls."""

NONE_BEYOND = np.empty(0, bool)


@dataclass(frozen=True, slots=True)
class Values:
    """A column of numbers (times as integers in their unit, booleans as uint8).

    Attributes
    ----------
    data : ndarray, shape (n,), any integer or float dtype
        What stands at a null is arbitrary.
    valid : ndarray, shape (n,) or (0,), uint8
        0 at a null; empty where there is none.
    beyond : ndarray, shape (n,) or (0,), bool
        Where the arithmetic that gives the value does not fit 64 bits, and what stands there is arbitrary;
        empty where all fits.
    """

    data: np.ndarray
    valid: np.ndarray
    beyond: np.ndarray = field(default_factory=lambda: NONE_BEYOND)

    def slice(self, start: int, stop: int) -> Values:
        """The rows `start <= row < stop`, without copying."""
        valid = self.valid[start:stop] if len(self.valid) else self.valid
        return Values(self.data[start:stop], valid, self.beyond[start:stop])

    @property
    def present(self) -> np.ndarray:
        """Which values are not null, shape (n,), bool."""
        return self.valid.astype(bool) if len(self.valid) else np.ones(len(self.data), bool)


@dataclass(frozen=True, slots=True)
class Codes:
    """A column of strings, dictionary-encoded.

    Attributes
    ----------
    data : ndarray, shape (n,), any integer dtype
        The index of each value in `dictionary`.
    valid : ndarray, shape (n,) or (0,), uint8
        0 at a null; empty where there is none.
    dictionary : pyarrow.Array
        The values, of strings; at least one.
    """

    data: np.ndarray
    valid: np.ndarray
    dictionary: pa.Array

    def slice(self, start: int, stop: int) -> Codes:
        """The rows `start <= row < stop`, without copying."""
        valid = self.valid[start:stop] if len(self.valid) else self.valid
        return Codes(self.data[start:stop], valid, self.dictionary)


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds strings, dictionary-encoded or not."""
    return arrow_types.is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def single(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column


def validity(array: pa.Array) -> np.ndarray:
    """0 at the nulls of an array, uint8; empty where there is none."""
    if array.null_count == 0:
        return NONE_MISSING
    return _bits(array.buffers()[0], array.offset, len(array))


def _bits(buffer: pa.Buffer, offset: int, length: int) -> np.ndarray:
    packed = np.frombuffer(buffer, np.uint8, count=(offset + length + 7) // 8)
    return np.unpackbits(packed, count=offset + length, bitorder="little")[offset:]


_STORAGE = {
    pa.types.is_timestamp: np.dtype(np.int64),
    pa.types.is_duration: np.dtype(np.int64),
    pa.types.is_date32: np.dtype(np.int32),
    pa.types.is_date64: np.dtype(np.int64),
    pa.types.is_time32: np.dtype(np.int32),
    pa.types.is_time64: np.dtype(np.int64),
}


def numbers(column: pa.Array | pa.ChunkedArray, name: str) -> Values:
    """A column of numbers, times or booleans, in a normal type (`cer_gpu.engine.read.sources.arrow_types`).

    Raises
    ------
    DataError
        When the type has no numbers in it.
    """
    array = single(column)
    kind = array.type
    if pa.types.is_null(kind):
        return Values(np.zeros(len(array)), np.zeros(len(array), np.uint8))
    if pa.types.is_boolean(kind):
        return Values(_bits(array.buffers()[1], array.offset, len(array)), validity(array))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        dtype = np.dtype(kind.to_pandas_dtype())
    else:
        found = [dtype for test, dtype in _STORAGE.items() if test(kind)]
        if not found:
            raise DataError(f"column `{name}` is of type {kind}, and a number or a time is needed")
        dtype = found[0]
    if len(array) == 0:
        return Values(np.empty(0, dtype), NONE_MISSING)
    data = np.frombuffer(array.buffers()[1], dtype, count=len(array), offset=array.offset * dtype.itemsize)
    # Kernels are compiled anew for arrays that can be written: no column is one, whoever made its buffer.
    data.flags.writeable = False
    return Values(data, validity(array))


def codes(column: pa.Array | pa.ChunkedArray, name: str) -> Codes:
    """A column of strings.

    Raises
    ------
    DataError
        When the column is not one of strings.
    """
    array = single(column)
    if pa.types.is_null(array.type):
        return no_codes(len(array))
    if not is_text(array.type):
        raise DataError(f"column `{name}` is of type {array.type}, and a string is needed")
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    if not len(array.dictionary):  # nothing but nulls: there is no value that a code could name
        return no_codes(len(array))
    indices = numbers(array.indices, name)
    return Codes(indices.data, indices.valid, array.dictionary)


def no_codes(rows: int) -> Codes:
    """A column of nulls."""
    return Codes(np.zeros(rows, np.int32), np.zeros(rows, np.uint8), NO_TEXTS)

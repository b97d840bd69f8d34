"""Arrow arrays as NumPy arrays, without copying where their layout allows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources import arrow_types, decimals
from cer_gpu.engine.read.sources.text_codes import MANY, encoded
from cer_gpu.engine.words import unsigned_words
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.lanes.cpu import gather

NO_TEXTS = pa.nulls(1, pa.string())
"""The dictionary of a column of nulls."""

NONE_BEYOND = np.empty(0, bool)


@dataclass(frozen=True, slots=True)
class Values:
    """A column of numbers (times and decimals as integers in their unit, booleans as uint8).

    Attributes
    ----------
    data : ndarray, shape (n,), any integer or float dtype
        The value at a null is arbitrary. Decimals that do not fit 64 bits are Python integers, if
        `cer_gpu.engine.read.wide_decimals` reads them.
    valid : ndarray, shape (n,) or (0,), uint8
        0 at a null; empty if there is none.
    beyond : ndarray, shape (n,) or (0,), bool
        Where the value, or the arithmetic that gives it, does not fit 64 bits and the entry of `data` is
        arbitrary; empty if all fit.
    """

    data: np.ndarray
    valid: np.ndarray
    beyond: np.ndarray = field(default_factory=lambda: NONE_BEYOND)

    def slice(self, start: int, stop: int) -> Values:
        """The rows `start <= row < stop`, without a copy."""
        valid = self.valid[start:stop] if len(self.valid) else self.valid
        return Values(self.data[start:stop], valid, self.beyond[start:stop])

    @property
    def dtype(self) -> np.dtype:
        """The type of the values."""
        return self.data.dtype

    @property
    def present(self) -> np.ndarray:
        """Which values are not null, shape (n,), bool."""
        return self.valid.astype(bool) if len(self.valid) else np.ones(len(self.data), bool)


def both_valid(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two columns have values, from where each has: 0 at a null, uint8; empty if there is none."""
    return one & other if len(one) and len(other) else one if len(one) else other


def either_beyond(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where one of two values does not fit 64 bits, from where each does not: bool; empty if all fit."""
    return one | other if len(one) and len(other) else one if len(one) else other


@dataclass(frozen=True, slots=True)
class Codes:
    """A column of strings, dictionary-encoded.

    Attributes
    ----------
    data : ndarray, shape (n,), any integer dtype
        The index of each value in `dictionary`.
    valid : ndarray, shape (n,) or (0,), uint8
        0 at a null; empty if there is none.
    dictionary : pyarrow.Array
        The values, of strings; at least one.
    """

    data: np.ndarray
    valid: np.ndarray
    dictionary: pa.Array

    def slice(self, start: int, stop: int) -> Codes:
        """The rows `start <= row < stop`, without a copy."""
        valid = self.valid[start:stop] if len(self.valid) else self.valid
        return Codes(self.data[start:stop], valid, self.dictionary)


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds strings, dictionary-encoded or not."""
    return arrow_types.is_text(arrow_types.without_dictionary(kind))


def single(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column


def is_word(kind: pa.DataType) -> bool:
    """Whether a value takes eight bytes: a number or a time."""
    whole = pa.types.is_int64(kind) or pa.types.is_uint64(kind) or pa.types.is_float64(kind)
    return whole or pa.types.is_timestamp(kind) or pa.types.is_duration(kind)


def gathered_rows(values: np.ndarray, rows: np.ndarray, dtype: type | None = None) -> np.ndarray:
    """`values[rows]`, by a kernel that runs without Python's interpreter lock; of a wider type, if given."""
    out = np.empty(len(rows), values.dtype if dtype is None else dtype)
    gather(values, rows, out)
    return out


def numbers_at(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """`values[rows]`: of int64 by a kernel, of other types, for which none is compiled, by NumPy."""
    return gathered_rows(values, rows) if values.dtype == np.int64 else values[rows]


def rows_of(
    column: pa.Array | pa.ChunkedArray, rows: np.ndarray, without: np.ndarray | None = None
) -> pa.Array:
    """Some rows of a column, null where `without` is true; words without nulls three times as fast as Arrow.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
    rows : ndarray, shape (n,), int64
    without : ndarray, shape (n,), bool, optional
    """
    one = not isinstance(column, pa.ChunkedArray) or column.num_chunks == 1
    if without is None and one and is_word(column.type) and not column.null_count:
        words = single(column).view(pa.int64()).to_numpy()
        return pa.array(gathered_rows(words, rows)).view(column.type)  # Arrow looks for nulls
    taken = column.take(pa.array(rows, mask=without))
    return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken


def copied(array: pa.Array) -> pa.Array | None:
    """A copy of an array of numbers or times without nulls; None for another array."""
    dtype = _STORAGE.get(array.type.id)
    if dtype is None or array.null_count:
        return None
    begin = array.offset * dtype.itemsize
    data = array.buffers()[1].slice(begin, len(array) * dtype.itemsize).to_pybytes()
    return pa.Array.from_buffers(array.type, len(array), [None, pa.py_buffer(data)])


def same_memory(one: pa.Array, other: pa.Array) -> bool:
    """Whether two arrays lie in the same memory, with their dictionaries."""
    return (
        len(one) == len(other)
        and one.offset == other.offset
        and one.type == other.type
        and addresses(one) == addresses(other)
    )


def addresses(array: pa.Array) -> list[int]:
    """Where the buffers of an array lie, and those of its dictionary; 0 for one that is not there."""
    own = [0 if buffer is None else buffer.address for buffer in array.buffers()]
    return own + addresses(array.dictionary) if pa.types.is_dictionary(array.type) else own


def validity(array: pa.Array) -> np.ndarray:
    """0 at the nulls of an array, uint8; empty if there is none."""
    if array.null_count == 0:
        return NONE_MISSING
    return _bits(array.buffers()[0], array.offset, len(array))


def _bits(buffer: pa.Buffer, offset: int, length: int) -> np.ndarray:
    packed = np.frombuffer(buffer, np.uint8, count=(offset + length + 7) // 8)
    return np.unpackbits(packed, count=offset + length, bitorder="little")[offset:]


_STORAGE = {
    kind.id: np.dtype(f"{letter}{kind.bit_width // 8}")
    for letter, kinds in {
        "i": [
            *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
            *(
                pa.timestamp("us"),
                pa.duration("us"),
                pa.date32(),
                pa.date64(),
                pa.time32("s"),
                pa.time64("us"),
            ),
        ],
        "u": [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
        "f": [pa.float16(), pa.float32(), pa.float64()],
    }.items()
    for kind in kinds
}
"""How numbers and times are stored in memory, by Arrow's names of their types."""


def value_reader(kind: pa.DataType) -> Callable[[pa.Scalar], Any] | None:
    """A function that gives the value of a scalar of a normal type; the value of a null is None.

    A number is itself, a boolean is a bool, a time a number in its unit, a text a str.

    Returns
    -------
    callable or None
        None for a type without such values.
    """
    if is_text(kind) or pa.types.is_boolean(kind):
        return _as_python
    if kind.id not in _STORAGE or pa.types.is_uint64(kind):
        return None  # what is read of single events is an int64
    return _in_units if pa.types.is_temporal(kind) else _as_python


def _as_python(scalar: pa.Scalar) -> Any:
    return scalar.as_py()


def _in_units(scalar: pa.Scalar) -> Any:
    return scalar.value


def storage_of(kind: pa.DataType) -> np.dtype | None:
    """How the numbers or times of a type are stored in memory; None for another type."""
    return _STORAGE.get(kind.id)


def numbers(array: pa.Array, name: str) -> Values:
    """A column of numbers, times or booleans, in a normal type (`cer_gpu.engine.read.sources.arrow_types`).

    Raises
    ------
    DataError
        If the type holds no numbers.
    """
    kind = array.type
    dtype = _STORAGE.get(kind.id)
    if dtype is None:
        if pa.types.is_null(kind):
            return Values(np.zeros(len(array)), np.zeros(len(array), np.uint8))
        if pa.types.is_boolean(kind):
            return Values(_bits(array.buffers()[1], array.offset, len(array)), validity(array))
        if pa.types.is_decimal(kind):
            whole, beyond = decimals.scaled(array)
            valid = validity(array)
            return Values(whole, valid, beyond & (valid != 0) if len(beyond) and len(valid) else beyond)
        raise DataError(f"column `{name}` is of type {kind}, and a number or a time is needed: cast it")
    if len(array) == 0:
        return Values(np.empty(0, dtype), NONE_MISSING)
    data = np.frombuffer(array.buffers()[1], dtype, count=len(array), offset=array.offset * dtype.itemsize)
    # Kernels are compiled anew for arrays that can be written: no column is one, whoever made its buffer.
    data.flags.writeable = False
    return Values(data, validity(array) if array.null_count else NONE_MISSING)


def array_of(kind: pa.DataType, data: np.ndarray, valid: np.ndarray) -> pa.Array:
    """An array from numbers as they are stored, booleans as uint8, and their validity as in `Values`."""
    packed = pa.py_buffer(np.packbits(valid, bitorder="little")) if len(valid) else None
    held = np.packbits(data, bitorder="little") if pa.types.is_boolean(kind) else data
    return pa.Array.from_buffers(kind, len(data), [packed, pa.py_buffer(held)])


def turned(values: Values) -> Values:
    """Values as a clock or a window measures them: uint64 as int64, in their order, less 2^63."""
    if values.data.dtype != np.uint64:
        return values
    data = unsigned_words(values.data)
    data.flags.writeable = False
    return Values(data, values.valid, values.beyond)


def codes(array: pa.Array, name: str) -> Codes:
    """A column of strings, in a normal type.

    Raises
    ------
    DataError
        If the column does not hold strings.
    """
    if pa.types.is_null(array.type):
        return no_codes(len(array))
    if not pa.types.is_dictionary(array.type):
        if not arrow_types.is_text(array.type):
            raise DataError(f"column `{name}` is of type {array.type}, and a string is needed: cast it")
        if len(array) == 1 and not array.null_count:
            return Codes(_FIRST, NONE_MISSING, array)
        array = encoded(array) if len(array) >= MANY else array.dictionary_encode()
    if not len(array.dictionary):  # nothing but nulls: there is no value that a code could name
        return no_codes(len(array))
    indices = numbers(array.indices, name)
    return Codes(indices.data, indices.valid, array.dictionary)


_FIRST = np.zeros(1, np.int32)
"""The code of a single text."""

_FIRST.flags.writeable = False


def no_codes(rows: int) -> Codes:
    """A column of nulls."""
    return Codes(np.zeros(rows, np.int32), np.zeros(rows, np.uint8), NO_TEXTS)

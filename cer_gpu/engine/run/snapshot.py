"""The state of a stream as bytes: numbers, texts, arrays and Arrow tables, with a header that describes them.

Nothing in the bytes is executed when they are read, and nothing is read before their checksum has been
verified.

=========  =====================================================================================
bytes      meaning
=========  =====================================================================================
8          `MAGIC`
8          the length of the header, little endian
header     JSON: `about`, and `state`, in which arrays and tables are given by their places in the rest
rest       arrays in little endian; tables as streams of Arrow's IPC format
16         BLAKE2b of all bytes before
=========  =====================================================================================
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.errors import DataError

MAGIC = b"CERSTATE"

DIGEST = 16
"""Bytes of the checksum."""

ALIGNED = 64
"""Arrays begin at multiples of this many bytes in the rest."""

_ARRAY, _TABLE, _BATCH, _WIDE = "$array", "$table", "$batch", "$wide"
"""A JSON object with this one key stands for a value of this kind."""


class StoredState(NamedTuple):
    """A state, and the stream that it belongs to.

    Attributes
    ----------
    about : dict
        The query, the keywords and the version of the stream.
    state : object
        Dicts with keys of text, lists, texts, numbers, None, Arrow tables and batches, and arrays of numbers,
        also of whole numbers of any size.
    """

    about: dict[str, Any]
    state: Any


def to_bytes(stored: StoredState) -> bytes:
    """A state as bytes."""
    rest: list[bytes] = []
    size = 0

    def put(data: bytes) -> list[int]:
        nonlocal size
        place = [size, len(data)]
        gap = -len(data) % ALIGNED
        rest.extend((data, bytes(gap)))
        size += len(data) + gap
        return place

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype == object:
            return {_WIDE: [list(value.shape), [hex(each) for each in value.ravel()]]}
        if isinstance(value, np.ndarray):
            whole = np.ascontiguousarray(value)
            return {_ARRAY: [whole.dtype.str, list(whole.shape), *put(whole.tobytes())]}
        if isinstance(value, pa.RecordBatch):
            return {_BATCH: plain(pa.Table.from_batches([value]))}
        if isinstance(value, pa.Table):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, value.schema) as writer:
                writer.write_table(value.unify_dictionaries())
            return {_TABLE: put(sink.getvalue().to_pybytes())}
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, list):
            return [plain(each) for each in value]
        return value

    header = json.dumps({"about": stored.about, "state": plain(stored.state)}).encode()
    whole = b"".join([MAGIC, len(header).to_bytes(8, "little"), header, *rest])
    return whole + blake2b(whole, digest_size=DIGEST).digest()


def from_bytes(data: bytes) -> StoredState:
    """The state that bytes hold.

    Raises
    ------
    DataError
        For bytes that are not a state, or are damaged.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise DataError(f"a state is the bytes that snapshot() returned, not {type(data).__name__}")
    whole = memoryview(data)
    if bytes(whole[:8]) != MAGIC:
        raise DataError("these bytes are not the state of a stream: give the bytes that snapshot() returned")
    body, found = whole[:-DIGEST], bytes(whole[-DIGEST:])
    if len(whole) < 16 + DIGEST or blake2b(body, digest_size=DIGEST).digest() != found:
        raise DataError("the state of the stream is damaged or cut short: its checksum does not match")
    length = int.from_bytes(body[8:16], "little")
    header = json.loads(bytes(body[16 : 16 + length]))
    rest = body[16 + length :]

    def value_of(plain: Any) -> Any:
        if isinstance(plain, list):
            return [value_of(each) for each in plain]
        if not isinstance(plain, dict):
            return plain
        if _ARRAY in plain:
            kind, shape, start, size = plain[_ARRAY]
            return np.frombuffer(rest[start : start + size], np.dtype(kind)).reshape(shape).copy()
        if _WIDE in plain:
            shape, numbers = plain[_WIDE]
            wide = np.empty(len(numbers), object)
            wide[:] = [int(each, 16) for each in numbers]
            return wide.reshape(shape)
        if _TABLE in plain:
            start, size = plain[_TABLE]
            table = pa.ipc.open_stream(pa.py_buffer(bytes(rest[start : start + size]))).read_all()
            table.validate(full=True)
            return table
        if _BATCH in plain:
            whole = value_of(plain[_BATCH]).combine_chunks()
            return next(iter(whole.to_batches()), pa.RecordBatch.from_pylist([], schema=whole.schema))
        return {key: value_of(each) for key, each in plain.items()}

    return StoredState(header["about"], value_of(header["state"]))


def unshared(state: dict[str, Any]) -> dict[str, Any]:
    """A copy of a state, which nothing changes that is still at work."""
    copy: dict[str, Any] = from_bytes(to_bytes(StoredState({}, state))).state
    return copy

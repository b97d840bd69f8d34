"""Arrow IPC files, stream and file format, read so that a damaged one is an error.

Arrow trusts the metadata of a file: a code beyond its dictionary, or an offset beyond its text, is read from
wherever it points to. So every batch is validated in full, and files are read, not mapped into memory, where
a file that is cut short meanwhile would end the process. A batch that a damaged footer leaves out, or a
stream that was cut between two batches, is found by going from message to message: each contains its length.

Values themselves have no checksum in this format: a damaged number is a number.

References
----------
Apache Arrow, "Arrow Columnar Format", sections "IPC Streaming Format" and "IPC File Format";
`format/Message.fbs`, `format/File.fbs`.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.ipc

from cer_gpu.engine.read.sources.rows import validated
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass

MAGIC = b"ARROW1"

_CONTINUATION = 0xFFFFFFFF
_DICTIONARY, _RECORDS = 2, 3
"""Kinds of messages (`MessageHeader` of `Message.fbs`) that have a body."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a stream.

    Attributes
    ----------
    kind : int
        Its `MessageHeader`.
    begin, end : int
        Where it lies in the file, in bytes.
    rows : int
        The rows of a record batch; 0 for any other message.
    """

    kind: int
    begin: int
    end: int
    rows: int


def probe(path: str) -> tuple[pa.Schema, int]:
    """Check the structure of a file.

    Returns
    -------
    schema : pyarrow.Schema
    rows : int

    Raises
    ------
    DataError
        If it is cut short, or its parts contradict one another.
    pyarrow.ArrowException
        If it cannot be read.
    """
    schema = _opened(path, None).schema
    try:
        with open(path, "rb") as file:
            messages = _of_file(file, schema) if _has_footer(file) else _of_stream(file)
    except (_DamageError, struct.error) as error:
        why = "a length in it leads nowhere" if isinstance(error, struct.error) else error
        raise DataError(f"{path} is cut short or damaged: {why}") from error
    return schema, sum(message.rows for message in messages)


def read(path: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The record batches of a file that `probe` has checked, each validated in full.

    Parameters
    ----------
    path : str
    names : sequence of str
        The columns to read; from the file format, only these are read from disk.

    Raises
    ------
    pyarrow.ArrowException
        If a batch is damaged.
    """
    stored = _opened(path, None).schema.names
    reader = _opened(path, pa.ipc.IpcReadOptions(included_fields=[stored.index(name) for name in names]))
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        batches = map(reader.get_batch, range(reader.num_record_batches))
    else:
        batches = iter(reader)
    for batch in batches:
        yield validated(batch.select(list(names)))


def _opened(path: str, options: pa.ipc.IpcReadOptions | None) -> Any:
    with open(path, "rb") as file:
        opener = pa.ipc.open_file if _has_footer(file) else pa.ipc.open_stream
    return opener(pa.OSFile(path), options=options)


def _has_footer(file: BinaryIO) -> bool:
    """Whether it is of the file format; else it is a stream."""
    file.seek(0)
    return file.read(len(MAGIC)) == MAGIC


class _DamageError(Exception):
    """What is wrong with a file."""


def _of_stream(file: BinaryIO) -> list[Message]:
    """The messages of a stream, which is the whole file."""
    size = os.fstat(file.fileno()).st_size
    found, end = _messages(file, 0, size)
    if end is None:
        raise _DamageError(
            "its stream has no end mark; if its writer leaves that out, pass pyarrow.ipc.open_stream(path)"
        )
    if end < size:
        raise _DamageError(f"its stream ends at byte {end:,} of {size:,}")
    return found


def _of_file(file: BinaryIO, schema: pa.Schema) -> list[Message]:
    """The messages of a file with a footer, which says the same as they do."""
    size = os.fstat(file.fileno()).st_size
    file.seek(size - 4 - len(MAGIC))
    (length,) = struct.unpack("<I", file.read(4))
    begin = size - 4 - len(MAGIC) - length
    if begin < 8:
        raise _DamageError("its footer has no beginning")
    file.seek(begin)
    footer = file.read(length)
    found, _ = _messages(file, 8, begin)
    for number, kind, what in ((2, _DICTIONARY, "dictionaries"), (3, _RECORDS, "record batches")):
        named = _blocks(footer, _field(footer, _root(footer), number))
        if named != [(message.begin, message.end) for message in found if message.kind == kind]:
            raise _DamageError(f"its footer names other {what} than there are")
    file.seek(8)
    if not pa.ipc.open_stream(file).schema.equals(schema):
        raise _DamageError("its footer names other columns than its beginning")
    return found


def _messages(file: BinaryIO, begin: int, size: int) -> tuple[list[Message], int | None]:
    """The messages from a place in a file on, and where the mark of their end lies; None without one."""
    found: list[Message] = []
    while begin < size:
        file.seek(begin)
        head = begin + 4
        (length,) = struct.unpack("<I", file.read(4))
        if length == _CONTINUATION:
            head += 4
            (length,) = struct.unpack("<I", file.read(4))
        if not length:
            return found, head
        message = _message(file.read(length), begin, head + length)
        if message.end > size:
            raise _DamageError(f"the message at byte {begin:,} has no end")
        found.append(message)
        begin = message.end
    return found, None


def _message(metadata: bytes, begin: int, body: int) -> Message:
    table = _root(metadata)
    kind = _scalar(metadata, table, 1, "<B")
    length = _scalar(metadata, table, 3, "<q")
    if length < 0:
        raise _DamageError(f"the message at byte {begin:,} has a negative length")
    rows = 0
    if kind == _RECORDS:
        at = _field(metadata, table, 2)
        rows = _scalar(metadata, at + _unpack("<I", metadata, at), 0, "<q")
    return Message(kind, begin, body + length, rows)


def _blocks(footer: bytes, at: int) -> list[tuple[int, int]]:
    """Begin and end of the blocks in a vector of `Block`, which has 24 bytes."""
    if not at:
        return []
    at += _unpack("<I", footer, at)
    count = _unpack("<I", footer, at)
    blocks = struct.iter_unpack("<qi4xq", footer[at + 4 : at + 4 + 24 * count])
    return [(offset, offset + head + body) for offset, head, body in blocks]


# FlatBuffers: a table begins with the distance to its vtable, which has the place of each field in the table.


def _root(buffer: bytes) -> int:
    return _unpack("<I", buffer, 0)


def _field(buffer: bytes, table: int, number: int) -> int:
    """Where a field of a table lies; 0 where it is left out."""
    vtable = table - _unpack("<i", buffer, table)
    if 4 + 2 * number >= _unpack("<H", buffer, vtable):
        return 0
    offset = _unpack("<H", buffer, vtable + 4 + 2 * number)
    return table + offset if offset else 0


def _scalar(buffer: bytes, table: int, number: int, form: str) -> int:
    at = _field(buffer, table, number)
    return _unpack(form, buffer, at) if at else 0


def _unpack(form: str, buffer: bytes, at: int) -> int:
    if at < 0:  # `struct` would count it from the end
        raise struct.error
    value: int = struct.unpack_from(form, buffer, at)[0]
    return value

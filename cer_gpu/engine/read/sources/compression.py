"""Compressed text files: `.gz`, `.bz2`, `.zst` and `.xz`."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

PACKED: Mapping[str, str] = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".xz": "xz"}
"""How a file is compressed, by its last suffix."""

MAGIC: Mapping[bytes, str] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\x00": "xz",
}
"""How a file is compressed, by its first bytes."""


def packing(path: str) -> str | None:
    """The compression that a file's suffix names; None for a file that is not compressed."""
    return PACKED.get(os.path.splitext(path)[1].lower())


def open_packed(path: str) -> Any:
    """A file to read bytes from, unpacked.

    Returns
    -------
    pyarrow.NativeFile

    Raises
    ------
    OSError
        If it cannot be opened.
    """
    found = packing(path)
    if found == "xz":
        return pa.PythonFile(io.BufferedReader(_XzContent(path)), "r")
    if found is None:
        return pa.OSFile(path)
    return pa.CompressedInputStream(pa.OSFile(path), found)


class _XzContent(io.RawIOBase):
    """The content of an `.xz` file, which Arrow does not unpack."""

    def __init__(self, path: str) -> None:
        import lzma

        self._file = lzma.LZMAFile(path)  # noqa: SIM115
        self._errors = (EOFError, lzma.LZMAError)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; an OSError where the file is damaged."""
        try:
            return self._file.readinto(buffer)
        except self._errors as error:
            raise OSError(str(error)) from error

    def close(self) -> None:
        self._file.close()
        super().close()


def begins(path: str, size: int) -> bytes:
    """The first bytes of a file, unpacked; none if it cannot be unpacked."""
    try:
        with open_packed(path) as file:
            return file.read(size)
    except (OSError, pa.ArrowException):
        return b""

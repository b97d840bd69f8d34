"""A data file whose schema is known: `OpenFile`."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.sources.paths import DataFile
from cer_gpu.engine.read.sources.text_form import PLAIN, TextForm
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Stamp:
    """Tells one state of a file from another.

    Attributes
    ----------
    size : int
        In bytes.
    modified : int or None
        Nanoseconds since 1970; None if the filesystem does not give it.
    """

    size: int
    modified: int | None


def stamp_of(path: str, filesystem: Any = None) -> Stamp | None:
    """The stamp of a file as it is now; None for a pipe or a device, which has no size.

    Parameters
    ----------
    path : str
    filesystem : pyarrow.fs.FileSystem, optional
        By default that of this machine.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    if filesystem is not None:
        info = filesystem.get_file_info(path)
        return Stamp(info.size or 0, info.mtime_ns)
    found = os.stat(path)
    return Stamp(found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def check_stamp(path: str, before: Stamp | None, filesystem: Any = None) -> None:
    """Raise if a file has changed since its stamp was taken.

    Raises
    ------
    DataError
        If its size or its time of modification is different, or it is gone.
    """
    if before is None:
        return
    try:
        now = stamp_of(path, filesystem)
    except FileNotFoundError:
        now = None
    if now == before:
        return
    how = "was removed" if now is None else "was changed"
    if now is not None and now.size != before.size:
        how = f"went from {before.size:,} to {now.size:,} bytes"
    raise DataError(
        f"{path} {how} after it was opened: wait until its writer is done, and run the query again"
    )


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file whose schema is known, or a part of it; picklable.

    Attributes
    ----------
    file : DataFile
    schema : pyarrow.Schema
        With the columns that the names of its folders give.
    rows : int or None
        Their number, if it is known.
    stamp : Stamp or None
        The stamp of the file when it was opened; None if it has none (a pipe).
    groups : tuple of int or None
        The row groups of a Parquet file to read; None: the whole file.
    filesystem : pyarrow.fs.FileSystem or None
        For a Parquet file that is not on this machine.
    first : int
        The number in the file of the first row of `groups`, which follow one another.
    text : TextForm
        How it is read, if it is a text file.
    unread : mapping of str to str
        Columns that no query can use, with the reason.
    coded : mapping of str to bool
        The columns whose texts are stored dictionary-encoded, and whether in the order of the categories.
    """

    file: DataFile
    schema: pa.Schema
    rows: int | None
    stamp: Stamp | None
    groups: tuple[int, ...] | None = None
    filesystem: Any = None
    first: int = 0
    text: TextForm = PLAIN
    unread: Mapping[str, str] = field(default_factory=dict)
    coded: Mapping[str, bool] = field(default_factory=dict)

    def check_unchanged(self) -> None:
        """Raise a DataError if the file has changed since it was opened."""
        check_stamp(self.file.path, self.stamp, self.filesystem)

    def check_rows(self, seen: int) -> None:
        """Raise a DataError if another number of rows was read than the file's metadata gives."""
        if self.rows is not None and seen != self.rows:
            raise DataError(
                f"{self.file.path} is damaged: its metadata says {self.rows:,} rows, and {seen:,} were read; "
                "write the file again"
            )

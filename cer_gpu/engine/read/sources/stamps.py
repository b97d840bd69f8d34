"""Whether a file has changed since it was opened: an answer has to be about one state of it."""

from __future__ import annotations

import os
import stat
from typing import Any

from cer_gpu.errors import DataError
from cer_gpu.frozen import dataclass


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

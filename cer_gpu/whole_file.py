"""Writes a file whole or not at all; an error of the disk names the file and says what to do."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, BinaryIO

STANDARD_OUTPUT = "standard output"

ELSEWHERE = "make room there, or write to another disk"
"""What to do about a full disk where the user has named the file."""

TEMPORARY = "make room there, or name another folder with the environment variable TMPDIR"
"""What to do where there is no room for a temporary file."""

FULL = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)}
"""The disk, the user's share of it or the file can have no more bytes."""


class NamedSink(io.RawIOBase):
    """A binary stream whose errors name the file, as those of `open` do and those of `write` do not.

    Parameters
    ----------
    sink : binary file
        What is written to. It is not closed with this stream.
    name : str
        The file as the user knows it.
    remedy : str
        What the user can do where it cannot be written.
    """

    def __init__(self, sink: BinaryIO, name: str, remedy: str = ELSEWHERE) -> None:
        self._sink, self._name, self._remedy = sink, name, remedy

    def write(self, data: Any) -> int:
        """Write all of `data`."""
        with named(self._name, self._remedy):
            return self._sink.write(data)

    def flush(self) -> None:
        """Hand what was written to the system."""
        if not self._sink.closed:
            with named(self._name, self._remedy):
                self._sink.flush()

    def writable(self) -> bool:
        """True."""
        return True

    def isatty(self) -> bool:
        """Whether a terminal shows what is written."""
        return self._sink.isatty()


@contextmanager
def named(name: str, remedy: str = ELSEWHERE) -> Iterator[None]:
    """Make an error of the system that names no file, or that there is no room, name this file and a remedy.

    Parameters
    ----------
    name : str
        A file or folder, as the user knows it.
    remedy : str
        What the user can do about it.
    """
    try:
        yield
    except BrokenPipeError:  # the reader has seen enough
        raise
    except OSError as error:
        if error.errno is None or (error.filename is not None and error.errno not in FULL):
            raise
        raise type(error)(error.errno, f"{os.strerror(error.errno)}: {remedy}", name) from error


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream to write a file to.

    It is first written as `PATH.<process>.partial` in the same directory, and takes its name only when all of
    it is on disk; on any exception nothing is left and an older file of that name stays as it was. A pipe or
    a device is written as it is.

    Raises
    ------
    OSError
        When the file cannot be written: there is no such directory, or no room on the disk.
    """
    name, target = os.fspath(path), os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):  # a pipe or a device has no half files
        with _closing(open(target, "wb"), name) as sink:
            yield sink
        return
    refuse_no_folder(path)
    with named(name):
        file = _aside(target)
    try:
        with _closing(file, name) as sink:
            yield sink
            sink.flush()
            with named(name):
                os.fsync(file.fileno())
        os.replace(file.name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(file.name)
        raise


def refuse_no_folder(path: str | os.PathLike[str] | None) -> None:
    """Refuse a file to write whose directory does not exist; None is standard output.

    Raises
    ------
    FileNotFoundError
        When it does not exist.
    """
    if path is not None and not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        raise FileNotFoundError(errno.ENOENT, "there is no such directory to write in", os.fspath(path))


def temporary_folder() -> str:
    """The folder of temporary files, as a message names it; where the disk is full there may be none."""
    try:
        return tempfile.gettempdir()
    except OSError:
        return "the folder for temporary files"


@contextmanager
def _closing(file: io.BufferedWriter, name: str) -> Iterator[BinaryIO]:
    """The stream to write a file to, which is closed at the end."""
    try:
        yield NamedSink(file, name)  # type: ignore[misc]
    except BaseException:
        with suppress(OSError):  # what is left in the buffer has no room, either
            file.close()
        raise
    with named(name):
        file.close()


def _aside(target: str) -> io.BufferedWriter:
    """A new file beside another; one that exists already, or is a link, is never opened."""
    for number in count():
        try:
            return open(f"{target}.{os.getpid()}{f'-{number}' if number else ''}.partial", "xb")
        except FileExistsError:  # of a process that had the same number, and was killed
            continue
    raise AssertionError

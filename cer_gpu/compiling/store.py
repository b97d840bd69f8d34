"""Where machine code is kept between processes: `Store`.

A file holds one kernel for one signature: a line of JSON about it, and an object file. A file is read only if
it belongs to the user and nobody else can write it, or if it came with the package and is as safe as its
modules: whoever can change machine code can do all that the user can. A file that cannot be read, or is
incomplete, is made again.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from cer_gpu.cache_folder import FOR_OTHERS, cache_folder, safe
from cer_gpu.compiling.expiry import mark, prune
from cer_gpu.compiling.identity import digest
from cer_gpu.compiling.loader import made_for
from cer_gpu.whole_file import FULL, named

FOLDER = "kernels"
SHIPPED = Path(__file__).with_name("shipped")
"""The folder in which `cer warm --ship` stores machine code for all users of an installation."""

SUFFIX = ".kernel"

OTHER_FOLDER = "the environment variable XDG_CACHE_HOME names another folder"

TURN_S = 0.1
"""Seconds between two tries to become the one process that compiles."""


class Store:
    """Machine code on disk.

    Parameters
    ----------
    own : Path or None
        A folder of the user's; None where there is none.
    shipped : Path
        A folder beside the package, which may be missing.
    """

    def __init__(self, own: Path | None, shipped: Path) -> None:
        tag = digest([made_for()])[:16]
        self._shipped = shipped / tag
        self._own = None if own is None else own / FOLDER / tag
        self._told = False
        self._pruned = False
        self.folder = own
        """The user's folder."""

    def read(self, name: str) -> tuple[dict[str, Any], bytes] | None:
        """The line about a kernel that is kept under a name, and its code; None without a complete file."""
        for folder, trusted in ((self._own, safe), (self._shipped, _as_safe_as_the_package)):
            if folder is None:
                continue
            path = folder / f"{name}{SUFFIX}"
            try:
                if not trusted(path):
                    continue
                found = _parsed(path.read_bytes())
            except OSError:
                continue
            if found is not None:
                if folder == self._own:
                    mark(path)
                return found
        return None

    def write(self, name: str, about: dict[str, Any], code: bytes) -> None:
        """Keep machine code under a name, where that is possible; the first time, delete unused files."""
        if self._own is None:
            self._tell("no folder of the user's own can be written")
            return
        try:
            _write(self._own, name, about, code)
        except OSError as error:
            room = "make room there, or " if error.errno in FULL else ""
            self._tell(f"{self._own}: {error.strerror or error}", f"; {room}{OTHER_FOLDER}")
        if not self._pruned:
            self._pruned = True
            prune(self._own.parent)

    @contextmanager
    def alone(self, name: str, go_on: Callable[[], None]) -> Iterator[None]:
        """Be the only process that compiles what is kept under a name: processes that start together need it.

        Parameters
        ----------
        name : str
        go_on : callable
            Called while another process compiles; an exception that it raises ends the waiting.
        """
        file = None if self._own is None else self._own / f"{name}.lock"
        locked = None if file is None else _locked(file, go_on)
        try:
            yield
        finally:
            if file is not None and locked is not None:
                with suppress(OSError):
                    file.unlink()
                _unlock(locked)

    def ship(self, name: str, about: dict[str, Any], code: bytes) -> None:
        """Keep machine code beside the package.

        Raises
        ------
        OSError
            When it cannot be written there.
        """
        with named(str(self._shipped)):
            _write(self._shipped, name, about, code, mode=0o755)

    def _tell(self, why: str, remedy: str = "") -> None:
        """Say once that nothing is kept, and what to do about it."""
        if not self._told and sys.stderr is not None:
            self._told = True
            print(
                f"cer-gpu: compiled kernels are not kept ({why}): each process compiles its own{remedy}",
                file=sys.stderr,
            )


@cache
def store() -> Store:
    """The store of this process."""
    return Store(cache_folder(), SHIPPED)


def _write(folder: Path, name: str, about: dict[str, Any], code: bytes, mode: int = 0o700) -> None:
    """Write a file that appears complete or not at all."""
    folder.mkdir(mode=mode, parents=True, exist_ok=True)
    number, made = tempfile.mkstemp(dir=folder, prefix=name[:16], suffix=".new")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(json.dumps({**about, "size": len(code), "sum": crc32(code)}).encode())
            file.write(b"\n")
            file.write(code)
        if mode & stat.S_IROTH:
            os.chmod(made, 0o644)
        os.replace(made, folder / f"{name}{SUFFIX}")
    except BaseException:
        os.unlink(made)
        raise


def _locked(file: Path, go_on: Callable[[], None]) -> int | None:
    """Wait for the lock of a file; gives the file's number, None where there are no locks."""
    try:
        import fcntl

        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except (ImportError, OSError):
        return None
    try:
        while True:
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return number
            except BlockingIOError:
                go_on()
                time.sleep(TURN_S)
    except OSError:  # a file system without locks
        os.close(number)
        return None
    except BaseException:
        os.close(number)
        raise


def _unlock(number: int) -> None:
    """Release a lock, even if a forked process has the file open too."""
    import fcntl

    with suppress(OSError):
        fcntl.flock(number, fcntl.LOCK_UN)
    os.close(number)


def _parsed(content: bytes) -> tuple[dict[str, Any], bytes] | None:
    line, _, code = content.partition(b"\n")
    try:
        about = json.loads(line)
    except ValueError:
        return None
    if not isinstance(about, dict) or about.get("size") != len(code) or about.get("sum") != crc32(code):
        return None
    return about, code


def _as_safe_as_the_package(path: Path) -> bool:
    """Whether only those can write a file who can write the modules of the package."""
    try:
        found, package = path.lstat(), Path(__file__).stat()
    except OSError:
        return False
    if not stat.S_ISREG(found.st_mode):
        return False
    return not hasattr(os, "geteuid") or (
        found.st_uid in (package.st_uid, os.geteuid(), 0) and not found.st_mode & FOR_OTHERS
    )
